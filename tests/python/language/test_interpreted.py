"""`jit(forceobj=True)`: the function runs in the interpreter, because the program says so."""

import numpy as np
import pytest

from lancehead import errors, jit, njit, objmode, types


class Point:
    pass


@jit(forceobj=True)
def described(x, *rest, key=None, **more):
    return {"x": x, "rest": rest, "key": key, "more": more}


def test_calls_run_the_python_function():
    made = described([1, "a"], 2, key=object, other=Point)
    assert made == {"x": [1, "a"], "rest": (2,), "key": object, "more": {"other": Point}}
    assert jit(forceobj=True)(lambda n: n + 10**40)(1) == 10**40 + 1
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        described()


def test_exceptions_generators_and_methods():
    class Own:
        @jit(forceobj=True)
        def method(self):
            return self.value

    own = Own()
    with pytest.raises(AttributeError):
        own.method()
    own.value = Point
    assert own.method() is Point and Own.method(own) is Point

    @jit(forceobj=True)
    def up_to(n):
        yield from range(n)

    assert list(up_to(3)) == [0, 1, 2]


def test_types_of_calls_are_noted():
    f = jit(forceobj=True)(lambda x, y: x)
    for args in ((1, 2.5), (3, 4.5), (np.ones(2), None), (np.ones(2, "f4"), Point())):
        f(*args)
    kinds = [[types.int64, types.float64], [types.float64[::1], types.none], [types.float32[::1], types.pyobject]]
    assert [list(s) for s in f.signatures] == kinds
    assert f.nopython_signatures == [] and all(o.objectmode for o in f.overloads.values())


def test_signatures():
    assert jit((), forceobj=True)(lambda x, y: x).signatures == [(types.pyobject, types.pyobject)]
    f = jit((types.pyobject, types.int32), forceobj=True)(lambda x, y: (x, y))
    assert f.signatures == [(types.pyobject, types.int32)] and f("a", "b") == ("a", "b")
    with pytest.raises(TypeError, match="1 argument types for 2 parameters"):
        jit("(int32,)", forceobj=True)(lambda x, y: x)


def test_nothing_falls_back():
    @njit
    def calls(x):
        return described(x)

    with pytest.raises(errors.TypingError, match="`forceobj=True` runs in the interpreter"):
        calls(1)

    @njit
    def in_a_block(x):
        with objmode(n="int64"):
            n = len(described(x))
        return n

    assert in_a_block(1) == 4


def test_options_that_exclude_each_other():
    with pytest.raises(ValueError, match="Only one of 'nopython' or 'forceobj'"):
        jit(nopython=True, forceobj=True)
    with pytest.warns(RuntimeWarning, match="forceobj is set for njit"):
        f = njit(forceobj=True)(lambda x: x)
    assert f(1) == 1 and len(f.nopython_signatures) == 1
