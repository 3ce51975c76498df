"""Matrices in the last two axes, for derivatives of linear algebra."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives.numpy.axes import conj


def turned(a):
    """The conjugate transposes of matrices."""
    return conj(np.swapaxes(a, -1, -2))


def lower(a):
    """The triangles below the diagonals, which are halved, of matrices."""
    out = np.copy(a)
    half = prim.cast(0.5, prim.dtype_of(a))
    stack = out.reshape((-1, a.shape[-2], a.shape[-1])) if a.size > 0 else out.reshape((0, 1, 1))
    for k in range(stack.shape[0]):
        for i in range(stack.shape[1]):
            stack[k, i, i] *= half
            for j in range(i + 1, stack.shape[2]):
                stack[k, i, j] = prim.cast(0, prim.dtype_of(a))
    return out


def diagonals(values):
    """Diagonal matrices."""
    return values[..., None, :] * np.eye(values.shape[-1], dtype=prim.dtype_of(values))


def reciprocals_of_differences(values):
    """Matrices of `1 / (values[j] - values[i])`, with zeros where values are equal."""
    zero, one = prim.cast(0, prim.dtype_of(values)), prim.cast(1, prim.dtype_of(values))
    d = values[..., None, :] - values[..., :, None]
    return np.where(d == zero, zero, one / np.where(d == zero, one, d))
