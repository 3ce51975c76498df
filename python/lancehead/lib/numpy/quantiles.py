"""Quantiles by NumPy's thirteen methods, of elements that may have weights, along any axes."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of, check_flag
from lancehead.lib.numpy.axes import kept_shape, lines_axes, table_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.folds import check_out, deliver
from lancehead.lib.numpy.layout import copy_c, flat, new_array, row, with_shape
from lancehead.lib.numpy.reductions import mean_dtype, spread_weights
from lancehead.lib.numpy.sorting import argsort_line, before, put_rank


@prim.means("statistic")
def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """Quantiles: the numbers below which these parts of the elements lie.

    >>> np.quantile(np.array([1, 2, 3, 4]), 0.25)
    np.float64(1.75)
    >>> np.quantile(np.array([[1, 2], [3, 5]]), [0.0, 0.5], axis=1, method="lower")
    array([[1, 3],
           [1, 3]])
    """
    check_flag(overwrite_input)
    message = "Quantiles must be in the range [0, 1]"
    return _delivered(a, q, q, axis, out, method, keepdims, weights, False, message)


@prim.means("statistic")
def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """Percentiles: the numbers below which these hundredths of the elements lie.

    >>> np.percentile(np.array([1, 2, 3, 4]), np.array([0, 50, 100]))
    array([1. , 2.5, 4. ])
    """
    check_flag(overwrite_input)
    message = "Percentiles must be in the range [0, 100]"
    return _delivered(a, q, _hundredths(q), axis, out, method, keepdims, weights, False, message)


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """Quantile without NaN.

    >>> np.nanquantile(np.array([1.0, np.nan, 3.0]), 0.25)
    np.float64(1.5)
    """
    check_flag(overwrite_input)
    message = "Quantiles must be in the range [0, 1]"
    return _delivered(a, q, q, axis, out, method, keepdims, weights, True, message)


def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """Percentile without NaN.

    >>> np.nanpercentile(np.array([1.0, np.nan, 3.0]), 50)
    np.float64(2.0)
    """
    check_flag(overwrite_input)
    message = "Percentiles must be in the range [0, 100]"
    return _delivered(a, q, _hundredths(q), axis, out, method, keepdims, weights, True, message)


def _hundredths(q):
    if prim.is_number(q):
        return prim.cast(q, np.float64) / 100
    x = asarray(q)
    return x / prim.cast(100, prim.dtype_of(x) if prim.is_float(prim.dtype_of(x)) else np.float64)


def _delivered(a, q, parts, axis, out, method, keepdims, weights, skips_nan, message):
    x = asarray(a)
    own = prim.dtype_of(q if prim.is_number(q) else asarray(q))
    if prim.is_complex(own):
        prim.error("a quantile is asked for by a real number")
    if prim.is_complex(prim.dtype_of(x)) or prim.is_bool(prim.dtype_of(x)):
        prim.error("quantiles are of real numbers")
    if prim.is_array(parts) and parts.ndim == 0:
        return _delivered(a, q, parts[()], axis, out, method, keepdims, weights, skips_nan, message)
    _check_range(parts, message)
    found = _quantiles(x, parts, axis, method, keepdims, weights, skips_nan, _dtype_of(x, q, parts, method))
    check_out(out, prim.dtype_of(found), "same_kind")
    return deliver(found, out)


def _check_range(parts, message):
    if prim.is_number(parts):
        if not (parts >= 0 and parts <= 1):
            raise ValueError(message)
    else:
        v = flat(asarray(parts))
        for i in range(v.size):
            if not (prim.item(v, i) >= 0 and prim.item(v, i) <= 1):
                raise ValueError(message)


def _dtype_of(x, q, parts, method):
    # Methods that choose an element keep its type, and so does the usual one for integers that are asked for.
    own = prim.dtype_of(x)
    if method == "inverted_cdf" or method == "closest_observation" or method == "lower":
        return own
    if method == "higher" or method == "nearest":
        return own
    part = prim.dtype_of(parts if prim.is_number(parts) else asarray(parts))
    if method == "linear" and (prim.is_int(part) or prim.is_bool(part)):
        return own
    if prim.is_number(q) and prim.is_weak(q):
        return mean_dtype(own)
    return prim.result_type(mean_dtype(own), part if prim.is_float(part) else np.float64)


def _quantiles(x, q, axis, method, keepdims, weights, skips_nan, dtype):
    if prim.is_number(q) and weights is None and not skips_nan and prim.is_float(dtype) and x.size > 0:
        if method == "linear" and dtype == mean_dtype(prim.dtype_of(x)):
            return lines_axes(_linear_line, x, axis, keepdims, dtype, prim.cast(q, np.float64))
    check_flag(keepdims)
    parts = asarray(q)
    # Whole numbers ask for elements, between which the usual method does not compute.
    is_whole = prim.is_int(prim.dtype_of(parts)) or prim.is_bool(prim.dtype_of(parts))
    kind = _kind_of("lower" if method == "linear" and is_whole else method)
    if parts.ndim > 2:
        prim.error("q must be a scalar or 1d")
    table, shape = table_of(x, axis)
    out = new_array(parts.shape + shape, dtype)
    results = with_shape(out, (parts.size, table.shape[0]))
    if weights is None:
        for i in range(table.shape[0]):
            _row_of_results(results, i, row(table, i), flat(parts), kind, skips_nan)
    else:
        if method != "inverted_cdf":
            raise ValueError("Only method 'inverted_cdf' supports weights. Got: " + method + ".")
        weighted, _ = table_of(spread_weights(x, asarray(weights), axis_of(axis)), axis)
        for i in range(table.shape[0]):
            _weighted_row(results, i, row(table, i), row(weighted, i), flat(parts), skips_nan)
    if keepdims:
        return with_shape(out, parts.shape + kept_shape(x, axis))
    return out[()]


#: The methods in the order of their numbers.
METHODS = (
    "linear",
    "lower",
    "higher",
    "midpoint",
    "nearest",
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "median_unbiased",
    "normal_unbiased",
)


def _kind_of(method):
    if not prim.is_str(method):
        prim.error("`method` is the name of a method")
    kind = 0
    for name in METHODS:
        if name == method:
            return kind
        kind += 1
    raise ValueError("'" + method + "' is not a valid method.")


def _linear_line(v, q):
    n = v.size
    dtype = mean_dtype(prim.dtype_of(v))
    if n == 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    buffer = copy_c(v, prim.dtype_of(v))
    at = q * float(n - 1)
    k = prim.cast(prim.floor(at), np.int64)
    put_rank(buffer, k)
    a = prim.item(buffer, k)
    b = prim.item(buffer, k + 1 if k + 1 < n else k)
    for i in range(k, n):
        # A NaN is greater than all numbers; without one, the next rank is the least of what follows.
        x = prim.item(buffer, i)
        if x != x:
            return prim.cast(x, dtype)
        if i > k and before(x, b):
            b = x
    return _between(a, b, at - prim.floor(at), dtype)


def _between(a, b, t, dtype):
    own = mean_dtype(prim.dtype_of(a))
    x, y = prim.cast(a, own), prim.cast(b, own)
    rise = prim.cast(y - x, dtype)
    if t >= 0.5:
        return prim.cast(y, dtype) - rise * prim.cast(1.0 - t, dtype)
    return prim.cast(x, dtype) + rise * prim.cast(t, dtype)


def _numbers_of(line):
    # How many elements of a sorted line are no NaN, which stand last.
    n = line.size
    while n > 0 and prim.item(line, n - 1) != prim.item(line, n - 1):
        n -= 1
    return n


def _row_of_results(results, i, v, parts, kind, skips_nan):
    line = np.sort(v)
    n = _numbers_of(line)
    dtype = prim.dtype_of(results)
    if line.size == 0 and not (skips_nan and prim.is_float(dtype)):
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    for k in range(parts.size):
        if n == 0 or (n < line.size and not skips_nan):
            prim.set_item(results, k, i, prim.cast(np.nan, dtype))
        else:
            prim.set_item(results, k, i, _value(line, n, prim.cast(prim.item(parts, k), np.float64), kind, dtype))


def _value(line, n, q, kind, dtype):
    # Of the first elements of a sorted line, the quantile by a method.
    count = float(n)
    if kind in (1, 2, 4, 5, 7):
        return prim.cast(prim.item(line, _place_of(n, q, kind)), dtype)
    at, t = _virtual(count, q, kind)
    # At the ends between an element and itself, which makes NaN of infinities.
    k = 0 if at < 0.0 else n - 1 if at >= count - 1.0 else prim.cast(prim.floor(at), np.int64)
    after = k if at < 0.0 or at >= count - 1.0 else k + 1
    return prim.cast(_between(prim.item(line, k), prim.item(line, after), t, _float_for(dtype)), dtype)


def _float_for(dtype):
    return dtype if prim.is_float(dtype) else np.float64


def _place_of(n, q, kind):
    # The element that a method chooses.
    count = float(n)
    if kind == 1:
        at = prim.floor((count - 1.0) * q)
    elif kind == 2:
        at = prim.ceil((count - 1.0) * q)
    elif kind == 4:
        at = prim.rint((count - 1.0) * q)
    else:
        index = count * q - 1.0 if kind == 5 else count * q - 1.0 - 0.5
        at = prim.floor(index)
        # The lower one where the place is whole, or of two equally near the one of even rank.
        if index != at or (kind == 7 and prim.cast(at, np.int64) % 2 == 0):
            at += 1.0
    k = prim.cast(at, np.int64)
    return 0 if k < 0 else n - 1 if k > n - 1 else k


def _virtual(n, q, kind):
    # The place between elements, and how far the result lies from the lower one to the upper one.
    if kind == 3:
        at = 0.5 * (prim.floor((n - 1.0) * q) + prim.ceil((n - 1.0) * q))
        return at, 0.0 if at == prim.floor(at) else 0.5
    if kind == 6:
        at = n * q - 1.0
        return at, 0.5 if at == prim.floor(at) else 1.0
    if kind == 0:
        at = (n - 1.0) * q
    elif kind == 8:
        at = n * q + (0.0 + q * (1.0 - 0.0 - 1.0)) - 1.0
    else:
        alpha = 0.5 if kind == 9 else 0.0 if kind == 10 else 1.0 / 3.0 if kind == 11 else 3.0 / 8.0
        at = n * q + (alpha + q * (1.0 - alpha - alpha)) - 1.0
    return at, at - prim.floor(at)


def _weighted_row(results, i, v, w, parts, skips_nan):
    order = argsort_line(v)
    dtype = prim.dtype_of(results)
    line, shares = v[order], w[order].astype(np.float64)
    n = _numbers_of(line)
    if n == 0 or (n < line.size and not skips_nan):
        for k in range(parts.size):
            prim.set_item(results, k, i, prim.cast(np.nan, dtype))
        return
    if np.any(shares[:n] < 0):
        raise ValueError("Weights must be non-negative.")
    cdf = np.cumsum(shares[:n])
    cdf = cdf / cdf[n - 1]
    if np.isnan(cdf[n - 1]):
        raise ValueError("Weights included NaN, inf or were all zero.")
    for k in range(parts.size):
        at = 0
        q = prim.cast(prim.item(parts, k), np.float64)
        # Elements without weight at the beginning are never chosen.
        while at < n - 1 and (prim.item(cdf, at) < q or prim.item(cdf, at) == 0.0):
            at += 1
        prim.set_item(results, k, i, prim.cast(prim.item(line, at), dtype))
