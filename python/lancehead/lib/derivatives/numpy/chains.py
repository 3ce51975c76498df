"""Derivatives of powers and of products of several matrices."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import along, fitted
from lancehead.lib.derivatives.numpy.axes import conj, no_out
from lancehead.lib.derivatives.numpy.stacks import turned
from lancehead.lib.numpy.chains import matrix_power, multi_dot
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


def multi_dot_forward(arrays, *, out=None):
    """The product, and copies of all operands."""
    no_out(out)
    if not prim.is_tuple(arrays):
        prim.error("the product of a list of matrices has no derivative: give a tuple")
    return multi_dot(arrays, out=out), _copies(arrays)


def _copies(arrays):
    if len(arrays) == 0:
        return ()
    x = np.asarray(arrays[0])
    return (copy_c(x, prim.dtype_of(x)),) + _copies(arrays[1:])


def multi_dot_backward(saved, adjoint, wanted, shadows):
    """That of the first operand is the adjoint times all others; those of the others follow from `A^H adjoint`."""
    return (_of_chain(saved, adjoint),)


def _of_chain(arrays, g):
    if len(arrays) == 1:
        return (g,)
    first, rest = arrays[0], _product(arrays[1:])
    if first.ndim == 1 and rest.ndim == 1:
        return (g * conj(rest),) + _of_chain(arrays[1:], g * conj(first))
    if first.ndim == 1:
        return (np.dot(conj(rest), g),) + _of_chain(arrays[1:], conj(first)[:, None] * g)
    if rest.ndim == 1:
        return (g[:, None] * conj(rest),) + _of_chain(arrays[1:], np.dot(turned(first), g))
    return (np.dot(g, turned(rest)),) + _of_chain(arrays[1:], np.dot(turned(first), g))


def _product(arrays):
    return arrays[0] if len(arrays) == 1 else np.dot(arrays[0], _product(arrays[1:]))


def matrix_power_tangent(wanted, tangents, a, n):
    """The sum of `A^k dA A^(n-1-k)`; of negative powers that of the inverse."""
    found, (x, exponent) = matrix_power_forward(a, n)
    t = np.ascontiguousarray(along(wanted & 1, tangents[0]))
    if exponent >= 0:
        return found, fitted(_terms(x, t, exponent), found)
    inverse = np.ascontiguousarray(np.linalg.inv(x))
    change = np.ascontiguousarray(-np.matmul(np.matmul(inverse, t), inverse))
    return found, fitted(_terms(inverse, change, -exponent), found)


def multi_dot_tangent(wanted, tangents, arrays, *, out=None):
    """The sum of the products in which the tangent of one operand stands for it."""
    found, copies = multi_dot_forward(arrays, out=out)
    return found, fitted(_along_chain(copies, along(wanted & 1, tangents[0])), found)


def _along_chain(arrays, tangents):
    if len(arrays) == 1:
        return np.asarray(tangents[0])
    rest, change = _product(arrays[1:]), _along_chain(arrays[1:], tangents[1:])
    return np.dot(np.asarray(tangents[0]), rest) + np.dot(arrays[0], change)
