"""Places in arrays as one number, orders by several keys, and arrays of asked shapes and properties."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of, index_of, unmixed
from lancehead.lib.numpy.creation import array, asarray
from lancehead.lib.numpy.layout import (
    as_ints,
    check_axis,
    contiguous,
    copy_c,
    copy_into,
    count,
    flat,
    lane,
    lanes,
    new_array,
    new_zeros,
)
from lancehead.lib.numpy.manip import broadcast_shapes
from lancehead.lib.numpy.selection import numbers_in
from lancehead.lib.numpy.sorting import argsort_line, sort


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """Numbers of the elements at indices of a shape, counted in row-major or column-major order.

    >>> np.ravel_multi_index((np.array([1, 0]), np.array([2, 1])), (2, 3))
    array([5, 1])
    """
    shape = as_ints(dims)
    parts = _rows_of(multi_index, shape) if not prim.is_tuple(multi_index) else multi_index
    if len(parts) != len(shape):
        raise ValueError("parameter multi_index must be a sequence of length " + str(len(shape)))
    _check_countable(shape)
    modes = mode if prim.is_tuple(mode) else prim.tuple_fill(len(shape), mode)
    total = new_zeros(_joint(parts), np.int64)
    if prim.order(order, "C", "CF") == "F":
        return _numbered(total, parts[::-1], shape[::-1], modes[::-1])[()]
    return _numbered(total, parts, shape, modes)[()]


def _rows_of(table, shape):
    # The rows of an array, as many as the shape has extents.
    x = asarray(table)
    if x.shape[0] != len(shape):
        raise ValueError("parameter multi_index must be a sequence of length " + str(len(shape)))
    return _rows(x, shape, 0)


def _rows(x, shape, k):
    if len(shape) == 0:
        return ()
    return (x[k],) + _rows(x, shape[1:], k + 1)


def _joint(parts):
    shape = ()
    for part in parts:
        shape = broadcast_shapes(shape, asarray(part).shape)
    return shape


def _check_countable(shape):
    total = 1
    for n in shape:
        if prim.mul_ovf(total, n):
            raise ValueError("invalid dims: array size defined by dims is larger than the maximum possible size.")
        total *= n


def _numbered(total, parts, shape, modes):
    if len(parts) > 0:
        at = numbers_in(asarray(parts[0]), shape[0], modes[0], "invalid entry in coordinates array")
        total *= shape[0]
        total += at
        return _numbered(total, parts[1:], shape[1:], modes[1:])
    return total


def unravel_index(indices, shape, order="C"):
    """Indices of the elements with these numbers in a shape: an array for each dimension.

    >>> np.unravel_index(np.array([5, 1]), (2, 3))
    (array([1, 0]), array([2, 1]))
    """
    x = indices if prim.is_scalar(indices) else asarray(indices)
    if not prim.is_int(prim.dtype_of(x)):
        prim.error("only int indices permitted")
    dims = as_ints(shape)
    if len(dims) == 0 and not prim.is_scalar(x) and asarray(x).ndim > 0:
        raise ValueError("multiple indices are not supported for 0d arrays")
    _check_countable(dims)
    _check_numbers(asarray(x), count(dims))
    if prim.order(order, "C", "CF") == "F":
        return _digits(x, dims[::-1])[::-1]
    return _digits(x, dims)


def _check_numbers(x, n):
    v = flat(x)
    for i in range(v.size):
        k = prim.item(v, i)
        if k < 0 or k >= n:
            raise ValueError("index " + str(k) + " is out of bounds for array with size " + str(n))


def _digits(x, dims):
    # The last dimension counts fastest.
    if len(dims) == 0:
        return ()
    if prim.is_array(x):
        if len(dims) == 1:
            return (copy_c(x, np.int64),)
        return _digits(prim.map(_quotient, x, dims[-1]), dims[:-1]) + (prim.map(_rest, x, dims[-1]),)
    if len(dims) == 1:
        return (prim.cast(x, np.int64),)
    return _digits(_quotient(x, dims[-1]), dims[:-1]) + (_rest(x, dims[-1]),)


def _quotient(x, n):
    return prim.sdiv(prim.cast(x, np.int64), prim.cast(n, np.int64))


def _rest(x, n):
    return prim.srem(prim.cast(x, np.int64), prim.cast(n, np.int64))


def lexsort(keys, axis=-1):
    """Indices that sort by several keys, the last one first; equal ones keep their order.

    >>> np.lexsort((np.array([1, 3, 2]), np.array([1, 1, 0])))
    array([2, 0, 1])
    """
    if isinstance(keys, list) and not prim.is_a(keys, "builtins.list"):
        return lexsort(unmixed(keys), axis)
    if prim.is_tuple(keys):
        parts = keys
    else:
        parts = keys if prim.is_a(keys, "builtins.list") else asarray(keys)
    if len(parts) == 0:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    first = asarray(parts[0])
    if first.ndim == 0:
        index_of(axis)
        return prim.cast(0, np.int64)
    k = check_axis(axis_of(axis), first.ndim)
    out = new_array(first.shape, np.int64)
    v = lanes(out, k)
    is_first = True
    for key in parts:
        x = asarray(key)
        if x.shape != first.shape:
            raise ValueError("all keys need to be the same shape")
        _sort_further(v, lanes(contiguous(x), k), is_first)
        is_first = False
    return out


def _sort_further(v, w, is_first):
    # Each line of indices is sorted by a key, stably.
    for i in range(v.shape[0]):
        for j in range(v.shape[2]):
            order, key = lane(v, i, j), lane(w, i, j)
            if is_first:
                copy_into(order, argsort_line(key))
                continue
            line, old = new_array((v.shape[1],), prim.dtype_of(w)), copy_c(order, np.int64)
            for m in range(v.shape[1]):
                prim.set_item(line, m, prim.item(key, prim.item(old, m)))
            found = argsort_line(line)
            for m in range(v.shape[1]):
                prim.set_item(order, m, prim.item(old, prim.item(found, m)))


def sort_complex(a):
    """A sorted copy of complex numbers, by real parts first.

    >>> np.sort_complex(np.array([5, 3, 6]))
    array([3.+0.j, 5.+0.j, 6.+0.j])
    """
    x = asarray(a)
    dtype = prim.dtype_of(x)
    c = sort(x)
    if prim.is_complex(dtype):
        return c
    return copy_c(c, np.complex64 if prim.is_int(dtype) and prim.itemsize(dtype) <= 2 else np.complex128)


def resize(a, new_shape):
    """The elements in another shape, repeated as often as it takes.

    >>> np.resize(np.array([1, 2, 3]), (2, 2))
    array([[1, 2],
           [3, 1]])
    """
    x = asarray(a)
    shape = as_ints(new_shape)
    for n in shape:
        if n < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
    v = flat(x)
    out = new_zeros(shape, prim.dtype_of(x))
    w = flat(out) if len(shape) != 1 else out
    if v.size > 0:
        k = 0
        for i in range(w.size):
            prim.set_item(w, i, prim.item(v, k))
            k = k + 1 if k + 1 < v.size else 0
    return out


def require(a, dtype=None, requirements=None):
    """The array, or a copy that has what is required: 'C', 'F', 'A', 'W', 'O' or 'E', or the long name of one.

    >>> np.require(np.ones((2, 2)).T, requirements="C").flags.c_contiguous
    True
    """
    if requirements is None:
        return asarray(a, dtype)
    if not prim.is_str(requirements):
        prim.error("`require` takes one requirement at a time, as a text: call it again for the next one")
    if requirements == "C" or requirements == "C_CONTIGUOUS" or requirements == "CONTIGUOUS":
        return asarray(a, dtype, "C")
    if requirements == "F" or requirements == "F_CONTIGUOUS" or requirements == "FORTRAN":
        return asarray(a, dtype, "F")
    if requirements == "O" or requirements == "OWNDATA":
        return array(a, dtype)
    if requirements == "W" or requirements == "WRITEABLE":
        x = asarray(a, dtype)
        return array(x) if prim.is_readonly(x) else x
    if requirements != "A" and requirements != "ALIGNED" and requirements != "E" and requirements != "ENSUREARRAY":
        prim.error("what is required is one of 'C', 'F', 'A', 'W', 'O' and 'E'")
    return asarray(a, dtype)
