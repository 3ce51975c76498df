"""Entries with their places in compressed rows, where the rows of entries that follow one another are far apart.

To place these one by one is a miss of the cache for each. They are first divided by ranges of rows, so that the places
of a range stay in the cache.
"""

import numpy as np

from lancehead import prange
from lancehead.lib import prim
from lancehead.lib.sparse.places import at, is_outside, put

#: Rows that are far apart, how many pairs of entries are looked at, and how many ranges there are at most.
FAR, SAMPLES, RANGES = 4096, 32, 256


def jumps(keys, size, least):
    """How many of some pairs of entries lead to rows that are farther apart than this."""
    step, found = (size - 1) // SAMPLES, 0
    for n in range(SAMPLES):
        found += abs(at(keys, n * step + 1) - at(keys, n * step)) > least
    return found


def is_scattered(keys, size, rows):
    """Whether entries, of which some are looked at, lead to rows that are far apart."""
    return rows >= FAR * SAMPLES and size >= FAR * SAMPLES and jumps(keys, size, FAR) > SAMPLES // 2


def is_dense(keys, size, rows):
    """Whether most rows have many entries, and entries that follow one another lead to rows that do so, too."""
    return size >= FAR * SAMPLES and size >= 32 * rows and jumps(keys, size, 4) < SAMPLES // 8


def count_ranges(keys, others, start, stop, rows, columns, shift, counts, base):
    """Counts some entries by the ranges of their rows; false if a place is not there."""
    outside = 0
    for k in range(start, stop):
        i = at(keys, k)
        if is_outside(i, rows) or is_outside(at(others, k), columns):
            outside += 1
        else:
            put(counts, base + (i >> shift), at(counts, base + (i >> shift)) + 1)
    return outside == 0


def divide(keys, others, data, start, stop, shift, to, base, new_keys, new_others, new_data):
    """Moves some entries to the places of their ranges."""
    for k in range(start, stop):
        i = at(keys, k)
        r = base + (i >> shift)
        place = at(to, r)
        put(to, r, place + 1)
        put(new_keys, place, i)
        put(new_others, place, at(others, k))
        prim.set_item(new_data, place, prim.item(data, k))


def place_range(keys, others, data, start, stop, first, last, out_indptr, out_indices, out_data):
    """Places the entries of a range of rows, which keep their order in rows."""
    to = np.zeros(last - first + 1, np.int64)
    for k in range(start, stop):
        i = at(keys, k) - first
        put(to, i, at(to, i) + 1)
    total = start
    for i in range(last - first):
        here = at(to, i)
        put(to, i, total)
        put(out_indptr, first + i, total)
        total += here
    for k in range(start, stop):
        i = at(keys, k) - first
        place = at(to, i)
        put(to, i, place + 1)
        put(out_indices, place, at(others, k))
        prim.set_item(out_data, place, prim.item(data, k))


def place_scattered(keys, others, data, rows, columns, parts, out_indptr, out_indices, out_data):
    """Entries in compressed rows, by ranges of rows; false if a place is not there."""
    size, shift = keys.shape[0], 0
    while (rows - 1) >> shift >= RANGES:
        shift += 1
    ranges = ((rows - 1) >> shift) + 1
    counts, good = np.zeros(parts * ranges, np.int64), np.zeros(parts, np.int64)
    for t in prange(parts):
        start, stop = size * t // parts, size * (t + 1) // parts
        good[t] = count_ranges(keys, others, start, stop, rows, columns, shift, counts, t * ranges)
    total, starts = 0, np.empty(ranges + 1, np.int64)
    for r in range(ranges):
        starts[r] = total
        for t in range(parts):
            here = at(counts, t * ranges + r)
            put(counts, t * ranges + r, total)
            total += here
    starts[ranges] = total
    for t in range(parts):
        if good[t] == 0:
            return False
    new_keys, new_others = np.empty(size, out_indices.dtype), np.empty(size, out_indices.dtype)
    new_data = np.empty(size, data.dtype)
    for t in prange(parts):
        start, stop = size * t // parts, size * (t + 1) // parts
        divide(keys, others, data, start, stop, shift, counts, t * ranges, new_keys, new_others, new_data)
    for r in prange(ranges):
        first, last = r << shift, min((r + 1) << shift, rows)
        place_range(
            new_keys, new_others, new_data, starts[r], starts[r + 1], first, last, out_indptr, out_indices, out_data
        )
    put(out_indptr, rows, size)
    return True
