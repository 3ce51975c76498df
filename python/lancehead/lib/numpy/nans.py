"""Reductions that leave out NaN."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import check_flag
from lancehead.lib.numpy.axes import lines_axes
from lancehead.lib.numpy.casting import fitting
from lancehead.lib.numpy.creation import asarray, dtype_or
from lancehead.lib.numpy.folds import (
    check_no_axis,
    check_out,
    deliver,
    fold,
    keep,
    lines_axis,
    plus,
    scan_axis,
    times,
)
from lancehead.lib.numpy.layout import flat, new_array
from lancehead.lib.numpy.masks import begun, freedom, masked, no_summand, zero_of
from lancehead.lib.numpy.reductions import (
    axis_count,
    float_or,
    larger,
    lost_freedom,
    mean_dtype,
    prod,
    quotient,
    smaller,
    squared_distance,
    sum_dtype,
    var,
)
from lancehead.lib.numpy.sorting import before, put_rank


def _or_zero(x, dtype):
    return prim.cast(x, dtype) if x == x else prim.cast(0, dtype)


def _or_one(x, dtype):
    return prim.cast(x, dtype) if x == x else prim.cast(1, dtype)


def _or_one_of(x):
    return _or_one(x, prim.dtype_of(x))


def _counted(x, dtype):
    return prim.cast(1 if x == x else 0, dtype)


def _itself(x, extra):
    return x


def _fsmaller(a, b):
    return b if b == b and (a != a or smaller(a, b) != a) else a


def _flarger(a, b):
    return b if b == b and (a != a or larger(a, b) != a) else a


def _without(x, where, neutral):
    # Elements that a mask leaves out become what is neutral.
    if prim.is_number(where):
        if where:
            return x
    return masked(x, where, neutral)


def _chosen(a, where, neutral):
    # Elements that a mask leaves out become NaN, which is left out too; of integers and truth values, what is neutral.
    x = asarray(a)
    if prim.is_number(where):
        if where:
            return x
    dtype = prim.dtype_of(x)
    if prim.is_complex(dtype):
        return masked(x, where, prim.complex(prim.cast(np.nan, prim.real_dtype(dtype)), 0))
    if prim.is_float(dtype):
        return masked(x, where, prim.cast(np.nan, dtype))
    if neutral is None:
        return masked(x, where, np.nan)
    return masked(x, where, prim.cast(neutral, dtype))


@prim.means("selection")
def sum_of_numbers(x, axis, keepdims, dtype):
    """Sum of the elements that are not NaN."""
    return fold(x, axis, keepdims, dtype, plus, _or_zero, dtype, True, no_summand(dtype))


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Sum without NaN.

    >>> np.nansum(np.array([1.0, np.nan, 2.0]))
    np.float64(3.0)
    """
    x = asarray(a)
    dt = dtype_or(dtype, sum_dtype(prim.dtype_of(x)))
    y = _without(x, where, no_summand(prim.dtype_of(x)))
    total = sum_of_numbers(y, axis, keepdims, dt)
    return deliver(begun(total, zero_of(dt) if initial is None else initial, plus), out)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Product without NaN.

    >>> np.nanprod(np.array([2.0, np.nan, 3.0]))
    np.float64(6.0)
    """
    x = asarray(a)
    dt = dtype_or(dtype, sum_dtype(prim.dtype_of(x)))
    y = _chosen(x, where, 1)
    if prim.is_complex(dt):
        return prod(prim.map(_or_one_of, y), axis, dt, out, keepdims, initial)
    product = fold(y, axis, keepdims, dt, times, _or_one, dt, False, prim.cast(1, dt))
    return deliver(begun(product, initial, times), out)


def _count(x, axis, keepdims, dtype):
    return fold(x, axis, keepdims, dtype, plus, _counted, dtype, False, prim.cast(0, dtype))


def _check_inexact(out, dtype):
    # Of floats and complex numbers NumPy makes means, and what follows from them, in the output itself.
    if prim.is_array(out) and (prim.is_float(dtype) or prim.is_complex(dtype)):
        to = prim.dtype_of(out)
        if not (prim.is_float(to) or prim.is_complex(to)):
            prim.error("`out` is an array of floats or of complex numbers")


@prim.means("statistic")
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Mean without NaN.

    >>> np.nanmean(np.array([1.0, np.nan, 2.0]))
    np.float64(1.5)
    """
    x = asarray(a)
    if not prim.is_float(prim.dtype_of(x)) and not prim.is_complex(prim.dtype_of(x)):
        return np.mean(x, axis, dtype, out, keepdims, where=where)
    _check_inexact(out, prim.dtype_of(x))
    dt = float_or(dtype, mean_dtype(prim.dtype_of(x)))
    real = prim.real_dtype(dt)
    y = _chosen(x, where, None)
    total = begun(sum_of_numbers(y, axis, keepdims, dt), zero_of(dt), plus)
    n = _count(y, axis, keepdims, real)
    return deliver(prim.map(quotient, total, n) if prim.is_array(total) else quotient(total, n), out)


def _squared_or_zero(x, center):
    if x != x:
        return prim.cast(0, prim.real_dtype(prim.dtype_of(center)))
    return squared_distance(x, center)


@prim.means("selection")
def squares_of_numbers(x, keepdims, dtype, center):
    """Sum of the squared distances from a number of all elements that are not NaN."""
    return fold(x, None, keepdims, dtype, plus, _squared_or_zero, center, True, prim.cast(0, dtype))


def _over(total, n):
    # Of no degrees of freedom the variance is NaN.
    return quotient(total, n) if n > 0.0 else prim.cast(np.nan, prim.dtype_of(total))


@prim.means("statistic")
def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """Variance without NaN.

    >>> np.nanvar(np.array([1.0, np.nan, 3.0]))
    np.float64(1.0)
    """
    x = asarray(a)
    if not prim.is_float(prim.dtype_of(x)) and not prim.is_complex(prim.dtype_of(x)):
        return var(x, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    _check_inexact(out, prim.dtype_of(x))
    dt = float_or(dtype, mean_dtype(prim.dtype_of(x)))
    real = prim.real_dtype(dt)
    x = _chosen(x, where, None)
    n = _count(x, axis, keepdims, real) - lost_freedom(freedom(ddof, correction), real)
    if mean is not None:
        total = prim.map(_squared_or_zero, x, asarray(mean, dt)).sum(axis, real, None, keepdims)
    elif axis is None:
        middle = nanmean(x, None, dt)
        total = squares_of_numbers(x, keepdims, real, middle)
    else:
        squares = prim.map(_squared_or_zero, x, nanmean(x, axis, dt, None, True))
        total = squares.sum(axis, real, None, keepdims)
    if dtype is not None and prim.is_complex(dt):
        total = total.astype(dt) if prim.is_array(total) else prim.cast(total, dt)
    return deliver(prim.map(_over, total, n) if prim.is_array(total) else _over(total, n), out)


@prim.means("statistic")
def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """Standard deviation without NaN.

    >>> np.nanstd(np.array([1.0, np.nan, 3.0]))
    np.float64(1.0)
    """
    root = np.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction))
    check_out(out, prim.dtype_of(root), "same_kind")
    return deliver(root, out)


@prim.means("selection")
def _extreme(x, axis, keepdims, greatest):
    dt = prim.dtype_of(x)
    empty = prim.cast(0, dt)
    slow = _flarger if greatest else _fsmaller
    if not prim.is_float(empty):
        return fold(x, axis, keepdims, dt, slow, _itself, None, False, empty)
    # With an infinity for NaN the order is free, which vectorises; where it wins there may be nothing but NaN.
    worst = prim.cast(-np.inf if greatest else np.inf, dt)
    found = fold(x, axis, keepdims, dt, larger if greatest else smaller, _rather, worst, False, empty)
    if _has(found, worst):
        return fold(x, axis, keepdims, dt, slow, _itself, None, False, empty)
    return found


def _rather(x, worst):
    # The infinity for NaN alone.
    return prim.maxnum(x, worst) if worst < 0 else prim.minnum(x, worst)


def _has(found, worst):
    if prim.is_scalar(found):
        return found == worst
    v = flat(found)
    for i in range(v.size):
        if prim.item(v, i) == worst:
            return True
    return False


def _extreme_of(a, axis, keepdims, greatest, initial, where):
    name = "fmax" if greatest else "fmin"
    if asarray(a).ndim == 0 and prim.is_int(axis):
        check_no_axis(axis)
        return _extreme_of(a, None, keepdims, greatest, initial, where)
    if prim.is_number(where):
        if where:
            x = asarray(a)
            if initial is None:
                if axis_count(x.shape, axis) == 0:
                    raise ValueError("zero-size array to reduction operation " + name + " which has no identity")
                return _extreme(x, axis, keepdims, greatest)
            first = fitting(initial, prim.dtype_of(x))
            step = _flarger if greatest else _fsmaller
            found = fold(x, axis, keepdims, prim.dtype_of(x), step, _itself, None, False, first)
            return begun(found, first, step)
    if initial is None:
        raise ValueError(
            "reduction operation '"
            + name
            + "' does not have an identity, so to use a where mask one has to specify 'initial'"
        )
    y = masked(asarray(a), where, fitting(initial, prim.dtype_of(asarray(a))))
    return _extreme_of(y, axis, keepdims, greatest, initial, True)


def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Least element that is not NaN.

    >>> np.nanmin(np.array([np.nan, 2.0, 1.0]))
    np.float64(1.0)
    """
    return deliver(_extreme_of(a, axis, keepdims, False, initial, where), out)


def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Greatest element that is not NaN.

    >>> np.nanmax(np.array([np.nan, 2.0, 1.0]))
    np.float64(2.0)
    """
    return deliver(_extreme_of(a, axis, keepdims, True, initial, where), out)


def _rank(x, greatest):
    # As NumPy, which puts an infinity for NaN before it looks for the extreme.
    if prim.is_float(x) and x != x:
        return prim.cast(-np.inf if greatest else np.inf, prim.dtype_of(x))
    return x


def _first(v, greatest):
    if v.size == 0:
        raise ValueError("attempt to get " + ("argmax" if greatest else "argmin") + " of an empty sequence")
    at = 0
    numbers = 0
    for i in range(v.size):
        x = prim.item(v, i)
        if x == x:
            numbers += 1
        best = _rank(prim.item(v, at), greatest)
        if (_rank(x, greatest) > best) if greatest else (_rank(x, greatest) < best):
            at = i
    if numbers == 0:
        raise ValueError("All-NaN slice encountered")
    return prim.cast(at, np.int64)


def _first_least(v, extra):
    return _first(v, False)


def _first_greatest(v, extra):
    return _first(v, True)


def nanargmin(a, axis=None, out=None, *, keepdims=False):
    """Index of the least element that is not NaN.

    >>> np.nanargmin(np.array([np.nan, 2.0, 1.0]))
    np.int64(2)
    """
    x = asarray(a)
    if x.ndim == 0 and prim.is_int(axis):
        check_no_axis(axis)
        return nanargmin(x, None, out, keepdims=keepdims)
    if axis is None:
        return deliver(keep(_first(flat(x), False), x.ndim, keepdims), out)
    return deliver(lines_axis(_first_least, x, axis, keepdims, np.int64, None), out)


def nanargmax(a, axis=None, out=None, *, keepdims=False):
    """Index of the greatest element that is not NaN.

    >>> np.nanargmax(np.array([np.nan, 2.0, 1.0]))
    np.int64(1)
    """
    x = asarray(a)
    if x.ndim == 0 and prim.is_int(axis):
        check_no_axis(axis)
        return nanargmax(x, None, out, keepdims=keepdims)
    if axis is None:
        return deliver(keep(_first(flat(x), True), x.ndim, keepdims), out)
    return deliver(lines_axis(_first_greatest, x, axis, keepdims, np.int64, None), out)


def nancumsum(a, axis=None, dtype=None, out=None):
    """Running sums without NaN.

    >>> np.nancumsum(np.array([1.0, np.nan, 2.0]))
    array([1., 1., 3.])
    """
    x = asarray(a)
    dt = dtype_or(dtype, sum_dtype(prim.dtype_of(x)))
    return deliver(scan_axis(x, axis, dt, plus, _or_zero, dt), out)


def nancumprod(a, axis=None, dtype=None, out=None):
    """Running products without NaN.

    >>> np.nancumprod(np.array([2.0, np.nan, 3.0]))
    array([2., 2., 6.])
    """
    x = asarray(a)
    dt = dtype_or(dtype, sum_dtype(prim.dtype_of(x)))
    return deliver(scan_axis(x, axis, dt, times, _or_one, dt), out)


def _numbers(v):
    # The elements of a line that are not NaN.
    out = new_array((v.size,), prim.dtype_of(v))
    n = 0
    for i in range(v.size):
        x = prim.item(v, i)
        if x == x:
            prim.set_item(out, n, x)
            n += 1
    return out[:n]


@prim.means("selection")
def _median_line(v, extra):
    dtype = mean_dtype(prim.dtype_of(v))
    w = _numbers(v)
    n = w.size
    if n == 0:
        # One of those that are there.
        return prim.cast(prim.item(v, v.size - 1), dtype) if v.size > 0 else quotient(prim.cast(0, dtype), 0)
    k = prim.shr(n, 1)
    put_rank(w, k)
    high = prim.cast(prim.item(w, k), dtype)
    if (n & 1) == 1:
        return quotient(high, 1) if prim.is_complex(high) else high
    low = prim.item(w, 0)
    for i in range(1, k):
        low = prim.item(w, i) if before(low, prim.item(w, i)) else low
    return quotient(prim.cast(low, dtype) + high, 2)


@prim.means("statistic")
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """Median without NaN.

    >>> np.nanmedian(np.array([3.0, np.nan, 1.0]))
    np.float64(2.0)
    """
    check_flag(overwrite_input)
    x = asarray(a)
    return deliver(lines_axes(_median_line, x, axis, keepdims, mean_dtype(prim.dtype_of(x)), None), out)
