"""The loops of cuSPARSE on the CPU device, compiled. Indices are counted from 0 here."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np

from lancehead.decorators import njit


@njit
def flaw(pointers, indices, rows, columns):
    """Checks the structure of a matrix: returns 0 if it is valid, 1 for bad pointers, 2 for a bad index."""
    ascends = pointers[0] == 0
    for i in range(rows):
        ascends &= pointers[i + 1] >= pointers[i]
    if not ascends or pointers[rows] > indices.size:
        return 1
    # Without a sign, a negative index is greater than any other.
    greatest = np.uint32(0)
    for p in range(pointers[rows]):
        greatest = max(greatest, np.uint32(indices[p]))
    return 2 if pointers[rows] > 0 and greatest >= columns else 0


@njit
def reached(indices, limit):
    """Whether all indices are in a range."""
    for i in indices:
        if not 0 <= i < limit:
            return False
    return True


# --- Sparse vectors ---------------------------------------------------------------------------------------------------


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


# --- Products ---------------------------------------------------------------------------------------------------------


@njit
def product(values, pointers, indices, rows, columns, trans, x):
    """op(A) X for a matrix X of which each column is one of a product."""
    out = np.zeros((rows if trans == 0 else columns, x.shape[1]), values.dtype)
    for i in range(rows):
        for p in range(pointers[i], pointers[i + 1]):
            v, j = values[p], indices[p]
            if trans == 0:
                for k in range(x.shape[1]):
                    out[i, k] += v * x[j, k]
            else:
                w = np.conj(v) if trans == 2 else v
                for k in range(x.shape[1]):
                    out[j, k] += w * x[i, k]
    return out


@njit(fastmath={"reassoc", "contract"})
def row_products(values, pointers, indices, rows, x):
    """A x for a vector."""
    out = np.empty(rows, values.dtype)
    for i in range(rows):
        total = values.dtype.type(0)
        for p in range(pointers[i], pointers[i + 1]):
            total += values[p] * x[indices[p]]
        out[i] = total
    return out


@njit
def blend(alpha, found, beta, out):
    """C = alpha found + beta C; with beta of 0, C is not read."""
    for j in range(out.shape[1]):
        for i in range(out.shape[0]):
            v = alpha * found[i, j]
            out[i, j] = v + beta * out[i, j] if beta != 0 else v


@njit
def transposed(values, pointers, indices, rows, columns):
    """The same matrix by columns: values, row indices, pointers. Rows of a column are in order."""
    count = pointers[rows]
    starts = np.zeros(columns + 1, np.int32)
    for p in range(count):
        starts[indices[p] + 1] += 1
    for j in range(columns):
        starts[j + 1] += starts[j]
    place, made, where = starts[:-1].copy(), np.empty(count, values.dtype), np.empty(count, np.int32)
    for i in range(rows):
        for p in range(pointers[i], pointers[i + 1]):
            j = indices[p]
            made[place[j]], where[place[j]] = values[p], i
            place[j] += 1
    return made, where, starts


@njit
def sparse_product(a, a_pointers, a_indices, b, b_pointers, b_indices, rows, columns):
    """A B of sparse matrices, with columns in order in each row."""
    pointers, last = np.zeros(rows + 1, np.int32), np.full(columns, -1)
    total = 0
    for i in range(rows):
        for p in range(a_pointers[i], a_pointers[i + 1]):
            k = a_indices[p]
            for q in range(b_pointers[k], b_pointers[k + 1]):
                if last[b_indices[q]] != i:
                    last[b_indices[q]] = i
                    total += 1
        pointers[i + 1] = total
    values, indices = np.empty(total, a.dtype), np.empty(total, np.int32)
    sums = np.zeros(columns, a.dtype)
    last[:] = -1
    for i in range(rows):
        end = pointers[i]
        for p in range(a_pointers[i], a_pointers[i + 1]):
            k = a_indices[p]
            for q in range(b_pointers[k], b_pointers[k + 1]):
                j = b_indices[q]
                if last[j] != i:
                    last[j], sums[j], indices[end] = i, 0, j
                    end += 1
                sums[j] += a[p] * b[q]
        _in_order(indices, values, sums, pointers[i], end)
    return values, pointers, indices


@njit
def _in_order(indices, values, sums, begin, end):
    indices[begin:end] = np.sort(indices[begin:end])
    for p in range(begin, end):
        values[p] = sums[indices[p]]


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


# --- Systems ----------------------------------------------------------------------------------------------------------


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


# --- Conversions ------------------------------------------------------------------------------------------------------


@njit
def from_rows(rows, count):
    """Pointers of row indices in order."""
    pointers = np.zeros(count + 1, np.int32)
    for i in rows:
        pointers[i + 1] += 1
    for i in range(count):
        pointers[i + 1] += pointers[i]
    return pointers


@njit
def to_rows(pointers, count):
    """Row indices of pointers."""
    rows = np.empty(pointers[count], np.int32)
    for i in range(count):
        for p in range(pointers[i], pointers[i + 1]):
            rows[p] = i
    return rows


@njit
def fill_dense(values, pointers, indices, rows, by_columns, out):
    """A matrix whose elements are all stored, of one by rows or by columns."""
    out[:] = 0
    for i in range(rows):
        for p in range(pointers[i], pointers[i + 1]):
            if by_columns:
                out[indices[p], i] = values[p]
            else:
                out[i, indices[p]] = values[p]


@njit
def counted(a, by_columns, counts):
    """How many elements of each row, or column, are not 0."""
    counts[:] = 0
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            if a[i, j] != 0:
                counts[j if by_columns else i] += 1


@njit
def from_dense(a):
    """The elements that are not 0, by rows."""
    rows, columns = a.shape
    counts = np.zeros(rows, np.int64)
    counted(a, False, counts)
    pointers = np.zeros(rows + 1, np.int32)
    for i in range(rows):
        pointers[i + 1] = pointers[i] + counts[i]
    values, indices = np.empty(pointers[rows], a.dtype), np.empty(pointers[rows], np.int32)
    place = pointers[:-1].copy()
    for j in range(columns):
        for i in range(rows):
            if a[i, j] != 0:
                values[place[i]], indices[place[i]] = a[i, j], j
                place[i] += 1
    return values, pointers, indices


@njit
def from_blocks(values, pointers, indices, block, by_columns):
    """The elements of a matrix of square blocks, by rows: those of a block are all stored."""
    block_rows = pointers.size - 1
    found = np.empty(values.size, values.dtype)
    starts, where = np.zeros(block_rows * block + 1, np.int32), np.empty(values.size, np.int32)
    end = 0
    for i in range(block_rows):
        for r in range(block):
            for p in range(pointers[i], pointers[i + 1]):
                for c in range(block):
                    inner = c * block + r if by_columns else r * block + c
                    found[end], where[end] = values[p * block * block + inner], indices[p] * block + c
                    end += 1
            starts[i * block + r + 1] = end
    return found, starts, where


@njit
def to_blocks(values, pointers, indices, rows, columns, block, by_columns):
    """A matrix of square blocks, of those that have an element."""
    block_rows, block_columns = -(-rows // block), -(-columns // block)
    starts, place = np.zeros(block_rows + 1, np.int32), np.full(block_columns, -1)
    total = 0
    for i in range(block_rows):
        for p in range(pointers[i * block], pointers[min(rows, (i + 1) * block)]):
            j = indices[p] // block
            if place[j] < starts[i]:
                place[j] = total
                total += 1
        starts[i + 1] = total
    where, found = np.empty(total, np.int32), np.zeros(total * block * block, values.dtype)
    seen, end = np.zeros(block_columns, np.bool_), 0
    for i in range(block_rows):
        first, last = pointers[i * block], pointers[min(rows, (i + 1) * block)]
        for p in range(first, last):
            seen[indices[p] // block] = True
        for j in range(block_columns):
            if seen[j]:
                where[end], place[j], seen[j] = j, end, False
                end += 1
        for r in range(i * block, min(rows, (i + 1) * block)):
            for p in range(pointers[r], pointers[r + 1]):
                j, c = indices[p] // block, indices[p] % block
                inner = c * block + r - i * block if by_columns else (r - i * block) * block + c
                found[place[j] * block * block + inner] = values[p]
    return found, starts, where
