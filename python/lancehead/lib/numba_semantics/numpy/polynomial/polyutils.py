"""`numpy.polynomial.polyutils` as Numba has it."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.checks import need_array_like, need_flag
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.manip import each


def wide(c):
    """Coefficients as doubles, or as complex numbers of two."""
    x = asarray(c)
    if prim.is_complex(prim.dtype_of(x)):
        return asarray(x, np.complex128)
    return asarray(x, np.float64)


def trimseq(seq):
    """A series without its highest coefficients that are zero."""
    need_array_like(seq, 'The argument "seq" must be array-like')
    if prim.is_tuple(seq):
        prim.error('Unsupported type of argument "seq": a tuple')
    if asarray(seq).ndim > 1:
        prim.error("Coefficient array is not 1-d")
    return np.polynomial.polyutils.trimseq(seq)


def as_series(alist, trim=True):
    """Series of one type of floats or complex numbers, without their highest coefficients that are zero."""
    need_array_like(alist, 'The argument "alist" must be array-like')
    need_flag(trim, 'The argument "trim" must be boolean')
    if prim.is_array(alist):
        if alist.ndim > 2:
            prim.error("Coefficient array is not 1-d")
    if prim.is_tuple(alist):
        return np.polynomial.polyutils.as_series(each(wide, alist), trim)
    return np.polynomial.polyutils.as_series(wide(alist) if prim.is_array(alist) else alist, trim)
