"""Linear systems by triangular factors: solve, inverse, determinant, Cholesky, QR.

Small matrices, and all in kernels, are handled here; others by the run-time library (`factors.py`)."""

from collections import namedtuple

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.factors import cholesky_columns, columns_of, is_singular, lu, qr_columns, solve_columns
from lancehead.lib.numpy.layout import copy_c, copy_into, new_array, new_zeros, with_shape
from lancehead.lib.numpy.manip import broadcast_shapes, broadcast_to
from lancehead.lib.numpy.stacks import (
    check_matrices,
    check_square,
    conj,
    linalg_dtype,
    magnitude,
    matrices,
    real_dtype,
    swap_rows,
    vectors,
)

# Up to so many rows, calls and copies would take longer than the loops here.
SMALL = 16

SlogdetResult = namedtuple("SlogdetResult", ["sign", "logabsdet"])
QRResult = namedtuple("QRResult", ["Q", "R"])


def _factor(a, rows):
    # LU with partial pivoting in place; `rows` are permuted along. Returns the sign of the permutation, 0 if singular.
    n = a.shape[0]
    sign = 1
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if magnitude(prim.item(a, i, k)) > magnitude(prim.item(a, best, k)):
                best = i
        if prim.item(a, best, k) == prim.cast(0, prim.dtype_of(a)):
            return 0
        if best != k:
            swap_rows(a, k, best)
            swap_rows(rows, k, best)
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


def _solve_into(a, b):
    # Solves in place; the matrix is destroyed.
    n, k = b.shape
    if not prim.in_kernel():
        if n > SMALL:
            dtype = prim.dtype_of(a)
            f, x = columns_of(a, dtype), columns_of(b, dtype)
            rows, _ = lu(f)
            if is_singular(f):
                raise np.linalg.LinAlgError("Singular matrix")
            solve_columns(f, rows, x)
            copy_into(b, x)
            return
    if _factor(a, b) == 0:
        raise np.linalg.LinAlgError("Singular matrix")
    _substitute(a, b)


def solve(a, b):
    """Solution of a linear system, or of a stack of them.

    >>> np.linalg.solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 4.0]))
    array([1., 1.])
    """
    x, y = asarray(a), asarray(b)
    check_square(x)
    dtype = linalg_dtype(prim.result_type(linalg_dtype(prim.dtype_of(x)), prim.dtype_of(y)))
    if y.ndim == 0:
        prim.error("right-hand sides have one dimension or more")
    n = x.shape[x.ndim - 1]
    if y.shape[0 if y.ndim == 1 else y.ndim - 2] != n:
        raise ValueError(
            ("solve1" if y.ndim == 1 else "solve")
            + ": Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            "(m,m),(m"
            + ("" if y.ndim == 1 else ",n")
            + ")->(m"
            + ("" if y.ndim == 1 else ",n")
            + ") (size "
            + str(y.shape[0 if y.ndim == 1 else y.ndim - 2])
            + " is different from "
            + str(n)
            + ")"
        )
    if x.ndim == 2 and y.ndim <= 2:
        left, right = copy_c(x, dtype), copy_c(y, dtype)
        _solve_into(left, with_shape(right, (right.size, 1)) if y.ndim == 1 else right)
        return right
    if y.ndim == 1:
        left, right = copy_c(x, dtype), copy_c(broadcast_to(y, x.shape[:-2] + (n,)), dtype)
        rights = with_shape(right, (right.size // n if n > 0 else 0, n, 1))
    else:
        lead = broadcast_shapes(x.shape[:-2], y.shape[:-2])
        left = copy_c(broadcast_to(x, lead + (n, n)), dtype)
        right = copy_c(broadcast_to(y, lead + (n, y.shape[y.ndim - 1])), dtype)
        rights = matrices(right)
    lefts = matrices(left)
    for i in range(rights.shape[0]):
        _solve_into(lefts[i], rights[i])
    return right


def inv(a):
    """Inverse of a matrix, or of a stack of them.

    >>> np.linalg.inv(np.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    x = asarray(a)
    check_square(x)
    dtype = linalg_dtype(prim.dtype_of(x))
    left, out = copy_c(x, dtype), new_zeros(x.shape, dtype)
    lefts, outs = matrices(left), matrices(out)
    for i in range(outs.shape[0]):
        for j in range(outs.shape[1]):
            prim.set_item(outs, i, j, j, prim.cast(1, dtype))
        _solve_into(lefts[i], outs[i])
    return out


def _diagonal_of(a):
    # Puts a triangular factor in place of the matrix, or of its copy; the sign of the exchanges, 0 if there is a zero.
    n = a.shape[0]
    if not prim.in_kernel():
        if n > SMALL:
            f = columns_of(a, prim.dtype_of(a))
            _, exchanges = lu(f)
            for i in range(n):
                prim.set_item(a, i, i, prim.item(f, i, i))
            return 0 if is_singular(a) else 1 - 2 * (exchanges % 2)
    return _factor(a, new_array((n, 0), prim.dtype_of(a)))


def _det(a):
    dtype = prim.dtype_of(a)
    sign = _diagonal_of(a)
    product = prim.cast(sign, dtype)
    if sign == 0:
        return product
    for i in range(a.shape[0]):
        product = product * prim.item(a, i, i)
    return product


def det(a):
    """Determinant of a matrix, or of a stack of them.

    >>> np.linalg.det(np.array([[1.0, 2.0], [4.0, 4.0]]))
    np.float64(-4.0)
    """
    x = asarray(a)
    check_square(x)
    dtype = linalg_dtype(prim.dtype_of(x))
    left = copy_c(x, dtype)
    if x.ndim == 2:
        return _det(left)
    lefts, out = matrices(left), new_array(x.shape[:-2], dtype)
    values = with_shape(out, (out.size,))
    for i in range(out.size):
        prim.set_item(values, i, _det(lefts[i]))
    return out


def _slogdet(a):
    dtype = prim.dtype_of(a)
    real = real_dtype(dtype)
    exchanges = _diagonal_of(a)
    sign, total = prim.cast(exchanges, dtype), prim.cast(0, real)
    if exchanges == 0:
        return sign, prim.cast(-np.inf, real)
    for i in range(a.shape[0]):
        d = prim.item(a, i, i)
        size = abs(d)
        if prim.is_complex(dtype):
            sign = sign * (d / prim.cast(size, dtype))
        elif not d > 0.0:
            sign = -sign if d < 0.0 else sign * d
        total += prim.log(size)
    return sign, total


def slogdet(a):
    """Sign and logarithm of the absolute determinant.

    >>> np.linalg.slogdet(np.array([[1.0, 0.0], [0.0, 1.0]]))[1]
    np.float64(0.0)
    """
    x = asarray(a)
    check_square(x)
    dtype = linalg_dtype(prim.dtype_of(x))
    left = copy_c(x, dtype)
    if x.ndim == 2:
        sign, total = _slogdet(left)
        return SlogdetResult(sign, total)
    lefts, signs, totals = matrices(left), new_array(x.shape[:-2], dtype), new_array(x.shape[:-2], real_dtype(dtype))
    first, second = with_shape(signs, (signs.size,)), with_shape(totals, (totals.size,))
    for i in range(signs.size):
        sign, total = _slogdet(lefts[i])
        prim.set_item(first, i, sign)
        prim.set_item(second, i, total)
    return SlogdetResult(signs, totals)


def _cholesky_into(a, out):
    # The lower factor; the upper triangle is not read, and becomes zero.
    n = a.shape[0]
    dtype = prim.dtype_of(out)
    if not prim.in_kernel():
        if n > SMALL:
            f = columns_of(a, dtype)
            cholesky_columns(f)
            copy_into(out, f)
            return
    for j in range(n):
        d = prim.cast(prim.item(a, j, j), dtype).real
        for k in range(j):
            x = prim.item(out, j, k)
            d -= (x * conj(x)).real
        if not d > 0.0:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        root = prim.sqrt(d)
        prim.set_item(out, j, j, prim.cast(root, dtype))
        for i in range(j + 1, n):
            s = prim.cast(prim.item(a, i, j), dtype)
            for k in range(j):
                s -= prim.item(out, i, k) * conj(prim.item(out, j, k))
            prim.set_item(out, i, j, s / prim.cast(root, dtype))
            prim.set_item(out, j, i, prim.cast(0, dtype))


def _adjoint(a):
    out = new_array((a.shape[1], a.shape[0]), prim.dtype_of(a))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            prim.set_item(out, j, i, conj(prim.item(a, i, j)))
    return out


def cholesky(a, /, *, upper=False):
    """Triangular factor of a positive definite matrix, or of a stack of them: the lower one, or the upper one.

    >>> np.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    x = asarray(a)
    check_square(x)
    dtype = linalg_dtype(prim.dtype_of(x))
    left, out = copy_c(x, dtype), new_array(x.shape, dtype)
    lefts, outs = matrices(left), matrices(out)
    for i in range(outs.shape[0]):
        if upper:
            _cholesky_into(_adjoint(lefts[i]), outs[i])
            copy_into(outs[i], _adjoint(outs[i]))
        else:
            _cholesky_into(lefts[i], outs[i])
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


def _small_qr(x, dtype, columns):
    m, n = x.shape
    r = copy_c(x, dtype)
    q = new_zeros((m, m), dtype)
    for i in range(m):
        prim.set_item(q, i, i, prim.cast(1, dtype))
    least = m if m < n else n
    for k in range(least if m > n else m - 1):
        _reflect(r, q, k)
    return q[:, :columns], r


def _factors(x, dtype, columns):
    # So many columns of Q, and R with anything below its diagonal.
    if prim.in_kernel():
        if prim.is_complex(dtype):
            prim.error("in kernels, `qr` takes real matrices")
        return _small_qr(x, dtype, columns)
    f = columns_of(x, dtype)
    _, q = qr_columns(f, columns)
    return q[::1], f[::1]


def _triangle(out, r):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            prim.set_item(out, i, j, prim.item(r, i, j) if j >= i else prim.cast(0, prim.dtype_of(out)))


def qr(a, mode="reduced"):
    """Unitary and upper triangular factor of a matrix, or of a stack of them.

    With `mode="complete"` the first one is square; `"r"` gives the second one alone, `"raw"` the reflectors and their
    factors as LAPACK's `geqrf` leaves them (transposed).

    >>> q, r = np.linalg.qr(np.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> np.round(np.abs(r), 6)
    array([[5. , 2.2],
           [0. , 0.4]])
    """
    x = asarray(a)
    check_matrices(x)
    dtype = linalg_dtype(prim.dtype_of(x))
    m, n = x.shape[x.ndim - 2], x.shape[x.ndim - 1]
    least = m if m < n else n
    left = matrices(copy_c(x, dtype))
    if mode == "raw":
        return _raw_qr(x, left, dtype, least)
    rows = m if mode == "complete" else least
    r = new_array(x.shape[:-2] + (rows, n), dtype)
    rs = matrices(r)
    if mode == "r":
        for i in range(rs.shape[0]):
            _, f = _factors(left[i], dtype, 0)
            _triangle(rs[i], f)
        return r
    if mode != "reduced" and mode != "complete":
        raise ValueError("Unrecognized mode '" + mode + "'")
    q = new_array(x.shape[:-2] + (m, rows), dtype)
    qs = matrices(q)
    for i in range(rs.shape[0]):
        u, f = _factors(left[i], dtype, rows)
        copy_into(qs[i], u)
        _triangle(rs[i], f)
    return QRResult(q, r)


def _raw_qr(x, left, dtype, least):
    if prim.in_kernel():
        prim.error("kernels have no `qr` with this mode")
    m, n = left.shape[1], left.shape[2]
    h, tau = new_array(x.shape[:-2] + (n, m), dtype), new_array(x.shape[:-2] + (least,), dtype)
    hs, taus = matrices(h), vectors(tau)
    for i in range(hs.shape[0]):
        f = columns_of(left[i], dtype)
        factors, _ = qr_columns(f, 0)
        copy_into(hs[i], f.T)
        copy_into(taus[i], factors)
    return h, tau
