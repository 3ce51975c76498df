"""Arrays with parts inserted, deleted, cut off or put around; windows over arrays."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of, index_of, integer_of
from lancehead.lib.numpy.creation import asarray, line_of
from lancehead.lib.numpy.layout import (
    as_ints,
    c_strides,
    check_axis,
    contiguous,
    copy_into,
    flat,
    is_c_contiguous,
    new_array,
)
from lancehead.lib.numpy.manip import expand_dims, moveaxis


def _part(x, axis, start, stop):
    # View of the part between two indices along an axis.
    stride = x.strides[axis]
    data = prim.ptr_add(prim.data(x), start * stride)
    shape = prim.tuple_set(x.shape, axis, stop - start if stop > start else 0)
    return prim.array(prim.owner(x), data, shape, x.strides, prim.dtype_of(x), "A")


def array_split(ary, indices_or_sections, axis=0):
    """Views of the parts of an array, as equal as possible, or between indices.

    >>> np.array_split(np.arange(5), 2)
    [array([0, 1, 2]), array([3, 4])]
    """
    x = asarray(ary)
    k = check_axis(axis_of(axis), x.ndim)
    n = x.shape[k]
    if prim.is_number(indices_or_sections):
        parts = int(indices_or_sections)
        if parts <= 0:
            raise ValueError("number sections must be larger than 0.")
        size, longer = n // parts, n % parts
        out = [_part(x, k, 0, size + (1 if longer > 0 else 0))]
        for i in range(1, parts):
            start = i * size + (i if i < longer else longer)
            out.append(_part(x, k, start, start + size + (1 if i < longer else 0)))
        return out
    if prim.is_tuple(indices_or_sections) and len(indices_or_sections) == 0:
        return [_part(x, k, 0, n)]
    cuts = line_of(indices_or_sections)
    if not prim.is_int(prim.dtype_of(cuts)):
        prim.error("an array is split at integers")
    start = 0
    out = [_part(x, k, 0, _clamped(int(cuts[0]), n) if cuts.size > 0 else n)]
    for i in range(cuts.size):
        start = _clamped(int(cuts[i]), n)
        stop = _clamped(int(cuts[i + 1]), n) if i + 1 < cuts.size else n
        out.append(_part(x, k, start, stop))
    return out


def _clamped(i, n):
    if i < 0:
        i += n
        return 0 if i < 0 else i
    return n if i > n else i


def split(ary, indices_or_sections, axis=0):
    """Views of equal parts of an array, or of the parts between indices.

    >>> np.split(np.arange(4), 2)
    [array([0, 1]), array([2, 3])]
    """
    if prim.is_number(indices_or_sections):
        if not prim.is_array(ary):
            prim.error("`split` into equal parts takes an array")
        if asarray(ary).shape[axis_of(axis)] % indices_or_sections != 0:
            raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def hsplit(ary, indices_or_sections):
    """Views of the parts of an array by columns."""
    if not prim.is_array(ary) or ary.ndim == 0:
        prim.error("`hsplit` takes an array of at least one dimension")
    return split(ary, indices_or_sections, 0 if ary.ndim == 1 else 1)


def vsplit(ary, indices_or_sections):
    """Views of the parts of an array by rows."""
    x = asarray(ary)
    if x.ndim < 2:
        prim.error("`vsplit` takes arrays of at least two dimensions")
    return split(x, indices_or_sections, 0)


def _index(i, n):
    k = index_of(i)
    if k < -n or k > n:
        raise IndexError("index " + str(k) + " is out of bounds for axis 0 with size " + str(n))
    return k + n if k < 0 else k


def insert(arr, obj, values, axis=None):
    """An array with values before an index, or before each of several.

    >>> np.insert(np.array([1, 2, 3]), 1, 9)
    array([1, 9, 2, 3])
    >>> np.insert(np.array([[1, 2], [3, 4]]), [0, 1], 9, axis=1)
    array([[9, 1, 9, 2],
           [9, 3, 9, 4]])
    """
    x = asarray(arr)
    if axis is None:
        return _inserted(flat(contiguous(x)), obj, values, 0)
    return _inserted(x, obj, values, check_axis(axis_of(axis), x.ndim))


def _inserted(x, obj, values, k):
    new = asarray(values, prim.dtype_of(x))
    if prim.is_number(obj) and not prim.is_bool(obj):
        # Values of fewer dimensions stand along the first one, which goes to the place of the axis.
        return _inserted_block(x, _index(obj, x.shape[k]), moveaxis(_with_axes(new, x.shape), 0, k), k)
    if prim.is_slice(obj):
        return _inserted(x, np.arange(x.shape[k])[obj], values, k)
    places = asarray(obj)
    if prim.is_bool(prim.dtype_of(places)):
        return _inserted(x, np.flatnonzero(places), values, k)
    if not prim.is_int(prim.dtype_of(places)):
        prim.error("values are inserted at integers")
    if places.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    if places.size == 1:
        return _inserted_block(x, _index(flat(places)[0], x.shape[k]), _with_axes(new, x.shape), k)
    return _inserted_each(x, flat(places), new, k)


def _with_axes(v, shape):
    return _with_axes(expand_dims(v, 0), shape) if v.ndim < len(shape) else v


def _inserted_block(x, at, block, k):
    size = block.shape[k]
    out = new_array(prim.tuple_set(x.shape, k, x.shape[k] + size), prim.dtype_of(x))
    copy_into(_part(out, k, 0, at), _part(x, k, 0, at))
    copy_into(_part(out, k, at, at + size), block)
    copy_into(_part(out, k, at + size, out.shape[k]), _part(x, k, at, x.shape[k]))
    return out


def _inserted_each(x, places, new, k):
    n, count = x.shape[k], places.size
    wide = np.broadcast_to(new, prim.tuple_set(x.shape, k, count))
    before = np.empty(count, np.int64)
    for j in range(count):
        before[j] = _index(places[j], n)
    order = np.argsort(before)
    out = new_array(prim.tuple_set(x.shape, k, n + count), prim.dtype_of(x))
    done = 0
    for j in range(count):
        at = int(before[order[j]])
        copy_into(_part(out, k, done + j, at + j), _part(x, k, done, at))
        copy_into(_part(out, k, at + j, at + j + 1), _part(wide, k, int(order[j]), int(order[j]) + 1))
        done = at
    copy_into(_part(out, k, done + count, n + count), _part(x, k, done, n))
    return out


def delete(arr, obj, axis=None):
    """An array without the element (or row) at an index.

    >>> np.delete(np.array([1, 2, 3]), 1)
    array([1, 3])
    """
    x = asarray(arr)
    if axis is None:
        return delete(flat(contiguous(x)), obj, 0)
    k = check_axis(axis_of(axis), x.ndim)
    n = x.shape[k]
    if prim.is_slice(obj):
        return _delete_many(x, np.arange(n)[obj], k)
    if prim.is_bool(obj):
        prim.error("an index is an integer")
    if not prim.is_number(obj):
        return _delete_many(x, asarray(obj), k) if asarray(obj).ndim > 0 else delete(x, obj[()], k)
    at = _index(obj, n)
    if at >= n:
        raise IndexError("index " + str(at) + " is out of bounds for axis " + str(k) + " with size " + str(n))
    out = new_array(prim.tuple_set(x.shape, k, n - 1), prim.dtype_of(x))
    copy_into(_part(out, k, 0, at), _part(x, k, 0, at))
    copy_into(_part(out, k, at, n - 1), _part(x, k, at + 1, n))
    return out


def _delete_many(x, indices, k):
    n = x.shape[k]
    kept = np.ones(n, np.bool_)
    for i in range(indices.size):
        kept[indices[i]] = False
    left = np.flatnonzero(kept)
    return np.take(x, left, k)


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    """A view with any shape and strides; nothing is checked."""
    a = asarray(x)
    given = a.shape if shape is None else as_ints(shape)
    if strides is not None:
        return _strided(a, given, as_ints(strides), writeable)
    # Those of the array, unless its elements lie one after the other.
    is_in_order = is_c_contiguous(a)
    if len(given) == a.ndim:
        return _strided(a, given, c_strides(given, a.itemsize) if is_in_order else a.strides, writeable)
    if not is_in_order:
        raise ValueError("mismatch in length of strides and shape")
    return _strided(a, given, c_strides(given, a.itemsize), writeable)


def _strided(a, shape, strides, writeable):
    out = prim.array(prim.owner(a), prim.data(a), shape, strides, prim.dtype_of(a), "A")
    return out if writeable and not prim.is_readonly(a) else prim.readonly(out)


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """Views of all windows of a shape, over all dimensions or along some.

    >>> np.lib.stride_tricks.sliding_window_view(np.array([1, 2, 3]), 2)
    array([[1, 2],
           [2, 3]])
    """
    a = asarray(x)
    if prim.is_a(axis, "builtins.list"):
        axes = _exactly(axis, as_ints(window_shape))
        return sliding_window_view(a, window_shape, axes, subok=subok, writeable=writeable)
    if prim.is_a(window_shape, "builtins.list") and axis is None:
        return sliding_window_view(a, _exactly(window_shape, a.shape), None, subok=subok, writeable=writeable)
    window = as_ints(window_shape)
    axes = _numbers_below(a.shape) if axis is None else _checked_axes(as_ints(axis), a.ndim)
    if len(window) != len(axes):
        prim.error("a window has an extent for each dimension, or for each of `axis`")
    shape, strides = a.shape, ()
    for k, n in zip(axes, window):
        if n < 0:
            raise ValueError("`window_shape` cannot contain negative values")
        if n > shape[k]:
            raise ValueError("window shape cannot be larger than input array shape")
        shape = prim.tuple_set(shape, k, shape[k] - n + 1)
        strides = (*strides, a.strides[k])
    return _strided(a, shape + window, a.strides + strides, writeable)


def _exactly(items, like):
    # The integers of a list as a tuple, which is as long as another one.
    if len(items) != len(like):
        raise ValueError("Since axis is `None`, must provide window_shape for all dimensions of `x`")
    out = like
    for k in range(len(like)):
        out = prim.tuple_set(out, k, integer_of(items[k]))
    return out


def _numbers_below(items):
    return _numbers_below(items[:-1]) + (len(items) - 1,) if len(items) > 0 else ()


def _checked_axes(axes, ndim):
    return (check_axis(axes[0], ndim),) + _checked_axes(axes[1:], ndim) if len(axes) > 0 else ()


def trim_zeros(filt, trim="fb", axis=None):
    """An array without the zeros at its ends, along all axes or some.

    >>> np.trim_zeros(np.array([0, 1, 2, 0]))
    array([1, 2])
    """
    x = asarray(filt)
    for c in trim.lower():
        if c not in "fb":
            raise ValueError("unexpected character(s) in `trim`: " + repr(trim))
    if axis is None:
        return _trimmed_all(x, trim.lower(), prim.tuple_fill(x.ndim, 0), 0)
    if prim.is_a(axis, "builtins.list"):
        for k in axis:
            x = _trimmed(x, trim.lower(), check_axis(k, x.ndim))
        return x
    if prim.is_tuple(axis):
        return _trimmed_axes(x, trim.lower(), axis)
    return _trimmed(x, trim.lower(), check_axis(axis, x.ndim))


def _trimmed_all(x, trim, left, k):
    return _trimmed_all(_trimmed(x, trim, k), trim, left[1:], k + 1) if len(left) > 0 else x


def _trimmed_axes(x, trim, axes):
    return _trimmed_axes(_trimmed(x, trim, check_axis(axes[0], x.ndim)), trim, axes[1:]) if len(axes) > 0 else x


def _trimmed(x, trim, k):
    low, high = 0, x.shape[k]
    if "f" in trim:
        while low < high and not np.any(_part(x, k, low, low + 1)):
            low += 1
    if "b" in trim:
        while high > low and not np.any(_part(x, k, high - 1, high)):
            high -= 1
    return _part(x, k, low, high)
