"""Loops over `np.ndindex` and its relatives, which become nests, and sums in order of terms that are vectors."""

import math

import numpy as np
import pytest

from lancehead import njit

R = np.random.default_rng(0)


@njit
def weighted(a):
    s = 0.0
    for i, j in np.ndindex(a.shape):
        s = s * 0.5 + a[i, j] * (i + 2 * j)
    for (i, j), x in np.ndenumerate(a):
        s += x * (i * 10 + j)
    return s


@njit
def left_early(a, limit):
    s, last = 0.0, (-1, -1, -1)
    for i, j, k in np.ndindex(a.shape):
        last = (i, j, k)
        if a[i, j, k] > limit:
            s += 1000
            break
        if k == 2:
            continue
        s += a[i, j, k]
    else:
        s -= 1
    return s, last


@njit
def outside(a, n):
    s = 0.0
    for i, j in np.ndindex(n, n):
        s += a[i, j]
    return s


@njit
def in_order(v):
    s = 0.0
    for x in v:
        s += math.log(x + 1) * math.exp(-x)
    return s


@pytest.mark.parametrize("shape", [(3, 4), (0, 5), (5, 0), (1, 1), (7, 1), (1, 9), (33, 17)])
def test_all_indices_in_order(shape):
    a = R.random(shape)
    for x in (a, np.asfortranarray(a), a[::-1], R.random((shape[0], 2 * shape[1]))[:, ::2]):
        assert weighted(x) == pytest.approx(weighted.py_func(x), rel=1e-12)


@pytest.mark.parametrize("shape", [(3, 4, 5), (0, 2, 3), (2, 0, 3), (2, 3, 0), (1, 1, 1), (4, 1, 6)])
def test_variables_of_a_loop_that_is_left(shape):
    a = R.random(shape)
    for limit in (-1.0, 0.5, 0.95, 2.0):
        s, last = left_early(a, limit)
        expected, end = left_early.py_func(a, limit)
        assert (s, last) == (pytest.approx(expected, rel=1e-12), end)


def test_indices_are_checked():
    assert outside(R.random((6, 6)), 5) > 0
    with pytest.raises(IndexError, match="axis 0 with size 4"):
        outside(R.random((4, 6)), 5)


@pytest.mark.parametrize("n", [0, 1, 3, 8, 9, 31, 1001])
def test_terms_are_added_in_order(n):
    v = R.random(n)
    assert in_order(v) == pytest.approx(in_order.py_func(v), rel=1e-12)
