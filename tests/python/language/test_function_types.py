"""Functions as arguments of signatures: `FunctionType(int64(int64))`, of one function or another, in tuples, from
compiled code."""

import pickle

import numpy as np
import pytest

from lancehead import _core, cfunc, errors, float64, int64, njit, typed, types
from lancehead.experimental import jitclass

INT = types.FunctionType(int64(int64))


@njit
def inc(x):
    return x + 1


@njit
def double(x):
    return x * 2


@njit(int64(INT, int64))
def apply(f, x):
    return f(x)


@pytest.mark.parametrize(
    "signature", ["int64(int64(int64), int64)", "int64(FunctionType(int64(int64)), int64)", (INT, int64)]
)
def test_one_signature_takes_every_function_of_its_types(signature):
    @njit(signature)
    def g(f, x):
        return f(x) + 1

    assert g.signatures == [(INT, int64)]
    assert [g(f, 5) for f in (inc, double, inc, lambda x: -x)] == [7, 11, 7, -4]
    assert g(inc, 2.75) == 4
    assert g.signatures == [(INT, int64)] and g.nopython_signatures[0].args == (INT, int64)
    with pytest.raises(TypeError, match="No matching definition"):
        g(1, 5)


def test_arguments_and_results_are_converted_to_what_the_signature_says():
    @njit("float64(float64(float64), int32)")
    def g(f, x):
        return f(x)

    for f, expected in ((inc, 4.0), (np.sqrt, np.sqrt(3.0)), (lambda x: 7, 7.0), (lambda x: x // 2, 1.0)):
        got = g(f, 3)
        assert got == expected and type(got) is float


def test_of_several_signatures_the_other_arguments_decide():
    @njit([int64(INT, int64), float64(types.FunctionType(float64(float64[::1])), float64[::1])])
    def g(f, x):
        return f(x)

    total = njit(lambda a: a.sum())
    assert g(inc, 1) == 2 and g(total, np.ones(3)) == 3.0


def test_tuples_of_functions():
    @njit(int64(types.UniTuple(INT, 2), int64))
    def chained(fs, x):
        for i in range(len(fs)):
            x = fs[i](x)
        for f in fs:
            x = f(x)
        return x

    assert chained((inc, double), 3) == 18 and chained((double, inc), 3) == 15 and chained((inc, inc), 3) == 7


def test_compiled_code_passes_functions_on():
    @njit
    def outer(n, first):
        f = inc if first else double
        return apply(inc, n) + apply(f, n)

    assert outer(5, True) == 12 and outer(5, False) == 16

    @njit(INT(INT))
    def same(f):
        return f

    assert same(inc) is inc


def test_changes_are_seen_and_errors_pass():
    step = 1

    @njit
    def add(x):
        if x < 0:
            raise ValueError("below", x)
        return x + step

    assert apply(add, 1) == 2
    step = 10
    assert apply(add, 1) == 11
    with pytest.raises(ValueError) as caught:
        apply(add, -3)
    assert caught.value.args == ("below", -3)
    copy = pickle.loads(pickle.dumps(apply))
    assert copy.signatures == [(INT, int64)] and copy(add, 1) == 11


def test_calls_that_do_not_fit_are_refused():
    @njit(int64(INT))
    def two(f):
        return f(1, 2)

    @njit(int64(INT))
    def named(f):
        return f(x=1)

    for g in (two, named):
        with pytest.raises(errors.TypingError, match=r"`function\(int\) -> int` cannot be called with"):
            g(inc)
    with pytest.raises(errors.TypingError, match="mismatch of return type"):
        apply(lambda x: "text", 1)


FT = types.FunctionType(types.int64(types.int64))


@njit
def plus(x):
    return x + 1


@njit
def times(x):
    if x > 1000:
        raise ValueError("too large")
    return x * 2


@cfunc("int64(int64)")
def minus(x):
    return x - 1


@njit
def in_turn(functions, x):
    for f in functions:
        x = f(x)
    return x


def test_a_typed_list_holds_functions():
    made = typed.List.empty_list(FT)
    for f in (plus, times, minus):
        made.append(f)
    assert in_turn(made, 3) == 7 and list(made) == [plus, times, minus] and made[2] is minus
    with pytest.raises(ValueError, match="too large"):
        in_turn(made, 1000)

    @njit
    def grown(functions):
        functions.append(functions[0])
        return functions[3](1)

    assert grown(made) == 2 and made[3] is plus


def test_dictionaries_hold_functions():
    table = typed.Dict.empty(types.unicode_type, FT)
    table["a"] = plus
    table["b"] = minus

    @njit
    def look_up(table, key, x):
        return table[key](x)

    assert [look_up(table, k, 5) for k in "ab"] == [6, 4]

    @njit
    def own(key, x):
        made = {"a": plus, "b": times}
        typed_one = typed.Dict.empty(types.unicode_type, FT)
        typed_one["a"] = minus
        return made[key](x), typed_one["a"](x)

    assert own("b", 5) == (10, 4)
    with pytest.raises(KeyError):
        own("c", 1)


def test_a_field_holds_a_function():
    @jitclass([("f", FT), ("x", types.int64)])
    class Task:
        def __init__(self, f, x):
            self.x = x
            if x >= 0:
                self.f = f

        def run(self):
            return self.f(self.x)

    task = Task(plus, 3)
    assert task.run() == 4 and task.f is plus
    task.f = minus
    assert task.run() == 2
    with pytest.raises(RuntimeError, match="function address is null"):
        Task(plus, -1).run()


def test_a_function_value_is_never_stale():
    global ADDED
    ADDED = 1

    @njit
    def adds(x):
        return x + ADDED

    made = typed.List.empty_list(FT)
    made.append(adds)
    assert in_turn(made, 1) == 2
    ADDED = 10
    assert in_turn(made, 1) == 11


def test_functions_that_are_no_values():
    @njit
    def keeps(functions, n):
        functions.append(lambda x: x + n)

    with pytest.raises(errors.TypingError, match="cannot hold"):
        keeps(typed.List.empty_list(FT), 1)
    made = typed.List.empty_list(FT)
    made.append(njit(lambda x: "text"))
    with pytest.raises(TypeError, match="mismatch of return type"):
        in_turn(made, 1)


def test_leaks_of_function_values():
    made = typed.List.empty_list(types.FunctionType(types.unicode_type(types.unicode_type)))
    made.append(njit(lambda s: s + "é" * 50))

    @njit
    def run(functions, s):
        return functions[0](s) + functions[0](s)

    expected = run(made, "a")
    before = _core.live_allocations()
    assert run(made, "a") == expected == ("a" + "é" * 50) * 2
    assert _core.live_allocations() == before
