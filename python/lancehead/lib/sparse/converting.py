"""Conversions between the formats of sparse matrices."""

import numpy as np

from lancehead import prange
from lancehead.lib import prim
from lancehead.lib.sparse.arithmetic import plus
from lancehead.lib.sparse.places import at, is_outside, prefetch, put, row_of_block, summed
from lancehead.lib.sparse.scattering import is_dense, is_scattered, place_scattered

#: How entries with their places are in order: not, by their rows, and by their columns, too.
UNSORTED, SORTED, CANONICAL = 0, 1, 2
#: Entries that are read several times while they are in the nearest cache.
CACHED = 4096


def rows_of_entries(indptr, rows, out):
    """The row of each entry."""
    for i in range(rows):
        for k in range(at(indptr, i), at(indptr, i + 1)):
            put(out, k, i)


def columns_of_part(indptr, indices, first, last, counts, base, columns):
    """Counts the entries of some rows by their columns, which are looked at."""
    for k in range(at(indptr, first), at(indptr, last)):
        j = at(indices, k)
        if is_outside(j, columns):
            raise ValueError(f"indices must be >= 0 and < {columns}")
        put(counts, base + j, at(counts, base + j) + 1)


def place_part(indptr, indices, data, first, last, to, base, out_indices, out_data):
    """Places the entries of some rows by their columns."""
    for i in range(first, last):
        for k in range(at(indptr, i), at(indptr, i + 1)):
            j = base + at(indices, k)
            place = at(to, j)
            put(to, j, place + 1)
            put(out_indices, place, i)
            prim.set_item(out_data, place, prim.item(data, k))


def place_dense_part(indptr, indices, data, first, last, to, base, out_indices, out_data):
    """The same for long columns: prefetches each column's next slot, which hardware does not predict."""
    for i in range(first, last):
        for k in range(at(indptr, i), at(indptr, i + 1)):
            prim.loop_hint(1, 1)
            j = base + at(indices, k)
            place = at(to, j)
            put(to, j, place + 1)
            prefetch(out_data, place + 8)
            prefetch(out_indices, place + 16)
            put(out_indices, place, i)
            prim.set_item(out_data, place, prim.item(data, k))


def transposed(indptr, indices, data, rows, columns, parts, out_indptr, out_indices, out_data):
    """A matrix in compressed rows as one in compressed columns; entries of a column are in the order of their rows.

    Each part of the rows has counts of its own, and so places of its own.
    """
    size = at(indptr, rows)
    if is_scattered(indices, size, columns):
        row = np.empty(size, out_indices.dtype)
        rows_of_entries(indptr, rows, row)
        if not place_scattered(indices[:size], row, data, columns, rows, parts, out_indptr, out_indices, out_data):
            raise ValueError(f"indices must be >= 0 and < {columns}")
        return
    counts = np.zeros(parts * columns, out_indptr.dtype)
    for t in prange(parts):
        first, last = row_of_block(indptr, rows, t, parts, size), row_of_block(indptr, rows, t + 1, parts, size)
        columns_of_part(indptr, indices, first, last, counts, t * columns, columns)
    total = 0
    for j in range(columns):
        put(out_indptr, j, total)
        for t in range(parts):
            here = at(counts, t * columns + j)
            put(counts, t * columns + j, total)
            total += here
    put(out_indptr, columns, total)
    dense = is_dense(indices, size, columns)
    for t in prange(parts):
        first, last = row_of_block(indptr, rows, t, parts, size), row_of_block(indptr, rows, t + 1, parts, size)
        if dense:
            place_dense_part(indptr, indices, data, first, last, counts, t * columns, out_indices, out_data)
        else:
            place_part(indptr, indices, data, first, last, counts, t * columns, out_indices, out_data)


def count_part(keys, others, start, stop, rows, columns, counts, base):
    """Counts some entries by their rows; whether all places are there."""
    outside = 0
    for k in range(start, stop):
        i = at(keys, k)
        if is_outside(i, rows) or is_outside(at(others, k), columns):
            outside += 1
        else:
            put(counts, base + i, at(counts, base + i) + 1)
    return outside == 0


def order_of(keys, others, start, stop, columns):
    """How some entries are in order, the first of which is compared with the one before: an answer of `compressed`.

    All is counted, without branches, so that vectors do it.
    """
    outside, falls, repeats = 0, 0, 0
    for k in range(start, stop):
        outside += is_outside(at(others, k), columns)
    for k in range(max(start, 1), stop):
        falls += at(keys, k) < at(keys, k - 1)
        repeats += (at(keys, k) == at(keys, k - 1)) & (at(others, k) <= at(others, k - 1))
    if outside + falls > 0:
        return UNSORTED
    return CANONICAL if repeats == 0 else SORTED


def ordered_part(keys, others, data, start, stop, rows, columns, out_indptr, out_indices, out_data):
    """Places some entries where they are and notes where rows end, if they are in order: as `order_of` says."""
    if start < stop and at(keys, start) < 0:
        return UNSORTED
    # Of a row that goes on in the next part, that part knows the end.
    own = stop
    while own > start and stop < keys.shape[0] and at(keys, own - 1) == at(keys, stop):
        own -= 1
    level = CANONICAL
    for begin in range(start, stop, CACHED):
        end = min(begin + CACHED, stop)
        level = min(level, order_of(keys, others, begin, end, columns))
        if level == UNSORTED or at(keys, end - 1) >= rows:
            return UNSORTED
        for k in range(begin, min(end, own)):
            # The last entry of a row is the one that stays.
            put(out_indptr, at(keys, k) + 1, k + 1)
        copy_part(others, data, begin, end, out_indices, out_data)
    return level


def compressed(keys, others, data, rows, columns, parts, out_indptr, out_indices, out_data):
    """Entries with their places, which are looked at, in compressed rows; those of a row keep their order.

    Each part of the entries has counts of its own. Returns 0 if a place is not there, and `CANONICAL` if the columns of
    each row ascend.
    """
    size = keys.shape[0]
    found = np.zeros(parts, np.int64)
    out_indptr[:] = 0
    for t in prange(parts):
        start, stop = size * t // parts, size * (t + 1) // parts
        found[t] = ordered_part(keys, others, data, start, stop, rows, columns, out_indptr, out_indices, out_data)
    level = found.min()
    if level > UNSORTED:
        last = 0
        for i in range(rows + 1):
            # A row without entries ends where the one before it does.
            last = max(last, at(out_indptr, i))
            put(out_indptr, i, last)
        return level
    if is_scattered(keys, size, rows):
        return SORTED * place_scattered(keys, others, data, rows, columns, parts, out_indptr, out_indices, out_data)
    counts = np.zeros(parts * rows, out_indptr.dtype)
    for t in prange(parts):
        found[t] = count_part(keys, others, size * t // parts, size * (t + 1) // parts, rows, columns, counts, t * rows)
    if found.min() == 0:
        return 0
    total = 0
    for i in range(rows):
        put(out_indptr, i, total)
        for t in range(parts):
            here = at(counts, t * rows + i)
            put(counts, t * rows + i, total)
            total += here
    put(out_indptr, rows, total)
    for t in prange(parts):
        start, stop = size * t // parts, size * (t + 1) // parts
        move_part(keys, others, data, start, stop, counts, t * rows, out_indices, out_data)
    return SORTED


def copy_part(others, data, start, stop, out_indices, out_data):
    """Places some entries where they are."""
    for k in range(start, stop):
        put(out_indices, k, at(others, k))
        prim.set_item(out_data, k, prim.item(data, k))


def move_part(keys, others, data, start, stop, to, base, out_indices, out_data):
    """Places some entries by their rows."""
    for k in range(start, stop):
        i = base + at(keys, k)
        place = at(to, i)
        put(to, i, place + 1)
        put(out_indices, place, at(others, k))
        prim.set_item(out_data, place, prim.item(data, k))


def into_dense(indptr, indices, data, rows, columns, out, row_step, column_step):
    """Adds the entries to the elements of a dense matrix, a line with these steps along its axes.

    Returns how many indices are no columns; the rows that have such are left out.
    """
    size = at(indptr, rows)
    parts = min(max(size // 16384, 1), max(rows, 1))
    outside = np.zeros(parts, np.int64)
    for t in prange(parts):
        for i in range(row_of_block(indptr, rows, t, parts, size), row_of_block(indptr, rows, t + 1, parts, size)):
            outside[t] += row_into_dense(indptr, indices, data, i, columns, out, i * row_step, column_step)
    return outside.sum()


def row_into_dense(indptr, indices, data, i, columns, out, place, step):
    """The same of a row, whose first element has this place, if all its indices are columns."""
    begin, end, outside = at(indptr, i), at(indptr, i + 1), 0
    for k in range(begin, end):
        outside += is_outside(at(indices, k), columns)
    if outside == 0:
        for k in range(begin, end):
            to = place + at(indices, k) * step
            prim.set_item(out, to, plus(prim.item(out, to), prim.item(data, k)))
    return outside


def places_into_dense(row, col, data, out, row_step, column_step):
    """The same of entries with their places."""
    for k in range(data.shape[0]):
        place = at(row, k) * row_step + at(col, k) * column_step
        prim.set_item(out, place, plus(prim.item(out, place), prim.item(data, k)))


def count_nonzero(dense, rows, columns, row_step, column_step, indptr):
    """How many elements of the rows of a dense matrix are not zero, as places where rows begin."""
    for i in prange(rows):
        n = 0
        for j in range(columns):
            n += prim.item(dense, i * row_step + j * column_step) != 0
        put(indptr, i, n)
    return summed(indptr, rows)


def from_dense(dense, rows, columns, row_step, column_step, indptr, indices, data):
    """The elements of a dense matrix that are not zero."""
    for i in prange(rows):
        k = at(indptr, i)
        for j in range(columns):
            v = prim.item(dense, i * row_step + j * column_step)
            if v != 0:
                put(indices, k, j)
                prim.set_item(data, k, v)
                k += 1


def count_blocks(indptr, indices, rows, high, wide, columns):
    """How many blocks of a height and a width have entries."""
    seen = np.full((columns + wide - 1) // wide + 1, -1, np.int64)
    total = 0
    for i in range(rows):
        for k in range(at(indptr, i), at(indptr, i + 1)):
            j = at(indices, k) // wide
            if at(seen, j) != i // high:
                put(seen, j, i // high)
                total += 1
    return total


def into_blocks(indptr, indices, data, rows, high, wide, columns, out_indptr, out_indices, out_data):
    """The blocks that have entries, with values in a line that is zero before."""
    place = np.full(columns // wide + 1, -1, np.int64)
    total = 0
    put(out_indptr, 0, 0)
    for b in range(rows // high):
        begin = total
        for r in range(high):
            i = b * high + r
            for k in range(at(indptr, i), at(indptr, i + 1)):
                col = at(indices, k)
                j = col // wide
                if at(place, j) < begin:
                    put(place, j, total)
                    put(out_indices, total, j)
                    total += 1
                to = (at(place, j) * high + r) * wide + col - j * wide
                prim.set_item(out_data, to, plus(prim.item(out_data, to), prim.item(data, k)))
        put(out_indptr, b + 1, total)


def from_blocks(indptr, indices, data, blocks, high, wide, out_indptr, out_indices, out_data):
    """All values of blocks, in compressed rows."""
    put(out_indptr, 0, 0)
    for b in range(blocks):
        start, stop = at(indptr, b), at(indptr, b + 1)
        for r in range(high):
            to = (start * high + r * (stop - start)) * wide
            for k in range(start, stop):
                for s in range(wide):
                    put(out_indices, to, at(indices, k) * wide + s)
                    prim.set_item(out_data, to, prim.item(data, (k * high + r) * wide + s))
                    to += 1
            put(out_indptr, b * high + r + 1, to)
