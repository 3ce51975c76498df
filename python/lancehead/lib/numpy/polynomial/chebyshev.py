"""`numpy.polynomial.chebyshev`: series of Chebyshev's polynomials of the first kind."""

import numpy as np

import lancehead.lib.numpy.polynomial._series as kernels
from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.layout import new_array
from lancehead.lib.numpy.polynomial._families import copy_functions


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


def _family():
    return _rule, _slopes, _areas, _rule, chebline, -1.0


def chebline(off, scl):
    """The series of a line."""
    return kernels.line(off, scl)


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
    """The weight of the polynomials at points."""
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
    """The points where a polynomial is greatest or least."""
    return np.cos(np.linspace(-np.pi, 0, _whole(npts, 2)))


def chebinterpolate(func, deg, args=()):
    """The series that has a function's values at the zeros of the next polynomial."""
    n = index_of(deg)
    if n < 0:
        raise ValueError("expected deg >= 0")
    x = chebpts1(n + 1)
    c = np.dot(kernels.powers(_rule, x, n).T, func(x, *args))
    for k in range(n + 1):
        prim.set_item(c, k, prim.item(c, k) / (float(n + 1) if k == 0 else 0.5 * float(n + 1)))
    return c


copy_functions(globals(), "cheb")
