"""Elements of arrays one by one, and questions about them, as Numba has them."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.checks import (
    need_array,
    need_array_like,
    need_flag,
    need_float,
    need_integer,
)
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import flat


def _check_close(a, b, rtol, atol, equal_nan):
    need_array_like(a, 'The first argument "a" must be array-like')
    need_array_like(b, 'The second argument "b" must be array-like')
    need_float(rtol, 'The third argument "rtol" must be a floating point')
    need_float(atol, 'The fourth argument "atol" must be a floating point')
    need_flag(equal_nan, 'The fifth argument "equal_nan" must be a boolean')


def _check_shapes(a, b):
    x, y = asarray(a).shape, asarray(b).shape
    for k in range(min(len(x), len(y))):
        m, n = x[len(x) - 1 - k], y[len(y) - 1 - k]
        if m != n and m != 1 and n != 1:
            raise ValueError("shape mismatch: objects cannot be broadcast to a single shape")


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Where elements are equal within tolerances."""
    _check_close(a, b, rtol, atol, equal_nan)
    _check_shapes(a, b)
    return np.isclose(a, b, rtol, atol, equal_nan)


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are equal within tolerances."""
    _check_close(a, b, rtol, atol, equal_nan)
    _check_shapes(a, b)
    return np.allclose(a, b, rtol, atol, equal_nan)


def array_equal(a1, a2, equal_nan=False):
    """Whether two arrays have the same shape and the same elements."""
    need_array_like(a1, 'Both arguments to "array_equals" must be array-like')
    need_array_like(a2, 'Both arguments to "array_equals" must be array-like')
    return np.array_equal(a1, a2, equal_nan)


def count_nonzero(a, axis=None, *, keepdims=False):
    """How many elements are not zero."""
    need_array_like(a, "The argument to np.count_nonzero must be array-like")
    return np.count_nonzero(a, axis, keepdims=keepdims)


def _check_clipped(a, a_min, a_max, out):
    for x in (a, a_min, a_max):
        if x is not None and x is not ...:
            if asarray(x).ndim > out.ndim:
                prim.error('The argument "out" must have the same number of dimensions as the result')
    if asarray(a).ndim == out.ndim and np.any(np.array(asarray(a).shape) != np.array(out.shape)):
        raise ValueError("clip: the shape of the 'out' array does not match the shape of the result")


def all(a, axis=None, out=None, keepdims=False, *, where=True):
    """Whether all elements are true."""
    if not prim.is_number(a) and not prim.is_time(a):
        need_array(a, "`all` takes an array or a number")
    return np.all(a, axis, out, keepdims, where=where)


def any(a, axis=None, out=None, keepdims=False, *, where=True):
    """Whether an element is true."""
    if not prim.is_number(a) and not prim.is_time(a):
        need_array(a, "`any` takes an array or a number")
    return np.any(a, axis, out, keepdims, where=where)


def clip(a, a_min=..., a_max=..., out=None, *, min=None, max=None):
    """Elements limited to an interval."""
    need_array_like(a, 'The argument "a" must be array-like')
    if a_min is not None:
        need_array_like(a_min, 'The argument "a_min" must be a number or an array-like')
    if a_max is not None:
        need_array_like(a_max, 'The argument "a_max" must be a number or an array-like')
    if out is not None:
        need_array(out, 'The argument "out" must be an array if it is provided')
    if a_min is None and a_max is None:
        raise ValueError("array_clip: must set either max or min")
    if out is not None:
        _check_clipped(a, a_min, a_max, out)
    if a_min is ... or a_max is ... or prim.is_number(a) or out is not None:
        return np.clip(a, a_min, a_max, out, min=min, max=max)
    x = asarray(a)
    if a_min is not None:
        _check_shapes(x, a_min)
    if a_max is not None:
        _check_shapes(x, a_max)
    found = np.clip(x, a_min, a_max)
    # The result is of the array's type, whatever the limits are.
    return found if prim.dtype_of(found) == prim.dtype_of(x) else found.astype(prim.dtype_of(x))


def round(a, decimals=0, out=None):
    """Elements rounded to decimals; of two equally near, the even one."""
    need_array_like(a, 'The argument "a" must be array-like')
    if prim.is_bool(a if prim.is_number(a) else prim.dtype_of(asarray(a))):
        prim.error("truth values are not rounded")
    if out is not None:
        need_array(out, 'The argument "out" must be an array if it is provided')
        if prim.is_array(a) and prim.is_array(out):
            if a.ndim != out.ndim or np.any(np.array(a.shape) != np.array(out.shape)):
                raise ValueError("invalid output shape")
    return np.round(a, decimals, out)


around = round


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """NaN and infinities as finite numbers."""
    need_array_like(x, "The first argument must be a scalar or an array-like")
    if not prim.is_number(x):
        if prim.is_bool(prim.dtype_of(asarray(x))) or prim.is_time(asarray(x)) or prim.is_chars(asarray(x)):
            prim.error("Only Integer, Float, and Complex values are accepted")
        if prim.is_array(x) and not copy:
            return np.nan_to_num(x, False, nan, posinf, neginf)
        return np.nan_to_num(asarray(x), True, nan, posinf, neginf)
    return np.nan_to_num(x, True, nan, posinf, neginf)


def angle(z, deg=False):
    """Angles of complex numbers."""
    if not (prim.is_number(z) or prim.is_array(z)):
        prim.error('Argument "z" must be a complex or Array[complex]')
    return np.angle(z, deg)


def where(condition, /, *values):
    """Elements of one array or another; the indices of elements that are not zero."""
    need_array_like(condition, 'The argument "condition" must be array-like')
    for value in values:
        if value is None:
            prim.error('Argument "x" or "y" cannot be None')
        need_array_like(value, 'The argument "x" or "y" must be array-like if provided')
        _check_shapes(condition, value)
    return np.where(condition, *values)


def extract(condition, arr):
    """Elements where a condition is true."""
    chosen, x = flat(asarray(condition)), asarray(arr)
    if x.size == 0:
        raise ValueError("Cannot extract from an empty array")
    for i in range(x.size, chosen.size):
        if prim.item(chosen, i):
            raise ValueError("condition shape inconsistent with arr shape")
    return np.extract(chosen[: x.size], flat(x)[: chosen.size])


def select(condlist, choicelist, default=0):
    """Elements of the first choice whose condition is true."""
    if not (prim.is_tuple(condlist) or prim.is_a(condlist, "builtins.list")):
        prim.error("condlist must be a List or a Tuple")
    if not (prim.is_tuple(choicelist) or prim.is_a(choicelist, "builtins.list")):
        prim.error("choicelist must be a List or a Tuple")
    if not prim.is_number(default):
        prim.error("default must be a scalar (number or boolean)")
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    need_array(condlist[0], "items of condlist must be arrays")
    need_array(choicelist[0], "items of choicelist must be arrays")
    if not prim.is_bool(prim.dtype_of(condlist[0])):
        prim.error("condlist arrays must contain booleans")
    if condlist[0].ndim != choicelist[0].ndim:
        prim.error("condlist and choicelist elements must have the same number of dimensions")
    if condlist[0].ndim < 1:
        prim.error("condlist arrays must be of at least dimension 1")
    return np.select(condlist, choicelist, default)


def asarray_chkfinite(a, dtype=None, order=None):
    """An array without infinities and NaN."""
    need_array_like(a, "The argument to np.asarray_chkfinite must be array-like")
    if prim.is_number(a):
        prim.error("The argument to np.asarray_chkfinite must be array-like")
    if dtype is not None and not (prim.is_dtype(dtype) or prim.is_str(dtype)):
        prim.error("dtype must be a valid Numpy dtype")
    return np.asarray_chkfinite(a, dtype, order)


def _check_fits(a, values):
    # Numbers that the diagonal cannot hold are refused rather than wrapped around.
    for x in values:
        if prim.is_int(prim.dtype_of(a)):
            info = np.iinfo(prim.dtype_of(a))
            if not np.isfinite(x) or x < info.min or x > info.max:
                raise ValueError("Unable to safely conform val to a.dtype")
        elif prim.is_float(prim.dtype_of(a)):
            if np.isfinite(x) and np.abs(x) > np.finfo(prim.dtype_of(a)).max:
                raise ValueError("Unable to safely conform val to a.dtype")


def fill_diagonal(a, val, wrap=False):
    """Stores a number, or the elements of an array in turn, on the diagonal."""
    if a.ndim < 2:
        prim.error("The first argument must be at least 2-D")
    if a.ndim > 2:
        for n in a.shape:
            if n != a.shape[0]:
                raise ValueError("All dimensions of input must be of equal length")
    if not prim.is_complex(prim.dtype_of(asarray(val))):
        _check_fits(a, flat(asarray(val)))
    return np.fill_diagonal(a, val, wrap)


def unwrap(p, discont=None, axis=-1, period=6.283185307179586):
    """Angles without jumps of half a period and more."""
    need_integer(axis, 'The argument "axis" must be an integer')
    need_array_like(p, 'The argument "p" must be array-like')
    if discont is not None:
        if not prim.is_number(discont) or prim.is_complex(discont) or prim.is_bool(discont):
            prim.error('The argument "discont" must be a scalar')
    if not prim.is_number(period):
        prim.error('The argument "period" must be a scalar')
    if axis != -1:
        raise ValueError('Value for argument "axis" is not supported')
    return np.unwrap(p, discont, axis, period=period)
