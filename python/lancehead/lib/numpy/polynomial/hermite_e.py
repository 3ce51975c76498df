"""`numpy.polynomial.hermite_e`: series of Hermite's polynomials of probability."""

import numpy as np

import lancehead.lib.numpy.polynomial._series as kernels
from lancehead.lib.numpy.polynomial._families import copy_functions
from lancehead.lib.numpy.polynomial._fitting import quadrature


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


def hermegauss(deg):
    """Points and weights of the quadrature of Gauss and Hermite."""
    return quadrature(_rule, deg, 2.5066282746310002, True)


def hermeweight(x):
    """The weight of the polynomials at points."""
    return np.exp(-0.5 * x**2)


copy_functions(globals(), "herme")
