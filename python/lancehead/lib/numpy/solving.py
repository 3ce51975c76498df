"""Linear systems by triangular factors: solve, inverse, determinant, Cholesky, QR."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import copy_c, new_array, new_zeros, with_shape
from lancehead.lib.numpy.reductions import mean_dtype


def _square(a):
    if a.ndim != 2:
        prim.error("a matrix is needed: an array of two dimensions")
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


def _size(x):
    if prim.is_complex(x):
        return prim.fabs(x.real) + prim.fabs(x.imag)
    return prim.fabs(x)


def _swap_rows(a, i, j):
    for k in range(a.shape[1]):
        x = prim.item(a, i, k)
        prim.set_item(a, i, k, prim.item(a, j, k))
        prim.set_item(a, j, k, x)


def _factor(a, rows):
    # LU with partial pivoting in place; `rows` are permuted along. Returns the sign of the permutation, 0 if singular.
    n = a.shape[0]
    sign = 1
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if _size(prim.item(a, i, k)) > _size(prim.item(a, best, k)):
                best = i
        if prim.item(a, best, k) == prim.cast(0, prim.dtype_of(a)):
            return 0
        if best != k:
            _swap_rows(a, k, best)
            _swap_rows(rows, k, best)
            sign = -sign
        pivot = prim.item(a, k, k)
        for i in range(k + 1, n):
            x = prim.item(a, i, k) / pivot
            prim.set_item(a, i, k, x)
            for j in range(k + 1, n):
                prim.set_item(a, i, j, prim.item(a, i, j) - x * prim.item(a, k, j))
    return sign


def _substitute(lu, b):
    # Solves with the factors, the right-hand sides (rows of `b`, permuted) in place.
    n, m = b.shape
    for i in range(n):
        for k in range(i):
            x = prim.item(lu, i, k)
            for j in range(m):
                prim.set_item(b, i, j, prim.item(b, i, j) - x * prim.item(b, k, j))
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x = prim.item(lu, i, k)
            for j in range(m):
                prim.set_item(b, i, j, prim.item(b, i, j) - x * prim.item(b, k, j))
        pivot = prim.item(lu, i, i)
        for j in range(m):
            prim.set_item(b, i, j, prim.item(b, i, j) / pivot)


def solve(a, b):
    """Solution of a linear system.

    >>> np.linalg.solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 4.0]))
    array([1., 1.])
    """
    x, y = asarray(a), asarray(b)
    _square(x)
    if y.ndim != 1 and y.ndim != 2:
        prim.error("right-hand sides have one or two dimensions")
    if y.shape[0] != x.shape[0]:
        raise ValueError("solve: Input operand 1 has a mismatch in its core dimension 0")
    dtype = mean_dtype(prim.result_type(prim.dtype_of(x), prim.dtype_of(y)))
    lu, rhs = copy_c(x, dtype), copy_c(y, dtype)
    columns = with_shape(rhs, (rhs.size, 1)) if y.ndim == 1 else rhs
    if _factor(lu, columns) == 0:
        raise np.linalg.LinAlgError("Singular matrix")
    _substitute(lu, columns)
    return rhs


def inv(a):
    """Inverse of a matrix.

    >>> np.linalg.inv(np.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    x = asarray(a)
    _square(x)
    dtype = mean_dtype(prim.dtype_of(x))
    out = new_zeros(x.shape, dtype)
    for i in range(x.shape[0]):
        prim.set_item(out, i, i, prim.cast(1, dtype))
    lu = copy_c(x, dtype)
    if _factor(lu, out) == 0:
        raise np.linalg.LinAlgError("Singular matrix")
    _substitute(lu, out)
    return out


def det(a):
    """Determinant of a matrix.

    >>> np.linalg.det(np.array([[1.0, 2.0], [4.0, 4.0]]))
    np.float64(-4.0)
    """
    x = asarray(a)
    _square(x)
    dtype = mean_dtype(prim.dtype_of(x))
    lu = copy_c(x, dtype)
    product = prim.cast(_factor(lu, new_array((x.shape[0], 0), dtype)), dtype)
    for i in range(x.shape[0]):
        product = product * prim.item(lu, i, i)
    return product


def slogdet(a):
    """Sign and logarithm of the absolute determinant.

    >>> np.linalg.slogdet(np.array([[1.0, 0.0], [0.0, 1.0]]))[1]
    np.float64(0.0)
    """
    x = asarray(a)
    _square(x)
    dtype = mean_dtype(prim.dtype_of(x))
    if prim.is_complex(dtype):
        prim.error("`slogdet` takes real matrices")
    lu = copy_c(x, dtype)
    sign = prim.cast(_factor(lu, new_array((x.shape[0], 0), dtype)), dtype)
    if sign == 0.0:
        return sign, prim.cast(-np.inf, dtype)
    total = prim.cast(0, dtype)
    for i in range(x.shape[0]):
        d = prim.item(lu, i, i)
        sign = -sign if d < 0.0 else sign
        total += prim.log(prim.fabs(d))
    return sign, total


def cholesky(a):
    """Lower triangular factor of a positive definite matrix.

    >>> np.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    x = asarray(a)
    _square(x)
    dtype = mean_dtype(prim.dtype_of(x))
    if prim.is_complex(dtype):
        prim.error("`cholesky` takes real matrices")
    n = x.shape[0]
    out = new_zeros((n, n), dtype)
    for j in range(n):
        d = prim.cast(prim.item(x, j, j), dtype)
        for k in range(j):
            d -= prim.item(out, j, k) * prim.item(out, j, k)
        if not d > 0.0:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        root = prim.sqrt(d)
        prim.set_item(out, j, j, root)
        for i in range(j + 1, n):
            s = prim.cast(prim.item(x, i, j), dtype)
            for k in range(j):
                s -= prim.item(out, i, k) * prim.item(out, j, k)
            prim.set_item(out, i, j, s / root)
    return out


def _reflect(r, q, k):
    # Householder's reflection of column `k`, applied to both factors.
    m, n = r.shape
    size = prim.cast(0, prim.dtype_of(r))
    for i in range(k, m):
        size = prim.hypot(size, prim.item(r, i, k))
    if size == 0.0:
        return
    x = prim.item(r, k, k)
    alpha = -size if x > 0.0 else size
    v = new_array((m,), prim.dtype_of(r))
    total = prim.cast(0, prim.dtype_of(r))
    for i in range(k, m):
        y = prim.item(r, i, k) - alpha if i == k else prim.item(r, i, k)
        prim.set_item(v, i, y)
        total += y * y
    if total == 0.0:
        return
    for j in range(k, n):
        s = prim.cast(0, prim.dtype_of(r))
        for i in range(k, m):
            s += prim.item(v, i) * prim.item(r, i, j)
        s = (s + s) / total
        for i in range(k, m):
            prim.set_item(r, i, j, prim.item(r, i, j) - s * prim.item(v, i))
    for j in range(m):
        s = prim.cast(0, prim.dtype_of(r))
        for i in range(k, m):
            s += prim.item(q, j, i) * prim.item(v, i)
        s = (s + s) / total
        for i in range(k, m):
            prim.set_item(q, j, i, prim.item(q, j, i) - s * prim.item(v, i))


def qr(a):
    """Orthogonal and upper triangular factor of a matrix.

    >>> np.round(np.linalg.qr(np.array([[3.0, 1.0], [4.0, 2.0]]))[1], 6)
    array([[-5. , -2.2],
           [ 0. ,  0.4]])
    """
    x = asarray(a)
    dtype = mean_dtype(prim.dtype_of(x))
    if x.ndim != 2 or prim.is_complex(dtype):
        prim.error("`qr` takes real matrices")
    m, n = x.shape
    r = copy_c(x, dtype)
    q = new_zeros((m, m), dtype)
    for i in range(m):
        prim.set_item(q, i, i, prim.cast(1, dtype))
    least = m if m < n else n
    for k in range(least if m > n else m - 1):
        _reflect(r, q, k)
    for i in range(m):
        for j in range(i if i < n else n):
            prim.set_item(r, i, j, prim.cast(0, dtype))
    return copy_c(q[:, :least], dtype), copy_c(r[:least], dtype)
