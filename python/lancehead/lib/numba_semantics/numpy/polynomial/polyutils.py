"""`numpy.polynomial.polyutils` as Numba has it."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.checks import need_array_like, need_flag
from lancehead.lib.numpy.creation import asarray


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
    return np.polynomial.polyutils.as_series(alist, trim)
