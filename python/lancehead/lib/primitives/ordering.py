"""The order of the elements of a line, by the bits of numbers that are in the same order."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.primitives.lines import element, put

#: Bits of a digit, and values that it has.
BITS, VALUES = 11, 2048
#: Shorter lines are compared.
SHORT = 4096


def rank(x):
    """An unsigned number of 64 bits in the place of an element: equal for equal ones, greatest for NaN."""
    if prim.is_float(x):
        if x != x:
            return np.uint64(0xFFFFFFFFFFFFFFFF)
        # Both zeros are one.
        bits = np.float64(x + prim.cast(0, prim.dtype_of(x))).view(np.uint64)
        return bits ^ (np.uint64(0) - (bits >> np.uint64(63)) | np.uint64(0x8000000000000000))
    if prim.is_bool(x) or not prim.is_signed(prim.dtype_of(x)):
        return np.uint64(x)
    return np.uint64(np.int64(x)) ^ np.uint64(0x8000000000000000)


def stable_order(keys):
    """The places of elements in ascending order, equal ones in theirs, NaN after the numbers.

    Digits are sorted from the last to the first; those that all elements have in common are left out.
    """
    n = keys.size
    if n < SHORT or prim.is_complex(prim.dtype_of(keys)):
        return np.argsort(keys, kind="stable")
    counts = np.zeros(6 * VALUES, np.int64)
    ranks, order = np.empty(n, np.uint64), np.empty(n, np.int64)
    for i in range(n):
        bits = rank(element(keys, i))
        put(ranks, i, bits)
        put(order, i, i)
        for d in range(6):
            at = d * VALUES + np.int64((bits >> np.uint64(d * BITS)) & np.uint64(VALUES - 1))
            put(counts, at, element(counts, at) + 1)
    other_ranks, other_order = np.empty(n, np.uint64), np.empty(n, np.int64)
    for d in range(6):
        if places_of_digit(counts, d * VALUES, n):
            move_by_digit(ranks, order, other_ranks, other_order, counts, d)
            ranks, other_ranks = other_ranks, ranks
            order, other_order = other_order, order
    return order


def places_of_digit(counts, begin, n):
    """Makes counts of a digit's values places of the first of each, unless all elements have the same."""
    total, is_needed = 0, True
    for k in range(begin, begin + VALUES):
        count = element(counts, k)
        is_needed &= count < n
        put(counts, k, total)
        total += count
    return is_needed


def move_by_digit(ranks, order, to_ranks, to_order, counts, d):
    """Moves elements to the places of a digit's values."""
    for i in range(ranks.size):
        bits = element(ranks, i)
        digit = d * VALUES + np.int64((bits >> np.uint64(d * BITS)) & np.uint64(VALUES - 1))
        at = element(counts, digit)
        put(counts, digit, at + 1)
        put(to_ranks, at, bits)
        put(to_order, at, element(order, i))
