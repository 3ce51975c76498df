"""Norms of vectors and matrices, and of those along axes."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.folds import axis_result, keep, pairwise
from lancehead.lib.numpy.layout import check_axis, flat, flat_any, lanes, new_array, with_shape
from lancehead.lib.numpy.stacks import matrices


def _square(x, dtype):
    if prim.is_complex(x):
        return x.real * x.real + x.imag * x.imag
    a = prim.cast(x, dtype)
    return a * a


def _norm_dtype(dtype):
    if prim.is_complex(dtype):
        return prim.real_dtype(dtype)
    return dtype if prim.is_float(dtype) else np.float64


def _size(x, dtype):
    if prim.is_complex(x):
        return prim.hypot(x.real, x.imag)
    return prim.fabs(prim.cast(x, dtype))


def _square_line(v, dtype):
    return pairwise(v, 0, v.size, _square, dtype) if v.size > 0 else prim.cast(0, dtype)


def euclidean(v, dtype):
    """Length of a line as a vector."""
    return prim.sqrt(_square_line(v, dtype))


def _check_not_empty(size):
    if size == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")


@prim.means("selection")
def _line_norm(v, ord, dtype):
    # Norm of a vector.
    if ord is None:
        return prim.sqrt(_square_line(v, dtype))
    if prim.is_str(ord):
        raise ValueError("Invalid norm order '" + ord + "' for vectors")
    total = prim.cast(0, dtype)
    p = prim.cast(ord, dtype)
    if p == 2.0:
        return prim.sqrt(_square_line(v, dtype))
    if prim.isinf(p):
        if p < 0.0:
            _check_not_empty(v.size)
        for i in range(v.size):
            x = _size(prim.item(v, i), dtype)
            if i == 0:
                total = x
            total = prim.maximum(total, x) if p > 0.0 else prim.minimum(total, x)
        return total
    if v.size > 0:
        if p == 1.0:
            return pairwise(v, 0, v.size, _size, dtype)
        if p == 0.0:
            return pairwise(v, 0, v.size, _is_something, dtype)
        total = pairwise(v, 0, v.size, _power, p)
    elif p == 1.0 or p == 0.0:
        return total
    return prim.pow(total, prim.cast(1, dtype) / p)


def _is_something(x, dtype):
    return prim.cast(0 if x == 0 else 1, dtype)


def _power(x, p):
    return prim.pow(_size(x, prim.dtype_of(p)), p)


def _matrix_norm(a, ord, dtype):
    if ord is None:
        return euclidean(flat_any(a), dtype)
    if prim.is_str(ord):
        if ord == "fro" or ord == "f":
            return euclidean(flat_any(a), dtype)
        if ord != "nuc":
            raise ValueError("Invalid norm order for matrices.")
        return prim.cast(np.sum(np.linalg.svd(a, compute_uv=False)), dtype)
    p = prim.cast(ord, np.float64)
    by_columns = prim.fabs(p) == 1.0
    if prim.fabs(p) == 2.0:
        return _spectral(np.linalg.svd(a, compute_uv=False), p, dtype)
    if not by_columns and not prim.isinf(p):
        raise ValueError("Invalid norm order for matrices.")
    lines = a.shape[1] if by_columns else a.shape[0]
    if p < 0.0:
        _check_not_empty(lines)
    best = prim.cast(0, dtype)
    for i in range(lines):
        total = prim.cast(0, dtype)
        for j in range(a.shape[0] if by_columns else a.shape[1]):
            total += _size(prim.item(a, j if by_columns else i, i if by_columns else j), dtype)
        if i == 0:
            best = total
        best = prim.maximum(best, total) if p > 0.0 else prim.minimum(best, total)
    return best


def _spectral(values, p, dtype):
    # Of singular values, which descend, the greatest or the least.
    if p < 0.0:
        _check_not_empty(values.size)
        return prim.cast(prim.item(values, values.size - 1), dtype)
    return prim.cast(prim.item(values, 0), dtype) if values.size > 0 else prim.cast(0, dtype)


def _norms_of_matrices(a, ord, axis, keepdims, dtype):
    i, j = check_axis(axis[0], a.ndim), check_axis(axis[1], a.ndim)
    if i == j:
        raise ValueError("Duplicate axes given.")
    m = matrices(np.moveaxis(a, (i, j), (-2, -1)))
    out = new_array((m.shape[0],), dtype)
    for k in range(m.shape[0]):
        prim.set_item(out, k, _matrix_norm(m[k], ord, dtype))
    if keepdims:
        return with_shape(out, prim.tuple_set(prim.tuple_set(a.shape, i, 1), j, 1))
    if a.ndim == 2:
        return prim.item(out, 0)
    return with_shape(out, prim.tuple_drop(prim.tuple_drop(a.shape, i if i > j else j), j if i > j else i))


def _norms_of_lines(a, ord, axis, keepdims, dtype):
    k = check_axis(axis_of(axis), a.ndim)
    v = lanes(a, k)
    out = new_array((v.shape[0], v.shape[2]), dtype)
    line = new_array((v.shape[1],), prim.dtype_of(a))
    for i in range(v.shape[0]):
        for j in range(v.shape[2]):
            for m in range(v.shape[1]):
                prim.set_item(line, m, prim.item(v, i, m, j))
            prim.set_item(out, i, j, _line_norm(line, ord, dtype))
    return axis_result(out, a.shape, k, keepdims)


def norm(x, ord=None, axis=None, keepdims=False):
    """Norm of a vector or matrix, or of the lines along an axis or the matrices in two.

    >>> np.linalg.norm(np.array([3.0, 4.0]))
    np.float64(5.0)
    >>> np.linalg.norm(np.array([[3.0, 4.0], [0.0, 2.0]]), axis=1)
    array([5., 2.])
    >>> np.linalg.norm(np.array([[[3.0, 4.0], [0.0, 2.0]]]), ord=1, axis=(1, 2))
    array([6.])
    """
    a = asarray(x)
    dtype = _norm_dtype(prim.dtype_of(a))
    if prim.is_complex(ord):
        prim.error("the order of a norm is a real number")
    if axis is None:
        if ord is None:
            return keep(euclidean(flat_any(a), dtype), a.ndim, keepdims)
        if a.ndim == 1:
            return keep(_line_norm(a, ord, dtype), a.ndim, keepdims)
        if a.ndim == 2:
            return keep(_matrix_norm(a, ord, dtype), a.ndim, keepdims)
        prim.error("a norm with an order takes vectors and matrices, or `axis`")
    if not prim.is_tuple(axis):
        return _norms_of_lines(a, ord, axis, keepdims, dtype)
    if len(axis) == 1:
        return _norms_of_lines(a, ord, axis[0], keepdims, dtype)
    if len(axis) != 2:
        prim.error("norms take one axis or two: Improper number of dimensions to norm.")
    return _norms_of_matrices(a, ord, axis, keepdims, dtype)


def _ones_at(shape, axes, ndim):
    for k in axes:
        shape = prim.tuple_set(shape, check_axis(k, ndim), 1)
    return shape


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """Norm of all elements as one vector, or of the lines along one axis or several.

    >>> np.linalg.vector_norm(np.array([[3.0, 0.0], [0.0, 4.0]]))
    np.float64(5.0)
    >>> np.linalg.vector_norm(np.array([[3.0, 4.0], [0.0, 2.0]]), axis=1, ord=1)
    array([7., 2.])
    """
    a = asarray(x)
    if axis is None:
        return keep(_line_norm(flat(a), ord, _norm_dtype(prim.dtype_of(a))), a.ndim, keepdims)
    if not prim.is_tuple(axis):
        return norm(a, ord, axis, keepdims)
    joined = _to_front(a, axis)
    extent = 1
    for k in axis:
        extent *= a.shape[check_axis(k, a.ndim)]
    lines = joined.reshape((extent,) + joined.shape[len(axis) :])
    if keepdims:
        return np.asarray(norm(lines, ord, 0)).reshape(_ones_at(a.shape, axis, a.ndim))
    return norm(lines, ord, 0)


def _to_front(a, axes):
    places = prim.tuple_fill(len(axes), 0)
    for k in range(len(axes)):
        places = prim.tuple_set(places, k, k)
    return np.moveaxis(a, axes, places)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """Norm of a matrix, or of each in a stack.

    >>> np.linalg.matrix_norm(np.array([[3.0, 4.0], [0.0, 2.0]]), ord=np.inf)
    np.float64(7.0)
    """
    return norm(x, ord, (-2, -1), keepdims)
