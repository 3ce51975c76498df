"""Joins of arrays as Numba has them."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of
from lancehead.lib.numpy.creation import asarray


def _check_many(arrays):
    if prim.is_array(arrays) or prim.is_number(arrays) or prim.is_str(arrays):
        prim.error("expecting a non-empty tuple of arrays")


def _check_extents(arrays, axis):
    # What is joined has the same extents but along the axis.
    first = asarray(arrays[0])
    for a in arrays:
        x = asarray(a)
        if x.ndim != first.ndim:
            prim.error("all the input arrays must have same number of dimensions")
        for k in range(first.ndim):
            if k != axis and x.shape[k] != first.shape[k]:
                raise ValueError("np.concatenate(): input sizes over dimension " + str(k) + " do not match")


def _check_same(arrays):
    first = asarray(arrays[0])
    for a in arrays:
        x = asarray(a)
        if x.ndim != first.ndim:
            prim.error("all input arrays must have the same number of dimensions")
        for k in range(first.ndim):
            if x.shape[k] != first.shape[k]:
                raise ValueError("np.stack(): all input arrays must have the same shape")


def concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Arrays joined along an axis; of all elements for None."""
    _check_many(arrays)
    if axis is None or len(arrays) == 0:
        return np.concatenate(arrays, axis, out, dtype=dtype, casting=casting)
    n, k = asarray(arrays[0]).ndim, axis_of(axis)
    if k < -n or k >= n:
        raise IndexError("np.concatenate(): axis out of bounds")
    _check_extents(arrays, k + n if k < 0 else k)
    return np.concatenate(arrays, axis, out, dtype=dtype, casting=casting)


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Arrays of one shape joined along a new axis."""
    _check_many(arrays)
    if len(arrays) > 0:
        _check_same(arrays)
        n, k = asarray(arrays[0]).ndim + 1, axis_of(axis)
        if k < -n or k >= n:
            raise IndexError("np.stack(): axis out of bounds")
    return np.stack(arrays, axis, out, dtype=dtype, casting=casting)


def vstack(tup, *, dtype=None, casting="same_kind"):
    """Arrays joined as rows."""
    _check_many(tup)
    if len(tup) > 0:
        if asarray(tup[0]).ndim < 2:
            _check_same(tup)
        else:
            _check_extents(tup, 0)
    return np.vstack(tup, dtype=dtype, casting=casting)


row_stack = vstack


def hstack(tup, *, dtype=None, casting="same_kind"):
    """Arrays joined along the second axis, or the only one."""
    _check_many(tup)
    if len(tup) > 0:
        _check_extents(tup, 0 if asarray(tup[0]).ndim <= 1 else 1)
    return np.hstack(tup, dtype=dtype, casting=casting)


def dstack(tup):
    """Arrays joined along the third axis."""
    _check_many(tup)
    if len(tup) > 0:
        if asarray(tup[0]).ndim < 3:
            _check_same(tup)
        else:
            _check_extents(tup, 2)
    return np.dstack(tup)


def _check_columns(tup):
    for a in tup:
        x = asarray(a)
        if x.ndim < 1 or x.ndim > 2:
            prim.error("np.column_stack() is only defined on 1-d and 2-d arrays")
        if x.shape[0] != asarray(tup[0]).shape[0]:
            raise ValueError("np.concatenate(): input sizes over dimension 0 do not match")


def column_stack(tup):
    """Arrays joined as columns."""
    _check_many(tup)
    _check_columns(tup)
    return np.column_stack(tup)


def append(arr, values, axis=None):
    """An array with values joined at its end."""
    for x in (arr, values):
        if prim.is_none(x) or prim.is_str(x):
            prim.error("`append` joins arrays")
    if axis is None:
        return np.append(arr, values, None)
    if prim.is_dtype(axis) or not prim.is_int(axis):
        prim.error('The third argument "axis" must be an integer')
    return concatenate((asarray(arr), asarray(values)), axis)
