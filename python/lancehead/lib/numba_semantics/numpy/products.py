"""Products of vectors and matrices as Numba has them: which arrays they take, and their texts of errors."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.creation import asarray


def _check(a, b, text, name):
    # Refuses operands that Numba does not multiply.
    x, y = asarray(a), asarray(b)
    if x.ndim > 0 and y.ndim > 0 and prim.dtype_of(x) != prim.dtype_of(y):
        prim.error(name + " arguments must all have the same dtype")
    if 1 <= x.ndim <= 2 and 1 <= y.ndim <= 2:
        if x.shape[-1] != y.shape[y.ndim - 2 if y.ndim == 2 else 0]:
            raise ValueError("incompatible array sizes for " + text)


def dot(a, b, out=None):
    _check(a, b, "np.dot(a, b)", "np.dot()")
    return np.dot(a, b, out)


def matmul(a, b, /, out=None):
    _check(a, b, "'@'", "'@'")
    return np.matmul(a, b, out)


def vdot(a, b):
    _check(a, b, "np.vdot(a, b)", "np.vdot()")
    return np.vdot(a, b)


def _check_flat(a, name):
    if prim.is_array(a):
        if a.ndim > 2:
            prim.error("np.linalg." + name + "() only supported on 1 and 2-D arrays")


def kron(a, b):
    _check_flat(a, "kron")
    _check_flat(b, "kron")
    if prim.layout(asarray(a)) == "A" or prim.layout(asarray(b)) == "A":
        prim.error("np.linalg.kron() only supports 'C' or 'F' layout of arrays")
    return np.kron(a, b)


def outer(a, b, out=None):
    _check_flat(a, "outer")
    _check_flat(b, "outer")
    return np.outer(a, b, out)


def trace(a, offset=0):
    if asarray(a).ndim != 2:
        prim.error("np.trace() only supported on 2-D arrays")
    return np.trace(a, offset)
