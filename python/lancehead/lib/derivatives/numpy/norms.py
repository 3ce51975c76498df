"""Derivatives of norms, which are zero where the norm is."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import along
from lancehead.lib.numpy.layout import copy_c
from lancehead.lib.numpy.norms import _line_norm, euclidean


def euclidean_forward(v, dtype):
    """The norm, twice, and the elements."""
    found = euclidean(v, dtype)
    return found, (copy_c(v, prim.dtype_of(v)), found)


def euclidean_backward(saved, adjoint, wanted, shadows):
    """The adjoint times the vector of length one."""
    v, size = saved
    return (_along_euclidean(v, size, adjoint),)


def _line_norm_forward(v, ord, dtype):
    """The norm, twice, and the elements."""
    found = _line_norm(v, ord, dtype)
    return found, (copy_c(v, prim.dtype_of(v)), found)


def _line_norm_backward(saved, adjoint, wanted, shadows):
    """Of order `p`: the directions of the elements times `r ** (p - 1)` with `r = |x| / norm`, and that with respect to
    the order, `norm / p` times the sum of `r ** p log(r)`."""
    v, size = saved
    if shadows[1] is None:
        return (_along_euclidean(v, size, adjoint),)
    return _along_norm(v, size, shadows[1], adjoint)


def _along_euclidean(v, size, g):
    return v * (g / size if size != 0.0 else g * 0.0)


def _along_norm(v, size, ord, adjoint):
    own = np.empty(v.shape, prim.dtype_of(v))
    p = prim.cast(ord, prim.dtype_of(size))
    if size == 0.0 or p == 0.0:
        own[...] = v * (adjoint * 0.0)
        return own, adjoint * 0.0
    is_extreme = prim.isinf(p)
    shared, logarithms = _number_of(v, size), adjoint * 0.0
    for i in range(v.size):
        x = abs(v[i])
        g = adjoint * 0.0
        if x == 0.0:
            own[i] = v[i] * g
            continue
        if is_extreme:
            g = adjoint / shared if x == size else g
        else:
            ratio = x / size
            g = adjoint * ratio ** (p - 1.0)
            logarithms += ratio**p * prim.log(ratio)
        own[i] = v[i] * (g / x)
    return own, adjoint * logarithms * size / p


def _number_of(v, size):
    n = prim.cast(0, prim.dtype_of(size))
    for i in range(v.size):
        if abs(v[i]) == size:
            n += prim.cast(1, prim.dtype_of(size))
    return n


def euclidean_tangent(wanted, tangents, v, dtype):
    """The product with the vector of length one; of zeros, zero."""
    size = euclidean(v, dtype)
    t = along(wanted & 1, tangents[0])
    along_v = np.sum((np.conj(v) * t).real)
    return size, along_v / size if size != 0.0 else along_v * 0.0


def _line_norm_tangent(wanted, tangents, v, ord, dtype):
    """The product with the derivative, and that of the order."""
    size = _line_norm(v, ord, dtype)
    one = prim.cast(1, prim.dtype_of(size))
    t = along(wanted & 1, tangents[0])
    if ord is None:
        return size, _product(_along_euclidean(v, size, one), t, dtype)
    own, of_ord = _along_norm(v, size, ord, one)
    total = _product(own, t, dtype)
    if prim.is_float(prim.dtype_of(ord)):
        total += of_ord * prim.cast(along(wanted & 2, tangents[1]), prim.dtype_of(size))
    return size, total


def _product(own, t, dtype):
    # An element without a slope may have an infinite tangent.
    zero = prim.cast(0, prim.dtype_of(own))
    return prim.cast(np.sum(np.where(own != zero, np.conj(own) * t, zero).real), dtype)
