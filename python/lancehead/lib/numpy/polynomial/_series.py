"""The six families of polynomials: all that they share.

A family is a function, its rule: `rule(k)` gives `a, b, c` of `P[k] = (a * x + b) * P[k - 1] - c * P[k - 2]`. Two more
functions tell its derivatives and integrals.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of, index_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import check_axis, contiguous, copy_c, count, lanes, new_array, new_zeros, with_shape
from lancehead.lib.numpy.polynomial.polyutils import coefficients, common, float_of, series, trimmed
from lancehead.lib.numpy.stacks import real_dtype

#: Points whose values are computed together, so that what is in between stays in the cache.
BLOCK = 256


def power_rule(k):
    """The rule of powers."""
    return 1.0, 0.0, 0.0


def line(off, scl):
    """Two coefficients, or the first alone if the second is zero."""
    dtype = prim.result_type(prim.dtype_of(asarray(off)), prim.dtype_of(asarray(scl)))
    first, second = prim.cast(off, dtype), prim.cast(scl, dtype)
    out = new_array((1 if second == prim.cast(0, dtype) else 2,), dtype)
    prim.set_item(out, 0, first)
    if out.size == 2:
        prim.set_item(out, 1, second)
    return out


def add(c1, c2, sign):
    """The sum of two series, or with a sign of minus one the difference."""
    dtype = common(c1, c2)
    x, y = coefficients(c1, dtype), coefficients(c2, dtype)
    out = new_zeros((x.size if x.size > y.size else y.size,), dtype)
    for i in range(x.size):
        prim.set_item(out, i, prim.item(x, i))
    for i in range(y.size):
        term = prim.item(y, i)
        prim.set_item(out, i, prim.item(out, i) + (term if sign > 0 else -term))
    return trimmed(out)


def plus(c1, c2):
    """The sum of two series.

    >>> np.polynomial.polynomial.polyadd(np.array([1.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    array([2., 3., 1.])
    """
    return add(c1, c2, 1)


def minus(c1, c2):
    """The difference of two series.

    >>> np.polynomial.polynomial.polysub(np.array([1.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    array([ 0.,  1., -1.])
    """
    return add(c1, c2, -1)


def _shifted(rule, c):
    # The series times `x`, as long as it is: what is lost is zero.
    dtype = prim.dtype_of(c)
    real = real_dtype(dtype)
    out = new_zeros(c.shape, dtype)
    for i in range(c.size):
        a, b, d = rule(i + 1)
        x = prim.item(c, i)
        if i + 1 < c.size:
            prim.set_item(out, i + 1, prim.item(out, i + 1) + x * prim.cast(1.0 / a, real))
        prim.set_item(out, i, prim.item(out, i) - x * prim.cast(b / a, real))
        if i > 0:
            prim.set_item(out, i - 1, prim.item(out, i - 1) + x * prim.cast(d / a, real))
    return out


def times_x(rule, c):
    """The series times `x`."""
    x = series(c)
    if x.size == 1 and prim.item(x, 0) == prim.cast(0, prim.dtype_of(x)):
        return x
    longer = new_zeros((x.size + 1,), prim.dtype_of(x))
    for i in range(x.size):
        prim.set_item(longer, i, prim.item(x, i))
    return _shifted(rule, longer)


def _combined(rule, basis, c, xs):
    # The sum of `c[k] * P[k] * xs` in a basis, by Clenshaw's algorithm.
    dtype = prim.dtype_of(c)
    real = real_dtype(dtype)
    size = c.size + xs.size - 1
    first, second = new_zeros((size,), dtype), new_zeros((size,), dtype)
    top = c.size - 1
    for i in range(xs.size):
        prim.set_item(first, i, prim.item(c, top - 1 if top > 0 else 0) * prim.item(xs, i))
        if top > 0:
            prim.set_item(second, i, prim.item(c, top) * prim.item(xs, i))
    for k in range(top, 0, -1):
        a, b, d = rule(k)
        shifted = _shifted(basis, second)
        for i in range(size):
            x, y = prim.item(first, i), prim.item(second, i)
            own = prim.cast(0, dtype)
            if k > 1 and i < xs.size:
                own = prim.item(c, k - 2) * prim.item(xs, i)
            last = x + prim.item(shifted, i) * prim.cast(a, real) + y * prim.cast(b, real)
            prim.set_item(first, i, own - y * prim.cast(d, real) if k > 1 else last)
            prim.set_item(second, i, last)
    return first


def multiply(rule, c1, c2):
    """The product of two series."""
    dtype = common(c1, c2)
    return _multiply(rule, trimmed(coefficients(c1, dtype)), trimmed(coefficients(c2, dtype)))


def _multiply(rule, x, y):
    if rule is None:
        return trimmed(np.convolve(x, y))
    if x.size > y.size:
        return trimmed(_combined(rule, rule, y, x))
    return trimmed(_combined(rule, rule, x, y))


def to_powers(rule, c):
    """The series in powers."""
    x = series(c)
    return trimmed(_combined(rule, power_rule, x, _one(prim.dtype_of(x))))


def from_powers(rule, c):
    """A series in powers in the polynomials of the family."""
    x = trimmed(coefficients(c, prim.result_type(np.float64, prim.dtype_of(asarray(c)))))
    return trimmed(_combined(power_rule, rule, x, _one(prim.dtype_of(x))))


def _one(dtype):
    out = new_array((1,), dtype)
    prim.set_item(out, 0, prim.cast(1, dtype))
    return out


def divide(rule, c1, c2):
    """Quotient and remainder of two series."""
    dtype = common(c1, c2)
    x, y = trimmed(coefficients(c1, dtype)), trimmed(coefficients(c2, dtype))
    last = prim.item(y, y.size - 1)
    if last == prim.cast(0, dtype):
        raise ZeroDivisionError
    if x.size < y.size:
        return _one(dtype) * (prim.item(x, 0) * prim.cast(0, dtype)), x
    quotient = new_array((x.size - y.size + 1,), dtype)
    for i in range(x.size - y.size, -1, -1):
        unit = new_zeros((i + 1,), dtype)
        prim.set_item(unit, i, prim.cast(1, dtype))
        product = _multiply(rule, unit, y)
        q = prim.item(x, i + y.size - 1) / prim.item(product, i + y.size - 1)
        for k in range(i + y.size - 1):
            prim.set_item(x, k, prim.item(x, k) - q * prim.item(product, k))
        prim.set_item(quotient, i, q)
    if y.size == 1:
        return quotient, _one(dtype) * (prim.item(x, 0) * prim.cast(0, dtype))
    left = prim.array(prim.owner(x), prim.data(x), (y.size - 1,), (x.itemsize,), dtype, "C")
    return quotient, trimmed(left)


def power(rule, c, pow, maxpower):
    """A series to a power."""
    x = series(c)
    n = index_of(pow)
    if n < 0:
        raise ValueError("Power must be a non-negative integer.")
    if maxpower is not None:
        if n > maxpower:
            raise ValueError("Power is too large")
    if n == 0:
        return _one(prim.dtype_of(x))
    product = x
    for _ in range(n - 1):
        product = _multiply(rule, product, x)
    return product


def from_roots(rule, roots):
    """The series with these zeros whose highest power has a factor of one."""
    given = asarray(roots)
    # The factors have a one, so that single precision becomes double.
    dtype = prim.result_type(np.float64, prim.dtype_of(given))
    if given.size == 0:
        return _one(dtype)
    zeros = np.sort(coefficients(given, dtype))
    parts = [_factor(rule, prim.item(zeros, i), dtype) for i in range(zeros.size)]
    # In NumPy's order: of two halves, pair by pair.
    while len(parts) > 1:
        half, odd = divmod(len(parts), 2)
        joined = [_multiply(rule, parts[i], parts[i + half]) for i in range(half)]
        if odd == 1:
            joined[0] = _multiply(rule, joined[0], parts[len(parts) - 1])
        parts = joined
    return parts[0]


def _factor(rule, zero, dtype):
    # The series of `x - zero`.
    a, b, _ = power_rule(1) if rule is None else rule(1)
    out = new_array((2,), dtype)
    prim.set_item(out, 0, prim.cast(-b / a, real_dtype(dtype)) - zero)
    prim.set_item(out, 1, prim.cast(1.0 / a, dtype))
    return out


def powers(rule, x, deg):
    """The values of the first polynomials at each point, along a last axis."""
    n = index_of(deg)
    if n < 0:
        raise ValueError("deg must be non-negative")
    points = asarray(x)
    dtype = float_of(prim.dtype_of(points))
    if points.ndim == 0:
        return _powers(rule, asarray(points.reshape((1,)), dtype), n)
    return _powers(rule, asarray(points, dtype), n)


def _powers(rule, x, n):
    dtype = prim.dtype_of(x)
    real = real_dtype(dtype)
    c = contiguous(x)
    v, out = with_shape(c, (c.size,)), new_array((c.size, n + 1), dtype)
    for i in range(v.size):
        point = prim.item(v, i)
        # Of a point that is not a number no value is one.
        prim.set_item(out, i, 0, point * prim.cast(0, dtype) + prim.cast(1, dtype))
        for k in range(1, n + 1):
            a, b, d = rule(k)
            y = (point * prim.cast(a, real) + prim.cast(b, real)) * prim.item(out, i, k - 1)
            if k > 1 and d != 0.0:
                y = y - prim.item(out, i, k - 2) * prim.cast(d, real)
            prim.set_item(out, i, k, y)
    return with_shape(out, x.shape + (n + 1,))


def powers_2d(rule, x, y, deg):
    """The products of the first polynomials of two coordinates, along a last axis."""
    p, q = powers(rule, _floats(x, y), deg[0]), powers(rule, _floats(y, x), deg[1])
    product = p[..., :, None] * q[..., None, :]
    return product.reshape(p.shape[:-1] + (p.shape[-1] * q.shape[-1],))


def powers_3d(rule, x, y, z, deg):
    """The products of the first polynomials of three coordinates, along a last axis."""
    p, q = powers(rule, _floats(x, y, z), deg[0]), powers(rule, _floats(y, x, z), deg[1])
    r = powers(rule, _floats(z, x, y), deg[2])
    product = p[..., :, None, None] * q[..., None, :, None] * r[..., None, None, :]
    return product.reshape(p.shape[:-1] + (p.shape[-1] * q.shape[-1] * r.shape[-1],))


def _floats(x, *others):
    # A coordinate in the type of all.
    v = asarray(x)
    dtype = float_of(prim.dtype_of(v))
    for other in others:
        dtype = prim.result_type(dtype, float_of(prim.dtype_of(asarray(other))))
    return asarray(v, dtype)


def _at(rule, v, i, j, x):
    # The value of one of the series that are `lanes`.
    dtype = prim.dtype_of(v)
    real = real_dtype(dtype)
    top = v.shape[1] - 1
    if rule is None:
        total = prim.item(v, i, top, j) + x * prim.cast(0, dtype)
        for k in range(top - 1, -1, -1):
            total = prim.item(v, i, k, j) + total * x
        return total
    first = prim.item(v, i, top - 1 if top > 0 else 0, j)
    second = prim.item(v, i, top, j) if top > 0 else prim.cast(0, dtype)
    for k in range(top, 1, -1):
        a, b, d = rule(k)
        kept = first
        first = prim.item(v, i, k - 2, j) - second * prim.cast(d, real)
        second = kept + second * (x * prim.cast(a, real) + prim.cast(b, real))
    a, b, _ = rule(1)
    return first + second * (x * prim.cast(a, real) + prim.cast(b, real))


def value(rule, x, c, tensor):
    """The values of series at points; the coefficients of several are in further axes."""
    given = asarray(c)
    if given.ndim == 0:
        return _value(rule, x, asarray(given.reshape((1,)), float_of(prim.dtype_of(given))), tensor)
    return _value(rule, x, asarray(given, float_of(prim.dtype_of(given))), tensor)


def _value(rule, x, c, tensor):
    if c.shape[0] == 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    if prim.is_number(x):
        dtype = prim.result_type(prim.dtype_of(c), x)
        if c.ndim == 1:
            # A number, for which no array is made.
            v = lanes(asarray(c, dtype), 0)
            return _at(rule, v, 0, 0, prim.cast(x, dtype))
        return _tensor(rule, asarray(prim.cast(x, dtype)), asarray(c, dtype))
    points = asarray(x)
    dtype = prim.result_type(prim.dtype_of(c), prim.dtype_of(points))
    if tensor:
        out = _tensor(rule, asarray(points, dtype), asarray(c, dtype))
    else:
        out = _pairs(rule, asarray(points, dtype), asarray(c, dtype))
    return out[()] if out.ndim == 0 else out


def _tensor(rule, x, c):
    v, w = contiguous(x), contiguous(c)
    points = with_shape(v, (v.size,))
    lines = with_shape(w, (c.shape[0], count(c.shape[1:])))
    out = new_array((lines.shape[1], points.size), prim.dtype_of(c))
    for j in range(lines.shape[1]):
        _fill(rule, lines, j, 0, points, out[j])
    return with_shape(out, c.shape[1:] + x.shape)


def _pairs(rule, x, c):
    shape = np.broadcast_shapes(c.shape[1:], x.shape)
    wide = contiguous(np.broadcast_to(_with_ones(c, x), (c.shape[0],) + shape))
    points = contiguous(np.broadcast_to(x, shape))
    out = new_array((points.size,), prim.dtype_of(c))
    _fill(rule, with_shape(wide, (c.shape[0], points.size)), 0, 1, with_shape(points, (points.size,)), out)
    return with_shape(out, shape)


def _with_ones(c, x):
    # Axes behind that of the coefficients, so that the others stand at the end.
    missing = x.ndim - (c.ndim - 1)
    if missing <= 0:
        return c
    return c.reshape((c.shape[0],) + prim.tuple_fill(missing, 1) + c.shape[1:])


def _fill(rule, c, j, step, x, out):
    # Values of one series at all points or, with a step of one, of each at its own.
    size = x.size if x.size < BLOCK else BLOCK
    first, second = new_array((size,), prim.dtype_of(c)), new_array((size,), prim.dtype_of(c))
    low = 0
    while low < x.size:
        n = size if x.size - low > size else x.size - low
        _fill_block(rule, c, j + low * step, step, x, out, low, n, first, second)
        low += n


def _fill_block(rule, c, j, step, x, out, low, n, first, second):
    dtype = prim.dtype_of(c)
    real = real_dtype(dtype)
    top = c.shape[0] - 1
    if rule is None:
        for i in range(n):
            prim.set_item(first, i, prim.item(c, top, j + i * step) + prim.item(x, low + i) * prim.cast(0, dtype))
        for k in range(top - 1, -1, -1):
            for i in range(n):
                y = prim.item(first, i) * prim.item(x, low + i)
                prim.set_item(first, i, prim.item(c, k, j + i * step) + y)
        for i in range(n):
            prim.set_item(out, low + i, prim.item(first, i))
        return
    for i in range(n):
        prim.set_item(first, i, prim.item(c, top - 1 if top > 0 else 0, j + i * step))
        prim.set_item(second, i, prim.item(c, top, j + i * step) if top > 0 else prim.cast(0, dtype))
    for k in range(top, 1, -1):
        a, b, d = rule(k)
        for i in range(n):
            kept, last = prim.item(first, i), prim.item(second, i)
            prim.set_item(first, i, prim.item(c, k - 2, j + i * step) - last * prim.cast(d, real))
            factor = prim.item(x, low + i) * prim.cast(a, real) + prim.cast(b, real)
            prim.set_item(second, i, kept + last * factor)
    a, b, _ = rule(1)
    for i in range(n):
        factor = prim.item(x, low + i) * prim.cast(a, real) + prim.cast(b, real)
        prim.set_item(out, low + i, prim.item(first, i) + prim.item(second, i) * factor)


def value_2d(rule, x, y, c):
    """The values of series in two coordinates at points."""
    u, v = asarray(x), asarray(y)
    if u.shape != v.shape:
        raise ValueError("x, y are incompatible")
    return value(rule, v, value(rule, u, c, True), False)


def value_3d(rule, x, y, z, c):
    """The values of series in three coordinates at points."""
    u, v, w = asarray(x), asarray(y), asarray(z)
    if u.shape != v.shape or u.shape != w.shape:
        raise ValueError("x, y, z are incompatible")
    return value(rule, w, value(rule, v, value(rule, u, c, True), False), False)


def _moved(c, axis):
    # The coefficients along an axis between the axes before and behind it, in a new array.
    dtype = float_of(prim.dtype_of(c))
    made = copy_c(c, dtype)
    v = lanes(made, axis)
    out = new_array(v.shape, dtype)
    for i in range(v.shape[0]):
        for k in range(v.shape[1]):
            for j in range(v.shape[2]):
                prim.set_item(out, i, k, j, prim.item(v, i, k, j))
    return out


def _scaled(v, scl):
    dtype = prim.dtype_of(v)
    if prim.is_complex(prim.dtype_of(scl)) and not prim.is_complex(dtype):
        prim.error("a complex factor takes complex coefficients")
    factor = prim.cast(scl, dtype)
    for i in range(v.shape[0]):
        for k in range(v.shape[1]):
            for j in range(v.shape[2]):
                prim.set_item(v, i, k, j, prim.item(v, i, k, j) * factor)


def derive(slopes, c, m, scl, axis):
    """Derivatives of series along an axis: `slopes(k)` gives the factors by which that of the `k`th polynomial has the
    one before it, and it is added to the one two before and to the one before."""
    given = asarray(c)
    if given.ndim == 0:
        return derive(slopes, given.reshape((1,)), m, scl, axis)
    times = index_of(m)
    if times < 0:
        raise ValueError("The order of derivation must be non-negative")
    at = check_axis(axis_of(axis), given.ndim)
    v = _moved(given, at)
    if times >= v.shape[1] and times > 0:
        v = v[:, :1].copy() * prim.cast(0, prim.dtype_of(v))
    else:
        for _ in range(times):
            _scaled(v, scl)
            v = _derived(slopes, v)
    return with_shape(v, prim.tuple_set(given.shape, at, v.shape[1]))


def _add_to(v, i, k, j, x, factor):
    prim.set_item(v, i, k, j, prim.item(v, i, k, j) + x * prim.cast(factor, real_dtype(prim.dtype_of(v))))


def _add_quotient(v, i, k, j, x, divisor):
    # NumPy divides; a product with the reciprocal may be another number.
    prim.set_item(v, i, k, j, prim.item(v, i, k, j) + x / prim.cast(divisor, real_dtype(prim.dtype_of(v))))


def _derived(slopes, v):
    n = v.shape[1] - 1
    out = new_array((v.shape[0], n, v.shape[2]), prim.dtype_of(v))
    real = real_dtype(prim.dtype_of(v))
    for i in range(v.shape[0]):
        for k in range(n, 0, -1):
            d, two, one = slopes(k)
            for j in range(v.shape[2]):
                x = prim.item(v, i, k, j)
                prim.set_item(out, i, k - 1, j, x * prim.cast(d, real))
                if k > 2 and two != 0.0:
                    _add_to(v, i, k - 2, j, x, two)
                if k > 1 and one != 0.0:
                    _add_to(v, i, k - 1, j, x, one)
    return out


def integrate(rule, areas, c, m, k, lbnd, scl, axis):
    """Integrals of series along an axis from a bound, with constants: `areas(k)` gives the divisors by which that of
    the `k`th polynomial has the next one, the one before it, and itself; none is zero."""
    given = asarray(c)
    if given.ndim == 0:
        return integrate(rule, areas, given.reshape((1,)), m, k, lbnd, scl, axis)
    times = index_of(m)
    if times < 0:
        raise ValueError("The order of integration must be non-negative")
    v = _moved(given, check_axis(axis_of(axis), given.ndim))
    constants = _constants(k, prim.dtype_of(v))
    if constants.size > times:
        raise ValueError("Too many integration constants")
    if not (prim.is_number(lbnd) and prim.is_number(scl)):
        prim.error("`lbnd` and `scl` are numbers")
    for i in range(times):
        _scaled(v, scl)
        constant = prim.item(constants, i) if i < constants.size else prim.cast(0, prim.dtype_of(v))
        v = _integrated(rule, areas, v, constant, prim.cast(lbnd, prim.dtype_of(v)))
    return with_shape(v, prim.tuple_set(given.shape, check_axis(axis_of(axis), given.ndim), v.shape[1]))


def _constants(k, dtype):
    x = asarray(k)
    if x.ndim > 1:
        prim.error("integration constants are a number or a list of numbers")
    return asarray(x.reshape((x.size,)), dtype)


def _is_zero(v):
    for i in range(v.shape[0]):
        for j in range(v.shape[2]):
            if prim.item(v, i, 0, j) != prim.cast(0, prim.dtype_of(v)):
                return False
    return v.shape[1] == 1


def _integrated(rule, areas, v, constant, bound):
    if _is_zero(v):
        return v + constant
    n = v.shape[1]
    out = new_zeros((v.shape[0], n + 1, v.shape[2]), prim.dtype_of(v))
    for i in range(v.shape[0]):
        for k in range(n):
            above, below, own = areas(k)
            for j in range(v.shape[2]):
                x = prim.item(v, i, k, j)
                _add_quotient(out, i, k + 1, j, x, above)
                if k > 0 and below != 0.0:
                    _add_quotient(out, i, k - 1, j, x, below)
                if own != 0.0:
                    _add_quotient(out, i, k, j, x, own)
        for j in range(v.shape[2]):
            prim.set_item(out, i, 0, j, prim.item(out, i, 0, j) + (constant - _at(rule, out, i, j, bound)))
    return out
