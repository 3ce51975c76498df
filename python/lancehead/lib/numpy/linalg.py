"""Products of vectors and matrices, norms."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of, index_of
from lancehead.lib.numpy.creation import asarray, line_of
from lancehead.lib.numpy.folds import axis_result, keep, pairwise
from lancehead.lib.numpy.layout import (
    check_axis,
    contiguous,
    copy_c,
    flat,
    flat_any,
    lanes,
    new_array,
    new_zeros,
    row,
    with_shape,
)
from lancehead.lib.numpy.manip import atleast_2d
from lancehead.lib.numpy.reductions import sum
from lancehead.lib.numpy.solving import cholesky as cholesky
from lancehead.lib.numpy.solving import det as det
from lancehead.lib.numpy.solving import inv as inv
from lancehead.lib.numpy.solving import qr as qr
from lancehead.lib.numpy.solving import slogdet as slogdet
from lancehead.lib.numpy.solving import solve as solve
from lancehead.lib.numpy.spectral import eig as eig
from lancehead.lib.numpy.spectral import eigh as eigh
from lancehead.lib.numpy.spectral import eigvals as eigvals
from lancehead.lib.numpy.spectral import eigvalsh as eigvalsh
from lancehead.lib.numpy.spectral import lstsq as lstsq
from lancehead.lib.numpy.spectral import svd as svd
from lancehead.lib.numpy.spectral import svdvals as svdvals


def _mismatch(a, b, i, j):
    raise ValueError(
        "shapes "
        + str(a.shape)
        + " and "
        + str(b.shape)
        + " not aligned: "
        + str(a.shape[i])
        + " (dim "
        + str(i)
        + ") != "
        + str(b.shape[j])
        + " (dim "
        + str(j)
        + ")"
    )


def _product(a, b, i, dtype):
    return _times(prim.cast(prim.item(a, i), dtype), prim.cast(prim.item(b, i), dtype))


def _product_line(a, b, dtype):
    # In any order, except where the CPU device and a GPU are to have the same.
    is_free = prim.is_float(dtype) and not prim.in_kernel()
    total = prim.cast(0, dtype)
    for i in range(a.size):
        x = _product(a, b, i, dtype)
        total = prim.add_any_order(total, x) if is_free else _add(total, x)
    return total


def _add(x, y):
    return x | y if prim.is_bool(x) else x + y


def _times(x, y):
    return x & y if prim.is_bool(x) and prim.is_bool(y) else x * y


def _matrix_vector(a, b, dtype):
    if prim.layout(a) == "F":
        # Columns are scaled and added: the inner loop runs along memory.
        out = new_zeros((a.shape[0],), dtype)
        for k in range(a.shape[1]):
            x = prim.cast(prim.item(b, k), dtype)
            for i in range(a.shape[0]):
                prim.set_item(out, i, _add(prim.item(out, i), _times(prim.cast(prim.item(a, i, k), dtype), x)))
        return out
    out = new_array((a.shape[0],), dtype)
    c, d = asarray(a, dtype), asarray(b, dtype)
    for i in range(a.shape[0]):
        prim.set_item(out, i, _product_line(row(c, i), d, dtype))
    return out


def _matrix_matrix(a, b, dtype):
    m, n, k = a.shape[0], b.shape[1], a.shape[1]
    if prim.is_float(dtype) and prim.itemsize(dtype) == 2:
        return asarray(_matrix_matrix(a, b, np.float32), dtype)
    if prim.in_kernel() or not (prim.is_float(dtype) or prim.is_complex(dtype)):
        return _plain_product(a, contiguous(b), dtype)
    out = new_array((m, n), dtype)
    x, y = asarray(a, dtype), asarray(b, dtype)
    s, t, u = x.strides, y.strides, out.strides
    prim.lh_gemm(dtype, m, n, k, prim.data(x), s[0], s[1], prim.data(y), t[0], t[1], prim.data(out), u[0], u[1])
    return out


def _plain_product(a, b, dtype):
    out = new_zeros((a.shape[0], b.shape[1]), dtype)
    for i in range(a.shape[0]):
        for k in range(b.shape[0]):
            x = prim.cast(prim.item(a, i, k), dtype)
            for j in range(b.shape[1]):
                prim.set_item(out, i, j, _add(prim.item(out, i, j), _times(x, prim.cast(prim.item(b, k, j), dtype))))
    return out


def dot(a, b):
    """Dot product of vectors, product of matrices.

    >>> np.dot(np.array([1, 2]), np.array([3, 4]))
    np.int64(11)
    >>> np.dot(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    array([3, 7])
    """
    x, y = asarray(a), asarray(b)
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    if x.ndim > 2 or y.ndim > 2:
        prim.error("`dot` takes arrays of at most two dimensions")
    dtype = prim.result_type(prim.dtype_of(x), prim.dtype_of(y))
    j = 0
    if x.shape[x.ndim - 1] != y.shape[j]:
        _mismatch(x, y, x.ndim - 1, j)
    return _matrix_product(x, y, dtype)


def _matrix_product(x, y, dtype):
    if x.ndim == 1 and y.ndim == 1:
        return _product_line(x, y, dtype)
    if y.ndim == 1:
        return _matrix_vector(x, y, dtype)
    if x.ndim == 1:
        return _matrix_vector(y.T, x, dtype)
    return _matrix_matrix(x, y, dtype)


def matmul(a, b, /):
    """Matrix product; of more dimensions, of the last two for each of the others.

    >>> np.matmul(np.array([[1, 2], [3, 4]]), np.array([[1, 0], [1, 1]]))
    array([[3, 2],
           [7, 4]])
    """
    x, y = asarray(a), asarray(b)
    if x.ndim == 0 or y.ndim == 0:
        prim.error("`@` needs arrays of at least one dimension")
    dtype = prim.result_type(prim.dtype_of(x), prim.dtype_of(y))
    j = y.ndim - 2 if y.ndim > 1 else 0
    if x.shape[x.ndim - 1] != y.shape[j]:
        raise ValueError(
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            "(n?,k),(k,m?)->(n?,m?) (size " + str(y.shape[j]) + " is different from " + str(x.shape[x.ndim - 1]) + ")"
        )
    if x.ndim <= 2 and y.ndim <= 2:
        return _matrix_product(x, y, dtype)
    return _stacked(x, y, dtype)


def _stacked(x, y, dtype):
    if x.ndim != 3 or y.ndim != 3:
        prim.error("stacks of matrices need three dimensions on both sides")
    n = x.shape[0] if x.shape[0] != 1 else y.shape[0]
    if (x.shape[0] != n and x.shape[0] != 1) or (y.shape[0] != n and y.shape[0] != 1):
        raise ValueError("operands could not be broadcast together")
    out = new_array((n, x.shape[1], y.shape[2]), dtype)
    for i in range(n):
        out[i] = _matrix_matrix(x[i if x.shape[0] != 1 else 0], y[i if y.shape[0] != 1 else 0], dtype)
    return out


def vdot(a, b):
    """Dot product of all elements, the first conjugated.

    >>> np.vdot(np.array([1j, 2]), np.array([1j, 1]))
    np.complex128(3+0j)
    """
    x, y = flat(asarray(a)), flat(asarray(b))
    if x.size != y.size:
        raise ValueError("cannot reshape array")
    if prim.is_complex(prim.dtype_of(x)):
        return dot(x.conj(), y)
    return dot(x, y)


def inner(a, b):
    """Products of the last axes.

    >>> np.inner(np.array([1, 2]), np.array([3, 4]))
    np.int64(11)
    """
    x, y = asarray(a), asarray(b)
    return dot(x, y.T) if y.ndim == 2 else dot(x, y)


def products(x, y):
    """All products of pairs of two lines."""
    return prim.map(_times, with_shape(x, (x.size, 1)), y)


def outer(a, b, /):
    """All products of pairs of two vectors.

    >>> np.linalg.outer(np.array([1, 2]), np.array([3, 4]))
    array([[3, 4],
           [6, 8]])
    """
    return products(line_of(a), line_of(b))


def kron(a, b):
    """Kronecker product of matrices.

    >>> np.kron(np.array([[1, 2]]), np.array([[1], [1]]))
    array([[1, 2],
           [1, 2]])
    """
    if a.ndim != 2 or b.ndim != 2:
        prim.error("`kron` takes two-dimensional arrays")
    p, q = b.shape
    out = new_array((a.shape[0] * p, a.shape[1] * q), prim.result_type(prim.dtype_of(a), prim.dtype_of(b)))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            x = prim.item(a, i // p, j // q) * prim.item(b, i % p, j % q)
            prim.set_item(out, i, j, x)
    return out


def trace(a, offset=0):
    """Sum of a diagonal.

    >>> np.trace(np.array([[1, 2], [3, 4]]))
    np.int64(5)
    """
    return sum(asarray(a).diagonal(offset))


def cross(a, b):
    """Cross products of vectors of three components, those of the last axis.

    >>> np.cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
    array([0, 0, 1])
    >>> np.cross(np.array([[1, 0, 0], [0, 1, 0]]), np.array([0, 1, 0]))
    array([[0, 0, 1],
           [0, 0, 0]])
    """
    x, y = asarray(a), asarray(b)
    if x.ndim > 2 or y.ndim > 2 or x.ndim == 0 or y.ndim == 0:
        prim.error("`cross` takes arrays of one or two dimensions")
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 3)")
    dtype = prim.result_type(prim.dtype_of(x), prim.dtype_of(y))
    if prim.is_bool(dtype):
        prim.error("truth values have no differences")
    if x.ndim == 1 and y.ndim == 1:
        line = new_array((3,), dtype)
        _cross(line, x, y)
        return line
    p, q = atleast_2d(x), atleast_2d(y)
    n = p.shape[0] if q.shape[0] == 1 else q.shape[0]
    if p.shape[0] != n and p.shape[0] != 1:
        raise ValueError("operands could not be broadcast together with shapes " + str(x.shape) + " " + str(y.shape))
    out = new_array((n, 3), dtype)
    for i in range(n):
        _cross(row(out, i), row(p, i if p.shape[0] > 1 else 0), row(q, i if q.shape[0] > 1 else 0))
    return out


def _cross(out, x, y):
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        prim.set_item(out, i, prim.item(x, j) * prim.item(y, k) - prim.item(x, k) * prim.item(y, j))


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


def _line_norm(v, ord, dtype):
    # Norm of a vector.
    if ord is None:
        return prim.sqrt(_square_line(v, dtype))
    total = prim.cast(0, dtype)
    p = prim.cast(ord, dtype)
    if prim.isinf(p):
        for i in range(v.size):
            x = _size(prim.item(v, i), dtype)
            if i == 0:
                total = x
            total = prim.maximum(total, x) if p > 0.0 else prim.minimum(total, x)
        return total
    for i in range(v.size):
        x = _size(prim.item(v, i), dtype)
        if p == 2.0:
            total += x * x
        elif p == 1.0:
            total += x
        elif p == 0.0:
            total += prim.cast(1 if x != 0.0 else 0, dtype)
        else:
            total += prim.pow(x, p)
    if p == 2.0:
        return prim.sqrt(total)
    if p == 1.0 or p == 0.0:
        return total
    return prim.pow(total, prim.cast(1, dtype) / p)


def _matrix_norm(a, ord, dtype):
    if prim.is_str(ord):
        if ord != "fro":
            prim.error('of the norms given by a string, only "fro" is supported')
        return prim.sqrt(_square_line(flat_any(a), dtype))
    p = prim.cast(ord, np.float64)
    by_columns = prim.fabs(p) == 1.0
    if not by_columns and not prim.isinf(p):
        raise ValueError("Invalid norm order for matrices.")
    lines = a.shape[1] if by_columns else a.shape[0]
    best = prim.cast(0, dtype)
    for i in range(lines):
        total = prim.cast(0, dtype)
        for j in range(a.shape[0] if by_columns else a.shape[1]):
            total += _size(prim.item(a, j if by_columns else i, i if by_columns else j), dtype)
        if i == 0 or (total > best if p > 0.0 else total < best):
            best = total
    return best


def norm(x, ord=None, axis=None, keepdims=False):
    """Norm of a vector or matrix, or of the lines along an axis.

    >>> np.linalg.norm(np.array([3.0, 4.0]))
    np.float64(5.0)
    >>> np.linalg.norm(np.array([[3.0, 4.0], [0.0, 2.0]]), axis=1)
    array([5., 2.])
    """
    a = asarray(x)
    dtype = _norm_dtype(prim.dtype_of(a))
    if axis is None:
        if ord is None:
            return keep(prim.sqrt(_square_line(flat_any(a), dtype)), a, keepdims)
        if a.ndim == 1:
            return keep(_line_norm(a, ord, dtype), a, keepdims)
        if a.ndim == 2:
            return keep(_matrix_norm(a, ord, dtype), a, keepdims)
        prim.error("a norm with an order takes vectors and matrices")
    if prim.is_tuple(axis):
        prim.error("norms take one axis")
    k = check_axis(axis_of(axis), a.ndim)
    v = lanes(a, k)
    out = new_array((v.shape[0], v.shape[2]), dtype)
    line = new_array((v.shape[1],), prim.dtype_of(a))
    for i in range(v.shape[0]):
        for j in range(v.shape[2]):
            for m in range(v.shape[1]):
                prim.set_item(line, m, prim.item(v, i, m, j))
            prim.set_item(out, i, j, _line_norm(line, ord, dtype))
    return axis_result(out, a, k, keepdims)


def matrix_power(a, n):
    """Power of a matrix with an exponent of at least zero.

    >>> np.linalg.matrix_power(np.array([[1, 1], [1, 0]]), 5)
    array([[8, 5],
           [5, 3]])
    """
    if n < 0:
        raise ValueError("matrix_power needs an exponent of at least zero here")
    out = new_array(a.shape, prim.dtype_of(a))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            prim.set_item(out, i, j, prim.cast(1 if i == j else 0, prim.dtype_of(a)))
    base = copy_c(a, prim.dtype_of(a))
    left = index_of(n)
    while left > 0:
        if (left & 1) == 1:
            out = _matrix_matrix(out, base, prim.dtype_of(a))
        base = _matrix_matrix(base, base, prim.dtype_of(a))
        left = left >> 1
    return out
