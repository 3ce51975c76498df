"""Values of many kinds go into compiled calls and come out of them; each call is to leave as many references, objects
and pieces of memory as it found."""

from __future__ import annotations

import array
import collections
import ctypes
import dataclasses
import datetime
import decimal
import enum
import fractions
import gc
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lancehead import _core, cuda, njit, typed, types, xp
from lancehead.experimental import jitclass


class Pair(NamedTuple):
    a: int
    b: str


class Colour(enum.Enum):
    RED = 1


class Number(enum.IntEnum):
    ONE = 1


@dataclasses.dataclass
class Point:
    x: float
    y: int


class Plain:
    def __init__(self, x: int) -> None:
        self.x = x


@jitclass([("x", types.float64), ("rows", types.ListType(types.int64))])
class Thing:
    def __init__(self, x):
        self.x = x
        self.rows = typed.List.empty_list(types.int64)


RECORD = np.dtype([("a", "i4"), ("b", "f8", 3)])

# Each makes a value of its kind.
KINDS: dict[str, Callable[[], Any]] = {
    "an int": lambda: 10**12,
    "a float": lambda: float("2.5"),
    "a complex number": lambda: complex("1+2j"),
    "a bool": lambda: True,
    "None": lambda: None,
    "an ellipsis": lambda: ...,
    "a text": lambda: "text" * 9,
    "a text of Latin": lambda: "é" * 9,
    "a wide text": lambda: "中" * 9,
    "a text beyond the plane": lambda: "😀" * 9,
    "bytes": lambda: b"bytes" * 9,
    "a bytearray": lambda: bytearray(b"abc"),
    "a memoryview": lambda: memoryview(b"abc" * 3),
    "a tuple": lambda: (10**9, 2.0, "x" * 9),
    "a nested tuple": lambda: ((1, (2.0, "a" * 9)), [1]),
    "an empty tuple": tuple,
    "a named tuple": lambda: Pair(10**9, "b" * 9),
    "a list": lambda: [10**9, 2],
    "a list of texts": lambda: ["a" * 9, "b" * 9],
    "a list of lists": lambda: [[10**9], [2, 3]],
    "a list of tuples": lambda: [(1, "a" * 9), (2, "b" * 9)],
    "a list of arrays": lambda: [np.ones(3), np.ones(2)],
    "a tuple with None": lambda: (None, 1.5),
    "a dictionary": lambda: {10**9: 2.5},
    "a dictionary of lists": lambda: {"a" * 9: [1.5]},
    "a set": lambda: {10**9, 2},
    "a frozenset": lambda: frozenset({10**9, 2}),
    "a deque": lambda: collections.deque([10**9, 2]),
    "a defaultdict": lambda: collections.defaultdict(list, {1: [10**9]}),
    "a counter": lambda: collections.Counter("aab"),
    "an ordered dictionary": lambda: collections.OrderedDict(a=10**9),
    "a range": lambda: range(10**9),
    "a slice": lambda: slice(1, 10**9),
    "an array": lambda: np.arange(3),
    "an array without dimensions": lambda: np.array(3.0),
    "an array of columns": lambda: np.asfortranarray(np.ones((3, 2))),
    "a part of an array": lambda: np.arange(10)[::2],
    "an array that is only read": lambda: np.frombuffer(b"abcdefgh", "u1"),
    "an array of dates": lambda: np.array(["2020-01-01"], "M8[D]"),
    "an array of texts": lambda: np.array(["ab", "c"]),
    "an array of bytes": lambda: np.array([b"ab"]),
    "an array of records": lambda: np.zeros(3, RECORD),
    "a record": lambda: np.zeros(3, RECORD)[1],
    "a NumPy float": lambda: np.float32(1.5),
    "a NumPy int": lambda: np.int8(3),
    "a NumPy date": lambda: np.datetime64("2020-01-01"),
    "a NumPy duration": lambda: np.timedelta64(3, "s"),
    "an array of the module array": lambda: array.array("d", [1, 2]),
    "an array of ctypes": lambda: (ctypes.c_double * 3)(),
    "a lazy array": lambda: xp.arange(3.0),
    "an array on the device": lambda: cuda.to_device(np.ones(3)),
    "an enumeration": lambda: Colour.RED,
    "a numbered enumeration": lambda: Number.ONE,
    "a dataclass": lambda: Point(1.5, 2),
    "an object": lambda: Plain(3),
    "a jitclass": lambda: Thing(2.0),
    "a typed list": lambda: typed.List([1, 2]),
    "a typed dictionary": lambda: typed.Dict.empty(types.int64, types.float64),
    "a random generator": lambda: np.random.default_rng(1),
    "a compiled function": lambda: njit(lambda x: x),
    "a function": lambda: lambda x: x,
    "a fraction": lambda: fractions.Fraction(1, 3),
    "a decimal": lambda: decimal.Decimal("1.5"),
    "a date": lambda: datetime.date(2020, 1, 1),
    "a time": lambda: datetime.datetime(2020, 1, 1),
    "a duration": lambda: datetime.timedelta(3),
    "a class": lambda: np.float64,
    "a type": lambda: types.int64,
    "a dtype": lambda: np.dtype("f8"),
}

# How a value goes in and out.
WAYS: dict[str, Callable[[], Callable[[Any], Any]]] = {
    "in": lambda: njit(lambda x: 1),
    "in and out": lambda: njit(lambda x: x),
    "by its name": lambda: (lambda f: lambda value: f(x=value))(njit(lambda x, y=1: 1)),
    "among others": lambda: (lambda f: lambda value: f(1, value, 2.5))(njit(lambda a, x, b: (a, x, b))),
    "with an exception": lambda: refused(njit(raising)),
    "beside too many": lambda: refused(njit(lambda x: 1), 1),
    "where it is refused": lambda: refused(njit("int64(int64, int64)")(lambda a, b: a + b), 1),
}


def raising(x):
    raise ValueError("no", 1)


def refused(f: Callable[..., Any], *more: Any) -> Callable[[Any], Any]:
    def call(value: Any) -> None:
        try:
            f(value, *more)
        except (ValueError, TypeError):
            return
        # A number may be what the signature asks for.

    return call


def kept(way: str, kind: str, count: int) -> list[str]:
    """Says how many things so many calls have left behind; nothing, if all is well."""
    value, call = KINDS[kind](), WAYS[way]()
    for _ in range(20):
        call(value)
    watched = [value, None, True, (), type(value), call, *gc.get_referents(value)]
    # Some things are made once, or by others: a leak is there the second time, too.
    return _left(call, value, watched, count) and [
        f"{kind}, {way}: {text} after {count} calls" for text in _left(call, value, watched, count)
    ]


def _left(call: Callable[[Any], Any], value: Any, watched: list[Any], count: int) -> list[str]:
    before, native, blocks, objects = numbers(watched)
    for _ in range(count):
        call(value)
    after, native_after, blocks_after, objects_after = numbers(watched)
    pieces, more, traced = native_after - native, blocks_after - blocks, objects_after - objects
    few = max(150, count // 10)
    pairs = zip(before, after, watched, strict=True)
    said = [f"{n - m} references to {o!r:.40}" for m, n, o in pairs if abs(n - m) > few]
    said += [
        f"{m} {what}" for m, what in ((pieces, "pieces of memory"), (more, "blocks"), (traced, "objects")) if m > few
    ]
    return said


def numbers(watched: list[Any]) -> tuple[list[int], int, int, int]:
    """References to what is watched, pieces of compiled code's memory, blocks of Python's, objects that are traced."""
    gc.collect()
    # The last one enters PyO3, which then releases references that it has kept: that would hide them.
    blocks, objects = sys.getallocatedblocks(), len(gc.get_objects())
    return [sys.getrefcount(o) for o in watched], _core.live_allocations(), blocks, objects


def main() -> int:
    """Runs all with so many calls: `references.py COUNT [KIND]`."""
    count, only = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    said = [text for kind in KINDS if only in kind for way in WAYS for text in kept(way, kind, count)]
    print("\n".join(said) or "all is well")
    return len(said)


if __name__ == "__main__":
    sys.exit(main() != 0)
