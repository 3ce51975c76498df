"""Arguments that CPython and NumPy refuse are refused here, too, and those that are odd but right are not."""

import heapq
import math
import operator
import random

import numpy as np
import pytest

from lancehead import errors, njit

A = np.arange(6.0).reshape(2, 3)
F = np.asfortranarray(A)
STRIDED = np.arange(24).reshape(2, 3, 4).transpose(1, 0, 2)[:, :, ::-2]
SPACE = {"np": np, "math": math, "operator": operator, "random": random, "heapq": heapq}


def function(text):
    """`lambda a: text`, for an argument."""
    space = dict(SPACE)
    exec(f"def f(a):\n    return {text}", space)
    return space["f"]


def refuses(text, a=None):
    """Whether CPython raises, and compiled code does or does not compile."""
    f = function(text)
    with pytest.raises(Exception):  # noqa: B017
        f(a)
    try:
        njit(f)(a)
    except errors.InternalError:
        return False
    except Exception:
        return True
    return False


def same(text, a):
    """Whether compiled code gives an array of the same elements and shape and, of arrays made anew, strides."""
    f = function(text)
    want, got = np.asarray(f(a)), np.asarray(njit(f)(a))
    return (
        want.shape == got.shape
        and np.array_equal(want, got, equal_nan=True)
        and ("reshape" in text or want.strides == got.strides)
    )


NO_DTYPES = ["5", "1.5", "True", "a", "1j"]
TAKE_DTYPES = [
    "np.zeros(3, {})", "np.ones_like(a, {})", "np.full(3, 1, {})", "np.array([1, 2], {})", "np.asarray(a, {})",
    "np.asfortranarray(a, {})", "np.frombuffer(a, {})", "np.eye(3, dtype={})", "np.sum(a, None, {})", "a.astype({})",
    "a.view({})", "np.dtype({})",
]  # fmt: skip


@pytest.mark.parametrize("text", TAKE_DTYPES)
@pytest.mark.parametrize("dtype", NO_DTYPES)
def test_a_value_is_no_dtype(text, dtype):
    assert refuses(text.format(dtype), A)


@pytest.mark.parametrize("text", TAKE_DTYPES[:-1])
@pytest.mark.parametrize("dtype", ["float", "np.float64", "'f8'", "np.dtype('f8')", "a.dtype"])
def test_a_dtype_is_named_in_any_way(text, dtype):
    assert same(text.format(dtype), A)


TAKE_ORDERS = [
    "a.copy({})", "a.flatten({})", "a.ravel({})", "np.copy(a, {})", "np.ravel(a, {})", "a.reshape((2, 3), order={})",
    "np.zeros((2, 3), float, {})", "np.ones_like(a, None, {})", "np.array(a, order={})", "np.asarray(a, None, {})",
    "a.astype(np.float32, {})",
]  # fmt: skip


@pytest.mark.parametrize("text", TAKE_ORDERS)
@pytest.mark.parametrize("order", ["0", "1.5", "'x'", "''", "()", "a", "len"])
def test_an_order_is_one_of_four_strings(text, order):
    assert refuses(text.format(order), A)


@pytest.mark.parametrize("text", TAKE_ORDERS)
@pytest.mark.parametrize("order", ["'C'", "'f'", "'A'", "'K'", "None"])
def test_orders_lay_elements_out_as_numpy_does(text, order):
    if ("zeros" in text and order in ("'A'", "'K'")) or ("reshape" in text and order == "'K'"):
        assert refuses(text.format(order), A)
        return
    for a in (A, F, A[0], np.array(5.0)):
        if "2, 3" not in text or a.ndim == 2:
            assert same(text.format(order), a), a.flags


@pytest.mark.parametrize("text", ["a.ravel('K')", "a.ravel('A')", "a.flatten('K')", "np.ravel(a[::-1], 'K')"])
def test_elements_in_the_order_of_memory(text):
    for a in (STRIDED, STRIDED.T, F[:, ::2], F.T[1:], A[::-1].T):
        assert same(text, a)


@pytest.mark.parametrize("text", ["np.sort(a, -1, {})", "np.argsort(a, -1, {})", "a.argsort(-1, {})"])
def test_a_kind_of_sorting_has_a_name(text):
    for kind in ("0", "a", "len", "'x'"):
        assert refuses(text.format(kind), A)
    for kind in ("None", "'stable'", "'quicksort'", "'mergesort'", "'heapsort'"):
        assert same(text.format(kind), A)


@pytest.mark.parametrize("rule", ["same_kind", "safe", "no", "x", 1])
def test_casting_by_a_rule(rule):
    text = f"a.astype(np.int16, casting={rule!r})"
    assert refuses(text, A)
    if rule == "same_kind":
        assert same(text, np.arange(3))


@pytest.mark.parametrize(
    "text",
    [
        "np.sum(a, out={})", "np.mean(a, out={})", "np.max(a, None, {})", "np.argmin(a, None, {})",
        "np.std(a, out={})", "np.median(a, None, {})", "np.nansum(a, out={})", "np.cumsum(a, out={})",
    ],
)  # fmt: skip
@pytest.mark.parametrize("out", ["5", "(1, 2)", "'x'", "np.zeros((4, 3))", "np.zeros((1, 1, 1))"])
def test_out_has_the_shape_of_the_result(text, out):
    assert refuses(text.format(out), A)


def test_out_may_have_another_dtype():
    assert same("np.sum(a, out=np.zeros((), np.int64))", A)
    assert same("np.sum(a, 0, out=np.zeros(3, np.float32))", A)


@pytest.mark.parametrize(
    "text",
    [
        "np.floor((1,), (1,))", "np.add(1, a, (2, 3))", "np.absolute(1.5, [1.0])", "np.add(a, a, a, out=a)",
        "np.isnan(a, 'x')", "np.logaddexp(1, 1.5, [1.5])", "np.sin(x=a)",
    ],
)  # fmt: skip
def test_outputs_of_ufuncs_are_arrays(text):
    assert refuses(text, A)


@pytest.mark.parametrize("name", ["isnan", "isfinite", "positive", "conjugate", "sign", "sqrt", "floor"])
@pytest.mark.parametrize("operand", ["None", "'x'", "...", "len", "np.float32", "slice(None)"])
def test_operands_of_ufuncs_are_numbers(name, operand):
    assert refuses(f"np.{name}({operand})")


@pytest.mark.parametrize("name", ["equal", "add", "logical_and", "maximum"])
def test_ranges_and_functions_are_no_operands(name):
    for operand in ("range(3)", "len", "slice(None)"):
        with pytest.raises(errors.TypingError):
            njit(function(f"np.{name}(a, {operand})"))(1.5)


@pytest.mark.parametrize(
    "text",
    [
        "len(a, ddof=1)", "range(3, ddof=1)", "slice(1, 2, out=3)", "abs(1, dtype=int)", "tuple(a, reverse=1)",
        "reversed(a, k=1)", "zip(a, key=1)", "sorted(a, None)", "map(abs)", "isinstance(1, int, x=1)",
        "math.sqrt(x=2.0)", "math.degrees(x=1.0)", "math.cos(1.0, out=None)", "operator.abs(a=1)",
        "'ab'.strip(chars='a')", "[1].append(object=2)", "[2, 1].sort(None)", "np.ndim(a, a=2)", "np.size(a, a=a)",
        "np.where(condition=a)", "a.fill(value=3)", "str(1, order=1)", "enumerate(a, 1, start=2)",
        "np.isreal(a, a)", "random.getrandbits(k=3)", "random.lognormvariate()",
    ],
)  # fmt: skip
def test_keywords_that_a_function_does_not_have(text):
    assert refuses(text, A)


def test_keywords_that_functions_have():
    for text in ("np.shape(a=a)", "np.ndim(a=a)", "np.isreal(x=a)", "np.outer(a=a, b=a)", "np.trace(a=a)"):
        assert same(text, A)
    assert njit(lambda: [i for i, _ in enumerate("ab", start=2)])() == [2, 3]


@pytest.mark.parametrize(
    "text",
    [
        "np.bincount({})", "np.digitize([1.5], {})", "np.interp(1.5, {}, {})", "np.vander({})", "np.compress({}, a)",
        "np.linalg.outer({}, [1, 2])",
    ],
)  # fmt: skip
@pytest.mark.parametrize("operand", ["np.array(1)", "np.ones((2, 2, 2), np.int64)"])
def test_lines_have_one_dimension(text, operand):
    assert refuses(text.replace("{}", operand), A)


@pytest.mark.parametrize(
    "text",
    [
        "np.nonzero(5)", "np.nonzero(np.array(5))", "np.where(5)", "np.array(5).nonzero()", "np.vsplit(a[0], 1)",
        "np.array(5).repeat(np.array([1, 2, 3]))", "a.fill(a)", "a.item(0, ..., None)", "a.reshape()",
        "np.take_along_axis(a, np.zeros((5, 1), np.int64), 1)",
        "np.put(5, 0, 1)", "np.add.outer(a)", "a.fill([1, 2])",
    ],
)  # fmt: skip
def test_ranks_and_shapes_that_do_not_fit(text):
    assert refuses(text, A)


@pytest.mark.parametrize(
    "text",
    [
        "math.lcm(1.5, 2)", "math.gcd(1.5, 2)", "math.comb(3.5, 2)", "math.factorial(2.5)", "math.isqrt(4.0)",
        "math.ldexp(1.5, 1.5)", "bin(1.5)", "oct(1.5)", "hex(1j)", "chr(65.0)", "np.lcm(1.5, 2)", "np.gcd(1j, 2)",
        "[1, 2].insert(1.5, 3)", "[1, 2].pop(a)", "'ab'.find('a', 1.5)", "'ab'.endswith((), 1.5)", "'ab'.zfill(3.5)",
        "random.getrandbits(2.5)", "np.random.seed(1.5)", "np.random.permutation(1.5)", "np.round(a, a)",
        "np.split(a, [1.5])", "np.repeat(a, len)", "np.argpartition(a, ())", "pow(1.5, 2, 3)",
        "operator.index(1.5)", "np.ldexp(a, a)",
    ],
)  # fmt: skip
def test_integers_are_needed(text):
    assert refuses(text, A)


@pytest.mark.parametrize(
    "text",
    [
        "np.zeros((True, 2))", "np.identity(True)", "np.reshape(5, True)", "np.broadcast_to(5, True)",
        "np.sum(a, axis=True)", "np.pad(a, True)", "np.partition(a, True)", "np.ptp(a > 1)", "np.ediff1d(a > 1)",
        "np.percentile(a > 1, 50)",
    ],
)  # fmt: skip
def test_truth_values_are_no_numbers_there(text):
    assert refuses(text, A)


@pytest.mark.parametrize(
    "text", ["np.sum(a, 0, keepdims='x')", "np.max(a, 0, None, ())", "np.zeros_like(a, subok='x')"]
)
def test_flags_are_truth_values(text):
    assert refuses(text, A)


@pytest.mark.parametrize("name", ["sqrt", "sin", "isnan", "floor", "atan", "erf", "fabs", "cbrt", "log1p"])
def test_functions_of_math_take_numbers(name):
    assert refuses(f"math.{name}(a)", A)
    assert refuses(f"math.{name}('1.5')")
    assert math.isclose(njit(function(f"math.{name}(a)"))(np.array(0.5)), getattr(math, name)(0.5))


def test_nan_of_one_coordinate():
    for text in ("math.hypot(a)", "math.hypot(1.0, a, 2.0)", "math.dist((1.0, a), (1.0, 2.0))"):
        assert math.isnan(njit(function(text))(math.nan))
    assert njit(function("math.hypot(a, math.inf, 1.0)"))(math.nan) == math.inf


def test_isinstance_asks_for_classes():
    for text in ("isinstance(a, len)", "isinstance(a, np.sin)", "isinstance(a, (int, 5))"):
        assert refuses(text, 1.5)
    assert njit(function("isinstance(a, (dict, float))"))(1.5)


def test_arrays_made_without_a_copy():
    given = np.array([1.0, np.nan])
    assert njit(function("np.array(a, copy=None)"))(given) is given
    assert njit(function("np.array(a, copy=False)"))(given) is given
    assert refuses("np.array([1, 2], copy=False)")
    assert refuses("np.array(a, np.float32, copy=False)", A)
    njit(function("np.nan_to_num(a, copy=False)"))(given)
    assert given[1] == 0.0


def test_records_are_not_converted_to_numbers():
    with pytest.raises(errors.TypingError, match="cannot be converted"):
        njit(function("np.float32(a)"))(np.zeros(2, [("x", "i4")]))


def test_values_go_into_any_layout():
    def put(a):
        np.put(a, [1, 2], [10.0, 20.0])
        return a

    assert np.array_equal(njit(put)(F.copy("F")), put(F.copy("F")))


def test_loops_over_a_global_list_without_items():
    names = []

    @njit
    def count(n):
        for name in names:
            try:
                n += name
            except ValueError:
                n = 0
        return n

    assert count(3) == 3
