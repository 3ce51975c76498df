"""The order of a sparse matrix's entries, and entries with one place."""

import numpy as np

from lancehead import prange
from lancehead.lib import prim
from lancehead.lib.sparse.arithmetic import plus
from lancehead.lib.sparse.places import BLOCK, at, put, row_of_block

#: Entries of a row up to which they are sorted by insertion.
SHORT = 24


def sort_short(indices, data, start, end):
    """Sorts the entries of a row by insertion."""
    for k in range(start + 1, end):
        j, v = at(indices, k), prim.item(data, k)
        m = k
        while m > start and at(indices, m - 1) > j:
            put(indices, m, at(indices, m - 1))
            prim.set_item(data, m, prim.item(data, m - 1))
            m -= 1
        put(indices, m, j)
        prim.set_item(data, m, v)


def sort_long(indices, data, start, end):
    """Sorts the entries of a row by keys of an index and a place."""
    n = end - start
    if at(indices, start) <= 0x3FFFFFFF and n <= 0x7FFFFFFF and fit(indices, start, end):
        keys = np.empty(n, np.int64)
        for k in range(n):
            put(keys, k, at(indices, start + k) << 32 | k)
        order = np.sort(keys) & 0xFFFFFFFF
    else:
        order = np.argsort(indices[start:end], kind="stable")
    # Copies of both, from which they are written back in order.
    old_indices, old_data = indices[start:end].copy(), data[start:end].copy()
    for k in range(n):
        m = at(order, k)
        put(indices, start + k, at(old_indices, m))
        prim.set_item(data, start + k, prim.item(old_data, m))


def fit(indices, start, end):
    """Whether all indices of a row are below the greatest of 32 bits."""
    for k in range(start, end):
        if at(indices, k) > 0x7FFFFFFE:
            return False
    return True


def is_in_order(indices, start, end):
    """Whether the indices of a row ascend, equal ones included."""
    for k in range(start + 1, end):
        if at(indices, k - 1) > at(indices, k):
            return False
    return True


def sort_rows(indptr, indices, data, rows):
    """Sorts the entries of each row by their columns; those of one place keep their order."""
    size = at(indptr, rows)
    parts = min(max(size // BLOCK, 1), max(rows, 1))
    for t in prange(parts):
        for i in range(row_of_block(indptr, rows, t, parts, size), row_of_block(indptr, rows, t + 1, parts, size)):
            start, end = at(indptr, i), at(indptr, i + 1)
            if end - start <= SHORT:
                sort_short(indices, data, start, end)
            elif not is_in_order(indices, start, end):
                sort_long(indices, data, start, end)


def join_equal(indptr, indices, data, rows):
    """Adds up entries with one place, of rows that are sorted, in their order; returns how many are left."""
    to, start = 0, at(indptr, 0)
    for i in range(rows):
        end = at(indptr, i + 1)
        begin = to
        for k in range(start, end):
            if to > begin and at(indices, to - 1) == at(indices, k):
                prim.set_item(data, to - 1, plus(prim.item(data, to - 1), prim.item(data, k)))
            else:
                put(indices, to, at(indices, k))
                prim.set_item(data, to, prim.item(data, k))
                to += 1
        start = end
        put(indptr, i + 1, to)
    return to


def drop_zeros(indptr, indices, data, rows):
    """Leaves out entries that are zero; returns how many are left."""
    to, start = 0, at(indptr, 0)
    for i in range(rows):
        end = at(indptr, i + 1)
        for k in range(start, end):
            v = prim.item(data, k)
            if v != 0:
                put(indices, to, at(indices, k))
                prim.set_item(data, to, v)
                to += 1
        start = end
        put(indptr, i + 1, to)
    return to


def drop_zero_blocks(indptr, indices, data, rows, extent):
    """Leaves out blocks of this many values that are all zero; returns how many are left."""
    to, start = 0, at(indptr, 0)
    for i in range(rows):
        end = at(indptr, i + 1)
        for k in range(start, end):
            some = 0
            for m in range(extent):
                some += prim.item(data, k * extent + m) != 0
            if some > 0:
                put(indices, to, at(indices, k))
                for m in range(extent):
                    prim.set_item(data, to * extent + m, prim.item(data, k * extent + m))
                to += 1
        start = end
        put(indptr, i + 1, to)
    return to
