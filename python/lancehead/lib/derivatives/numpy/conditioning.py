"""Derivatives of pseudoinverses (Golub and Pereyra, The differentiation of pseudo-inverses, 1973)."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import along, fitted
from lancehead.lib.derivatives.numpy.stacks import turned
from lancehead.lib.numpy.conditioning import pinv
from lancehead.lib.numpy.layout import copy_c


def pinv_forward(a, rcond=None, hermitian=False, *, rtol="rcond"):
    """The pseudoinverse, twice, and the matrix."""
    if hermitian:
        prim.error("`pinv` with `hermitian=True` has no derivative: leave it out")
    x = np.asarray(a)
    found = pinv(a, rcond, hermitian, rtol=rtol)
    return found, (copy_c(x, prim.dtype_of(x)), np.copy(found))


def pinv_backward(saved, adjoint, wanted, shadows):
    """Those of the inverse, and two terms for the spaces that rows and columns do not span."""
    return (of_inverse(saved[0], saved[1], adjoint),)


def of_inverse(a, inverse, g):
    """The adjoint of matrices for one of their pseudoinverses."""
    h, t = turned(inverse), turned(g)
    own = -np.matmul(np.matmul(h, g), h)
    right = np.matmul(np.matmul(t, inverse), h)
    own = own + right - np.matmul(a, np.matmul(inverse, right))
    left = np.matmul(h, np.matmul(inverse, t))
    return own + left - np.matmul(np.matmul(left, inverse), a)


def pinv_tangent(wanted, tangents, a, rcond=None, hermitian=False, *, rtol="rcond"):
    """`-P dA P`, and two terms for the spaces that rows and columns do not span."""
    if hermitian:
        prim.error("`pinv` with `hermitian=True` has no derivative: leave it out")
    found = pinv(a, rcond, hermitian, rtol=rtol)
    return found, fitted(along_inverse(np.asarray(a), found, along(wanted & 1, tangents[0])), found)


def along_inverse(a, inverse, t):
    """The tangents of pseudoinverses for those of matrices."""
    h = turned(t)
    own = -np.matmul(np.matmul(inverse, t), inverse)
    right = np.matmul(np.matmul(inverse, turned(inverse)), h)
    left = np.matmul(h, np.matmul(turned(inverse), inverse))
    own = own + right - np.matmul(np.matmul(right, a), inverse)
    return own + left - np.matmul(inverse, np.matmul(a, left))
