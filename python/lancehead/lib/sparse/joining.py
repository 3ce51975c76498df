"""Elementwise operations of two sparse matrices in compressed rows, whose rows are sorted and have no place twice.

Results are written row by row, those that are zero too, which the next one overwrites.
"""

import numpy as np

from lancehead import prange
from lancehead.lib import prim
from lancehead.lib.sparse.places import at, put, row_of_block


def keep(c_indices, c_data, to, j, v):
    """Stores an entry that is not zero; returns where the next one goes."""
    # The number is tested as it is at hand: one read back would have to wait for the store, and the next entry for it.
    x = prim.cast(v, prim.dtype_of(c_data))
    put(c_indices, to, j)
    prim.set_item(c_data, to, x)
    return to + (x != 0)


def united_row(op, a, b, c, k, a_end, m, b_end, to, operand):
    """The results of a row where one of two matrices has an entry, with zero for what has none."""
    a_indices, a_data = a
    b_indices, b_data = b
    c_indices, c_data = c
    t = prim.dtype_of(operand)
    zero = prim.cast(0, t)
    while k < a_end and m < b_end:
        p, q = at(a_indices, k), at(b_indices, m)
        x, y = prim.cast(prim.item(a_data, k), t), prim.cast(prim.item(b_data, m), t)
        if p == q:
            to = keep(c_indices, c_data, to, p, op(x, y))
            k += 1
            m += 1
        elif p < q:
            to = keep(c_indices, c_data, to, p, op(x, zero))
            k += 1
        else:
            to = keep(c_indices, c_data, to, q, op(zero, y))
            m += 1
    while k < a_end:
        to = keep(c_indices, c_data, to, at(a_indices, k), op(prim.cast(prim.item(a_data, k), t), zero))
        k += 1
    while m < b_end:
        to = keep(c_indices, c_data, to, at(b_indices, m), op(zero, prim.cast(prim.item(b_data, m), t)))
        m += 1
    return to


def met_row(op, a, b, c, k, a_end, m, b_end, to, operand):
    """The results of a row where both matrices have an entry."""
    a_indices, a_data = a
    b_indices, b_data = b
    c_indices, c_data = c
    t = prim.dtype_of(operand)
    while k < a_end and m < b_end:
        p, q = at(a_indices, k), at(b_indices, m)
        if p == q:
            v = op(prim.cast(prim.item(a_data, k), t), prim.cast(prim.item(b_data, m), t))
            to = keep(c_indices, c_data, to, p, v)
        k += p <= q
        m += q <= p
    return to


def united(op, a, b, c, operand, counts, first, last, to):
    """The results of some rows where one of two matrices has an entry; returns where they end.

    `operand` is a line of the type in which the operation computes. There is a place more than there can be results.
    """
    for i in range(first, last):
        k, a_end, m, b_end = at(a[0], i), at(a[0], i + 1), at(b[0], i), at(b[0], i + 1)
        end = united_row(op, a[1:], b[1:], c, k, a_end, m, b_end, to, operand)
        put(counts, i, end - to)
        to = end
    return to


def met(op, a, b, c, operand, counts, first, last, to):
    """The same of results where both matrices have an entry."""
    for i in range(first, last):
        k, a_end, m, b_end = at(a[0], i), at(a[0], i + 1), at(b[0], i), at(b[0], i + 1)
        end = met_row(op, a[1:], b[1:], c, k, a_end, m, b_end, to, operand)
        put(counts, i, end - to)
        to = end
    return to


def in_parts(some, op, a, b, c, operand, counts, parts):
    """All rows by parts, which threads share: each writes from the sum of the entries before it on, and a place more.

    Returns where the parts begin and end.
    """
    rows = counts.shape[0] - 1
    begins, ends = np.empty(parts, np.int64), np.empty(parts, np.int64)
    size = at(a[0], rows)
    for t in prange(parts):
        first, last = row_of_block(a[0], rows, t, parts, size), row_of_block(a[0], rows, t + 1, parts, size)
        begins[t] = at(a[0], first) + at(b[0], first) + t
        ends[t] = some(op, a, b, c, operand, counts, first, last, begins[t])
    return begins, ends
