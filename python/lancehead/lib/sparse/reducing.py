"""Reductions of sparse matrices in compressed rows along their axes."""

from lancehead import prange
from lancehead.lib import prim
from lancehead.lib.sparse.places import at, put


def along_rows(op, indptr, data, rows, out):
    """Combines the entries of each row with an element of a line."""
    for i in prange(rows):
        total = prim.item(out, i)
        for k in range(at(indptr, i), at(indptr, i + 1)):
            total = op(total, prim.cast(prim.item(data, k), prim.dtype_of(out)))
        prim.set_item(out, i, total)


def along_columns(op, indices, data, out):
    """Combines the entries of each column with an element of a line."""
    for k in range(data.shape[0]):
        j = at(indices, k)
        prim.set_item(out, j, op(prim.item(out, j), prim.cast(prim.item(data, k), prim.dtype_of(out))))


def counts_of_columns(indices, out):
    """How many entries each column has."""
    for k in range(indices.shape[0]):
        put(out, at(indices, k), at(out, at(indices, k)) + 1)


def extremes(better, indptr, indices, data, rows, columns, out, places):
    """The extreme of each row and its first place, zeros that are not stored included; rows have no place twice.

    NaN is the extreme of a row that has one.
    """
    for i in prange(rows):
        start, end = at(indptr, i), at(indptr, i + 1)
        best, place, missing = prim.cast(0, prim.dtype_of(data)), -1, 0
        for k in range(start, end):
            v, j = prim.item(data, k), at(indices, k)
            missing += j == missing
            if place < 0 or better(v, best) or (v != v and best == best):
                best, place = v, j
        if end - start < columns and best == best:
            zero = prim.cast(0, prim.dtype_of(data))
            if place < 0 or better(zero, best) or (not better(best, zero) and missing < place):
                best, place = zero, missing
        prim.set_item(out, i, best)
        put(places, i, place)
