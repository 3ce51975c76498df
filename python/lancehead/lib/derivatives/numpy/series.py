"""Derivatives of convolutions: correlations of the adjoint and the other operand."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.layout import copy_c
from lancehead.lib.numpy.series import _convolved


def _convolved_forward(x, y, mode, same_start):
    """The convolution, copies of both operands, and where its elements lie among all."""
    found = _convolved(x, y, mode, same_start)
    longest = x.size if x.size > y.size else y.size
    shortest = x.size + y.size - longest
    start = same_start if mode == "same" else shortest - 1 if mode == "valid" else 0
    return found, (copy_c(x, prim.dtype_of(x)), copy_c(y, prim.dtype_of(y)), start)


def _convolved_backward(saved, adjoint, wanted, shadows):
    """Correlations."""
    x, y, start = saved
    whole = np.zeros(x.size + y.size - 1, prim.dtype_of(adjoint))
    whole[start : start + adjoint.size] = adjoint
    return np.correlate(whole, y, "valid"), np.correlate(whole, x, "valid")
