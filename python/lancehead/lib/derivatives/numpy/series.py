"""Derivatives of interpolations, and of convolutions: correlations of the adjoint and the other operand."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.layout import copy_c
from lancehead.lib.numpy.series import _convolved


def _interpolated_text(x, i, xp, fp, left, right):
    """The value without the case for the points themselves: there the slope is that to the right."""
    n = xp.size
    if x != x and n > 1:
        return x
    if i < 0:
        return prim.item(fp, 0) if left is None else prim.cast(left, np.float64)
    if i >= n - 1:
        beyond = x > prim.item(xp, n - 1)
        return prim.cast(right, np.float64) if beyond and right is not None else prim.item(fp, n - 1)
    slope = prim.fdiv(prim.item(fp, i + 1) - prim.item(fp, i), prim.item(xp, i + 1) - prim.item(xp, i))
    y = slope * (x - prim.item(xp, i)) + prim.item(fp, i)
    if y != y and prim.item(xp, i) != x:
        y = slope * (x - prim.item(xp, i + 1)) + prim.item(fp, i + 1)
    if y != y and (prim.item(xp, i) == x or prim.item(fp, i) == prim.item(fp, i + 1)):
        y = prim.item(fp, i)
    return y


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
