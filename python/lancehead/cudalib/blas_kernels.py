"""The loops of BLAS on the CPU device that NumPy lacks or has more slowly, compiled for each type of numbers.

Triangles are stored in three ways: as part of a matrix, as a band, packed. In each of them a column is without gaps, so
that one loop handles all three: `column` says where a column begins in memory and which rows it has.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np

from lancehead.decorators import njit
from lancehead.lib.scipy.triangular import back_substitute

DENSE, BAND, PACKED = 0, 1, 2
#: Sums have no order that BLAS says.
_ANY_ORDER = {"reassoc", "contract"}


@njit(error_model="numpy")
def column(layout, n, k, ld, j, is_upper):
    """Where the stored part of a column of a triangle is: the place of its first element, its first row, the row after
    its last."""
    if layout == DENSE:
        return (j * ld, 0, j + 1) if is_upper else (j * ld + j, j, n)
    if layout == BAND:
        if is_upper:
            first = max(0, j - k)
            return j * ld + k + first - j, first, j + 1
        return j * ld, j, min(n, j + k + 1)
    if is_upper:
        return j * (j + 1) // 2, 0, j + 1
    return j * n - j * (j - 1) // 2, j, n


# --- Vectors ----------------------------------------------------------------------------------------------------------


@njit(error_model="numpy", fastmath=_ANY_ORDER)
def squares(x):
    """The sum of the squares of the sizes."""
    total = x.dtype.type(0).real
    for v in x:
        total += v.real * v.real + v.imag * v.imag
    return total


@njit(error_model="numpy")
def nrm2(x, least, most):
    """The norm; if the sum of the squares is not between two bounds, without overflow on the way."""
    total = squares(x)
    if least < total < most:
        return np.sqrt(total)
    zero = abs(x.dtype.type(0))
    largest = zero
    for v in x:
        size = abs(v)
        if not size <= largest:
            largest = size
    if largest == zero or not np.isfinite(largest):
        return largest
    total = zero
    for v in x:
        part = abs(v) / largest
        total += part * part
    return largest * np.sqrt(total)


@njit(error_model="numpy")
def axpy(alpha, x, y):
    """y = alpha x + y."""
    for i in range(x.size):
        y[i] += alpha * x[i]


@njit(error_model="numpy")
def size_of(v):
    """The size that BLAS compares and adds: of complex numbers the sum of the parts' sizes."""
    return abs(v.real) + abs(v.imag)


@njit(error_model="numpy")
def extreme(x, largest):
    """The place of the first element of the greatest or the least size; -1 if there is none."""
    found, best = -1, size_of(x.dtype.type(0))
    for i in range(x.size):
        size = size_of(x[i])
        if found < 0 or (size > best if largest else size < best):
            found, best = i, size
    return found


@njit(error_model="numpy", fastmath=_ANY_ORDER)
def asum(x):
    """The sum of the sizes."""
    total = size_of(x.dtype.type(0))
    for v in x:
        total += size_of(v)
    return total


@njit(error_model="numpy")
def rot(x, y, c, s):
    """x, y = c x + s y, -conj(s) x + c y."""
    for i in range(x.size):
        u, v = x[i], y[i]
        x[i] = c * u + s * v
        y[i] = c * v - np.conj(s) * u


@njit(error_model="numpy")
def rotm(x, y, h11, h21, h12, h22):
    """x, y = h11 x + h12 y, h21 x + h22 y."""
    for i in range(x.size):
        u, v = x[i], y[i]
        x[i] = h11 * u + h12 * v
        y[i] = h21 * u + h22 * v


# --- Matrices and vectors ---------------------------------------------------------------------------------------------


@njit(error_model="numpy", fastmath=_ANY_ORDER)
def gbmv(a, x, trans, m, kl, ku):
    """The product of a band, its transpose (1) or its conjugate transpose (2), and a vector."""
    n = a.shape[1]
    out = np.zeros(m if trans == 0 else n, a.dtype)
    for j in range(n):
        total = a.dtype.type(0)
        for i in range(max(0, j - ku), min(m, j + kl + 1)):
            v = a[ku + i - j, j]
            if trans == 0:
                out[i] += v * x[j]
            elif trans == 1:
                total += v * x[i]
            else:
                total += np.conj(v) * x[i]
        if trans != 0:
            out[j] = total
    return out


@njit(error_model="numpy", fastmath=_ANY_ORDER)
def symv(a, layout, n, k, ld, is_upper, is_hermitian, x):
    """The product of a symmetric or Hermitian matrix, of which one triangle is stored, and a vector."""
    out = np.zeros(n, a.dtype)
    for j in range(n):
        first, begin, end = column(layout, n, k, ld, j, is_upper)
        total = a.dtype.type(0)
        for i in range(begin, end):
            v = a[first + i - begin]
            if i == j:
                total += (a.dtype.type(v.real) if is_hermitian else v) * x[j]
            else:
                out[i] += v * x[j]
                total += (np.conj(v) if is_hermitian else v) * x[i]
        out[j] += total
    return out


@njit(error_model="numpy")
def trmv(a, layout, n, k, ld, is_upper, trans, is_unit, x):
    """x = op(A) x for a triangle A."""
    one = a.dtype.type(1)
    for t in range(n):
        j = t if is_upper == (trans == 0) else n - 1 - t
        first, begin, end = column(layout, n, k, ld, j, is_upper)
        diagonal = one if is_unit else a[first + j - begin]
        if trans == 0:
            for i in range(begin, end):
                if i != j:
                    x[i] += a[first + i - begin] * x[j]
            x[j] = diagonal * x[j]
        else:
            total = (np.conj(diagonal) if trans == 2 else diagonal) * x[j]
            for i in range(begin, end):
                if i != j:
                    v = a[first + i - begin]
                    total += (np.conj(v) if trans == 2 else v) * x[i]
            x[j] = total


@njit(error_model="numpy")
def trsv(a, layout, n, k, ld, is_upper, trans, is_unit, x):
    """Solves op(A) x = b for a triangle A; x is b before."""
    one = a.dtype.type(1)
    for t in range(n):
        j = n - 1 - t if is_upper == (trans == 0) else t
        first, begin, end = column(layout, n, k, ld, j, is_upper)
        diagonal = one if is_unit else a[first + j - begin]
        if trans == 0:
            x[j] = x[j] / diagonal
            for i in range(begin, end):
                if i != j:
                    x[i] -= a[first + i - begin] * x[j]
        else:
            total = x[j]
            for i in range(begin, end):
                if i != j:
                    v = a[first + i - begin]
                    total -= (np.conj(v) if trans == 2 else v) * x[i]
            x[j] = total / (np.conj(diagonal) if trans == 2 else diagonal)


@njit(error_model="numpy")
def ger(alpha, x, y, conjugated, a):
    """A = alpha x y^T + A, or with y's conjugates."""
    for j in range(a.shape[1]):
        v = alpha * (np.conj(y[j]) if conjugated else y[j])
        for i in range(a.shape[0]):
            a[i, j] += x[i] * v


@njit(error_model="numpy")
def syr(a, layout, n, ld, is_upper, is_hermitian, alpha, x, y, has_two):
    """A = alpha x y^T + A of one triangle; with `has_two` plus alpha y x^T, and with conjugates if it is Hermitian."""
    for j in range(n):
        first, begin, end = column(layout, n, 0, ld, j, is_upper)
        u = alpha * (np.conj(y[j]) if is_hermitian else y[j])
        w = (np.conj(alpha) * np.conj(x[j])) if is_hermitian else alpha * x[j]
        for i in range(begin, end):
            v = a[first + i - begin] + x[i] * u
            if has_two:
                v += y[i] * w
            a[first + i - begin] = a.dtype.type(v.real) if is_hermitian and i == j else v


# --- Matrices ---------------------------------------------------------------------------------------------------------


@njit(error_model="numpy")
def product(alpha, a, b, beta, c):
    """C = alpha A B + beta C; with beta of 0, C is not read."""
    found = a @ b
    if beta == 0:
        c[:] = alpha * found
    else:
        c[:] = alpha * found + beta * c


@njit(error_model="numpy")
def substitute(t, is_lower, is_unit, b, conjugated):
    """Solves T X = B for a triangle T, or its conjugate; B becomes X."""
    back_substitute(t, is_lower, is_unit, b, conjugated)


@njit(error_model="numpy")
def geam(alpha, a, beta, b, c):
    """C = alpha A + beta B, where what is multiplied by 0 is not read."""
    zero = c.dtype.type(0)
    for j in range(c.shape[1]):
        for i in range(c.shape[0]):
            v = alpha * a[i, j] if alpha != 0 else zero
            c[i, j] = v + beta * b[i, j] if beta != 0 else v
