"""Derivatives of powers of matrices."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives.numpy.stacks import turned
from lancehead.lib.numpy.chains import matrix_power
from lancehead.lib.numpy.layout import copy_c


def matrix_power_forward(a, n):
    """The power, the matrix, and the exponent."""
    x = np.asarray(a)
    return matrix_power(a, n), (copy_c(x, prim.dtype_of(x)), int(n))


def matrix_power_backward(saved, adjoint, wanted, shadows):
    """The sum of `H^k adjoint H^(n-1-k)` with `H = A^H`, by doubling the number of terms."""
    a, n = saved
    g = np.ascontiguousarray(adjoint)
    if n >= 0:
        return (_terms(np.ascontiguousarray(turned(a)), g, n),)
    h = np.ascontiguousarray(turned(np.linalg.inv(a)))
    return (-np.matmul(np.matmul(h, _terms(h, g, -n)), h),)


def _terms(h, g, n):
    # Of the leading binary digits of `n` so far: the sum, and the power.
    total, power = np.zeros_like(g), np.zeros_like(g)
    power[...] = np.eye(g.shape[-1], dtype=prim.dtype_of(g))
    digit = 1
    while digit <= n // 2:
        digit *= 2
    while digit > 0:
        total = np.matmul(power, total) + np.matmul(total, power)
        power = np.matmul(power, power)
        if n & digit != 0:
            total = np.matmul(h, total) + np.matmul(g, power)
            power = np.matmul(h, power)
        digit = digit // 2
    return total
