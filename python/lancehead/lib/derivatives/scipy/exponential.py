"""Derivatives of the exponential of matrices (Mathias, A chain rule for matrix functions and applications, 1996)."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import along, fitted
from lancehead.lib.derivatives.numpy.stacks import turned
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import copy_c
from lancehead.lib.scipy.exponential import expm


def expm_forward(A):
    """The exponential, and the matrix."""
    x = np.asarray(A)
    return expm(A), copy_c(x, prim.dtype_of(x))


def expm_backward(saved, adjoint, wanted, shadows):
    """The upper right block of the exponential of `[[A^H, adjoint], [0, A^H]]`."""
    return (_corner(turned(saved), adjoint),)


def _corner(a, t):
    n = a.shape[-1]
    both = np.zeros(a.shape[:-2] + (2 * n, 2 * n), prim.dtype_of(t))
    both[..., :n, :n] = a
    both[..., n:, n:] = a
    both[..., :n, n:] = t
    return expm(both)[..., :n, n:]


def expm_tangent(wanted, tangents, A):
    """The upper right block of the exponential of `[[A, dA], [0, A]]`."""
    found = expm(A)
    x = asarray(A, prim.dtype_of(found))
    return found, fitted(_corner(x, asarray(along(wanted & 1, tangents[0]), prim.dtype_of(found))), found)
