"""Convolutions, correlations and rolls against NumPy: types, orders, strides, sizes about those of blocks, empties."""

from __future__ import annotations

import numpy as np
import pytest

from lancehead import njit
from lib_cases import outcome, same


@njit
def convolve(a, b, mode):
    return np.convolve(a, b, mode)


@njit
def correlate(a, b, mode):
    return np.correlate(a, b, mode)


@njit
def roll(a, shift, axis):
    return np.roll(a, shift), np.roll(a, shift, axis), np.roll(a, (shift, 1), (axis, 0))


@pytest.mark.parametrize("types", ["f8 f8", "i8 f8", "f4 c8", "? ?", "u1 i2", "f2 f2"])
def test_convolutions(types):
    first, second = types.split()
    rng = np.random.default_rng(3)
    # Sums of integers are equal in any order, and float16 holds those of the largest size.
    for n, m in [(1, 1), (5, 3), (3, 5), (4, 4), (1030, 3), (2, 2100), (0, 3), (3, 0), (0, 0)]:
        a, b = rng.integers(-3, 4, n).astype(first), rng.integers(-3, 4, m).astype(second)
        for x, y in [(a, b), (a[::-1], b), (a, b[::2])]:
            for mode in ("full", "same", "valid"):
                for compiled in (convolve, correlate):
                    expected, got = outcome(compiled.py_func, x, y, mode), outcome(compiled, x, y, mode)
                    assert same(expected, got), (compiled.py_func.__name__, x, y, mode)


def test_rolls():
    for shape in [(7,), (0,), (4, 5), (3, 0), (2, 3, 4)]:
        a = np.arange(float(np.prod(shape))).reshape(shape)
        for x in (a, a.T, a[::-1], a[..., ::2]):
            for shift in (0, 1, -1, 3, -9, 100):
                for axis in (0, -1):
                    assert same(roll.py_func(x, shift, axis), roll(x, shift, axis)), (x, shift, axis)


@pytest.mark.parametrize("name", ["cov", "corrcoef"])
def test_covariances_are_no_integers(name):
    function = getattr(np, name)
    f = njit(lambda a: function(a, dtype=np.int32))
    for call in (f, f.py_func):
        with pytest.raises(TypeError):
            call(np.arange(6.0).reshape(2, 3))
