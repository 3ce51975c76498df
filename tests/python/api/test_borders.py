"""Values that cross the border between Python and compiled code by a short way, which is found once for a class."""

import collections
import gc
import sys
import traceback
from typing import NamedTuple

import numpy as np
import pytest

from lancehead import njit


class Point(NamedTuple):
    x: float
    y: int


@njit
def same(x):
    return x


@pytest.mark.parametrize(
    "value",
    [
        (1, 2.5), ((1, True), (2.5, (None, 3j))), tuple(range(40)), Point(1.5, 2), (Point(1.5, 2), "text"), ("é", b"x"),
        (), (b"",), (2**63 - 1, -(2**63)), (float("inf"), -0.0), slice(1, None, -2), slice(None), range(10, 0, -3),
        np.datetime64("2026-01-01T10", "h"), np.timedelta64(-3, "ms"), np.datetime64("NaT", "D"), bytearray(b"abc"),
    ],
    ids=repr,
)  # fmt: skip
def test_values_come_back_as_they_were(value):
    for _ in range(3):
        found = same(value)
        assert found == value or value != value
        assert type(found) is type(value) and repr(found) == repr(value)
        if isinstance(value, tuple):
            assert list(map(type, found)) == list(map(type, value))


def test_small_numbers_have_pythons_types():
    assert repr(njit(lambda: (np.int8(-3), np.uint64(2**64 - 1), np.float32(0.5), np.complex64(1 + 2j)))()) == repr(
        (-3, 2**64 - 1, 0.5, 1 + 2j)
    )


def test_optional_parts():
    @njit
    def f(n) -> int | None:
        return n if n > 0 else None

    @njit
    def g(n):
        return f(n), f(-n)

    assert g(3) == (3, None) and g(-3) == (None, 3) and f(0) is None


def test_lists_of_parts():
    @njit
    def f(n):
        return [Point(i * 0.5, i) for i in range(n)]

    found = f(3)
    assert found == [Point(0.0, 0), Point(0.5, 1), Point(1.0, 2)] and type(found[0]) is Point
    assert njit(lambda n: [(i, "x" * i) for i in range(n)])(3) == [(0, ""), (1, "x"), (2, "xx")]
    assert njit(lambda: [1][:0])() == []


def test_a_class_that_changes_is_asked_again():
    class Pair(tuple):
        _fields = ("a", "b")

    class Plain(tuple):
        pass

    @njit
    def first(p):
        return p[0]

    named = collections.namedtuple("named", "a b")
    for _ in range(2):
        assert first(named(1, 2)) == 1
    named.__float__ = lambda self: 1.0
    assert first(named(3, 2)) == 3
    # A class with the address of one that is gone.
    for i in range(50):
        kind = collections.namedtuple("kind", "a b") if i % 2 else type("kind", (), {})
        value = kind(i, 2) if i % 2 else kind()
        assert same(value) == value
        del kind, value
        gc.collect()


def test_references_of_parts_are_given_back():
    text = "a text that is not interned" * 2
    before = sys.getrefcount(text)
    for _ in range(100):
        same((text, (text, 1)))
    assert sys.getrefcount(text) == before
    assert same((text,))[0] is text
    for _ in range(100):
        same(Point)
        same(np.dtype("f4"))


def test_an_exception_has_the_handled_one_as_its_context():
    def plain(n):
        if n > 0:
            raise ValueError("v")
        return n

    def chain(n):
        try:
            if n > 0:
                raise IndexError("i")
        except IndexError:
            raise ValueError("v")
        return n

    def caused(n):
        if n > 0:
            raise ValueError("v") from None
        return n

    def contexts(f):
        try:
            try:
                raise KeyError(1)
            except KeyError:
                f(1)
        except ValueError as error:
            found = []
            while error is not None:
                found.append((type(error), error.args, error.__suppress_context__))
                error = error.__context__
            return found

    for f in (plain, chain, caused):
        assert contexts(njit(f)) == contexts(f)
    with pytest.raises(ValueError) as caught:
        njit(plain)(1)
    assert caught.value.__context__ is None


def test_tracebacks_name_each_line():
    @njit
    def f(n):
        if n == 1:
            raise ValueError("one")
        raise KeyError("two")

    lines = set()
    for n in (1, 2, 1, 2):
        with pytest.raises((ValueError, KeyError)) as caught:
            f(n)
        last = traceback.extract_tb(caught.value.__traceback__)[-1]
        lines.add((last.name, last.lineno - f.py_func.__code__.co_firstlineno))
    assert lines == {("f", 3), ("f", 4)}


def test_generators_go_on_by_the_short_way_and_end_by_the_long_one():
    @njit
    def count(n):
        for i in range(n):
            yield i * 0.5
        return n

    items = count(3)
    assert list(items) == [0.0, 0.5, 1.0] and list(items) == [] and next(items, "end") == "end"
    items = count(1)
    next(items)
    with pytest.raises(StopIteration) as end:
        next(items)
    assert end.value.value == 1

    @njit
    def fails(n):
        yield n
        raise ValueError(n)

    items = fails(4)
    assert next(items) == 4
    with pytest.raises(ValueError):
        next(items)
    assert list(items) == []

    @njit
    def texts(a):
        for x in a:
            yield x, "t"

    given = [1, 2]
    assert list(texts(given)) == [(1, "t"), (2, "t")]


def test_views_hold_the_memory_of_a_bytearray_while_they_live():
    data = bytearray(b"abc")

    @njit
    def f(b):
        b[0] = 120
        return len(b)

    assert f(data) == 3 and data == b"xbc"
    data.append(1)
    assert f(data) == 4
    view = memoryview(data)
    assert f(view) == 4
    view.release()
    data.clear()
    assert len(data) == 0
    assert njit(lambda b: len(b))(bytearray()) == 0
