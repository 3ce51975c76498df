"""Derivatives of selections by indices: adjoints go back to the places that elements came from."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import along, fitted
from lancehead.lib.derivatives.numpy.axes import summed_to
from lancehead.lib.numpy.indexing import take_along_axis
from lancehead.lib.numpy.layout import check_axis, copy_c, flat, lanes, new_zeros


def take_along_axis_forward(arr, indices, axis=-1):
    """The elements, and their places."""
    at = np.asarray(indices)
    return take_along_axis(arr, indices, axis), copy_c(at, np.int64)


def take_along_axis_backward(saved, adjoint, wanted, shadows):
    """Sums of the adjoints of elements of one place."""
    a, axis = np.asarray(shadows[0]), shadows[2]
    out = new_zeros(a.shape, prim.dtype_of(adjoint))
    if axis is None:
        line = flat(out)
        for i in range(saved.size):
            line[saved[i]] += adjoint[i]
        return (out,)
    k = check_axis(axis, a.ndim)
    g = copy_c(adjoint, prim.dtype_of(adjoint))
    at = copy_c(np.broadcast_to(saved, prim.tuple_set(g.shape, k, saved.shape[k])), np.int64)
    # Elements of other dimensions that are broadcast go to one place, too.
    wide = new_zeros(prim.tuple_set(g.shape, k, a.shape[k]), prim.dtype_of(adjoint))
    v, w, places = lanes(wide, k), lanes(g, k), lanes(at, k)
    for i in range(w.shape[0]):
        for m in range(w.shape[1]):
            for j in range(w.shape[2]):
                v[i, places[i, m, j], j] += w[i, m, j]
    return (summed_to(wide, a.shape),)


def take_along_axis_tangent(wanted, tangents, arr, indices, axis=-1):
    """The tangents of the elements."""
    found = take_along_axis(arr, indices, axis)
    return found, fitted(take_along_axis(np.asarray(along(wanted & 1, tangents[0])), indices, axis), found)
