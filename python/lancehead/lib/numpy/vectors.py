"""Products of vectors along an axis, and diagonals of stacked matrices."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of, index_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import check_axis, contiguous, count, new_array, with_shape


def diagonal(a, offset=0, axis1=0, axis2=1):
    """A diagonal of a matrix, or of the matrices in two axes, as a view; the diagonal is the last axis.

    >>> np.diagonal(np.array([[1, 2], [3, 4]]))
    array([1, 4])
    """
    x = asarray(a)
    if x.ndim < 2:
        prim.error("diag requires an array of at least two dimensions")
    i, j = check_axis(axis_of(axis1), x.ndim), check_axis(axis_of(axis2), x.ndim)
    if i == j:
        raise ValueError("axis1 and axis2 cannot be the same")
    k = index_of(offset)
    down, along = (0, k) if k >= 0 else (-k, 0)
    rows, columns = x.shape[i] - down, x.shape[j] - along
    n = rows if rows < columns else columns
    start = down * x.strides[i] + along * x.strides[j] if n > 0 else 0
    low, high = (i, j) if i < j else (j, i)
    shape = prim.tuple_drop(prim.tuple_drop(x.shape, high), low) + (n if n > 0 else 0,)
    strides = prim.tuple_drop(prim.tuple_drop(x.strides, high), low) + (x.strides[i] + x.strides[j],)
    return prim.array(prim.owner(x), prim.ptr_add(prim.data(x), start), shape, strides, prim.dtype_of(x), "A")


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """Sum of a diagonal, or of each of the matrices in two axes.

    >>> np.trace(np.array([[1, 2], [3, 4]]))
    np.int64(5)
    """
    return np.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


def vecdot(x1, x2, /, *, axis=-1):
    """Dot products of vectors along an axis, those of the first operand conjugated.

    >>> np.vecdot(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    array([3, 7])
    """
    x, y = asarray(x1), asarray(x2)
    if x.ndim == 0 or y.ndim == 0:
        prim.error("`vecdot` takes arrays of at least one dimension")
    v, w = np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1)
    if v.shape[-1] != w.shape[-1]:
        raise ValueError(
            "vecdot: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n),(n)->() (size "
            + str(w.shape[-1]) + " is different from " + str(v.shape[-1]) + ")"
        )  # fmt: skip
    if v.ndim == 1 and w.ndim == 1:
        return _product(v, w)
    shape = np.broadcast_shapes(v.shape[:-1], w.shape[:-1])
    p = contiguous(np.broadcast_to(v, shape + (v.shape[-1],)))
    q = contiguous(np.broadcast_to(w, shape + (v.shape[-1],)))
    n = count(shape)
    first, second = with_shape(p, (n, v.shape[-1])), with_shape(q, (n, v.shape[-1]))
    out = new_array((n,), prim.result_type(prim.dtype_of(x), prim.dtype_of(y)))
    for i in range(n):
        prim.set_item(out, i, _product(first[i], second[i]))
    return with_shape(out, shape)


def matvec(x1, x2, /):
    """Product of a matrix, or of each in a stack, and a vector.

    >>> np.matvec(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    array([3, 7])
    """
    x, y = asarray(x1), asarray(x2)
    if x.ndim < 2 or y.ndim < 1:
        prim.error("`matvec` takes matrices and vectors")
    if y.ndim == 1:
        return np.matmul(x, y)
    return np.matmul(x, y[..., None])[..., 0]


def vecmat(x1, x2, /):
    """Product of a vector, conjugated, and a matrix, or of each in a stack.

    >>> np.vecmat(np.array([1, 1]), np.array([[1, 2], [3, 4]]))
    array([4, 6])
    """
    x, y = asarray(x1), asarray(x2)
    if x.ndim < 1 or y.ndim < 2:
        prim.error("`vecmat` takes vectors and matrices")
    v = x.conj() if prim.is_complex(prim.dtype_of(x)) else x
    if v.ndim == 1:
        return np.matmul(v, y)
    return np.matmul(v[..., None, :], y)[..., 0, :]


def _product(v, w):
    if prim.is_complex(prim.dtype_of(v)):
        return np.dot(v.conj(), w)
    return np.dot(v, w)


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
