"""Derivatives of ufuncs whose text has cases for zeros."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import like_signed


def modf_text(x):
    """Both parts without `copysign`, whose slope has the sign of a zero."""
    dtype = prim.dtype_of(x) if prim.is_float(x) else np.float64
    a = prim.cast(x, dtype)
    whole = prim.trunc(a)
    if prim.isinf(a):
        return prim.copysign(a - a if a != a else prim.cast(0, dtype), a), a
    return prim.cast(like_signed(a - whole, a), dtype), whole
