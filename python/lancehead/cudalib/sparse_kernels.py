"""The loops of cuSPARSE on the CPU device that `lancehead.sparse` lacks, compiled: sparse vectors, sums, systems of
equations, incomplete factorisations. Indices are counted from 0 here."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np

from lancehead.decorators import njit


@njit
def axpyi(alpha, values, indices, y):
    """y[i] += alpha x[i]."""
    for p in range(indices.size):
        y[indices[p]] += alpha * values[p]


@njit
def doti(values, indices, y, conjugated):
    """The sum of products, of the conjugates of the sparse vector on request."""
    total = y.dtype.type(0)
    for p in range(indices.size):
        total += (np.conj(values[p]) if conjugated else values[p]) * y[indices[p]]
    return total


@njit
def gather(y, values, indices, clears):
    """The elements of y at the indices; `clears` makes these 0."""
    for p in range(indices.size):
        values[p] = y[indices[p]]
        if clears:
            y[indices[p]] = 0


@njit
def scatter(values, indices, y):
    """y[i] = x[i]."""
    for p in range(indices.size):
        y[indices[p]] = values[p]


@njit
def roti(values, indices, y, c, s):
    """x, y = c x + s y, c y - s x."""
    for p in range(indices.size):
        u, v = values[p], y[indices[p]]
        values[p] = c * u + s * v
        y[indices[p]] = c * v - s * u


@njit
def added(alpha, a, a_pointers, a_indices, beta, b, b_pointers, b_indices, rows, columns):
    """alpha A + beta B of sparse matrices, with columns in order in each row."""
    pointers, last = np.zeros(rows + 1, np.int32), np.full(columns, -1)
    most = a_pointers[rows] + b_pointers[rows]
    values, indices = np.empty(most, a.dtype), np.empty(most, np.int32)
    sums, end = np.zeros(columns, a.dtype), 0
    for i in range(rows):
        begin = end
        for p in range(a_pointers[i], a_pointers[i + 1]):
            j = a_indices[p]
            if last[j] != i:
                last[j], sums[j], indices[end] = i, 0, j
                end += 1
            sums[j] += alpha * a[p]
        for p in range(b_pointers[i], b_pointers[i + 1]):
            j = b_indices[p]
            if last[j] != i:
                last[j], sums[j], indices[end] = i, 0, j
                end += 1
            sums[j] += beta * b[p]
        _in_order(indices, values, sums, begin, end)
        pointers[i + 1] = end
    return values[:end], pointers, indices[:end]


@njit
def _in_order(indices, values, sums, begin, end):
    indices[begin:end] = np.sort(indices[begin:end])
    for p in range(begin, end):
        values[p] = sums[indices[p]]


@njit(error_model="numpy")
def solve(values, pointers, indices, rows, is_upper, is_unit, x):
    """Solves T X = B for one triangle T of a matrix, of which the other is not read; X is B before. Returns a row
    without an element on the diagonal, or -1."""
    for t in range(rows):
        i = rows - 1 - t if is_upper else t
        diagonal, has_diagonal = values.dtype.type(1), is_unit
        for p in range(pointers[i], pointers[i + 1]):
            j = indices[p]
            if j == i and not is_unit:
                diagonal, has_diagonal = values[p], True
            elif j > i if is_upper else j < i:
                for k in range(x.shape[1]):
                    x[i, k] -= values[p] * x[j, k]
        if not has_diagonal:
            return i
        for k in range(x.shape[1]):
            x[i, k] /= diagonal
    return -1


@njit
def _place(indices, begin, end, j):
    for p in range(begin, end):
        if indices[p] == j:
            return p
    return -1


@njit(error_model="numpy")
def incomplete_lu(values, pointers, indices, rows):
    """The factors of A = L U in the places that A has, in place. Returns a row whose pivot is 0 or not there, or -1."""
    for i in range(rows):
        begin, end = pointers[i], pointers[i + 1]
        for p in range(begin, end):
            k = indices[p]
            if k >= i:
                continue
            d = _place(indices, pointers[k], pointers[k + 1], k)
            values[p] /= values[d]
            for q in range(pointers[k], pointers[k + 1]):
                if indices[q] > k:
                    r = _place(indices, begin, end, indices[q])
                    if r >= 0:
                        values[r] -= values[p] * values[q]
        d = _place(indices, begin, end, i)
        if d < 0 or values[d] == 0:
            return i
    return -1


@njit(error_model="numpy")
def incomplete_cholesky(values, pointers, indices, rows):
    """The lower factor of A = L L^H in the places that the lower triangle of A has, in place. Returns a row whose pivot
    is not positive or not there, or -1."""
    for i in range(rows):
        begin, end = pointers[i], pointers[i + 1]
        for p in range(begin, end):
            k = indices[p]
            if k > i:
                continue
            total = values[p]
            for q in range(pointers[k], pointers[k + 1]):
                if indices[q] < k:
                    r = _place(indices, begin, end, indices[q])
                    if r >= 0:
                        total -= values[r] * np.conj(values[q])
            if k < i:
                d = _place(indices, pointers[k], pointers[k + 1], k)
                values[p] = total / values[d]
            else:
                if not total.real > 0:
                    return i
                values[p] = np.sqrt(total.real)
        if _place(indices, begin, end, i) < 0:
            return i
    return -1


@njit(error_model="numpy")
def tridiagonal(low, diagonal, high, x, pivots):
    """Solves a system of three diagonals; X is B before. Rows change places for the greater pivot on request."""
    n = diagonal.size
    l, d, u, far = low.copy(), diagonal.copy(), high.copy(), np.zeros(n, diagonal.dtype)  # noqa: E741
    for i in range(n - 1):
        if pivots and abs(l[i + 1]) > abs(d[i]):
            d[i], l[i + 1] = l[i + 1], d[i]
            u[i], d[i + 1] = d[i + 1], u[i]
            far[i], u[i + 1] = u[i + 1], far[i]
            for k in range(x.shape[1]):
                x[i, k], x[i + 1, k] = x[i + 1, k], x[i, k]
        factor = l[i + 1] / d[i]
        d[i + 1] -= factor * u[i]
        u[i + 1] -= factor * far[i]
        for k in range(x.shape[1]):
            x[i + 1, k] -= factor * x[i, k]
    for t in range(n):
        i = n - 1 - t
        for k in range(x.shape[1]):
            v = x[i, k]
            if i + 1 < n:
                v -= u[i] * x[i + 1, k]
            if i + 2 < n:
                v -= far[i] * x[i + 2, k]
            x[i, k] = v / d[i]
