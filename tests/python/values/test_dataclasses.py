"""Dataclasses and classes of attrs as arguments and results: what is copied, written back and kept."""

from __future__ import annotations

import collections
import dataclasses
import gc
import heapq
import subprocess
import sys
import textwrap
from dataclasses import asdict, dataclass, field
from typing import Any, Optional

import numpy as np
import pytest

from lancehead import _core, errors, njit, typeof


@dataclass
class Point:
    x: float
    y: float = 2.0


@dataclass
class Node:
    value: int
    next: Optional[Node] = None  # noqa: UP045 - evaluated by `get_type_hints`


@dataclass
class Holder:
    array: np.ndarray
    items: list
    point: Point
    points: list[Point] = field(default_factory=list)
    text: str = "a"
    anything: Any = None


def holder():
    return Holder(np.arange(3.0), [1, 2], Point(1.0), [Point(3.0), Point(4.0)])


def change(h, p):
    h.array[0] = 9.0
    h.items.append(5)
    h.point.x += 1.0
    h.points.append(Point(7.0))
    h.points[0] = p
    h.text += "b"
    p.y = 0.5
    return h.point is p, h.points[0] is p, h


def test_changes_are_written_back():
    compiled, plain = holder(), holder()
    mine = [compiled.array, compiled.items, compiled.point, compiled.points, compiled.points[1]]
    a, b = njit(change)(compiled, compiled.point), change(plain, plain.point)
    assert a[:2] == b[:2] == (True, True)
    assert repr(compiled) == repr(plain)
    assert a[2] is compiled
    now = [compiled.array, compiled.items, compiled.point, compiled.points, compiled.points[1]]
    assert all(x is y for x, y in zip(mine, now, strict=True))
    assert compiled.points[0] is compiled.point


def test_fields_that_are_not_changed_stay_the_same_objects():
    point = Point(3, np.float64(2.5))
    number = point.x = 12345678901

    @njit
    def f(p):
        p.y += 1
        return p.x

    assert f(point) == number
    assert point.x is number
    assert point.y == 3.5


def test_an_exception_writes_back_too():
    @njit
    def f(p):
        p.x = 5.0
        raise ValueError("no")

    point = Point(1.0)
    with pytest.raises(ValueError, match="no"):
        f(point)
    assert point.x == 5.0


def test_long_and_circular_chains():
    @njit
    def total(node):
        out, start = 0, node
        while node is not None:
            out += node.value
            node.value += 1
            node = node.next
            if node is start:
                break
        return out

    first = None
    for i in range(50_000):
        first = Node(i, first)
    assert total(first) == sum(range(50_000))
    assert first.value == 50_000
    circle = Node(1)
    circle.next = Node(2, circle)
    assert total(circle) == 3
    assert (circle.value, circle.next.value) == (2, 3)

    @njit
    def build(n):
        head = tail = Node(0)
        for i in range(1, n):
            head = Node(i, head)
        tail.next = head
        return head

    made = build(50_000)
    for i in reversed(range(1, 50_000)):
        assert made.value == i
        made = made.next
    assert made.next.value == 49_999


def test_lists_of_instances():
    @njit
    def sort(points):
        points.sort(key=lambda p: p.x)
        points[0].y = 0.0
        return points[-1], len(points)

    points = [Point(3.0), Point(1.0), Point(2.0)]
    a, b, c = points
    last, n = sort(points)
    assert (last, n) == (a, 3)
    assert last is a
    assert [p is q for p, q in zip(points, (b, c, a), strict=True)] == [True] * 3
    assert b.y == 0.0


@dataclass
class Corner:
    point: Point
    pair: tuple[Point, int]
    items: list[int]


def test_fields_as_tuples():
    @njit
    def flat(corner):
        made = dataclasses.astuple(corner)
        corner.items.append(5)
        return made, dataclasses.astuple(Point(3.0))

    corner = Corner(Point(1.0), (Point(2.0), 3), [4])
    assert flat(corner) == (((1.0, 2.0), ((2.0, 2.0), 3), [4]), (3.0, 2.0))
    with pytest.raises(errors.TypingError, match="`astuple` of a"):
        njit(lambda points: dataclasses.astuple(points[0]))([Group([Point(1.0)])])


@dataclass
class Group:
    points: list[Point]


class Undecorated:
    def __init__(self, x):
        self.x = x

    def __setattr__(self, name, value):
        super().__setattr__(name, value)


def test_classes_without_a_decorator():
    with pytest.raises(errors.TypingError, match="decorate the class `Undecorated` with `@dataclass`"):
        njit(lambda p: p.x)(Undecorated(1))
    with pytest.raises(errors.TypingError, match="decorate the class with `@dataclass` or `jitclass`"):
        njit(lambda x: Undecorated(x).x)(1)


def test_what_is_refused():
    f = njit(lambda p: p.value)
    with pytest.raises(TypeError, match="the field 'value' is annotated as `int` and holds float"):
        f(Node(1.5))
    with pytest.raises(TypeError, match="'next'.*`Node | None`.*holds str"):
        f(Node(1, "x"))
    broken = Node(1)
    del broken.value
    with pytest.raises(AttributeError):
        f(broken)
    with pytest.raises(errors.NumbaError):
        njit(lambda h: h.items)(Holder(np.zeros(1), [], Point(1.0)))
    with pytest.raises(OverflowError):
        njit(lambda p: p.x)(Node(2**70))


def test_types():
    assert str(typeof(Point(1.0))) == "Point"
    assert typeof(Node(1)) == typeof(Node(2, Node(3)))
    assert typeof(Holder(np.zeros(1), [1], Point(1.0))) != typeof(Holder(np.zeros(1), [1.5], Point(1.0)))


def test_slots_and_classes_made_in_functions():
    @dataclass(slots=True, kw_only=True)
    class Small:
        a: int
        b: tuple[int, float] = (1, 2.0)

    @njit
    def f(s):
        s.a += s.b[0]
        return Small(a=s.a), s

    small = Small(a=1)
    made, same = f(small)
    assert (made, same is small) == (Small(a=2), True)


def test_changed_methods_are_noticed():
    @dataclass
    class Changing:
        x: int

        def value(self):
            return self.x

        def __eq__(self, other):
            return self.x == other.x

    @njit
    def f(c):
        return c.value(), [c] == [Changing(1)], c in [Changing(2)]

    assert f(Changing(1)) == (1, True, False)
    Changing.value = lambda self: self.x * 100
    assert f(Changing(1)) == (100, True, False)
    Changing.__eq__ = lambda self, other: self.x != other.x
    assert f(Changing(1)) == (100, False, True)


def test_nothing_leaks():
    @njit
    def f(h, n):
        kept = [h.point, Point(1.0)]
        h.points.append(kept[1])
        h.text = h.text + str(n)
        if n < 0:
            raise ValueError(h.text)
        return kept, h.points[n]

    def run():
        for n in (0, -1, 99):
            try:
                f(holder(), n)
            except (ValueError, IndexError):
                pass
        for bad in (Node(1, Node("x")), Holder(np.zeros(2), ["x", 1], Point(1.0))):
            with pytest.raises(Exception, match="annotated|list"):
                f(bad, 1)

    run()
    gc.collect()
    before = _core.live_allocations()
    for _ in range(10):
        run()
    gc.collect()
    assert _core.live_allocations() == before


PROGRAM = """
from dataclasses import dataclass
from lancehead import njit

@dataclass
class Inner:
    {fields}

@dataclass
class Outer:
    inner: Inner
    def total(self):
        return self.inner.x * {factor}

@njit(cache=True)
def f(outer):
    return outer.total() + Outer(outer.inner).inner.x

print(f(Outer(Inner({values}))), sum(f.stats.cache_hits.values()))
"""


def test_cached_code_knows_the_classes(tmp_path):
    program = tmp_path / "program.py"

    def run(fields, values, factor=3):
        program.write_text(textwrap.dedent(PROGRAM).format(fields=fields, values=values, factor=factor))
        done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True, timeout=120)
        return done.stdout.split()

    assert run("x: int", "5") == ["20", "0"]
    assert run("x: int", "5") == ["20", "1"]
    assert run("x: int", "5", factor=4) == ["25", "0"]
    assert run("w: float; x: float", "1, 5") == ["20.0", "0"]


def test_classes_of_attrs():
    attrs = pytest.importorskip("attrs")

    @attrs.define
    class Item:
        x: int
        _y: float = 2.0
        z: list[int] = attrs.field(factory=list)

        def total(self):
            return self.x + self._y

    def f(item):
        item.x += 1
        item.z.append(4)
        made = Item(3, y=4.0)
        return item.total(), made, item == Item(item.x), repr(made), made.z is item.z

    one, two = Item(1), Item(1)
    assert njit(f)(one) == f(two)
    assert one == two

    @attrs.frozen
    class Fixed:
        x: int = 3

    @njit
    def g(fixed):
        return {fixed: 1, Fixed(): 2}

    @njit
    def h(fixed):
        fixed.x = 1

    @attrs.define(order=True)
    class Ordered:
        time: float
        place: int = attrs.field(order=False, default=0)

    @njit
    def earliest(n):
        queue = [Ordered(i * 7 % 5 + 0.5, i) for i in range(n)]
        heapq.heapify(queue)
        return (
            [heapq.heappop(queue).place for _ in range(n)],
            Ordered(1.0) < Ordered(2.0),
            Ordered(1.0, 2) >= Ordered(1.0),
        )

    assert earliest(5) == ([0, 3, 1, 4, 2], True, True)
    assert g(Fixed(4)) == {Fixed(4): 1, Fixed(3): 2}
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        h(Fixed())
    checked = attrs.make_class("Checked", {"x": attrs.field(validator=attrs.validators.gt(0))})
    with pytest.raises(errors.NumbaError):
        njit(lambda c: c.x)(checked(1))


def test_an_annotation_float_takes_an_int():
    """A difference: the field of the annotation's type holds a float."""

    @njit
    def f(p):
        return p.x, Point(1).x

    assert [type(x) for x in f(Point(3))] == [float, float]
    assert dataclasses.asdict(Point(3)) == {"x": 3, "y": 2.0}


@dataclass
class Boxes:
    n: int
    queue: collections.deque[int] = field(default_factory=collections.deque)
    counts: collections.Counter[str] = field(default_factory=collections.Counter)
    kept: frozenset[int] = frozenset()
    ordered: collections.OrderedDict[str, int] = field(default_factory=collections.OrderedDict)


def test_annotations_say_what_empty_containers_hold():
    @njit
    def fill(b):
        b.queue.append(b.n)
        b.counts["x"] += 1
        b.ordered["k"] = len(b.kept)
        return b

    boxes, plain = Boxes(3), Boxes(3)
    assert fill(boxes) is boxes
    assert boxes == fill.py_func(plain)
    assert njit(lambda n: fill(fill(Boxes(n))))(2) == fill.py_func(fill.py_func(Boxes(2)))


@dataclass(frozen=True)
class Key:
    x: int
    name: str = "a"


@dataclass
class Keyed:
    n: int
    first: Key
    counts: collections.Counter[Key]
    pairs: set[tuple[Key, int]] = field(default_factory=set)


def test_keys_within_instances_have_their_attributes_when_they_are_hashed():
    @njit
    def f(n):
        made = Keyed(n, Key(n), collections.Counter([Key(n), Key(1, "b"), Key(n)]))
        made.pairs.add((Key(n + 1), n))
        return [made, made]

    got, want = f(5), f.py_func(5)
    assert got == want and got[0] is got[1]


@dataclass
class Stroke:
    start: Point
    end: Point
    name: str = "stroke"


def test_asdict_of_nested_instances():
    @njit
    def f(x):
        d = asdict(Stroke(Point(x), Point(2.0)))
        return d["start"]["x"], d["end"]["x"], d["name"], len(d)

    assert f(1.0) == f.py_func(1.0) == (1.0, 2.0, "stroke", 3)


def test_fields_are_known_while_compiling():
    @njit
    def names(x):
        out = ""
        for f in dataclasses.fields(x):
            out += f.name + "=" + str(getattr(x, f.name)) + ";"
        return out, len(dataclasses.fields(x)), [f.name for f in dataclasses.fields(Stroke)]

    @njit
    def total(x):
        s = 0.0
        for f in dataclasses.fields(x):
            s += getattr(x, f.name)
        return s, dataclasses.fields(x)[0].name

    assert names(Point(1.5)) == names.py_func(Point(1.5))
    assert total(Point(1.5)) == total.py_func(Point(1.5))
    with pytest.raises(errors.TypingError, match="takes a dataclass"):
        njit(lambda x: dataclasses.fields(x))(3)


def test_a_link_that_may_be_none_is_followed_and_set():
    @njit
    def numbers(n):
        first = Node(0)
        last = first
        for i in range(1, n):
            while last.next is not None:
                last = last.next
            last.next = Node(i)
        out = []
        at = first
        while at is not None:
            at.value *= 2
            out.append(at.value)
            at = at.next
        return out

    assert numbers(4) == numbers.py_func(4) == [0, 2, 4, 6]
