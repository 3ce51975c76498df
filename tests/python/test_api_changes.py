"""What compiled code has read is never stale."""

import sys
import types as pytypes

import numpy as np
import pytest

from lancehead import njit

VALUE = 1


def helper(x):
    return x + 1


@njit
def reads_value():
    return VALUE


@njit
def calls_helper(x):
    return helper(x)


@njit
def through(x):
    return calls_helper(x) + reads_value()


@pytest.fixture(autouse=True)
def restore():
    saved = dict(globals())
    yield
    globals().update(saved)


def test_globals():
    global VALUE
    for VALUE in (1, 2, 2.5, "text", (1, 2), 1, 10**6, 10**6):
        assert reads_value() == VALUE and type(reads_value()) is type(VALUE)


def test_unrelated_globals_do_not_recompile():
    reads_value()
    before = reads_value.stats.compilations
    for i in range(5):
        globals()["unrelated"] = i
        reads_value()
    assert reads_value.stats.compilations == before


def test_equal_values_do_not_recompile():
    global VALUE
    VALUE = 10**6
    reads_value()
    before = reads_value.stats.compilations
    VALUE = int("1000000")
    assert reads_value() == 10**6 and reads_value.stats.compilations == before


def test_callees():
    global helper
    assert calls_helper(1) == 2

    def other(x):
        return x * 10

    helper = other
    assert calls_helper(1) == 10


def test_through_jitted_functions():
    global VALUE, helper
    assert through(1) == 3
    VALUE = 100
    assert through(1) == 102
    helper = lambda x: x - 1  # noqa: E731
    assert through(1) == 100


def test_replaced_code_and_defaults():
    def f(x, y=1):
        return x + y

    g = njit(f)
    assert g(1) == 2
    f.__defaults__ = (5,)
    assert g(1) == 6
    f.__code__ = (lambda x, y: x * y).__code__
    assert g(2) == 10
    f.__code__ = (lambda x, y, z: x).__code__
    f.__defaults__ = None
    with pytest.raises(TypeError, match="missing 2"):
        g(1)


def test_replaced_code_of_a_callee():
    def inner(x):
        return x + 1

    @njit
    def outer(x):
        return inner(x)

    assert outer(1) == 2
    inner.__code__ = (lambda x: x - 1).__code__
    assert outer(1) == 0


def test_attributes_of_modules_and_classes():
    module = pytypes.ModuleType("settings")
    module.inner = pytypes.ModuleType("inner")
    module.k, module.inner.k = 1, 10

    class Constants:
        c = 100

    @njit
    def callee():
        return module.k + module.inner.k

    @njit
    def f():
        return callee() + Constants.c

    assert f() == 111
    module.k = 2
    assert f() == 112
    module.inner.k = 20
    assert f() == 122
    Constants.c = 0
    assert f() == 22 and callee() == 22
    before = f.stats.compilations
    module.other = 5
    assert f() == 22 and f.stats.compilations == before


def test_cells():
    n = 1

    @njit
    def f():
        return n

    assert f() == 1
    n = 2
    assert f() == 2
    n = 2.5
    assert f() == 2.5


def test_builtins_can_be_hidden():
    module = pytypes.ModuleType("hiding")
    exec("def f(x):\n    return abs(x)", module.__dict__)
    f = njit(module.f)
    assert f(-3) == 3
    module.abs = lambda x: x
    assert f(-3) == -3
    del module.abs
    assert f(-3) == 3


def test_captured_arrays_are_read_in_place():
    table = np.arange(3.0)

    @njit
    def f(i):
        return table[i]

    assert f(1) == 1.0
    table[1] = 9.0
    assert f(1) == 9.0


def test_the_code_outlives_the_module_dictionary():
    module = pytypes.ModuleType("gone")
    exec("k = 4\ndef f(x):\n    return x + k", module.__dict__)
    f = njit(module.f)
    assert f(1) == 5
    del module
    assert f(1) == 5 and sys.getrefcount(f) > 0
