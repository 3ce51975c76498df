"""`numpy.polynomial.legendre`: series of Legendre's polynomials."""

import lancehead.lib.numpy.polynomial._series as kernels
from lancehead.lib.numpy.polynomial._fitting import companion, fit, quadrature, zeros_of
from lancehead.lib.numpy.polynomial._series import minus, plus


def _rule(k):
    return float(2 * k - 1) / float(k), 0.0, float(k - 1) / float(k)


def _slopes(k):
    return float(2 * k - 1), 1.0, 0.0


def _areas(k):
    return float(2 * k + 1), (-float(2 * k + 1) if k > 1 else 0.0), 0.0


def _family():
    return _rule, _slopes, _areas, _rule, legline, -1.0


def legline(off, scl):
    """The series of a line."""
    return kernels.line(off, scl)


legadd = plus
legsub = minus


def legmulx(c):
    """The series times `x`."""
    return kernels.times_x(_rule, c)


def legmul(c1, c2):
    """The product of two series."""
    return kernels.multiply(_rule, c1, c2)


def legdiv(c1, c2):
    """Quotient and remainder of two series."""
    return kernels.divide(_rule, c1, c2)


def legpow(c, pow, maxpower=16):
    """A series to a power."""
    return kernels.power(_rule, c, pow, maxpower)


def legval(x, c, tensor=True):
    """The value of a series at points, or of each of several."""
    return kernels.value(_rule, x, c, tensor)


def legval2d(x, y, c):
    """The value of a series in two coordinates at points."""
    return kernels.value_2d(_rule, x, y, c)


def legval3d(x, y, z, c):
    """The value of a series in three coordinates at points."""
    return kernels.value_3d(_rule, x, y, z, c)


def leggrid2d(x, y, c):
    """The value of a series in two coordinates at all pairs of points."""
    return kernels.value(_rule, y, kernels.value(_rule, x, c, True), True)


def leggrid3d(x, y, z, c):
    """The value of a series in three coordinates at all triples of points."""
    return kernels.value(_rule, z, kernels.value(_rule, y, kernels.value(_rule, x, c, True), True), True)


def legder(c, m=1, scl=1, axis=0):
    """The derivative of a series, m times."""
    return kernels.derive(_slopes, c, m, scl, axis)


def legint(c, m=1, k=(), lbnd=0, scl=1, axis=0):
    """The integral of a series from a bound, m times."""
    return kernels.integrate(_rule, _areas, c, m, k, lbnd, scl, axis)


def legfromroots(roots):
    """The series with these zeros."""
    return kernels.from_roots(_rule, roots)


def legvander(x, deg):
    """The values of the first polynomials at points, along a last axis."""
    return kernels.powers(_rule, x, deg)


def legvander2d(x, y, deg):
    """The products of the first polynomials of two coordinates, along a last axis."""
    return kernels.powers_2d(_rule, x, y, deg)


def legvander3d(x, y, z, deg):
    """The products of the first polynomials of three coordinates, along a last axis."""
    return kernels.powers_3d(_rule, x, y, z, deg)


def legfit(x, y, deg, rcond=None, full=False, w=None):
    """The series that comes nearest to values at points, by least squares."""
    return fit(_rule, x, y, deg, rcond, full, w)


def legcompanion(c):
    """The companion matrix of a series, whose eigenvalues are its zeros."""
    return companion(_rule, c)


def legroots(c):
    """The zeros of a series, sorted."""
    return zeros_of(_rule, c)


def leg2poly(c):
    """The series in powers."""
    return kernels.to_powers(_rule, c)


def poly2leg(pol):
    """A series in powers in these polynomials."""
    return kernels.from_powers(_rule, pol)


def leggauss(deg):
    """Points and weights of the quadrature of Gauss and Legendre."""
    return quadrature(_rule, deg, 2.0, True)


def legweight(x):
    """The weight of the polynomials at points."""
    return x * 0.0 + 1.0
