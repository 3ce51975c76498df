"""`numpy.polynomial.hermite`: series of Hermite's polynomials of physicists."""

import numpy as np

import lancehead.lib.numpy.polynomial._series as kernels
from lancehead.lib.numpy.polynomial._families import copy_functions
from lancehead.lib.numpy.polynomial._fitting import quadrature


def _rule(k):
    return 2.0, 0.0, 2.0 * float(k - 1)


def _slopes(k):
    return 2.0 * float(k), 0.0, 0.0


def _areas(k):
    return 2.0 * float(k + 1), 0.0, 0.0


def _family():
    return _rule, _slopes, _areas, _rule, hermline, -1.0


def hermline(off, scl):
    """The series of a line."""
    return kernels.line(off, scl / 2)


def hermgauss(deg):
    """Points and weights of the quadrature of Gauss and Hermite."""
    return quadrature(_rule, deg, 1.7724538509055159, True)


def hermweight(x):
    """The weight of the polynomials at points."""
    return np.exp(-(x**2))


copy_functions(globals(), "herm")
