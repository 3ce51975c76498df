"""Statistics and series as Numba has them."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.checks import check, need, need_array_like
from lancehead.lib.numpy.creation import asarray


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    if axis is not None:
        raise TypeError("Numba does not support average with axis.")
    if weights is None:
        return np.average(a, None, None, returned, keepdims=keepdims)
    x, w = asarray(a), asarray(weights)
    if x.ndim != w.ndim or np.any(np.array(x.shape) != np.array(w.shape)):
        if w.ndim != 1:
            raise TypeError("1D weights expected when shapes of a and weights differ.")
        return np.sum(x * w) / np.sum(w)
    if np.sum(w) == 0.0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized.")
    return np.average(x, None, w, returned, keepdims=keepdims)


def _check_line(x):
    need(prim.is_array(x) or prim.is_a(x, "builtins.list"), "bincount(): input should be an array or sequence")
    need(asarray(x).ndim == 1, "bincount(): input should have dimension 1")


def bincount(x, /, weights=None, minlength=0):
    if not prim.is_tuple(x):
        _check_line(x)
    if weights is not None:
        need(asarray(weights).ndim == 1, "bincount(): input should have dimension 1")
        check(asarray(weights).size == asarray(x).size, "bincount(): weights and list don't have the same length")
    need(prim.is_int(minlength), "minlength must be an integer")
    check(minlength >= 0, "'minlength' must not be negative")
    for k in asarray(x):
        check(k >= 0, "bincount(): first argument must be non-negative")
    return np.bincount(x, weights, minlength)


def correlate(a, v, mode="valid"):
    _check_series(a, v, mode)
    return np.correlate(a, v, mode)


def convolve(a, v, mode="full"):
    _check_series(a, v, mode)
    return np.convolve(a, v, mode)


def _check_series(a, v, mode):
    x, y = asarray(a), asarray(v)
    need(x.ndim <= 1 and y.ndim <= 1, "only supported on 1D arrays")
    check(x.size > 0, "'a' cannot be empty")
    check(y.size > 0, "'v' cannot be empty")
    check(mode == "full" or mode == "same" or mode == "valid", "Invalid 'mode', valid are 'full', 'same', 'valid'")


def _check_observations(m):
    # Whether there is one variable is a matter of types, so that one row of a matrix is none.
    if prim.is_array(m):
        if m.ndim == 2 and m.shape[0] == 1:
            raise RuntimeError(
                "2D array containing a single row is unsupported due to ambiguity in type inference. "
                "To use numpy.cov in this case simply pass the row as a 1D array, i.e. m[0]."
            )


def _check_dimensions(m, message):
    need(asarray(m).ndim <= 2, message)


def _check_pair(m, y, rowvar):
    x, z = asarray(m), asarray(y)
    first = x.shape[0] if x.ndim == 2 and not rowvar and x.shape[0] != 1 else x.shape[x.ndim - 1] if x.ndim > 0 else 1
    second = z.shape[0] if z.ndim == 2 and not rowvar and z.shape[0] != 1 else z.shape[z.ndim - 1] if z.ndim > 0 else 1
    check(first == second, "m and y have incompatible dimensions")


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    _check_dimensions(m, "m has more than 2 dimensions")
    if y is not None:
        _check_dimensions(y, "y has more than 2 dimensions")
    if ddof is not None:
        need(prim.is_number(ddof) and not prim.is_complex(ddof), "ddof must be a real numerical scalar type")
    _check_observations(m)
    if ddof is not None:
        check(np.isfinite(ddof), "Cannot convert non-finite ddof to integer")
        check(ddof == int(ddof), "ddof must be integral value")
    if y is not None:
        _check_pair(m, y, rowvar)
    return np.cov(m, y, rowvar, bias, None if ddof is None else int(ddof), fweights, aweights, dtype=dtype)


def diff(a, n=1, axis=-1, prepend=None, append=None):
    need(prim.is_array(a) and asarray(a).ndim > 0, "`diff` takes an array of at least one dimension")
    if not prim.is_bool(n):
        need(prim.is_int(n), "the order is an integer")
    check(n >= 0, "diff(): order must be non-negative")
    return np.diff(a, n, axis, prepend, append)


def interp(x, xp, fp, left=None, right=None, period=None):
    check(asarray(xp).size == 0 or asarray(xp).size == asarray(fp).size, "fp and xp are not of the same size.")
    return np.interp(x, xp, fp, left, right, period)


def cross(a, b):
    need_array_like(a, "Inputs must be array-like.")
    need_array_like(b, "Inputs must be array-like.")
    need(asarray(a).ndim > 0 and asarray(b).ndim > 0, "vectors have at least one dimension")
    m, n = asarray(a).shape[-1], asarray(b).shape[-1]
    check(2 <= m <= 3 and 2 <= n <= 3, "Incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if m == 2 and n == 2:
        raise ValueError(
            "Dimensions for both inputs is 2.\nPlease replace your numpy.cross(a, b) call with "
            "a call to `cross2d(a, b)` from `numba.np.extensions`."
        )
    return np.cross(a, b)


def roots(p):
    if prim.is_array(p) and p.ndim > 1:
        raise ValueError("Input must be a 1d array.")
    return np.roots(p)


def _real(a):
    # Integers and truth values are doubles here.
    x = asarray(a)
    return asarray(x, np.float64) if prim.is_int(prim.dtype_of(x)) or prim.is_bool(prim.dtype_of(x)) else x


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    return np.quantile(_real(a), q, axis, out, overwrite_input, method, keepdims, weights=weights)


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    return np.nanquantile(_real(a), q, axis, out, overwrite_input, method, keepdims, weights=weights)
