"""`numpy.polynomial.laguerre`: series of Laguerre's polynomials."""

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
    return -1.0 / float(k), float(2 * k - 1) / float(k), float(k - 1) / float(k)


def _slopes(k):
    return -1.0, 0.0, 1.0


def _areas(k):
    return -1.0, 0.0, 1.0


def _family():
    return _rule, _slopes, _areas, _rule, lagline, 0.0


def lagline(off, scl):
    """The series of a line.

    >>> np.polynomial.laguerre.lagline(1.0, 2.0)
    array([ 3., -2.])
    """
    return line(off + scl, -scl)


def lagadd(c1, c2):
    """The sum of two series.

    >>> np.polynomial.laguerre.lagadd(np.array([1.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    array([2., 3., 1.])
    """
    return add(c1, c2, 1)


def lagsub(c1, c2):
    """The difference of two series.

    >>> np.polynomial.laguerre.lagsub(np.array([1.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    array([ 0.,  1., -1.])
    """
    return add(c1, c2, -1)


def lagmulx(c):
    """The series times `x`.

    >>> np.polynomial.laguerre.lagmulx(np.array([1.0, 2.0]))
    array([-1.,  5., -4.])
    """
    return times_x(_rule, c)


def lagmul(c1, c2):
    """The product of two series.

    >>> np.polynomial.laguerre.lagmul(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 3., -1.,  4.])
    """
    return multiply(_rule, c1, c2)


def lagdiv(c1, c2):
    """Quotient and remainder of two series.

    >>> np.polynomial.laguerre.lagdiv(np.array([1.0, 2.0, 3.0]), np.array([2.0]))
    (array([0.5, 1. , 1.5]), array([0.]))
    """
    return divide(_rule, c1, c2)


def lagpow(c, pow, maxpower=16):
    """A series to a power.

    >>> np.polynomial.laguerre.lagpow(np.array([0.0, 1.0]), 2)
    array([ 1., -2.,  2.])
    """
    return power(_rule, c, pow, maxpower)


def lagval(x, c, tensor=True):
    """The value of a series at points, or of each of several.

    >>> np.polynomial.laguerre.lagval(2.0, np.array([1.0, 2.0, 3.0]))
    np.float64(-4.0)
    """
    return value(_rule, x, c, tensor)


def lagval2d(x, y, c):
    """The value of a series in two coordinates at points."""
    return value_2d(_rule, x, y, c)


def lagval3d(x, y, z, c):
    """The value of a series in three coordinates at points."""
    return value_3d(_rule, x, y, z, c)


def laggrid2d(x, y, c):
    """The value of a series in two coordinates at all pairs of points."""
    return value(_rule, y, value(_rule, x, c, True), True)


def laggrid3d(x, y, z, c):
    """The value of a series in three coordinates at all triples of points."""
    return value(_rule, z, value(_rule, y, value(_rule, x, c, True), True), True)


def lagder(c, m=1, scl=1, axis=0):
    """The derivative of a series, m times.

    >>> np.polynomial.laguerre.lagder(np.array([1.0, 2.0, 4.0]))
    array([-6., -4.])
    """
    return derive(_slopes, c, m, scl, axis)


def lagint(c, m=1, k=(), lbnd=0, scl=1, axis=0):
    """The integral of a series from a bound, m times.

    >>> np.polynomial.laguerre.lagint(np.array([1.0, 2.0]))
    array([ 1.,  1., -2.])
    """
    return integrate(_rule, _areas, c, m, k, lbnd, scl, axis)


def lagfromroots(roots):
    """The series with these zeros.

    >>> np.polynomial.laguerre.lagfromroots(np.array([1.0, -1.0]))
    array([ 1., -4.,  2.])
    """
    return from_roots(_rule, roots)


def lagvander(x, deg):
    """The values of the first polynomials at points, along a last axis.

    >>> np.polynomial.laguerre.lagvander(np.array([1.0, 2.0]), 2)
    array([[ 1. ,  0. , -0.5],
           [ 1. , -1. , -1. ]])
    """
    return powers(_rule, x, deg)


def lagvander2d(x, y, deg):
    """The products of the first polynomials of two coordinates, along a last axis."""
    return powers_2d(_rule, x, y, deg)


def lagvander3d(x, y, z, deg):
    """The products of the first polynomials of three coordinates, along a last axis."""
    return powers_3d(_rule, x, y, z, deg)


def lagfit(x, y, deg, rcond=None, full=False, w=None):
    """The series that comes nearest to values at points, by least squares."""
    return fit(_rule, x, y, deg, rcond, full, w)


def lagcompanion(c):
    """The companion matrix of a series, whose eigenvalues are its zeros.

    >>> np.polynomial.laguerre.lagcompanion(np.array([1.0, 2.0]))
    array([[1.5]])
    """
    return companion(_rule, c)


def lagroots(c):
    """The zeros of a series, sorted."""
    return zeros_of(_rule, c)


def lag2poly(c):
    """The series in powers.

    >>> np.polynomial.laguerre.lag2poly(np.array([1.0, 2.0, 3.0]))
    array([ 6. , -8. ,  1.5])
    """
    return to_powers(_rule, c)


def poly2lag(pol):
    """A series in powers in these polynomials.

    >>> np.polynomial.laguerre.poly2lag(np.array([1.0, 2.0, 3.0]))
    array([  9., -14.,   6.])
    """
    return from_powers(_rule, pol)


def laggauss(deg):
    """Points and weights of the quadrature of Gauss and Laguerre.

    >>> np.polynomial.laguerre.laggauss(1)[0]
    array([1.])
    """
    return quadrature(_rule, deg, 1.0, False)


def lagweight(x):
    """The weight of the polynomials at points.

    >>> np.polynomial.laguerre.lagweight(0.0)
    np.float64(1.0)
    """
    return np.exp(-x)
