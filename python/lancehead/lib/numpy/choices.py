"""Elementwise choices: by condition, by limits, by decimals."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import c_int, check_flag, unmixed
from lancehead.lib.numpy.casting import check_cast
from lancehead.lib.numpy.creation import array, asarray, operand, text_operand
from lancehead.lib.numpy.indexing import nonzero
from lancehead.lib.numpy.reductions import larger, smaller


def _choose(c, x, y):
    dtype = prim.result_type(x, y)
    return prim.cast(x, dtype) if c else prim.cast(y, dtype)


def where(condition, x=nonzero, y=nonzero, /):
    """Elements of one or the other array by a condition; alone, the indices where it is true.

    >>> np.where(np.array([True, False]), np.array([1, 2]), 0.5)
    array([1. , 0.5])
    >>> np.where(np.array([0, 5, 6]))
    (array([1, 2]),)
    """
    if x is nonzero and y is nonzero:
        return nonzero(condition)
    if prim.is_func(x) or prim.is_func(y):
        prim.error("`where` takes both values or neither")
    if prim.is_str(x) or prim.is_str(y):
        return where(condition, text_operand(x), text_operand(y))
    condition, x, y = operand(condition), operand(x), operand(y)
    if x is None or y is None:
        prim.error("`where` takes numbers and arrays of them, not None")
    if prim.is_chars(x) or prim.is_chars(y) or prim.is_str(x) or prim.is_str(y):
        if not (prim.is_array(x) and prim.is_array(y)):
            prim.error("`where` takes arrays of texts, or texts that are known while compiling")
        return _texts_where(asarray(condition), x, y)
    if prim.is_array(condition) or prim.is_array(x) or prim.is_array(y):
        return prim.map(_choose, condition, x, y)
    if prim.is_scalar(condition) and prim.is_scalar(x) and prim.is_scalar(y):
        return asarray(_choose(condition, x, y))
    return where(asarray(condition), asarray(x), asarray(y))


def _texts_where(condition, x, y):
    # The dtype is that of the longer texts.
    shape = np.broadcast_shapes(condition.shape, x.shape, y.shape)
    out = np.empty(shape, prim.result_type(x, y))
    chosen, xs, ys = np.broadcast_to(condition, shape), np.broadcast_to(x, shape), np.broadcast_to(y, shape)
    for at in np.ndindex(shape):
        out[at] = xs[at] if chosen[at] else ys[at]
    return out


def _at_least(x, low):
    dtype = prim.result_type(x, low)
    a, b = prim.cast(x, dtype), prim.cast(low, dtype)
    if prim.is_complex(dtype):
        return larger(a, b)
    return b if (a < b) | (b != b) else a


def _at_most(x, high):
    dtype = prim.result_type(x, high)
    a, b = prim.cast(x, dtype), prim.cast(high, dtype)
    if prim.is_complex(dtype):
        return smaller(a, b)
    return b if (a > b) | (b != b) else a


def _limit(limit, x, is_low):
    # A Python integer as the limit of integers of a type: beyond it on the far side it limits nothing.
    dtype = prim.dtype_of(x)
    if not (prim.is_int(limit) and prim.is_weak(limit) and prim.is_int(dtype)) or prim.is_weak(x):
        return limit
    least = -(1 << (8 * prim.itemsize(dtype) - 1)) if prim.is_signed(dtype) else 0
    bits = 8 * prim.itemsize(dtype) - (1 if prim.is_signed(dtype) else 0)
    greatest = (1 << bits) - 1 if bits < 63 else 9223372036854775807
    if limit > greatest if is_low else limit < least:
        raise OverflowError("a limit is out of bounds for the type of the array")
    return prim.cast(prim.minimum(prim.maximum(limit, least), greatest), dtype)


def _between(x, low, high):
    return _at_most(_at_least(x, low), high)


def _into(out, result):
    if out is None:
        return result
    if not prim.is_array(out):
        prim.error("return arrays must be of ArrayType")
    check_cast(prim.dtype_of(result), prim.dtype_of(out), "same_kind")
    if prim.is_array(result):
        if result.ndim > out.ndim:
            prim.error("`out` has fewer dimensions than the result")
    out[...] = result
    return out


def clip(a, a_min=..., a_max=..., out=None, *, min=None, max=None):
    """Elements limited to an interval.

    >>> np.clip(np.array([1, 5, 9]), 2, 6)
    array([2, 5, 6])
    >>> np.clip(7.5, 0.0, 1.0)
    np.float64(1.0)
    """
    if a_min is ... and a_max is ...:
        return clip(a, min, max, out)
    if a_min is ... or a_max is ...:
        prim.error("`clip` takes both limits by position, or `min` and `max` by name")
    if min is not None or max is not None:
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    if out is not None:
        return _into(out, clip(a, a_min, a_max))
    if a_min is None and a_max is None:
        if prim.is_bool(prim.dtype_of(a if prim.is_number(a) else asarray(a))):
            prim.error("truth values are not clipped without limits")
        return a if prim.is_number(a) else array(a)
    x = a if prim.is_scalar(a) else asarray(a)
    low, high = _limit(operand(a_min), x, True), _limit(operand(a_max), x, False)
    if prim.is_scalar(a) and not prim.is_array(low) and not prim.is_array(high):
        if low is None:
            return _at_most(x, high)
        return _at_least(x, low) if high is None else _between(x, low, high)
    if low is None:
        return prim.map(_at_most, asarray(x), high)
    if high is None:
        return prim.map(_at_least, asarray(x), low)
    return prim.map(_between, asarray(x), low, high)


def _round_number(x, decimals):
    if prim.is_bool(x):
        if decimals != 0:
            raise TypeError("Cannot cast ufunc 'multiply' output from dtype('float64') to dtype('bool')")
        return prim.cast(x, np.float32)
    if prim.is_int(x):
        if decimals >= 0:
            return x
        unit = 10.0 ** (-decimals)
        return prim.cast(prim.rint(float(x) / unit) * unit, prim.dtype_of(x))
    if prim.is_complex(x):
        return prim.complex(_round_number(x.real, decimals), _round_number(x.imag, decimals))
    if decimals == 0:
        return prim.rint(x)
    dtype = prim.dtype_of(x)
    unit = prim.cast(10.0 ** (decimals if decimals > 0 else -decimals), dtype)
    if decimals > 0:
        return prim.fdiv(prim.rint(x * unit), unit)
    return prim.rint(prim.fdiv(x, unit)) * unit


def round(a, decimals=0, out=None):
    """Elements rounded to decimals; of two equally near, the even one.

    >>> np.round(np.array([1.25, 2.375]), 1)
    array([1.2, 2.4])
    """
    places = c_int(decimals)
    if out is not None:
        x = asarray(a)
        if not prim.is_float(prim.dtype_of(x)) and not prim.is_complex(prim.dtype_of(x)):
            if out.ndim != x.ndim or out.shape != x.shape:
                raise ValueError("invalid output shape")
        return _into(out, round(a, places))
    if prim.is_number(a):
        return _round_number(a, places)
    return prim.map(_round_number, asarray(a), places)


around = round


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """NaN and infinities as finite numbers.

    >>> np.nan_to_num(np.array([np.nan, 1.5]))
    array([0. , 1.5])
    """
    check_flag(copy)
    if not copy:
        if not prim.is_array(x):
            prim.error("`nan_to_num` changes arrays only without a copy")
        x[...] = nan_to_num(x, True, nan, posinf, neginf)
        return x
    if prim.is_complex(nan) or prim.is_complex(posinf) or prim.is_complex(neginf):
        prim.error("what stands for NaN and infinities is a real number")
    v = asarray(x)
    dtype = prim.real_dtype(prim.dtype_of(v))
    if not prim.is_float(dtype):
        return x if prim.is_number(x) else v.copy()
    size = prim.itemsize(dtype)
    biggest = prim.cast(65504.0 if size == 2 else 3.4028234663852886e38 if size == 4 else 1.7976931348623157e308, dtype)
    if prim.is_array(nan) or prim.is_array(posinf) or prim.is_array(neginf):
        high = _spread(biggest if posinf is None else posinf, dtype, v.shape)
        low = _spread(-biggest if neginf is None else neginf, dtype, v.shape)
        return prim.map(_finite, v, _spread(nan, dtype, v.shape), high, low)
    high = biggest if posinf is None else prim.cast(posinf, dtype)
    low = -biggest if neginf is None else prim.cast(neginf, dtype)
    if prim.is_number(x):
        return _finite(x, prim.cast(nan, dtype), high, low)
    return prim.map(_finite, v, prim.cast(nan, dtype), high, low)


def _spread(x, dtype, shape):
    if not prim.is_array(x):
        return prim.cast(x, dtype)
    a = asarray(x, dtype)
    return np.broadcast_to(a.reshape(a.shape[a.ndim - len(shape) :]) if a.ndim > len(shape) else a, shape)


def _finite(x, nan, high, low):
    if prim.is_complex(x):
        return prim.complex(_finite(x.real, nan, high, low), _finite(x.imag, nan, high, low))
    if x != x:
        return nan
    if prim.isinf(x):
        return high if x > 0.0 else low
    return x


def _angle(z):
    if prim.is_complex(z):
        return prim.atan2(z.imag, z.real)
    dtype = np.float64 if prim.is_bool(z) else prim.result_type(np.float32, prim.as_dtype(prim.dtype_of(z)))
    return prim.atan2(prim.cast(0, dtype), prim.cast(z, dtype))


def _degrees(x):
    return x * prim.cast(57.29577951308232, prim.dtype_of(x))


def angle(z, deg=False):
    """Angle of a complex number.

    >>> np.angle(1j, deg=True)
    np.float64(90.0)
    """
    if prim.is_number(z):
        a = _angle(z)
        return _degrees(a) if deg else a
    angles = prim.map(_angle, asarray(z))
    return prim.map(_degrees, angles) if deg else angles


def select(condlist, choicelist, default=0):
    """Elements of the first choice whose condition is true.

    >>> np.select([np.array([True, False]), np.array([True, True])], [np.array([1, 2]), np.array([3, 4])])
    array([1, 4])
    """
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if isinstance(condlist, list) and not prim.is_a(condlist, "builtins.list"):
        return select(unmixed(condlist), choicelist, default)
    if isinstance(choicelist, list) and not prim.is_a(choicelist, "builtins.list"):
        return select(condlist, unmixed(choicelist), default)
    n = len(condlist)
    if n == 0:
        raise ValueError("select with an empty condition list is not possible")
    for condition in condlist:
        if not prim.is_bool(prim.dtype_of(asarray(condition))):
            prim.error("a condition is an array of truth values")
    if prim.is_tuple(condlist) or prim.is_tuple(choicelist):
        return _selected(condlist, choicelist, default)
    # The first choice settles the type, so that it is the same at every step through lists.
    out = where(condlist[n - 1], choicelist[n - 1], default)
    for condition, choice in zip(condlist[:-1][::-1], choicelist[:-1][::-1]):
        out = where(condition, choice, out)
    return out


def _selected(conditions, choices, default):
    # Of several types; there are as many of both, one of which is a tuple. Halves keep the recursion flat.
    n = len(conditions) if prim.is_tuple(conditions) else len(choices)
    if n == 0:
        return default
    if n == 1:
        return where(conditions[0], choices[0], default)
    rest = _selected(conditions[n // 2 :], choices[n // 2 :], default)
    return _selected(conditions[: n // 2], choices[: n // 2], rest)
