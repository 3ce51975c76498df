"""Reductions: sums, extremes, means, truth, running sums."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of
from lancehead.lib.numpy.casting import fitting
from lancehead.lib.numpy.creation import asarray, dtype_or, operand
from lancehead.lib.numpy.folds import (
    BLOCK,
    COLUMNS,
    PART,
    axis_result,
    block_of,
    check_no_axis,
    check_out,
    deliver,
    first_where,
    fold,
    fold_line,
    is_produced,
    keep,
    lines_axis,
    on_pool,
    part_of,
    plus,
    scan_axis,
    sum_line,
    times,
)
from lancehead.lib.numpy.layout import check_axis, copy_c, flat, lanes, new_array, new_zeros, packed_lane, with_shape
from lancehead.lib.numpy.manip import broadcast_to
from lancehead.lib.numpy.masks import begun, freedom, masked, no_summand, weights_of, zero_of
from lancehead.lib.times import larger as larger_time
from lancehead.lib.times import smaller as smaller_time


def as_type(x, dtype):
    """Term of sums: the element as the result's type."""
    return prim.cast(x, dtype)


def sum_dtype(dtype):
    """The type in which elements are summed: at least 64 bits for integers."""
    if prim.is_bool(dtype):
        return np.int64
    if prim.is_int(dtype):
        return np.int64 if prim.is_signed(dtype) else np.uint64
    return dtype


def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Sum of the elements.

    >>> np.sum(np.array([[1, 2], [3, 4]]), axis=0)
    array([4, 6])
    >>> np.sum(np.array([0.5, 1.5]))
    np.float64(2.0)
    """
    x = asarray(a)
    dt = dtype_or(dtype, sum_dtype(prim.dtype_of(x)))
    if prim.is_number(where):
        if where:
            total = fold(x, axis, keepdims, dt, plus, as_type, dt, True, no_summand(dt))
            return deliver(begun(total, zero_of(dt) if initial is None else initial, plus), out)
    return sum(masked(x, where, no_summand(dt)), axis, dt, out, keepdims, initial)


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Product of the elements.

    >>> np.prod(np.array([2, 3, 4]))
    np.int64(24)
    """
    x = asarray(a)
    dt = dtype_or(dtype, sum_dtype(prim.dtype_of(x)))
    if prim.is_number(where):
        if where:
            if initial is not None and (prim.is_float(dt) or prim.is_complex(dt)):
                return np.multiply.reduce(x, axis, dt, out, keepdims, initial)
            if prim.is_complex(dt):
                x = _from_one(x, axis, dt)
            product = fold(x, axis, keepdims, dt, times, as_type, dt, False, prim.cast(1, dt))
            return deliver(begun(product, initial, times), out)
    if prim.is_complex(dt):
        # One times an infinite number has parts that are not numbers.
        return np.multiply.reduce(x, axis, dt, out, keepdims, initial, where)
    return prod(masked(x, where, prim.cast(1, dt)), axis, dt, out, keepdims, initial)


def _from_one(x, axis, dtype):
    # NumPy's products begin with 1, which makes NaN of what is beside an infinite part.
    y, one = copy_c(x, dtype), prim.cast(1, dtype)
    v = with_shape(y, (1, y.size, 1)) if axis is None or y.ndim == 0 else lanes(y, _first_axis(axis, y.ndim))
    if v.shape[1] > 0:
        for i in range(v.shape[0]):
            for j in range(v.shape[2]):
                prim.set_item(v, i, 0, j, one * prim.item(v, i, 0, j))
    return y


def _first_axis(axis, ndim):
    if prim.is_tuple(axis):
        return check_axis(axis[0], ndim) if len(axis) > 0 else 0
    return check_axis(axis, ndim)


def element(x, extra):
    """Term of extremes: the element itself."""
    return x


def _complex_before(a, b):
    return a.real < b.real or (a.real == b.real and a.imag < b.imag)


def smaller(a, b):
    """Step of `min`: NaN wins."""
    if prim.is_bool(a):
        return a & b
    if prim.is_complex(a):
        return b if a == a and (_complex_before(b, a) or b != b) else a
    if prim.is_time(a):
        return smaller_time(a, b)
    return prim.minimum(a, b)


def larger(a, b):
    """Step of `max`: NaN wins."""
    if prim.is_bool(a):
        return a | b
    if prim.is_complex(a):
        return b if a == a and (_complex_before(a, b) or b != b) else a
    if prim.is_time(a):
        return larger_time(a, b)
    return prim.maximum(a, b)


def _extreme(a, axis, keepdims, step, message, initial, where):
    x = asarray(a)
    dt = prim.dtype_of(x)
    if x.ndim == 0 and prim.is_int(axis):
        check_no_axis(axis)
        return _extreme(x, None, keepdims, step, message, initial, where)
    # A number is a mask to NumPy, but for the truth value.
    if prim.is_bool(where) or prim.is_number(where) and initial is not None:
        if where:
            return _extreme_of_all(x, axis, keepdims, step, message, initial)
    if initial is None:
        raise ValueError(
            "reduction operation '"
            + message[39:46]
            + "' does not have an identity, so to use a where mask one has to specify 'initial'"
        )
    return _extreme_of_all(masked(x, where, fitting(initial, dt)), axis, keepdims, step, message, initial)


def _extreme_of_strided(v, step):
    # Where vectors do not take several steps at once, each step of floats waits for the one before; with a branch none
    # does.
    found = prim.item(v, 0)
    is_greatest = step(prim.cast(0, prim.dtype_of(v)), prim.cast(1, prim.dtype_of(v))) == 1
    if found != found:
        return found
    for i in range(1, v.size):
        x = prim.item(v, i)
        if not (x <= found if is_greatest else x >= found):
            if x != x:
                return x
            found = x
    return found


@prim.means("selection")
def _extreme_of_all(x, axis, keepdims, step, message, initial):
    dt = prim.dtype_of(x)
    if initial is None:
        if axis_count(x.shape, axis) == 0:
            raise ValueError(message)
        if axis is None and x.ndim == 1 and prim.is_float(dt) and prim.layout(x) == "A":
            if not on_pool(x):
                return keep(_extreme_of_strided(x, step), x.ndim, keepdims)
        return fold(x, axis, keepdims, dt, step, element, None, False, prim.cast(0, dt))
    first = fitting(initial, dt)
    found = fold(x, axis, keepdims, dt, step, element, None, False, first)
    if prim.is_array(found):
        return prim.map(step, first, found)
    return step(first, found)


def min(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Least element; NaN if there is one.

    >>> np.min(np.array([[3, 1], [2, 4]]), axis=1)
    array([1, 2])
    """
    message = "zero-size array to reduction operation minimum which has no identity"
    return deliver(_extreme(a, axis, keepdims, smaller, message, initial, where), out)


def max(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Greatest element; NaN if there is one.

    >>> np.max(np.array([3.0, np.nan, 1.0]))
    np.float64(nan)
    """
    message = "zero-size array to reduction operation maximum which has no identity"
    return deliver(_extreme(a, axis, keepdims, larger, message, initial, where), out)


amin = min
amax = max


def ptp(a, axis=None, out=None, keepdims=False):
    """Greatest minus least element.

    >>> np.ptp(np.array([3, 1, 4]))
    np.int64(3)
    """
    x = asarray(a)
    if prim.is_bool(prim.dtype_of(x)):
        prim.error("truth values have no differences")
    check_out(out, prim.dtype_of(x), "same_kind")
    return deliver(max(x, axis, None, keepdims) - min(x, axis, None, keepdims), out)


def mean_dtype(dtype):
    """The type of means."""
    if prim.is_float(dtype) or prim.is_complex(dtype) or prim.is_time(dtype):
        return dtype
    return np.float64


def axis_count(shape, axis):
    """Number of elements joined into one, of an array of a shape."""
    n = 1
    if axis is None:
        for i in range(len(shape)):
            n *= shape[i]
        return n
    if prim.is_tuple(axis):
        for i in range(len(axis)):
            n *= shape[check_axis(axis[i], len(shape))]
        return n
    return shape[check_axis(axis, len(shape))]


def float_or(dtype, default):
    """The dtype that an argument names, which must be one of quotients, or the default for None."""
    dt = dtype_or(dtype, default)
    if not (prim.is_float(dt) or prim.is_complex(dt)):
        prim.error("`dtype` of this function is a type of floats or of complex numbers")
    return dt


def quotient(x, n):
    """A sum over a count; NaN for no elements."""
    if prim.is_array(x):
        return prim.map(quotient, x, n)
    if prim.is_time(x):
        return x / n
    if prim.is_int(x) or prim.is_bool(x):
        return prim.cast(prim.fdiv(prim.cast(x, np.float64), prim.cast(n, np.float64)), prim.dtype_of(x))
    if prim.is_complex(x):
        return complex_over(x.real, x.imag, prim.cast(n, prim.real_dtype(x)))
    return prim.fdiv(x, prim.cast(n, prim.dtype_of(x)))


def complex_over(a, b, n):
    """A complex number over a real one, as a quotient of complex ones: an infinite part makes the other one NaN."""
    if n == 0.0:
        return prim.complex(prim.fdiv(a, n), prim.fdiv(b, n))
    factor = prim.fdiv(prim.cast(1, prim.dtype_of(n)), n)
    return prim.complex((a + b * 0.0) * factor, (b - a * 0.0) * factor)


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Arithmetic mean.

    >>> np.mean(np.array([[1, 2], [3, 4]]), axis=1)
    array([1.5, 3.5])
    """
    x = asarray(a)
    dt = dtype_or(dtype, mean_dtype(prim.dtype_of(x)))
    if prim.is_number(where):
        if where:
            return deliver(quotient(sum(x, axis, dt, None, keepdims), axis_count(x.shape, axis)), out)
    return deliver(quotients(sum(x, axis, dt, None, keepdims, None, where), _taken(x, axis, keepdims, where)), out)


def _taken(x, axis, keepdims, where):
    # The number of elements that a mask tells, of each result.
    return sum(weights_of(where, x.shape), axis, None, None, keepdims)


def quotients(total, n):
    """Sums over counts, of which there are as many."""
    return prim.map(quotient, total, n) if prim.is_array(total) or prim.is_array(n) else quotient(total, n)


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """Mean, perhaps weighted; with the sum of the weights if it is wanted.

    >>> np.average(np.array([1.0, 2.0]), weights=np.array([3.0, 1.0]))
    np.float64(1.25)
    """
    axis = axis_of(prim.sized(axis))
    x = asarray(a)
    if weights is None:
        found = mean(x, axis, None, None, keepdims)
        if prim.is_array(found):
            if found.size == 0:
                raise ZeroDivisionError("division by zero")
        if not returned:
            return found
        return found, _filled_like(found, prim.cast(axis_count(x.shape, axis), prim.dtype_of(found)))
    w = spread_weights(x, asarray(weights), axis)
    dtype = prim.result_type(prim.dtype_of(x), prim.dtype_of(w))
    if prim.is_int(prim.dtype_of(x)) or prim.is_bool(prim.dtype_of(x)):
        dtype = prim.result_type(dtype, np.float64)
    scale = sum(w, axis, dtype, None, keepdims)
    if _any_zero(scale):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    weighted = x * w if prim.is_time(prim.dtype_of(x)) else prim.map(_product, x, w, prim.cast(0, dtype))
    found = sum(weighted, axis, dtype, None, keepdims) / scale
    return (found, scale) if returned else found


def _product(x, w, zero):
    dtype = prim.dtype_of(zero)
    return prim.cast(x, dtype) * prim.cast(w, dtype)


def _filled_like(found, x):
    if prim.is_array(found):
        out = new_array(found.shape, prim.dtype_of(found))
        out[...] = x
        return out
    return x


def spread_weights(x, w, axis):
    """Weights in the shape of the array: as many, or those of one axis."""
    if w.ndim == x.ndim:
        if w.shape != x.shape:
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        return w
    if axis is None:
        prim.error("Axis must be specified when shapes of a and weights differ.")
    if prim.is_tuple(axis):
        return _weights_along(x, w, axis)
    if w.ndim != 1:
        prim.error("weights have the shape of the array, or are those of one axis")
    k = check_axis(axis, x.ndim)
    if w.size != x.shape[k]:
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    return broadcast_to(w.reshape(prim.tuple_set(prim.tuple_fill(x.ndim, 1), k, w.size)), x.shape)


def _weights_along(x, w, axes):
    # Weights whose axes are some of the array's, in the order of these.
    if w.ndim != len(axes):
        prim.error("weights have the shape of the array, or an axis for each of `axis`")
    shape, strides = prim.tuple_fill(x.ndim, 1), prim.tuple_fill(x.ndim, 0)
    for i in range(len(axes)):
        k = check_axis(axes[i], x.ndim)
        if w.shape[i] != x.shape[k]:
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        shape, strides = prim.tuple_set(shape, k, w.shape[i]), prim.tuple_set(strides, k, w.strides[i])
    spread = prim.array(prim.owner(w), prim.data(w), shape, strides, prim.dtype_of(w), "A")
    return broadcast_to(spread, x.shape)


def _any_zero(x):
    if prim.is_array(x):
        return _has(x, _false)
    return x == prim.cast(0, prim.dtype_of(x))


def squared_distance(x, center):
    """Term of variances."""
    common = prim.result_type(prim.dtype_of(x), prim.dtype_of(center))
    square = _squared(prim.cast(x, common) - prim.cast(center, common))
    return prim.cast(square, prim.real_dtype(prim.dtype_of(center)))


def lost_freedom(ddof, dtype):
    """The number of degrees of freedom that are lost, as a number of the result's type."""
    if prim.is_complex(ddof):
        prim.error("`ddof` is a real number")
    return prim.cast(ddof, dtype)


def _squared(d):
    if prim.is_complex(d):
        return d.real * d.real + d.imag * d.imag
    return d * d


@prim.means("statistic")
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """Variance.

    >>> np.var(np.array([1, 2, 3, 4]))
    np.float64(1.25)
    """
    x = asarray(a)
    dt = float_or(dtype, mean_dtype(prim.dtype_of(x)))
    real = prim.real_dtype(dt)
    lost = lost_freedom(freedom(ddof, correction), real)
    if mean is not None and prim.is_number(mean):
        fitting(mean, prim.dtype_of(x))
    # A real dtype of complex numbers is that of the mean, not of the distances from it.
    is_real_mean = prim.is_complex(prim.dtype_of(x)) and not prim.is_complex(dt)
    if prim.is_number(where) and not is_real_mean:
        if where:
            return deliver(in_asked(_variance(x, axis, keepdims, dt, real, lost, mean), dtype), out)
    center = _middle(x, axis, dt, where, mean)
    n = _left(_taken(x, axis, keepdims, where), lost)
    squares = prim.map(_squared, x - center)
    found = quotients(sum(squares, axis, real, None, keepdims, None, where), n)
    return deliver(in_asked(found, dtype), out)


def in_asked(v, dtype):
    """Variances, which are real, in the complex type that the caller asks for."""
    if dtype is None or not prim.is_complex(prim.as_dtype(dtype)):
        return v
    return prim.map(_in_complex, v, prim.as_dtype(dtype)) if prim.is_array(v) else _in_complex(v, prim.as_dtype(dtype))


def _in_complex(v, dtype):
    # NumPy divides complex sums by their numbers, which leaves no number beside an infinity or NaN.
    return prim.cast(prim.complex(v, v - v), dtype)


def _left(n, lost):
    # The degrees of freedom that are left of each result, at least none.
    if prim.is_array(n):
        return prim.map(_left, n, lost)
    left = prim.cast(n, prim.dtype_of(lost)) - lost
    return left if left > 0.0 else prim.cast(0, prim.dtype_of(lost))


_mean = mean


def _middle(x, axis, dt, where, mean):
    # The means of the elements that are taken, or those that the caller has.
    return _mean(x, axis, dt, None, True, where=where) if mean is None else operand(mean)


def _variance(x, axis, keepdims, dt, real, lost, mean):
    n = axis_count(x.shape, axis) - lost
    if n < 0.0:
        n = prim.cast(0, real)
    if mean is not None:
        squares = prim.map(_squared, x - operand(mean))
        return quotient(sum(squares, axis, real, None, keepdims), n)
    if axis is None:
        middle = _mean(x, None, dt)
        total = fold(x, None, keepdims, real, plus, squared_distance, middle, True, prim.cast(0, real))
        return quotient(total, n)
    center = _mean(x, axis, dt, None, True)
    if prim.is_tuple(axis):
        squares = prim.map(_squared, x - center)
        return quotient(sum(squares, axis, real, None, keepdims), n)
    return quotient(_squares_axis(x, center, axis, keepdims, real), n)


def _squares_axis(x, center, axis, keepdims, real):
    # Sums of squared distances from the means, which `center` has with the axis kept.
    k = check_axis(axis, x.ndim)
    v = lanes(x, k)
    outer, n, inner = v.shape
    c = with_shape(center, (outer, inner))
    out = new_zeros((outer, inner), real)
    if on_pool(v):
        parts = prim.sdiv(inner + COLUMNS - 1, COLUMNS)
        for t in prim.blocks(outer * parts):
            i = prim.sdiv(t, parts)
            left = (t - i * parts) * COLUMNS
            _squares(v, c, out, i, left, left + COLUMNS if left + COLUMNS < inner else inner)
    else:
        for i in range(outer):
            _squares(v, c, out, i, 0, inner)
    return axis_result(out, x.shape, k, keepdims)


def _squares(v, c, out, i, left, right):
    _, n, inner = v.shape
    if inner == 1 and n > 0:
        prim.set_item(out, i, 0, sum_line(packed_lane(v, i), squared_distance, prim.item(c, i, 0)))
    else:
        for m in range(n):
            for j in range(left, right):
                square = squared_distance(prim.item(v, i, m, j), prim.item(c, i, j))
                prim.set_item(out, i, j, prim.item(out, i, j) + square)


def _root(x):
    return prim.sqrt(x)


@prim.means("statistic")
def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """Standard deviation.

    >>> np.std(np.array([[1.0, 3.0], [2.0, 6.0]]), axis=1)
    array([1., 2.])
    """
    v = var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    check_out(out, prim.dtype_of(v), "same_kind")
    if prim.is_complex(prim.dtype_of(v)):
        return deliver(np.sqrt(v), out)
    if prim.is_array(v):
        return deliver(prim.map(_root, v), out)
    return deliver(prim.sqrt(v), out)


def _true(x, extra):
    return _truth(x)


def _truth(x):
    if prim.is_str(x) or prim.is_bytes(x):
        return len(x) > 0
    return x != prim.cast(0, prim.dtype_of(x))


def _both(a, b):
    return a & b


def _either(a, b):
    return a | b


def _false(x, extra):
    return not _truth(x)


def _has(x, test):
    if is_produced(x):
        found, i = False, 0
        while i < x.size:
            v = part_of(x, i, x.size - i if x.size - i < PART else PART)
            found = found | (first_where(v, test, None) < v.size)
            i += PART
        return found
    v = flat(x)
    return first_where(v, test, None) < v.size


def all(a, axis=None, out=None, keepdims=False, *, where=True):
    """Whether all elements are true.

    >>> np.all(np.array([[True, False], [True, True]]), axis=0)
    array([ True, False])
    """
    x = asarray(a)
    if not prim.is_number(where):
        return all(masked(prim.map(_truth, x), where, True), axis, out, keepdims)
    if not where:
        return all(masked(prim.map(_truth, x), where, True), axis, out, keepdims)
    if axis is None:
        return deliver(keep(not _has(x, _false), x.ndim, keepdims), out)
    return deliver(fold(x, axis, keepdims, np.bool_, _both, _true, None, False, True), out)


def any(a, axis=None, out=None, keepdims=False, *, where=True):
    """Whether an element is true.

    >>> np.any(np.array([[True, False], [False, False]]), axis=1)
    array([ True, False])
    """
    x = asarray(a)
    if not prim.is_number(where):
        return any(masked(prim.map(_truth, x), where, False), axis, out, keepdims)
    if not where:
        return any(masked(prim.map(_truth, x), where, False), axis, out, keepdims)
    if axis is None:
        return deliver(keep(_has(x, _true), x.ndim, keepdims), out)
    return deliver(fold(x, axis, keepdims, np.bool_, _either, _true, None, False, False), out)


def _one_if_true(x, extra):
    return prim.cast(1, np.int64) if _true(x, extra) else prim.cast(0, np.int64)


def count_nonzero(a, axis=None, *, keepdims=False):
    """Number of elements that are not zero.

    >>> np.count_nonzero(np.array([0, 1, 2]))
    np.int64(2)
    """
    x = asarray(a)
    return fold(x, axis, keepdims, np.int64, plus, _one_if_true, None, False, prim.cast(0, np.int64))


#: Elements whose extreme is found before that of the next ones.
STRIP = 1024


def _is(x, wanted):
    return x == wanted


def _is_nan(x, extra):
    return x != x


def _first_extreme(v, step):
    # The extremes of strips, and then the place in the first strip that has the extreme of all: both vectorise.
    start, end = 0, v.size if v.size < STRIP else STRIP
    best = fold_line(v[:end], step, element, None)
    at = end
    while at < v.size and best == best:
        stop = v.size if v.size - at < STRIP else at + STRIP
        both = step(best, fold_line(v[at:stop], step, element, None))
        if both != best:
            best, start, end = both, at, stop
        at = stop
    strip = v[start:end]
    if best != best:
        return prim.cast(start + first_where(strip, _is_nan, None), np.int64)
    return prim.cast(start + first_where(strip, _is, best), np.int64)


def _first_of_blocks(v, step):
    # Each block's extreme on the pool, and then the place in the first block that has the extreme of all.
    n = prim.sdiv(v.size + BLOCK - 1, BLOCK)
    extremes = new_array((n,), prim.dtype_of(v))
    for i in prim.blocks(n):
        prim.set_item(extremes, i, fold_line(block_of(v, i), step, element, None))
    block = _first_extreme(extremes, step)
    return block * BLOCK + _first_extreme(block_of(v, block), step)


def _first_least(v, extra):
    return _first_of_blocks(v, smaller) if on_pool(v) else _first_extreme(v, smaller)


def _first_greatest(v, extra):
    return _first_of_blocks(v, larger) if on_pool(v) else _first_extreme(v, larger)


def _arg_extreme(a, axis, keepdims, f, message):
    x = asarray(a)
    if axis is None:
        if x.size == 0:
            raise ValueError(message)
        return keep(f(flat(x), None), x.ndim, keepdims)
    if x.ndim == 0 and prim.is_int(axis):
        check_no_axis(axis)
        return _arg_extreme(x, None, keepdims, f, message)
    if x.shape[check_axis(axis, x.ndim)] == 0:
        raise ValueError(message)
    return lines_axis(f, x, axis, keepdims, np.int64, None)


def _check_places(out):
    # NumPy asks whether `out` converts to indices, not the other way round.
    if prim.is_array(out):
        if prim.result_type(prim.dtype_of(out), np.int64) != np.int64:
            prim.error("`out` of indices is an array of integers that fit `int64`")


def argmin(a, axis=None, out=None, *, keepdims=False):
    """Index of the first least element.

    >>> np.argmin(np.array([3, 1, 1]))
    np.int64(1)
    """
    _check_places(out)
    return deliver(_arg_extreme(a, axis, keepdims, _first_least, "attempt to get argmin of an empty sequence"), out)


def argmax(a, axis=None, out=None, *, keepdims=False):
    """Index of the first greatest element.

    >>> np.argmax(np.array([[3, 1], [2, 4]]), axis=0)
    array([0, 1])
    """
    _check_places(out)
    return deliver(_arg_extreme(a, axis, keepdims, _first_greatest, "attempt to get argmax of an empty sequence"), out)


def cumsum(a, axis=None, dtype=None, out=None):
    """Running sums.

    >>> np.cumsum(np.array([1, 2, 3]))
    array([1, 3, 6])
    """
    x = asarray(a)
    dt = dtype_or(dtype, sum_dtype(prim.dtype_of(x)))
    return deliver(scan_axis(x, axis, dt, plus, as_type, dt), out)


def cumprod(a, axis=None, dtype=None, out=None):
    """Running products.

    >>> np.cumprod(np.array([[1, 2], [3, 4]]), axis=1)
    array([[ 1,  2],
           [ 3, 12]])
    """
    x = asarray(a)
    dt = dtype_or(dtype, sum_dtype(prim.dtype_of(x)))
    return deliver(scan_axis(x, axis, dt, times, as_type, dt), out)
