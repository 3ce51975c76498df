"""Polynomials as arrays of coefficients, highest power first."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.casting import check_cast
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import contiguous, copy_c, new_array, new_zeros
from lancehead.lib.numpy.polynomial._fitting import check_points, epsilon
from lancehead.lib.numpy.polynomial.polyutils import float_of


def _line(a):
    x = np.atleast_1d(asarray(a))
    if x.ndim != 1:
        prim.error("coefficients of one dimension are needed")
    return x


def poly(seq_of_zeros):
    """The polynomial with these zeros, or the characteristic one of a matrix; of complex zeros it is complex.

    >>> np.poly(np.array([1.0, 2.0]))
    array([ 1., -3.,  2.])
    """
    z = asarray(seq_of_zeros)
    if z.ndim == 0:
        prim.error("zeros are an array or a sequence, not a number")
    if z.ndim > 2:
        prim.error("input must be 1d or non-empty square 2d array.")
    if z.ndim == 2:
        if z.shape[0] != z.shape[1] or z.shape[0] == 0:
            raise ValueError("input must be 1d or non-empty square 2d array.")
        return poly(np.linalg.eigvals(z))
    dtype = float_of(prim.dtype_of(z))
    if prim.itemsize(dtype) == 2:
        return poly(asarray(z, np.float64))
    out = new_zeros((z.size + 1,), dtype)
    prim.set_item(out, 0, prim.cast(1, dtype))
    for i in range(z.size):
        zero = prim.cast(prim.item(z, i), dtype)
        for k in range(i + 1, 0, -1):
            prim.set_item(out, k, prim.item(out, k) - zero * prim.item(out, k - 1))
    return out


def _sum(x, y):
    return x | y if prim.is_bool(x) and prim.is_bool(y) else x + y


def _difference(x, y):
    if prim.is_bool(x) and prim.is_bool(y):
        prim.error("truth values have no differences")
    return x - y


def _aligned(x, size):
    # The coefficients behind zeros.
    out = new_zeros((size,), prim.dtype_of(x))
    for i in range(x.size):
        prim.set_item(out, size - x.size + i, prim.item(x, i))
    return out


def polyadd(a1, a2):
    """Sum of two polynomials.

    >>> np.polyadd(np.array([1, 2]), np.array([9, 5, 4]))
    array([9, 6, 6])
    """
    x, y = _line(a1), _line(a2)
    n = x.size if x.size > y.size else y.size
    return prim.map(_sum, _aligned(x, n), _aligned(y, n))


def polysub(a1, a2):
    """Difference of two polynomials.

    >>> np.polysub(np.array([1, 2]), np.array([9, 5, 4]))
    array([-9, -4, -2])
    """
    x, y = _line(a1), _line(a2)
    n = x.size if x.size > y.size else y.size
    return prim.map(_difference, _aligned(x, n), _aligned(y, n))


def _trimmed(x):
    # Without zeros in front, of which one stays if there is nothing else.
    i = 0
    while i < x.size and prim.item(x, i) == prim.cast(0, prim.dtype_of(x)):
        i += 1
    if i == x.size:
        return new_zeros((1,), prim.dtype_of(x))
    return copy_c(x[i:], prim.dtype_of(x))


def polymul(a1, a2):
    """Product of two polynomials.

    >>> np.polymul(np.array([1, 2, 3]), np.array([9, 5, 1]))
    array([ 9, 23, 38, 17,  3])
    """
    return np.convolve(_trimmed(_line(a1)), _trimmed(_line(a2)))


def polydiv(u, v):
    """Quotient and remainder of two polynomials.

    >>> np.polydiv(np.array([3.0, 5.0, 2.0]), np.array([2.0, 1.0]))
    (array([1.5 , 1.75]), array([0.25]))
    """
    x, y = _line(u), _line(v)
    if x.size == 0 or y.size == 0:
        raise IndexError("index 0 is out of bounds for axis 0 with size 0")
    dtype = prim.result_type(float_of(prim.dtype_of(x)), float_of(prim.dtype_of(y)))
    left, by = copy_c(x, dtype), asarray(y, dtype)
    m, n = x.size - 1, y.size - 1
    quotient = new_zeros((m - n + 1 if m - n + 1 > 1 else 1,), dtype)
    # A zero that is negative counts as zero.
    scale = np.divide(prim.cast(1, dtype), prim.item(by, 0) + prim.cast(0, dtype))
    for k in range(m - n + 1):
        d = scale * prim.item(left, k)
        prim.set_item(quotient, k, d)
        for i in range(n + 1):
            prim.set_item(left, k + i, prim.item(left, k + i) - d * prim.item(by, i))
    first = 0
    while first < m and np.abs(prim.item(left, first)) <= 1e-08:
        first += 1
    return quotient, left[first:]


def polyder(p, m=1):
    """Derivative of a polynomial, m times.

    >>> np.polyder(np.array([1, 1, 1, 1]))
    array([3, 2, 1])
    """
    times = index_of(m)
    if times < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    x = asarray(p)
    if x.ndim != 1:
        prim.error("coefficients of one dimension are needed")
    # Also of no derivative, whose number is not part of a type, the type is that of products with integers.
    out = copy_c(x, prim.result_type(np.int64, prim.dtype_of(x)))
    for _ in range(min(times, x.size)):
        n = out.size - 1
        for i in range(n):
            prim.set_item(out, i, prim.item(out, i) * prim.cast(n - i, prim.dtype_of(out)))
        out = prim.array(prim.owner(out), prim.data(out), (n,), out.strides, prim.dtype_of(out), "C")
    return out


def _constant(k, i, count, dtype):
    if k is None:
        return prim.cast(0, dtype)
    x = np.atleast_1d(asarray(k))
    if x.ndim != 1:
        prim.error("integration constants are a number or a list of numbers")
    return prim.cast(prim.item(x, 0 if x.size == 1 and count > 1 else i), dtype)


def polyint(p, m=1, k=None):
    """Integral of a polynomial, m times, with constants.

    >>> np.polyint(np.array([3.0, 2.0, 1.0]))
    array([1., 1., 1., 0.])
    """
    times = index_of(m)
    if times < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    x = asarray(p)
    if x.ndim != 1:
        prim.error("coefficients of one dimension are needed")
    dtype = prim.result_type(np.float64, prim.dtype_of(x))
    if k is not None:
        dtype = prim.result_type(dtype, prim.dtype_of(np.atleast_1d(asarray(k))))
        given = np.atleast_1d(asarray(k)).size
        if given < times and not (given == 1 and times > 1):
            raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    out = copy_c(x, dtype)
    for i in range(times):
        n = out.size
        longer = new_array((n + 1,), dtype)
        for j in range(n):
            prim.set_item(longer, j, prim.item(out, j) / prim.cast(n - j, dtype))
        prim.set_item(longer, n, _constant(k, i, times, dtype))
        out = longer
    return out


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The polynomial that comes nearest to values at points, by least squares.

    With `full` there are also the residuals, the rank, the singular values and the limit below which they count as
    zero; with `cov` the covariance matrix of the coefficients, unscaled for "unscaled".

    >>> np.round(np.polyfit(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]), 1), 6)
    array([2., 1.])
    """
    u, v = asarray(x), asarray(y)
    points, values = asarray(u, float_of(prim.dtype_of(u))), asarray(v, float_of(prim.dtype_of(v)))
    order = index_of(deg) + 1
    if order < 1:
        raise ValueError("expected deg >= 0")
    check_points(points, values)
    limit = float(points.size) * epsilon(prim.dtype_of(points)) if rcond is None else float(rcond)
    lhs, rhs = _weighted(np.vander(points, order), w), _weighted(values, w)
    scale = np.sqrt(np.sum(lhs * lhs, axis=0))
    scaled = lhs / scale
    c, residuals, rank, s = np.linalg.lstsq(scaled, rhs, limit)
    found = c / scale if c.ndim == 1 else c / scale[:, None]
    if full:
        return found, residuals, rank, s, limit
    if not prim.is_str(cov):
        if not cov:
            return found
    return found, _covariance(scaled, scale, residuals, points.size, order, cov, values)


def _weighted(x, w):
    if w is None:
        return x
    given = asarray(w)
    weights = asarray(given, float_of(prim.dtype_of(given)))
    if weights.ndim != 1:
        prim.error("expected a 1-d array for weights")
    if weights.shape[0] != x.shape[0]:
        raise TypeError("expected w and y to have the same length")
    # NumPy multiplies in place, which keeps the type.
    dtype = prim.dtype_of(x)
    check_cast(prim.result_type(dtype, prim.dtype_of(weights)), dtype, "same_kind")
    return asarray(x * (weights if x.ndim == 1 else weights[:, None]), dtype)


def _covariance(scaled, scale, residuals, n, order, cov, values):
    base = np.linalg.inv(np.dot(scaled.T, scaled)) / np.outer(scale, scale)
    if prim.is_str(cov):
        if cov != "unscaled":
            prim.error('`cov` is a truth value or "unscaled"')
        return base if values.ndim == 1 else contiguous(base[:, :, None])
    if n <= order:
        raise ValueError("the number of data points must exceed order to scale the covariance matrix")
    factors = residuals / prim.cast(n - order, prim.dtype_of(residuals))
    return base * factors if values.ndim == 1 else base[:, :, None] * factors


def roots(p):
    """The zeros of a polynomial: the eigenvalues of its companion matrix.

    >>> np.sort(np.roots(np.array([1.0, -3.0, 2.0])))
    array([1., 2.])
    """
    if asarray(p).ndim == 0:
        prim.error("coefficients are an array or a sequence, not a number")
    c = _line(p)
    dtype = float_of(prim.dtype_of(c))
    first, last = 0, c.size - 1
    while first <= last and prim.item(c, first) == prim.cast(0, prim.dtype_of(c)):
        first += 1
    while last >= first and prim.item(c, last) == prim.cast(0, prim.dtype_of(c)):
        last -= 1
    n = last - first if last > first else 0
    m = new_zeros((n, n), dtype)
    for i in range(n):
        if i > 0:
            prim.set_item(m, i, i - 1, prim.cast(1, dtype))
        y = prim.cast(prim.item(c, first + 1 + i), dtype) / prim.cast(prim.item(c, first), dtype)
        prim.set_item(m, 0, i, -y)
    found = np.linalg.eigvals(m)
    zeros = c.size - 1 - last if last >= first else 0
    out = new_zeros((n + zeros,), prim.dtype_of(found))
    for i in range(n):
        prim.set_item(out, i, prim.item(found, i))
    return out
