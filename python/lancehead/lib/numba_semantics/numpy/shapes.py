"""Views, parts and joins of arrays as Numba has them."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.checks import (
    axis_in,
    need_array,
    need_array_like,
    need_integer,
    need_integers,
    need_literal,
)
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import as_ints, flat


def flip(m, axis=None):
    """A view with an axis (or all) in reverse order."""
    need_array(m, "`flip` takes an array")
    return np.flip(m, axis)


def flipud(m):
    """A view with the rows in reverse order."""
    if asarray(m).ndim < 1:
        prim.error("`flipud` takes arrays of at least one dimension")
    return np.flip(m, 0)


def fliplr(m):
    """A view with the columns in reverse order."""
    if asarray(m).ndim < 2:
        prim.error("`fliplr` takes arrays of at least two dimensions")
    return np.flip(m, 1)


def rot90(m, k=1, axes=(0, 1)):
    """A matrix turned by quarters of a circle."""
    need_integer(k, 'The second argument "k" must be an integer')
    need_array(m, 'The first argument "m" must be an array')
    return np.rot90(m, k, axes)


def swapaxes(a, axis1, axis2):
    """A view with two axes exchanged."""
    need_integer(axis1, 'The second argument "axis1" must be an integer')
    need_integer(axis2, 'The third argument "axis2" must be an integer')
    need_array(a, 'The first argument "a" must be an array')
    i = axis_in("np.swapaxes", "axis1", a.ndim, axis1)
    return np.swapaxes(a, i, axis_in("np.swapaxes", "axis2", a.ndim, axis2))


def _as_axes(axes, name, ndim):
    # A number is a tuple of one.
    given = (axes,) if prim.is_number(axes) else axes
    found = prim.tuple_fill(len(given), 0)
    for k in range(len(given)):
        i = axis_in("np.moveaxis", name, ndim, given[k])
        for earlier in range(k):
            if found[earlier] == i:
                raise ValueError("np.moveaxis: repeated axis in " + name + " argument")
        found = prim.tuple_set(found, k, i)
    return found


def _check_axes(axes, message):
    if prim.is_array(axes) or prim.is_str(axes) or prim.is_none(axes):
        prim.error(message)
    if not prim.is_tuple(axes) or len(axes) > 0:
        need_integers(axes, message)


def moveaxis(a, source, destination):
    """A view with axes in other places."""
    need_array(a, 'The first argument "a" must be an array')
    _check_axes(source, 'The second argument "source" must be an integer or sequence of integers')
    _check_axes(destination, 'The third argument "destination" must be an integer or sequence of integers')
    if prim.is_a(source, "builtins.list") or prim.is_a(destination, "builtins.list"):
        return np.moveaxis(a, source, destination)
    places, to = _as_axes(source, "source", a.ndim), _as_axes(destination, "destination", a.ndim)
    if len(places) != len(to):
        raise ValueError("`source` and `destination` arguments must have the same number of parameters")
    return np.moveaxis(a, places, to)


def take_along_axis(arr, indices, axis):
    """Elements at indices along an axis, for each line its own."""
    need_array(arr, 'The first argument "arr" must be an array')
    need_array(indices, 'The second argument "indices" must be an array')
    need_integers(indices, "The indices array must contain integers")
    if axis is None:
        if indices.ndim != 1:
            prim.error("`indices` and `arr` must have the same number of dimensions")
        return np.take_along_axis(arr, indices, None)
    if arr.ndim != indices.ndim:
        prim.error("`indices` and `arr` must have the same number of dimensions")
    need_integer(axis, "axis must be an integer")
    need_literal(axis)
    if axis < -arr.ndim or axis >= arr.ndim:
        prim.error("axis is out of bounds")
    for k in range(arr.ndim):
        if k != axis % arr.ndim and arr.shape[k] != indices.shape[k] and arr.shape[k] != 1 and indices.shape[k] != 1:
            raise ValueError("`arr` and `indices` dimensions don't match")
    return np.take_along_axis(arr, indices, axis)


def _whole_parts(ary, indices_or_sections):
    if prim.is_number(ary) or prim.is_str(ary) or prim.is_none(ary):
        prim.error("an array is split, or a list or a tuple")
    if not prim.is_tuple(indices_or_sections) or len(indices_or_sections) > 0:
        need_integers(indices_or_sections, "an array is split at integers")
    return asarray(ary)


def array_split(ary, indices_or_sections, axis=0):
    """Views of the parts of an array, as equal as possible, or between indices."""
    x = _whole_parts(ary, indices_or_sections)
    if prim.is_number(indices_or_sections) and (axis < -x.ndim or axis >= x.ndim):
        raise IndexError("tuple index out of range")
    return np.array_split(x, indices_or_sections, axis_in("np.split", "axis", x.ndim, axis))


def split(ary, indices_or_sections, axis=0):
    """Views of equal parts of an array, or of the parts between indices."""
    x = _whole_parts(ary, indices_or_sections)
    if prim.is_number(indices_or_sections) and (axis < -x.ndim or axis >= x.ndim):
        raise IndexError("tuple index out of range")
    return np.split(x, indices_or_sections, axis_in("np.split", "axis", x.ndim, axis))


def _check_parts(ary, indices_or_sections):
    need_array(ary, 'The argument "ary" must be an array')
    message = 'The argument "indices_or_sections" must be int or 1d-array'
    if not prim.is_tuple(indices_or_sections) or len(indices_or_sections) > 0:
        need_integers(indices_or_sections, message)


def vsplit(ary, indices_or_sections):
    """Views of the parts of an array by rows."""
    _check_parts(ary, indices_or_sections)
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def hsplit(ary, indices_or_sections):
    """Views of the parts of an array by columns."""
    _check_parts(ary, indices_or_sections)
    if ary.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def dsplit(ary, indices_or_sections):
    """Views of the parts of an array along the third axis."""
    _check_parts(ary, indices_or_sections)
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


def _check_edited(arr, obj):
    if prim.is_number(arr) or prim.is_str(arr) or prim.is_none(arr):
        prim.error("arr must be either an Array or a Sequence")
    if not prim.is_slice(obj):
        need_integers(obj, "obj should be of Integer dtype")


def delete(arr, obj, axis=None):
    """An array without some elements."""
    _check_edited(arr, obj)
    if prim.is_number(obj) and axis is None:
        n = asarray(arr).size
        if obj < -n or obj >= n:
            raise IndexError("obj must be less than the len(arr)")
    return np.delete(arr, obj, axis)


def insert(arr, obj, values, axis=None):
    """An array with values before an index, or before each of several."""
    _check_edited(arr, obj)
    if prim.is_slice(obj):
        prim.error("obj should be an Integer, an Array or a Sequence")
    if prim.is_none(values) or prim.is_str(values):
        prim.error("values must be a scalar, an Array or a Sequence")
    if axis is not None:
        prim.error("The 'axis' argument is not supported")
    n, places = asarray(arr).size, flat(asarray(obj))
    if places.size != 1 and asarray(values).size != 1 and asarray(values).size != places.size:
        raise ValueError("shape mismatch: the number of values does not match the number of insertion indices")
    for i in range(places.size):
        if prim.item(places, i) < -n or prim.item(places, i) > n:
            raise IndexError("index is out of bounds for the given array size")
    return np.insert(arr, places, flat(asarray(values)), None)


def repeat(a, repeats, axis=None):
    """Elements, each several times."""
    need_integers(repeats, "The repeats argument must be an integer or an array-like of integer dtype")
    x = asarray(a)
    times = flat(asarray(repeats))
    for i in range(times.size):
        if prim.item(times, i) < 0:
            raise ValueError("negative dimensions are not allowed")
    if not prim.is_number(repeats) and axis is None:
        if times.size != x.size and times.size != 1:
            raise ValueError("operands could not be broadcast together")
    return np.repeat(x, repeats, axis)


def roll(a, shift, axis=None):
    """Elements moved along an axis; those that leave come in at the other end."""
    if axis is None and not prim.is_bool(shift):
        need_integer(shift, "shift must be an integer")
    return np.roll(a, shift, axis)


def resize(a, new_shape):
    """The elements in another shape, repeated as often as it takes."""
    need_array_like(a, 'The argument "a" must be array-like')
    if not prim.is_int(new_shape) and not prim.is_tuple(new_shape):
        prim.error('The argument "new_shape" must be an integer or a tuple of integers')
    if prim.is_tuple(new_shape):
        need_integers(new_shape, 'The argument "new_shape" must be an integer or a tuple of integers')
    for n in as_ints(new_shape):
        if n < 0:
            raise ValueError("All elements of `new_shape` must be non-negative")
    return np.resize(a, new_shape)


def expand_dims(a, axis):
    """A view with an axis of extent one more."""
    need_array(a, 'First argument "a" must be an array')
    if not prim.is_tuple(axis):
        need_integer(axis, 'Argument "axis" must be an integer')
    return np.expand_dims(a, axis)


def broadcast_to(array, shape):
    """A view with another shape, in which elements stand several times."""
    need_array_like(array, 'The first argument "array" must be array-like')
    if prim.is_array(shape) or prim.is_str(shape) or prim.is_none(shape):
        prim.error('The argument "shape" must be a tuple or a scalar integer')
    if not prim.is_tuple(shape) or len(shape) > 0:
        need_integers(shape, 'The argument "shape" must be a tuple or a scalar integer')
    new, old = as_ints(shape), asarray(array).shape
    if len(new) < len(old):
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    for n in new:
        if n < 0:
            raise ValueError("all elements of broadcast shape must be non-negative")
    for k in range(len(old)):
        n = new[len(new) - len(old) + k]
        if old[k] != 1 and old[k] != n:
            raise ValueError("operands could not be broadcast together with remapped shapes")
    return np.broadcast_to(array, shape)


def take(a, indices, axis=None, out=None, mode="raise"):
    """Elements at indices, of all elements or along an axis."""
    need_integers(indices, "indices are integers")
    if axis is not None:
        need_integer(axis, "the axis is an integer")
    elif mode == "raise":
        n = asarray(a).size
        for i in np.ravel(asarray(indices)):
            if i < -n or i >= n:
                raise IndexError("Index out of bounds")
    return np.take(a, indices, axis, out, mode)


def _count(shape):
    total, unknown = 1, 0
    for n in shape:
        if n < 0:
            unknown += 1
        else:
            total *= n
    return total, unknown


def reshape(a, /, shape, order="C", *, copy=None):
    """The elements in another shape, as a view if possible."""
    size = asarray(a).size
    total, unknown = _count(as_ints(shape))
    if unknown > 1:
        raise ValueError("multiple negative shape values")
    if total != size if unknown == 0 else (total == 0 and size != 0) or (total != 0 and size % total != 0):
        raise ValueError("total size of new array must be unchanged")
    return np.reshape(a, shape, order, copy=copy)
