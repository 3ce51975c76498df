"""Adjoints of what is reduced along axes, and of what is broadcast."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.axes import kept_shape
from lancehead.lib.numpy.layout import with_shape


def spread(adjoint, a, axis):
    """The adjoint of a reduction as a view in the shape of the array that was reduced."""
    if not prim.is_array(adjoint):
        return np.broadcast_to(adjoint, a.shape)
    if axis is None or adjoint.ndim == a.ndim:
        return np.broadcast_to(adjoint, a.shape)
    return np.broadcast_to(np.expand_dims(adjoint, axis), a.shape)


def spread_kept(adjoint, a, axis):
    """The adjoint of a reduction with extents of one along the axes; a number stays one."""
    if not prim.is_array(adjoint) or adjoint.ndim == a.ndim:
        return adjoint
    return with_shape(np.ascontiguousarray(adjoint), kept_shape(a, axis))


def of_table(table, a, axis):
    """The elements of a table of `numpy.axes.table_of` in the places that they have in the array."""
    if axis is None:
        return with_shape(table, a.shape)
    if not prim.is_tuple(axis):
        return of_table(table, a, (axis,))
    last = _last(axis)
    return np.moveaxis(with_shape(table, np.moveaxis(a, axis, last).shape), last, axis)


def _last(axis):
    return (-len(axis),) + _last(axis[1:]) if len(axis) > 0 else ()


def summed_to(adjoint, shape):
    """The adjoint of an array of a shape that has been broadcast: sums over the axes that were not there."""
    if adjoint.ndim > len(shape):
        return summed_to(np.asarray(np.sum(adjoint, axis=0)), shape)
    for k in range(len(shape)):
        if shape[k] == 1 and adjoint.shape[k] != 1:
            adjoint = _summed(adjoint, k)
    return adjoint


def _summed(adjoint, axis):
    return np.ascontiguousarray(np.sum(adjoint, axis=axis, keepdims=True))


def conj(x):
    """The conjugates of numbers of any type."""
    if prim.is_complex(prim.dtype_of(x)):
        return np.conj(x)
    return x


def no_out(out):
    """Refuses an array for the result: the result of a rule is new memory."""
    if out is not None:
        prim.error("this function has no derivative with `out=`: assign its result, `y[...] = f(x)`")
