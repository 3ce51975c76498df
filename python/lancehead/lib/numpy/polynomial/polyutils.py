"""`numpy.polynomial.polyutils`: series as arrays of coefficients, and maps of domains."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import unmixed
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import new_array
from lancehead.lib.numpy.manip import each


def float_of(dtype):
    """The type in which a series with such coefficients is computed."""
    return np.float64 if prim.is_int(dtype) or prim.is_bool(dtype) else dtype


def trimmed(c):
    """A series, which is contiguous, without its highest coefficients that are zero, as a view."""
    n = c.size
    while n > 1 and prim.item(c, n - 1) == prim.cast(0, prim.dtype_of(c)):
        n -= 1
    return prim.array(prim.owner(c), prim.data(c), (n,), (c.itemsize,), prim.dtype_of(c), "C")


def coefficients(c, dtype):
    """A new array of the coefficients of one series."""
    x = asarray(c)
    if x.ndim > 1:
        prim.error("coefficient arrays are 1-d: a series has coefficients of one dimension")
    line = x.reshape((x.size,))
    if line.size == 0:
        raise ValueError("Coefficient array is empty")
    out = new_array((line.size,), dtype)
    for i in range(line.size):
        prim.set_item(out, i, prim.cast(prim.item(line, i), dtype))
    return out


def series(c):
    """A new series without its highest coefficients that are zero."""
    return trimmed(coefficients(c, float_of(prim.dtype_of(asarray(c)))))


def common(c1, c2):
    """The type of two series together."""
    return prim.result_type(float_of(prim.dtype_of(asarray(c1))), float_of(prim.dtype_of(asarray(c2))))


def trimseq(seq):
    """A series without its highest coefficients that are zero.

    >>> np.polynomial.polyutils.trimseq(np.array([1, 2, 0]))
    array([1, 2])
    """
    x = asarray(seq)
    n = x.size
    while n > 1 and prim.item(x, n - 1) == prim.cast(0, prim.dtype_of(x)):
        n -= 1
    return x[:n]


def trimcoef(c, tol=0):
    """A series without its highest coefficients up to a tolerance.

    >>> np.polynomial.polyutils.trimcoef(np.array([1.0, 2.0, 1e-9]), 1e-6)
    array([1., 2.])
    """
    if tol < 0:
        raise ValueError("tol must be non-negative")
    x = series(c)
    n = x.size
    while n > 0 and not np.abs(prim.item(x, n - 1)) > tol:
        n -= 1
    if n == 0:
        return x[:1] * prim.cast(0, prim.dtype_of(x))
    return x[:n].copy()


def as_series(alist, trim=True):
    """Series of one type of floats or complex numbers, without their highest coefficients that are zero.

    >>> np.polynomial.polyutils.as_series((np.array([1, 2, 0]), np.array([3.0])))
    [array([1., 2.]), array([3.])]
    """
    given = unmixed(alist)
    if not prim.is_tuple(given):
        return [_one_of(c, np.common_type(asarray(c)), trim) for c in given]
    if len(given) == 0:
        prim.error("the type of no series is not known")
    dtype = np.common_type(*each(asarray, given))
    return [_one_of(c, dtype, trim) for c in given]


def _one_of(c, dtype, trim):
    x = coefficients(c, dtype)
    return trimmed(x) if trim else x


def mapparms(old, new):
    """Offset and scale of the linear map from one interval to another.

    >>> np.polynomial.polyutils.mapparms((-1.0, 1.0), (0.0, 1.0))
    (0.5, 0.5)
    """
    oldlen = old[1] - old[0]
    newlen = new[1] - new[0]
    return (old[1] * new[0] - old[0] * new[1]) / oldlen, newlen / oldlen


def mapdomain(x, old, new):
    """Points mapped linearly from one interval to another.

    >>> np.polynomial.polyutils.mapdomain(np.array([-1.0, 0.0, 1.0]), (-1.0, 1.0), (0.0, 1.0))
    array([0. , 0.5, 1. ])
    """
    off, scl = mapparms(old, new)
    if prim.is_number(x):
        return off + scl * x
    return off + scl * asarray(x)


def getdomain(x):
    """The interval, or in the complex plane the rectangle, of all points.

    >>> np.polynomial.polyutils.getdomain(np.array([3.0, 1.0, 2.0]))
    array([1., 3.])
    """
    v = coefficients(x, float_of(prim.dtype_of(asarray(x))))
    out = new_array((2,), prim.dtype_of(v))
    if prim.is_complex(prim.dtype_of(v)):
        prim.set_item(out, 0, prim.complex(np.min(v.real), np.min(v.imag)))
        prim.set_item(out, 1, prim.complex(np.max(v.real), np.max(v.imag)))
    else:
        prim.set_item(out, 0, np.min(v))
        prim.set_item(out, 1, np.max(v))
    return out
