"""`numba.np.linalg._LAPACK`, whose functions clients call in overloads of their own."""

import numpy as np
import pytest

import lancehead as lh
from lancehead import errors
from lancehead.extending import overload
from lancehead.lowlevel.lapack import _LAPACK


def solve(a, b, pivots):
    raise NotImplementedError


@overload(solve)
def solve_in_place(a, b, pivots):
    gesv = _LAPACK().numba_xgesv(a.dtype)

    def impl(a, b, pivots):
        n = a.shape[0]
        return gesv(100, n, b.shape[0], a.ctypes, n, pivots.ctypes, b.ctypes, n)

    return impl


def factor(a, pivots):
    raise NotImplementedError


@overload(factor)
def factor_in_place(a, pivots):
    getrf = _LAPACK().numba_xxgetrf(a.dtype)
    return lambda a, pivots: getrf(100, a.shape[0], a.shape[0], a.ctypes, a.shape[0], pivots.ctypes)


@lh.njit
def solved(a, b, pivots):
    return solve(a, b, pivots)


@lh.njit
def factored(a, pivots):
    return factor(a, pivots)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("n", [0, 1, 6])
def test_columns_are_solved_in_place(dtype, n):
    random = np.random.default_rng(5)
    a = (random.normal(size=(n, n)) + (1j * random.normal(size=(n, n)) if dtype[0] == "c" else 0)).astype(dtype)
    b = random.normal(size=(2, n)).astype(dtype)
    columns, x, pivots = np.ascontiguousarray(a.T), b.copy(), np.zeros(n, np.int32)
    assert solved(columns, x, pivots) == 0
    np.testing.assert_allclose(x, np.linalg.solve(a, b.T).T, rtol=1e-4 if dtype in ("f4", "c8") else 1e-10)
    again, others = np.ascontiguousarray(a.T), np.zeros(n, np.int32)
    assert factored(again, others) == 0
    np.testing.assert_array_equal(again, columns)
    np.testing.assert_array_equal(others, pivots)
    lower, upper = np.tril(columns.T, -1) + np.eye(n), np.triu(columns.T)
    rows = np.arange(n)
    for k, p in enumerate(pivots - 1):
        rows[[k, p]] = rows[[p, k]]
    np.testing.assert_allclose(lower @ upper, a[rows], rtol=1e-4, atol=1e-5)


def test_a_singular_matrix_is_told_by_its_zero():
    assert solved(np.zeros((3, 3)), np.ones((1, 3)), np.zeros(3, np.int32)) == 1


def test_other_functions_are_refused():
    with pytest.raises(errors.UnsupportedError, match="numba_xxgemm"):
        _LAPACK().numba_xxgemm(lh.float64)
