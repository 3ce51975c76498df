"""`numpy.polynomial.hermite`: series of Hermite's polynomials of physicists."""

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
    return 2.0, 0.0, 2.0 * float(k - 1)


def _slopes(k):
    return 2.0 * float(k), 0.0, 0.0


def _areas(k):
    return 2.0 * float(k + 1), 0.0, 0.0


def hermline(off, scl):
    """The series of a line.

    >>> np.polynomial.hermite.hermline(1.0, 2.0)
    array([1., 1.])
    """
    return line(off, scl / 2)


def hermadd(c1, c2):
    """The sum of two series.

    >>> np.polynomial.hermite.hermadd(np.array([1.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    array([2., 3., 1.])
    """
    return add(c1, c2, 1)


def hermsub(c1, c2):
    """The difference of two series.

    >>> np.polynomial.hermite.hermsub(np.array([1.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    array([ 0.,  1., -1.])
    """
    return add(c1, c2, -1)


def hermmulx(c):
    """The series times `x`.

    >>> np.polynomial.hermite.hermmulx(np.array([1.0, 2.0]))
    array([2. , 0.5, 1. ])
    """
    return times_x(_rule, c)


def hermmul(c1, c2):
    """The product of two series.

    >>> np.polynomial.hermite.hermmul(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([5., 3., 2.])
    """
    return multiply(_rule, c1, c2)


def hermdiv(c1, c2):
    """Quotient and remainder of two series.

    >>> np.polynomial.hermite.hermdiv(np.array([1.0, 2.0, 3.0]), np.array([2.0]))
    (array([0.5, 1. , 1.5]), array([0.]))
    """
    return divide(_rule, c1, c2)


def hermpow(c, pow, maxpower=16):
    """A series to a power.

    >>> np.polynomial.hermite.hermpow(np.array([0.0, 1.0]), 2)
    array([2., 0., 1.])
    """
    return power(_rule, c, pow, maxpower)


def hermval(x, c, tensor=True):
    """The value of a series at points, or of each of several.

    >>> np.polynomial.hermite.hermval(2.0, np.array([1.0, 2.0, 3.0]))
    np.float64(51.0)
    """
    return value(_rule, x, c, tensor)


def hermval2d(x, y, c):
    """The value of a series in two coordinates at points."""
    return value_2d(_rule, x, y, c)


def hermval3d(x, y, z, c):
    """The value of a series in three coordinates at points."""
    return value_3d(_rule, x, y, z, c)


def hermgrid2d(x, y, c):
    """The value of a series in two coordinates at all pairs of points."""
    return value(_rule, y, value(_rule, x, c, True), True)


def hermgrid3d(x, y, z, c):
    """The value of a series in three coordinates at all triples of points."""
    return value(_rule, z, value(_rule, y, value(_rule, x, c, True), True), True)


def hermder(c, m=1, scl=1, axis=0):
    """The derivative of a series, m times.

    >>> np.polynomial.hermite.hermder(np.array([1.0, 2.0, 4.0]))
    array([ 4., 16.])
    """
    return derive(_slopes, c, m, scl, axis)


def hermint(c, m=1, k=(), lbnd=0, scl=1, axis=0):
    """The integral of a series from a bound, m times.

    >>> np.polynomial.hermite.hermint(np.array([1.0, 2.0]))
    array([1. , 0.5, 0.5])
    """
    return integrate(_rule, _areas, c, m, k, lbnd, scl, axis)


def hermfromroots(roots):
    """The series with these zeros.

    >>> np.polynomial.hermite.hermfromroots(np.array([1.0, -1.0]))
    array([-0.5 ,  0.  ,  0.25])
    """
    return from_roots(_rule, roots)


def hermvander(x, deg):
    """The values of the first polynomials at points, along a last axis.

    >>> np.polynomial.hermite.hermvander(np.array([1.0, 2.0]), 2)
    array([[ 1.,  2.,  2.],
           [ 1.,  4., 14.]])
    """
    return powers(_rule, x, deg)


def hermvander2d(x, y, deg):
    """The products of the first polynomials of two coordinates, along a last axis."""
    return powers_2d(_rule, x, y, deg)


def hermvander3d(x, y, z, deg):
    """The products of the first polynomials of three coordinates, along a last axis."""
    return powers_3d(_rule, x, y, z, deg)


def hermfit(x, y, deg, rcond=None, full=False, w=None):
    """The series that comes nearest to values at points, by least squares."""
    return fit(_rule, x, y, deg, rcond, full, w)


def hermcompanion(c):
    """The companion matrix of a series, whose eigenvalues are its zeros.

    >>> np.polynomial.hermite.hermcompanion(np.array([1.0, 2.0]))
    array([[-0.25]])
    """
    return companion(_rule, c)


def hermroots(c):
    """The zeros of a series, sorted."""
    return zeros_of(_rule, c)


def herm2poly(c):
    """The series in powers.

    >>> np.polynomial.hermite.herm2poly(np.array([1.0, 2.0, 3.0]))
    array([-5.,  4., 12.])
    """
    return to_powers(_rule, c)


def poly2herm(pol):
    """A series in powers in these polynomials.

    >>> np.polynomial.hermite.poly2herm(np.array([1.0, 2.0, 3.0]))
    array([2.5 , 1.  , 0.75])
    """
    return from_powers(_rule, pol)


def hermgauss(deg):
    """Points and weights of the quadrature of Gauss and Hermite.

    >>> np.polynomial.hermite.hermgauss(1)[1]
    array([1.77245385])
    """
    return quadrature(_rule, deg, 1.7724538509055159, True)


def hermweight(x):
    """The weight of the polynomials at points.

    >>> np.polynomial.hermite.hermweight(0.0)
    np.float64(1.0)
    """
    return np.exp(-(x**2))
