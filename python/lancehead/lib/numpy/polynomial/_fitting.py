"""Fits, zeros and quadrature by the polynomials of a family."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import new_array, new_zeros
from lancehead.lib.numpy.polynomial._series import powers
from lancehead.lib.numpy.polynomial.polyutils import float_of, series
from lancehead.lib.numpy.stacks import real_dtype

#: Steps of the iteration for one eigenvalue; few are needed.
STEPS = 60


def epsilon(dtype):
    """The distance from one to the next number of a type."""
    if prim.itemsize(real_dtype(dtype)) == 4:
        return 1.1920928955078125e-07
    return 2.220446049250313e-16


def check_points(x, y):
    """Refuses points and values that do not belong together."""
    if x.ndim != 1:
        prim.error("expected 1D vector for x")
    if y.ndim < 1 or y.ndim > 2:
        prim.error("expected 1D or 2D array for y")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")


def fit(rule, x, y, deg, rcond, full, w):
    """The series that comes nearest to values at points, by least squares."""
    u, v = asarray(x), asarray(y)
    points, values = asarray(u, float_of(prim.dtype_of(u))), asarray(v, float_of(prim.dtype_of(v)))
    if prim.is_int(deg):
        order = index_of(deg)
        if order < 0:
            raise ValueError("expected deg >= 0")
        check_points(points, values)
        return _fit(powers(rule, points, order), points, values, rcond, full, w, None, order)
    degrees = np.sort(_degrees(deg))
    check_points(points, values)
    order = prim.cast(prim.item(degrees, degrees.size - 1), int)
    return _fit(powers(rule, points, order)[:, degrees], points, values, rcond, full, w, degrees, order)


def _degrees(deg):
    x = asarray(deg)
    if x.ndim != 1 or not prim.is_int(prim.dtype_of(x)):
        prim.error("deg must be an int or non-empty 1-D array of int")
    if x.size == 0:
        raise TypeError("deg must be an int or non-empty 1-D array of int")
    if np.min(x) < 0:
        raise ValueError("expected deg >= 0")
    return asarray(x, np.int64)


def _weighted(x, w, n):
    if w is None:
        return x
    weights = asarray(w)
    factors = asarray(weights, float_of(prim.dtype_of(weights)))
    if factors.ndim != 1:
        prim.error("expected 1D vector for w")
    if factors.shape[0] != n:
        raise TypeError("expected x and w to have same length")
    if x.ndim == 1:
        return x * factors
    return x * factors[:, None]


def _scales(a):
    # Lengths of the columns; one for those of zeros.
    out = new_array((a.shape[1],), real_dtype(prim.dtype_of(a)))
    for j in range(a.shape[1]):
        length = np.linalg.norm(a[:, j])
        prim.set_item(out, j, length if length != 0.0 else prim.cast(1, prim.dtype_of(out)))
    return out


def _fit(columns, x, y, rcond, full, w, degrees, order):
    lhs, rhs = _weighted(columns, w, x.size), _weighted(y, w, x.size)
    limit = float(x.size) * epsilon(prim.dtype_of(x)) if rcond is None else float(rcond)
    scales = _scales(lhs)
    c, residuals, rank, s = np.linalg.lstsq(lhs / scales, rhs, limit)
    found = c / scales if c.ndim == 1 else c / scales[:, None]
    out = found if degrees is None else _spread(found, degrees, order)
    if full:
        return out, (residuals, rank, s, limit)
    return out


def _spread(c, degrees, order):
    out = new_zeros((order + 1,) + c.shape[1:], prim.dtype_of(c))
    for i in range(degrees.size):
        out[degrees[i]] = c[i]
    return out


def companion(rule, c):
    """The scaled companion matrix of a series, whose eigenvalues are its zeros."""
    x = series(c)
    n = x.size - 1
    if n < 1:
        raise ValueError("Series must have maximum degree of at least 1.")
    dtype = prim.dtype_of(x)
    real = real_dtype(dtype)
    out = new_zeros((n, n), dtype)
    last, scale = prim.item(x, n), 1.0
    a, _, _ = rule(n)
    for k in range(n - 1, -1, -1):
        p, q, _ = rule(k + 1)
        prim.set_item(out, k, k, prim.cast(-q / p, dtype))
        if k + 1 < n:
            ratio = _ratio(rule, k)
            scale = scale / ratio
            prim.set_item(out, k, k + 1, prim.cast(ratio / p, dtype))
            prim.set_item(out, k + 1, k, prim.cast(ratio / p, dtype))
        y = prim.item(x, k) / last * prim.cast(scale / a, real)
        prim.set_item(out, k, n - 1, prim.item(out, k, n - 1) - y)
    return out


def _ratio(rule, k):
    # The quotient of the lengths of two polynomials.
    a, _, _ = rule(k + 1)
    p, _, d = rule(k + 2)
    return prim.sqrt(d * a / p)


def power_companion(c):
    """The companion matrix of a series in powers."""
    x = series(c)
    n = x.size - 1
    if n < 1:
        raise ValueError("Series must have maximum degree of at least 1.")
    out = new_zeros((n, n), prim.dtype_of(x))
    for k in range(n):
        if k > 0:
            prim.set_item(out, k, k - 1, prim.cast(1, prim.dtype_of(x)))
        y = prim.item(x, k) / prim.item(x, n)
        prim.set_item(out, k, n - 1, prim.item(out, k, n - 1) - y)
    return out


def zeros_of(rule, c):
    """The zeros of a series, sorted."""
    x = series(c)
    n = x.size - 1
    if n < 1:
        return _sorted_values(new_zeros((0, 0), prim.dtype_of(x)))
    if rule is None:
        return _sorted_values(power_companion(x))
    m = companion(rule, x)
    turned = new_array(m.shape, prim.dtype_of(m))
    for i in range(n):
        for j in range(n):
            prim.set_item(turned, i, j, prim.item(m, n - 1 - i, n - 1 - j))
    return _sorted_values(turned)


def _sorted_values(m):
    return np.sort(np.linalg.eigvals(m))


def _eigenvalues(d, e):
    # Of a symmetric tridiagonal matrix, in place of its diagonal; `e` is beside it. By implicit shifts.
    n = d.size
    for low in range(n):
        for _ in range(STEPS):
            m = low
            while m < n - 1:
                size = prim.fabs(prim.item(d, m)) + prim.fabs(prim.item(d, m + 1))
                if size + prim.fabs(prim.item(e, m)) == size:
                    break
                m += 1
            if m == low:
                break
            _shift(d, e, low, m)
    return np.sort(d)


def _shift(d, e, low, m):
    g = (prim.item(d, low + 1) - prim.item(d, low)) / (2.0 * prim.item(e, low))
    r = prim.hypot(g, 1.0)
    g = prim.item(d, m) - prim.item(d, low) + prim.item(e, low) / (g + prim.copysign(r, g))
    s, c, p = 1.0, 1.0, 0.0
    for i in range(m - 1, low - 1, -1):
        f, b = s * prim.item(e, i), c * prim.item(e, i)
        r = prim.hypot(f, g)
        prim.set_item(e, i + 1, r)
        if r == 0.0:
            prim.set_item(d, i + 1, prim.item(d, i + 1) - p)
            prim.set_item(e, m, 0.0)
            return
        s, c = f / r, g / r
        g = prim.item(d, i + 1) - p
        r = (prim.item(d, i) - g) * s + 2.0 * c * b
        p = s * r
        prim.set_item(d, i + 1, g + p)
        g = c * r - b
    prim.set_item(d, low, prim.item(d, low) - p)
    prim.set_item(e, low, g)
    prim.set_item(e, m, 0.0)


def quadrature(rule, deg, total, symmetric):
    """Points and weights by which sums of values are integrals, exactly so up to a degree of `2 * deg - 1`."""
    n = index_of(deg)
    if n <= 0:
        raise ValueError("deg must be a positive integer")
    d, e = new_array((n,), np.float64), new_zeros((n,), np.float64)
    for k in range(n):
        a, b, _ = rule(k + 1)
        prim.set_item(d, k, -b / a)
        if k + 1 < n:
            prim.set_item(e, k, _ratio(rule, k) / a)
    x, w = _eigenvalues(d, e), new_array((n,), np.float64)
    for i in range(n):
        prim.set_item(w, i, _improved(rule, n, x, i))
    if symmetric:
        _mirror(x, w)
    whole = np.sum(w)
    for i in range(n):
        prim.set_item(w, i, prim.item(w, i) * (total / whole))
    return x, w


def _improved(rule, n, x, i):
    # Newton's step from the eigenvalue, and then the weight: the sum of all squares, inverted.
    point = prim.item(x, i)
    for _ in range(2):
        value, slope = _value_and_slope(rule, n, point)
        point -= value / slope
    prim.set_item(x, i, point)
    total, before, now = 0.0, 0.0, 1.0
    for k in range(n):
        total += now * now
        before, now = now, _next(rule, k, point, before, now)
    return 1.0 / total


def _next(rule, k, x, before, now):
    # From two orthonormal polynomials at a point the next one.
    a, b, d = rule(k + 1)
    after = (x * a + b) * now
    if k > 0:
        after -= d / _ratio(rule, k - 1) * before
    return after / _ratio(rule, k)


def _value_and_slope(rule, n, x):
    before, now, slope_before, slope = 0.0, 1.0, 0.0, 0.0
    for k in range(n):
        a, _, _ = rule(k + 1)
        slope_after = _next(rule, k, x, slope_before, slope) + a * now / _ratio(rule, k)
        after = _next(rule, k, x, before, now)
        before, now, slope_before, slope = now, after, slope, slope_after
    return now, slope


def _mirror(x, w):
    n = x.size
    for i in range((n + 1) // 2):
        point = (prim.item(x, i) - prim.item(x, n - 1 - i)) / 2.0
        weight = (prim.item(w, i) + prim.item(w, n - 1 - i)) / 2.0
        prim.set_item(x, i, point)
        prim.set_item(x, n - 1 - i, -point)
        prim.set_item(w, i, weight)
        prim.set_item(w, n - 1 - i, weight)
