"""`numpy.polynomial.polyutils` as Numba has it."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.checks import need, need_array_like
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.manip import each


def wide(c):
    """Coefficients as doubles, or as complex numbers of two."""
    x = asarray(c)
    if prim.is_complex(prim.dtype_of(x)):
        return asarray(x, np.complex128)
    return asarray(x, np.float64)


def as_series(alist, trim=True):
    if prim.is_tuple(alist):
        return np.polynomial.polyutils.as_series(each(wide, alist), trim)
    return np.polynomial.polyutils.as_series(wide(alist) if prim.is_array(alist) else alist, trim)


def trimseq(seq):
    need_array_like(seq, 'The argument "seq" must be array-like')
    need(not (prim.is_tuple(seq)), 'Unsupported type of argument "seq": a tuple')
    need(not (asarray(seq).ndim > 1), "Coefficient array is not 1-d")
    return np.polynomial.polyutils.trimseq(seq)
