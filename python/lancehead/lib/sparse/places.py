"""Places in arrays of indices, and blocks of entries."""

import numpy as np

from lancehead.lib import prim

#: Entries of a block that one thread does at a time.
BLOCK = 16384


def at(a, i):
    """An index of an array, as 64 bits; the place is there."""
    return prim.cast(prim.item(a, i), np.int64)


def put(a, i, x):
    """Stores a number in an array, as one of the array's type; the place is there."""
    prim.set_item(a, i, prim.cast(x, prim.dtype_of(a)))


def prefetch(a, i):
    """Asks for the memory of a place that is read soon; nothing happens if it is not there."""
    prim.lh_prefetch(prim.ptr_add(prim.data(a), i * prim.itemsize(prim.dtype_of(a))))


def is_outside(i, n):
    """Whether an index is none of an axis of this length."""
    return prim.cast(i, np.uint64) >= prim.cast(n, np.uint64)


def first_from(indptr, rows, entry):
    """The first row, of so many, that begins at an entry or after it."""
    low, high = 0, rows
    while low < high:
        middle = (low + high) >> 1
        if at(indptr, middle) < entry:
            low = middle + 1
        else:
            high = middle
    return low


def row_of_block(indptr, rows, t, parts, size):
    """The row with which a part of the rows begins, of so many parts with about the same number of entries."""
    if t == 0:
        return 0
    if t == parts:
        return rows
    return first_from(indptr, rows, size * t // parts)


def summed(counts, n):
    """The sum of the first `n` numbers, of which each becomes the sum of those before it; the next becomes the sum."""
    total = 0
    for i in range(n):
        here = at(counts, i)
        put(counts, i, total)
        total += here
    put(counts, n, total)
    return total
