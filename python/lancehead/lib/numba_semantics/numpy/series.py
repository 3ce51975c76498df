"""Statistics and series as Numba has them."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.checks import need_array_like, need_flag, need_integer
from lancehead.lib.numpy.creation import asarray


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """Mean, perhaps weighted."""
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
    if not prim.is_array(x) and not prim.is_a(x, "builtins.list"):
        prim.error("bincount(): input should be an array or sequence")
    if asarray(x).ndim != 1:
        prim.error("bincount(): input should have dimension 1")


def bincount(x, /, weights=None, minlength=0):
    """Number of occurrences of each non-negative integer, or the sums of their weights."""
    if not prim.is_tuple(x):
        _check_line(x)
    if weights is not None:
        if asarray(weights).ndim != 1:
            prim.error("bincount(): input should have dimension 1")
        if asarray(weights).size != asarray(x).size:
            raise ValueError("bincount(): weights and list don't have the same length")
    need_integer(minlength, "minlength must be an integer")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    for k in asarray(x):
        if k < 0:
            raise ValueError("bincount(): first argument must be non-negative")
    return np.bincount(x, weights, minlength)


def correlate(a, v, mode="valid"):
    """Discrete cross-correlation."""
    _check_series(a, v, mode)
    return np.correlate(a, v, mode)


def convolve(a, v, mode="full"):
    """Discrete convolution."""
    _check_series(a, v, mode)
    return np.convolve(a, v, mode)


def _check_series(a, v, mode):
    x, y = asarray(a), asarray(v)
    if x.ndim > 1 or y.ndim > 1:
        prim.error("only supported on 1D arrays")
    if x.size == 0:
        raise ValueError("'a' cannot be empty")
    if y.size == 0:
        raise ValueError("'v' cannot be empty")
    if mode != "full" and mode != "same" and mode != "valid":
        raise ValueError("Invalid 'mode', valid are 'full', 'same', 'valid'")


def _check_observations(m):
    # Whether there is one variable is a matter of types, so that one row of a matrix is none.
    if prim.is_array(m):
        if m.ndim == 2 and m.shape[0] == 1:
            raise RuntimeError(
                "2D array containing a single row is unsupported due to ambiguity in type inference. "
                "To use numpy.cov in this case simply pass the row as a 1D array, i.e. m[0]."
            )


def _check_dimensions(m, message):
    if asarray(m).ndim > 2:
        prim.error(message)


def _check_pair(m, y, rowvar):
    x, z = asarray(m), asarray(y)
    first = x.shape[0] if x.ndim == 2 and not rowvar and x.shape[0] != 1 else x.shape[x.ndim - 1] if x.ndim > 0 else 1
    second = z.shape[0] if z.ndim == 2 and not rowvar and z.shape[0] != 1 else z.shape[z.ndim - 1] if z.ndim > 0 else 1
    if first != second:
        raise ValueError("m and y have incompatible dimensions")


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """Covariance matrix of variables in rows."""
    _check_dimensions(m, "m has more than 2 dimensions")
    if y is not None:
        _check_dimensions(y, "y has more than 2 dimensions")
    if ddof is not None:
        if not prim.is_number(ddof) or prim.is_complex(ddof):
            prim.error("ddof must be a real numerical scalar type")
    _check_observations(m)
    if ddof is not None:
        if not np.isfinite(ddof):
            raise ValueError("Cannot convert non-finite ddof to integer")
        if ddof - int(ddof) != 0:
            raise ValueError("ddof must be integral value")
    if y is not None:
        _check_pair(m, y, rowvar)
    return np.cov(m, y, rowvar, bias, None if ddof is None else int(ddof), fweights, aweights, dtype=dtype)


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """Correlation coefficients of variables in rows."""
    _check_dimensions(x, "m has more than 2 dimensions")
    _check_observations(x)
    if y is not None:
        _check_dimensions(y, "y has more than 2 dimensions")
        _check_pair(x, y, rowvar)
    return np.corrcoef(x, y, rowvar, dtype=dtype)


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours."""
    if not prim.is_array(a) or asarray(a).ndim == 0:
        prim.error("`diff` takes an array of at least one dimension")
    if not prim.is_bool(n):
        need_integer(n, "the order is an integer")
    if n < 0:
        raise ValueError("diff(): order must be non-negative")
    return np.diff(a, n, axis, prepend, append)


def _check_beside(values, ary, message):
    v = values if prim.is_number(values) else asarray(values)
    own = prim.dtype_of(asarray(ary))
    if prim.result_type(prim.dtype_of(v), own) != own:
        prim.error(message)


def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours over all elements."""
    need_array_like(ary, "type has no dtype attr")
    if to_begin is not None:
        _check_beside(to_begin, ary, "dtype of to_begin must be compatible with input ary")
    if to_end is not None:
        _check_beside(to_end, ary, "dtype of to_end must be compatible with input ary")
    return np.ediff1d(ary, to_end, to_begin)


def interp(x, xp, fp, left=None, right=None, period=None):
    """Linear interpolation between points."""
    need_array_like(x, "x must be array-like")
    if asarray(xp).ndim != 1:
        prim.error("xp must be 1D")
    if asarray(fp).ndim != 1:
        prim.error("fp must be 1D")
    points = asarray(xp)
    if points.size == 0:
        raise ValueError("array of sample points is empty")
    if points.size != asarray(fp).size:
        raise ValueError("fp and xp are not of the same size.")
    return np.interp(x, points, asarray(fp), left, right, period)


def cross(a, b):
    """Vector products, of vectors of three dimensions, or of two and three."""
    need_array_like(a, "Inputs must be array-like.")
    need_array_like(b, "Inputs must be array-like.")
    if asarray(a).ndim == 0 or asarray(b).ndim == 0:
        prim.error("vectors have at least one dimension")
    m, n = asarray(a).shape[-1], asarray(b).shape[-1]
    if m < 2 or m > 3 or n < 2 or n > 3:
        raise ValueError("Incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if m == 2 and n == 2:
        raise ValueError(
            "Dimensions for both inputs is 2.\nPlease replace your numpy.cross(a, b) call with "
            "a call to `cross2d(a, b)` from `numba.np.extensions`."
        )
    return np.cross(a, b)


def nanmin(a, axis=None, out=None, keepdims=False):
    """Least element that is no NaN."""
    if asarray(a).size == 0 and axis is None:
        raise ValueError("zero-size array to reduction operation not possible")
    return np.nanmin(a, axis, out, keepdims)


def nanmax(a, axis=None, out=None, keepdims=False):
    """Greatest element that is no NaN."""
    if asarray(a).size == 0 and axis is None:
        raise ValueError("zero-size array to reduction operation not possible")
    return np.nanmax(a, axis, out, keepdims)


def ptp(a, axis=None, out=None, keepdims=False):
    """Distance of the greatest and the least element."""
    if asarray(a).size == 0 and axis is None:
        raise ValueError("zero-size array reduction not possible")
    return np.ptp(a, axis, out, keepdims)


def _check_sets(a, b, assume_unique, name):
    need_array_like(a, name + ": first two args must be array-like")
    need_array_like(b, name + ": first two args must be array-like")
    need_flag(assume_unique, name + ': argument "assume_unique" must be boolean')


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """The elements of both, sorted."""
    _check_sets(ar1, ar2, assume_unique, "intersect1d")
    return np.intersect1d(ar1, ar2, assume_unique, return_indices)


def setdiff1d(ar1, ar2, assume_unique=False):
    """The elements of the first only, sorted."""
    _check_sets(ar1, ar2, assume_unique, "setdiff1d")
    return np.setdiff1d(ar1, ar2, assume_unique)


def setxor1d(ar1, ar2, assume_unique=False):
    """The elements of exactly one, sorted."""
    _check_sets(ar1, ar2, assume_unique, "setxor1d")
    return np.setxor1d(ar1, ar2, assume_unique)


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """Whether each element is among others."""
    _check_sets(element, test_elements, assume_unique, "isin")
    need_flag(invert, 'isin: argument "invert" must be boolean')
    return np.isin(element, test_elements, assume_unique, invert, kind=kind)


def union1d(ar1, ar2):
    """The elements of either, sorted."""
    need_array_like(ar1, "The arguments to np.union1d must be array-like")
    need_array_like(ar2, "The arguments to np.union1d must be array-like")
    return np.union1d(ar1, ar2)


def roots(p):
    """The zeros of a polynomial."""
    if prim.is_array(p) and p.ndim != 1:
        raise ValueError("Input must be a 1d array.")
    return np.roots(p)


def _real(a):
    # Integers and truth values are doubles here.
    x = asarray(a)
    return x if prim.is_float(prim.dtype_of(x)) or prim.is_complex(prim.dtype_of(x)) else asarray(x, np.float64)


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """Quantiles: the numbers below which these parts of the elements lie."""
    return np.quantile(_real(a), q, axis, out, overwrite_input, method, keepdims, weights=weights)


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """Percentiles: the numbers below which these hundredths of the elements lie."""
    return np.percentile(_real(a), q, axis, out, overwrite_input, method, keepdims, weights=weights)


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """Quantiles without NaN."""
    return np.nanquantile(_real(a), q, axis, out, overwrite_input, method, keepdims, weights=weights)


def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """Percentiles without NaN."""
    return np.nanpercentile(_real(a), q, axis, out, overwrite_input, method, keepdims, weights=weights)


def histogram(a, bins=10, range=None, density=None, weights=None):
    """Number of elements in each bin, and the edges of the bins."""
    if prim.is_number(bins):
        need_integer(bins, "`bins` is an integer or an array")
        if bins <= 0:
            raise ValueError("histogram(): `bins` should be a positive integer")
        if range is not None:
            if not range[0] <= range[1]:
                raise ValueError("histogram(): max must be larger than min in range parameter")
        elif asarray(a).size == 0:
            raise ValueError("histogram(): max must be larger than min in range parameter")
    elif not prim.is_str(bins):
        edges = asarray(bins)
        if edges.ndim != 1:
            prim.error("edges of bins have one dimension")
        for i in np.arange(1, edges.size):
            if not edges[i - 1] <= edges[i]:
                raise ValueError("histogram(): bins must increase monotonically")
    return np.histogram(a, bins, range, density, weights)
