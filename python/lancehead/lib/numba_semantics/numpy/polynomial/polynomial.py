"""`numpy.polynomial.polynomial` as Numba has it."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.checks import need_array_like, need_flag, need_integer
from lancehead.lib.numba_semantics.numpy.polynomial.polyutils import wide


def _check_both(c1, c2):
    need_array_like(c1, 'The argument "c1" must be array-like')
    need_array_like(c2, 'The argument "c2" must be array-like')


def polyadd(c1, c2):
    """The sum of two series."""
    _check_both(c1, c2)
    return np.polynomial.polynomial.polyadd(wide(c1), wide(c2))


def polysub(c1, c2):
    """The difference of two series."""
    _check_both(c1, c2)
    return np.polynomial.polynomial.polysub(wide(c1), wide(c2))


def polymul(c1, c2):
    """The product of two series."""
    _check_both(c1, c2)
    return np.polynomial.polynomial.polymul(wide(c1), wide(c2))


def polydiv(c1, c2):
    """Quotient and remainder of two series."""
    _check_both(c1, c2)
    return np.polynomial.polynomial.polydiv(wide(c1), wide(c2))


def polyval(x, c, tensor=True):
    """The values of a series at points."""
    need_array_like(x, 'The argument "x" must be array-like')
    need_array_like(c, 'The argument "c" must be array-like')
    need_flag(tensor, 'The argument "tensor" must be boolean')
    return np.polynomial.polynomial.polyval(x if prim.is_number(x) else wide(x), wide(c), tensor)


def polyint(c, m=1, k=(), lbnd=0, scl=1, axis=0):
    """The integral of a series from a bound, m times."""
    need_array_like(c, 'The argument "c" must be array-like')
    need_integer(m, 'The argument "m" must be an integer')
    return np.polynomial.polynomial.polyint(wide(c), m, k, lbnd, scl, axis)
