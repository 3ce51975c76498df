"""Derivatives of the exponential of matrices (Mathias, A chain rule for matrix functions and applications, 1996)."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives.numpy.stacks import turned
from lancehead.lib.numpy.layout import copy_c
from lancehead.lib.scipy.exponential import expm


def expm_forward(A):
    """The exponential, and the matrix."""
    x = np.asarray(A)
    return expm(A), copy_c(x, prim.dtype_of(x))


def expm_backward(saved, adjoint, wanted, shadows):
    """The upper right block of the exponential of `[[A^H, adjoint], [0, A^H]]`."""
    n = saved.shape[-1]
    h = turned(saved)
    both = np.zeros(saved.shape[:-2] + (2 * n, 2 * n), prim.dtype_of(adjoint))
    both[..., :n, :n] = h
    both[..., n:, n:] = h
    both[..., :n, n:] = adjoint
    return (expm(both)[..., :n, n:],)
