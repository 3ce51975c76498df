"""Loops of reductions and running results by functions of a program."""

from lancehead import prange
from lancehead.lib.primitives.lines import extents, fill, get, new_line, put


def eight(op, at, line, m, i, *arrays):
    """Eight elements combined in pairs, and these in pairs."""
    a = op(at(line, m, i, *arrays), at(line, m, i + 1, *arrays))
    b = op(at(line, m, i + 2, *arrays), at(line, m, i + 3, *arrays))
    c = op(at(line, m, i + 4, *arrays), at(line, m, i + 5, *arrays))
    d = op(at(line, m, i + 6, *arrays), at(line, m, i + 7, *arrays))
    return op(op(a, b), op(c, d))


def block(op, at, line, m, start, stop, *arrays):
    """The elements of a block, reduced in the order of this module."""
    whole = (stop - start) // 8
    if whole:
        total = eight(op, at, line, m, start, *arrays)
        for k in range(1, whole):
            total = op(total, eight(op, at, line, m, start + 8 * k, *arrays))
        first = start + 8 * whole
    else:
        total = at(line, m, start, *arrays)
        first = start + 1
    for i in range(first, stop):
        total = op(total, at(line, m, i, *arrays))
    return total


def folded(op, begin, at, first, rows, n, m, *arrays):
    """Lines of elements, each reduced; `first` has the initial value, or nothing.

    `begin(row, n, m)` gives where a line begins in each array, and `at(line, m, i, *arrays)` its element at a place.
    """
    out = new_line(rows, first)
    if n == 0:
        fill(out, get(first, 0))
        return out
    blocks = (n + 2047) // 2048
    parts = new_line(rows * blocks, first)
    for t in prange(rows * blocks):
        start, line = t % blocks * 2048, begin(t // blocks, n, m)
        put(parts, t, block(op, at, line, m, start, min(start + 2048, n), *arrays))
    for row in range(rows):
        total = get(parts, row * blocks)
        if extents(first)[0]:
            total = op(get(first, 0), total)
        for k in range(1, blocks):
            total = op(total, get(parts, row * blocks + k))
        put(out, row, total)
    return out


def scanned(op, first, exclusive, x):
    """Running results of lines."""
    rows, n = extents(x)
    out = new_line((rows, n), first)
    if n:
        for row in prange(rows):
            total = get(first, 0) if extents(first)[0] else get(x, (row, 0))
            if extents(first)[0] and not exclusive:
                total = op(total, get(x, (row, 0)))
            put(out, (row, 0), total)
            back = 1 if exclusive else 0
            for i in range(1, n):
                total = op(total, get(x, (row, i - back)))
                put(out, (row, i), total)
    return out


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
    for t in prange(rows * number):
        row, k = t // number, t % number
        total = get(first, 0)
        for i in range(offsets[k], offsets[k + 1]):
            total = op(total, get(x, (row, i)))
        put(out, (row, k), total)
    return out


def segments_scanned(op, first, exclusive, x, offsets):
    """Running results of the segments of lines, which do not overlap."""
    rows, n = extents(x)
    check_offsets(offsets, n, True)
    number = offsets.size - 1
    out = new_line((rows, n), first)
    for t in prange(rows * number):
        row, k = t // number, t % number
        start, stop = offsets[k], offsets[k + 1]
        if start < stop:
            total = get(first, 0) if extents(first)[0] else get(x, (row, start))
            if extents(first)[0] and not exclusive:
                total = op(total, get(x, (row, start)))
            put(out, (row, start), total)
            back = 1 if exclusive else 0
            for i in range(start + 1, stop):
                total = op(total, get(x, (row, i - back)))
                put(out, (row, i), total)
    return out
