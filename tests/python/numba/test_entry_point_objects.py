"""Entry points of specialisations, which programs take out of `overloads` and call."""

import functools
import gc
import weakref

import numpy as np
import pytest

from lancehead import njit, types
from lancehead.experimental import structref


@structref.register
class BoxType(types.StructRef):
    def preprocess_fields(self, fields):
        return tuple((name, types.unliteral(typ)) for name, typ in fields)


class Box(structref.StructRefProxy):
    pass


structref.define_proxy(Box, BoxType, ["data"])


def made(function, *signatures):
    dispatcher = njit(function)
    for signature in signatures:
        dispatcher.compile(signature)
    return dispatcher


def test_a_call_runs_its_specialisation():
    """With an `int` the one for floats converts; the dispatcher would take or make the one for integers."""
    half = made(lambda x: x / 2 if x > 2 else x, (types.float64,), (types.int64,))
    entry = half.overloads[types.float64,].entry_point
    assert (entry(3), entry(1), entry(4.5)) == (1.5, 1.0, 2.25)
    assert type(entry(1)) is float
    assert len(half.signatures) == 2


def test_structs_and_arrays_by_partial():
    total = njit(lambda box, a: box.data.sum() + a.sum())
    box = Box(np.arange(4.0))
    key = (types.typeof(box), types.float32[:, ::1])
    total.compile(key)
    entry = functools.partial(total.overloads[key].entry_point, box)
    assert entry(np.ones((2, 3), np.float32)) == 12.0
    assert total.get_overload(key)(box, np.ones((1, 1), np.float32)) == 7.0


def test_wrong_calls():
    twice = made(lambda x: 2 * x, (types.float64,))
    entry = twice.overloads[types.float64,].entry_point
    for args in [(), (1.0, 2.0)]:
        with pytest.raises(TypeError, match=r"takes 1 positional arguments but \d were given"):
            entry(*args)
    with pytest.raises(TypeError, match="No matching definition"):
        entry(np.zeros(2))
    with pytest.raises(TypeError, match="which compiled code cannot take"):
        entry(object())


def test_exceptions_and_lists_go_through():
    @njit
    def put(items, i):
        items[i] = 7
        return len(items)

    put([1], 0)
    entry = put.overloads[put.signatures[0]].entry_point
    items = [1, 2, 3]
    assert (entry(items, 1), items) == (3, [1, 7, 3])
    with pytest.raises(IndexError):
        entry(items, 5)


def test_it_says_what_it_is_and_keeps_the_function():
    @njit
    def named(x):
        return x

    named(1)
    entry = named.overloads[named.signatures[0]].entry_point
    assert (entry.__name__, entry.__module__) == ("named", __name__)
    assert callable(entry) and entry.address
    alive = weakref.ref(named)
    del named
    gc.collect()
    assert entry(5) == 5 and alive() is not None


def test_globals_that_change_are_seen():
    scope = {"factor": 2}
    exec("def scaled(x): return factor * x", scope)
    scaled = njit(scope["scaled"])
    scaled(1)
    entry = scaled.overloads[scaled.signatures[0]].entry_point
    scope["factor"] = 5
    assert entry(3) == 15
