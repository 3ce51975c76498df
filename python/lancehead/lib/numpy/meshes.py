"""Coordinate arrays, slopes along axes, and differences with what stands at the ends."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of, flag_of, index_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import (
    check_axis,
    contiguous,
    copy_into,
    flat,
    lane,
    lanes,
    new_array,
    with_shape,
)
from lancehead.lib.numpy.manip import broadcast_to
from lancehead.lib.numpy.reductions import complex_over, mean_dtype


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Coordinate arrays of vectors: each has the numbers of one vector along its dimension.

    >>> np.meshgrid(np.array([1, 2]), np.array([3, 4]))
    (array([[1, 2],
           [1, 2]]), array([[3, 3],
           [4, 4]]))
    """
    if indexing != "xy" and indexing != "ij":
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    # The first two dimensions change places for `xy`.
    swaps = indexing == "xy" and len(xi) > 1
    ones = prim.tuple_fill(len(xi), 1)
    opened = _opened(xi, ones, swaps, 0)
    copies = flag_of(copy)
    if sparse:
        return _copied(opened) if copies else opened
    return _spread(opened, _shape_of(opened, ones), copies)


def _opened(xi, ones, swaps, k):
    if len(xi) == 0:
        return ()
    line = contiguous(flat(asarray(xi[0])))
    at = 1 - k if swaps and k < 2 else k
    return (with_shape(line, prim.tuple_set(ones, at, line.size)),) + _opened(xi[1:], ones, swaps, k + 1)


def _shape_of(opened, shape):
    # Every dimension has the extent of the one array that is not of extent one along it.
    if len(opened) == 0:
        return shape
    own = opened[0].shape
    for k in range(len(shape)):
        if own[k] != 1:
            shape = prim.tuple_set(shape, k, own[k])
    return _shape_of(opened[1:], shape)


def _copied(arrays):
    if len(arrays) == 0:
        return ()
    return (arrays[0].copy(),) + _copied(arrays[1:])


def _spread(arrays, shape, copy):
    if len(arrays) == 0:
        return ()
    wide = broadcast_to(arrays[0], shape)
    if not copy:
        return (wide,) + _spread(arrays[1:], shape, copy)
    out = new_array(shape, prim.dtype_of(wide))
    copy_into(out, wide)
    return (out,) + _spread(arrays[1:], shape, copy)


def _over(x, y):
    # A quotient by a real number, as NumPy has it for zero.
    if prim.is_complex(x):
        return complex_over(x.real, x.imag, y.real)
    return prim.fdiv(x, y)


def gradient(f, *varargs, axis=None, edge_order=1):
    """Slopes along each axis, by central differences inside and one-sided ones at the ends.

    >>> np.gradient(np.array([1.0, 2.0, 4.0, 7.0]))
    array([1. , 1.5, 2.5, 3. ])
    >>> np.gradient(np.array([[1.0, 2.0], [4.0, 7.0]]), axis=1)
    array([[1., 1.],
           [3., 3.]])
    """
    y = asarray(f)
    if prim.is_bool(prim.dtype_of(y)):
        prim.error("truth values have no differences")
    if y.ndim == 0:
        prim.error("slopes are of arrays of at least one dimension")
    order = index_of(edge_order)
    if order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if axis is None:
        spacings = _spacings(varargs, prim.tuple_fill(y.ndim, 0))
        found = _slopes_of_all(y, spacings, order, 0)
        return found[0] if y.ndim == 1 else found
    if prim.is_tuple(prim.sized(axis)):
        return _slopes_of(y, axis, _spacings(varargs, axis), order)
    return _slopes(y, axis, _spacings(varargs, (axis,))[0], order)


def _spacings(varargs, axes):
    # One for each axis: a number, or the places of the points.
    if len(varargs) == 0:
        return prim.tuple_fill(len(axes), 1.0)
    if len(varargs) == 1 and prim.is_scalar(varargs[0]):
        return prim.tuple_fill(len(axes), varargs[0])
    if len(varargs) != len(axes):
        raise TypeError("invalid number of arguments")
    return varargs


def _slopes_of_all(y, spacings, order, k):
    if len(spacings) == 0:
        return ()
    return (_slopes(y, k, spacings[0], order),) + _slopes_of_all(y, spacings[1:], order, k + 1)


def _slopes_of(y, axes, spacings, order):
    if len(axes) == 0:
        return ()
    return (_slopes(y, axes[0], spacings[0], order),) + _slopes_of(y, axes[1:], spacings[1:], order)


def _slopes(y, axis, spacing, order):
    k = check_axis(axis_of(axis), y.ndim)
    dtype = mean_dtype(prim.dtype_of(y))
    v = lanes(y, k)
    n = v.shape[1]
    if n < order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
            "required."
        )
    if order < 1 and n < 3:
        raise IndexError("index is out of bounds: the slopes at the ends need three elements")
    out = new_array(y.shape, dtype)
    w = lanes(out, k)
    d = _widths(spacing, n, prim.real_dtype(dtype))
    for i in range(v.shape[0]):
        for j in range(v.shape[2]):
            _slope_line(lane(v, i, j), lane(w, i, j), d, order)
    return out


def _widths(spacing, n, dtype):
    # The distances of neighbours, or one number if all are equal.
    if prim.is_scalar(spacing):
        return np.full(1, spacing, dtype)
    x = asarray(spacing)
    if x.ndim == 0:
        return np.full(1, x[()], dtype)
    if x.ndim != 1:
        raise ValueError("distances must be either scalars or 1d")
    if x.size != n:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    d = np.diff(asarray(x, np.float64))
    if np.all(d == d[0]):
        d = d[:1]
    return d.astype(dtype)


def _slope_line(v, w, d, order):
    n = v.size
    dtype = prim.dtype_of(w)
    even = d.size == 1
    for i in range(1, n - 1):
        before, at, after = _at(v, i - 1, dtype), _at(v, i, dtype), _at(v, i + 1, dtype)
        if even:
            h = prim.item(d, 0)
            prim.set_item(w, i, _over(after - before, h + h))
        else:
            p, q = prim.item(d, i - 1), prim.item(d, i)
            prim.set_item(w, i, -q / (p * (p + q)) * before + (q - p) / (p * q) * at + p / (q * (p + q)) * after)
    p, q = prim.item(d, 0), prim.item(d, d.size - 1)
    if order == 1:
        prim.set_item(w, 0, _over(_at(v, 1, dtype) - _at(v, 0, dtype), p))
        prim.set_item(w, n - 1, _over(_at(v, n - 1, dtype) - _at(v, n - 2, dtype), q))
    else:
        second, last = (p, q) if even else (prim.item(d, 1), prim.item(d, d.size - 2))
        prim.set_item(w, 0, _one_sided(_at(v, 0, dtype), _at(v, 1, dtype), _at(v, 2, dtype), p, second))
        back = _one_sided(_at(v, n - 1, dtype), _at(v, n - 2, dtype), _at(v, n - 3, dtype), q, last)
        prim.set_item(w, n - 1, -back)


def _at(v, i, dtype):
    return prim.cast(prim.item(v, i), dtype)


def _one_sided(a, b, c, p, q):
    # The slope at the first of three points of these distances.
    return -(p + p + q) / (p * (p + q)) * a + (p + q) / (p * q) * b - p / (q * (p + q)) * c
