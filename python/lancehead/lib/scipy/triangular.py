"""Factors of `scipy.linalg` that are triangles, and systems of equations with them.

Small matrices, and all in kernels, are handled here; others by the run-time library (`numpy/factors.py`)."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import check_flag, index_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.factors import columns_of, conjugate_in_place, is_singular, solve_triangle
from lancehead.lib.numpy.factors import lu as lu_of_columns
from lancehead.lib.numpy.layout import copy_c, copy_into, new_array, new_zeros, with_shape
from lancehead.lib.numpy.solving import SMALL
from lancehead.lib.numpy.stacks import conj, magnitude, matrices, real_dtype, swap_rows, vectors
from lancehead.lib.scipy.operands import (
    check_batch,
    check_rank,
    check_right,
    check_single,
    checked,
    lapack_dtype,
    lapack_dtype_of,
    lead_of,
    right_sides,
    rows_of,
    side_of,
    spread,
    text_of_shape,
)


def _eliminate(a, rows):
    # LU with partial pivoting in place. As in LAPACK, a column of zeros has no factors, and the rest goes on.
    m, n = a.shape
    zero = prim.cast(0, prim.dtype_of(a))
    for i in range(m):
        prim.set_item(rows, i, i)
    for k in range(m if m < n else n):
        best = k
        for i in range(k + 1, m):
            if magnitude(prim.item(a, i, k)) > magnitude(prim.item(a, best, k)):
                best = i
        if best != k:
            swap_rows(a, k, best)
            row = prim.item(rows, k)
            prim.set_item(rows, k, prim.item(rows, best))
            prim.set_item(rows, best, row)
        pivot = prim.item(a, k, k)
        if pivot != zero:
            for i in range(k + 1, m):
                x = prim.item(a, i, k) / pivot
                prim.set_item(a, i, k, x)
                for j in range(k + 1, n):
                    prim.set_item(a, i, j, prim.item(a, i, j) - x * prim.item(a, k, j))


def has_zero_pivot(f):
    """Whether there is a zero on the diagonal of the upper factor."""
    least = f.shape[0] if f.shape[0] < f.shape[1] else f.shape[1]
    return is_singular(f[:least])


def factor(a):
    """Puts the factors of a row-major matrix in its place; where each row comes from."""
    rows = new_array((a.shape[0],), np.int64)
    if not prim.in_kernel():
        if a.shape[0] > SMALL and a.shape[1] > 0:
            f = columns_of(a, prim.dtype_of(a))
            order, _ = lu_of_columns(f)
            # The run-time library divides by a pivot that is zero.
            if not has_zero_pivot(f):
                copy_into(a, f)
                return order
    _eliminate(a, rows)
    return rows


def _substitute(t, lower, unit, b):
    n, k = b.shape
    for step in range(n):
        i = step if lower else n - 1 - step
        for r in range(0 if lower else i + 1, i if lower else n):
            x = prim.item(t, i, r)
            for j in range(k):
                prim.set_item(b, i, j, prim.item(b, i, j) - x * prim.item(b, r, j))
        if not unit:
            pivot = prim.item(t, i, i)
            for j in range(k):
                prim.set_item(b, i, j, prim.item(b, i, j) / pivot)


def _conjugated(t):
    out = copy_c(t, prim.dtype_of(t))
    conjugate_in_place(out)
    return out


def back_substitute(t, lower, unit, b, conjugated):
    """Solves with a triangle of a matrix, or of its conjugate; the right-hand sides become the solutions."""
    if not prim.in_kernel():
        if b.shape[0] > SMALL:
            dtype = prim.dtype_of(b)
            f, x = columns_of(t, dtype), columns_of(b, dtype)
            if conjugated:
                conjugate_in_place(f)
            solve_triangle(f, lower, unit, x)
            copy_into(b, x)
            return
    _substitute(_conjugated(t) if conjugated else t, lower, unit, b)


def _factored(a, check_finite):
    # A copy of a matrix, or of a stack, in which factors are; and where each row comes from.
    x = checked(a, check_finite)
    check_rank(x)
    f = copy_c(x, lapack_dtype(prim.dtype_of(x)))
    rows = new_array(x.shape[:-1], np.int64)
    fs, orders = matrices(f), vectors(rows)
    for k in range(fs.shape[0]):
        copy_into(orders[k], factor(fs[k]))
    return f, rows


def _part(f, lower):
    # The lower triangle with ones on the diagonal, or the upper one.
    least = f.shape[1] if f.shape[1] < f.shape[2] else f.shape[2]
    out = new_zeros((f.shape[0], f.shape[1] if lower else least, least if lower else f.shape[2]), prim.dtype_of(f))
    for k in range(out.shape[0]):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                if i == j and lower:
                    prim.set_item(out, k, i, j, prim.cast(1, prim.dtype_of(f)))
                elif (i > j) == lower:
                    prim.set_item(out, k, i, j, prim.item(f, k, i, j))
    return out


def _reordered(lower, rows):
    out = new_array(lower.shape, prim.dtype_of(lower))
    for k in range(out.shape[0]):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                prim.set_item(out, k, prim.item(rows, k, i), j, prim.item(lower, k, i, j))
    return out


def lu(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    """Permutation, lower and upper triangular factor of a matrix, or of a stack; or two, the first one permuted.

    The permutation is a matrix of zeros and ones, or with `p_indices` the rows of the lower factor in the order of the
    matrix.

    >>> scipy.linalg.lu(np.array([[1.0, 2.0], [4.0, 4.0]]))[2]
    array([[4., 4.],
           [0., 1.]])
    """
    f, rows = _factored(a, check_finite)
    fs, orders = matrices(f), vectors(rows)
    m, n, lead = f.shape[f.ndim - 2], f.shape[f.ndim - 1], f.shape[:-2]
    least = m if m < n else n
    lower, upper = _part(fs, True), with_shape(_part(fs, False), lead + (least, n))
    if permute_l:
        return with_shape(_reordered(lower, orders), lead + (m, least)), upper
    lower = with_shape(lower, lead + (m, least))
    # As SciPy, of a matrix without elements no permutation.
    size = m if n > 0 else 0
    if p_indices:
        places = new_array(lead + (size,), np.int32)
        indices = vectors(places)
        for k in range(indices.shape[0]):
            for i in range(size):
                prim.set_item(indices, k, prim.item(orders, k, i), prim.cast(i, np.int32))
        return places, lower, upper
    p = new_zeros(lead + (size, size), real_dtype(prim.dtype_of(f)))
    ps = matrices(p)
    for k in range(ps.shape[0]):
        for i in range(size):
            prim.set_item(ps, k, prim.item(orders, k, i), i, prim.cast(1, prim.dtype_of(p)))
    return p, lower, upper


def _exchanges_into(pivots, rows):
    # The order of rows as exchanges of each row with a later one.
    m = rows.size
    here, place = new_array((m,), np.int64), new_array((m,), np.int64)
    for i in range(m):
        prim.set_item(here, i, i)
        prim.set_item(place, i, i)
    for i in range(pivots.size):
        j = prim.item(place, prim.item(rows, i))
        prim.set_item(pivots, i, prim.cast(j, np.int32))
        moved = prim.item(here, i)
        prim.set_item(here, j, moved)
        prim.set_item(place, moved, j)


def lu_factor(a, overwrite_a=False, check_finite=True):
    """Triangular factors of a matrix, or of a stack, in one array, and the rows with which each row was exchanged.

    >>> scipy.linalg.lu_factor(np.array([[1.0, 2.0], [4.0, 4.0]]))
    (array([[4.  , 4.  ],
           [0.25, 1.  ]]), array([1, 1], dtype=int32))
    """
    check_flag(overwrite_a)
    f, rows = _factored(a, check_finite)
    check_batch(f, "lu_factor")
    m, n = f.shape[f.ndim - 2], f.shape[f.ndim - 1]
    pivots = new_array(f.shape[:-2] + (m if m < n else n,), np.int32)
    ps, orders = vectors(pivots), vectors(rows)
    for k in range(ps.shape[0]):
        _exchanges_into(ps[k], orders[k])
    return f, pivots


def _exchange(b, pivots, backwards):
    n = pivots.size
    for step in range(n):
        i = n - 1 - step if backwards else step
        j = int(prim.item(pivots, i))
        if j < 0 or j >= b.shape[0]:
            raise ValueError("a pivot is no row")
        if j != i:
            swap_rows(b, i, j)


def _kind_of_system(trans):
    # 0 for the matrix, 1 for its transpose, 2 for its adjoint.
    if prim.is_str(trans):
        if trans == "N":
            return 0
        if trans == "T":
            return 1
        if trans == "C":
            return 2
        raise ValueError("`trans` is 0, 1, 2, 'N', 'T' or 'C'")
    kind = index_of(trans)
    if kind < 0 or kind > 2:
        raise ValueError("(trans>=0 && trans <=2) failed")
    return kind


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """Solution of a linear system by the factors of `lu_factor`; with `trans` 1 or 2, of the transposed matrix or its
    adjoint.

    >>> scipy.linalg.lu_solve(scipy.linalg.lu_factor(np.array([[2.0, 0.0], [0.0, 4.0]])), np.array([2.0, 4.0]))
    array([1., 1.])
    """
    check_flag(overwrite_b)
    f, pivots = asarray(lu_and_piv[0]), asarray(lu_and_piv[1])
    y = checked(b, check_finite)
    check_rank(f)
    check_right(y)
    n = f.shape[f.ndim - 2]
    if prim.is_str(trans):
        prim.error("`trans` of `lu_solve` is 0, 1 or 2")
    kind = _kind_of_system(trans)
    if rows_of(y) != n:
        raise ValueError(
            "Shapes of lu " + text_of_shape(f.shape[-2:]) + " and b "
            + text_of_shape(y.shape if y.ndim == 1 else y.shape[-2:]) + " are incompatible"
        )  # fmt: skip
    if n != f.shape[f.ndim - 1] or pivots.shape[pivots.ndim - 1] != n:
        raise ValueError("the factors are of a matrix that is not square")
    dtype, lead = lapack_dtype_of(f, y), lead_of(f, y)
    out, rights = right_sides(y, lead, dtype)
    fs, ps = spread(f, lead), vectors(np.broadcast_to(pivots, lead + (n,)))
    for k in range(rights.shape[0]):
        t = asarray(fs[k], dtype)
        if kind == 0:
            _exchange(rights[k], ps[k], False)
            back_substitute(t, True, True, rights[k], False)
            back_substitute(t, False, False, rights[k], False)
        else:
            back_substitute(t.T, True, False, rights[k], kind == 2)
            back_substitute(t.T, False, True, rights[k], kind == 2)
            _exchange(rights[k], ps[k], True)
    return out


def _check_triangle(t):
    for i in range(t.shape[0]):
        if prim.item(t, i, i) == prim.cast(0, prim.dtype_of(t)):
            raise np.linalg.LinAlgError("singular matrix: resolution failed at diagonal " + str(i))


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    """Solution of a system with a triangle of a matrix, or of a stack; with `trans`, of its transpose or adjoint.

    >>> scipy.linalg.solve_triangular(np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([3.0, 4.0]))
    array([1., 1.])
    """
    check_flag(overwrite_b)
    x, y = checked(a, check_finite), checked(b, check_finite)
    check_rank(x)
    check_right(y)
    n = x.shape[x.ndim - 1]
    if x.shape[x.ndim - 2] != n:
        raise ValueError("expected square matrix")
    if rows_of(y) != n:
        raise ValueError(
            "shapes of a " + text_of_shape(x.shape[-2:]) + " and b "
            + text_of_shape(y.shape if y.ndim == 1 else y.shape[-2:]) + " are incompatible"
        )  # fmt: skip
    kind, left, unit = _kind_of_system(trans), side_of(lower), side_of(unit_diagonal)
    lead = lead_of(x, y)
    out, rights = right_sides(y, lead, lapack_dtype_of(x, y))
    xs = spread(x, lead)
    for k in range(rights.shape[0] if out.size > 0 else 0):
        t = asarray(xs[k], prim.dtype_of(out))
        if not unit:
            _check_triangle(t)
        if kind == 0:
            back_substitute(t, left, unit, rights[k], False)
        else:
            back_substitute(t.T, not left, unit, rights[k], kind == 2)
    return out


def cholesky_in_place(a, lower):
    """Puts the factor of a positive definite matrix over its lower or upper triangle, leaving the other one. The
    result is the order of the leading minor that is not positive, or 0."""
    t = a if lower else a.T
    dtype = prim.dtype_of(a)
    if not prim.in_kernel():
        if a.shape[0] > SMALL:
            f = columns_of(t, dtype)
            if not lower:
                conjugate_in_place(f)
            if prim.lh_cholesky(dtype, f.shape[0], prim.data(f)) == 0:
                if not lower:
                    conjugate_in_place(f)
                for j in range(a.shape[0]):
                    for i in range(j, a.shape[0]):
                        prim.set_item(t, i, j, prim.item(f, i, j))
                return 0
    # Of an upper triangle the rows of `t` are those of the conjugate of the lower factor, which has the same products.
    for j in range(a.shape[0]):
        d = prim.item(t, j, j).real
        for k in range(j):
            x = prim.item(t, j, k)
            d -= (x * conj(x)).real
        if not d > 0.0:
            return j + 1
        root = prim.cast(prim.sqrt(d), dtype)
        prim.set_item(t, j, j, root)
        for i in range(j + 1, a.shape[0]):
            s = prim.item(t, i, j)
            for k in range(j):
                s -= prim.item(t, i, k) * conj(prim.item(t, j, k))
            prim.set_item(t, i, j, s / root)
    return 0


def _cholesky(a, lower, check_finite):
    x = checked(a, check_finite)
    if x.ndim == 0:
        return _cholesky(with_shape(x, (1, 1)), lower, False)
    if x.ndim == 1:
        return _cholesky(with_shape(copy_c(x, prim.dtype_of(x)), (1, x.size)), lower, False)
    if x.shape[x.ndim - 1] != x.shape[x.ndim - 2]:
        raise ValueError(
            "Input array is expected to be square but has the shape: " + text_of_shape(x.shape[-2:]) + "."
        )  # fmt: skip
    check_batch(x, "cholesky")
    out = copy_c(x, lapack_dtype(prim.dtype_of(x)))
    outs = matrices(out)
    for k in range(outs.shape[0]):
        minor = cholesky_in_place(outs[k], lower)
        if minor > 0:
            raise np.linalg.LinAlgError(str(minor) + "-th leading minor of the array is not positive definite")
    return out


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """Upper or lower triangular factor of a positive definite matrix, or of a stack, of which one triangle is read.

    >>> scipy.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 1.],
           [0., 2.]])
    """
    check_flag(overwrite_a)
    left = side_of(lower)
    out = _cholesky(a, left, check_finite)
    outs = matrices(out)
    for k in range(outs.shape[0]):
        for i in range(outs.shape[1]):
            for j in range(i):
                prim.set_item(outs, k, j if left else i, i if left else j, prim.cast(0, prim.dtype_of(out)))
    return out


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """Triangular factor of a positive definite matrix over one of its triangles, and whether it is the lower one.

    >>> scipy.linalg.cho_factor(np.array([[4.0, 2.0], [2.0, 5.0]]))
    (array([[2., 1.],
           [2., 2.]]), False)
    """
    check_flag(overwrite_a)
    out = _cholesky(a, side_of(lower), check_finite)
    check_single(out)
    return out, lower


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """Solution of a linear system by the factor of `cho_factor`.

    >>> scipy.linalg.cho_solve((np.array([[2.0, 0.0], [0.0, 2.0]]), False), np.array([4.0, 8.0]))
    array([1., 2.])
    """
    check_flag(overwrite_b)
    y, x = checked(b, check_finite), checked(c_and_lower[0], check_finite)
    check_rank(x)
    check_right(y)
    n, lower = x.shape[x.ndim - 1], side_of(c_and_lower[1])
    if x.shape[x.ndim - 2] != n:
        raise ValueError("The factored matrix c is not square.")
    if rows_of(y) != n:
        raise ValueError(
            "incompatible dimensions (" + text_of_shape(x.shape[-2:]) + " and "
            + text_of_shape(y.shape if y.ndim == 1 else y.shape[-2:]) + ")"
        )  # fmt: skip
    lead = lead_of(x, y)
    out, rights = right_sides(y, lead, lapack_dtype_of(x, y))
    xs = spread(x, lead)
    for k in range(rights.shape[0]):
        solve_by_cholesky(asarray(xs[k], prim.dtype_of(out)), lower, rights[k])
    return out


def solve_by_cholesky(t, lower, b):
    """Solves with a factor in one of the triangles; the right-hand sides become the solutions."""
    if lower:
        back_substitute(t, True, False, b, False)
        back_substitute(t.T, False, False, b, True)
    else:
        back_substitute(t.T, True, False, b, True)
        back_substitute(t, False, False, b, False)
