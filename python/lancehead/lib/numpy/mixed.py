"""Indexing by tuples in which arrays of indices or masks stand beside integers, slices, new axes and an ellipsis.

The dimensions that are indexed by arrays become one: a vector of byte offsets, one for each place of the broadcast
index arrays. Where parts lie is known while compiling, as the lengths of tuples.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.creation import arange, asarray
from lancehead.lib.numpy.indexing import (
    _check_mask,
    _place,
    getitem_mask,
    getitem_take,
    nonzero,
    setitem_mask,
    setitem_take,
)
from lancehead.lib.numpy.layout import apart_from, copy_c, copy_into, count, flat, new_array, with_shape
from lancehead.lib.numpy.manip import broadcast_shapes, broadcast_to


def getitem_tuple(self, index):
    """`self[index]`: the dimensions of the index arrays stand where these stand, or in front if they stand apart.

    >>> np.array([[1, 2, 3], [4, 5, 6]])[:, np.array([2, 0])]
    array([[3, 1],
           [6, 4]])
    """
    parts = _normal(self, index)
    view = self[_basic(parts)]
    places = _places(parts)
    offsets = _offsets(parts, _chosen(parts, view.shape), _chosen(parts, view.strides), places)
    pre, post = _around(parts, view)
    out = new_array(_dims(pre, 0) + places + _dims(post, 0), prim.dtype_of(self))
    joined = with_shape(out, _dims(pre, 0) + (offsets.size,) + _dims(post, 0))
    _gather(joined, prim.data(view), pre, offsets, post)
    return out


def setitem_tuple(self, index, value):
    """`self[index] = value`, with broadcasting of the value."""
    parts = _normal(self, index)
    view = self[_basic(parts)]
    places = _places(parts)
    offsets = _offsets(parts, _chosen(parts, view.shape), _chosen(parts, view.strides), places)
    pre, post = _around(parts, view)
    if prim.is_scalar(value):
        _fill(view, prim.data(view), pre, offsets, post, prim.cast(value, prim.dtype_of(self)))
        return
    values = _spread(apart_from(asarray(value), self), _dims(pre, 0) + places + _dims(post, 0))
    joined = values
    if len(places) != 1:
        joined = with_shape(copy_c(values, prim.dtype_of(values)), _dims(pre, 0) + (offsets.size,) + _dims(post, 0))
    _scatter(view, prim.data(view), pre, offsets, post, joined)


def getitem_where(self, mask):
    """`self[mask]`: a mask of as many dimensions as the array, or of its first ones."""
    m = asarray(mask)
    if m.ndim == 1 or m.ndim == self.ndim:
        return getitem_mask(self, m)
    return getitem_tuple(self, (m,))


def setitem_where(self, mask, value):
    """`self[mask] = value`."""
    m = asarray(mask)
    if m.ndim == self.ndim:
        setitem_mask(self, m, value)
    else:
        setitem_tuple(self, (m,), value)


def getitem_at(self, index):
    """`self[index]` by an array or list of indices, or by a list of truth values."""
    i = asarray(index)
    if prim.is_bool(prim.dtype_of(i)):
        return getitem_where(self, i)
    return getitem_take(self, i)


def setitem_at(self, index, value):
    """`self[index] = value` by an array or list of indices, or by a list of truth values."""
    i = asarray(index)
    if prim.is_bool(prim.dtype_of(i)):
        setitem_where(self, i, value)
    elif self.ndim == 1 and i.ndim == 1:
        setitem_take(self, i, value)
    else:
        setitem_tuple(self, (i,), value)


def setitem_flat(self, index, value):
    """`self.flat[index] = value`: where there are too few values, they begin again; those beyond the last place are
    left out.

    >>> a = np.zeros((2, 3))
    >>> a.flat[1:5] = [1, 2]
    >>> a
    array([[0., 1., 2.],
           [1., 2., 0.]])
    """
    at = flat(arange(count(self.shape))[index])
    w = apart_from(flat(asarray(value)), self)
    if w.size == 0:
        return
    k = 0
    for i in range(at.size):
        self.flat[prim.item(at, i)] = prim.item(w, k)
        k = k + 1 if k + 1 < w.size else 0


def _spread(values, shape):
    # Leading dimensions of extent one are dropped, as in every assignment.
    if values.ndim > len(shape):
        if values.shape[0] != 1:
            raise ValueError("shape mismatch: value array could not be broadcast to indexing result")
        return _spread(values[0], shape)
    for k in range(values.ndim):
        n = values.shape[k]
        if n != 1 and n != shape[len(shape) - values.ndim + k]:
            raise ValueError("shape mismatch: value array could not be broadcast to indexing result")
    return broadcast_to(values, shape)


def _normal(a, index):
    # The index with a part for every dimension: masks become arrays of indices, the ellipsis slices.
    used = _used(index)
    if len(used) > a.ndim:
        prim.error("too many indices for the array")
    return _expanded(a.shape, index, a.shape[len(used) :], True)


def _used(index):
    # A tuple as long as the number of dimensions that the parts index.
    if len(index) == 0:
        return ()
    x = index[0]
    if x is ... or prim.is_none(x):
        return _used(index[1:])
    if len(_mask(x)) > 0:
        return asarray(x).shape + _used(index[1:])
    return (0,) + _used(index[1:])


def _mask(x):
    # One item for a mask, none for anything else.
    if prim.is_array(x):
        return (0,) if prim.is_bool(prim.dtype_of(x)) else ()
    if prim.is_a(x, "builtins.list"):
        return _mask(asarray(x))
    return ()


def _expanded(shape, index, unused, open):
    if len(index) == 0:
        return _whole(unused) if open else ()
    x = index[0]
    if x is ...:
        return _whole(unused) + _expanded(shape[len(unused) :], index[1:], (), False)
    if prim.is_none(x):
        return (x,) + _expanded(shape, index[1:], unused, open)
    if len(_mask(x)) > 0:
        mask = asarray(x)
        _check_mask(shape, mask)
        return nonzero(mask) + _expanded(shape[mask.ndim :], index[1:], unused, open)
    part = asarray(x) if prim.is_a(x, "builtins.list") else x
    return (part,) + _expanded(shape[1:], index[1:], unused, open)


def _whole(dims):
    if len(dims) == 0:
        return ()
    return (slice(None),) + _whole(dims[1:])


def _basic(parts):
    # The index of the view that keeps the dimensions of index arrays whole.
    if len(parts) == 0:
        return ()
    if prim.is_slice(parts[0]) or prim.is_none(parts[0]):
        return (parts[0],) + _basic(parts[1:])
    return (slice(None),) + _basic(parts[1:])


def _chosen(parts, dims):
    # The dimensions that have an index array.
    if len(parts) == 0:
        return ()
    if prim.is_slice(parts[0]) or prim.is_none(parts[0]):
        return _chosen(parts[1:], dims[1:])
    return (dims[0],) + _chosen(parts[1:], dims[1:])


def _shapes(parts):
    if len(parts) == 0:
        return ()
    if prim.is_array(parts[0]):
        return (parts[0].shape,) + _shapes(parts[1:])
    return _shapes(parts[1:])


def _places(parts):
    # The shape to which the index arrays broadcast.
    shapes = _shapes(parts)
    try:
        return broadcast_shapes(*shapes)
    except ValueError:
        raise IndexError("shape mismatch: indexing arrays could not be broadcast together with shapes")


def _offsets(parts, extents, strides, places):
    offsets = new_array((count(places),), np.int64)
    for j in range(offsets.size):
        prim.set_item(offsets, j, 0)
    _add_offsets(offsets, parts, extents, strides, places, 0)
    return offsets


def _add_offsets(offsets, parts, extents, strides, places, axis):
    if len(parts) == 0:
        return
    part = parts[0]
    if prim.is_slice(part) or prim.is_none(part):
        _add_offsets(offsets, parts[1:], extents, strides, places, axis if prim.is_none(part) else axis + 1)
        return
    if prim.is_array(part):
        index = flat(broadcast_to(part, places))
        for j in range(offsets.size):
            at = _place(prim.item(index, j), extents[0], axis)
            prim.set_item(offsets, j, prim.item(offsets, j) + at * strides[0])
    else:
        step = _place(part, extents[0], axis) * strides[0]
        for j in range(offsets.size):
            prim.set_item(offsets, j, prim.item(offsets, j) + step)
    _add_offsets(offsets, parts[1:], extents[1:], strides[1:], places, axis + 1)


def _around(parts, view):
    # Extents and strides of the dimensions before the index arrays, and of those after them.
    dims = _pairs(view.shape, view.strides)
    before = _before(parts, dims)
    others = _others(parts, dims)
    if len(_apart(parts[len(before) :])) > 0:
        return (), others
    return before, others[len(before) :]


def _pairs(shape, strides):
    if len(shape) == 0:
        return ()
    return ((shape[0], strides[0]),) + _pairs(shape[1:], strides[1:])


def _before(parts, dims):
    if len(parts) == 0:
        return ()
    if prim.is_slice(parts[0]) or prim.is_none(parts[0]):
        return (dims[0],) + _before(parts[1:], dims[1:])
    return ()


def _others(parts, dims):
    if len(parts) == 0:
        return ()
    if prim.is_slice(parts[0]) or prim.is_none(parts[0]):
        return (dims[0],) + _others(parts[1:], dims[1:])
    return _others(parts[1:], dims[1:])


def _apart(parts):
    # The index arrays behind a part that is none; the first part is one of them.
    if len(parts) < 2:
        return ()
    if prim.is_slice(parts[1]) or prim.is_none(parts[1]):
        return _chosen(parts[1:], parts[1:])
    return _apart(parts[1:])


def _dims(pairs, k):
    if len(pairs) == 0:
        return ()
    return (pairs[0][k],) + _dims(pairs[1:], k)


def _at(a, i):
    # A part of an array by its first index, which is in range.
    data = prim.ptr_add(prim.data(a), i * a.strides[0])
    layout = "C" if prim.layout(a) == "C" or a.ndim == 1 else "A"
    return prim.array(prim.nobody(), data, a.shape[1:], a.strides[1:], prim.dtype_of(a), layout)


def _part(data, dims, dtype):
    return prim.array(prim.nobody(), data, _dims(dims, 0), _dims(dims, 1), dtype, "A")


def _gather(out, data, pre, offsets, post):
    dtype = prim.dtype_of(out)
    if len(pre) > 0:
        for i in range(out.shape[0]):
            _gather(_at(out, i), prim.ptr_add(data, i * pre[0][1]), pre[1:], offsets, post)
    elif len(post) == 0:
        for j in range(offsets.size):
            prim.set_item(out, j, prim.load(prim.ptr_add(data, prim.item(offsets, j)), dtype))
    else:
        for j in range(offsets.size):
            copy_into(_at(out, j), _part(prim.ptr_add(data, prim.item(offsets, j)), post, dtype))


def _scatter(a, data, pre, offsets, post, values):
    dtype = prim.dtype_of(a)
    if len(pre) > 0:
        for i in range(values.shape[0]):
            _scatter(a, prim.ptr_add(data, i * pre[0][1]), pre[1:], offsets, post, _at(values, i))
    elif len(post) == 0:
        for j in range(offsets.size):
            x = prim.item(values, j)
            prim.store(prim.ptr_add(data, prim.item(offsets, j)), prim.cast(x, dtype))
    else:
        for j in range(offsets.size):
            copy_into(_part(prim.ptr_add(data, prim.item(offsets, j)), post, dtype), _at(values, j))


def _fill(a, data, pre, offsets, post, x):
    dtype = prim.dtype_of(a)
    if len(pre) > 0:
        for i in range(pre[0][0]):
            _fill(a, prim.ptr_add(data, i * pre[0][1]), pre[1:], offsets, post, x)
    elif len(post) == 0:
        for j in range(offsets.size):
            prim.store(prim.ptr_add(data, prim.item(offsets, j)), x)
    else:
        for j in range(offsets.size):
            copy_into(_part(prim.ptr_add(data, prim.item(offsets, j)), post, dtype), x)
