"""Reductions and running results, as `lancehead.xp.folds` describes them."""

import numpy as np

from lancehead import prange
from lancehead.lib import prim
from lancehead.lib.conversions import axis_of
from lancehead.lib.lancehead.xp.elements import (
    accumulated,
    as_type,
    beginning,
    combining,
    elements,
    examples,
    first_of,
    joined,
    lines_like,
    prepared,
    result_of,
    shape_of,
    shaped,
)
from lancehead.lib.numpy.layout import check_axis, contiguous, copy_c, count, with_shape
from lancehead.lib.numpy.manip import moveaxis
from lancehead.lib.primitives.folding import (
    folded,
    folded_across,
    folded_in_lanes,
    scanned,
    segments_folded,
    segments_scanned,
)
from lancehead.lib.primitives.lines import get, put

#: Elements of a task of loops that call functions, of whose time the compiler may know nothing.
BLOCK = 4096


def map(f, *arrays):
    """The results of a function for the elements of arrays."""
    if len(arrays) == 0:
        prim.error("`map` takes a function and at least one array")
    shape, lines = prepared(arrays)
    like = result_of(f, examples(lines))
    if len(shape) == 0:
        return as_type(f(*elements(lines, 0)), like)
    n = count(shape)
    out = lines_like(n, like)
    for t in prange((n + BLOCK - 1) // BLOCK):
        for i in range(t * BLOCK, min((t + 1) * BLOCK, n)):
            put(out, i, f(*elements(lines, i)))
    return shaped(out, shape)


def zipwith(f, *arrays):
    """As `map` of two or more arrays of one shape."""
    if len(arrays) < 2:
        prim.error("`zipwith` takes a function and two or more arrays of one shape")
    shape, _ = prepared(arrays)
    for x in arrays:
        if prim.is_array(x):
            if x.ndim != len(shape):
                raise ValueError("two or more arrays of one shape are needed")
            elif x.shape != shape:
                raise ValueError("two or more arrays of one shape are needed")
    return map(f, *arrays)


def _same(x):
    return x


def reduce(f, x, *, init=None, axis=None, check=False):
    """The elements along an axis combined by an associative operator after an initial value."""
    return transform_reduce(_same, f, init, x, axis=axis, check=check)


def _begin(r, n, m):
    return r // m * n * m + r % m


def _at(line, m, i, f, like, *lines):
    return as_type(f(*elements(lines, line + i * m)), like)


def transform_reduce(f, op, init, *arrays, axis=None, check=False):
    """As `reduce(op, map(f, *arrays), init=init)`, without memory for the results of `f`."""
    shape, lines = prepared(arrays)
    item = result_of(f, examples(lines))
    like = accumulated(op, joined(beginning(init, item), item))
    n, rows, m = count(shape), 1, 1
    k = 0
    if not prim.is_none(axis):
        k = check_axis(axis_of(axis), len(shape))
        n = shape[k]
        rows = count(prim.tuple_drop(shape, k))
        for j in range(k + 1, len(shape)):
            m *= shape[j]
    if prim.is_none(init):
        if n == 0:
            raise ValueError("a reduction of no elements needs an initial value")
    if check:
        _check_associative(op, like, _samples(f, like, lines, count(shape)))
    out = _folded(op, combining(op, like), first_of(init, like), rows, n, m, f, like, *lines)
    if prim.is_none(axis):
        return get(out, 0)
    return shaped(out, prim.tuple_drop(shape, k))


def _folded(op, combine, first, rows, n, m, f, like, *lines):
    # In the order of lazy arrays: lines along another axis than the last have one of their own.
    if m > 1:
        return folded_across(combine, _across_at, first, rows // m, n, m, f, like, *lines)
    if prim.is_commutative(op):
        return folded_in_lanes(combine, _begin, _at, first, rows, n, 1, f, like, *lines)
    return folded(combine, _begin, _at, first, rows, n, 1, f, like, *lines)


def _across_at(place, c, f, like, *lines):
    return as_type(f(*elements(lines, place + c)), like)


def _pair_begin(r, n, m):
    return r // m * n, r % m * n


def _pair_at(line, m, i, f, like, a, b):
    return as_type(f(prim.item(a, line[0] + i), prim.item(b, line[1] + i)), like)


def inner(f, op, a, b, *, init=None, check=False):
    """The results of `f` for elements of lines along the last axes of both, combined by `op`."""
    x, y = np.asarray(a), np.asarray(b)
    if x.ndim == 0 or y.ndim == 0:
        prim.error("`inner` takes arrays with at least one axis")
    n = x.shape[-1]
    if y.shape[-1] != n:
        raise ValueError("lines of arrays do not fit: one has " + str(n) + " elements, one " + str(y.shape[-1]))
    item = result_of(f, (_element_of(x), _element_of(y)))
    like = accumulated(op, joined(beginning(init, item), item))
    if prim.is_none(init):
        if n == 0:
            raise ValueError("a reduction of no elements needs an initial value")
    left, right = count(x.shape[:-1]), count(y.shape[:-1])
    one, other = _flat(x), _flat(y)
    if check:
        if x.size > 0 and y.size > 0:
            _check_associative(op, like, _samples(f, like, (one[:n], other[:n]), n))
    combine, first, rows = combining(op, like), first_of(init, like), left * right
    if prim.is_commutative(op):
        out = folded_in_lanes(combine, _pair_begin, _pair_at, first, rows, n, max(right, 1), f, like, one, other)
    else:
        out = folded(combine, _pair_begin, _pair_at, first, rows, n, max(right, 1), f, like, one, other)
    if x.ndim == 1 and y.ndim == 1:
        return get(out, 0)
    return shaped(out, x.shape[:-1] + y.shape[:-1])


def _element_of(x):
    return prim.cast(0, prim.dtype_of(x))


def _flat(x):
    c = contiguous(x)
    return prim.readonly(with_shape(c, (c.size,)))


# --- running results ---------------------------------------------------------------------------------------------


def _item_of(x):
    if prim.is_tuple(x):
        return _items_of(x)
    return _element_of(x)


def _items_of(arrays):
    if len(arrays) == 0:
        return ()
    return (_item_of(arrays[0]),) + _items_of(arrays[1:])


def _axis(x, axis):
    if prim.is_none(axis):
        if len(shape_of(x)) != 1:
            prim.error("an axis is needed for an array with several axes or none")
        return 0
    return check_axis(axis_of(axis), len(shape_of(x)))


def _rows(x, k, like):
    # The lines along an axis as rows of matrices, of a type.
    if prim.is_tuple(x):
        return _all_rows(x, k, like)
    moved = x if x.ndim == 1 else moveaxis(x, k, -1)
    c = contiguous(moved) if prim.dtype_of(x) == prim.dtype_of(like) else copy_c(moved, prim.dtype_of(like))
    return with_shape(c, (count(moved.shape[:-1]), moved.shape[-1]))


def _all_rows(arrays, k, like):
    if len(arrays) == 0:
        return ()
    return (_rows(arrays[0], k, like[0]),) + _all_rows(arrays[1:], k, like[1:])


def _back(out, shape, k, n):
    # The rows of results in a shape whose axis has so many elements instead.
    if prim.is_tuple(out):
        if len(out) == 0:
            return ()
        return (_back(out[0], shape, k, n),) + _back(out[1:], shape, k, n)
    if len(shape) == 1:
        return with_shape(out, (n,))
    moved = with_shape(out, prim.tuple_drop(shape, k) + (n,))
    return contiguous(moveaxis(moved, -1, k))


def _checked(x):
    # An argument whose arrays have one shape.
    if prim.is_tuple(x):
        _check_shapes(x, shape_of(x))
        return x
    return np.asarray(x)


def _check_shapes(arrays, shape):
    for a in arrays:
        if prim.is_tuple(a):
            _check_shapes(a, shape)
        elif len(shape_of(a)) != len(shape):
            prim.error("arrays as one have one shape here")
        elif a.shape != shape:
            raise ValueError("arrays as one have one shape here")


def _running(op, x, init, exclusive):
    if prim.is_none(init):
        if exclusive:
            raise ValueError("exclusive results need an initial value")
    item = _item_of(x)
    return accumulated(op, joined(beginning(init, item), item))


def scan(op, x, *, axis=None, init=None, exclusive=False, check=False):
    """Running results of an operator along an axis, from left to right, after an initial value if there is one."""
    given = _checked(x)
    k = _axis(given, axis)
    like = _running(op, given, init, exclusive)
    rows, shape = _rows(given, k, like), shape_of(given)
    if check:
        _check_associative(op, like, _samples(_same, like, prepared((given,))[1], count(shape)))
    out = scanned(combining(op, like), first_of(init, like), exclusive, rows)
    return _back(out, shape, k, shape[k])


def inclusive_scan(op, x, *, axis=None, init=None, check=False):
    """`scan` whose results are with the element itself."""
    return scan(op, x, axis=axis, init=init, check=check)


def exclusive_scan(op, x, *, axis=None, init, check=False):
    """`scan` whose results are of the elements before."""
    return scan(op, x, axis=axis, init=init, exclusive=True, check=check)


def _offsets(offsets):
    places = np.asarray(offsets)
    if not prim.is_int(prim.dtype_of(places)):
        prim.error("offsets are integers")
    if places.ndim != 1:
        prim.error("offsets are a line")
    if places.size == 0:
        raise ValueError("segments need at least one offset")
    return places.astype(np.int64)


def segmented_reduce(op, x, offsets, init, *, axis=None, check=False):
    """For each segment of a line, or of the lines along an axis, its elements folded after `init`."""
    if prim.is_none(init):
        prim.error("segments may have no elements, so that an initial value is needed")
    given, places = _checked(x), _offsets(offsets)
    k = _axis(given, axis)
    like = _running(op, given, init, False)
    rows, shape = _rows(given, k, like), shape_of(given)
    if check:
        _check_associative(op, like, _samples(_same, like, prepared((given,))[1], count(shape)))
    out = segments_folded(combining(op, like), first_of(init, like), rows, places)
    return _back(out, shape, k, places.size - 1)


def segmented_scan(op, x, offsets, *, axis=None, init=None, exclusive=False, check=False):
    """As `scan` of each segment of a line, or of the lines along an axis, by itself."""
    given, places = _checked(x), _offsets(offsets)
    k = _axis(given, axis)
    like = _running(op, given, init, exclusive)
    rows, shape = _rows(given, k, like), shape_of(given)
    if check:
        _check_associative(op, like, _samples(_same, like, prepared((given,))[1], count(shape)))
    out = segments_scanned(combining(op, like), first_of(init, like), exclusive, rows, places)
    return _back(out, shape, k, shape[k])


def _minus(a, b):
    return a - b


def _unlike(a, b):
    return a != b


def adjacent_difference(x, f=None, *, axis=-1):
    """`f(x[i], x[i - 1])` along an axis; the first element stays.

    Without a function it is subtraction, or inequality of truth values.
    """
    given = np.asarray(x)
    if prim.is_none(f):
        if prim.is_bool(prim.dtype_of(given)):
            return adjacent_difference(given, _unlike, axis=axis)
        return adjacent_difference(given, _minus, axis=axis)
    k = check_axis(axis_of(axis), given.ndim)
    item = _element_of(given)
    like = joined(item, result_of(f, (item, item)))
    rows = _rows(given, k, item)
    number, n = rows.shape
    out = np.empty((number, n), prim.dtype_of(like))
    for row in prange(number):
        if n > 0:
            out[row, 0] = as_type(rows[row, 0], like)
        for i in range(1, n):
            out[row, i] = as_type(f(rows[row, i], rows[row, i - 1]), like)
    return _back(out, given.shape, k, n)


# --- checks ------------------------------------------------------------------------------------------------------


def _samples(f, like, lines, n):
    # Up to six elements from the first to the last.
    number = min(n, 6)
    out = lines_like(number, like)
    for i in range(number):
        put(out, i, as_type(f(*elements(lines, i * (n - 1) // max(number - 1, 1))), like))
    return out


def _check_associative(op, like, values):
    number = _number(values)
    for i in range(number):
        for j in range(number):
            for k in range(number):
                a, b, c = get(values, i), get(values, j), get(values, k)
                one, other = (
                    as_type(op(as_type(op(a, b), like), c), like),
                    as_type(op(a, as_type(op(b, c), like)), like),
                )
                if not _is_close(one, other, values):
                    raise ValueError("the operator is not associative")


def _number(values):
    return _number(values[0]) if prim.is_tuple(values) else values.size


def _is_close(a, b, values):
    # Equal within the rounding of floats.
    if prim.is_tuple(a):
        if len(a) == 0:
            return True
        return _is_close(a[0], b[0], values[0]) and _is_close(a[1:], b[1:], values[1:])
    if prim.is_float(a) or prim.is_complex(a):
        eps = 1e4 * np.finfo(prim.real_dtype(prim.dtype_of(a))).eps
        scale = 0.0
        for v in values:
            size = float(abs(v))
            scale = max(scale, size if size == size else 0.0)
        return a == b or bool(np.isclose(a, b, rtol=eps, atol=eps * scale, equal_nan=True))
    return a == b
