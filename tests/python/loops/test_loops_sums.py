"""Sums to several places in one loop, where their order may change: the same as in CPython.

Numbers are small multiples of 1/4, so that sums are exact in any order.
"""

import numpy as np
import pytest

from lancehead import njit

OPTIONS = [
    {},
    {"fastmath": True},
    {"fastmath": {"reassoc"}},
    {"fastmath": {"reassoc", "nsz"}},
    {"fastmath": True, "boundscheck": False},
    {"fastmath": True, "error_model": "numpy"},
    {"fastmath": True, "parallel": True},
]


def two_rows(a, c, p, q):
    for k in range(c.shape[1]):
        a[p, k] += c[0, k]
        a[q, k] -= c[1, k] * 2


def rows_of_pairs(a, c, p, q):
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            f = c[0, i] - c[1, j] + p
            for k in range(c.shape[1] - q):
                a[i, k] += f * c[0, k]
                a[j, k] -= f * c[0, k]


def falling(a, c, p, q):
    for k in range(c.shape[1] - 2, 0, -1):
        a[p, k - 1] -= c[0, k]
        a[q, k] += c[0, k]
        a[q, k + 1] += c[1, k] + c[0, k]


def rows_and_columns(a, c, p, q):
    n = c.shape[1]
    for i in range(a.shape[0]):
        for k in range(n):
            a[i, k] += c[0, k] + p
            a[a.shape[0] - 1 - i, k] -= c[1, k]
            a[i, n - 1 - k] += c[0, k] * c[1, k]
            a[q, i] += c[1, k]


def one_place(a, c, p, q):
    for k in range(c.shape[1] - 1):
        a[p, 0] += c[0, k]
        a[q, k + 1] += c[1, k]
        a[p, k // 2] -= c[0, k]


def every_other(a, c, p, q):
    for k in range(0, c.shape[1] - 3, 2):
        a[p, k] += c[0, k]
        a[q, k + 2] += c[1, k]
        a[q, k + 1] -= c[1, k + 1]
        c[0, k] = 0


def until(a, c, p, q):
    for k in range(c.shape[1] - 1):
        if c[0, k] == c[1, k + 1]:
            break
        a[p, k] += c[0, k]
        a[q, k + 1] -= c[0, k]


def total_too(a, c, p, q):
    s = 0.0
    for k in range(c.shape[1] - 1):
        a[p, k] += c[0, k] * 2
        a[p, k + 1] -= c[1, k]
        s += c[0, k]
    a[q, 0] += s


LOOPS = [two_rows, rows_of_pairs, falling, rows_and_columns, one_place, every_other, until, total_too]


def arrays(dtype, columns, order):
    gen = np.random.default_rng(columns)
    a, c = (gen.integers(-8, 9, (rows, columns)).astype(dtype) / dtype(4) for rows in (3, 2))
    if order == "strided":
        wide = np.zeros((6, 2 * columns), dtype)
        a = np.add(wide[::2, ::2], a, out=wide[::2, ::2])
        c = c[:, ::-1].copy()[:, ::-1]
    return np.array(a, order=order) if order in "CF" else a, c


@pytest.mark.optimised
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("function", LOOPS, ids=lambda f: f.__name__)
def test_sums_to_several_places(function, options):
    compiled = njit(**options)(function)
    for dtype, order in ((np.float64, "C"), (np.float32, "F"), (np.float64, "strided"), (np.complex128, "C")):
        for columns in (5, 41):
            for p, q in ((0, 1), (2, 2)):
                a, c = arrays(dtype, columns, order)
                b, d = a.copy(order="K"), c.copy(order="K")
                function(b, d, p, q)
                compiled(a, c, p, q)
                np.testing.assert_array_equal(a, b)
                np.testing.assert_array_equal(c, d)


@pytest.mark.optimised
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_sums_into_arrays_that_overlap(options):
    compiled = njit(**options)(two_rows)
    for shift in (0, 1, 3):
        both = [np.arange(126.0).reshape(3, 42) for _ in range(2)]
        for f, m in zip((two_rows, compiled), both):
            f(m[:, :40], m[1:, shift : shift + 38], 0, 1)
        np.testing.assert_array_equal(*both)
