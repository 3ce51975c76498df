"""Derivatives of linear systems and inverses of `scipy.linalg`."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import along, fitted
from lancehead.lib.derivatives.numpy.solving import of_solution
from lancehead.lib.derivatives.numpy.stacks import turned
from lancehead.lib.numpy.layout import copy_c
from lancehead.lib.scipy.systems import inv, solve


def solve_forward(
    a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None, transposed=False
):  # fmt: skip
    """The solution, the matrix, and the solution again."""
    if assume_a is not None or transposed:
        prim.error("`solve` with `assume_a` or `transposed` has no derivative: leave it out, and pass `a.T`")
    x, m = solve(a, b, check_finite=check_finite), np.asarray(a)
    return x, (copy_c(m, prim.dtype_of(m)), np.copy(x))


def solve_backward(saved, adjoint, wanted, shadows):
    """As that of `numpy.linalg.solve`."""
    return of_solution(saved[0], saved[1], adjoint, np.asarray(shadows[1]))


def inv_forward(a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    """The inverse, twice."""
    if assume_a is not None:
        prim.error("`inv` with `assume_a` has no derivative: leave it out")
    x = inv(a, check_finite=check_finite)
    return x, np.copy(x)


def inv_backward(saved, adjoint, wanted, shadows):
    """`-A^-H adjoint A^-H`."""
    h = turned(saved)
    return (-np.matmul(np.matmul(h, adjoint), h),)


def solve_tangent(
    wanted, tangents, a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None,
    transposed=False
):  # fmt: skip
    """As that of `numpy.linalg.solve`."""
    x, _ = solve_forward(a, b, lower, overwrite_a, overwrite_b, check_finite, assume_a, transposed)
    da, db = along(wanted & 1, tangents[0]), np.asarray(along(wanted & 2, tangents[1]))
    return x, fitted(np.linalg.solve(np.asarray(a), db - np.matmul(da, x)), x)


def inv_tangent(wanted, tangents, a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    """`-A^-1 dA A^-1`."""
    x, _ = inv_forward(a, overwrite_a, check_finite, assume_a=assume_a, lower=lower)
    return x, fitted(-np.matmul(np.matmul(x, along(wanted & 1, tangents[0])), x), x)
