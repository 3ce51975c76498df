"""How reductions run: over all elements, or along one axis, with functions for the element, the step and one line.

Sums of floats are pairwise with NumPy's blocks, so that results agree with NumPy's to the last bit or nearly so and the
eight partial sums of a block vectorise.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import check_flag, index_of
from lancehead.lib.numpy.casting import check_cast
from lancehead.lib.numpy.layout import (
    check_axis,
    flat,
    flat_any,
    lane,
    lanes,
    new_array,
    packed_lane,
    row,
    with_shape,
)

#: From so many elements on, reductions over all of them run on the pool, under `parallel=True`.
MANY = 262144
#: So many lines, or blocks of this many columns, are enough for the threads there may be.
FEW = 16
COLUMNS = 256
#: Elements of a block; that it is a power of two times 128 keeps the blocks of pairwise sums.
BLOCK = 16384
#: Elements of a part of an array that is filled part by part, which stay in the first cache.
PART = 2048


def plus(a, b):
    """Step of sums; of truth values, whether one is true."""
    return a | b if prim.is_bool(a) and prim.is_bool(b) else a + b


def times(a, b):
    """Step of products; of truth values, whether both are true."""
    return a & b if prim.is_bool(a) and prim.is_bool(b) else a * b


def pairwise(v, start, n, term, extra):
    """Sum of `term(x, extra)` over part of a line, by halves down to blocks of at most 128."""
    if n > 128:
        half = prim.shr(n, 1)
        half -= half & 7
        return pairwise(v, start, half, term, extra) + pairwise(v, start + half, n - half, term, extra)
    return _block(v, start, n, term, extra)


def _block(v, start, n, term, extra):
    # Sum of at most 128 elements, and at least one.
    end = start + n
    i = start + 1
    total = term(prim.item(v, start), extra)
    if n >= 8:
        total = _eights(v, start, end, term, extra)
        i = end - (n & 7)
    while i < end:
        prim.abreast()
        total += term(prim.item(v, i), extra)
        i += 1
    return total


def _eights(v, start, end, term, extra):
    # Sum of as many elements as is a multiple of eight.
    r0 = term(prim.item(v, start), extra)
    r1 = term(prim.item(v, start + 1), extra)
    r2 = term(prim.item(v, start + 2), extra)
    r3 = term(prim.item(v, start + 3), extra)
    r4 = term(prim.item(v, start + 4), extra)
    r5 = term(prim.item(v, start + 5), extra)
    r6 = term(prim.item(v, start + 6), extra)
    r7 = term(prim.item(v, start + 7), extra)
    i = start + 8
    while i + 8 <= end:
        prim.abreast()
        r0 += term(prim.item(v, i), extra)
        r1 += term(prim.item(v, i + 1), extra)
        r2 += term(prim.item(v, i + 2), extra)
        r3 += term(prim.item(v, i + 3), extra)
        r4 += term(prim.item(v, i + 4), extra)
        r5 += term(prim.item(v, i + 5), extra)
        r6 += term(prim.item(v, i + 6), extra)
        r7 += term(prim.item(v, i + 7), extra)
        i += 8
    return ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))


def sum_line(v, term, extra):
    """Sum of the terms of a line that is not empty."""
    first = term(prim.item(v, 0), extra)
    if prim.is_float(first) or prim.is_complex(first):
        # Without the recursion, so that short sums are part of what is around them.
        if v.size <= 128:
            return _block(v, 0, v.size, term, extra)
        return pairwise(v, 0, v.size, term, extra)
    return fold_line(v, plus, term, extra)


def fold_line(v, step, term, extra):
    """The terms of a line that is not empty, joined by a step from the left."""
    total = term(prim.item(v, 0), extra)
    for i in range(1, v.size):
        total = step(total, term(prim.item(v, i), extra))
    return total


def _line(v, step, term, extra, summing):
    if summing:
        return sum_line(v, term, extra)
    return fold_line(v, step, term, extra)


def fold_all(a, step, term, extra, summing):
    """All elements of an array that is not empty, joined by a step that may go in any order."""
    if is_produced(a):
        return _line_of_parts(a, 0, a.size, step, term, extra, summing)
    if a.ndim == 2 and prim.layout(a) == "A":
        total = _line(row(a, 0), step, term, extra, summing)
        for i in range(1, a.shape[0]):
            total = step(total, _line(row(a, i), step, term, extra, summing))
        return total
    v = flat_any(a)
    if prim.parallel_reductions():
        if on_pool(v):
            return _in_blocks(v, step, term, extra, summing)
    return _line(v, step, term, extra, summing)


def _in_blocks(v, step, term, extra, summing):
    # A line on the pool: the blocks, and their results, are the same for any number of threads.
    n = prim.sdiv(v.size + BLOCK - 1, BLOCK)
    parts = new_array((n,), prim.dtype_of(term(prim.item(v, 0), extra)))
    for i in prim.blocks(n):
        prim.set_item(parts, i, _line(block_of(v, i), step, term, extra, summing))
    return _line(parts, step, _itself, None, summing)


def is_produced(a):
    """Whether an array is an elementwise computation that is made part by part, as a reduction reads it.

    The pass `join_reductions` decides. Such a reduction reads each element in one part (`part_of`), asks of the array
    nothing else but its extents, and writes to no memory that existed before. Reductions on the pool read whole arrays,
    whose parts its threads take.
    """
    if prim.parallel_reductions():
        return False
    dtype = prim.dtype_of(a)
    if prim.layout(a) == "C" and a.ndim > 0:
        if prim.is_bool(dtype) or prim.is_int(dtype) or prim.is_float(dtype) or prim.is_complex(dtype):
            return prim.lh_is_produced(prim.data(a))
    return False


def part_of(a, start, n):
    """So many elements in row-major order, at most `PART`, of an array that is produced."""
    size = prim.itemsize(prim.dtype_of(a))
    owner, data = prim.lh_part(prim.owner(a), prim.data(a), start, n, size)
    return prim.array(owner, data, (n,), (size,), prim.dtype_of(a), "C")


def _term_dtype(a, term, extra):
    return prim.dtype_of(term(prim.load(prim.data(a), prim.dtype_of(a)), extra))


def _line_of_parts(a, start, n, step, term, extra, summing):
    # As `_line` of so many elements, at least one.
    dtype = _term_dtype(a, term, extra)
    if summing and (prim.is_float(dtype) or prim.is_complex(dtype)):
        return _sum_of_parts(a, start, n, term, extra)
    total = prim.cast(0, dtype)
    i = 0
    while i < n:
        m = n - i if n - i < PART else PART
        found = fold_line(part_of(a, start + i, m), step, term, extra)
        total = step(total, found) if i > 0 else found
        i += m
    return total


def _sum_of_parts(a, start, n, term, extra):
    # The halves of `pairwise` down to parts, from left to right: the sums of left halves, and where the right ones end.
    # They are as many as an extent has bits, on the stack, whose memory ends with this function.
    dtype = _term_dtype(a, term, extra)
    lefts = prim.array(prim.nobody(), prim.lh_cuda_local(1024, 64), (64,), (prim.itemsize(dtype),), dtype, "C")
    ends = prim.array(prim.nobody(), prim.lh_cuda_local(512, 64), (64,), (8,), np.int64, "C")
    at, end, top = start, start + n, 0
    while True:
        while end - at > PART:
            prim.set_item(ends, top, end)
            top += 1
            half = prim.shr(end - at, 1)
            end = at + half - (half & 7)
        total = sum_line(part_of(a, at, end - at), term, extra)
        at = end
        while top > 0 and prim.item(ends, top - 1) == at:
            top -= 1
            total = prim.item(lefts, top) + total
        if top == 0:
            return total
        prim.set_item(lefts, top - 1, total)
        end = prim.item(ends, top - 1)


def _axis_of_parts(a, k, dtype, step, term, extra, summing, empty):
    # The results along an axis of an array that is produced.
    outer, n, inner = _lane_extents(a.shape, k)
    out = new_array((outer, inner), dtype)
    if n == 0 or inner == 0:
        _fill(out, empty)
    elif inner == 1 and n > PART:
        for i in range(outer):
            prim.set_item(out, i, 0, _line_of_parts(a, i * n, n, step, term, extra, summing))
    else:
        _lanes_of_parts(a, out, n, step, term, extra, summing)
    return out


def _fill(out, x):
    outer, inner = out.shape
    for i in range(outer):
        for j in range(inner):
            prim.set_item(out, i, j, x)


def _lanes_of_parts(a, out, n, step, term, extra, summing):
    # A part is several lanes, or some rows of one, or some columns of one row.
    outer, inner = out.shape
    size = n * inner
    width = inner if inner < PART else PART
    height = prim.sdiv(PART, width)
    i, m, left = 0, 0, 0
    while i < outer:
        count, rows, columns = 1, n, inner
        if size <= PART:
            count = prim.sdiv(PART, size)
            count = outer - i if outer - i < count else count
        else:
            rows = n - m if n - m < height else height
            columns = inner - left if inner - left < width else width
        v = part_of(a, i * size + m * inner + left, count * rows * columns)
        for c in range(count):
            if inner == 1:
                prim.set_item(out, i + c, 0, _line(_piece(v, c * n, n), step, term, extra, summing))
            else:
                _add_rows(
                    _piece(v, c * size, rows * columns), out, i + c, left, columns, rows, m == 0, step, term, extra
                )
        left += columns
        if left == inner:
            left = 0
            m += rows
        if m == n:
            m = 0
            i += count


def _piece(v, start, n):
    # So many elements of a contiguous line.
    size = prim.itemsize(prim.dtype_of(v))
    return prim.array(prim.owner(v), prim.ptr_add(prim.data(v), start * size), (n,), (size,), prim.dtype_of(v), "C")


def _add_rows(v, out, i, left, columns, rows, first, step, term, extra):
    # Rows of a part joined into part of a row of results.
    if first:
        for j in range(columns):
            prim.set_item(out, i, left + j, term(prim.item(v, j), extra))
    for m in range(1 if first else 0, rows):
        for j in range(columns):
            total = step(prim.item(out, i, left + j), term(prim.item(v, m * columns + j), extra))
            prim.set_item(out, i, left + j, total)


def _lane_extents(shape, k):
    # Elements before an axis, along it, and after it.
    outer, inner = 1, 1
    for d in range(k):
        outer *= shape[d]
    for d in range(k + 1, len(shape)):
        inner *= shape[d]
    return outer, shape[k], inner


def block_of(v, i):
    """Block number `i` of a line."""
    start = i * BLOCK
    size = BLOCK if start + BLOCK <= v.size else v.size - start
    data = prim.ptr_add(prim.data(v), start * v.strides[0])
    return prim.array(prim.owner(v), data, (size,), v.strides, prim.dtype_of(v), prim.layout(v))


def fold_axis(a, axis, keepdims, dtype, step, term, extra, summing, empty):
    """Elements along an axis joined by a step; `empty` is the result of none, or an error for None."""
    if a.ndim == 2 and prim.layout(a) == "F" and not keepdims:
        return fold_axis(a.T, 1 - check_axis(axis, 2), False, dtype, step, term, extra, summing, empty)
    k = check_axis(axis, a.ndim)
    if is_produced(a):
        return axis_result(_axis_of_parts(a, k, dtype, step, term, extra, summing, empty), a.shape, k, keepdims)
    v = lanes(a, k)
    outer, n, inner = v.shape
    out = new_array((outer, inner), dtype)
    if n == 0:
        _fill(out, empty)
    elif on_pool(v):
        _lanes_on_pool(v, out, step, term, extra, summing)
    elif inner == 1:
        for i in range(outer):
            prim.set_item(out, i, 0, _line(packed_lane(v, i), step, term, extra, summing))
    else:
        for i in range(outer):
            _columns(v, out, i, 0, n, 0, inner, i, step, term, extra)
    return axis_result(out, a.shape, k, keepdims)


def on_pool(a):
    """Whether a reduction of an array is to run on the pool."""
    if prim.parallel_reductions():
        return a.size >= MANY
    return False


def _columns(v, out, i, begin, end, left, right, to, step, term, extra):
    # Part of the rows and columns of a lane joined into part of a row of results.
    for j in range(left, right):
        prim.set_item(out, to, j, term(prim.item(v, i, begin, j), extra))
    for m in range(begin + 1, end):
        for j in range(left, right):
            prim.set_item(out, to, j, step(prim.item(out, to, j), term(prim.item(v, i, m, j), extra)))


def _lanes_on_pool(v, out, step, term, extra, summing):
    # Each result is made by one thread as on one thread, unless there are too few results for that.
    outer, n, inner = v.shape
    if inner == 1:
        if outer >= FEW:
            for i in prim.blocks(outer):
                prim.set_item(out, i, 0, _line(packed_lane(v, i), step, term, extra, summing))
        else:
            for i in range(outer):
                prim.set_item(out, i, 0, _in_blocks(packed_lane(v, i), step, term, extra, summing))
    elif outer * inner >= FEW * COLUMNS:
        parts = prim.sdiv(inner + COLUMNS - 1, COLUMNS)
        for t in prim.blocks(outer * parts):
            i = prim.sdiv(t, parts)
            left = (t - i * parts) * COLUMNS
            right = left + COLUMNS if left + COLUMNS < inner else inner
            _columns(v, out, i, 0, n, left, right, i, step, term, extra)
    else:
        _rows_on_pool(v, out, step, term, extra)


def _rows_on_pool(v, out, step, term, extra):
    # Blocks of rows, whose number and size do not depend on threads, and then the rows of their results.
    outer, n, inner = v.shape
    height = prim.sdiv(BLOCK, inner) + 1
    blocks = prim.sdiv(n + height - 1, height)
    parts = new_array((outer * blocks, inner), prim.dtype_of(out))
    for t in prim.blocks(outer * blocks):
        i = prim.sdiv(t, blocks)
        begin = (t - i * blocks) * height
        end = begin + height if begin + height < n else n
        _columns(v, parts, i, begin, end, 0, inner, t, step, term, extra)
    joined = with_shape(parts, (outer, blocks, inner))
    for i in range(outer):
        _columns(joined, out, i, 0, blocks, 0, inner, i, step, _itself, None)


def axis_result(out, shape, axis, keepdims):
    """A result along an axis of an array of a shape in its final form: a number for one dimension."""
    if keepdims:
        return with_shape(out, prim.tuple_set(shape, axis, 1))
    if len(shape) == 1:
        return prim.item(out, 0, 0)
    return with_shape(out, prim.tuple_drop(shape, axis))


def lines_axis(f, a, axis, keepdims, dtype, extra):
    """A function of every line along an axis."""
    check_flag(keepdims)
    k = check_axis(axis, a.ndim)
    v = lanes(a, k)
    outer, _, inner = v.shape
    out = new_array((outer, inner), dtype)
    if on_pool(v):
        for t in prim.blocks(outer * inner):
            i = prim.sdiv(t, inner)
            prim.set_item(out, i, t - i * inner, f(lane(v, i, t - i * inner), extra))
    else:
        for i in range(outer):
            for j in range(inner):
                prim.set_item(out, i, j, f(lane(v, i, j), extra))
    return axis_result(out, a.shape, k, keepdims)


def keep(x, ndim, keepdims):
    """A number, or with `keepdims` an array of it with a rank."""
    check_flag(keepdims)
    if not keepdims:
        return x
    out = new_array(prim.tuple_fill(ndim, 1), prim.dtype_of(x))
    prim.store(prim.data(out), x)
    return out


def deliver(result, out):
    """The result, stored where the caller wants it."""
    if out is None:
        return result
    if not prim.is_array(out):
        prim.error("`out` is an array")
    if (result.ndim if prim.is_array(result) else 0) != out.ndim:
        prim.error("`out` has another number of dimensions than the result")
    if prim.is_array(result):
        _check_extents(result.shape, out.shape)
    out[...] = result
    return out


def check_out(out, dtype, casting):
    """Refuses an output, if there is one, to which the rule does not allow a conversion."""
    if prim.is_array(out):
        check_cast(dtype, prim.dtype_of(out), casting)


def check_written_back(out, dtype):
    """Refuses an output of another type than the elements, as NumPy does where it copies the output back."""
    if prim.is_array(out):
        check_cast(prim.dtype_of(out), dtype, "safe")


def _check_extents(wanted, given):
    if wanted != given:
        raise ValueError("non-broadcastable output operand: its shape is not that of the result")


def fold(a, axis, keepdims, dtype, step, term, extra, summing, empty):
    """A reduction over everything (`axis` None), one axis or several; `empty` may be None for "an error"."""
    check_flag(keepdims)
    if a.ndim == 0 and (prim.is_int(axis) or prim.is_bool(axis)):
        check_no_axis(axis)
        return fold(a, None, keepdims, dtype, step, term, extra, summing, empty)
    if axis is None:
        return keep(fold_all(a, step, term, extra, summing) if a.size > 0 else empty, a.ndim, keepdims)
    if prim.is_tuple(axis):
        return _fold_axes(a, axis, keepdims, dtype, step, term, extra, summing, empty)
    return fold_axis(a, axis, keepdims, dtype, step, term, extra, summing, empty)


def check_no_axis(axis):
    """Accepts 0 and -1 as the axis of an array without any, as NumPy does for reductions."""
    if axis != 0 and axis != -1:
        raise np.exceptions.AxisError(index_of(axis), 0)


def _fold_axes(a, axes, keepdims, dtype, step, term, extra, summing, empty):
    if len(axes) == 0:
        # Over no axes: every element is reduced by itself.
        return fold_axis(a[..., None], a.ndim, False, dtype, step, term, extra, summing, empty)
    kept = fold_axis(a, axes[0], True, dtype, step, term, extra, summing, empty)
    for axis in axes[1:]:
        kept = fold_axis(kept, axis, True, dtype, step, _itself, extra, summing, empty)
    if keepdims:
        return kept
    if len(axes) == a.ndim:
        return prim.item(with_shape(kept, (1,)), 0)
    return with_shape(kept, _dropped(a.shape, axes, a.ndim))


def _itself(x, extra):
    return x


def _dropped(shape, axes, ndim):
    # The extents of the axes that stay, by dropping from the last axis to the first.
    if len(axes) == 0:
        return shape
    last, at = -1, 0
    for k in range(len(axes)):
        i = check_axis(axes[k], ndim)
        if i > last:
            last, at = i, k
    return _dropped(prim.tuple_drop(shape, last), prim.tuple_drop(axes, at), ndim)


def scan_axis(a, axis, dtype, step, term, extra):
    """Running results along an axis (None: over all elements in one dimension)."""
    if a.ndim == 0 and (prim.is_int(axis) or prim.is_bool(axis)):
        check_no_axis(axis)
        return scan_axis(a, None, dtype, step, term, extra)
    if axis is None:
        v = flat(a)
        line = new_array((v.size,), dtype)
        if v.size > 0:
            total = term(prim.item(v, 0), extra)
            prim.set_item(line, 0, total)
            for i in range(1, v.size):
                total = step(total, term(prim.item(v, i), extra))
                prim.set_item(line, i, total)
        return line
    k = check_axis(axis, a.ndim)
    v = lanes(a, k)
    outer, n, inner = v.shape
    out = new_array((outer, n, inner), dtype)
    for i in range(outer):
        if n > 0:
            for j in range(inner):
                prim.set_item(out, i, 0, j, term(prim.item(v, i, 0, j), extra))
        for m in range(1, n):
            for j in range(inner):
                prim.set_item(out, i, m, j, step(prim.item(out, i, m - 1, j), term(prim.item(v, i, m, j), extra)))
    return with_shape(out, a.shape)


def first_where(v, test, extra):
    """Index of the first element of a line for which `test(x, extra)` is true, or the number of elements."""
    n = v.size
    i = 0
    while i + 64 <= n:
        # A block is tested whole, which vectorises.
        found = False
        for j in range(i, i + 64):
            found = found | test(prim.item(v, j), extra)
        if found:
            break
        i += 64
    while i < n:
        if test(prim.item(v, i), extra):
            return i
        i += 1
    return n
