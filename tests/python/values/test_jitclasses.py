"""Classes made by `jitclass`: as plain classes of Python, where those do the same."""

from __future__ import annotations

import copy
import gc
import subprocess
import sys
import textwrap
import threading
import typing
from collections import OrderedDict

import numpy as np
import pytest

from lancehead import _core, errors, float64, int32, int64, njit, optional, typeof, types
from lancehead.experimental import jitclass


class PlainBag:
    """A bag of numbers."""

    limit = 3

    def __init__(self, value, n=4, *, step=1.0):
        self.value = value
        self.array = np.zeros(n)
        self.array[0] = step

    @property
    def size(self):
        return self.array.size

    @size.setter
    def size(self, n):
        self.array = np.zeros(n)

    @staticmethod
    def add(x, y):
        return x + y

    def fill(self, x):
        for i in range(len(self)):
            self.array[i] = x * i
        return self

    def total(self, *more, scale=1.0):
        return (self.array.sum() + len(more)) * scale

    def bound(self):
        return self.limit + self.value

    def __len__(self):
        return self.array.size

    def __getitem__(self, i):
        return self.array[i]

    def __setitem__(self, i, x):
        self.array[i] = x

    def __contains__(self, x):
        return (self.array == x).any()

    def __bool__(self):
        return self.value != 0

    def __call__(self, x):
        return x + self.value

    def __add__(self, other):
        return self.value + other.value

    def __eq__(self, other):
        return self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __lt__(self, other):
        return self.value < other.value

    def __str__(self):
        return f"bag of {self.value}"

    def __iter__(self):
        for x in self.array:  # noqa: UP028 - a generator of numbers
            yield x


SPEC = [("value", int64), ("array", float64[:])]
Bag = jitclass(SPEC)(PlainBag)


def everything(bag, other):
    bag.fill(2.5)
    bag[1] = 7
    values = bag.size, bag.add(1, 2.5), bag.total(), bag.total(1, scale=2.0), bag.bound(), len(bag), bag[1]
    truths = 7.0 in bag, 8.0 in bag, bool(bag), not bag, bag == other, bag != other, bag < other, bag is other
    more = bag(5), bag + other, str(bag), hash(bag) == hash(other), sum([x for x in bag]), bag.limit
    bag.size = 2
    return values, truths, more, bag.size


@pytest.mark.parametrize("run", [everything, njit(everything)], ids=["python", "compiled"])
def test_members_act_as_in_python(run):
    expected = everything(PlainBag(3, 5), PlainBag(4, step=2.0))
    assert run(Bag(3, 5), Bag(4, step=2.0)) == expected


def test_made_in_compiled_code_as_in_python():
    def make(cls, x):
        bag = cls(x, n=3, step=0.5)
        return bag.value, list(bag.array), bag.add(x, 1), isinstance(bag, cls)

    assert njit(lambda x: make_bag(x))(4) == make(PlainBag, 4) == make(Bag, 4)


@njit
def make_bag(x):
    bag = Bag(x, n=3, step=0.5)
    return bag.value, [a for a in bag.array], bag.add(x, 1), isinstance(bag, Bag)


def test_an_instance_is_shared():
    @njit
    def change(bag):
        bag.value += 1
        bag.array = np.ones(2)
        return bag

    bag = Bag(1)
    array = bag.array
    assert change(bag) is bag
    assert bag.value == 2
    assert list(bag.array) == [1, 1]
    bag.array = array
    assert bag.array is array
    array[1] = 9
    assert bag[1] == 9


def test_fields_are_converted_and_checked():
    small = jitclass({"n": int32, "z": types.complex128})(type("Small", (), {"__init__": lambda self, n: None}))
    thing = small(1)
    assert (thing.n, thing.z) == (0, 0)
    thing.n, thing.z = 5.9, 2
    assert (thing.n, thing.z) == (5, 2 + 0j)
    with pytest.raises(OverflowError):
        thing.n = 2**40
    with pytest.raises(TypeError, match="the field 'n' holds `int32`, not str"):
        thing.n = "a"
    with pytest.raises(AttributeError):
        thing.other = 1
    with pytest.raises(AttributeError):
        del thing.n
    with pytest.raises(TypeError, match="pickle"):
        copy.copy(thing)
    with pytest.raises(TypeError, match="is not one of"):
        type(thing).__dict__["n"].__get__(Bag(1), Bag)


def test_a_linked_list():
    node_type = types.deferred_type()

    @jitclass(OrderedDict([("data", int64), ("next", optional(node_type))]))
    class Node:
        def __init__(self, data, next):
            self.data = data
            self.next = next

        def prepend(self, data):
            return Node(data, self)

    node_type.define(Node.class_type.instance_type)
    with pytest.raises(TypeError, match="already defined"):
        node_type.define(Node.class_type.instance_type)

    @njit
    def build(n):
        head = Node(0, None)
        for i in range(1, n):
            head = head.prepend(i)
        return head

    @njit
    def total(head):
        out = 0
        at = head
        while at is not None:
            out += at.data
            at = at.next
        return out

    before = _core.live_allocations()
    head = build(100_000)
    assert total(head) == sum(range(100_000))
    assert (head.data, head.next.data, head.next.next.data) == (99_999, 99_998, 99_997)
    assert head.next is head.next
    tail = build(1)
    assert tail.next is None
    tail.next = head
    assert tail.next is head
    del head, tail
    gc.collect()
    assert _core.live_allocations() == before


@jitclass([("x", float64), ("y", float64)])
class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __repr__(self):
        return f"Vector({self.x}, {self.y})"


def test_members_that_are_classes_and_containers():
    vector = Vector.class_type.instance_type

    @jitclass
    class Body:
        position: Vector
        speed: Vector
        history: typing.List[float]  # noqa: UP006
        tag: types.Tuple((int64, types.unicode_type))

        def __init__(self, speed):
            self.position = Vector(0, 0)
            self.speed = speed
            self.history = [0]
            self.tag = (1, "a")

        def step(self):
            self.position += self.speed
            self.history.append(self.position.x)

    body = Body(Vector(1, 2))
    for _ in range(3):
        body.step()
    assert repr(body.position) == "Vector(3.0, 6.0)"
    assert body.history == [0.0, 1.0, 2.0, 3.0]
    assert body.tag == (1, "a")
    body.history = [5.0]
    body.history = []
    body.step()
    assert body.history == [4.0]
    assert Body.class_type.instance_type.struct["speed"] is vector

    @njit
    def all_of(n):
        vectors = [Vector(i, 1) for i in range(n)]
        return vectors, {i: v for i, v in enumerate(vectors)}, (vectors[0], n)

    vectors, by_number, (first, n) = all_of(3)
    assert [v.x for v in vectors] == [0, 1, 2] == [by_number[i].x for i in range(n)]
    assert first is vectors[0] is by_number[0]

    @njit
    def texts(v):
        return str(v), repr(v), f"{v}", [v]

    assert texts(first)[:3] == ("Vector(0.0, 1.0)",) * 3
    assert njit(lambda vs: vs[0].x + len(vs))([Vector(2, 3), Vector(1, 1)]) == 4


def test_types_of_instances():
    vector = Vector.class_type.instance_type
    assert typeof(Vector(1, 2)) == vector
    assert isinstance(vector, types.ClassInstanceType)
    assert njit(float64(vector))(lambda v: v.x)(Vector(3, 4)) == 3
    with pytest.raises(TypeError):
        njit(float64(vector))(lambda v: v.x)(Bag(1))


def test_a_field_that_is_not_assigned():
    @jitclass([("items", types.List(int64)), ("n", int64)])
    class Late:
        def __init__(self):
            pass

        def count(self):
            return len(self.items)

    for ask in (lambda late: late.items, lambda late: late.count()):
        with pytest.raises(AttributeError, match="'Late' object has no attribute 'items'"):
            ask(Late())
    assert Late().n == 0


def test_nothing_leaks_where_something_is_raised():
    @jitclass([("array", float64[:]), ("vector", Vector.class_type.instance_type)])
    class Risky:
        def __init__(self, n):
            self.array = np.zeros(10)
            self.vector = Vector(1, 2)
            if n < 0:
                raise ValueError("negative")
            self.array = np.zeros(n)

        def fail(self, i):
            kept = [self, self]
            return kept[0].array[i] + kept[5].array[0]

    @njit
    def make(n):
        risky = Risky(abs(n))
        return Risky(n), risky

    def run():
        for n in (3, -3):
            for f in (Risky, make):
                try:
                    f(n)
                except ValueError:
                    pass
        with pytest.raises(IndexError):
            Risky(3).fail(1)
        with pytest.raises(TypeError):
            Risky(3).array = "x"

    run()
    gc.collect()
    before = _core.live_allocations()
    for _ in range(10):
        run()
    gc.collect()
    assert _core.live_allocations() == before


def test_changed_members_are_noticed():
    @jitclass([("x", int64)])
    class Changing:
        factor = 2

        def __init__(self, x):
            self.x = x

        def value(self):
            return self.x * self.factor

    @njit
    def use(c):
        return c.value() + len([c])

    c = Changing(3)
    assert (c.value(), use(c)) == (6, 7)
    Changing.factor = 10
    assert (c.value(), use(c)) == (30, 31)
    Changing.value = njit(lambda self: self.x - 1)
    assert (c.value(), use(c)) == (2, 3)


def test_what_is_refused():
    with pytest.raises(TypeError, match="cannot subclass from a jitclass"):
        type("Derived", (Bag,), {})
    with pytest.raises(TypeError, match="spec keys should be strings, got 1"):
        jitclass([(1, int64)])(PlainBag)
    with pytest.raises(TypeError, match="spec values should be Numba type instances"):
        jitclass([("x", 1)])(PlainBag)
    with pytest.raises(NameError, match="name shadowing: fill"):
        jitclass([("fill", int64)])(PlainBag)
    with pytest.raises(errors.TypingError, match="no attribute `nothing`"):
        njit(lambda v: v.nothing)(Vector(1, 2))
    with pytest.raises(errors.TypingError, match="no attribute `nothing` that can be assigned"):
        njit(set_nothing)(Vector(1, 2))
    with pytest.raises(errors.TypingError, match="should return None"):
        njit(lambda: Wrong())()


def set_nothing(v):
    v.nothing = 1


@jitclass([("x", int64)])
class Wrong:
    def __init__(self):
        return 1  # noqa: PLE0101


def test_class_methods_and_super():
    class Base:
        def __init__(self, x):
            self.x = x

        def doubled(self):
            return 2 * self.x

    @jitclass([("x", int64), ("y", int64)])
    class Derived(Base):
        def __init__(self, x):
            super().__init__(x + 1)
            self.y = 3

        def doubled(self):
            return super().doubled() + self.y

        @classmethod
        def made(cls, x):
            return cls(10 * x)

    @njit
    def f(x):
        return Derived(x).doubled(), Derived.made(x).doubled(), Derived(x).made(x).y

    assert f(1) == (7, 25, 3)
    assert (Derived(1).doubled(), Derived.made(1).doubled(), Derived(1).made(1).y) == (7, 25, 3)


def test_private_names_and_bases():
    class Base:
        def double(self):
            return 2 * self.__class__(1).get()

        def get(self):
            return self._x

    @jitclass
    class Derived(Base):
        _x: int
        __y: float

        def __init__(self, x):
            self._x = x
            self.__y = 0.5

        def get(self):
            return self._x + self.__y

    assert (Derived(4).get(), Derived(4).double(), Derived(4)._Derived__y) == (4.5, 3.0, 0.5)


def test_threads_share_instances():
    @jitclass([("n", int64), ("vector", Vector.class_type.instance_type)])
    class Shared:
        def __init__(self):
            self.n = 0
            self.vector = Vector(0, 0)

        def replace(self):
            self.vector = Vector(self.vector.x + 1, 0)

    shared = Shared()
    shared.replace()

    def work():
        for _ in range(2000):
            shared.replace()
            assert shared.vector.y == 0

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.vector.x == 8001


PROGRAM = """
from lancehead import float64, int64, njit
from lancehead.experimental import jitclass

@jitclass([{fields}])
class Point:
    def __init__(self, x):
        self.x = x
    def scaled(self):
        return self.x * {factor}

@njit(cache=True)
def f(p):
    return p.scaled() + Point(2).x

print(f(Point(5)), sum(f.stats.cache_hits.values()))
"""


def test_cached_code_knows_the_class(tmp_path):
    program = tmp_path / "program.py"

    def run(fields, factor):
        program.write_text(textwrap.dedent(PROGRAM).format(fields=fields, factor=factor))
        done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True, timeout=120)
        return done.stdout.split()

    assert run("('x', int64)", 3) == ["17", "0"]
    assert run("('x', int64)", 3) == ["17", "1"]
    assert run("('x', int64)", 4) == ["22", "0"]
    assert run("('y', float64), ('x', float64)", 4) == ["22.0", "0"]
    assert run("('x', int64)", 3)[0] == "17"


def test_an_initialiser_returns_nothing():
    @jitclass([])
    class Bad:
        def __init__(self):
            return 7  # noqa: PLE0101

    with pytest.raises(errors.TypingError, match=r"__init__\(\) should return None"):
        Bad()
    with pytest.raises(errors.TypingError, match=r"__init__\(\) should return None"):
        njit(lambda: Bad())()


def test_what_is_known_of_a_class():
    @jitclass([("x", int64)])
    class Known:
        def __init__(self):
            self.x = 1

        @property
        def twice(self):
            return 2 * self.x

        @twice.setter
        def twice(self, value):
            self.x = value // 2

        @staticmethod
        def five():
            return 5

        def more(self, by):
            return self.x + by

    kind = Known.class_type
    assert list(kind.jit_methods) == list(kind.methods) == ["__init__", "more"]
    assert list(kind.jit_static_methods) == list(kind.static_methods) == ["five"] and kind.static_methods["five"]() == 5
    assert {name: list(parts) for name, parts in kind.jit_props.items()} == {"twice": ["get", "set"]}
    assert Known()._numba_type_ == kind.instance_type and kind.instance_type.class_type is kind
    with pytest.raises(AttributeError):
        int64.class_type


def test_the_class_that_a_class_is_made_of():
    class Plain:
        def __init__(self, x):
            self.x = x

        def next(self):
            return self.x + 1

    compiled = jitclass([("x", int64)])(Plain)
    assert compiled.mro()[1] is compiled.class_type.class_def is Plain
    assert (compiled(3).next(), Plain(4).next()) == (4, 5)

    @jitclass([("x", int64)])
    class Derived(compiled.mro()[1]):
        def twice(self):
            return 2 * self.next()

    assert Derived(4).twice() == 10
    assert [c.__name__ for c in Derived.mro()[:3]] == ["Derived", "Derived", "Plain"]
