"""Arrays from numbers, and of triangles and diagonals, as Numba has them."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.checks import check, need, need_array_like
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.manip import each


def tri(N, M=None, k=0, dtype=None):
    need(prim.is_int(k), "k must be an integer")
    return np.tri(N, M, k, dtype)


def tril(m, k=0):
    need(prim.is_int(k), "k must be an integer")
    return np.tril(m, k)


def triu(m, k=0):
    need(prim.is_int(k), "k must be an integer")
    return np.triu(m, k)


def tril_indices(n, k=0, m=None):
    need(prim.is_int(n) and prim.is_int(k) and not prim.is_bool(m), "the arguments must be integers")
    return np.tril_indices(n, k, m)


def triu_indices(n, k=0, m=None):
    need(prim.is_int(n) and prim.is_int(k) and not prim.is_bool(m), "the arguments must be integers")
    return np.triu_indices(n, k, m)


def tril_indices_from(arr, k=0):
    need(prim.is_int(k), "k must be an integer")
    return np.tril_indices_from(arr, k)


def triu_indices_from(arr, k=0):
    need(prim.is_int(k), "k must be an integer")
    return np.triu_indices_from(arr, k)


def vander(x, N=None, increasing=False):
    if N is not None:
        need(prim.is_int(N), "Second argument N must be None or an integer")
    need(not prim.is_number(x), "powers are those of an array or a sequence")
    if asarray(x).ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    check(N is None or N >= 0, "Negative dimensions are not allowed")
    return np.vander(x, N, increasing)


def broadcast_arrays(*args):
    for array in args:
        need_array_like(array, "an argument must be array-like")
        need(prim.dtype_of(asarray(array)) == prim.dtype_of(asarray(args[0])), "Mismatch of argument types.")
    return np.broadcast_arrays(*each(_at_least_one, args))


def _at_least_one(x):
    return asarray(x).reshape(1) if prim.is_number(x) else asarray(x)


def diag(v, k=0):
    need(1 <= asarray(v).ndim <= 2, "Input must be 1- or 2-d.")
    return np.diag(v, k)


def kaiser(M, beta):
    need(prim.is_int(M), "M must be an integer")
    return np.kaiser(M, beta)


def _wide(x):
    # Ends are doubles, or complex numbers of two.
    return prim.cast(x, np.complex128 if prim.is_complex(x) else np.float64)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    need(prim.is_number(start) and prim.is_number(stop), "the ends must be numbers")
    return np.linspace(_wide(start), _wide(stop), num, endpoint, retstep, dtype, axis, device=device)


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    need(prim.is_number(start) and prim.is_number(stop), "the ends must be numbers")
    return np.logspace(_wide(start), _wide(stop), num, endpoint, base, dtype, axis)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    need(prim.is_number(start) and prim.is_number(stop), "the ends must be numbers")
    return np.geomspace(_wide(start), _wide(stop), num, endpoint, dtype, axis)
