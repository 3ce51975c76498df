"""`numpy.polynomial.hermite_e`: series of Hermite's polynomials of probability."""

import numpy as np

from lancehead.lib.numpy.polynomial._fitting import companion, fit, quadrature, zeros_of
from lancehead.lib.numpy.polynomial._series import (
    add,
    derive,
    divide,
    from_powers,
    from_roots,
    integrate,
    line,
    multiply,
    power,
    powers,
    powers_2d,
    powers_3d,
    times_x,
    to_powers,
    value,
    value_2d,
    value_3d,
)


def _rule(k):
    return 1.0, 0.0, float(k - 1)


def _slopes(k):
    return float(k), 0.0, 0.0


def _areas(k):
    return float(k + 1), 0.0, 0.0


def hermeline(off, scl):
    """The series of a line.

    >>> np.polynomial.hermite_e.hermeline(1.0, 2.0)
    array([1., 2.])
    """
    return line(off, scl)


def hermeadd(c1, c2):
    """The sum of two series.

    >>> np.polynomial.hermite_e.hermeadd(np.array([1.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    array([2., 3., 1.])
    """
    return add(c1, c2, 1)


def hermesub(c1, c2):
    """The difference of two series.

    >>> np.polynomial.hermite_e.hermesub(np.array([1.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    array([ 0.,  1., -1.])
    """
    return add(c1, c2, -1)


def hermemulx(c):
    """The series times `x`.

    >>> np.polynomial.hermite_e.hermemulx(np.array([1.0, 2.0]))
    array([2., 1., 2.])
    """
    return times_x(_rule, c)


def hermemul(c1, c2):
    """The product of two series.

    >>> np.polynomial.hermite_e.hermemul(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([3., 3., 2.])
    """
    return multiply(_rule, c1, c2)


def hermediv(c1, c2):
    """Quotient and remainder of two series.

    >>> np.polynomial.hermite_e.hermediv(np.array([1.0, 2.0, 3.0]), np.array([2.0]))
    (array([0.5, 1. , 1.5]), array([0.]))
    """
    return divide(_rule, c1, c2)


def hermepow(c, pow, maxpower=16):
    """A series to a power.

    >>> np.polynomial.hermite_e.hermepow(np.array([0.0, 1.0]), 2)
    array([1., 0., 1.])
    """
    return power(_rule, c, pow, maxpower)


def hermeval(x, c, tensor=True):
    """The value of a series at points, or of each of several.

    >>> np.polynomial.hermite_e.hermeval(2.0, np.array([1.0, 2.0, 3.0]))
    np.float64(14.0)
    """
    return value(_rule, x, c, tensor)


def hermeval2d(x, y, c):
    """The value of a series in two coordinates at points."""
    return value_2d(_rule, x, y, c)


def hermeval3d(x, y, z, c):
    """The value of a series in three coordinates at points."""
    return value_3d(_rule, x, y, z, c)


def hermegrid2d(x, y, c):
    """The value of a series in two coordinates at all pairs of points."""
    return value(_rule, y, value(_rule, x, c, True), True)


def hermegrid3d(x, y, z, c):
    """The value of a series in three coordinates at all triples of points."""
    return value(_rule, z, value(_rule, y, value(_rule, x, c, True), True), True)


def hermeder(c, m=1, scl=1, axis=0):
    """The derivative of a series, m times.

    >>> np.polynomial.hermite_e.hermeder(np.array([1.0, 2.0, 4.0]))
    array([2., 8.])
    """
    return derive(_slopes, c, m, scl, axis)


def hermeint(c, m=1, k=(), lbnd=0, scl=1, axis=0):
    """The integral of a series from a bound, m times.

    >>> np.polynomial.hermite_e.hermeint(np.array([1.0, 2.0]))
    array([1., 1., 1.])
    """
    return integrate(_rule, _areas, c, m, k, lbnd, scl, axis)


def hermefromroots(roots):
    """The series with these zeros.

    >>> np.polynomial.hermite_e.hermefromroots(np.array([1.0, -1.0]))
    array([0., 0., 1.])
    """
    return from_roots(_rule, roots)


def hermevander(x, deg):
    """The values of the first polynomials at points, along a last axis.

    >>> np.polynomial.hermite_e.hermevander(np.array([1.0, 2.0]), 2)
    array([[1., 1., 0.],
           [1., 2., 3.]])
    """
    return powers(_rule, x, deg)


def hermevander2d(x, y, deg):
    """The products of the first polynomials of two coordinates, along a last axis."""
    return powers_2d(_rule, x, y, deg)


def hermevander3d(x, y, z, deg):
    """The products of the first polynomials of three coordinates, along a last axis."""
    return powers_3d(_rule, x, y, z, deg)


def hermefit(x, y, deg, rcond=None, full=False, w=None):
    """The series that comes nearest to values at points, by least squares."""
    return fit(_rule, x, y, deg, rcond, full, w)


def hermecompanion(c):
    """The companion matrix of a series, whose eigenvalues are its zeros.

    >>> np.polynomial.hermite_e.hermecompanion(np.array([1.0, 2.0]))
    array([[-0.5]])
    """
    return companion(_rule, c)


def hermeroots(c):
    """The zeros of a series, sorted."""
    return zeros_of(_rule, c)


def herme2poly(c):
    """The series in powers.

    >>> np.polynomial.hermite_e.herme2poly(np.array([1.0, 2.0, 3.0]))
    array([-2.,  2.,  3.])
    """
    return to_powers(_rule, c)


def poly2herme(pol):
    """A series in powers in these polynomials.

    >>> np.polynomial.hermite_e.poly2herme(np.array([1.0, 2.0, 3.0]))
    array([4., 2., 3.])
    """
    return from_powers(_rule, pol)


def hermegauss(deg):
    """Points and weights of the quadrature of Gauss and Hermite.

    >>> np.polynomial.hermite_e.hermegauss(1)[1]
    array([2.50662827])
    """
    return quadrature(_rule, deg, 2.5066282746310002, True)


def hermeweight(x):
    """The weight of the polynomials at points.

    >>> np.polynomial.hermite_e.hermeweight(0.0)
    np.float64(1.0)
    """
    return np.exp(-0.5 * x**2)
