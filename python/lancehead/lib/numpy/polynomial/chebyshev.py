"""`numpy.polynomial.chebyshev`: series of Chebyshev's polynomials of the first kind."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.layout import new_array
from lancehead.lib.numpy.polynomial._fitting import companion, fit, zeros_of
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
    return (1.0 if k == 1 else 2.0), 0.0, (0.0 if k == 1 else 1.0)


def _slopes(k):
    if k == 1:
        return 1.0, 0.0, 0.0
    return 2.0 * float(k), (float(k) / float(k - 2) if k > 2 else 0.0), 0.0


def _areas(k):
    if k < 2:
        return (1.0 if k == 0 else 4.0), 0.0, 0.0
    return 2.0 * float(k + 1), -2.0 * float(k - 1), 0.0


def chebline(off, scl):
    """The series of a line.

    >>> np.polynomial.chebyshev.chebline(1.0, 2.0)
    array([1., 2.])
    """
    return line(off, scl)


def chebadd(c1, c2):
    """The sum of two series.

    >>> np.polynomial.chebyshev.chebadd(np.array([1.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    array([2., 3., 1.])
    """
    return add(c1, c2, 1)


def chebsub(c1, c2):
    """The difference of two series.

    >>> np.polynomial.chebyshev.chebsub(np.array([1.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    array([ 0.,  1., -1.])
    """
    return add(c1, c2, -1)


def chebmulx(c):
    """The series times `x`.

    >>> np.polynomial.chebyshev.chebmulx(np.array([1.0, 2.0]))
    array([1., 1., 1.])
    """
    return times_x(_rule, c)


def chebmul(c1, c2):
    """The product of two series.

    >>> np.polynomial.chebyshev.chebmul(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([2., 3., 1.])
    """
    return multiply(_rule, c1, c2)


def chebdiv(c1, c2):
    """Quotient and remainder of two series.

    >>> np.polynomial.chebyshev.chebdiv(np.array([1.0, 2.0, 3.0]), np.array([2.0]))
    (array([0.5, 1. , 1.5]), array([0.]))
    """
    return divide(_rule, c1, c2)


def chebpow(c, pow, maxpower=16):
    """A series to a power.

    >>> np.polynomial.chebyshev.chebpow(np.array([0.0, 1.0]), 2)
    array([0.5, 0. , 0.5])
    """
    return power(_rule, c, pow, maxpower)


def chebval(x, c, tensor=True):
    """The value of a series at points, or of each of several.

    >>> np.polynomial.chebyshev.chebval(2.0, np.array([1.0, 2.0, 3.0]))
    np.float64(26.0)
    """
    return value(_rule, x, c, tensor)


def chebval2d(x, y, c):
    """The value of a series in two coordinates at points."""
    return value_2d(_rule, x, y, c)


def chebval3d(x, y, z, c):
    """The value of a series in three coordinates at points."""
    return value_3d(_rule, x, y, z, c)


def chebgrid2d(x, y, c):
    """The value of a series in two coordinates at all pairs of points."""
    return value(_rule, y, value(_rule, x, c, True), True)


def chebgrid3d(x, y, z, c):
    """The value of a series in three coordinates at all triples of points."""
    return value(_rule, z, value(_rule, y, value(_rule, x, c, True), True), True)


def chebder(c, m=1, scl=1, axis=0):
    """The derivative of a series, m times.

    >>> np.polynomial.chebyshev.chebder(np.array([1.0, 2.0, 4.0]))
    array([ 2., 16.])
    """
    return derive(_slopes, c, m, scl, axis)


def chebint(c, m=1, k=(), lbnd=0, scl=1, axis=0):
    """The integral of a series from a bound, m times.

    >>> np.polynomial.chebyshev.chebint(np.array([1.0, 2.0]))
    array([0.5, 1. , 0.5])
    """
    return integrate(_rule, _areas, c, m, k, lbnd, scl, axis)


def chebfromroots(roots):
    """The series with these zeros.

    >>> np.polynomial.chebyshev.chebfromroots(np.array([1.0, -1.0]))
    array([-0.5,  0. ,  0.5])
    """
    return from_roots(_rule, roots)


def chebvander(x, deg):
    """The values of the first polynomials at points, along a last axis.

    >>> np.polynomial.chebyshev.chebvander(np.array([1.0, 2.0]), 2)
    array([[1., 1., 1.],
           [1., 2., 7.]])
    """
    return powers(_rule, x, deg)


def chebvander2d(x, y, deg):
    """The products of the first polynomials of two coordinates, along a last axis."""
    return powers_2d(_rule, x, y, deg)


def chebvander3d(x, y, z, deg):
    """The products of the first polynomials of three coordinates, along a last axis."""
    return powers_3d(_rule, x, y, z, deg)


def chebfit(x, y, deg, rcond=None, full=False, w=None):
    """The series that comes nearest to values at points, by least squares."""
    return fit(_rule, x, y, deg, rcond, full, w)


def chebcompanion(c):
    """The companion matrix of a series, whose eigenvalues are its zeros.

    >>> np.polynomial.chebyshev.chebcompanion(np.array([1.0, 2.0]))
    array([[-0.5]])
    """
    return companion(_rule, c)


def chebroots(c):
    """The zeros of a series, sorted."""
    return zeros_of(_rule, c)


def cheb2poly(c):
    """The series in powers.

    >>> np.polynomial.chebyshev.cheb2poly(np.array([1.0, 2.0, 3.0]))
    array([-2.,  2.,  6.])
    """
    return to_powers(_rule, c)


def poly2cheb(pol):
    """A series in powers in these polynomials.

    >>> np.polynomial.chebyshev.poly2cheb(np.array([1.0, 2.0, 3.0]))
    array([2.5, 2. , 1.5])
    """
    return from_powers(_rule, pol)


def chebgauss(deg):
    """Points and weights of the quadrature of Gauss and Chebyshev.

    >>> np.polynomial.chebyshev.chebgauss(1)[1]
    array([3.14159265])
    """
    n = index_of(deg)
    if n <= 0:
        raise ValueError("deg must be a positive integer")
    x, w = new_array((n,), np.float64), new_array((n,), np.float64)
    for i in range(n):
        prim.set_item(x, i, prim.cos(3.141592653589793 * float(2 * i + 1) / (2.0 * float(n))))
        prim.set_item(w, i, 3.141592653589793 / float(n))
    return x, w


def chebweight(x):
    """The weight of the polynomials at points.

    >>> np.polynomial.chebyshev.chebweight(0.0)
    np.float64(1.0)
    """
    return 1.0 / (np.sqrt(1.0 + x) * np.sqrt(1.0 - x))


def _whole(npts, least):
    if prim.is_float(npts):
        if npts != prim.floor(npts):
            raise ValueError("npts must be integer")
        return _whole(int(npts), least)
    n = index_of(npts)
    if n < least:
        raise ValueError("npts must be >= " + str(least))
    return n


def chebpts1(npts):
    """The zeros of a polynomial.

    >>> np.polynomial.chebyshev.chebpts1(2)
    array([-0.70710678,  0.70710678])
    """
    n = _whole(npts, 1)
    return np.sin(0.5 * np.pi / n * np.arange(-n + 1, n + 1, 2))


def chebpts2(npts):
    """The points where a polynomial is greatest or least.

    >>> np.polynomial.chebyshev.chebpts2(2)
    array([-1.,  1.])
    """
    return np.cos(np.linspace(-np.pi, 0, _whole(npts, 2)))


def chebinterpolate(func, deg, args=()):
    """The series that has a function's values at the zeros of the next polynomial."""
    n = index_of(deg)
    if n < 0:
        raise ValueError("expected deg >= 0")
    x = chebpts1(n + 1)
    c = np.dot(chebvander(x, n).T, func(x, *args))
    for k in range(n + 1):
        prim.set_item(c, k, prim.item(c, k) / (float(n + 1) if k == 0 else 0.5 * float(n + 1)))
    return c
