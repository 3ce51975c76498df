"""Derivatives of triangular systems and Cholesky's factors of `scipy.linalg`."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import along, fitted
from lancehead.lib.derivatives.numpy.axes import conj, summed_to
from lancehead.lib.derivatives.numpy.solving import along_factor, of_factor
from lancehead.lib.derivatives.numpy.stacks import turned
from lancehead.lib.numpy.layout import copy_c
from lancehead.lib.scipy.triangular import _cholesky, _kind_of_system, cho_solve, solve_triangular


def solve_triangular_forward(
    a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True
):  # fmt: skip
    """The solution, the matrix, the solution again, and how it was made."""
    x = solve_triangular(a, b, trans, lower, unit_diagonal, overwrite_b, check_finite)
    m = np.asarray(a)
    how = (_kind_of_system(trans), 1 if lower else 0, 1 if unit_diagonal else 0)
    return x, (copy_c(m, prim.dtype_of(m)), np.copy(x), how)


def solve_triangular_backward(saved, adjoint, wanted, shadows):
    """Those of a linear system, of the elements of the triangle."""
    a, x, how = saved
    kind, is_lower, is_unit = how
    b = np.asarray(shadows[1])
    # Of the adjoint system with the transpose, the matrix is conjugated.
    m = conj(a) if kind == 1 else a
    g = solve_triangular(m, adjoint, 2 if kind == 0 else 0, is_lower != 0, is_unit != 0, False, False)
    if b.ndim == 1:
        own = -g[..., :, None] * conj(x)[..., None, :]
    else:
        own = -np.matmul(g, turned(x))
    if kind == 1:
        own = np.swapaxes(own, -1, -2)
    elif kind == 2:
        own = turned(own)
    return summed_to(_triangle(own, is_lower != 0, is_unit != 0), a.shape), summed_to(g, b.shape)


def _triangle(a, lower, without_diagonal):
    k = 1 if without_diagonal else 0
    return np.tril(a, -k) if lower else np.triu(a, k)


def _cholesky_forward(a, lower, check_finite):
    """The factor over its triangle of the matrix, the factor alone, and whether it is the lower one."""
    x = _cholesky(a, lower, check_finite)
    return x, (_triangle(x, True if lower else False, False), 1 if lower else 0)


def _cholesky_backward(saved, adjoint, wanted, shadows):
    """That of `numpy.linalg.cholesky`, and the adjoint itself in the other triangle, which is a copy."""
    factor, is_lower = saved
    a = np.asarray(shadows[0])
    g = _triangle(adjoint, is_lower != 0, False)
    rest = adjoint - g
    if is_lower != 0:
        return ((of_factor(factor, g) + rest).reshape(a.shape),)
    return ((of_factor(np.ascontiguousarray(turned(factor)), turned(g)) + rest).reshape(a.shape),)


def cho_solve_forward(c_and_lower, b, overwrite_b=False, check_finite=True):
    """The solution, the factor alone, the solution again, and whether the factor is the lower one."""
    x = cho_solve(c_and_lower, b, overwrite_b, check_finite)
    is_lower = True if c_and_lower[1] else False
    factor = _triangle(np.asarray(c_and_lower[0]), is_lower, False)
    return x, (factor, np.copy(x), is_lower)


def cho_solve_backward(saved, adjoint, wanted, shadows):
    """Those of the system, whose matrix `L L^H` or `U^H U` passes on to the factor."""
    factor, x, is_lower = saved
    b = np.asarray(shadows[1])
    g = cho_solve((factor, is_lower), adjoint, False, False)
    if b.ndim == 1:
        own = -g[..., :, None] * conj(x)[..., None, :]
    else:
        own = -np.matmul(g, turned(x))
    both = own + turned(own)
    if is_lower:
        of_c = np.tril(np.matmul(both, factor))
    else:
        of_c = np.triu(np.matmul(factor, both))
    return (summed_to(of_c, factor.shape), None), summed_to(g, b.shape)


def solve_triangular_tangent(
    wanted, tangents, a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True
):  # fmt: skip
    """The solution for `db - dT x`, with the triangle `T` as the system has it."""
    x, (m, _, (kind, is_lower, is_unit)) = solve_triangular_forward(
        a, b, trans, lower, unit_diagonal, overwrite_b, check_finite
    )
    t = _triangle(along(wanted & 1, tangents[0]), is_lower != 0, is_unit != 0)
    if kind == 1:
        t = np.swapaxes(t, -1, -2)
    elif kind == 2:
        t = turned(t)
    change = along(wanted & 2, tangents[1]) - np.matmul(t, x)
    return x, fitted(solve_triangular(m, change, kind, is_lower != 0, is_unit != 0, False, False), x)


def _cholesky_tangent(wanted, tangents, a, lower, check_finite):
    """That of `numpy.linalg.cholesky`, and the tangent itself in the other triangle, which is a copy."""
    x, (factor, is_lower) = _cholesky_forward(a, lower, check_finite)
    t = np.asarray(along(wanted & 1, tangents[0])).reshape(factor.shape)
    rest = t - _triangle(t, is_lower != 0, False)
    if is_lower != 0:
        return x, fitted(along_factor(factor, t) + rest, x)
    return x, fitted(turned(along_factor(np.ascontiguousarray(turned(factor)), t)) + rest, x)


def cho_solve_tangent(wanted, tangents, c_and_lower, b, overwrite_b=False, check_finite=True):
    """The solution for `db - dA x`, with `dA` that of the product of the factors."""
    x, (factor, _, is_lower) = cho_solve_forward(c_and_lower, b, overwrite_b, check_finite)
    t = _triangle(along(wanted & 1, tangents[0])[0], is_lower, False)
    half = np.matmul(t, turned(factor)) if is_lower else np.matmul(turned(factor), t)
    change = along(wanted & 2, tangents[1]) - np.matmul(half + turned(half), x)
    return x, fitted(cho_solve((factor, is_lower), change, False, False), x)
