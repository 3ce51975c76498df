"""Derivatives of sums and means."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives.numpy.axes import spread


def sum_forward(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The sum; nothing else is needed."""
    return np.sum(a, axis, dtype, out, keepdims, initial, where), None


def sum_backward(saved, adjoint, wanted, shadows):
    """Each element has the adjoint of its sum."""
    a, axis, where = shadows[0], shadows[1], shadows[6]
    given = spread(adjoint, a, axis)
    own = np.where(where, given, prim.cast(0, prim.dtype_of(given))) if prim.is_array(where) else given
    if shadows[5] is None:
        return (own,)
    return (own, None, None, None, None, np.sum(adjoint))


def sum_tangent(tangents, a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The sum of the tangents."""
    if out is not None:
        prim.error(out, "a sum with `out=` has no derivative")
    value = np.sum(a, axis, dtype, None, keepdims, initial, where)
    return value, np.sum(tangents[0], axis, dtype, None, keepdims, tangents[5], where)
