"""Differences between versions of CPython: its bytecode, and messages and results of some versions."""

import sys
from dataclasses import dataclass

import pytest

from lancehead import njit
from lancehead.errors import UnsupportedError

sys_version = sys.version_info[:2]


def of_captured(x):
    def inner(n):
        return [(lambda: x)() for x in range(n)], x

    return inner


@pytest.mark.skipif(sys_version < (3, 12), reason="CPython 3.11 has a function for every comprehension")
@pytest.mark.skipif(sys_version > (3, 13), reason="the mistake is that of two versions")
def test_a_comprehension_that_overwrites_a_captured_variable_is_refused():
    # In CPython itself, the variable of the comprehension stays in the captured one.
    with pytest.raises(UnsupportedError, match="the name of the captured `x`"):
        njit(of_captured(7))(3)


@pytest.mark.skipif(sys_version != (3, 11), reason="later versions make one function of both")
def test_a_comprehension_has_variables_of_its_own():
    assert njit(of_captured(7))(3) == ([0, 1, 2], 7)


def test_sum_of_floats_adds_one_after_the_other():
    @njit
    def total(n):
        return sum([0.1] * n)

    one_after_the_other = 0.0
    for _ in range(10):
        one_after_the_other += 0.1
    assert total(10) == one_after_the_other


@dataclass
class Base:
    x: int

    unit = 3

    def area(self, k=1):
        return self.x * k


@dataclass
class Derived(Base):
    def area(self, k=1):
        return super().area(k=k + 1) + super().unit


@dataclass
class Further(Derived):
    def area(self, k=1):
        return super().area() + super(Derived, self).area(k) * 100


def test_super_with_and_without_arguments():
    # One instruction from 3.12 on.
    @njit
    def area(x):
        return Derived(x).area(), Derived(x).area(4), Further(x).area(7)

    assert area(5) == area.py_func(5)


@pytest.mark.skipif(sys_version < (3, 12), reason="the syntax of 3.12")
@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("def g[T](y: T): return y", "a type parameter of an inner function"),
        ("def g[*T](*y: *T): return y", "a type parameter of an inner function"),
        ("def g[T: int](y: T): return y", "a type parameter of an inner function"),
        ("type X = int", "a `type` statement"),
        ("type X[T] = list[T]", "a type parameter of an inner function|a `type` statement"),
    ],
)
def test_the_syntax_of_types_is_refused_by_its_name(line, text):
    space = {}
    exec(f"def f(x):\n    {line}\n    return x", space)
    with pytest.raises(UnsupportedError, match=text):
        njit(space["f"])(1)


@pytest.mark.skipif(sys_version < (3, 12), reason="the syntax of 3.12")
def test_functions_and_classes_with_type_parameters_are_compiled():
    space = {"dataclass": dataclass}
    exec("@dataclass\nclass Pair[T]:\n    a: T\n    b: T\n    def total(self) -> T: return self.a + self.b", space)
    exec("def add[T](x: T, y: T) -> T: return Pair(x, y).total()", space)
    add = njit(space["add"])
    assert [add(1, 2), add("a", "b"), add(1.5, 2.0)] == [3, "ab", 3.5]
