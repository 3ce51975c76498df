"""Loops of reductions and running results by functions of a program."""

from lancehead import get_num_threads, prange
from lancehead.lib.primitives.lines import extents, fill, flat, get, new_line, put

#: Elements of a line that a task reduces, and columns of lines that are side by side.
BLOCK, TILE = 4096, 256
#: Elements of running results that are folded without those before, of four such spans at a time, and of a part of a
#: line that threads share; from so many rows on, rows are shared.
SPAN, GROUP, PART, FEW_ROWS = 512, 2048, 131072, 16


def four(op, at, line, m, i, *arrays):
    """Four elements combined in pairs, and these."""
    a = op(at(line, m, i, *arrays), at(line, m, i + 1, *arrays))
    return op(a, op(at(line, m, i + 2, *arrays), at(line, m, i + 3, *arrays)))


def up_to_four(op, at, line, m, i, n, *arrays):
    """Four elements as above; fewer from left to right."""
    if n == 4:
        return four(op, at, line, m, i, *arrays)
    total = at(line, m, i, *arrays)
    for k in range(1, n):
        total = op(total, at(line, m, i + k, *arrays))
    return total


def block(op, at, line, m, start, n, like, *arrays):
    """The elements of a block, four neighbours at a time, then their results in the same way, until one is left.

    Neighbours stay neighbours, so that operators need not be commutative; loops have no values from before.
    """
    count = (n + 3) // 4
    last = n - 4 * (count - 1)
    if count == 1:
        return up_to_four(op, at, line, m, start, n, *arrays)
    parts = new_line(count + count // 3 + 8, like)
    for k in range(count - 1):
        put(parts, k, four(op, at, line, m, start + 4 * k, *arrays))
    put(parts, count - 1, up_to_four(op, at, line, m, start + 4 * (count - 1), last, *arrays))
    begin = 0
    while count > 1:
        n, to = count, begin + count
        count = (n + 3) // 4
        for k in range(count - 1):
            put(parts, to + k, four(op, part, begin, 0, 4 * k, parts))
        put(parts, to + count - 1, up_to_four(op, part, begin, 0, 4 * (count - 1), n - 4 * (count - 1), parts))
        begin = to
    return get(parts, begin)


def part(begin, m, i, parts):
    """A result of elements, as `at` reads elements."""
    return get(parts, begin + i)


def block_in_lanes(op, at, line, m, start, n, like, *arrays):
    """The elements of a block, for operators that are commutative.

    Place j of a group of 64 belongs to lane j % 16: its four elements of a group are combined in pairs, the results of
    groups from left to right, the halves of the lanes with each other, and then the rest of fewer than 64 elements.
    """
    groups = n // 64
    rest = groups * 64
    if groups:
        lanes = new_line(16, like)
        for j in range(16):
            put(lanes, j, of_lane(op, at, line, m, start + j, *arrays))
        for k in range(1, groups):
            for j in range(16):
                put(lanes, j, op(get(lanes, j), of_lane(op, at, line, m, start + 64 * k + j, *arrays)))
        for half in (8, 4, 2, 1):
            for j in range(half):
                put(lanes, j, op(get(lanes, j), get(lanes, half + j)))
        total = get(lanes, 0)
    else:
        total = at(line, m, start, *arrays)
        rest = 1
    for i in range(rest, n):
        total = op(total, at(line, m, start + i, *arrays))
    return total


def of_lane(op, at, line, m, i, *arrays):
    """The elements of a group that belong to a lane."""
    a = op(at(line, m, i, *arrays), at(line, m, i + 16, *arrays))
    return op(a, op(at(line, m, i + 32, *arrays), at(line, m, i + 48, *arrays)))


def folded(op, begin, at, first, rows, n, m, *arrays):
    """Lines of elements, each reduced; `first` has the initial value, or nothing.

    `begin(row, n, m)` gives where a line begins in each array, and `at(line, m, i, *arrays)` its element at a place.
    """
    return in_blocks(block, op, begin, at, first, rows, n, m, *arrays)


def folded_in_lanes(op, begin, at, first, rows, n, m, *arrays):
    """As `folded`, by an operator that is commutative."""
    return in_blocks(block_in_lanes, op, begin, at, first, rows, n, m, *arrays)


def in_blocks(fold, op, begin, at, first, rows, n, m, *arrays):
    """Lines of elements, whose blocks are reduced by a function, and the results of the blocks, too."""
    out = new_line(rows, first)
    if n == 0:
        fill(out, get(first, 0))
        return out
    blocks = (n + BLOCK - 1) // BLOCK
    has_first = extents(first)[0] > 0
    if blocks == 1:
        for row in prange(rows):
            total = fold(op, at, begin(row, n, m), m, 0, n, first, *arrays)
            put(out, row, op(get(first, 0), total) if has_first else total)
        return out
    parts = new_line(rows * blocks, first)
    for t in prange(rows * blocks):
        start, line = t % blocks * BLOCK, begin(t // blocks, n, m)
        put(parts, t, fold(op, at, line, m, start, min(BLOCK, n - start), first, *arrays))
    for row in prange(rows):
        total = fold(op, part, row * blocks, m, 0, blocks, first, parts)
        put(out, row, op(get(first, 0), total) if has_first else total)
    return out


def folded_across(op, at, first, rows, n, m, *arrays):
    """Lines whose elements are `m` apart: in blocks from left to right, and the results of blocks, too.

    `at(place, column, *arrays)` is the element of a column whose line's element in column 0 is at a place. A task has
    the columns of a block that are next to each other.
    """
    out = new_line(rows * m, first)
    if n == 0:
        fill(out, get(first, 0))
        return out
    blocks, tiles = (n + BLOCK - 1) // BLOCK, (m + TILE - 1) // TILE
    has_first = extents(first)[0] > 0
    parts = new_line(rows * blocks * m, first)
    for t in prange(rows * blocks * tiles):
        column, line = t % tiles * TILE, t // tiles
        start, row = line % blocks * BLOCK, line // blocks
        across(
            op, at, parts, line * m, (row * n + start) * m, min(BLOCK, n - start), m, column, min(column + TILE, m),
            *arrays,
        )  # fmt: skip
    for row in range(rows):
        for c in range(m):
            total = get(parts, row * blocks * m + c)
            put(out, row * m + c, op(get(first, 0), total) if has_first else total)
        for k in range(1, blocks):
            for c in range(m):
                put(out, row * m + c, op(get(out, row * m + c), get(parts, (row * blocks + k) * m + c)))
    return out


def across(op, at, parts, to, place, n, m, column, stop, *arrays):
    """Columns of a block, each folded from left to right into a place of `parts`."""
    for c in range(column, stop):
        put(parts, to + c, at(place, c, *arrays))
    whole = (n - 1) // 4 * 4
    for i in range(1, whole, 4):
        here = place + i * m
        for c in range(column, stop):
            total = op(get(parts, to + c), at(here, c, *arrays))
            total = op(total, at(here + m, c, *arrays))
            total = op(total, at(here + 2 * m, c, *arrays))
            put(parts, to + c, op(total, at(here + 3 * m, c, *arrays)))
    for i in range(whole + 1, n):
        here = place + i * m
        for c in range(column, stop):
            put(parts, to + c, op(get(parts, to + c), at(here, c, *arrays)))


def scanned(op, first, exclusive, x):
    """Running results of lines: in spans of elements, each by itself, with the results of the spans before.

    The lines are next to each other in memory. Exclusive results are those of the initial value and the elements after
    it, without the last.
    """
    rows, n = extents(x)
    out = new_line((rows, n), first)
    if n == 0 or rows == 0:
        return out
    line, to = flat(x), flat(out)
    # One thread passes over what is in the nearest cache.
    if rows < FEW_ROWS and n > GROUP and get_num_threads() > 1:
        for row in range(rows):
            scan_wide(op, first, exclusive, line, row * n, n, to)
    else:
        for row in prange(rows):
            scan_row(op, first, exclusive, line, row * n, n, to)
    return out


def scan_row(op, first, exclusive, x, base, n, out):
    """The running results of a line."""
    has_first = extents(first)[0] > 0 and not exclusive
    total = get(first, 0) if has_first else get(x, base)
    for start in range(0, n, GROUP):
        stop = min(start + GROUP, n)
        scan_group(op, first, exclusive, x, base, start, stop, out)
        for span in range(start, stop, SPAN):
            end = min(span + SPAN, stop)
            if span > 0 or has_first:
                join_span(op, total, out, base + span, base + end)
            total = get(out, base + end - 1)


def scan_wide(op, first, exclusive, x, base, n, out):
    """The same in parallel: parts of the line that stay in the cache between their two passes, one after the other."""
    has_first = extents(first)[0] > 0 and not exclusive
    total = get(first, 0) if has_first else get(x, base)
    before = new_line(PART // SPAN, first)
    for part_start in range(0, n, PART):
        part_end = min(part_start + PART, n)
        groups = (part_end - part_start + GROUP - 1) // GROUP
        for t in prange(groups):
            start = part_start + t * GROUP
            scan_group(op, first, exclusive, x, base, start, min(start + GROUP, part_end), out)
        for span in range(part_start, part_end, SPAN):
            last = get(out, base + min(span + SPAN, part_end) - 1)
            put(before, (span - part_start) // SPAN, total)
            total = op(total, last) if span > 0 or has_first else last
        for t in prange(groups):
            start = part_start + t * GROUP
            for span in range(start, min(start + GROUP, part_end), SPAN):
                if span > 0 or has_first:
                    known = get(before, (span - part_start) // SPAN)
                    join_span(op, known, out, base + span, base + min(span + SPAN, part_end))


def join_span(op, before, out, start, stop):
    """Combines what is before a span with its results."""
    for i in range(start, stop):
        put(out, i, op(before, get(out, i)))


def scan_group(op, first, exclusive, x, base, start, stop, out):
    """The running results of the spans of a group, each by itself; of a whole group at the same time."""
    back = base - int(exclusive)
    if stop - start < GROUP:
        for span in range(start, stop, SPAN):
            total = begin_span(first, exclusive, x, back, base, span, out)
            for i in range(span + 1, min(span + SPAN, stop)):
                total = op(total, get(x, back + i))
                put(out, base + i, total)
        return
    t0 = begin_span(first, exclusive, x, back, base, start, out)
    t1 = begin_span(first, exclusive, x, back, base, start + SPAN, out)
    t2 = begin_span(first, exclusive, x, back, base, start + 2 * SPAN, out)
    t3 = begin_span(first, exclusive, x, back, base, start + 3 * SPAN, out)
    for i in range(start + 1, start + SPAN):
        t0 = op(t0, get(x, back + i))
        t1 = op(t1, get(x, back + i + SPAN))
        t2 = op(t2, get(x, back + i + 2 * SPAN))
        t3 = op(t3, get(x, back + i + 3 * SPAN))
        put(out, base + i, t0)
        put(out, base + i + SPAN, t1)
        put(out, base + i + 2 * SPAN, t2)
        put(out, base + i + 3 * SPAN, t3)


def begin_span(first, exclusive, x, back, base, span, out):
    """The first result of a span."""
    total = get(first, 0) if exclusive and span == 0 else get(x, back + span)
    put(out, base + span, total)
    return total


def check_offsets(offsets, n, whole):
    """Raises ValueError for bounds of segments that are not in order, or, if `whole`, leave elements out."""
    for i in range(offsets.size):
        if offsets[i] < 0 or offsets[i] > n:
            raise IndexError(f"offset {offsets[i]} is out of bounds for {n} elements")
        if i and offsets[i] < offsets[i - 1]:
            raise ValueError("offsets of segments must not decrease")
    if whole and (offsets[0] != 0 or offsets[-1] != n):
        raise ValueError("segments must hold all elements: offsets begin with 0 and end with their number")


def segments_folded(op, first, x, offsets):
    """Segments of lines, each folded from left to right after the initial value."""
    rows, n = extents(x)
    check_offsets(offsets, n, False)
    number = offsets.size - 1
    out = new_line((rows, number), first)
    line, to = flat(x), flat(out)
    for t in prange(rows * number):
        row = t // number
        base, k = row * n, t - row * number
        total = get(first, 0)
        for i in range(base + get(offsets, k), base + get(offsets, k + 1)):
            total = op(total, get(line, i))
        put(to, t, total)
    return out


def segments_scanned(op, first, exclusive, x, offsets):
    """Running results of the segments of lines, which do not overlap."""
    rows, n = extents(x)
    check_offsets(offsets, n, True)
    number = offsets.size - 1
    out = new_line((rows, n), first)
    line, to = flat(x), flat(out)
    has_first, back = extents(first)[0] > 0, int(exclusive)
    for t in prange(rows * number):
        row = t // number
        base, k = row * n, t - row * number
        start, stop = base + get(offsets, k), base + get(offsets, k + 1)
        if start < stop:
            total = get(first, 0) if has_first else get(line, start)
            if has_first and not exclusive:
                total = op(total, get(line, start))
            put(to, start, total)
            for i in range(start + 1, stop):
                total = op(total, get(line, i - back))
                put(to, i, total)
    return out
