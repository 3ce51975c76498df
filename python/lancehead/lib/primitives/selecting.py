"""Loops of selections, with the order of the elements as their first argument."""

import numpy as np

from lancehead import prange

#: Elements that a thread looks at, at a time.
BLOCK = 65536
#: Lines that are shorter are partitioned at once.
SHORT = 4 * BLOCK
#: Elements of a sample.
SAMPLE = 16384


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
def between(before, x, low, high, is_first, is_last, kept, counts, below):
    """For each block its elements from `low` to `high`, and how many are before `low`.

    Of the first and last elements of a sample nothing is before or after.
    """
    for t in prange(counts.size):
        start, stop = t * BLOCK, min((t + 1) * BLOCK, x.size)
        at, less = start, 0
        for i in range(start, stop):
            v = x[i]
            is_less = not is_first and before(v, low)
            less += is_less
            # Written whether it is kept or not, so that there is no branch.
            kept[at] = v
            at += not (is_less or (not is_last and before(high, v)))
        counts[t], below[t] = at - start, less


def smallest(before, x, k):
    """The element that sorting puts at place `k`.

    Two elements of a sample enclose it with high probability; one pass keeps what is between them. If it is not there,
    or if too much is, the line is partitioned.
    """
    n = x.size
    if n < SHORT:
        return np.partition(x, k)[k]
    sample = np.empty(SAMPLE, x.dtype)
    step = n // SAMPLE
    for i in range(SAMPLE):
        # Places vary within their steps, so that lines with a period are sampled as others.
        sample[i] = x[i * step + (i * 40503 % 65536) * step // 65536]
    sample = np.sort(sample)
    rank, margin = int(k / n * SAMPLE), 320
    low, high = max(rank - margin, 0), min(rank + margin, SAMPLE - 1)
    blocks = (n + BLOCK - 1) // BLOCK
    kept, counts, below = np.empty(n + 1, x.dtype), np.empty(blocks, np.int64), np.empty(blocks, np.int64)
    between(before, x, sample[low], sample[high], low == 0, high == SAMPLE - 1, kept, counts, below)
    place, count = k - np.sum(below), np.sum(counts)
    if place < 0 or place >= count or count > n // 2:
        return np.partition(x, k)[k]
    found = np.empty(count, x.dtype)
    at = 0
    for t in range(blocks):
        found[at : at + counts[t]] = kept[t * BLOCK : t * BLOCK + counts[t]]
        at += counts[t]
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
    found = np.empty(k, np.int64)
    at = 0
    for i in range(x.size):
        if before(least, x[i]):
            found[at] = i
            at += 1
    for i in range(x.size):
        if at == k:
            break
        if not before(x[i], least) and not before(least, x[i]):
            found[at] = i
            at += 1
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
    return before(a, b) or before(b, a)


def runs(before, x):
    """Runs of equal elements: their elements and lengths."""
    number = 0
    for i in range(x.size):
        if i == 0 or differs(before, x[i - 1], x[i]):
            number += 1
    values, lengths = np.empty(number, x.dtype), np.zeros(number, np.int64)
    at = -1
    for i in range(x.size):
        if i == 0 or differs(before, x[i - 1], x[i]):
            at += 1
            values[at] = x[i]
        lengths[at] += 1
    return values, lengths


def merged(before, a, b):
    """Two sorted lines as one."""
    out = np.empty(a.size + b.size, a.dtype)
    i, j, k = 0, 0, 0
    while i < a.size and j < b.size:
        x, y = a[i], b[j]
        is_second = before(y, x)
        out[k] = y if is_second else x
        i += 1 - int(is_second)
        j += int(is_second)
        k += 1
    out[k : k + a.size - i] = a[i:]
    out[k + a.size - i :] = b[j:]
    return out


def combined(before, a, b, keep):
    """Different elements of sorted lines: of the first only, of both, of the second only, as `keep` says."""
    of_a, of_both, of_b = keep
    one, other = runs(before, a)[0], runs(before, b)[0]
    out = np.empty(one.size + other.size, a.dtype)
    i, j, k = 0, 0, 0
    while i < one.size or j < other.size:
        if j == other.size or (i < one.size and before(one[i], other[j])):
            if of_a:
                out[k] = one[i]
                k += 1
            i += 1
        elif i == one.size or before(other[j], one[i]):
            if of_b:
                out[k] = other[j]
                k += 1
            j += 1
        else:
            if of_both:
                out[k] = one[i]
                k += 1
            i += 1
            j += 1
    return out[:k].copy()
