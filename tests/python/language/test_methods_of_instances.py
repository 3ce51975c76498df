"""Methods of a program's instances as arguments, and what is said of those that a function captures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from lancehead import float64, njit
from lancehead.errors import TypingError
from lancehead.experimental import jitclass


@dataclass
class Scale:
    by: float
    calls: int = 0

    def apply(self, x):
        self.calls += 1
        return self.by * x

    def rest(self, x, y=1.0, *, z=0.0):
        return self.by * x + y + z


@jitclass([("by", float64)])
class Compiled:
    def __init__(self, by):
        self.by = by

    def apply(self, x):
        return self.by * x


@njit
def total(f, xs):
    s = 0.0
    for x in xs:
        s += f(x)
    return s


def test_a_method_is_called_on_its_instance():
    scale = Scale(2.0)
    assert total(scale.apply, np.arange(4.0)) == 12.0
    assert scale.calls == 4
    assert njit(lambda f: f(2.0, z=0.5) + f(1.0, 0.0))(scale.rest) == 5.5 + 2.0


def test_of_other_instances_and_classes():
    assert total(Scale(0.5).apply, np.arange(4.0)) == 3.0
    assert total(Compiled(3.0).apply, np.arange(4.0)) == 18.0
    assert len(total.signatures) >= 2


def test_in_tuples():
    a, b = Scale(2.0), Scale(3.0)
    assert njit(lambda pair, x: pair[0](x) + pair[1](x))((a.apply, b.apply), 1.0) == 5.0


def test_a_replaced_method_is_seen():
    f = njit(lambda g, x: g(x))

    @dataclass
    class Own:
        n: int

        def apply(self, x):
            return self.n + x

    own = Own(1)
    assert f(own.apply, 1) == 2

    def apply(self, x):
        return self.n * 10 + x

    Own.apply = apply
    assert f(own.apply, 1) == 11


def test_a_captured_method_says_to_pass_the_object():
    apply = Scale(2.0).apply
    with pytest.raises(TypingError, match="`Scale.apply` cannot be called in compiled code") as caught:
        njit(lambda x: apply(x))(1.0)
    assert "or pass the method as an argument" in str(caught.value)
