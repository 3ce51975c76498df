"""Elements at places, and arrays that are views, as `lancehead.xp.primitives` describes them."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of
from lancehead.lib.lancehead.xp.elements import combining, result_of
from lancehead.lib.lancehead.xp.folds import map
from lancehead.lib.numpy.layout import check_axis, contiguous, copy_c, count, flat, with_shape
from lancehead.lib.numpy.manip import broadcast_to
from lancehead.lib.primitives.placing import put_elements, put_rows, take_rows


def _places(a, indices):
    # Places along the first axis, as a line of 64-bit integers.
    if not prim.is_int(prim.dtype_of(indices)):
        prim.error("indices are integers")
    if a.ndim == 0:
        prim.error("an array without axes has no elements at indices")
    line = flat(contiguous(indices))
    if prim.dtype_of(indices) == np.uint64:
        # Those that int64 does not hold are out of bounds, too.
        return np.minimum(line, np.uint64(a.shape[0])).astype(np.int64)
    return line.astype(np.int64)


def gather(x, indices):
    """`x[indices]`: elements, or rows, at places along the first axis."""
    a, at = np.asarray(x), np.asarray(indices)
    places = _places(a, at)
    if a.ndim == 1:
        return with_shape(take_rows(contiguous(a), places), at.shape)[()]
    rest = a.shape[1:]
    rows = take_rows(with_shape(contiguous(a), (a.shape[0], count(rest))), places)
    return with_shape(rows, at.shape + rest)


def permutation(x, indices):
    """The elements of `gather`, in the order of the indices."""
    return gather(x, indices)


def _set(a, b):
    return b


def _least(a, b):
    return np.minimum(a, b)


def _greatest(a, b):
    return np.maximum(a, b)


def _sum(a, b):
    return np.add(a, b)


def scatter(x, indices, values, mode="set"):
    """A copy of `x` with `x[indices] = values`, or with elements there that are combined with the values."""
    if prim.is_str(mode):
        if not prim.is_const(mode):
            prim.error("a mode is written as a text, or is a function")
        if mode == "set":
            return _scatter(_set, x, indices, values)
        elif mode == "add":
            return _scatter(_sum, x, indices, values)
        elif mode == "min":
            return _scatter(_least, x, indices, values)
        elif mode == "max":
            return _scatter(_greatest, x, indices, values)
        else:
            prim.error("mode is one of set, add, min, max, or a function")
    return _scatter(mode, x, indices, values)


def _scatter(op, x, indices, values):
    a, at = np.asarray(x), np.asarray(indices)
    places, rest = _places(a, at), a.shape[1:]
    dtype = prim.dtype_of(a)
    if prim.is_number(values):
        if prim.is_weak(values):
            return _put(
                op, a, places, np.full((places.size, count(rest)), prim.cast(values, prim.result_type(dtype, values)))
            )
    given = copy_c(broadcast_to(np.asarray(values), at.shape + rest), prim.dtype_of(np.asarray(values)))
    return _put(op, a, places, with_shape(given, (places.size, count(rest))))


def _put(op, a, places, lines):
    dtype = prim.dtype_of(a)
    found = prim.dtype_of(result_of(op, (prim.cast(0, dtype), prim.cast(0, prim.dtype_of(lines)))))
    _check_same_kind(found, dtype)
    combine = combining(op, prim.cast(0, dtype))
    if a.ndim == 1:
        return put_elements(combine, contiguous(a), places, with_shape(lines, (lines.shape[0],)))
    rows = with_shape(contiguous(a), (a.shape[0], count(a.shape[1:])))
    return with_shape(put_rows(combine, rows, places, lines), a.shape)


def _check_same_kind(source, target):
    # NumPy's casting "same_kind".
    if prim.is_complex(target) or prim.is_bool(source):
        return
    if prim.is_float(target):
        if not prim.is_complex(source):
            return
    if prim.is_int(target):
        if prim.is_int(source):
            if prim.is_signed(target) or not prim.is_signed(source):
                return
    prim.error("values of such a type do not go into an array of this type")


def outer(f, a, b):
    """The results of a function for each element of `a` with each of `b`: shape a.shape + b.shape, type as of `map`."""
    return map(f, _widened(np.asarray(a), np.asarray(b).ndim), b)


def _widened(a, n):
    # An array with so many further axes of one element.
    return with_shape(contiguous(a), a.shape + prim.tuple_fill(n, 1))


def counting(n, start=0, *, dtype=None):
    """The integers from `start` on, so many."""
    if n < 0:
        raise ValueError("there are no " + str(n) + " numbers")
    found = np.arange(int(start), int(start) + int(n))
    return found if prim.is_none(dtype) else found.astype(dtype)


def constant(value, shape, *, dtype=None):
    """One value in a shape."""
    return np.full(shape, value, dtype)


def reverse(x, axis=0):
    """The elements along an axis from the last to the first, without memory."""
    a = np.asarray(x)
    return np.flip(a, check_axis(axis_of(axis), a.ndim))


def strided(x, step, start=0):
    """Every so many elements along the first axis, without memory."""
    if step <= 0:
        raise ValueError("a step is positive, not " + str(step))
    return np.asarray(x)[start::step]
