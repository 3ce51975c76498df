"""Loops of selections, with the order of the elements as their first argument."""

import numpy as np

from lancehead import prange
from lancehead.lib import prim
from lancehead.lib.primitives.lines import element, put

#: Elements that a thread looks at, at a time.
BLOCK = 65536
#: Lines that are shorter are partitioned at once.
SHORT = 32768
#: Elements that are looked at together for the greatest ones.
GROUP = 64
#: Elements of a block in which runs are looked for.
PART = 16384
#: Elements of a sample, at most, and how many times as many a line has at least.
SAMPLE, TIMES = 65536, 16


def plain_before(a, b):
    """Whether an element is before another, of types without NaN."""
    return a < b


def float_before(a, b):
    """Whether an element is before another, NaN after the numbers."""
    # Without a branch, for loops that have none.
    return (not (a >= b)) & (a == a)


def pair_before(a, b):
    """Whether a complex number is before another: by real and imaginary parts, those with NaN after the numbers."""
    x, y, u, v = a.real, a.imag, b.real, b.imag
    # Numbers, then NaN as imaginary part, as real part, as both.
    one, other = 2 * (x != x) + (y != y), 2 * (u != u) + (v != v)
    if one != other:
        return one < other
    if x < u or u < x:
        return x < u
    return y < v


def chosen(x, mask):
    """The rows where a mask is true."""
    out = np.empty((np.sum(mask), x.shape[1]), x.dtype)
    k = 0
    for i in range(mask.size):
        if mask[i]:
            out[k] = x[i]
            k += 1
    return out


def chosen_elements(x, mask):
    """The elements of a line where a mask is true."""
    count = np.sum(mask)
    out = np.empty(count + 1, x.dtype)
    k = 0
    for i in range(mask.size):
        # Written in any case, so that there is no branch.
        out[k] = x[i]
        k += mask[i]
    return out[:count]


def parted_elements(x, mask):
    """The elements of a line where a mask is true, then the others, and the number of the first."""
    out = np.empty(x.size, x.dtype)
    count = np.sum(mask)
    k, m = 0, count
    for i in range(mask.size):
        out[k if mask[i] else m] = x[i]
        k += mask[i]
        m += not mask[i]
    return out, count


def parted(x, mask):
    """The rows where a mask is true, then the others, and the number of the first."""
    out = np.empty(x.shape, x.dtype)
    count = np.sum(mask)
    k, m = 0, count
    for i in range(mask.size):
        if mask[i]:
            out[k] = x[i]
            k += 1
        else:
            out[m] = x[i]
            m += 1
    return out, count


# Blocks keep their finds in parts of their own.
def between(before, x, bounds, which, kept, counts):
    """For each block its elements from the first bound to the second, how many these are, and how many are before it.

    Of bounds that do not count (1: the first, 2: the second) nothing is on the other side.
    """
    dtype = prim.dtype_of(x)
    for t in prange(counts.shape[0]):
        start, stop = t * BLOCK, min((t + 1) * BLOCK, x.size)
        # The run-time library has no order of its own for these, and looks at elements one after another.
        if prim.is_float(dtype) and prim.itemsize(dtype) == 2:
            counts[t, 0], counts[t, 1] = _between(before, x, bounds, which, start, stop, kept)
        elif prim.layout(x) == "C" and not prim.is_time(dtype) and not prim.is_chars(dtype):
            size = prim.itemsize(dtype)
            data, to = prim.ptr_add(prim.data(x), start * size), prim.ptr_add(prim.data(kept), start * size)
            count = prim.ptr_add(prim.data(counts), t * 16)
            prim.lh_enclosed(dtype, data, stop - start, prim.data(bounds), which, to, count)
        else:
            counts[t, 0], counts[t, 1] = _between(before, x, bounds, which, start, stop, kept)


def _between(before, x, bounds, which, start, stop, kept):
    # The same of a block. Groups of which all elements are before or all after the bounds are counted by vectors only.
    low, high, has_low, has_high = bounds[0], bounds[1], which & 1 != 0, which & 2 != 0
    at, less = start, 0
    for first in range(start, stop, GROUP // 2):
        end, fewer, others = min(first + GROUP // 2, stop), 0, 0
        for i in range(first, end):
            fewer += has_low & before(x[i], low)
            others += not (has_high & before(high, x[i]))
        less += fewer
        if others > fewer:
            for i in range(first, end):
                v = x[i]
                # Written whether it is kept or not, so that there is no branch.
                kept[at] = v
                at += not ((has_low & before(v, low)) | (has_high & before(high, v)))
    return at - start, less


def smallest(before, x, k):
    """The element that sorting puts at place `k`.

    Two elements of a sample enclose it with high probability; one pass keeps what is between them. If it is not there,
    or if too much is, the line is partitioned.
    """
    n = x.size
    if n < SHORT:
        return np.partition(x, k)[k]
    number = min(n // TIMES, SAMPLE)
    sample, step = np.empty(number, x.dtype), n // number
    for i in range(number):
        # Places vary within their steps, so that lines with a period are sampled as others.
        sample[i] = x[i * step + (i * 40503 % 65536) * step // 65536]
    # Four times the deviation of a rank.
    rank, margin = int(k / n * number), int(2 * number**0.5)
    low, high = max(rank - margin, 0), min(rank + margin, number - 1)
    which = int(low > 0) + 2 * int(high < number - 1)
    sample = np.partition(sample, low)
    bounds = np.empty(2, x.dtype)
    bounds[0], bounds[1] = sample[low], np.partition(sample[low:], high - low)[high - low]
    blocks = (n + BLOCK - 1) // BLOCK
    kept, counts = np.empty(n, x.dtype), np.empty((blocks, 2), np.int64)
    between(before, x, bounds, which, kept, counts)
    place, count = k - np.sum(counts[:, 1]), np.sum(counts[:, 0])
    is_there = place >= 0 and place < count
    if is_there and which == 3 and not before(bounds[0], bounds[1]):
        # All that are kept are equal.
        return bounds[0]
    if not is_there or count > n // 2:
        return np.partition(x, k)[k]
    found = np.empty(count, x.dtype)
    at = 0
    for t in range(blocks):
        found[at : at + counts[t, 0]] = kept[t * BLOCK : t * BLOCK + counts[t, 0]]
        at += counts[t, 0]
    return np.partition(found, place)[place]


def smallest_of_rows(before, x, k):
    """The element of each row that sorting puts at place `k`."""
    out = np.empty(x.shape[0], x.dtype)
    for row in prange(x.shape[0]):
        out[row] = smallest(before, x[row], k)
    return out


def top_line(before, x, k, values, places):
    """The greatest elements of a line, and their places."""
    least = smallest(before, x, x.size - k)
    found, equal = np.empty(k, np.int64), np.empty(k, np.int64)
    at, number = 0, 0
    for start in range(0, x.size, GROUP):
        stop, some = min(start + GROUP, x.size), 0
        for i in range(start, stop):
            some += not before(x[i], least)
        # Of most groups no element is looked at by itself.
        if some:
            for i in range(start, stop):
                if before(least, x[i]):
                    found[at] = i
                    at += 1
                elif number < k and not before(x[i], least):
                    equal[number] = i
                    number += 1
    # Of equal elements the first ones fill up.
    found[at:] = equal[: k - at]
    # The order is descending and equal elements keep theirs: a stable order of the reverse, reversed.
    found = np.sort(found)[::-1]
    order = np.argsort(x[found], kind="stable")[::-1]
    for i in range(k):
        places[i] = found[order[i]]
        values[i] = x[places[i]]


def top_rows(before, x, k):
    """The greatest elements of each row, and their places."""
    rows = x.shape[0]
    values, places = np.empty((rows, k), x.dtype), np.empty((rows, k), np.int64)
    if k and rows == 1:
        # The selection in it is parallel.
        top_line(before, x[0], k, values[0], places[0])
    elif k:
        for row in prange(rows):
            top_line(before, x[row], k, values[row], places[row])
    return values, places


def differs(before, a, b):
    """Whether two elements are not equal in an order."""
    # Without a branch.
    return before(a, b) | before(b, a)


def run_starts(before, x, firsts):
    """How many runs of equal elements begin before each block of a line.

    `firsts` tells of each element whether one begins there.
    """
    blocks = (x.size + PART - 1) // PART
    counts = np.zeros(blocks + 1, np.int64)
    for t in prange(blocks):
        count = int(t == 0)
        if t == 0:
            put(firsts, 0, True)
        for i in range(max(t * PART, 1), min((t + 1) * PART, x.size)):
            is_first = differs(before, element(x, i - 1), element(x, i))
            put(firsts, i, is_first)
            count += is_first
        put(counts, t + 1, count)
    for t in range(blocks):
        put(counts, t + 1, element(counts, t) + element(counts, t + 1))
    return counts


def runs_of_block(x, firsts, start, at, end, values, starts):
    """The runs that begin in a block: their elements, and where they begin, go to the places from `at` to `end`."""
    i, k = start, at
    while k < end:
        # Of elements that begin no run the place is written again, so that there is no branch.
        put(starts, k, i)
        k += element(firsts, i)
        i += 1
    for k in range(at, end):
        put(values, k, element(x, element(starts, k)))


def runs(before, x):
    """Runs of equal elements: their elements and lengths."""
    firsts = np.empty(x.size, np.bool_)
    counts = run_starts(before, x, firsts)
    number = element(counts, counts.size - 1)
    values, starts = np.empty(number, x.dtype), np.empty(number + 1, np.int64)
    for t in prange(counts.size - 1):
        runs_of_block(x, firsts, t * PART, element(counts, t), element(counts, t + 1), values, starts)
    put(starts, number, x.size)
    return values, starts[1:] - starts[:-1]
