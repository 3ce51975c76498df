"""Wrong use of `lancehead.xp`: what is refused, where, and by which errors; effects of functions; interrupts."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess

import numpy as np
import pytest

from lancehead import njit, xp
from lancehead.errors import TypingError

A = xp.asarray
X = A([3.0, 1.0, np.nan, 2.0])
FACTOR = 1.0
TABLE = np.zeros(2)
NUMBERS = [1.0]


def line_here():
    return inspect.currentframe().f_back.f_lineno


# --- at the call ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: xp.map(lambda a, b: a, X, A([1.0])[:0]), ValueError, "broadcast"),
        (lambda: xp.zipwith(lambda a, b: a, X, A([1.0])), ValueError, "of one shape"),
        (lambda: xp.map(None, X), TypeError, "a function is needed"),
        (lambda: xp.map(lambda a, b: a, X), TypeError, "2 parameters"),
        (lambda: xp.map(lambda v: v, [1.0]), TypeError, "must be an array"),
        (lambda: xp.map(lambda v: "a", X), TypeError, "truth values or tuples"),
        (lambda: xp.map(lambda v: (v, "a"), X), TypeError, "truth values or tuples"),
        (lambda: xp.map(lambda v: v + X[0], X), TypingError, "ndarray"),
        (lambda: xp.gather(X, A([1.0])), TypeError, "indices are integers"),
        (lambda: xp.take(X, A([1.0])), TypeError, "indices are integers"),
        (lambda: xp.take_along_axis(X, A([1.0])), TypeError, "indices are integers"),
        (lambda: xp.scatter(X, A([0, 1]), A([1.0, 2.0, 3.0])), ValueError, "broadcast"),
        (lambda: xp.scatter(X, A([0]), A([1j])), TypeError, "do not go into"),
        (lambda: xp.scatter(X, A([0]), 1.0, "mean"), ValueError, "mode is one of"),
        (lambda: xp.k_select(X, 0), ValueError, "of 4 elements"),
        (lambda: xp.k_select(X, 5), ValueError, "of 4 elements"),
        (lambda: xp.k_select(X, 1.0), TypeError, "integer"),
        (lambda: xp.top_k(X, 5), ValueError, "of 4 elements"),
        (lambda: xp.top_k(X, 2.5), TypeError, "integer"),
        (lambda: xp.counting(3, 2**63 - 2), OverflowError, "int64"),
        (lambda: xp.counting(2**70), OverflowError, "int64"),
        (lambda: xp.compact(X, A([1, 0, 1, 0])), TypeError, "truth values"),
        (lambda: xp.compact(X, A([True])), ValueError, "does not fit"),
        (lambda: xp.sort_by_key(A([1, 2]), X), ValueError, "do not fit"),
        (lambda: xp.stencil(lambda a: a, X, -1), ValueError, "radius"),
        (lambda: xp.stencil(lambda a: a, X, 1), TypeError, "takes 1"),
        (lambda: xp.reduce(lambda a, b: a + b, X[:0], init=None), ValueError, "initial value"),
        (lambda: X[A([4])].compute(), IndexError, "out of bounds"),
        (lambda: X @ A([[1.0]]), ValueError, "do not fit"),
    ],
)  # fmt: skip
def test_refused_where_it_is_written(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: xp.reduce(lambda a, b: a - b, A([1.0, 2.0, 4.0]), init=0.0, check=True),
        lambda: xp.scan(lambda a, b: a - b, A([1.0, 2.0, 4.0]), check=True),
        lambda: xp.segmented_reduce(lambda a, b: a / b, A([1.0, 2.0, 4.0]), A([0, 2, 3]), 1.0, check=True),
        lambda: xp.inner(lambda a, b: a * b, lambda a, b: a * 2 + b, A([1, 2, 3]), A([4, 5, 6]), check=True),
    ],
)
def test_operators_that_are_not_associative(call):
    with pytest.raises(ValueError, match="not associative"):
        call()


# --- with the value ---------------------------------------------------------------------------------------------------
def too_large(v):
    if v > 2.0:
        raise ValueError("too large")
    return v


MAKERS = [
    (lambda x: xp.map(too_large, x), ValueError, "too large", "map"),
    (lambda x: xp.gather(x, A([0, 4])), IndexError, "index 4 is out of bounds", "gather"),
    (lambda x: xp.gather(x, A(np.array([2**64 - 1], np.uint64))), IndexError, "out of bounds", "gather"),
    (lambda x: xp.take(x, A([-5])), IndexError, "index -5 is out of bounds", "take"),
    (lambda x: xp.take(x, A(np.array([2**64 - 1], np.uint64))), IndexError, "out of bounds", "take"),
    (lambda x: xp.take_along_axis(x, A([9])), IndexError, "index 9", "take_along_axis"),
    (lambda x: xp.scatter(x, A([-5]), 1.0), IndexError, "index -5", "scatter"),
    (lambda x: xp.linalg.inv(xp.zeros((2, 2)) + x[1]), np.linalg.LinAlgError, "[Ss]ingular", "inv"),
    (lambda x: xp.linalg.cholesky(-xp.eye(2) * x[1]), np.linalg.LinAlgError, "positive definite", "cholesky"),
    (lambda x: xp.segmented_reduce(max, x, A([0, 3, 1]), 0.0), ValueError, "decrease", "segmented_reduce"),
    (lambda x: xp.segmented_scan(max, x, A([0, 9])), IndexError, "offset 9", "segmented_scan"),
    (lambda x: A([2, 3]) ** A([-1, 2]), ValueError, "negative integer powers", "power"),
    (lambda x: xp.random.default_rng(1).poisson(-x), ValueError, "lam < 0", "random"),
]


@pytest.mark.parametrize("make, error, text, name", MAKERS)
@pytest.mark.parametrize("is_alone", [True, False])
def test_errors_name_the_line_of_the_operation(make, error, text, name, is_alone):
    x = X if is_alone else X * 1.0 + 0.0
    found = make(x)
    line = make.__code__.co_firstlineno
    y = found if is_alone else found * 2 - found
    with pytest.raises(error, match=text) as caught:
        y.compute()
    assert caught.value.__notes__ == [f"from {name} at {__file__}:{line}"]
    # The operands are as they were, and the error comes again.
    np.testing.assert_array_equal((x + 1.0).numpy(), X.numpy() + 1.0)
    with pytest.raises(error, match=text):
        y.compute()


def test_of_equal_operations_the_right_one_is_named():
    x = A([1.0, 2.0]) * 3.0
    good = xp.gather(x, A([0, 1]))
    line, bad = line_here(), xp.gather(x, A([0, 2]))
    with pytest.raises(IndexError) as caught:
        (good + bad).compute()
    assert caught.value.__notes__ == [f"from gather at {__file__}:{line}"]


def test_errors_in_joined_loops_name_what_may_have_raised():
    x = A([1.0, 2.0, 3.0]) * 1.0
    line, y = line_here(), xp.map(too_large, x)
    with pytest.raises(ValueError, match="too large") as caught:
        (xp.exp(y * 2.0) - 1.0).compute()
    assert caught.value.__notes__ == [f"from map at {__file__}:{line}"]
    with pytest.raises(ValueError, match="too large") as caught:
        (xp.exp(y * 2.0) - xp.map(too_large, x + 1.0)).compute()
    places = f"from map at {__file__}:{line} or map at {__file__}:{line_here() - 1}"
    assert caught.value.__notes__ in ([places], [places.split(" or ")[0]], ["from " + places.split(" or ")[1]])


def test_functions_of_the_program_are_in_the_traceback():
    with pytest.raises(ValueError, match="too large") as caught:
        (xp.map(too_large, X * 2.0) + 1.0).compute()
    last = caught.traceback[-1]
    assert (str(last.path), last.lineno) == (__file__, too_large.__code__.co_firstlineno + 1)


def test_calls_of_traced_functions_are_named():
    step = xp.trace(lambda x, places: xp.take(x, places) * 2.0)
    line, y = line_here(), step(A([1.0, 2.0]), A([5]))
    with pytest.raises(IndexError) as caught:
        (y + 1.0).compute()
    assert f"from traced at {__file__}:{line}" in caught.value.__notes__


# --- effects of functions ---------------------------------------------------------------------------------------------
def test_changes_of_captured_objects_are_refused():
    numbers, table = [0.0], np.zeros(3)

    def appends(v):
        numbers.append(v)
        return v

    def writes(v):
        table[0] += v
        return v

    def writes_global(v):
        TABLE[1] = v
        return v

    for f in (appends, writes, writes_global):
        with pytest.raises(TypingError, match="read-only"):
            xp.map(f, X)


def test_printing_happens_when_values_are_computed(capfd):
    def shown(v):
        print("element", v)
        return v

    y = xp.map(shown, A([1.0, 2.0]))
    assert capfd.readouterr().out == ""
    y.compute()
    y.compute()
    assert capfd.readouterr().out == "element 1.0\nelement 2.0\n"


def test_captured_values_are_those_of_the_call():
    table, numbers, shift = np.zeros(3), [1.0, 2.0], 1.0

    def f(v):
        return v + table[0] + numbers[0] + shift

    x = A([1.0, 2.0])
    first = xp.map(f, x)
    table[0], numbers[0], shift = 100.0, 10.0, 1000.0
    second = xp.map(f, x)
    table[:] = -1.0
    assert second.numpy().tolist() == [1111.0, 1112.0]
    assert first.numpy().tolist() == [3.0, 4.0]


def through(i):
    return TABLE[i] + FACTOR


compiled_through = njit(through)


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_values_read_by_functions_that_are_called_are_those_of_the_call(device):
    global FACTOR
    table, pair, kept = np.array([1.0, 2.0]), (np.array([1.0, 2.0]), 10.0), [np.array([1.0, 2.0])]
    # A GPU has no lists.
    kept = kept if device == "cpu" else tuple(kept)

    def inner(i):
        return table[i]

    def halved(i):
        return halved(i // 2) + table[0] if i > 1 else table[i]

    compiled_inner = njit(inner, fastmath=True)
    functions = (
        inner, compiled_inner, through, compiled_through,
        lambda i: inner(i) + pair[0][i] * pair[1] + kept[0][i],
        lambda i: compiled_inner(i) + through(i) + compiled_through(i),
        lambda i, t=table: t[i], halved, njit(halved),
    )  # fmt: skip
    try:
        TABLE[:], x = (3.0, 4.0), A([0, 1], device=device)
        expected = [[f(i) for i in (0, 1)] for f in functions]
        found = [xp.map(f, x) for f in functions]
        FACTOR = TABLE[:] = table[:] = pair[0][:] = kept[0][:] = -1.0
        assert [y.numpy().tolist() for y in found] == expected
        again = [xp.map(f, x).numpy().tolist() for f in functions]
        assert again == [[f(i) for i in (0, 1)] for f in functions]
    finally:
        FACTOR, TABLE[:] = 1.0, 0.0


def test_globals_are_those_of_the_call():
    global FACTOR

    def f(v):
        return v * FACTOR + TABLE[0] + NUMBERS[0]

    try:
        first = xp.map(f, A([1.0, 2.0]))
        FACTOR, TABLE[0], NUMBERS[0] = 10.0, 100.0, 2.0
        second = xp.map(f, A([1.0, 2.0]))
        FACTOR = 0.0
        assert first.numpy().tolist() == [2.0, 3.0]
        assert second.numpy().tolist() == [112.0, 122.0]
    finally:
        FACTOR, TABLE[0], NUMBERS[0] = 1.0, 0.0, 1.0


def test_equal_captured_values_compile_once():
    def of(table):
        return xp.map(lambda v: v + table[0], A([1.0]))

    one, other = of(np.array([1.0, 2.0])), of(np.array([1.0, 2.0]))
    assert one.node().op is other.node().op
    assert of(np.array([3.0, 2.0])).node().op is not one.node().op


# --- orders, types, layouts -------------------------------------------------------------------------------------------
def test_nan_is_last_as_in_numpy():
    assert [float(xp.k_select(X, k)) for k in (1, 2, 3)] == [1.0, 2.0, 3.0]
    assert np.isnan(float(xp.k_select(X, 4)))
    np.testing.assert_array_equal(xp.top_k(X, 2).values.numpy(), [np.nan, 3.0])
    np.testing.assert_array_equal(xp.sort(X).numpy(), np.sort(X.numpy()))
    np.testing.assert_array_equal(xp.argsort(X).numpy(), np.argsort(X.numpy(), stable=True))


def test_small_index_types():
    x = A(np.arange(300))
    for dtype in ("int8", "uint8", "uint64", "int16"):
        places = np.array([0, 127, 5], dtype)
        np.testing.assert_array_equal(xp.gather(x, A(places)).numpy(), np.arange(300)[places])
        np.testing.assert_array_equal(xp.take(x, A(places)).numpy(), np.arange(300)[places])
    np.testing.assert_array_equal(xp.gather(x, A(np.array([-128], np.int8))).numpy(), [172])


def test_layouts():
    base = np.arange(24.0).reshape(4, 6)
    for view in (base.T, base[::-1, ::2], base[1:, ::-3], np.asfortranarray(base), np.broadcast_to(base[0], (3, 6))):
        np.testing.assert_array_equal(xp.map(lambda v: v * 2, A(view)).numpy(), view * 2)
        assert float(xp.reduce(lambda a, b: a + b, A(view), init=0.0)) == view.sum()
        np.testing.assert_array_equal(xp.gather(A(view), A([1, 0])).numpy(), view[[1, 0]])


# --- interrupts -------------------------------------------------------------------------------------------------------
def slow(v):
    t = v
    for i in range(500_000_000):
        t = t * 0.999999 + 1e-9 * i
    return t


@pytest.mark.parametrize(
    "make", [lambda x: xp.map(slow, x) + 1.0, lambda x: xp.reduce(lambda a, b: a + b, xp.map(slow, x), init=0.0)]
)
def test_interrupts_leave_arrays_usable(make):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    x = A(np.arange(100.0)) + 1.0
    y = make(x)
    sender = subprocess.Popen(["sh", "-c", f"sleep 2; kill -INT {os.getpid()}"])
    try:
        with pytest.raises(KeyboardInterrupt):
            y.compute()
    finally:
        sender.wait()
        signal.signal(signal.SIGINT, before)
    assert y.node().value is None
    assert float(xp.sum(x)) == 5050.0
