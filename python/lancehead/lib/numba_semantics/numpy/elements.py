"""Elements of arrays one by one, and questions about them, as Numba has them."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.checks import check, need, need_array_like
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import flat


def _check_close(a, b, rtol, atol, equal_nan):
    need_array_like(a, 'The first argument "a" must be array-like')
    need_array_like(b, 'The second argument "b" must be array-like')
    need(prim.is_float(rtol), 'The third argument "rtol" must be a floating point')
    need(prim.is_float(atol), 'The fourth argument "atol" must be a floating point')
    need(prim.is_bool(equal_nan), 'The fifth argument "equal_nan" must be a boolean')


def _check_shapes(a, b):
    x, y = asarray(a).shape, asarray(b).shape
    for k in range(min(len(x), len(y))):
        m, n = x[len(x) - 1 - k], y[len(y) - 1 - k]
        check(m == n or m == 1 or n == 1, "shape mismatch: objects cannot be broadcast to a single shape")


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    _check_close(a, b, rtol, atol, equal_nan)
    _check_shapes(a, b)
    return np.isclose(a, b, rtol, atol, equal_nan)


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    _check_close(a, b, rtol, atol, equal_nan)
    _check_shapes(a, b)
    return np.allclose(a, b, rtol, atol, equal_nan)


def all(a, axis=None, out=None, keepdims=False, *, where=True):
    if not prim.is_number(a) and not prim.is_time(a):
        need(prim.is_array(a), "`all` takes an array or a number")
    return np.all(a, axis, out, keepdims, where=where)


def any(a, axis=None, out=None, keepdims=False, *, where=True):
    if not prim.is_number(a) and not prim.is_time(a):
        need(prim.is_array(a), "`any` takes an array or a number")
    return np.any(a, axis, out, keepdims, where=where)


def clip(a, a_min=..., a_max=..., out=None, *, min=None, max=None):
    need_array_like(a, 'The argument "a" must be array-like')
    if a_min is not None:
        need_array_like(a_min, 'The argument "a_min" must be a number or an array-like')
    if a_max is not None:
        need_array_like(a_max, 'The argument "a_max" must be a number or an array-like')
    if out is not None:
        need(prim.is_array(out), 'The argument "out" must be an array if it is provided')
        need(asarray(a).ndim == out.ndim, 'The argument "out" must have the same number of dimensions as the result')
        shapes_agree = asarray(a).shape == out.shape
        check(shapes_agree, "clip: the shape of the 'out' array does not match the shape of the result")
    if a_min is None and a_max is None:
        raise ValueError("array_clip: must set either max or min")
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
    need_array_like(a, 'The argument "a" must be array-like')
    need(not prim.is_bool(a if prim.is_number(a) else prim.dtype_of(asarray(a))), "truth values are not rounded")
    if out is not None:
        need(prim.is_array(out), 'The argument "out" must be an array if it is provided')
        if prim.is_array(a) and a.ndim == out.ndim:
            check(a.shape == out.shape, "invalid output shape")
    return np.round(a, decimals, out)


around = round


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    need_array_like(x, "The first argument must be a scalar or an array-like")
    if not prim.is_number(x):
        need(prim.is_array(x), "The first argument must be a scalar or an array")
        is_number = not (prim.is_bool(prim.dtype_of(x)) or prim.is_time(x) or prim.is_chars(x))
        need(is_number, "Only Integer, Float, and Complex values are accepted")
        return np.nan_to_num(x, copy, nan, posinf, neginf)
    return np.nan_to_num(x, True, nan, posinf, neginf)


def where(condition, /, *values):
    need_array_like(condition, 'The argument "condition" must be array-like')
    for value in values:
        need(value is not None, 'Argument "x" or "y" cannot be None')
        need_array_like(value, 'The argument "x" or "y" must be array-like if provided')
        _check_shapes(condition, value)
    return np.where(condition, *values)


def extract(condition, arr):
    chosen, x = flat(asarray(condition)), asarray(arr)
    check(x.size > 0, "Cannot extract from an empty array")
    for i in range(x.size, chosen.size):
        check(not prim.item(chosen, i), "condition shape inconsistent with arr shape")
    return np.extract(chosen[: x.size], flat(x)[: chosen.size])


def asarray_chkfinite(a, dtype=None, order=None):
    need(not prim.is_number(a), "The argument to np.asarray_chkfinite must be array-like")
    need(not prim.is_str(dtype) and not prim.is_number(dtype), "dtype must be a valid Numpy dtype")
    return np.asarray_chkfinite(a, dtype, order)


def select(condlist, choicelist, default=0):
    need(prim.is_tuple(condlist) or prim.is_a(condlist, "builtins.list"), "condlist must be a List or a Tuple")
    need(prim.is_tuple(choicelist) or prim.is_a(choicelist, "builtins.list"), "choicelist must be a List or a Tuple")
    need(prim.is_number(default), "default must be a scalar (number or boolean)")
    check(len(condlist) == len(choicelist), "list of cases must be same length as list of conditions")
    need(prim.is_array(condlist[0]), "items of condlist must be arrays")
    need(prim.is_array(choicelist[0]), "items of choicelist must be arrays")
    need(prim.is_bool(prim.dtype_of(condlist[0])), "condlist arrays must contain booleans")
    need(condlist[0].ndim == choicelist[0].ndim, "elements of condlist and choicelist must have the same dimensions")
    need(condlist[0].ndim >= 1, "condlist arrays must be of at least dimension 1")
    return np.select(condlist, choicelist, default)


def _check_fits(dtype, values):
    # Numbers that the diagonal cannot hold are refused rather than wrapped around.
    message = "Unable to safely conform val to a.dtype"
    for x in values:
        if prim.is_int(dtype):
            check(np.isfinite(x) and np.iinfo(dtype).min <= x <= np.iinfo(dtype).max, message)
        elif prim.is_float(dtype):
            check(not np.isfinite(x) or np.abs(x) <= np.finfo(dtype).max, message)


def fill_diagonal(a, val, wrap=False):
    need(a.ndim >= 2, "The first argument must be at least 2-D")
    if a.ndim > 2:
        for n in a.shape:
            check(n == a.shape[0], "All dimensions of input must be of equal length")
    if not prim.is_complex(prim.dtype_of(asarray(val))):
        _check_fits(prim.dtype_of(a), flat(asarray(val)))
    return np.fill_diagonal(a, val, wrap)


def unwrap(p, discont=None, axis=-1, period=6.283185307179586):
    need(prim.is_int(axis), 'The argument "axis" must be an integer')
    need_array_like(p, 'The argument "p" must be array-like')
    if discont is not None:
        need(prim.is_int(discont) or prim.is_float(discont), 'The argument "discont" must be a scalar')
    need(prim.is_number(period), 'The argument "period" must be a scalar')
    check(axis == -1, 'Value for argument "axis" is not supported')
    return np.unwrap(p, discont, axis, period=period)
