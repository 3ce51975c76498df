"""`numpy.polynomial.laguerre`: series of Laguerre's polynomials."""

import numpy as np

import lancehead.lib.numpy.polynomial._series as kernels
from lancehead.lib.numpy.polynomial._families import copy_functions
from lancehead.lib.numpy.polynomial._fitting import quadrature


def _rule(k):
    return -1.0 / float(k), float(2 * k - 1) / float(k), float(k - 1) / float(k)


def _slopes(k):
    return -1.0, 0.0, 1.0


def _areas(k):
    return -1.0, 0.0, 1.0


def _family():
    return _rule, _slopes, _areas, _rule, lagline, 0.0


def lagline(off, scl):
    """The series of a line."""
    return kernels.line(off + scl, -scl)


def laggauss(deg):
    """Points and weights of the quadrature of Gauss and Laguerre."""
    return quadrature(_rule, deg, 1.0, False)


def lagweight(x):
    """The weight of the polynomials at points."""
    return np.exp(-x)


copy_functions(globals(), "lag")
