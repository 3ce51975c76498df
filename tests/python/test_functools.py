"""`functools.reduce` in compiled code."""

from __future__ import annotations

import operator
from functools import reduce

import numpy as np
import pytest

from lancehead import njit

ITEMS = [np.arange(1, 9), np.linspace(0.5, 3, 7), [3, 1, 2], (4, 5), (2.5, 1.5, 0.5)]


@pytest.mark.parametrize("items", ITEMS, ids=lambda x: type(x).__name__)
def test_as_in_python(items):
    def total(x):
        return reduce(operator.add, x), reduce(lambda a, b: a * 2 - b, x, 10), reduce(min, x, 2.0)

    np.testing.assert_allclose(njit(total)(items), total(items))


def test_nothing_to_reduce():
    def with_start(x):
        return reduce(operator.mul, x, 7)

    def without(x):
        return reduce(operator.mul, x)

    assert njit(with_start)(np.zeros(0)) == 7.0
    with pytest.raises(TypeError, match="empty iterable with no initial value"):
        njit(without)(np.zeros(0))
