"""Adjoints of what is reduced along axes."""

import numpy as np

from lancehead.lib import prim


def spread(adjoint, a, axis):
    """The adjoint of a reduction as a view in the shape of the array that was reduced."""
    if not prim.is_array(adjoint):
        return np.broadcast_to(adjoint, a.shape)
    if axis is None or adjoint.ndim == a.ndim:
        return np.broadcast_to(adjoint, a.shape)
    return np.broadcast_to(np.expand_dims(adjoint, axis), a.shape)
