"""Differences, interpolation, integrals and convolutions of series."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of, flag_of, index_of
from lancehead.lib.numpy.casting import check_cast, fitting
from lancehead.lib.numpy.creation import asarray, line_of
from lancehead.lib.numpy.joining import concatenate
from lancehead.lib.numpy.layout import (
    check_axis,
    contiguous,
    copy_c,
    flat,
    lane,
    lanes,
    new_array,
    new_zeros,
    with_shape,
)
from lancehead.lib.numpy.manip import broadcast_to
from lancehead.lib.numpy.reductions import complex_over
from lancehead.lib.numpy.sorting import place_in_line

#: So far from where the last search ended NumPy looks before it searches everywhere.
NEAR = 8


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours, n times.

    >>> np.diff(np.array([1, 4, 9, 16]))
    array([3, 5, 7])
    >>> np.diff(np.array([[1, 4], [9, 16]]), axis=0)
    array([[ 8, 12]])
    """
    x = asarray(a)
    times = index_of(n)
    if times < 0:
        raise ValueError("order must be non-negative but got " + str(times))
    k = check_axis(axis_of(axis), x.ndim)
    if prepend is not None or append is not None:
        return _between_ends(x, times, k, prepend, append)
    if times == 0 and not prim.is_point(prim.dtype_of(x)):
        return contiguous(x)
    out = _differences(contiguous(x), k)
    if times > 1:
        return _repeated(out, times - 1, k)
    return out


def _between_ends(x, times, k, prepend, append):
    if prepend is None:
        joined = concatenate((x, _end(append, x, k)), k)
    elif append is None:
        joined = concatenate((_end(prepend, x, k), x), k)
    else:
        joined = concatenate((_end(prepend, x, k), x, _end(append, x, k)), k)
    # Without differences nothing is joined, but the type is the same for every number of them.
    return diff(copy_c(x, prim.dtype_of(joined)) if times == 0 else joined, times, k)


def _end(values, x, k):
    # The values to join before or behind the elements along an axis; a number is one element of each line.
    v = asarray(values)
    return broadcast_to(v, prim.tuple_set(x.shape, k, 1)) if v.ndim == 0 else v


def _repeated(out, times, k):
    for _ in range(times):
        out = _differences(out, k)
    return out


def _difference(later, earlier):
    return later != earlier if prim.is_bool(later) else later - earlier


def _differences(x, k):
    if x.ndim == 1:
        return prim.map(_difference, x[1:], x[:-1])
    v = lanes(x, k)
    extent = v.shape[1] - 1 if v.shape[1] > 0 else 0
    dtype = prim.span_of(x) if prim.is_time(x) else prim.dtype_of(x)
    out = new_array((v.shape[0], extent, v.shape[2]), dtype)
    for i in range(v.shape[0]):
        for m in range(extent):
            for j in range(v.shape[2]):
                prim.set_item(out, i, m, j, _difference(prim.item(v, i, m + 1, j), prim.item(v, i, m, j)))
    return with_shape(out, prim.tuple_set(x.shape, k, extent))


def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours over all elements.

    >>> np.ediff1d(np.array([[1, 4], [9, 16]]))
    array([3, 5, 7])
    """
    line = flat(contiguous(asarray(ary)))
    if prim.is_bool(prim.dtype_of(line)):
        prim.error("truth values have no differences: use `np.diff`")
    return concatenate((_beside(to_begin, line), diff(line), _beside(to_end, line)))


def _beside(values, line):
    # The values that are joined to the differences, converted to their type.
    dtype = prim.span_of(line) if prim.is_time(line) else prim.dtype_of(line)
    if values is None:
        return new_array((0,), dtype)
    v = asarray(values)
    check_cast(prim.dtype_of(v), dtype, "same_kind")
    return asarray(flat(v), dtype)


def _cut(x, axis, start):
    # A view without the last elements along an axis, or without the first ones.
    n = x.shape[axis] - 1 if x.shape[axis] > 0 else 0
    data = prim.ptr_add(prim.data(x), start * x.strides[axis] if n > 0 else 0)
    return prim.array(prim.owner(x), data, prim.tuple_set(x.shape, axis, n), x.strides, prim.dtype_of(x), "A")


def _widths(x, y, axis):
    # The distances of sample points; those of one dimension stand along the axis.
    if x.ndim != 1:
        return diff(x, 1, axis)
    d = diff(x)
    return d.reshape(prim.tuple_set(prim.tuple_fill(y.ndim, 1), check_axis(axis, y.ndim), d.size))


def _trapezoids_along(y, d, axis):
    k = check_axis(axis, y.ndim)
    return np.sum(d * (_cut(y, k, 1) + _cut(y, k, 0)) / 2.0, axis)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """Integral by trapezoids.

    >>> np.trapezoid(np.array([1, 2, 3]))
    np.float64(4.0)
    >>> np.trapezoid(np.array([1.0, 2.0]), np.array([0.0, 4.0]))
    np.float64(6.0)
    >>> np.trapezoid(np.array([[1, 2], [3, 4]]), axis=0)
    array([2., 3.])
    """
    v = asarray(y)
    if v.ndim == 0:
        prim.error("`trapezoid` takes arrays of at least one dimension")
    if x is None:
        if prim.is_number(dx) and prim.is_int(dx):
            fitting(dx, prim.dtype_of(v))
        return _trapezoids_along(v, dx if prim.is_number(dx) else asarray(dx), axis)
    w = asarray(x)
    if w.ndim == 0:
        prim.error("sample points have at least one dimension")
    return _trapezoids_along(v, _widths(w, v, axis), axis)


trapz = trapezoid


def _interval(x, xp, guess):
    # The last point not greater than `x`: -1 before the first one, and the number of points behind the last one. The
    # search begins where the last one ended. Between points that are not sorted, too, it ends where NumPy's does.
    n = xp.size
    if x > prim.item(xp, n - 1):
        return n
    if x < prim.item(xp, 0):
        return -1
    if n <= 4:
        i = 1
        while i < n and x >= prim.item(xp, i):
            i += 1
        return i - 1
    at = prim.maximum(prim.minimum(guess, n - 3), 1)
    low, high = 0, n
    if x < prim.item(xp, at):
        if x >= prim.item(xp, at - 1):
            return at - 1
        high = at - 1
        if at > NEAR and x >= prim.item(xp, at - NEAR):
            low = at - NEAR
    else:
        if x < prim.item(xp, at + 1):
            return at
        if x < prim.item(xp, at + 2):
            return at + 1
        low = at + 2
        if at < n - NEAR - 1 and x < prim.item(xp, at + NEAR):
            high = at + NEAR
    while low < high:
        middle = low + prim.shr(high - low, 1)
        if x >= prim.item(xp, middle):
            low = middle + 1
        else:
            high = middle
    return low - 1


def _interpolated(x, i, xp, fp, left, right):
    # The value at `x`, which is in interval `i`.
    n = xp.size
    if x != x and n > 1:
        return x
    if i < 0:
        return prim.item(fp, 0) if left is None else prim.cast(left, np.float64)
    if i >= n - 1:
        beyond = x > prim.item(xp, n - 1)
        return prim.cast(right, np.float64) if beyond and right is not None else prim.item(fp, n - 1)
    if prim.item(xp, i) == x:
        return prim.item(fp, i)
    slope = prim.fdiv(prim.item(fp, i + 1) - prim.item(fp, i), prim.item(xp, i + 1) - prim.item(xp, i))
    y = slope * (x - prim.item(xp, i)) + prim.item(fp, i)
    if y != y:
        y = slope * (x - prim.item(xp, i + 1)) + prim.item(fp, i + 1)
        if y != y and prim.item(fp, i) == prim.item(fp, i + 1):
            y = prim.item(fp, i)
    return y


def _periodic(x, xp, fp, period):
    # Points of one period in order, with their neighbours on both sides.
    p = prim.fabs(prim.cast(period, np.float64))
    if p == 0.0:
        raise ValueError("period must be a non-zero value")
    xs, ys = line_of(asarray(xp, np.float64)), line_of(asarray(fp, np.float64))
    if xs.size != ys.size:
        raise ValueError("fp and xp are not of the same length.")
    moved = xs % p
    order = np.argsort(moved)
    xs, ys = moved[order], ys[order]
    return interp(
        (x if prim.is_number(x) else asarray(x)) % p,
        concatenate((xs[-1:] - p, xs, xs[:1] + p)),
        concatenate((ys[-1:], ys, ys[:1])),
    )


def _real_of(x):
    return None if x is None else x.real


def _imag_of(x):
    return None if x is None else x.imag


def _complex_of(real, imag):
    return prim.complex(real, imag)


def interp(x, xp, fp, left=None, right=None, period=None):
    """Linear interpolation between points.

    >>> np.interp(2.5, np.array([1, 2, 3]), np.array([3.0, 2.0, 0.0]))
    np.float64(1.0)
    >>> np.interp(np.array([0.0, 1.5]), np.array([1, 2, 3]), np.array([3.0, 2.0, 0.0]))
    array([3. , 2.5])
    >>> np.interp(1.5, np.array([1, 2]), np.array([1.0, 2j]))
    np.complex128(0.5+1j)
    """
    if prim.is_complex(prim.dtype_of(asarray(fp))):
        real = interp(x, xp, asarray(fp).real, _real_of(left), _real_of(right), period)
        imag = interp(x, xp, asarray(fp).imag, _imag_of(left), _imag_of(right), period)
        return prim.complex(real, imag) if prim.is_number(real) else prim.map(_complex_of, real, imag)
    if period is not None:
        return _periodic(x, xp, fp, period)
    if prim.is_complex(prim.dtype_of(asarray(xp))):
        prim.error("`interp` takes real numbers as places")
    if prim.is_time(x) or prim.is_time(xp) or prim.is_time(fp):
        prim.error("`interp` takes real numbers, not times")
    if prim.is_complex(prim.dtype_of(x if prim.is_number(x) else asarray(x))):
        prim.error("`interp` takes real numbers")
    xs, ys = line_of(asarray(xp, np.float64)), line_of(asarray(fp, np.float64))
    if xs.size == 0:
        raise ValueError("array of sample points is empty")
    if xs.size != ys.size:
        raise ValueError("fp and xp are not of the same length.")
    if prim.is_number(x):
        at = prim.cast(x, np.float64)
        return _interpolated(at, _interval(at, xs, 0), xs, ys, left, right)
    at = asarray(x, np.float64)
    v = flat(at)
    out = new_array(at.shape, np.float64)
    w = flat(out)
    # A search without branches is faster unless the next place is near, but between points that are not sorted it ends
    # elsewhere.
    if xs.size <= v.size and np.all(xs[:-1] <= xs[1:]) and not np.all(v[:-1] <= v[1:]):
        for i in range(v.size):
            y = prim.item(v, i)
            # The search compares faster where it knows that there is no NaN.
            place = place_in_line(xs, y, True) - 1 if y == y else 0
            prim.set_item(w, i, _interpolated(y, place, xs, ys, left, right))
        return out
    place = 0
    for i in range(v.size):
        y = prim.item(v, i)
        if y == y:
            place = _interval(y, xs, place)
        prim.set_item(w, i, _interpolated(y, place, xs, ys, left, right))
    return out


def _over(x, y):
    # A quotient by a real number, as NumPy has it for zero.
    if prim.is_complex(x):
        return complex_over(x.real, x.imag, y.real)
    return prim.fdiv(x, y)


def _check_mode(mode):
    if mode != "full" and mode != "same" and mode != "valid":
        raise ValueError("mode must be one of 'valid', 'same', or 'full' (got '" + mode + "')")


def _one_dimension(a):
    # A number is one element.
    x = asarray(a)
    if x.ndim > 1:
        prim.error("an operand of one dimension is needed")
    return x.reshape(1) if x.ndim == 0 else x


def convolve(a, v, mode="full"):
    """Discrete convolution.

    >>> np.convolve(np.array([1, 2, 3]), np.array([0, 1]))
    array([0, 1, 2, 3])
    >>> np.convolve(np.array([1, 2, 3]), np.array([1, 1, 1]), "same")
    array([3, 6, 5])
    """
    _check_mode(mode)
    x, y = _one_dimension(a), _one_dimension(v)
    if x.size == 0:
        raise ValueError("'a' cannot be empty")
    if y.size == 0:
        raise ValueError("'v' cannot be empty")
    return _convolved(x, y, mode, (min(x.size, y.size) - 1) // 2)


#: So many results stay in the cache nearest to the core while all factors pass.
BLOCK = 1024


def _convolved(x, y, mode, same_start):
    # `same_start`: how many of all results precede those of the mode `same`.
    dtype = prim.result_type(prim.dtype_of(x), prim.dtype_of(y))
    if prim.is_float(dtype) and prim.itemsize(dtype) == 2:
        return asarray(_convolved(asarray(x, np.float32), asarray(y, np.float32), mode, same_start), dtype)
    long, short = contiguous(asarray(x, dtype)), contiguous(asarray(y, dtype))
    if long.size < short.size:
        long, short = short, long
    n, m = long.size, short.size
    start, size = 0, n + m - 1
    if mode == "same":
        start, size = same_start, n
    elif mode == "valid":
        start, size = m - 1, n - m + 1
    out = new_zeros((size,), dtype)
    for low in range(0, size, BLOCK):
        # A factor after the other, for all results of the block: these are vectors.
        for i in range(m - 1, -1, -1):
            factor, shift = prim.item(short, i), start - i
            for k in range(max(low, -shift), min(low + BLOCK, size, n - shift)):
                prim.set_item(out, k, prim.item(out, k) + prim.item(long, k + shift) * factor)
    return out


def correlate(a, v, mode="valid"):
    """Discrete cross-correlation.

    >>> np.correlate(np.array([1, 2, 3]), np.array([0, 1, 0.5]), "full")
    array([0.5, 2. , 3.5, 3. , 0. ])
    """
    x, y = asarray(a), asarray(v)
    if x.ndim != 1 or y.ndim != 1:
        prim.error("operands of one dimension are needed")
    if x.size == 0:
        raise ValueError("first array argument cannot be empty")
    if y.size == 0:
        raise ValueError("second array argument cannot be empty")
    _check_mode(mode)
    # NumPy exchanges the two if the first is shorter, and turns the result around.
    shorter = min(x.size, y.size)
    return _convolved(x, y.conj()[::-1], mode, shorter // 2 if x.size < y.size else (shorter - 1) // 2)


def polyval(p, x):
    """Value of a polynomial, highest power first.

    >>> np.polyval(np.array([1, 0, 2]), 3)
    np.int64(11)
    """
    c = asarray(p)
    if c.ndim != 1:
        prim.error("coefficients of one dimension are needed")
    if prim.is_number(x):
        dtype = prim.result_type(prim.dtype_of(c), prim.dtype_of(asarray(x)))
        total = prim.cast(0, dtype)
        for i in range(c.size):
            total = total * prim.cast(x, dtype) + prim.cast(prim.item(c, i), dtype)
        return total
    out = asarray(x) * prim.cast(0, prim.dtype_of(c))
    for i in range(c.size):
        out = out * x + prim.item(c, i)
    return out


def _window(n, a0, a1, a2):
    size = index_of(n)
    out = new_array((size if size > 0 else 0,), np.float64)
    for i in range(out.size):
        t = 0.0 if size == 1 else 3.141592653589793 * float(2 * i - size + 1) / float(size - 1)
        x = a0 + a1 * prim.cos(t) + a2 * prim.cos(2.0 * t)
        prim.set_item(out, i, 1.0 if size == 1 else x)
    return out


def hanning(M):
    """Hann's window.

    >>> np.hanning(3)
    array([0., 1., 0.])
    """
    return _window(M, 0.5, 0.5, 0.0)


def hamming(M):
    """Hamming's window.

    >>> np.hamming(3)
    array([0.08, 1.  , 0.08])
    """
    return _window(M, 0.54, 0.46, 0.0)


def blackman(M):
    """Blackman's window.

    >>> np.blackman(1)
    array([1.])
    """
    return _window(M, 0.42, 0.5, 0.08)


def bartlett(M):
    """Bartlett's window.

    >>> np.bartlett(3)
    array([0., 1., 0.])
    """
    size = index_of(M)
    out = new_array((size if size > 0 else 0,), np.float64)
    for i in range(out.size):
        t = 0.0 if size == 1 else float(2 * i - size + 1) / float(size - 1)
        prim.set_item(out, i, 1.0 + t if t <= 0.0 else 1.0 - t)
    return out


def _variables(m, y, rowvar, dtype, is_first=True):
    # Variables in rows. Of the second array, a single row is one in any case.
    x = asarray(m, dtype)
    if x.ndim == 0:
        rows = x.reshape(1, 1)
    elif x.ndim == 1:
        rows = x.reshape(1, x.size)
    else:
        rows = np.ascontiguousarray(x if rowvar or (x.shape[0] == 1 and not is_first) else x.T)
    if y is None or rows.shape[0] == 0:
        return rows
    return np.concatenate((rows, _variables(y, None, rowvar, dtype, False)), 0)


def _whole(ddof):
    # NumPy takes floats that are integers, here only.
    if prim.is_float(ddof):
        if prim.fabs(ddof) == np.inf:
            raise OverflowError("cannot convert float infinity to integer")
        if ddof != prim.trunc(ddof):
            raise ValueError("ddof must be integer")
        return ddof
    return index_of(ddof)


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """Covariance matrix of variables in rows, perhaps of observations that count several times or have weights.

    >>> np.cov(np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    x = asarray(m)
    if x.ndim > 2:
        prim.error("`cov` takes at most two dimensions")
    if dtype is not None:
        found = prim.as_dtype(dtype)
        if not prim.is_float(found) and not prim.is_complex(found):
            prim.error("distances from a mean are no integers: `dtype` is one of floats or of complex numbers")
    elif y is None:
        found = prim.result_type(np.float64, prim.dtype_of(x))
    else:
        found = prim.result_type(np.float64, prim.dtype_of(x), prim.dtype_of(asarray(y)))
    rows = _variables(x, y, flag_of(rowvar), found)
    # NumPy compares the flag with zero.
    drop = float((1 if bias == 0 else 0) if ddof is None else _whole(ddof))
    is_number = y is None and (x.ndim <= 1 or (prim.is_tuple(m) and len(m) == 1))
    if not is_number:
        if rows.shape[0] == 0:
            return new_zeros((0, 0), found)
        if y is None and rows.shape[0] == 1:
            raise ValueError("a single variable has a variance, which is no matrix: pass the row itself, as in `m[0]`")
    if fweights is None and aweights is None:
        centered = rows - rows.mean(axis=1, keepdims=True)
        c = np.dot(centered, centered.conj().T) * _reciprocal(max(rows.shape[1] - drop, 0), found)
    else:
        c = _weighted_covariance(rows, drop, fweights, aweights)
    return c.reshape(()) if is_number else c


def _weighted_covariance(rows, drop, fweights, aweights):
    w = _frequencies(fweights, rows.shape[1]) * _importances(aweights, rows.shape[1])
    total = w.sum()
    if total == 0.0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    centered = rows - (np.sum(rows * w, 1) / total).reshape(rows.shape[0], 1)
    if drop == 0:
        scale = total
    elif aweights is None:
        scale = total - drop
    else:
        scale = total - drop * np.sum(w * _importances(aweights, rows.shape[1])) / total
    return np.dot(centered, (centered * w).conj().T) * _reciprocal(max(scale, 0.0), prim.dtype_of(rows))


def _reciprocal(n, dtype):
    return prim.cast(prim.fdiv(1.0, prim.cast(n, np.float64)), prim.real_dtype(dtype))


def _frequencies(fweights, n):
    if fweights is None:
        return np.ones(n)
    f = asarray(fweights)
    if not prim.is_int(prim.dtype_of(f)):
        prim.error("fweights must be integer")
    return _observation_weights(f, n, "fweights")


def _importances(aweights, n):
    return np.ones(n) if aweights is None else _observation_weights(asarray(aweights), n, "aweights")


def _observation_weights(w, n, name):
    if w.ndim > 1:
        raise RuntimeError("cannot handle multidimensional " + name)
    if w.ndim == 0:
        raise IndexError("tuple index out of range")
    if w.size != n:
        raise RuntimeError("incompatible numbers of samples and " + name)
    if np.any(w < 0):
        raise ValueError(name + " cannot be negative")
    return asarray(w, np.float64)


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """Correlation coefficients of variables in rows.

    >>> np.corrcoef(np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    out = new_array(c.shape, prim.dtype_of(c))
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            r = _over(_over(prim.item(c, i, j), prim.sqrt(prim.item(c, i, i).real)), prim.sqrt(prim.item(c, j, j).real))
            prim.set_item(out, i, j, _at_most_one(r))
    return out


def _at_most_one(r):
    if prim.is_complex(r):
        return prim.complex(_at_most_one(r.real), _at_most_one(r.imag))
    return 1.0 if r > 1.0 else (-1.0 if r < -1.0 else r)


def unwrap(p, discont=None, axis=-1, *, period=6.283185307179586):
    """Angles without jumps of a period.

    >>> np.unwrap(np.array([0.0, 6.0]))
    array([ 0.        , -0.28318531])
    """
    x = asarray(p)
    if prim.is_complex(prim.dtype_of(x)):
        prim.error("angles are real numbers")
    if x.ndim == 0:
        prim.error("`unwrap` takes arrays of at least one dimension")
    dtype = prim.result_type(x, period)
    # No type without a sign has the half below zero: of a number of its own such type it wraps around, as NumPy's does.
    low = fitting(-(period // 2) if prim.is_int(dtype) else -(period / 2), dtype)
    whole = fitting(period, dtype)
    k = check_axis(axis_of(axis), x.ndim)
    out = new_array(x.shape, dtype)
    v, w = lanes(x, k), lanes(out, k)
    limit = period / 2.0 if discont is None else max(discont, period / 2.0)
    for i in range(v.shape[0]):
        for j in range(v.shape[2]):
            _unwrap_line(lane(v, i, j), lane(w, i, j), limit, low, whole, dtype)
    return out


def _unwrap_line(v, w, limit, low, period, dtype):
    half = period // 2 if prim.is_int(dtype) else period / 2
    # Where a period has no middle there is no doubt about the direction.
    is_even = half + half == period
    shift = prim.cast(0, dtype)
    for i in range(v.size):
        x = prim.cast(prim.item(v, i), dtype)
        if i > 0:
            # Small integers wrap around here, as in `np.diff`.
            d = prim.cast(_difference(prim.item(v, i), prim.item(v, i - 1)), dtype)
            m = np.remainder(d - low, period) + low
            if is_even and m == low and d > 0:
                m = half
            # A NaN makes NaN of all that follows.
            if not abs(d) < limit:
                shift += m - d
        prim.set_item(w, i, x + shift)
