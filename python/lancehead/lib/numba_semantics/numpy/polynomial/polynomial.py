"""`numpy.polynomial.polynomial` as Numba has it: on doubles, or on complex numbers of two."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.numpy.polynomial.polyutils import wide


def polyadd(c1, c2):
    return np.polynomial.polynomial.polyadd(wide(c1), wide(c2))


def polysub(c1, c2):
    return np.polynomial.polynomial.polysub(wide(c1), wide(c2))


def polymul(c1, c2):
    return np.polynomial.polynomial.polymul(wide(c1), wide(c2))


def polydiv(c1, c2):
    return np.polynomial.polynomial.polydiv(wide(c1), wide(c2))


def polyval(x, c, tensor=True):
    return np.polynomial.polynomial.polyval(x if prim.is_number(x) else wide(x), wide(c), tensor)


def polyint(c, m=1, k=(), lbnd=0, scl=1, axis=0):
    return np.polynomial.polynomial.polyint(wide(c), m, k, lbnd, scl, axis)
