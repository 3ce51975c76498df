"""Systems of equations with matrices of any structure, inverses and determinants of `scipy.linalg`."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import flag_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import copy_c, copy_into, count, new_array, new_zeros
from lancehead.lib.numpy.stacks import conj, is_triangle, matrices
from lancehead.lib.scipy.operands import (
    check_rank,
    check_right,
    checked,
    inexact_dtype,
    lapack_dtype,
    lead_of,
    right_sides,
    rows_of,
    spread,
    text_of_shape,
)
from lancehead.lib.scipy.triangular import (
    back_substitute,
    cholesky_in_place,
    factor,
    has_zero_pivot,
    solve_by_cholesky,
)

# Structures of matrices: the elements that count, and how to solve.
GENERAL = 0
DIAGONAL = 1
TRIDIAGONAL = 2
UPPER = 3
LOWER = 4
POSITIVE = 5
SYMMETRIC = 6
HERMITIAN = 7
UNKNOWN = 8


def _structure(name):
    # The meaning of a name that `solve` and `inv` have in common.
    if name == "general" or name == "gen":
        return GENERAL
    if name == "diagonal":
        return DIAGONAL
    if name == "upper triangular":
        return UPPER
    if name == "lower triangular":
        return LOWER
    if name == "pos":
        return POSITIVE
    if name == "sym":
        return SYMMETRIC
    if name == "her":
        return HERMITIAN
    return UNKNOWN


def _structure_of_solve(name):
    if name == "positive definite":
        return POSITIVE
    if name == "symmetric":
        return SYMMETRIC
    if name == "hermitian":
        return HERMITIAN
    if name == "tridiagonal":
        return TRIDIAGONAL
    if name == "banded":
        return GENERAL
    kind = _structure(name)
    if kind == UNKNOWN:
        raise ValueError(name + " is not a recognized matrix structure")
    return kind


def _seen(a):
    # The structure of a matrix that was not named.
    if is_triangle(a, False):
        return UPPER
    return LOWER if is_triangle(a, True) else GENERAL


def _element(a, i, j, kind, lower):
    zero = prim.cast(0, prim.dtype_of(a))
    if kind == DIAGONAL:
        return prim.item(a, i, j) if i == j else zero
    if kind == TRIDIAGONAL:
        return prim.item(a, i, j) if i - j <= 1 and j - i <= 1 else zero
    if kind == UPPER:
        return prim.item(a, i, j) if i <= j else zero
    if kind == LOWER:
        return prim.item(a, i, j) if i >= j else zero
    if kind == GENERAL or (i > j) == lower or i == j:
        x = prim.item(a, i, j)
        if prim.is_complex(x) and kind == HERMITIAN and i == j:
            return prim.complex(x.real, x.imag - x.imag)
        return x
    return prim.item(a, j, i) if kind == SYMMETRIC else conj(prim.item(a, j, i))


def _elements(a, kind, lower, transposed, dtype):
    # A copy of the elements that count, those of the other triangle as the structure says.
    n = a.shape[0]
    out = new_array((n, n), dtype)
    for i in range(n):
        for j in range(n):
            x = prim.cast(_element(a, i, j, kind, lower), dtype)
            prim.set_item(out, j if transposed else i, i if transposed else j, x)
    return out


def _solve_into(t, kind, lower, b):
    # Solves in place, destroying the matrix; false if it is singular.
    if kind == POSITIVE:
        if cholesky_in_place(t, lower) > 0:
            return False
        solve_by_cholesky(t, lower, b)
        return True
    if kind == DIAGONAL or kind == UPPER or kind == LOWER:
        if has_zero_pivot(t):
            return False
        back_substitute(t, kind == LOWER, False, b, False)
        return True
    rows = factor(t)
    if has_zero_pivot(t):
        return False
    c = copy_c(b, prim.dtype_of(b))
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            prim.set_item(b, i, j, prim.item(c, prim.item(rows, i), j))
    back_substitute(t, True, True, b, False)
    back_substitute(t, False, False, b, False)
    return True


def _solve_stack(xs, kind, lower, transposed, rights):
    # The structure is -1 if it was not named.
    dtype = prim.dtype_of(rights)
    for k in range(rights.shape[0]):
        own = _seen(xs[k]) if kind < 0 else kind
        turned = transposed and own != POSITIVE and own != SYMMETRIC and own != HERMITIAN
        t = _elements(xs[k], own, lower, turned, dtype)
        if turned and (own == UPPER or own == LOWER):
            own = LOWER if own == UPPER else UPPER
        if not _solve_into(t, own, lower, rights[k]):
            raise np.linalg.LinAlgError(
                "A singular matrix detected: slice(s) [" + str(k) + "] are singular."
            )  # fmt: skip


def _check_square(x):
    if x.shape[x.ndim - 1] != x.shape[x.ndim - 2]:
        raise ValueError("Expected square matrix, got a1.shape=" + text_of_shape(x.shape))


def solve(
    a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None, transposed=False
):  # fmt: skip
    """Solution of a linear system, or of a stack of them; `assume_a` names the structure of the matrix.

    >>> scipy.linalg.solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 4.0]))
    array([1., 1.])
    """
    kind = -1 if assume_a is None else _structure_of_solve(assume_a)
    x, y = checked(a, check_finite), checked(b, check_finite)
    check_rank(x)
    check_right(y)
    _check_square(x)
    dtype = inexact_dtype(prim.result_type(prim.dtype_of(x), prim.dtype_of(y)))
    if prim.is_complex(dtype) and flag_of(transposed):
        raise NotImplementedError(
            "scipy.linalg.solve can currently not solve a^T x = b or a^H x = b for complex matrices."
        )
    n = x.shape[x.ndim - 1]
    if rows_of(y) != n and x.size != 1:
        raise ValueError(
            "incompatible shapes: a1.shape=" + text_of_shape(x.shape) + " and b1.shape="
            + text_of_shape((y.shape[0], 1) if y.ndim == 1 else y.shape)
        )  # fmt: skip
    lead = lead_of(x, y)
    out, rights = right_sides(y, lead, dtype)
    if out.size > 0 and x.size == 1:
        pivot = prim.cast(prim.item(matrices(x), 0, 0, 0), dtype)
        if pivot == prim.cast(0, dtype):
            raise np.linalg.LinAlgError("A singular matrix detected.")
        copy_into(out, out / pivot)
    elif out.size > 0 and count(lead) * n > 0:
        _solve_stack(spread(x, lead), kind, flag_of(lower), flag_of(transposed), rights)
    return out


def inv(a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    """Inverse of a matrix, or of a stack of them; `assume_a` names the structure of the matrix.

    >>> scipy.linalg.inv(np.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    x = checked(a, check_finite)
    check_rank(x)
    _check_square(x)
    kind = -1 if assume_a is None else _structure(assume_a)
    if kind == UNKNOWN:
        raise KeyError(assume_a)
    out = new_zeros(x.shape, lapack_dtype(prim.dtype_of(x)))
    outs = matrices(out)
    for k in range(outs.shape[0]):
        for i in range(outs.shape[1]):
            prim.set_item(outs, k, i, i, prim.cast(1, prim.dtype_of(out)))
    if out.size > 0:
        _solve_stack(matrices(x), kind, flag_of(lower), False, outs)
    return out


def det(a, overwrite_a=False, check_finite=True):
    """Determinant of a matrix, or of a stack of them, in double precision.

    >>> scipy.linalg.det(np.array([[1.0, 2.0], [4.0, 4.0]]))
    np.float64(-4.0)
    """
    x = checked(a, check_finite)
    check_rank(x)
    if x.shape[x.ndim - 1] != x.shape[x.ndim - 2]:
        raise ValueError(
            "Last 2 dimensions of the array must be square but received shape " + text_of_shape(x.shape) + "."
        )  # fmt: skip
    return np.linalg.det(asarray(x, np.complex128 if prim.is_complex(prim.dtype_of(x)) else np.float64))
