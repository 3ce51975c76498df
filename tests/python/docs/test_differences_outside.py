"""Rows of `docs/differences.md` about lists and arrays from outside."""

import ctypes
import ctypes.util
import enum
import types

import numpy as np
import pytest

from difference_rows import row
from lancehead import errors, njit


def as_global(text, name, value):
    """`lambda x: text`, compiled, with a global of its own; and its globals."""
    space = {"np": np, name: value}
    return njit(eval(f"lambda x: {text}", space)), space


@row("items of a list")
def test_items_have_one_type():
    items = njit(lambda x: [1, x])(2.5)
    assert items == [1.0, 2.5]
    assert type(items[0]) is float
    assert njit(lambda items: items[0])([1, 2.5]) == 1.0
    with pytest.raises(errors.ArgumentError, match="items of a list are `int` and `str`"):
        njit(lambda items: len(items))([1, "a"])


@row("a list is an argument")
def test_changes_of_lists_are_seen_after_the_call():
    def change(items):
        items[0] = 7
        items.append(3)
        return len(items)

    items = [1]
    assert njit(change)(items) == 2
    assert items == [7, 3]


@row("an empty list is an argument, or is made and stays empty")
def test_items_of_empty_lists():
    @njit
    def size(items):
        return len(items)

    @njit
    def with_item(items, x):
        items.append(x)
        return items

    def stays_empty():
        items = []
        for x in items:
            return x
        return 0

    size([1.5])
    assert size([]) == 0
    assert len(size.signatures) == 1
    assert with_item([], 2.5) == [2.5]
    assert with_item([], "a") == ["a"]
    assert type(njit(lambda items: sum(items))([])) is int
    assert njit(stays_empty)() == 0
    assert njit(lambda: np.array([]))().dtype == np.float64
    assert njit(lambda items: np.array(items))([]).dtype == np.float64


@row("an instance of a subclass of `ndarray`")
def test_subclasses_of_arrays_are_arrays():
    class Own(np.ndarray):
        pass

    def square(a):
        return a * a

    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[1, 2], [3, 4]])
    assert square(matrix).tolist() == [[7, 10], [15, 22]]
    for a in (matrix, np.asarray(matrix).view(Own)):
        squares = njit(square)(a)
        assert type(squares) is np.ndarray
        assert squares.tolist() == [[1, 4], [9, 16]]
    with pytest.raises(errors.ArgumentError, match="is a `MaskedArray`"):
        njit(square)(np.ma.array([1, 2]))


@row("an array's elements are not aligned")
def test_arrays_that_are_not_aligned_are_copied():
    @njit
    def store(a, b):
        a[0] = 5
        return b.sum()

    a = np.zeros(33, np.uint8)[1:].view(np.float64)
    assert not a.flags.aligned
    assert store(a, np.ones(2)) == 2
    assert a.tolist() == [5, 0, 0, 0]
    with pytest.raises(errors.ArgumentError, match="not aligned and overlaps"):
        store(a, a[:2])
    with pytest.raises(errors.TypingError, match="not aligned"):
        njit(lambda: a.sum())()


@row("a global or captured name is bound anew")
def test_names_are_bound_anew():
    scaled, space = as_global("x * factor", "factor", 2)
    assert scaled(10) == 20
    space["factor"] = 2.5
    assert scaled(10) == 25.0

    captured = 1

    @njit
    def shifted(x):
        return x + captured

    assert shifted(1) == 2
    captured = 5
    assert shifted(1) == 6


@row("a function, a module or a class inside of a global container, or a global array's extents change")
def test_changes_inside_of_containers_are_noticed():
    class Settings:
        n = 1

    module, space = types.ModuleType("module"), {"limit": 1}
    module.n = 1
    function = eval("lambda: limit", space)
    cases = [
        as_global(use, "t", container)[0]
        for thing, use in ((Settings, "t[0].n + x"), (module, "t[0].n + x"), (function, "t[0]() + x"))
        for container in ((thing,), [thing])
    ]
    assert [case(10) for case in cases] == [11] * 6
    Settings.n = module.n = space["limit"] = 2
    assert [case(10) for case in cases] == [12] * 6

    a = np.zeros(4)
    extents = njit(lambda: a.shape)
    assert extents() == (4,)
    a.resize((2, 2))
    assert extents() == (2, 2)


@row("the value of a member of an enumeration, the names of a dtype's fields")
def test_changes_that_are_not_noticed():
    class Level(enum.Enum):
        LOW = 1

    level, _ = as_global("Level.LOW.value + x", "Level", Level)
    assert level(0) == 1
    Level.LOW._value_ = 17
    assert (Level.LOW.value, level(0)) == (17, 1)

    size = ctypes.CDLL(ctypes.util.find_library("m")).fabs
    size.argtypes, size.restype = [ctypes.c_double], ctypes.c_double
    compiled = njit(lambda x: size(x))
    assert compiled(-2.5) == 2.5
    size.restype = ctypes.c_int32
    assert (type(size(-2.5)), compiled(-2.5)) == (int, 2.5)


@row("a global or captured array")
def test_global_arrays_share_memory():
    a = np.zeros(2)
    total = njit(lambda: a.sum())
    assert total() == 0
    a[1] = 7
    assert total() == 7
    assert not njit(lambda: a)().flags.writeable


@row("compiled code changes a global or captured list or array, or a list in such a list")
def test_globals_are_not_changed():
    for text, value in (("t.insert(0, x)", [1]), ("t[0].append(x)", [[1]]), ("t.fill(x)", np.zeros(2))):
        change, _ = as_global(text, "t", value)
        with pytest.raises(errors.TypingError, match="read-only"):
            change(1)
