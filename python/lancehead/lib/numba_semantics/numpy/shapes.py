"""Views, parts and joins of arrays as Numba has them."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.checks import axis_in, check, need, need_array_like, need_integers, need_literal
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import as_ints, flat


def flip(m, axis=None):
    need(prim.is_array(m), "`flip` takes an array")
    return np.flip(m, axis)


def flipud(m):
    need(asarray(m).ndim >= 1, "`flipud` takes arrays of at least one dimension")
    return np.flip(m, 0)


def fliplr(m):
    need(asarray(m).ndim >= 2, "`fliplr` takes arrays of at least two dimensions")
    return np.flip(m, 1)


def rot90(m, k=1, axes=(0, 1)):
    need(prim.is_int(k), 'The second argument "k" must be an integer')
    need(prim.is_array(m), 'The first argument "m" must be an array')
    return np.rot90(m, k, axes)


def swapaxes(a, axis1, axis2):
    need(prim.is_int(axis1), 'The second argument "axis1" must be an integer')
    need(prim.is_int(axis2), 'The third argument "axis2" must be an integer')
    need(prim.is_array(a), 'The first argument "a" must be an array')
    i = axis_in("np.swapaxes", "axis1", a.ndim, axis1)
    return np.swapaxes(a, i, axis_in("np.swapaxes", "axis2", a.ndim, axis2))


def _as_axes(axes, name, ndim):
    # A number is a tuple of one.
    given = (axes,) if prim.is_number(axes) else axes
    found = prim.tuple_fill(len(given), 0)
    for k in range(len(given)):
        i = axis_in("np.moveaxis", name, ndim, given[k])
        for earlier in range(k):
            check(found[earlier] != i, "np.moveaxis: repeated axis in " + name + " argument")
        found = prim.tuple_set(found, k, i)
    return found


def _check_axes(axes, message):
    need(not (prim.is_array(axes) or prim.is_str(axes) or prim.is_none(axes)), message)
    need_integers(axes, message)


def moveaxis(a, source, destination):
    need(prim.is_array(a), 'The first argument "a" must be an array')
    _check_axes(source, 'The second argument "source" must be an integer or sequence of integers')
    _check_axes(destination, 'The third argument "destination" must be an integer or sequence of integers')
    if prim.is_a(source, "builtins.list") or prim.is_a(destination, "builtins.list"):
        return np.moveaxis(a, source, destination)
    places, to = _as_axes(source, "source", a.ndim), _as_axes(destination, "destination", a.ndim)
    if len(places) != len(to):
        raise ValueError("`source` and `destination` arguments must have the same number of parameters")
    return np.moveaxis(a, places, to)


def take_along_axis(arr, indices, axis):
    need(prim.is_array(arr), 'The first argument "arr" must be an array')
    need(prim.is_array(indices), 'The second argument "indices" must be an array')
    need_integers(indices, "The indices array must contain integers")
    if axis is None:
        need(indices.ndim == 1, "`indices` and `arr` must have the same number of dimensions")
        return np.take_along_axis(arr, indices, None)
    need(arr.ndim == indices.ndim, "`indices` and `arr` must have the same number of dimensions")
    need(prim.is_int(axis), "axis must be an integer")
    need_literal(axis)
    need(-arr.ndim <= axis < arr.ndim, "axis is out of bounds")
    for k in range(arr.ndim):
        m, n = arr.shape[k], indices.shape[k]
        check(k == axis % arr.ndim or m == n or m == 1 or n == 1, "`arr` and `indices` dimensions don't match")
    return np.take_along_axis(arr, indices, axis)


def _whole_parts(ary, indices_or_sections, axis):
    need(prim.is_int(axis), "the axis is an integer")
    need(not (prim.is_number(ary) or prim.is_str(ary) or prim.is_none(ary)), "an array is split, or a list or a tuple")
    need_integers(indices_or_sections, "an array is split at integers")
    n = asarray(ary).ndim
    if prim.is_number(indices_or_sections) and (axis < -n or axis >= n):
        raise IndexError("tuple index out of range")
    return asarray(ary)


def array_split(ary, indices_or_sections, axis=0):
    x = _whole_parts(ary, indices_or_sections, axis)
    return np.array_split(x, indices_or_sections, axis_in("np.split", "axis", x.ndim, axis))


def split(ary, indices_or_sections, axis=0):
    x = _whole_parts(ary, indices_or_sections, axis)
    return np.split(x, indices_or_sections, axis_in("np.split", "axis", x.ndim, axis))


def _check_parts(ary, indices_or_sections):
    need(prim.is_array(ary), 'The argument "ary" must be an array')
    message = 'The argument "indices_or_sections" must be int or 1d-array'
    need_integers(indices_or_sections, message)


def vsplit(ary, indices_or_sections):
    _check_parts(ary, indices_or_sections)
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def hsplit(ary, indices_or_sections):
    _check_parts(ary, indices_or_sections)
    if ary.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def dsplit(ary, indices_or_sections):
    _check_parts(ary, indices_or_sections)
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


def _check_edited(arr, obj):
    need_array_like(arr, "arr must be either an Array or a Sequence")
    need(not prim.is_number(arr), "arr must be either an Array or a Sequence")
    if not prim.is_slice(obj):
        need_integers(obj, "obj should be of Integer dtype")


def delete(arr, obj, axis=None):
    _check_edited(arr, obj)
    if prim.is_number(obj) and axis is None:
        n = asarray(arr).size
        if obj < -n or obj >= n:
            raise IndexError("obj must be less than the len(arr)")
    return np.delete(arr, obj, axis)


def insert(arr, obj, values, axis=None):
    _check_edited(arr, obj)
    need(not prim.is_slice(obj), "obj should be an Integer, an Array or a Sequence")
    need(not (prim.is_none(values) or prim.is_str(values)), "values must be a scalar, an Array or a Sequence")
    need(axis is None, "The 'axis' argument is not supported")
    n, places = asarray(arr).size, flat(asarray(obj))
    fits = places.size == 1 or asarray(values).size == 1 or asarray(values).size == places.size
    check(fits, "shape mismatch: the number of values does not match the number of insertion indices")
    for i in range(places.size):
        if prim.item(places, i) < -n or prim.item(places, i) > n:
            raise IndexError("index is out of bounds for the given array size")
    return np.insert(arr, places, values if prim.is_number(values) else flat(asarray(values)), None)


def repeat(a, repeats, axis=None):
    need_integers(repeats, "The repeats argument must be an integer or an array-like of integer dtype")
    x = asarray(a)
    times = flat(asarray(repeats))
    for i in range(times.size):
        check(prim.item(times, i) >= 0, "negative dimensions are not allowed")
    if not prim.is_number(repeats) and axis is None:
        check(times.size == x.size or times.size == 1, "operands could not be broadcast together")
    return np.repeat(x, repeats, axis)


def resize(a, new_shape):
    need_array_like(a, 'The argument "a" must be array-like')
    message = 'The argument "new_shape" must be an integer or a tuple of integers'
    need(prim.is_int(new_shape) or prim.is_tuple(new_shape), message)
    need_integers(new_shape, message)
    for n in as_ints(new_shape):
        check(n >= 0, "All elements of `new_shape` must be non-negative")
    return np.resize(a, new_shape)


def roll(a, shift, axis=None):
    need(prim.is_int(shift) or prim.is_bool(shift), "shift must be an integer")
    return np.roll(a, shift, axis)
