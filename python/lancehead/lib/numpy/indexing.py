"""Indexing by masks and by arrays of indices, and what finds indices."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of, index_of
from lancehead.lib.numpy.casting import fitting
from lancehead.lib.numpy.creation import asarray, line_of
from lancehead.lib.numpy.folds import check_written_back, deliver
from lancehead.lib.numpy.layout import (
    apart_from,
    check_axis,
    contiguous,
    copy_c,
    copy_into,
    count,
    flat,
    lanes,
    new_array,
    with_shape,
)
from lancehead.lib.numpy.manip import broadcast_shapes, broadcast_to


def _check_mask(shape, mask):
    for k in range(mask.ndim):
        if shape[k] != mask.shape[k]:
            raise IndexError(
                "boolean index did not match indexed array along axis "
                + str(k)
                + "; size of axis is "
                + str(shape[k])
                + " but size of corresponding boolean axis is "
                + str(mask.shape[k])
            )


def _true_count(m):
    n = 0
    for i in range(m.size):
        n += 1 if prim.item(m, i) else 0
    return n


def getitem_mask(self, mask):
    """`self[mask]`: the elements (or rows) where the mask is true.

    >>> np.array([1, 2, 3])[np.array([True, False, True])]
    array([1, 3])
    """
    _check_mask(self.shape, mask)
    if mask.ndim < self.ndim:
        return getitem_take(self, flatnonzero(mask))
    m, v = flat(mask), flat(self)
    out = new_array((_true_count(m),), prim.dtype_of(self))
    to = 0
    for i in range(m.size):
        if prim.item(m, i):
            prim.set_item(out, to, prim.item(v, i))
            to += 1
    return out


def setitem_mask(self, mask, value):
    """`self[mask] = value`, a mask of as many dimensions: a number, or as many values as the mask is true."""
    _check_mask(self.shape, mask)
    if self.ndim == 1:
        _store_masked(self, apart_from(mask, self), value)
    elif prim.layout(self) == "C":
        _store_masked(flat(self), flat(apart_from(mask, self)), value)
    else:
        c = copy_c(self, prim.dtype_of(self))
        _store_masked(flat(c), flat(mask), value)
        copy_into(self, c)


def _store_masked(v, m, value):
    dtype = prim.dtype_of(v)
    if prim.is_scalar(value) or (prim.is_record(dtype) and not prim.is_array(value)):
        x = prim.cast(value, dtype)
        for i in range(v.size):
            if prim.item(m, i):
                prim.set_item(v, i, x)
        return
    values = asarray(value)
    if values.ndim == 0:
        _store_masked(v, m, values[()])
        return
    n = _true_count(m)
    if values.size != n and values.size != 1:
        raise ValueError(
            "NumPy boolean array indexing assignment cannot assign "
            + str(values.size)
            + " input values to the "
            + str(n)
            + " output values where the mask is true"
        )
    w = apart_from(flat(values), v)
    step = 0 if values.size == 1 else 1
    at = 0
    for i in range(v.size):
        if prim.item(m, i):
            prim.set_item(v, i, prim.cast(prim.item(w, at), dtype))
            at += step


def _place(i, n, axis):
    k = index_of(i)
    if k < -n or k >= n:
        raise IndexError("index " + str(k) + " is out of bounds for axis " + str(axis) + " with size " + str(n))
    return k + n if k < 0 else k


def _all_in(i, n):
    # Whether all indices are in range and none is negative: one vectorised pass, after which none needs a check.
    outside = False
    for k in range(i.size):
        x = prim.item(i, k)
        outside = outside | ((x < 0) | (x >= n))
    return not outside


def getitem_take(self, index):
    """`self[index]`: elements (or rows) by an array of indices along the first axis.

    >>> np.array([10, 20, 30])[np.array([2, -1, 0])]
    array([30, 30, 10])
    """
    idx = asarray(index)
    i = flat(idx)
    n = self.shape[0]
    if self.ndim == 1:
        out = new_array(idx.shape, prim.dtype_of(self))
        w = flat(out)
        if _all_in(i, n):
            for k in range(i.size):
                prim.set_item(w, k, prim.item(self, prim.item(i, k)))
            return out
        for k in range(i.size):
            prim.set_item(w, k, prim.item(self, _place(prim.item(i, k), n, 0)))
        return out
    rest = self.shape[1:]
    out = new_array(idx.shape + rest, prim.dtype_of(self))
    src = with_shape(contiguous(self), (n, count(rest)))
    dst = with_shape(out, (i.size, count(rest)))
    for k in range(i.size):
        at = _place(prim.item(i, k), n, 0)
        for j in range(dst.shape[1]):
            prim.set_item(dst, k, j, prim.item(src, at, j))
    return out


def setitem_take(self, index, value):
    """`self[index] = value` of a one-dimensional array, by a one-dimensional one of indices."""
    i = apart_from(asarray(index), self)
    n = self.shape[0]
    dtype = prim.dtype_of(self)
    if prim.is_scalar(value) or (prim.is_record(dtype) and not prim.is_array(value)):
        x = prim.cast(value, dtype)
        for k in range(i.size):
            prim.set_item(self, _place(prim.item(i, k), n, 0), x)
        return
    values = asarray(value)
    w = apart_from(flat(values), self)
    if w.size != i.size and w.size != 1:
        raise ValueError(
            "shape mismatch: value array of shape ("
            + str(w.size)
            + ",) could not be broadcast to indexing result of shape ("
            + str(i.size)
            + ",)"
        )
    step = 0 if w.size == 1 else 1
    for k in range(i.size):
        at = _place(prim.item(i, k), n, 0)
        prim.set_item(self, at, prim.cast(prim.item(w, k * step), dtype))


def take(a, indices, axis=None, out=None, mode="raise"):
    """Elements at indices, of all elements or along an axis.

    >>> np.take(np.array([[1, 2], [3, 4]]), np.array([3, 0]))
    array([4, 1])
    >>> np.take(np.array([[1, 2], [3, 4]]), np.array([1, 1]), axis=1)
    array([[2, 2],
           [4, 4]])
    """
    x = asarray(a)
    if x.ndim == 0 and axis is not None:
        # A number counts as a line.
        check_axis(axis, 1)
        return take(x, indices, None, out, mode)
    if mode != "raise":
        n = x.size if axis is None else x.shape[check_axis(axis, x.ndim)]
        return take(x, _moved_into(indices, n, mode), axis, out)
    check_written_back(out, prim.dtype_of(x))
    return deliver(_taken(x, indices, axis), out)


def _moved_into(indices, n, mode):
    # Indices in range of `n`, without those counted from the end.
    if prim.is_number(indices):
        k = index_of(indices)
        if n == 0 and (mode == "wrap" or mode == "clip"):
            raise IndexError("cannot do a non-empty take from an empty axes.")
        if mode == "wrap":
            return k % n
        if mode != "clip":
            raise ValueError("clipmode must be one of 'clip', 'raise', or 'wrap' (got '" + mode + "')")
        return 0 if k < 0 else n - 1 if k >= n else k
    idx = asarray(indices)
    out = new_array(idx.shape, np.int64)
    v, w = flat(idx), flat(out)
    for i in range(v.size):
        prim.set_item(w, i, prim.cast(_moved_into(prim.item(v, i), n, mode), np.int64))
    return out


def _taken(x, indices, axis):
    if prim.is_number(indices):
        if axis is None:
            v = flat(x)
            return prim.item(v, _place(indices, v.size, 0))
        k = check_axis(axis, x.ndim)
        v = lanes(x, k)
        out = new_array((v.shape[0], v.shape[2]), prim.dtype_of(x))
        at = _place(indices, v.shape[1], k)
        for i in range(v.shape[0]):
            for j in range(v.shape[2]):
                prim.set_item(out, i, j, prim.item(v, i, at, j))
        if x.ndim == 1:
            return prim.item(out, 0, 0)
        return with_shape(out, prim.tuple_drop(x.shape, k))
    idx = asarray(indices)
    if not (prim.is_int(prim.dtype_of(idx)) or prim.is_bool(prim.dtype_of(idx))):
        prim.error("indices are integers")
    if axis is None:
        return getitem_take(flat(x), idx)
    k = check_axis(axis, x.ndim)
    v, places = lanes(x, k), flat(idx)
    out = new_array((v.shape[0], places.size, v.shape[2]), prim.dtype_of(x))
    for m in range(places.size):
        at = _place(prim.item(places, m), v.shape[1], k)
        for i in range(v.shape[0]):
            for j in range(v.shape[2]):
                prim.set_item(out, i, m, j, prim.item(v, i, at, j))
    return with_shape(out, _replaced(x.shape, k, idx.shape))


def _replaced(shape, k, extents):
    # The shape with several extents in place of one.
    found = prim.tuple_drop(shape, k)
    for extent in extents[::-1]:
        found = prim.tuple_insert(found, k, extent)
    return found


def _is_true(x):
    if prim.is_str(x) or prim.is_bytes(x):
        return len(x) > 0
    return x != prim.cast(0, prim.dtype_of(x))


def flatnonzero(a):
    """Indices of the elements that are not zero, counted over all elements.

    >>> np.flatnonzero(np.array([0, 3, 0, 4]))
    array([1, 3])
    """
    v = flat(asarray(a))
    out = new_array((_count_true(v),), np.int64)
    _note_true(v, 0, v.size, out, 0)
    return out


def _count_true(v):
    n = 0
    for i in range(v.size):
        n += 1 if _is_true(prim.item(v, i)) else 0
    return n


def _note_true(v, start, n, out, to):
    # Stores the places of the true ones among `n` elements, and returns where the next ones go. Each place is stored,
    # and the next one overwrites it if it was none: a branch would be mispredicted often.
    i = 0
    while i < n and to < out.size:
        prim.set_item(out, to, i)
        to += 1 if _is_true(prim.item(v, start + i)) else 0
        i += 1
    return to


def argwhere(a):
    """Indices of the elements that are not zero, a row for each.

    >>> np.argwhere(np.array([[0, 1], [1, 0]]))
    array([[0, 1],
           [1, 0]])
    """
    x = asarray(a)
    found = flatnonzero(x)
    out = new_array((x.ndim, found.size), np.int64)
    for i in range(found.size):
        at = prim.item(found, i)
        for k in range(x.ndim - 1, -1, -1):
            n = prim.cast(x.shape[k], np.int64)
            q = prim.sdiv(at, n)
            prim.set_item(out, k, i, at - q * n)
            at = q
    return out.T


def nonzero(a):
    """Indices of the elements that are not zero, an array for each dimension.

    >>> np.nonzero(np.array([0, 3, 0, 4]))
    (array([1, 3]),)
    """
    x = asarray(a)
    if x.ndim == 0:
        prim.error("indices of an array without dimensions are not defined: use `np.atleast_1d`")
    if x.ndim == 1:
        return (flatnonzero(x),)
    v = flat(x)
    leading = prim.tuple_drop(x.shape, x.ndim - 1)
    width = x.shape[x.ndim - 1]
    last = new_array((_count_true(v),), np.int64)
    columns = _new_columns(leading, last.size)
    to = 0
    for row in range(v.size // width if width > 0 else 0):
        first, to = to, _note_true(v, row * width, width, last, to)
        _fill_columns(columns, leading, row, first, to)
    return (*columns, last)


def _new_columns(leading, n):
    if len(leading) == 0:
        return ()
    return (new_array((n,), np.int64), *_new_columns(leading[1:], n))


def _fill_columns(columns, leading, row, first, to):
    # The same indices for all elements of a row.
    if len(leading) > 1:
        rest, k = row // leading[-1], row % leading[-1]
        _fill_columns(columns[:-1], leading[:-1], rest, first, to)
    else:
        k = row
    for i in range(first, to):
        prim.set_item(columns[-1], i, k)


def put(a, ind, v, mode="raise"):
    """Stores values at indices over all elements, in place; they begin again if there are too few.

    >>> a = np.arange(5)
    >>> np.put(a, [0, 2], [-44, -55])
    >>> a
    array([-44,   1, -55,   3,   4])
    """
    if not prim.is_array(a):
        prim.error("`put` stores into an array")
    if not prim.is_array(v) and not prim.is_complex(prim.dtype_of(a)):
        if prim.is_complex(prim.dtype_of(v if prim.is_number(v) else asarray(v))):
            prim.error("a complex number is not made a real one here: use its `real`")
    if a.size == 0 and asarray(ind).size > 0:
        raise IndexError("cannot replace elements of an empty array")
    places = flat(apart_from(asarray(ind if mode == "raise" else _moved_into(ind, a.size, mode)), a))
    if a.ndim == 1:
        _put_line(a, places, v)
    elif prim.layout(a) == "C":
        _put_line(with_shape(a, (a.size,)), places, v)
    else:
        c = copy_c(a, prim.dtype_of(a))
        _put_line(with_shape(c, (c.size,)), places, v)
        copy_into(a, c)


def _put_line(a, places, v):
    if prim.is_number(v) and prim.is_weak(v):
        setitem_take(a, places, fitting(v, prim.dtype_of(a)))
        return
    if prim.is_scalar(v) or (prim.is_record(prim.dtype_of(a)) and not prim.is_array(v)):
        setitem_take(a, places, v)
        return
    w = apart_from(flat(asarray(v) if prim.is_array(v) else asarray(v, prim.dtype_of(a))), a)
    k = 0
    for i in range(places.size if w.size > 0 else 0):
        a[_place(prim.item(places, i), a.size, 0)] = prim.item(w, k)
        k = k + 1 if k + 1 < w.size else 0


@prim.means("selection")
def take_along_axis(arr, indices, axis=-1):
    """Elements at indices along an axis, for each line its own.

    >>> np.take_along_axis(np.array([[3, 1], [2, 4]]), np.array([[1, 0], [0, 1]]), axis=1)
    array([[1, 3],
           [2, 4]])
    """
    if not prim.is_array(indices):
        prim.error("`take_along_axis` takes an array of indices")
    x, idx = asarray(arr), indices
    if axis is None:
        if idx.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        return getitem_take(flat(x), idx)
    if x.ndim != idx.ndim:
        prim.error("`indices` and `arr` must have the same number of dimensions")
    k = check_axis(axis_of(axis), x.ndim)
    for j in range(x.ndim):
        if j != k and x.shape[j] != idx.shape[j]:
            return _along_spread(x, idx, k)
    return _along(x, idx, k)


def _along_spread(x, idx, k):
    # The other dimensions are broadcast.
    try:
        shape = broadcast_shapes(prim.tuple_set(x.shape, k, 1), prim.tuple_set(idx.shape, k, 1))
    except ValueError:
        raise IndexError("shape mismatch: indexing arrays could not be broadcast together")
    wide = broadcast_to(idx, prim.tuple_set(shape, k, idx.shape[k]))
    return _along(broadcast_to(x, prim.tuple_set(shape, k, x.shape[k])), wide, k)


def _along(x, idx, k):
    v, w = lanes(x, k), lanes(contiguous(idx), k)
    out = new_array(idx.shape, prim.dtype_of(x))
    o = lanes(out, k)
    for i in range(w.shape[0]):
        for m in range(w.shape[1]):
            for j in range(w.shape[2]):
                prim.set_item(o, i, m, j, prim.item(v, i, _place(prim.item(w, i, m, j), v.shape[1], k), j))
    return out


def compress(condition, a, axis=None, out=None):
    """Elements where a condition is true, of all elements or along an axis.

    >>> np.compress(np.array([True, False, True]), np.array([1, 2, 3]))
    array([1, 3])
    """
    chosen = flatnonzero(line_of(condition))
    return take(a, chosen, axis, out)


def extract(condition, arr):
    """Elements where a condition is true.

    >>> np.extract(np.array([True, False, True]), np.array([1, 2, 3]))
    array([1, 3])
    """
    return getitem_mask(flat(asarray(arr)), flat(asarray(condition)))
