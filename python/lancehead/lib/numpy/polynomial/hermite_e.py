"""`numpy.polynomial.hermite_e`: series of Hermite's polynomials of probability."""

import numpy as np

import lancehead.lib.numpy.polynomial._series as kernels
from lancehead.lib.numpy.polynomial._fitting import companion, fit, quadrature, zeros_of
from lancehead.lib.numpy.polynomial._series import minus, plus


def _rule(k):
    return 1.0, 0.0, float(k - 1)


def _slopes(k):
    return float(k), 0.0, 0.0


def _areas(k):
    return float(k + 1), 0.0, 0.0


def _family():
    return _rule, _slopes, _areas, _rule, hermeline, -1.0


def hermeline(off, scl):
    """The series of a line."""
    return kernels.line(off, scl)


hermeadd = plus
hermesub = minus


def hermemulx(c):
    """The series times `x`."""
    return kernels.times_x(_rule, c)


def hermemul(c1, c2):
    """The product of two series."""
    return kernels.multiply(_rule, c1, c2)


def hermediv(c1, c2):
    """Quotient and remainder of two series."""
    return kernels.divide(_rule, c1, c2)


def hermepow(c, pow, maxpower=16):
    """A series to a power."""
    return kernels.power(_rule, c, pow, maxpower)


def hermeval(x, c, tensor=True):
    """The value of a series at points, or of each of several."""
    return kernels.value(_rule, x, c, tensor)


def hermeval2d(x, y, c):
    """The value of a series in two coordinates at points."""
    return kernels.value_2d(_rule, x, y, c)


def hermeval3d(x, y, z, c):
    """The value of a series in three coordinates at points."""
    return kernels.value_3d(_rule, x, y, z, c)


def hermegrid2d(x, y, c):
    """The value of a series in two coordinates at all pairs of points."""
    return kernels.value(_rule, y, kernels.value(_rule, x, c, True), True)


def hermegrid3d(x, y, z, c):
    """The value of a series in three coordinates at all triples of points."""
    return kernels.value(_rule, z, kernels.value(_rule, y, kernels.value(_rule, x, c, True), True), True)


def hermeder(c, m=1, scl=1, axis=0):
    """The derivative of a series, m times."""
    return kernels.derive(_slopes, c, m, scl, axis)


def hermeint(c, m=1, k=(), lbnd=0, scl=1, axis=0):
    """The integral of a series from a bound, m times."""
    return kernels.integrate(_rule, _areas, c, m, k, lbnd, scl, axis)


def hermefromroots(roots):
    """The series with these zeros."""
    return kernels.from_roots(_rule, roots)


def hermevander(x, deg):
    """The values of the first polynomials at points, along a last axis."""
    return kernels.powers(_rule, x, deg)


def hermevander2d(x, y, deg):
    """The products of the first polynomials of two coordinates, along a last axis."""
    return kernels.powers_2d(_rule, x, y, deg)


def hermevander3d(x, y, z, deg):
    """The products of the first polynomials of three coordinates, along a last axis."""
    return kernels.powers_3d(_rule, x, y, z, deg)


def hermefit(x, y, deg, rcond=None, full=False, w=None):
    """The series that comes nearest to values at points, by least squares."""
    return fit(_rule, x, y, deg, rcond, full, w)


def hermecompanion(c):
    """The companion matrix of a series, whose eigenvalues are its zeros."""
    return companion(_rule, c)


def hermeroots(c):
    """The zeros of a series, sorted."""
    return zeros_of(_rule, c)


def herme2poly(c):
    """The series in powers."""
    return kernels.to_powers(_rule, c)


def poly2herme(pol):
    """A series in powers in these polynomials."""
    return kernels.from_powers(_rule, pol)


def hermegauss(deg):
    """Points and weights of the quadrature of Gauss and Hermite."""
    return quadrature(_rule, deg, 2.5066282746310002, True)


def hermeweight(x):
    """The weight of the polynomials at points."""
    return np.exp(-0.5 * x**2)
