"""Classes without a decorator: compiled code makes instances, also as context managers."""

import threading
from fractions import Fraction

import pytest

from lancehead import errors, njit
from lancehead.gradients import grad


class Point:
    unit = 2

    def __init__(self, x, y=3):
        self.y = y
        self.x = x
        self.count = 0

    def __enter__(self):
        self.count += 1
        return self

    def __exit__(self, kind, value, traceback):
        self.count += 10
        return kind is not None and issubclass(kind, ValueError)

    @property
    def total(self):
        return (self.x + self.y) * self.unit

    @staticmethod
    def twice(x):
        return x * 2

    @classmethod
    def square(cls, x):
        return cls(x, x)


class Silent:
    def __enter__(self):
        return 3

    def __exit__(self, *error):
        return True


class Moved(Point):
    def total_of(self, other):
        return self.total + other.total


def entered(x, fails):
    p = Point(x)
    with p as q:
        q.x += 1
        if fails:
            raise ValueError(x)
    return p.x, p.count, q is p


def silent(x):
    with Silent() as three:
        x += three
        if x > 4:
            raise KeyError(x)
        x *= 10
    return x


def used(x):
    p, q, r = Point(x), Point(y=x, x=2.5), Moved.square(x)
    q.x = 0.5
    same = p
    same.y += 1
    return p.y, q.total, r.total_of(p), Point.twice(x), p == same, p == Point(x), p is same, isinstance(r, Point)


@pytest.mark.parametrize(
    ("f", "given"), [(entered, (1, False)), (entered, (1.5, True)), (silent, (1,)), (silent, (2,)), (used, (4,))]
)
def test_instances_of_compiled_code(f, given):
    assert njit(f)(*given) == f(*given)


def test_instances_are_results_and_those_of_python_stay_objects():
    made = njit(lambda x: Moved(x))(7)
    assert type(made) is Moved and vars(made) == {"y": 3, "x": 7, "count": 0}
    assert grad(lambda x: Point(x).total)(1.0) == 2.0
    p = Point(1.5)
    assert njit(lambda p: p)(p) is p
    with pytest.raises(errors.TypingError, match=r"`@dataclass`"):
        njit(lambda p: p.y)(p)


class Loose:
    def __init__(self, n):
        self.items = [n]
        if n > 1:
            self.n = n


class Typed:
    a: float
    items: list[float]

    def __init__(self, a):
        self.a = a * 2
        self.items = [1.0]


class Derived(Typed):
    b: int

    def __init__(self, a):
        super().__init__(a)
        self.b = 1


class Without(Typed):
    b: int

    def __init__(self, a):
        self.b = 1


class Branching:
    a: float

    def __init__(self, a):
        if a > 0:
            self.a = a


def test_annotations_say_the_types_of_fields_that_are_computed():
    def f(x):
        d = Derived(x)
        return d.a, d.items, d.b, Typed(x).a

    assert njit(f)(1.5) == f(1.5)


@pytest.mark.parametrize("cls", [Loose, Branching, Without])
def test_fields_that_may_have_no_value_are_refused(cls):
    with pytest.raises(errors.TypingError, match="`" + cls.__name__ + "` has fields of types that are not known"):
        njit(lambda x: cls(x) is None)(1.5)


class Odd:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        return 7


class Thread(threading.Thread):
    def __init__(self, x):
        self.x = x


@pytest.mark.parametrize("cls", [Odd, Thread, Fraction])
def test_classes_with_ways_of_their_own_are_refused(cls):
    with pytest.raises(errors.TypingError, match="decorate the class with|call it outside|compute with floats"):
        njit(lambda x: cls(x) is None)(1)


def test_fields_keep_their_types():
    def f(x):
        p = Point(x)
        p.count = x
        return p.count

    with pytest.raises(errors.TypingError, match="the field `count` holds `int`, not `float`"):
        njit(f)(1.5)
