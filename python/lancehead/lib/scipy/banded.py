"""Systems of equations of `scipy.linalg` whose matrices are given by their diagonals."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import flag_of, index_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import copy_c, new_array, new_zeros, with_shape
from lancehead.lib.numpy.stacks import conj, magnitude
from lancehead.lib.scipy.operands import check_right, check_single, checked, inexact_dtype, lapack_dtype_of, right_sides


def _check_both(x, y):
    check_right(y)
    check_single(x)
    if y.ndim > 2:
        prim.error("right-hand sides have one or two dimensions here")
    if x.shape[1] != y.shape[0]:
        raise ValueError("shapes of ab and b are not compatible.")


def _eliminate_band(a, below, above, b):
    # Gaussian elimination with exchanges of rows, in place. Row `i` of `a` has the columns from `i - below` on, with
    # room for those that exchanges bring in.
    n, zero = a.shape[0], prim.cast(0, prim.dtype_of(a))
    for k in range(n):
        last = k + below if k + below < n - 1 else n - 1
        end = k + above + below if k + above + below < n - 1 else n - 1
        best = k
        for i in range(k + 1, last + 1):
            if magnitude(prim.item(a, i, k - i + below)) > magnitude(prim.item(a, best, k - best + below)):
                best = i
        pivot = prim.item(a, best, k - best + below)
        if pivot == zero:
            raise np.linalg.LinAlgError("singular matrix")
        if best != k:
            for j in range(k, end + 1):
                x = prim.item(a, k, j - k + below)
                prim.set_item(a, k, j - k + below, prim.item(a, best, j - best + below))
                prim.set_item(a, best, j - best + below, x)
            for j in range(b.shape[1]):
                x = prim.item(b, k, j)
                prim.set_item(b, k, j, prim.item(b, best, j))
                prim.set_item(b, best, j, x)
        for i in range(k + 1, last + 1):
            x = prim.item(a, i, k - i + below) / pivot
            for j in range(k + 1, end + 1):
                y = prim.item(a, i, j - i + below) - x * prim.item(a, k, j - k + below)
                prim.set_item(a, i, j - i + below, y)
            for j in range(b.shape[1]):
                prim.set_item(b, i, j, prim.item(b, i, j) - x * prim.item(b, k, j))


def _substitute_band(a, below, above, b):
    n = a.shape[0]
    for step in range(n):
        i = n - 1 - step
        for k in range(i + 1, i + above + below + 1 if i + above + below < n else n):
            x = prim.item(a, i, k - i + below)
            for j in range(b.shape[1]):
                prim.set_item(b, i, j, prim.item(b, i, j) - x * prim.item(b, k, j))
        for j in range(b.shape[1]):
            prim.set_item(b, i, j, prim.item(b, i, j) / prim.item(a, i, below))


def solve_banded(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    """Solution of a linear system whose matrix is given by its diagonals, the uppermost first, each at its columns.

    >>> scipy.linalg.solve_banded((1, 0), np.array([[1.0, 2.0], [1.0, 0.0]]), np.array([1.0, 3.0]))
    array([1., 1.])
    """
    below, above = index_of(l_and_u[0]), index_of(l_and_u[1])
    x, y = checked(ab, check_finite), checked(b, check_finite)
    _check_both(x, y)
    if below + above + 1 != x.shape[0]:
        raise ValueError(
            "invalid values for the number of lower and upper diagonals: l+u+1 (" + str(below + above + 1)
            + ") does not equal ab.shape[0] (" + str(x.shape[0]) + ")"
        )  # fmt: skip
    if below < 0 or above < 0:
        raise ValueError("negative numbers of diagonals")
    dtype = prim.result_type(inexact_dtype(prim.dtype_of(x)), inexact_dtype(prim.dtype_of(y)))
    out, rights = right_sides(y, (), dtype)
    n = x.shape[1]
    if out.size == 0:
        return out
    if n == 1:
        return out / prim.cast(prim.item(x, above, 0), dtype)
    rows = new_zeros((n, 2 * below + above + 1), dtype)
    for i in range(n):
        for j in range(i - below if i > below else 0, i + above + 1 if i + above < n else n):
            prim.set_item(rows, i, j - i + below, prim.cast(prim.item(x, above + i - j, j), dtype))
    _eliminate_band(rows, below, above, rights[0])
    _substitute_band(rows, below, above, rights[0])
    return out


def solveh_banded(ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True):
    """Solution of a linear system whose matrix is positive definite and given by the diagonals of one triangle.

    >>> scipy.linalg.solveh_banded(np.array([[0.0, 1.0], [2.0, 2.0]]), np.array([3.0, 3.0]))
    array([1., 1.])
    """
    x, y = checked(ab, check_finite), checked(b, check_finite)
    _check_both(x, y)
    dtype = lapack_dtype_of(x, y)
    out, rights = right_sides(y, (), dtype)
    if out.size > 0:
        width, n = x.shape[0] - 1, x.shape[1]
        # Row `i` has the columns from `i - width` to `i` of the lower triangle.
        f = new_zeros((n, width + 1), dtype)
        left = flag_of(lower)
        for i in range(n):
            for j in range(i - width if i > width else 0, i + 1):
                z = prim.item(x, i - j if left else width + j - i, j if left else i)
                prim.set_item(f, i, j - i + width, prim.cast(z if left else conj(z), dtype))
        _factor_positive_band(f)
        _solve_positive_band(f, rights[0])
    return out


def _factor_positive_band(f):
    n, width = f.shape[0], f.shape[1] - 1
    for i in range(n):
        first = i - width if i > width else 0
        for j in range(first, i + 1):
            s = prim.item(f, i, j - i + width)
            low = j - width if j - width > first else first
            for k in range(low, j):
                s -= prim.item(f, i, k - i + width) * conj(prim.item(f, j, k - j + width))
            if j < i:
                prim.set_item(f, i, j - i + width, s / prim.item(f, j, width))
            elif s.real > 0.0:
                prim.set_item(f, i, width, prim.cast(prim.sqrt(s.real), prim.dtype_of(f)))
            else:
                raise np.linalg.LinAlgError(str(i + 1) + "th leading minor not positive definite")


def _solve_positive_band(f, b):
    n, width = f.shape[0], f.shape[1] - 1
    for i in range(n):
        for k in range(i - width if i > width else 0, i):
            for j in range(b.shape[1]):
                x = prim.item(f, i, k - i + width) * prim.item(b, k, j)
                prim.set_item(b, i, j, prim.item(b, i, j) - x)
        for j in range(b.shape[1]):
            prim.set_item(b, i, j, prim.item(b, i, j) / prim.item(f, i, width))
    for step in range(n):
        i = n - 1 - step
        for k in range(i + 1, i + width + 1 if i + width < n else n):
            for j in range(b.shape[1]):
                x = conj(prim.item(f, k, i - k + width)) * prim.item(b, k, j)
                prim.set_item(b, i, j, prim.item(b, i, j) - x)
        for j in range(b.shape[1]):
            prim.set_item(b, i, j, prim.item(b, i, j) / prim.item(f, i, width))


def _levinson(column, row, b):
    # The recursion of Levinson and Durbin. Vectors `forward` and `backward` solve for the first and the last unit
    # vector; each step makes them longer by one, and with them the solution.
    n, dtype = b.shape[0], prim.dtype_of(b)
    zero, one = prim.cast(0, dtype), prim.cast(1, dtype)
    forward, backward = new_zeros((n,), dtype), new_zeros((n,), dtype)
    x = new_zeros(b.shape, dtype)
    if prim.item(column, 0) == zero:
        raise np.linalg.LinAlgError("Singular principal minor")
    prim.set_item(forward, 0, one / prim.item(column, 0))
    prim.set_item(backward, 0, one / prim.item(column, 0))
    for j in range(b.shape[1]):
        prim.set_item(x, 0, j, prim.item(b, 0, j) / prim.item(column, 0))
    for m in range(1, n):
        wrong, other = zero, zero
        for i in range(m):
            wrong += prim.item(column, m - i) * prim.item(forward, i)
            other += prim.item(row, i + 1) * prim.item(backward, i)
        size = one - wrong * other
        if size == zero:
            raise np.linalg.LinAlgError("Singular principal minor")
        # The backward vector moves by one place, from its end on.
        for step in range(m + 1):
            i = m - step
            f = prim.item(forward, i) if i < m else zero
            g = prim.item(backward, i - 1) if i > 0 else zero
            prim.set_item(forward, i, (f - wrong * g) / size)
            prim.set_item(backward, i, (g - other * f) / size)
        for j in range(b.shape[1]):
            rest = prim.item(b, m, j)
            for i in range(m):
                rest -= prim.item(column, m - i) * prim.item(x, i, j)
            for i in range(m + 1):
                prim.set_item(x, i, j, prim.item(x, i, j) + rest * prim.item(backward, i))
    return x


def solve_toeplitz(c_or_cr, b, check_finite=True):
    """Solution of a linear system whose matrix has constant diagonals, of its first column, or of a tuple of it and the
    first row, by Levinson's recursion.

    >>> scipy.linalg.solve_toeplitz(np.array([2.0, 1.0]), np.array([3.0, 3.0]))
    array([1., 1.])
    """
    if prim.is_tuple(c_or_cr):
        c, r = checked(c_or_cr[0], check_finite), checked(c_or_cr[1], check_finite)
    else:
        c, r = checked(c_or_cr, check_finite), np.conjugate(asarray(c_or_cr))
    y = checked(b, check_finite)
    check_right(y)
    if c.ndim != 1 or r.ndim != 1 or y.ndim > 2:
        prim.error("`solve_toeplitz` takes vectors and right-hand sides of one or two dimensions here")
    if r.size != c.size or y.shape[0] != r.size:
        raise ValueError("Incompatible dimensions.")
    common = prim.result_type(prim.dtype_of(c), prim.dtype_of(r), prim.dtype_of(y))
    dtype = np.complex128 if prim.is_complex(common) else np.float64
    if y.size == 0:
        return new_array(y.shape, dtype)
    right = copy_c(y, dtype)
    columns = with_shape(right, (y.size, 1)) if y.ndim == 1 else right
    return with_shape(_levinson(asarray(c, dtype), asarray(r, dtype), columns), y.shape)
