"""Instances of several classes with a common base: in containers, variables and results, as CPython has them."""

from __future__ import annotations

import dataclasses
import gc
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import pytest

from lancehead import _core, errors, float64, int64, njit
from lancehead.experimental import jitclass


@dataclass
class Shape:
    name: str

    def area(self):
        return 0.0

    def scaled(self, k, *, extra=0.0):
        return self.area() * k + extra

    def label(self):
        return self.name + ":" + str(round(self.area(), 2))

    def __lt__(self, other):
        return self.area() < other.area()

    def __len__(self):
        return 3

    @property
    def half(self):
        return self.area() / 2


@dataclass
class Square(Shape):
    side: float

    def area(self):
        return self.side**2

    def __bool__(self):
        return self.side > 0


@dataclass
class Circle(Shape):
    r: float
    hits: int = 0

    def area(self):
        return 3.0 * self.r**2

    def __add__(self, other):
        return Circle(self.name, self.r + other)

    def grow(self, by):
        self.r += by
        self.hits += 1
        return self.r


@dataclass
class Dot(Shape):
    pass


class Animal(ABC):
    legs = 4

    @abstractmethod
    def weight(self): ...

    @staticmethod
    def twice(x):
        return 2 * x

    @classmethod
    def kind(cls):
        return cls.__name__

    def described(self):
        return self.kind() + str(self.weight() * self.legs)


@dataclass
class Dog(Animal):
    size: float

    def weight(self):
        return self.size


@dataclass(frozen=True)
class Bird(Animal):
    size: int
    legs = 2

    def weight(self):
        return self.size * 2.0

    def __hash__(self):
        return 7


@dataclass
class Pack(Dog):
    others: list = field(default_factory=list)
    note: str = "pack"

    def weight(self):
        return super().weight() + len(self.others)

    def __getitem__(self, i):
        return self.others[i]

    def __setitem__(self, i, x):
        self.others[i] = x

    def __contains__(self, x):
        return x in self.others

    def __call__(self, x):
        return x + 1.0

    def __neg__(self):
        return -self.size

    def __abs__(self):
        return abs(self.size)


def shapes():
    return [Square("a", 2.0), Circle("b", 1.0), Dot("c"), Circle("d", 0.5), Square("e", -1.0)]


def animals():
    return [Dog(1.0), Bird(2), Pack(3.0, [1.5, 2.5]), Pack(4.0, [0.5, 1.0])]


def make(i):
    if i == 0:
        return Square("s", 2.0)
    return Circle("c", 2.0)


made = njit(make)


@njit
def area_of(shape, k):
    return shape.area() * k


@njit
def label_of(shape):
    return shape.label()


def attributes(xs):
    for x in xs:
        x.name += "!"
    return [x.name for x in xs], [x.half for x in xs], [x.label() for x in xs], len(xs)


def methods(xs):
    bound = xs[1].area
    return (
        [x.area() for x in xs],
        [x.scaled(2.0, extra=1.0) for x in xs],
        [x.scaled(extra=1.0, k=3.0) for x in xs],
        bound(),
    )


def guarded(xs):
    total = 0.0
    for x in xs:
        if isinstance(x, Circle):
            total += x.r + x.grow(1.0)
        elif isinstance(x, Square):
            x.side = 9.0
    return total


def left_over(xs):
    for x in xs:
        if not isinstance(x, Circle):
            continue
        return x.r, x.grow(1.0)
    return 0.0, 0.0


def until(xs):
    i = 0
    x = xs[0]
    while not isinstance(x, Dot):
        i += 1
        x = xs[i]
    return i, x


def classes(xs):
    return (
        [isinstance(x, Shape) for x in xs],
        [isinstance(x, (Square, Dot)) for x in xs],
        [isinstance(x, int) for x in xs],
        [type(x) is Square for x in xs],
        [type(x) == Circle for x in xs],  # noqa: E721 - it is to be compiled
        [type(x).__name__ for x in xs],
        [x.__class__.__name__ for x in xs],
        [type(x) in (Square, Circle) for x in xs],
        [hasattr(x, "r") for x in xs],
        [getattr(x, "r", -1.0) for x in xs],
    )


def texts(xs):
    return [str(x) for x in xs], [repr(x) for x in xs], str(xs), f"{xs[1]} {xs[2]!r}", f"{xs[0]}", "text: " + str(xs[1])


def equality(xs):
    other = Square("a", 2.0)
    return (
        [x == xs[1] for x in xs],
        [x != other for x in xs],
        xs[1] in xs,
        other in xs,
        xs.index(xs[2]),
        xs.count(other),
    )


def identity(xs):
    best = None
    for x in xs:
        if best is None or x.area() > best.area():
            best = x
    return [x is xs[1] for x in xs], [x is not xs[0] for x in xs], best is xs[0], best is None, best


def order(xs):
    names = [x.name for x in sorted(xs, key=lambda s: s.area())], [x.name for x in sorted(xs)]
    xs.sort(key=lambda s: -s.area())
    return names, max(xs, key=lambda s: s.area()).name, min(xs).name, [x < xs[1] for x in xs], xs


def truths(xs):
    return [bool(x) for x in xs], [1 if x else 0 for x in xs], [not x for x in xs], [len(x) + x.__len__() for x in xs]


def changes(xs):
    xs.append(Square("new", 5.0))
    xs.insert(0, Circle("z", 1.0))
    x = xs.pop(2)
    xs[0], xs[1] = xs[1], xs[0]
    del xs[3]
    xs.reverse()
    xs.extend([Dot("q")])
    return x, xs, xs[:2] + [xs[0]], xs[::-1]


def built(xs):
    out = []
    for i in range(len(xs)):
        if i % 3 == 0:
            out.append(Square("s", float(i)))
        elif i % 3 == 1:
            out.append(Circle("c", float(i)))
        else:
            out.append(xs[i])
    shown = [Square("s", 1.0), Circle("c", 2.0)]
    shown.append(Dot("x"))
    queue = deque()
    for x in xs:
        queue.append(x)
    named = {"a": Square("s", 1.0), "b": Circle("c", 2.0)}
    named["q"] = Dot("d")
    for x in xs:
        named[x.name] = x
    return out, shown, [q.name for q in queue], named, [named[k].area() for k in named]


def joined(xs):
    if len(xs) > 20:
        x = Square("s", 1.0)
    elif len(xs) > 3:
        x = Circle("c", 1.0)
    else:
        x = Dot("d")
    y = xs[0] if len(xs) > 3 else None
    return x.area(), x.name, x, y is None, y.name, y == xs[0], y


def passed(xs):
    def larger(a, b):
        return a if a.area() > b.area() else b

    x = xs[1]
    largest = xs[0]
    for s in xs:
        largest = larger(largest, s)
    return (
        [area_of(s, 2.0) for s in xs],
        [made(i).area() for i in range(3)],
        made(0),
        (lambda k: x.area() + k)(1.0),
        largest,
        reduce(lambda a, b: a if a.area() > b.area() else b, xs),
        list(map(label_of, xs)),
        [s.name for s in filter(lambda s: s.area() > 1.0, xs)],
    )


def iterated(xs):
    def each():
        for x in xs:
            if x.name != "c":
                yield x

    a, b, *rest = xs
    pairs = [p.name + q.name for p, q in zip(xs, xs[1:])]
    return a.area() + b.area(), len(rest), pairs, [x.name for x in each()], sum(x.area() for x in xs), (xs[0], xs[2])


def matched(xs):
    out = []
    for x in xs:
        match x:
            case Square(side=s):
                out.append(s)
            case Circle(r=r) if r > 0.5:
                out.append(-r)
            case Shape(n):
                out.append(float(len(n)))
    return out


def replaced(xs):
    return [dataclasses.replace(x, name="q") for x in xs]


def caught(xs):
    n = 0
    for x in xs:
        try:
            x.grow(1.0)
        except AttributeError as e:
            n += len(str(e))
    return n


def of_base(xs):
    return (
        [x.described() for x in xs],
        [x.twice(3) for x in xs],
        [x.legs for x in xs],
        [x.weight() for x in xs],
        [isinstance(x, Animal) for x in xs],
        [isinstance(x, Dog) for x in xs],
    )


def narrowed(xs):
    out = []
    for x in xs:
        if isinstance(x, Pack):
            x.others.append(x.size)
            x[0] = x[1] + 1.0
            out.append(x.note + str(x[0]) + str(x(1.0)) + str(-x) + str(abs(x)) + str(1.0 in x))
        elif isinstance(x, (Dog, Pack)) and x.size > 0.0:
            out.append(str(x.size))
        elif not isinstance(x, Bird):
            out.append("none")
    return out


CASES: list[tuple[Callable[..., Any], Callable[[], Any]]] = [
    *((f, shapes) for f in (attributes, methods, guarded, left_over, until, classes, texts, equality, identity, order)),
    *((f, shapes) for f in (truths, changes, built, joined, passed, iterated, matched, replaced, caught)),
    *((f, animals) for f in (of_base, narrowed)),
]


@pytest.mark.parametrize(("function", "given"), CASES, ids=lambda x: x.__name__)
@pytest.mark.parametrize("turned", [False, True])
def test_instances_of_several_classes_are_as_in_python(function, given, turned):
    plain, compiled = given(), given()
    if turned:
        plain.reverse()
        compiled.reverse()
    outcomes = []
    for call, xs in ((function, plain), (njit(function), compiled)):
        try:
            outcomes.append(call(xs))
        except (TypeError, AttributeError) as e:
            outcomes.append((type(e), str(e)))
    assert repr(outcomes[0]) == repr(outcomes[1])
    assert repr(plain) == repr(compiled)


@pytest.mark.parametrize(
    "function",
    [
        lambda xs: xs[0].others,
        lambda xs: xs[1].others[0],
        lambda xs: xs[0][0],
        lambda xs: 1.5 in xs[0],
        lambda xs: xs[0](1.0),
        lambda xs: -xs[1],
        lambda xs: abs(xs[1]),
    ],
)
def test_what_an_alternative_lacks_raises(function):
    with pytest.raises((AttributeError, TypeError)) as plain:
        function(animals())
    with pytest.raises(plain.type) as compiled:
        njit(function)(animals())
    assert str(compiled.value) == str(plain.value)
    assert njit(function)([Pack(3.0, [1.5, 2.5]), Pack(4.0, [0.5, 1.0]), Dog(1.0)]) is not None


def test_assigning_what_only_some_classes_have_raises_for_others():
    @njit
    def wider(xs, i):
        xs[i].r = 5.0

    xs = shapes()
    wider(xs, 1)
    assert xs[1] == Circle("b", 5.0)
    with pytest.raises(AttributeError, match="'Dot' object has no attribute 'r'"):
        wider(xs, 2)


def test_operators_of_some_classes_raise_for_others():
    added = njit(lambda xs, i: xs[i] + 1.0)
    assert added(shapes(), 1) == Circle("b", 2.0)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'Square' and 'float'"):
        added(shapes(), 0)
    hashed = njit(lambda xs, i: hash(xs[i]))
    assert hashed([Dog(1.0), Bird(2)], 1) == 7
    with pytest.raises(TypeError, match="unhashable type: 'Dog'"):
        hashed([Dog(1.0), Bird(2)], 0)


def nested(d, pairs, rows, queue, inner):
    queue.append(Circle("q", 3.0))
    d["b"].grow(1.0)
    rows[1][0].grow(2.0)
    return (
        sum([v.area() for v in d.values()]),
        [k * x.area() for k, x in pairs],
        [sum([x.area() for x in row]) for row in rows],
        queue.popleft(),
        [x.name for x in queue],
        inner[0][1].area() * inner[1],
    )


def nested_arguments():
    return (
        {"a": Square("s", 1.0), "b": Circle("c", 2.0)},
        [(1, Square("s", 1.0)), (2, Circle("c", 2.0))],
        [[Square("s", 1.0)], [Circle("c", 2.0), Circle("e", 1.0)]],
        deque([Square("s", 1.0), Circle("c", 2.0)]),
        ([Square("s", 1.0), Circle("c", 1.0)], 2),
    )


def test_they_are_in_containers_of_containers():
    plain, compiled = nested_arguments(), nested_arguments()
    assert njit(nested)(*compiled) == nested(*plain)
    assert compiled == plain


def test_the_type_does_not_depend_on_order():
    area = njit(lambda xs: sum([x.area() for x in xs]))
    xs = shapes()[:3]
    assert {area(some) for some in (xs, xs[::-1], [xs[1], xs[2], xs[0], xs[0]])} == {7.0, 11.0}
    assert len(area.signatures) == 1
    assert area([Circle("b", 1.0)]) == 3.0
    assert len(area.signatures) == 2


class Body:
    def doubled(self):
        return self.value() * 2.0


@jitclass([("s", float64)])
class Real(Body):
    def __init__(self, s):
        self.s = s

    def value(self):
        return self.s


@jitclass([("n", int64)])
class Whole(Body):
    def __init__(self, n):
        self.n = n

    def value(self):
        return self.n + 0.5

    def bump(self):
        self.n += 1


def test_jitted_classes_that_inherit_from_one():
    @njit
    def bumped(xs):
        total = 0.0
        for x in xs:
            total += x.doubled()
            if isinstance(x, Whole):
                x.bump()
        return total, xs[1], [x is xs[0] for x in xs], [Real(1.0), Whole(2)]

    xs = [Real(1.0), Whole(2), Whole(3)]
    total, second, same, new = bumped(xs)
    assert (total, same, xs[1].n, xs[2].n) == (14.0, [True, False, False], 3, 4)
    assert second is xs[1]
    assert [type(x) for x in new] == [Real, Whole]


def test_references_are_counted():
    @njit
    def work(xs, n):
        out, best, named = [], None, {}
        for i in range(n):
            for x in xs:
                out.append(x)
                if best is None or x.area() > best.area():
                    best = x
                if isinstance(x, Circle):
                    x.grow(0.5)
                named[i] = x
                y = Square("q", 1.0) if i % 2 else Circle("z", 2.0)
                out.append(y)
                if len(out) > 20:
                    out.pop()
                try:
                    y.grow(1.0)
                except AttributeError:
                    pass
        return out, best, named

    work(shapes(), 7)
    gc.collect()
    before = _core.live_allocations()
    for _ in range(10):
        work(shapes(), 7)
    gc.collect()
    assert _core.live_allocations() == before


@dataclass
class Ticket:
    a: int


@dataclass
class Token:
    a: int


@dataclass
class Left(Animal):
    tag: int

    def weight(self):
        return 0.0


@dataclass
class Right(Animal):
    tag: str

    def weight(self):
        return 0.0


def test_refusals_name_a_way_out():
    with pytest.raises(errors.ArgumentError, match="give the classes of the items a base in common"):
        njit(lambda xs: xs[0].a)([Ticket(1), Token(2)])
    with pytest.raises(errors.TypingError, match="has no attribute `nam`.*did you mean `name`"):
        njit(lambda xs: xs[0].nam)(shapes())
    with pytest.raises(
        errors.TypingError, match="for one class of `Left or Right` this gives `int`, for another `str`"
    ):
        njit(lambda xs: xs[0].tag)([Left(1), Right("a")])
    with pytest.raises(errors.TypingError, match="make a new list of its items, which can hold both"):
        njit(lambda xs: xs.append(Dot("d")))(shapes()[:2])

    @njit
    def tags(xs):
        number, text = 0, ""
        for x in xs:
            if isinstance(x, Left):
                number += x.tag
            else:
                text += x.tag
        return number, text

    assert tags([Left(1), Right("a"), Left(2)]) == (3, "a")


def test_classes_of_single_instances():
    """`isinstance` of a base that is no dataclass, and of an abstract one."""
    is_body, is_animal = njit(lambda x: isinstance(x, Plain)), njit(lambda x: isinstance(x, Animal))
    assert is_body(Derived(1))
    assert not is_body(Dot("d"))
    assert is_animal(Dog(1.0))
    assert not is_animal(Dot("d"))


class Plain:
    pass


@dataclass
class Derived(Plain):
    n: int

    def __bool__(self):
        return self.n > 3


def test_none_is_false_whatever_its_class_says():
    @njit
    def truth(k):
        x = None
        if k > 0:
            x = Derived(k)
        if x:
            return 1
        return 0

    assert [truth(k) for k in (0, 1, 5)] == [0, 0, 1]


def test_functions_that_are_chosen_are_compared_and_named():
    def f(a):
        return a + 1

    def g(a):
        return a + 2

    def which(k):
        c = f if k else g
        return c is f, c is not g, c == f, c != f, c(1)

    compiled = njit(which)
    assert [compiled(k) for k in (True, False)] == [which(k) for k in (True, False)]


def test_they_have_derivatives_and_kernels():
    from lancehead import cuda
    from lancehead.gradients import grad

    def loss(k, xs):
        total = 0.0
        for x in xs:
            total += k * x.area()
        return total + Square("s", k).area()

    assert grad(loss)(2.0, shapes()[:2]) == 11.0

    @cuda.jit
    def kernel(out):
        x = Square("s", 2.0) if out[0] > 1 else Circle("c", 2.0)
        out[0] = x.area()

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 12.0


def test_arguments_come_back_as_the_same_objects():
    @njit
    def turned(xs):
        xs.reverse()
        xs.append(Dot("d"))
        return xs, xs[1], [x for x in xs if x.area() > 0.0]

    xs = shapes()
    old = xs[:]
    same, second, some = turned(xs)
    assert same is xs
    assert all(x is o for x, o in zip(xs, old[::-1], strict=False))
    assert second is old[3]
    assert all(any(x is o for o in old) for x in some)
