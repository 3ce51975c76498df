"""`numpy.polynomial.polynomial`: series of powers."""

import numpy as np

import lancehead.lib.numpy.polynomial._series as kernels
from lancehead.lib import prim
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.polynomial._fitting import fit, power_companion, zeros_of
from lancehead.lib.numpy.polynomial._series import minus, plus


def _slopes(k):
    return float(k), 0.0, 0.0


def _areas(k):
    return float(k + 1), 0.0, 0.0


def _family():
    return None, _slopes, _areas, kernels.power_rule, polyline, -1.0


def polyline(off, scl):
    """The series of a line.

    >>> np.polynomial.polynomial.polyline(1.0, 2.0)
    array([1., 2.])
    """
    return kernels.line(off, scl)


polyadd = plus
polysub = minus


def polymulx(c):
    """The series times `x`.

    >>> np.polynomial.polynomial.polymulx(np.array([1.0, 2.0]))
    array([0., 1., 2.])
    """
    return kernels.times_x(kernels.power_rule, c)


def polymul(c1, c2):
    """The product of two series.

    >>> np.polynomial.polynomial.polymul(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([1., 3., 2.])
    """
    return kernels.multiply(None, c1, c2)


def polydiv(c1, c2):
    """Quotient and remainder of two series.

    >>> np.polynomial.polynomial.polydiv(np.array([1.0, 2.0, 3.0]), np.array([2.0]))
    (array([0.5, 1. , 1.5]), array([0.]))
    """
    return kernels.divide(None, c1, c2)


def polypow(c, pow, maxpower=None):
    """A series to a power.

    >>> np.polynomial.polynomial.polypow(np.array([0.0, 1.0]), 2)
    array([0., 0., 1.])
    """
    return kernels.power(None, c, pow, maxpower)


def polyval(x, c, tensor=True):
    """The value of a series at points, or of each of several.

    >>> np.polynomial.polynomial.polyval(2.0, np.array([1.0, 2.0, 3.0]))
    np.float64(17.0)
    """
    return kernels.value(None, x, c, tensor)


def polyval2d(x, y, c):
    """The value of a series in two coordinates at points."""
    return kernels.value_2d(None, x, y, c)


def polyval3d(x, y, z, c):
    """The value of a series in three coordinates at points."""
    return kernels.value_3d(None, x, y, z, c)


def polygrid2d(x, y, c):
    """The value of a series in two coordinates at all pairs of points."""
    return kernels.value(None, y, kernels.value(None, x, c, True), True)


def polygrid3d(x, y, z, c):
    """The value of a series in three coordinates at all triples of points."""
    return kernels.value(None, z, kernels.value(None, y, kernels.value(None, x, c, True), True), True)


def polyder(c, m=1, scl=1, axis=0):
    """The derivative of a series, m times.

    >>> np.polynomial.polynomial.polyder(np.array([1.0, 2.0, 4.0]))
    array([2., 8.])
    """
    return kernels.derive(_slopes, c, m, scl, axis)


def polyint(c, m=1, k=(), lbnd=0, scl=1, axis=0):
    """The integral of a series from a bound, m times.

    >>> np.polynomial.polynomial.polyint(np.array([1.0, 2.0]))
    array([0., 1., 1.])
    """
    return kernels.integrate(None, _areas, c, m, k, lbnd, scl, axis)


def polyfromroots(roots):
    """The series with these zeros.

    >>> np.polynomial.polynomial.polyfromroots(np.array([1.0, -1.0]))
    array([-1.,  0.,  1.])
    """
    return kernels.from_roots(None, roots)


def polyvander(x, deg):
    """The values of the first polynomials at points, along a last axis.

    >>> np.polynomial.polynomial.polyvander(np.array([1.0, 2.0]), 2)
    array([[1., 1., 1.],
           [1., 2., 4.]])
    """
    return kernels.powers(kernels.power_rule, x, deg)


def polyvander2d(x, y, deg):
    """The products of the first polynomials of two coordinates, along a last axis."""
    return kernels.powers_2d(kernels.power_rule, x, y, deg)


def polyvander3d(x, y, z, deg):
    """The products of the first polynomials of three coordinates, along a last axis."""
    return kernels.powers_3d(kernels.power_rule, x, y, z, deg)


def polyfit(x, y, deg, rcond=None, full=False, w=None):
    """The series that comes nearest to values at points, by least squares."""
    return fit(kernels.power_rule, x, y, deg, rcond, full, w)


def polycompanion(c):
    """The companion matrix of a series, whose eigenvalues are its zeros.

    >>> np.polynomial.polynomial.polycompanion(np.array([1.0, 2.0]))
    array([[-0.5]])
    """
    return power_companion(c)


def polyroots(c):
    """The zeros of a series, sorted."""
    return zeros_of(None, c)


def polyvalfromroots(x, r, tensor=True):
    """The value at points of the polynomial with these zeros, or of each of several.

    >>> np.polynomial.polynomial.polyvalfromroots(3.0, np.array([1.0, 2.0]))
    np.float64(2.0)
    """
    zeros = np.atleast_1d(asarray(r))
    if prim.is_int(prim.dtype_of(zeros)) or prim.is_bool(prim.dtype_of(zeros)):
        return _value_from_roots(x, zeros.astype(np.float64), tensor)
    return _value_from_roots(x, zeros, tensor)


def _value_from_roots(x, r, tensor):
    if prim.is_number(x):
        return np.prod(x - r, axis=0)
    points = asarray(x)
    if tensor:
        return np.prod(points - r.reshape(r.shape + prim.tuple_fill(points.ndim, 1)), axis=0)
    if points.ndim >= r.ndim:
        prim.error("x.ndim must be < r.ndim when tensor == False")
    return np.prod(points - r, axis=0)
