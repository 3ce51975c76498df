"""Compiled code never uses stale values of globals and captured variables."""

import gc
import sys
import types as pytypes
import warnings

import numpy as np
import pytest

from lancehead import guvectorize, literal_unroll, njit, stencil, vectorize
from lancehead.extending import overload

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
    helper = lambda x: x - 1
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


def module_with(**attributes):
    module = pytypes.ModuleType("settings")
    module.__dict__.update(attributes)
    return module


def plus(x):
    return x + 1


def times(x):
    return x * 10


def changing_code():
    """A function, and what replaces its code."""

    def g(x, k=1):
        return x + k

    def change():
        g.__code__ = (lambda x, k: x * k + 100).__code__

    return g, change


def in_a_tuple():
    g, change = changing_code()
    both = (plus, g)
    return njit(lambda x: both[1](x)), lambda x: g(x), change


def unrolled():
    g, change = changing_code()
    both = (plus, g)

    def f(x):
        for h in literal_unroll(both):
            x = h(x)
        return x

    return njit(f), f, change


def in_a_list():
    g, change = changing_code()
    both = [g, plus]
    return njit(lambda x: both[0](x)), lambda x: g(x), change


def as_a_default():
    g, change = changing_code()

    def h(x, inner=g):
        return inner(x)

    return njit(lambda x: h(x)), h, change


def module_as_a_default():
    module = module_with(k=1)

    def h(x, *, m=module):
        return x + m.k

    return njit(lambda x: h(x)), h, lambda: setattr(module, "k", 5)


def module_in_a_tuple():
    modules = (module_with(k=1),)
    return njit(lambda x: x + modules[0].k), lambda x: x + modules[0].k, lambda: setattr(modules[0], "k", 5)


def of_a_ufunc():
    g, change = changing_code()
    u = vectorize(g)
    return njit(lambda x: u(x, 1)), lambda x: g(x, 1), change


def of_a_stencil():
    module = module_with(k=1.0)
    s = stencil(lambda a: a[0] * module.k)
    return njit(lambda x: s(np.full(3, x))[1]), lambda x: x * module.k, lambda: setattr(module, "k", 3.0)


def of_a_stencil_itself():
    module = module_with(k=1.0)
    s = stencil(lambda a: a[0] * module.k)
    return lambda x: s(np.full(3, x))[1], lambda x: x * module.k, lambda: setattr(module, "k", 3.0)


def of_a_row_ufunc():
    module = module_with(k=2.0)

    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def u(a, out):
        for i in range(a.size):
            out[i] = a[i] * module.k

    return njit(lambda x: u(np.full(3, float(x)))[1]), lambda x: x * module.k, lambda: setattr(module, "k", 3.0)


def through_the_library():
    module = module_with(k=2)

    def key(x):
        return -x * module.k

    def f(x):
        return sorted([x, x + 1], key=key)[0]

    return njit(f), f, lambda: setattr(module, "k", -1)


def of_an_overload():
    g, change = changing_code()

    def named(x, k=1): ...

    overload(named)(lambda x, k=1: g)
    return njit(lambda x: named(x)), lambda x: g(x), change


class Base:
    K = 1

    @staticmethod
    def g(x):
        return x + 1


def inherited():
    base = type("base", (Base,), {})
    derived = type("derived", (base,), {})
    return njit(lambda x: x + derived.K), lambda x: x + derived.K, lambda: setattr(base, "K", 7)


def inherited_and_hidden():
    derived = type("derived", (Base,), {})
    return njit(lambda x: x + derived.K), lambda x: x + derived.K, lambda: setattr(derived, "K", 7)


def inherited_function():
    base = type("base", (Base,), {})
    derived = type("derived", (base,), {})
    return njit(lambda x: derived.g(x)), lambda x: derived.g(x), lambda: setattr(base, "g", staticmethod(times))


def computed_by_a_module():
    values = [1]
    module = module_with(__getattr__=lambda name: values[0])
    return njit(lambda x: x + module.k), lambda x: x + module.k, lambda: values.append(values.pop() + 1)


def computed_by_a_class():
    meta = type("meta", (type,), {"K": 1})
    cls = meta("cls", (), {})
    return njit(lambda x: x + cls.K), lambda x: x + cls.K, lambda: setattr(meta, "K", 2)


def absent():
    module = module_with()
    return (
        njit(lambda x: getattr(module, "k", 0) + x),
        lambda x: getattr(module, "k", 0) + x,
        lambda: setattr(module, "k", 2),
    )


def imported():
    sys.modules["settings_imported"] = module_with(k=1)

    def f(x):
        import settings_imported

        return x + settings_imported.k

    def change():
        sys.modules["settings_imported"] = module_with(k=2)

    return njit(f), f, change


def imported_from():
    sys.modules["settings_imported"] = module = module_with(k=1)

    def f(x):
        from settings_imported import k

        return x + k

    return njit(f), f, lambda: setattr(module, "k", 2)


def layout_of_an_array():
    table = np.arange(6.0)

    def change():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            table.shape = (2, 3)

    return njit(lambda x: table.shape[0] + x), lambda x: table.shape[0] + x, change


def memory_of_an_array():
    tables = (np.zeros(2),)

    def change():
        tables[0].resize(1000, refcheck=False)
        tables[0][:] = 5

    return njit(lambda x: tables[0].sum() + x), lambda x: tables[0].sum() + x, change


CHANGES = [
    in_a_tuple, unrolled, in_a_list, as_a_default, module_as_a_default, module_in_a_tuple, of_a_ufunc, of_a_stencil,
    of_a_stencil_itself, of_a_row_ufunc, through_the_library, of_an_overload, inherited, inherited_and_hidden,
    inherited_function, computed_by_a_module, computed_by_a_class, absent, imported, imported_from, layout_of_an_array,
    memory_of_an_array,
]  # fmt: skip


@pytest.mark.parametrize("make", CHANGES, ids=lambda make: make.__name__)
def test_what_is_inside_of_others(make):
    compiled, plain, change = make()
    assert compiled(3) == plain(3)
    counted = getattr(compiled, "stats", None)
    assert compiled(3) == plain(3) and (counted is None or compiled.stats.compilations == 1)
    change()
    assert compiled(3) == plain(3)
    assert compiled(3) == plain(3) and (counted is None or compiled.stats.compilations == 2)


@njit
def length_of(a):
    return len(a)


def test_checks_of_builtin_names_leave_nothing() -> None:
    items, before = (1, 2), 0
    for i in range(1_100):
        # A store into the module's globals makes the next call look its names up again.
        globals()["changed"] = i
        length_of(items)
        if i == 99:
            before = len(gc.get_objects())
    assert len(gc.get_objects()) < before + 100
