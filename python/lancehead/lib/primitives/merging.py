"""Merges and set operations of sorted lines, with the order of the elements as their first argument.

A step of a merge waits for the comparison of the step before, and a branch on it would be mispredicted half of the
time. So lines are divided into parts by their places in the merged line, and four parts are merged in turns by steps
without branches, which the processor overlaps.

Memory is safe for lines that are not sorted, too: steps are counted so that all places exist.
"""

import numpy as np

from lancehead import get_num_threads, prange
from lancehead.lib import prim
from lancehead.lib.primitives.lines import element, put
from lancehead.lib.primitives.selecting import plain_before

#: Elements of a part. It is no multiple of a page, so that the places of four parts are not in one set of a cache.
PART = 8000
#: Fewer steps of four parts are not worth counting.
FEW = 8
#: Places of a part beyond its elements.
SLACK = 16


def numbers_of(x):
    """How many elements are before the first NaN of a sorted line."""
    low, high = 0, x.size
    while low < high:
        middle = (low + high) // 2
        v = element(x, middle)
        if v == v:
            low = middle + 1
        else:
            high = middle
    return low


def first_not_before(before, x, low, high, v):
    """The first place from `low` on, up to `high`, of an element of a sorted line that is not before a value."""
    while low < high:
        middle = (low + high) // 2
        if before(element(x, middle), v):
            low = middle + 1
        else:
            high = middle
    return low


def first_after(before, x, high, v):
    """The first place, up to `high`, of an element of a sorted line that is after a value."""
    low = 0
    while low < high:
        middle = (low + high) // 2
        if before(v, element(x, middle)):
            high = middle
        else:
            low = middle + 1
    return low


def split(before, a, n, b, m, at):
    """How many of the first `at` elements of the merged line are of the second line."""
    low, high = max(at - m, 0), min(at, n)
    while low < high:
        middle = (low + high) // 2
        if before(element(b, at - 1 - middle), element(a, middle)):
            high = middle
        else:
            low = middle + 1
    return at - low


def fours(total):
    """How many groups of four parts so many elements are, and the elements of a group."""
    size = 4 * min(PART, total // 4 + 1)
    return (total + size - 1) // size, size


def merged(before, a, b):
    """Two sorted lines as one."""
    out = np.empty(a.size + b.size, a.dtype)
    if prim.is_float(prim.dtype_of(a)):
        # Numbers are compared at once, and NaN are after them.
        n, m = numbers_of(a), numbers_of(b)
        for k in range(a.size - n):
            put(out, n + m + k, element(a, n + k))
        for k in range(b.size - m):
            put(out, a.size + m + k, element(b, m + k))
        merge_lines(plain_before, a, n, b, m, out)
    else:
        merge_lines(before, a, a.size, b, b.size, out)
    return out


def merge_lines(before, a, n, b, m, out):
    """The first elements of sorted lines, so many, as one line."""
    i, j, i_end, j_end = common(before, a, n, b, m)
    for side in range(2):
        x, head, end, size, others = (b, j, j_end, m, n) if side else (a, i, i_end, n, m)
        for k in range(head):
            put(out, k, element(x, k))
        for k in range(end, size):
            put(out, others + k, element(x, k))
    start, stop = i + j, i_end + j_end
    groups, size = fours(stop - start)
    for t in prange(groups):
        merge_group(before, a, n, b, m, start + t * size, min(start + (t + 1) * size, stop), out)


def common(before, a, n, b, m):
    """Where the part of two lines begins and ends before and after which elements are of one line only."""
    if n == 0 or m == 0:
        return n, m, n, m
    if before(element(b, 0), element(a, 0)):
        i, j = 0, first_not_before(before, b, 0, m, element(a, 0))
    else:
        i, j = first_not_before(before, a, 0, n, element(b, 0)), 0
    if before(element(b, m - 1), element(a, n - 1)):
        return i, j, max(i, first_after(before, a, n, element(b, m - 1))), m
    return i, j, n, max(j, first_after(before, b, m, element(a, n - 1)))


def merge_group(before, a, n, b, m, start, stop, out):
    """Elements of the merged line, in four parts."""
    size = (stop - start + 3) // 4
    # Where the parts are in the merged line, and in the second one.
    k, j = np.empty(5, np.int64), np.empty(4, np.int64)
    put(k, 4, stop)
    for p in range(4):
        put(k, p, min(start + p * size, stop))
        put(j, p, split(before, a, n, b, m, element(k, p)))
    k0, k1, k2, k3 = element(k, 0), element(k, 1), element(k, 2), element(k, 3)
    j0, j1, j2, j3 = element(j, 0), element(j, 1), element(j, 2), element(j, 3)
    while True:
        # The last part is the shortest. In so many steps no line ends.
        steps = min(stop - k3, m - max(j0, j1, j2, j3), n - max(k0 - j0, k1 - j1, k2 - j2, k3 - j3))
        if steps < FEW:
            break
        for _ in range(steps):
            j0 += merge_step(before, a, b, k0, j0, out)
            j1 += merge_step(before, a, b, k1, j1, out)
            j2 += merge_step(before, a, b, k2, j2, out)
            j3 += merge_step(before, a, b, k3, j3, out)
            k0 += 1
            k1 += 1
            k2 += 1
            k3 += 1
    put(j, 0, j0)
    put(j, 1, j1)
    put(j, 2, j2)
    put(j, 3, j3)
    for p in range(4):
        merge_rest(before, a, n, b, m, element(k, p) + k0 - start, element(j, p), element(k, p + 1), out)


def merge_step(before, a, b, k, j, out):
    """Stores element `k` of the merged line, where `j` are of the second line; whether it is of this one, too."""
    x, y = element(a, k - j), element(b, j)
    is_second = before(y, x)
    put(out, k, y if is_second else x)
    return int(is_second)


def merge_rest(before, a, n, b, m, k, j, stop, out):
    """The elements of the merged line up to a place, one after the other."""
    while k < stop and j < m and k - j < n:
        for _ in range(min(stop - k, m - j, n - k + j)):
            j += merge_step(before, a, b, k, j, out)
            k += 1
    if j < m:
        for i in range(stop - k):
            put(out, k + i, element(b, j + i))
    else:
        for i in range(stop - k):
            put(out, k + i, element(a, k - j + i))


def combined(before, a, b, keep):
    """Different elements of sorted lines: of the first only, of both, of the second only, as `keep` says."""
    bits = 2 * int(keep[0]) + 4 * int(keep[2]) + 8 * int(keep[1])
    if prim.is_float(prim.dtype_of(a)):
        # Numbers are compared at once, and all NaN are one.
        n, m = numbers_of(a), numbers_of(b)
        has_one, has_other = n < a.size, m < b.size
        has_nan = has_one or has_other
        more = kept(bits, has_one, has_other) if has_nan else 0
        out = combine_lines(plain_before, a, n, b, m, bits, more)
        if more:
            put(out, out.size - 1, element(a, n) if has_one else element(b, m))
        return out
    return combine_lines(before, a, a.size, b, b.size, bits, 0)


def kept(bits, is_of_first, is_of_second):
    """Whether an element that is in so many lines is kept: 1 or 0."""
    return (bits >> (int(is_of_first) + 2 * int(is_of_second))) & 1


def combine_lines(before, a, n, b, m, bits, more):
    """The elements of the first ones of sorted lines that are kept, and so many undefined ones after them."""
    if n + m == 0:
        return np.empty(more, a.dtype)
    found = np.empty(n + m + more + 1, a.dtype)
    # The least value is done before, so that each part has an element before it.
    least = element(b, 0) if n == 0 or (m > 0 and before(element(b, 0), element(a, 0))) else element(a, 0)
    i0, j0 = first_after(before, a, n, least), first_after(before, b, m, least)
    put(found, 0, least)
    i, j, i_end, j_end = common(before, a, n, b, m)
    i, j = max(i, i0), max(j, j0)
    i_end, j_end = max(i, i_end), max(j, j_end)
    tasks = get_num_threads() if n + m > 16 * PART else 1
    counts = np.empty(tasks, np.int64)
    at = kept(bits, i0 > 0, j0 > 0)
    for half in range(2):
        if half:
            at = both_sided(before, a, n, b, m, i + j, i_end + j_end, bits, found, at, counts)
            i0, j0, i, j = i_end, j_end, n, m
        for side in range(2):
            if kept(bits, side == 0, side == 1):
                at = one_sided(before, b if side else a, j0 if side else i0, j if side else i, found, at, counts)
    out = found[: at + more]
    return out.copy() if 2 * at < n + m else out


def gathered(found, at, total, counts):
    """Moves what tasks found next to each other; the place after it."""
    # Of sorted lines no more are found than there are elements.
    stop = at + total
    end = min(at + element(counts, 0), stop)
    for t in range(1, counts.size):
        start = at + total * t // counts.size
        count = min(element(counts, t), stop - max(start, end))
        for k in range(count):
            put(found, end + k, element(found, start + k))
        end = min(end + count, stop)
    return end


def one_sided(before, x, start, stop, found, at, counts):
    """Different elements of a part of a sorted line go to the places from `at` on; the place after them."""
    total = max(stop - start, 0)
    for t in prange(counts.size):
        low, high = start + total * t // counts.size, start + total * (t + 1) // counts.size
        begin = at + low - start
        put(counts, t, different(before, x, low, high, found, begin) - begin)
    return gathered(found, at, total, counts)


def different(before, x, low, high, found, k):
    """Elements of a part of a sorted line that are not equal to the one before go to the places from `k` on."""
    if low == 0 and low < high:
        put(found, k, element(x, 0))
        k += 1
        low = 1
    for i in range(low, high):
        v = element(x, i)
        put(found, k, v)
        k += int(before(element(x, i - 1), v))
    return k


def both_sided(before, a, n, b, m, start, stop, bits, found, at, counts):
    """The elements of parts of both lines that are kept go to the places from `at` on; the place after them."""
    total = stop - start
    for t in prange(counts.size):
        low, high = start + total * t // counts.size, start + total * (t + 1) // counts.size
        groups, size = fours(high - low)
        begin = k = at + low - start
        scratch = np.empty(size + 4 * SLACK, a.dtype)
        for g in range(groups):
            first, last = low + g * size, min(low + (g + 1) * size, high)
            k = combine_group(before, a, n, b, m, first, last, start, stop, bits, scratch, found, k)
        put(counts, t, k - begin)
    return gathered(found, at, total, counts)


def part_from(before, a, n, b, m, at, start, stop):
    """Where a part begins in both lines that is not within equal elements, and the element before it."""
    j = split(before, a, n, b, m, at)
    i = at - j
    if start < at < stop:
        is_second = i == n or (j < m and before(element(b, j), element(a, i)))
        v = element(b, j) if is_second else element(a, i)
        i, j = first_not_before(before, a, 0, i, v), first_not_before(before, b, 0, j, v)
    if i > 0 and (j == 0 or not before(element(a, i - 1), element(b, j - 1))):
        return i, j, element(a, i - 1)
    # Of sorted lines there is an element before.
    return i, j, element(b, max(j - 1, 0)) if m > 0 else element(a, 0)


def combine_group(before, a, n, b, m, first, last, start, stop, bits, scratch, found, at):
    """The elements of four parts that are kept go to the places from `at` on; the place after them."""
    size, room = (last - first + 3) // 4, scratch.size // 4
    # Where the parts begin in both lines, the places that are written next, and the values before.
    i, j, k, v = np.empty(5, np.int64), np.empty(5, np.int64), np.empty(5, np.int64), np.empty(5, a.dtype)
    for p in range(5):
        x, y, value = part_from(before, a, n, b, m, min(first + p * size, last), start, stop)
        put(i, p, x)
        put(j, p, y)
        put(k, p, p * room)
        put(v, p, value)
    i0, i1, i2, i3 = element(i, 0), element(i, 1), element(i, 2), element(i, 3)
    j0, j1, j2, j3 = element(j, 0), element(j, 1), element(j, 2), element(j, 3)
    v0, v1, v2, v3 = element(v, 0), element(v, 1), element(v, 2), element(v, 3)
    k0, k1, k2, k3 = 0, room, 2 * room, 3 * room
    a1, a2, a3, a4, b1, b2, b3, b4 = i1, i2, i3, element(i, 4), j1, j2, j3, element(j, 4)
    while True:
        # A part has as many steps as its longer line has elements. In so many no line ends, and there is room.
        steps = min(max(a1 - i0, b1 - j0), max(a2 - i1, b2 - j1), max(a3 - i2, b3 - j2), max(a4 - i3, b4 - j3))
        steps = min(steps, n - max(i0, i1, i2, i3), m - max(j0, j1, j2, j3))
        steps = min(steps, room - max(k0, k1 - room, k2 - 2 * room, k3 - 3 * room))
        if steps < FEW:
            break
        for _ in range(steps):
            i0, j0, v0, k0 = combine_step(before, a, b, i0, j0, v0, k0, scratch, bits)
            i1, j1, v1, k1 = combine_step(before, a, b, i1, j1, v1, k1, scratch, bits)
            i2, j2, v2, k2 = combine_step(before, a, b, i2, j2, v2, k2, scratch, bits)
            i3, j3, v3, k3 = combine_step(before, a, b, i3, j3, v3, k3, scratch, bits)
    ends = (a1, a2, a3, a4), (b1, b2, b3, b4)
    now = (i0, i1, i2, i3), (j0, j1, j2, j3), (k0, k1, k2, k3), (v0, v1, v2, v3)
    for p in range(4):
        x, y, z, value = now[0][p], now[1][p], now[2][p], now[3][p]
        z = combine_rest(before, a, x, ends[0][p], b, y, ends[1][p], value, z, (p + 1) * room, scratch, bits)
        at = moved(scratch, p * room, z, found, at)
    return at


def moved(scratch, start, stop, found, at):
    """Copies elements to the places from `at` on; the place after them."""
    count = min(stop - start, found.size - at)
    for k in range(count):
        put(found, at + k, element(scratch, start + k))
    return at + count


def combine_step(before, a, b, i, j, last, k, scratch, bits):
    """The places in both lines after the next value, the value, and the place for the next one that is kept."""
    x, y = element(a, i), element(b, j)
    is_second = before(y, x)
    of_first, of_second = int(not is_second), int(not before(x, y))
    v = y if is_second else x
    # It is written whether it is kept or not, so that there is no branch; what follows writes there again.
    put(scratch, k, v)
    return i + of_first, j + of_second, v, k + (kept(bits, of_first, of_second) & int(before(last, v)))


def combine_rest(before, a, i, i_end, b, j, j_end, last, k, limit, scratch, bits):
    """The rest of a part, one value after the other; the place after those that are kept.

    Of sorted lines no more are kept than there is room for.
    """
    while i < i_end and j < j_end:
        for _ in range(min(i_end - i, j_end - j)):
            i, j, last, k = combine_step(before, a, b, i, j, last, min(k, limit - 1), scratch, bits)
    if kept(bits, True, False):
        for p in range(i, i_end):
            v = element(a, p)
            put(scratch, min(k, limit - 1), v)
            k += int(before(last, v))
            last = v
    if kept(bits, False, True):
        for p in range(j, j_end):
            v = element(b, p)
            put(scratch, min(k, limit - 1), v)
            k += int(before(last, v))
            last = v
    return min(k, limit)
