"""Derivatives of quantiles. Those that are made of sorted lines are differentiated by their text."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import along, writable
from lancehead.lib.derivatives.numpy.sorting import places_between
from lancehead.lib.numpy.quantiles import _linear_line


def _linear_line_forward(v, q):
    """The quantile, the places of the two elements that it lies between, and how near it is to the second."""
    n = v.size
    at = q * float(n - 1)
    low, high = places_between(v, prim.cast(prim.floor(at), np.int64))
    rise = prim.cast(v[high] - v[low], prim.dtype_of(at)) * float(n - 1)
    return _linear_line(v, q), (low, high, at - prim.floor(at), rise)


def _linear_line_backward(saved, adjoint, wanted, shadows):
    """Parts of the adjoint go to the two elements."""
    low, high, t, rise = saved
    v = writable(shadows[0])
    if wanted & 1 != 0:
        v[low] += prim.cast(adjoint, prim.dtype_of(v)) * prim.cast(1.0 - t, prim.dtype_of(v))
        v[high] += prim.cast(adjoint, prim.dtype_of(v)) * prim.cast(t, prim.dtype_of(v))
    return None, prim.cast(adjoint, prim.dtype_of(rise)) * rise


def _linear_line_tangent(wanted, tangents, v, q):
    """Parts of the tangents of the two elements, and the rise between them times that of the place."""
    found, (low, high, part, rise) = _linear_line_forward(v, q)
    t, dtype = along(wanted & 1, tangents[0]), prim.dtype_of(found)
    own = prim.cast(t[low], dtype) * prim.cast(1.0 - part, dtype) + prim.cast(t[high], dtype) * prim.cast(part, dtype)
    return found, own + prim.cast(rise * along(wanted & 2, tangents[1]), dtype)
