"""`numpy.polynomial.polyutils` as Numba has it."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.checks import need, need_array_like
from lancehead.lib.numpy.creation import asarray


def trimseq(seq):
    need_array_like(seq, 'The argument "seq" must be array-like')
    need(not (prim.is_tuple(seq)), 'Unsupported type of argument "seq": a tuple')
    need(not (asarray(seq).ndim > 1), "Coefficient array is not 1-d")
    return np.polynomial.polyutils.trimseq(seq)
