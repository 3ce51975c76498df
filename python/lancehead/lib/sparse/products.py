"""Products of sparse matrices with vectors and with dense matrices.

A semiring is `None` for sums and products of numbers, as `arithmetic.py` has them.
"""

import numpy as np

from lancehead import prange
from lancehead.lib import prim
from lancehead.lib.sparse.arithmetic import add, multiply, nothing
from lancehead.lib.sparse.places import BLOCK, at, first_from, is_outside, prefetch, put, row_of_block

#: Entries from which on a sum has four parts, and those of a block of a product with a vector.
LONG, VECTOR_BLOCK = 16, 32768
#: How many entries before its turn the memory of one is asked for: rows are short, and the processor by itself does not
#: look beyond a page.
AHEAD = 256


def term(semiring, data, x, k, j, y):
    """The product of an entry and an element of a vector, as a number of the type of the result."""
    if is_outside(j, x.shape[0]):
        raise IndexError("an index of a sparse array is out of bounds")
    return multiply(semiring, prim.item(data, k), prim.item(x, j), y)


def long_dot(semiring, indices, data, x, y, start, end):
    """The sum of the products of entries with what a vector has at their indices, in four parts."""
    a = nothing(semiring, y)
    b, c, d = a, a, a
    for n in range((end - start) >> 2):
        prim.loop_hint(2, 1)
        k = start + 4 * n
        prefetch(data, k + AHEAD)
        a = add(semiring, a, term(semiring, data, x, k, at(indices, k), y))
        b = add(semiring, b, term(semiring, data, x, k + 1, at(indices, k + 1), y))
        c = add(semiring, c, term(semiring, data, x, k + 2, at(indices, k + 2), y))
        d = add(semiring, d, term(semiring, data, x, k + 3, at(indices, k + 3), y))
    return add(semiring, add(semiring, a, b), add(semiring, c, d))


def dot(semiring, indices, data, x, y, start, end):
    """The same sum with the terms that are left over."""
    total = long_dot(semiring, indices, data, x, y, start, end)
    for k in range(start + ((end - start) & ~3), end):
        total = add(semiring, total, term(semiring, data, x, k, at(indices, k), y))
    return total


def some_rows(semiring, indptr, indices, data, x, y, first, last, start, stop):
    """The products of some rows with a vector; their entries are some of a block.

    The loop of short rows calls no function, so that it does not look for Ctrl-C and has all it reads in registers.
    """
    for i in range(first, last):
        end, k, total = min(at(indptr, i + 1), stop), start, nothing(semiring, y)
        prefetch(data, start + AHEAD)
        prefetch(indices, start + AHEAD)
        if end - start >= LONG:
            total = long_dot(semiring, indices, data, x, y, start, end)
            k += (end - start) & ~3
        for m in range(k, end):
            prim.loop_hint(1, 1)
            j, value = at(indices, m), prim.item(data, m)
            if is_outside(j, x.shape[0]):
                raise IndexError("an index of a sparse array is out of bounds")
            total = add(semiring, total, multiply(semiring, value, prim.item(x, j), y))
        prim.set_item(y, i, total)
        start = max(start, end)


def rows_by_vector(semiring, indptr, indices, data, x, y):
    """The product of a matrix in compressed rows with a vector."""
    stop = min(indices.shape[0], data.shape[0])
    some_rows(semiring, indptr, indices, data, x, y, 0, y.shape[0], min(max(at(indptr, 0), 0), stop), stop)


def rows_by_vector_shared(semiring, indptr, indices, data, x, y):
    """The same by blocks of entries that threads share. A row may lie in several: their sums are added in order."""
    rows = y.shape[0]
    size = min(at(indptr, rows), indices.shape[0], data.shape[0])
    parts = max((size + VECTOR_BLOCK - 1) // VECTOR_BLOCK, 1)
    firsts, heads = np.empty(parts + 1, np.int64), np.empty(parts, y.dtype)
    for t in range(parts):
        firsts[t] = first_from(indptr, rows, t * VECTOR_BLOCK)
    firsts[parts] = rows
    for t in prange(parts):
        start, stop = t * VECTOR_BLOCK, min(t * VECTOR_BLOCK + VECTOR_BLOCK, size)
        # The first entries may belong to a row that has begun in a block before.
        end = min(max(at(indptr, firsts[t]), start), stop)
        heads[t] = dot(semiring, indices, data, x, y, start, end)
        some_rows(semiring, indptr, indices, data, x, y, firsts[t], firsts[t + 1], end, stop)
    for t in range(1, parts):
        row = firsts[t] - 1
        if row >= 0 and at(indptr, row + 1) > t * VECTOR_BLOCK:
            prim.set_item(y, row, add(semiring, prim.item(y, row), heads[t]))


def columns_by_vector(semiring, indptr, indices, data, x, y):
    """Adds the product of a matrix in compressed columns with a vector."""
    size, k = min(indices.shape[0], data.shape[0]), 0
    for j in range(x.shape[0]):
        end = min(at(indptr, j + 1), size)
        while k < end:
            i = at(indices, k)
            if is_outside(i, y.shape[0]):
                raise IndexError("an index of a sparse array is out of bounds")
            prim.set_item(y, i, add(semiring, prim.item(y, i), term(semiring, data, x, k, j, y)))
            k += 1


def places_by_vector(semiring, row, col, data, x, y):
    """Adds the product of a matrix of entries with their places with a vector."""
    for k in range(min(row.shape[0], col.shape[0], data.shape[0])):
        i = at(row, k)
        if is_outside(i, y.shape[0]):
            raise IndexError("an index of a sparse array is out of bounds")
        prim.set_item(y, i, add(semiring, prim.item(y, i), term(semiring, data, x, k, at(col, k), y)))


def add_row(semiring, data, x, y, k, j, i, width):
    """Adds the product of an entry and a row of a dense matrix to a row of another one."""
    if j < 0 or (j + 1) * width > x.shape[0]:
        raise IndexError("an index of a sparse array is out of bounds")
    value, source, to = prim.item(data, k), j * width, i * width
    for c in range(width):
        v = multiply(semiring, value, prim.item(x, source + c), y)
        prim.set_item(y, to + c, add(semiring, prim.item(y, to + c), v))


def row_by_columns(semiring, indices, data, x, y, i, start, end, width):
    """The product of a row with a dense matrix of few columns, four of which have their sums at hand."""
    for k in range(start, end):
        if is_outside(at(indices, k), x.shape[0] // width):
            raise IndexError("an index of a sparse array is out of bounds")
    to = i * width
    for c in range(0, width - width % 4, 4):
        p = nothing(semiring, y)
        q, r, s = p, p, p
        for k in range(start, end):
            value, place = prim.item(data, k), at(indices, k) * width + c
            p = add(semiring, p, multiply(semiring, value, prim.item(x, place), y))
            q = add(semiring, q, multiply(semiring, value, prim.item(x, place + 1), y))
            r = add(semiring, r, multiply(semiring, value, prim.item(x, place + 2), y))
            s = add(semiring, s, multiply(semiring, value, prim.item(x, place + 3), y))
        prim.set_item(y, to + c, p)
        prim.set_item(y, to + c + 1, q)
        prim.set_item(y, to + c + 2, r)
        prim.set_item(y, to + c + 3, s)
    for c in range(width - width % 4, width):
        p = nothing(semiring, y)
        for k in range(start, end):
            p = add(semiring, p, multiply(semiring, prim.item(data, k), prim.item(x, at(indices, k) * width + c), y))
        prim.set_item(y, to + c, p)


def rows_by_matrix(semiring, indptr, indices, data, x, y, rows, width):
    """Adds the product of a matrix in compressed rows with a dense matrix, whose elements are a line of rows."""
    size = min(indices.shape[0], data.shape[0])
    parts = min(max(size * width // BLOCK, 1), max(rows, 1))
    for t in prange(parts):
        for i in range(row_of_block(indptr, rows, t, parts, size), row_of_block(indptr, rows, t + 1, parts, size)):
            start, end = max(at(indptr, i), 0), min(at(indptr, i + 1), size)
            if width >= 8:
                for k in range(start, end):
                    add_row(semiring, data, x, y, k, at(indices, k), i, width)
            else:
                row_by_columns(semiring, indices, data, x, y, i, start, end, width)


def columns_by_matrix(semiring, indptr, indices, data, x, y, columns, width):
    """Adds the product of a matrix in compressed columns with a dense matrix, as above."""
    size, k = min(indices.shape[0], data.shape[0]), 0
    for j in range(columns):
        end = min(at(indptr, j + 1), size)
        while k < end:
            i = at(indices, k)
            if is_outside(i * width, y.shape[0]):
                raise IndexError("an index of a sparse array is out of bounds")
            add_row(semiring, data, x, y, k, j, i, width)
            k += 1


def blocks_by_matrix(semiring, indptr, indices, data, x, y, block, rows, width):
    """Adds the product of a matrix of blocks in compressed rows, whose values are a line, with a dense matrix."""
    high, wide = block
    size = min(indices.shape[0], data.shape[0] // (high * wide))
    parts = min(max(size * high * wide * width // BLOCK, 1), max(rows, 1))
    for t in prange(parts):
        for i in range(row_of_block(indptr, rows, t, parts, size), row_of_block(indptr, rows, t + 1, parts, size)):
            for k in range(max(at(indptr, i), 0), min(at(indptr, i + 1), size)):
                j = at(indices, k)
                if j < 0 or (j + 1) * wide * width > x.shape[0]:
                    raise IndexError("an index of a sparse array is out of bounds")
                for r in range(high):
                    for s in range(wide):
                        place = (k * high + r) * wide + s
                        add_row(semiring, data, x, y, place, j * wide + s, i * high + r, width)


def bound(a_indptr, a_indices, b_indptr, rows, sums):
    """How many products the rows of a product of two matrices have at most: their sums up to each row."""
    total = 0
    put(sums, 0, 0)
    for i in range(rows):
        for k in range(at(a_indptr, i), at(a_indptr, i + 1)):
            j = at(a_indices, k)
            total += at(b_indptr, j + 1) - at(b_indptr, j)
        put(sums, i + 1, total)
    return total


def product_rows(semiring, a, b, c, first, last, start, counts, seen):
    """The products of some rows, written one after the other from `start` on; returns where they end.

    `seen` has, for each column, the place of its entry plus one; entries of rows before are below `begin`.
    """
    a_indptr, a_indices, a_data = a
    b_indptr, b_indices, b_data = b
    c_indices, c_data = c
    end = start
    for i in range(first, last):
        begin = end
        for k in range(at(a_indptr, i), at(a_indptr, i + 1)):
            j = at(a_indices, k)
            value = prim.item(a_data, k)
            for m in range(at(b_indptr, j), at(b_indptr, j + 1)):
                col = at(b_indices, m)
                v = multiply(semiring, value, prim.item(b_data, m), c_data)
                place = at(seen, col)
                if place <= begin:
                    put(c_indices, end, col)
                    prim.set_item(c_data, end, v)
                    end += 1
                    put(seen, col, end)
                else:
                    prim.set_item(c_data, place - 1, add(semiring, prim.item(c_data, place - 1), v))
        put(counts, i, end - begin)
    return end


def product(semiring, a, b, c, sums, counts, parts, columns):
    """The product of two matrices in compressed rows: parts of rows write from their bounds on.

    Returns where the parts begin and end.
    """
    rows = counts.shape[0] - 1
    begins, ends = np.zeros(parts, np.int64), np.zeros(parts, np.int64)
    for t in prange(parts):
        size = sums[rows]
        first, last = row_of_block(sums, rows, t, parts, size), row_of_block(sums, rows, t + 1, parts, size)
        seen = np.zeros(columns, np.int64)
        start = sums[first]
        begins[t] = start
        # Places count from 1, so that all of `seen` is before the first row.
        ends[t] = product_rows(semiring, a, b, c, first, last, start, counts, seen)
    return begins, ends


def gathered(begins, ends, source, out):
    """Copies parts of an array to one another's ends."""
    parts = begins.shape[0]
    starts = np.zeros(parts + 1, np.int64)
    for t in range(parts):
        starts[t + 1] = starts[t] + ends[t] - begins[t]
    for t in prange(parts):
        out[starts[t] : starts[t + 1]] = source[begins[t] : ends[t]]
