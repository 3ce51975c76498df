"""`numpy.polynomial.legendre`: series of Legendre's polynomials."""

import lancehead.lib.numpy.polynomial._series as kernels
from lancehead.lib.numpy.polynomial._families import copy_functions
from lancehead.lib.numpy.polynomial._fitting import quadrature


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


def leggauss(deg):
    """Points and weights of the quadrature of Gauss and Legendre."""
    return quadrature(_rule, deg, 2.0, True)


def legweight(x):
    """The weight of the polynomials at points."""
    return x * 0.0 + 1.0


copy_functions(globals(), "leg")
