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


def sinc_text(x):
    """Near zero its series, whose derivatives are those of the quotient also at zero itself."""
    dtype = prim.dtype_of(x) if prim.is_float(x) or prim.is_complex(x) else np.float64
    y = prim.cast(x, dtype) * prim.cast(3.141592653589793, prim.real_dtype(dtype))
    return _sine_over(y) if abs(y) < 1.0 else np.sin(y) / y


def _sine_over(y):
    t, s = y * y, prim.cast(1, prim.dtype_of(y))
    s = _rest(t, s, 342)
    s = _rest(t, s, 272)
    s = _rest(t, s, 210)
    s = _rest(t, s, 156)
    s = _rest(t, s, 110)
    s = _rest(t, s, 72)
    s = _rest(t, s, 42)
    s = _rest(t, s, 20)
    return _rest(t, s, 6)


def _rest(t, s, n):
    # The series `1 - y**2 / 6 (1 - y**2 / 20 (...))` from a term on: `n` is the product of two successive numbers.
    one = prim.cast(1, prim.dtype_of(s))
    return one - t * s * prim.cast(1.0 / n, prim.real_dtype(prim.dtype_of(s)))
