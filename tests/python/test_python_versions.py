"""What depends on the version of CPython: its bytecode, and what it says or computes otherwise than others do."""

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
