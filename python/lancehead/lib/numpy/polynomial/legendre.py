"""`numpy.polynomial.legendre`: series of Legendre's polynomials."""

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
    return float(2 * k - 1) / float(k), 0.0, float(k - 1) / float(k)


def _slopes(k):
    return float(2 * k - 1), 1.0, 0.0


def _areas(k):
    return float(2 * k + 1), (-float(2 * k + 1) if k > 1 else 0.0), 0.0


def legline(off, scl):
    """The series of a line.

    >>> np.polynomial.legendre.legline(1.0, 2.0)
    array([1., 2.])
    """
    return line(off, scl)


def legadd(c1, c2):
    """The sum of two series.

    >>> np.polynomial.legendre.legadd(np.array([1.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    array([2., 3., 1.])
    """
    return add(c1, c2, 1)


def legsub(c1, c2):
    """The difference of two series.

    >>> np.polynomial.legendre.legsub(np.array([1.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    array([ 0.,  1., -1.])
    """
    return add(c1, c2, -1)


def legmulx(c):
    """The series times `x`.

    >>> np.polynomial.legendre.legmulx(np.array([1.0, 2.0]))
    array([0.66666667, 1.        , 1.33333333])
    """
    return times_x(_rule, c)


def legmul(c1, c2):
    """The product of two series.

    >>> np.polynomial.legendre.legmul(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([1.66666667, 3.        , 1.33333333])
    """
    return multiply(_rule, c1, c2)


def legdiv(c1, c2):
    """Quotient and remainder of two series.

    >>> np.polynomial.legendre.legdiv(np.array([1.0, 2.0, 3.0]), np.array([2.0]))
    (array([0.5, 1. , 1.5]), array([0.]))
    """
    return divide(_rule, c1, c2)


def legpow(c, pow, maxpower=16):
    """A series to a power.

    >>> np.polynomial.legendre.legpow(np.array([0.0, 1.0]), 2)
    array([0.33333333, 0.        , 0.66666667])
    """
    return power(_rule, c, pow, maxpower)


def legval(x, c, tensor=True):
    """The value of a series at points, or of each of several.

    >>> np.polynomial.legendre.legval(2.0, np.array([1.0, 2.0, 3.0]))
    np.float64(21.5)
    """
    return value(_rule, x, c, tensor)


def legval2d(x, y, c):
    """The value of a series in two coordinates at points."""
    return value_2d(_rule, x, y, c)


def legval3d(x, y, z, c):
    """The value of a series in three coordinates at points."""
    return value_3d(_rule, x, y, z, c)


def leggrid2d(x, y, c):
    """The value of a series in two coordinates at all pairs of points."""
    return value(_rule, y, value(_rule, x, c, True), True)


def leggrid3d(x, y, z, c):
    """The value of a series in three coordinates at all triples of points."""
    return value(_rule, z, value(_rule, y, value(_rule, x, c, True), True), True)


def legder(c, m=1, scl=1, axis=0):
    """The derivative of a series, m times.

    >>> np.polynomial.legendre.legder(np.array([1.0, 2.0, 4.0]))
    array([ 2., 12.])
    """
    return derive(_slopes, c, m, scl, axis)


def legint(c, m=1, k=(), lbnd=0, scl=1, axis=0):
    """The integral of a series from a bound, m times.

    >>> np.polynomial.legendre.legint(np.array([1.0, 2.0]))
    array([0.33333333, 1.        , 0.66666667])
    """
    return integrate(_rule, _areas, c, m, k, lbnd, scl, axis)


def legfromroots(roots):
    """The series with these zeros.

    >>> np.polynomial.legendre.legfromroots(np.array([1.0, -1.0]))
    array([-0.66666667,  0.        ,  0.66666667])
    """
    return from_roots(_rule, roots)


def legvander(x, deg):
    """The values of the first polynomials at points, along a last axis.

    >>> np.polynomial.legendre.legvander(np.array([1.0, 2.0]), 2)
    array([[1. , 1. , 1. ],
           [1. , 2. , 5.5]])
    """
    return powers(_rule, x, deg)


def legvander2d(x, y, deg):
    """The products of the first polynomials of two coordinates, along a last axis."""
    return powers_2d(_rule, x, y, deg)


def legvander3d(x, y, z, deg):
    """The products of the first polynomials of three coordinates, along a last axis."""
    return powers_3d(_rule, x, y, z, deg)


def legfit(x, y, deg, rcond=None, full=False, w=None):
    """The series that comes nearest to values at points, by least squares."""
    return fit(_rule, x, y, deg, rcond, full, w)


def legcompanion(c):
    """The companion matrix of a series, whose eigenvalues are its zeros.

    >>> np.polynomial.legendre.legcompanion(np.array([1.0, 2.0]))
    array([[-0.5]])
    """
    return companion(_rule, c)


def legroots(c):
    """The zeros of a series, sorted."""
    return zeros_of(_rule, c)


def leg2poly(c):
    """The series in powers.

    >>> np.polynomial.legendre.leg2poly(np.array([1.0, 2.0, 3.0]))
    array([-0.5,  2. ,  4.5])
    """
    return to_powers(_rule, c)


def poly2leg(pol):
    """A series in powers in these polynomials.

    >>> np.polynomial.legendre.poly2leg(np.array([1.0, 2.0, 3.0]))
    array([2., 2., 2.])
    """
    return from_powers(_rule, pol)


def leggauss(deg):
    """Points and weights of the quadrature of Gauss and Legendre.

    >>> np.polynomial.legendre.leggauss(1)[1]
    array([2.])
    """
    return quadrature(_rule, deg, 2.0, True)


def legweight(x):
    """The weight of the polynomials at points.

    >>> np.polynomial.legendre.legweight(0.0)
    1.0
    """
    return x * 0.0 + 1.0
