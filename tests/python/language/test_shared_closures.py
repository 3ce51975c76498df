"""Functions of the same code share what is compiled for them: their captured variables are data."""

import time

import numpy as np
import pytest

from lancehead import njit, prange
from lancehead._core import live_allocations


def scaled(k):
    @njit
    def f(x):
        return x * k

    return f


def outcome(f, *args):
    """A result with the kind of its type, or the class of the exception."""
    try:
        result = f(*args)
    except Exception as e:
        return type(e)
    return np.asarray(result).dtype.kind, np.asarray(result).tolist()


def same(make, environments, *args):
    """Every function of a maker answers as in Python, in turn and again when all are made."""
    made = [(make(*e), e) for e in environments]
    for f, e in made + made[::-1]:
        assert outcome(f, *args) == outcome(f.py_func, *args), e
    return [f for f, _ in made]


def test_a_new_closure_costs_no_compilation():
    first, second, *more = [scaled(k) for k in range(2, 60)]
    assert [first(3), second(3)] == [6, 9]
    start = time.perf_counter()
    assert [f(3) for f in more] == [3 * k for k in range(4, 60)]
    assert (time.perf_counter() - start) / len(more) < 1e-3
    entry = second.overloads[second.signatures[0]].entry_point.address
    assert {f.overloads[f.signatures[0]].entry_point.address for f in more} == {entry}


def test_values_and_types():
    values = [2, -3, 2**62, 0.5, float("nan"), True, False, 1 + 2j, np.float32(3), np.int8(7), np.uint64(2**63)]
    for f, k in zip(same(scaled, [(k,) for k in values if k == k], 2.5), values, strict=False):
        assert len(f.signatures) == 1, k
    same(scaled, [("ab",), ("",), ("äß",), ("x" * 1000,)], 3)
    assert np.isnan(scaled(float("nan"))(1.0))


def test_ints_beyond_64_bits_are_refused_as_ever():
    for _ in range(3):
        with pytest.raises(Exception, match="an int beyond 64 bits"):
            scaled(2**70)(1)


def test_tuples_and_arrays():
    def make(shape, weights):
        @njit
        def f(x):
            out = np.full(shape, x)
            for i in range(len(weights)):
                out += weights[i]
            return out

        return f

    a = np.arange(6.0)
    environments = [((2, 3), a), ((1, 1), a[::2]), ((0, 4), a[:0]), ((3,), a.astype("f4")), ((2,), a[::-1])]
    same(make, environments * 2, 1.5)


def test_captured_arrays_are_read_where_they_are_and_not_written_to():
    def make(a):
        @njit
        def total():
            return a.sum()

        return total

    arrays = [np.ones(3), np.ones(4), np.ones(5)]
    made = [make(a) for a in arrays]
    assert [f() for f in made] == [3.0, 4.0, 5.0]
    for a in arrays:
        a[0] = 10
    assert [f() for f in made] == [12.0, 13.0, 14.0]

    def writes(a):
        @njit
        def f():
            a[0] = 1

        return f

    for a in arrays:
        with pytest.raises(Exception, match="read-only"):
            writes(a)()


def test_rebinding_a_cell_is_seen():
    def make(k):
        @njit
        def f(x):
            return x * k

        def rebind(value):
            nonlocal k
            k = value

        return f, rebind

    for n in range(3):
        f, rebind = make(n)
        for value in (5, 2.5, "xy", 7, np.float32(2), np.ones(2), 3, 1j, 4):
            rebind(value)
            assert outcome(f, 3) == outcome(f.py_func, 3), value
        rebind(None)
        with pytest.raises(Exception, match="not supported"):
            f(3)
        rebind(6)
        assert f(3) == 18


def test_a_value_that_decides_on_a_type_stays_a_constant():
    def branch(mode, flag):
        @njit
        def f(x):
            if mode == "exact":
                return x
            return x + 0.5 if flag else x * 2

        return f

    same(branch, [("exact", True), ("half", True), ("half", False), ("exact", False), ("other", False)], 3)

    def power(k):
        @njit
        def f(x):
            return x**k

        return f

    same(power, [(2,), (-1,), (3,), (0,), (-2,), (0.5,)], 2)

    def called(k, j):
        @njit
        def f(x):
            return pow(x, k), min(j, 2.5), ~j, pow(2, j - 3) if x else 0

        return f

    same(called, [(1, 1), (2, 0), (-1, 4), (3, 2), (-2, 3)], 4)

    def item(k):
        @njit
        def f(x):
            t = (x, x * 0.5, "text")
            return t[k]

        return f

    same(item, [(0,), (1,), (2,), (-1,), (0,)], 3)

    def keeps(axis, keepdims):
        @njit
        def f(a):
            return np.sum(a, axis=axis, keepdims=keepdims)

        return f

    same(keeps, [(0, True), (1, False), (1, True), (0, False)], np.arange(6.0).reshape(2, 3))

    def negated(flag):
        @njit
        def f(a):
            return sorted(a, reverse=not flag)

        return f

    same(negated, [(True,), (False,), (True,)], [3, 1, 2])


def test_what_is_no_data_is_a_constant():
    def twice(x):
        return 2 * x

    def thrice(x):
        return 3 * x

    def make(g, k, dtype):
        @njit
        def f(x):
            return g(x) + np.full(2, k, dtype)

        return f

    made = [(g, k, d) for d in (np.float32, np.int64) for g in (twice, thrice) for k in (1, 2, 3)]
    same(make, made, 4)


def test_a_function_that_calls_itself():
    def make(base):
        @njit
        def f(n):
            return base if n == 0 else n * f(n - 1)

        return f

    assert [make(b)(4) for b in (1, 2, 3, 0.5)] == [24, 48, 72, 12.0]


def test_a_function_is_compiled_before_its_name_is_bound():
    def make(base):
        @njit("i8(i8)")
        def f(n):
            return base if n == 0 else n * f(n - 1)

        return f

    assert [make(b)(4) for b in (1, 2)] == [24, 48]


def test_a_closure_in_compiled_code():
    @njit
    def apply(f, x):
        return f(x) + 1

    made = [scaled(k) for k in (2, 3, 4)]
    assert [f(5) for f in made] == [10, 15, 20]
    assert [apply(f, 5) for f in made] == [11, 16, 21]


factor = 10


def with_global(k):
    @njit
    def f(x):
        return x * k + factor

    return f


def test_globals_and_code_are_guarded():
    global factor
    made = [with_global(k) for k in (1, 2, 3)]
    assert [f(5) for f in made] == [15, 20, 25]
    factor = 100
    try:
        assert [f(5) for f in made] == [105, 110, 115]
        factor = 0.5
        assert [f(5) for f in made] == [5.5, 10.5, 15.5]
    finally:
        factor = 10
    assert [f(5) for f in made] == [15, 20, 25]

    def other(k):
        def f(x):
            return x - k

        return f

    for f, k in zip(made, (1, 2, 3), strict=True):
        f.py_func.__code__ = other(0).__code__
        assert f(5) == 5 - k


def test_ways_to_pass_arguments():
    def make(k, d):
        @njit
        def f(a, b=d, *rest, c=3):
            return a * k + b + len(rest) + c

        return f

    for n in range(4):
        f = make(n, n + 1)
        for args, kwargs in [((1,), {}), ((1, 2), {}), ((1, 2, 3, 4), {}), ((1,), {"c": 5}), ((), {"a": 2, "b": 1})]:
            assert f(*args, **kwargs) == f.py_func(*args, **kwargs)
    with pytest.raises(TypeError):
        f()

    def total(k):
        @njit
        def f(items):
            items.append(k)
            return len(items)

        return f

    for k in (1, 2, 3, 4):
        items = []
        assert total(k)(items) == 1 and items == [k]


def test_what_a_dispatcher_says_of_itself():
    made = [scaled(k) for k in (2, 3, 4)]
    for f in made:
        assert f(1.5) == 1.5 * f.py_func.__closure__[0].cell_contents
        assert len(f.signatures) == 1 and len(f.signatures[0]) == 1
        assert [str(s) for s in f.nopython_signatures] == ["(float64) -> float64"]
        assert f.inspect_llvm(f.signatures[0])
        assert "f" in str(f.explain())
        f.recompile()
        assert f(2.5) == f.py_func(2.5)
        f.compile("(i8,)")
        assert f(2) == f.py_func(2)
        f.disable_compile()
        assert f(3) == f.py_func(3) and f(2.5) == f.py_func(2.5)
        with pytest.raises(TypeError):
            f("text")


def test_options():
    def parallel(k):
        @njit(parallel=True)
        def f(n):
            s = 0
            for i in prange(n):
                s += i * k
            return s

        return f

    same(parallel, [(1,), (2,), (3,)], 100)

    def generates(k):
        @njit
        def f(n):
            for i in range(n):
                yield i * k

        return f

    assert [list(generates(k)(3)) for k in (1, 2, 3)] == [[0, 1, 2], [0, 2, 4], [0, 3, 6]]


def test_inner_functions_and_comprehensions():
    def make(k, names):
        @njit
        def f(x):
            def inner(y):
                return y * k + x

            return [inner(v) for v in range(3)], names[0] + "!"

        return f

    for k, names in [(1, ("a", "b")), (2, ("c", "d")), (2.5, ("e", "f")), (4, ("g", "h"))]:
        f = make(k, names)
        assert f(2) == f.py_func(2)


def test_cached_functions(tmp_path, monkeypatch):
    monkeypatch.setenv("LANCEHEAD_CACHE_DIR", str(tmp_path))

    def make(k):
        @njit(cache=True)
        def f(x):
            return x + k

        return f

    same(make, [(1,), (2,), (2.5,), (True,), (1,)], 3)


def test_an_escaping_function_that_calls_one_of_another_name() -> None:
    @njit
    def make(k):
        down = lambda n: step(n - 1) if n > 0 else k

        def step(n):
            return down(n - 1) if n > 0 else -k

        return step

    with pytest.raises(TypeError, match="calls `down`: define both outside"):
        make(1)


# Closures as arguments of other functions


@njit
def apply(f, x):
    return f(x)


def passed(make, environments, call, *args):
    """Each closure of a maker that is passed to a compiled function answers as in Python, in turn and once more."""
    made = [make(*e) for e in environments]
    for f, e in [*zip(made, environments, strict=True)] * 2:
        assert outcome(call, f, *args) == outcome(call.py_func, getattr(f, "py_func", f), *args), e


def line(k, c):
    def f(x):
        return x * k + c

    return f


@njit
def integral(f, a, b, n):
    h = (b - a) / n
    return h * sum([f(a + (i + 0.5) * h) for i in range(n)])


@pytest.mark.parametrize("make", [line, lambda k, c: njit(line(k, c))], ids=["plain", "decorated"])
def test_a_new_closure_as_an_argument_costs_no_compilation(make):
    first, second, *more = [make(k, 0.5) for k in range(2, 60)]
    assert [integral(first, 0.0, 2.0, 4), integral(second, 0.0, 2.0, 4)] == [5.0, 7.0]
    start = time.perf_counter()
    assert [integral(f, 0.0, 2.0, 4) for f in more] == [2.0 * k + 1 for k in range(4, 60)]
    assert (time.perf_counter() - start) / len(more) < 1e-3
    known = len(integral.signatures)
    assert integral(make(99, 1.5), 0.0, 2.0, 4) == 201.0 and len(integral.signatures) == known


def test_what_closures_that_are_passed_capture():
    numbers = [2, -3, 2**62, 0.5, True, False, 1 + 2j, np.float32(3), np.int8(7), np.uint64(2**63)]
    passed(scaled, [(k,) for k in numbers], apply, 2.5)
    passed(scaled, [("ab",), ("",), ("äß",), ("x" * 1000,)], apply, 3)
    passed(line, [(2, 3), (2.5, 1), (1j, 2), (2, 3.5)] * 2, apply, 4)

    def items(a, t):
        @njit
        def f(i):
            return a[i] * t[0] + len(t[1])

        return f

    arrays = [np.arange(4), np.arange(6.0)[::2], np.ones(3, "f4"), np.arange(9).reshape(3, 3)[1]]
    passed(items, [(a, (k, "ab" * k)) for k, a in enumerate(arrays)] * 2, apply, 1)

    def mode(m):
        @njit
        def f(x):
            return x if m == "exact" else x + 0.5

        return f

    passed(mode, [("exact",), ("half",), ("other",), ("exact",)], apply, 3)

    def outer(k, g):
        @njit
        def f(x):
            return g(x) + k

        return f

    inner = scaled(3)
    passed(outer, [(k, inner) for k in range(5)] + [(k, scaled(k)) for k in range(3)], apply, 3)

    def countdown(k):
        @njit
        def f(n):
            return k if n == 0 else f(n - 1) + 1

        return f

    passed(countdown, [(k,) for k in range(4)], apply, 3)


def test_closures_that_are_passed_stay_what_they_are():
    @njit
    def same(f, g):
        return f is g

    @njit
    def both(f, g, x):
        return f(x), g(x)

    @njit
    def chosen(f, g, first, x):
        h = f if first else g
        return h(x)

    @njit
    def given(f):
        return f, [f]

    @njit
    def later(f):
        return lambda x: f(x) + 1

    @njit
    def each(f):
        yield f

    for k in range(4):
        f, g = scaled(k), scaled(10 * k + 1)
        assert (same(f, g), same(f, f)) == (False, True)
        assert both(f, g, 3) == (3 * k, 30 * k + 3) and both(f, f, 2) == (2 * k, 2 * k)
        assert (chosen(f, g, True, 2), chosen(f, g, False, 2)) == (2 * k, 20 * k + 2)
        own, [item] = given(f)
        assert own is f and item is f and later(f)(3) == 3 * k + 1 and [h is f for h in each(f)] == [True]
        assert apply(f, "ab") == "ab" * k and apply(f, 2.5) == 2.5 * k


def test_cells_and_code_of_closures_that_are_passed():
    def make(k):
        def f(x):
            return x * k

        def rebind(value):
            nonlocal k
            k = value

        return f, rebind

    def other(k):
        def f(x):
            return x - k

        return f

    for n in range(3):
        f, rebind = make(n)
        for value in (5, 2.5, "xy", 7, np.float32(2), np.ones(2), 3, 1j, 4):
            rebind(value)
            assert outcome(apply, f, 3) == outcome(f, 3), value
    first, second, third = (line(k, 0) for k in (2, 3, 4))
    assert [apply(f, 5) for f in (first, second, third)] == [10, 15, 20]
    second.__code__, second.__defaults__ = (lambda k, c: lambda x: k + c)(0, 0).__code__, None
    assert [apply(f, 5) for f in (first, second, third, line(5, 1))] == [10, 3, 20, 26]


def test_closures_that_write_to_what_they_capture_are_refused_each_time():
    def make(a):
        @njit
        def f(i):
            a[i] = 1
            return 0

        return f

    for n in range(4):
        with pytest.raises(Exception, match="read-only"):
            apply(make(np.zeros(n + 1)), 0)


def test_passed_closures_leak_nothing():
    def make(s, a):
        @njit
        def f(x):
            if x > 3:
                raise ValueError(s)
            return s + str(a[0] + x)

        return f

    def run(n):
        for k in range(1, n):
            f = make("t" * (k % 7 + 1), np.full(3, k))
            assert apply(f, 2) == "t" * (k % 7 + 1) + str(k + 2)
            with pytest.raises(ValueError, match="t"):
                apply(f, 4)

    run(20)
    before = live_allocations()
    run(20)
    assert live_allocations() == before
