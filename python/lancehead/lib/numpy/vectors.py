"""Cross products and traces."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import check_axis, contiguous, count, new_array, with_shape


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """Sum of a diagonal, or of each of the matrices in two axes.

    >>> np.trace(np.array([[1, 2], [3, 4]]))
    np.int64(5)
    """
    return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Cross products of vectors of three components along an axis; of two components the third is zero.

    >>> np.cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
    array([0, 0, 1])
    >>> np.cross(np.array([[1, 0, 0], [0, 1, 0]]), np.array([0, 1, 0]))
    array([[0, 0, 1],
           [0, 0, 0]])
    """
    if axis is not None:
        return cross(a, b, axis, axis, axis)
    x, y = asarray(a), asarray(b)
    if x.ndim == 0 or y.ndim == 0:
        prim.error("`cross` takes arrays of at least one dimension")
    dtype = prim.result_type(prim.dtype_of(x), prim.dtype_of(y))
    if prim.is_bool(dtype):
        prim.error("truth values have no differences")
    v, w = np.moveaxis(x, axis_of(axisa), -1), np.moveaxis(y, axis_of(axisb), -1)
    p, q = v.shape[-1], w.shape[-1]
    if (p != 2 and p != 3) or (q != 2 and q != 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if p == 2 and q == 2:
        # How many dimensions the result has would depend on extents.
        raise ValueError("incompatible dimensions for cross product\n(dimension of one of both must be 3)")
    shape = np.broadcast_shapes(v.shape[:-1], w.shape[:-1])
    first = contiguous(np.broadcast_to(v, shape + (p,)))
    second = contiguous(np.broadcast_to(w, shape + (q,)))
    n = count(shape)
    out = new_array((n, 3), dtype)
    _cross(out, with_shape(first, (n, p)), with_shape(second, (n, q)), dtype)
    return _with_axis_last(with_shape(out, shape + (3,)), axis_of(axisc))


def _with_axis_last(out, axisc):
    if out.ndim == 1:
        check_axis(axisc, 1)
        return out
    return np.moveaxis(out, -1, axisc)


def _component(v, i, k, dtype):
    return prim.cast(prim.item(v, i, k), dtype) if k < v.shape[1] else prim.cast(0, dtype)


def _cross(out, x, y, dtype):
    for i in range(out.shape[0]):
        for k in range(3):
            m, n = (k + 1) % 3, (k + 2) % 3
            z = _component(x, i, m, dtype) * _component(y, i, n, dtype)
            prim.set_item(out, i, k, z - _component(x, i, n, dtype) * _component(y, i, m, dtype))
