"""Derivatives of products of vectors and matrices.

Of `C = A B` they are `adjoint(C) B^H` and `A^H adjoint(C)` (Giles, Collected matrix derivative results, 2008).
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import along, writable
from lancehead.lib.derivatives.numpy.axes import conj, summed_to
from lancehead.lib.numpy.layout import copy_c
from lancehead.lib.numpy.products import _matrix_product, _stacked


def _matrix_product_kept(lasting, x, y, dtype):
    """The product of vectors and matrices, and both of them: copies, unless they stay what they are."""
    return _matrix_product(x, y, dtype), (_kept(lasting & 1, x), _kept(lasting & 2, y))


def _kept(lasting, x):
    if prim.layout(x) == "C" and not prim.is_readonly(x) and lasting != 0:
        return x
    return copy_c(x, prim.dtype_of(x))


def _matrix_product_backward(saved, adjoint, wanted, shadows):
    """Products of the adjoint and the other operand."""
    x, y = saved
    if x.ndim == 1 and y.ndim == 1:
        return adjoint * conj(y), adjoint * conj(x)
    if x.ndim == 1:
        return _if(wanted & 1, _left_of_vector, adjoint, y, x), _outer(wanted & 2, shadows[1], conj(x), adjoint, y)
    if y.ndim == 1:
        return _outer(wanted & 1, shadows[0], adjoint, conj(y), x), _if(wanted & 2, _left_of_vector, adjoint, x.T, y)
    return _if(wanted & 1, _times_right, adjoint, y, x), _if(wanted & 2, _times_left, x, adjoint, y)


def _if(wanted, f, a, b, like):
    # The product, or no elements' worth of work if nobody wants it.
    dtype = prim.result_type(prim.dtype_of(a), prim.dtype_of(b))
    return f(a, b) if wanted != 0 else np.broadcast_to(prim.cast(0, dtype), like.shape)


def _left_of_vector(g, y):
    return np.dot(conj(y), g)


def _outer(wanted, shadow, a, b, like):
    # The outer product is added to its place at once, where it has the type of that.
    if shadow is None:
        return None
    if prim.layout(shadow) == "A" or not (_is_real(shadow) and _is_real(a) and _is_real(b)):
        return _if(wanted, _column_times_row, a, b, like)
    if wanted != 0:
        own = writable(shadow)
        own[...] += a[:, None] * b
    return None


def _is_real(x):
    return prim.is_float(prim.dtype_of(x))


def _column_times_row(a, b):
    return a[:, None] * b


def _times_right(g, y):
    return np.dot(g, conj(y).T)


def _times_left(x, g):
    return np.dot(conj(x).T, g)


def _stacked_kept(lasting, x, y, dtype):
    """Products of the matrices of two stacks, and both of them: copies, unless they stay what they are."""
    return _stacked(x, y, dtype), (_kept(lasting & 1, x), _kept(lasting & 2, y))


def _stacked_backward(saved, adjoint, wanted, shadows):
    """Products of the adjoint and the other operand, summed where one goes with several."""
    x, y = saved
    left = summed_to(np.matmul(adjoint, conj(y).swapaxes(-1, -2)), x.shape)
    return left, summed_to(np.matmul(conj(x).swapaxes(-1, -2), adjoint), y.shape)


def _matrix_product_tangent(wanted, tangents, x, y, dtype):
    """The product of one tangent and the other operand, for each."""
    t, u = along(wanted & 1, tangents[0]), along(wanted & 2, tangents[1])
    return _matrix_product(x, y, dtype), _matrix_product(t, y, dtype) + _matrix_product(x, u, dtype)


def _stacked_tangent(wanted, tangents, x, y, dtype):
    """The products of one tangent and the other operand, for each."""
    t, u = along(wanted & 1, tangents[0]), along(wanted & 2, tangents[1])
    return _stacked(x, y, dtype), _stacked(t, y, dtype) + _stacked(x, u, dtype)
