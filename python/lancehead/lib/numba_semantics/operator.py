"""Operators for which Numba has other answers: powers of integers."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.operator import pow as python_pow


def pow(a, b, /):
    """A power: with a negative exponent, that of an integer is the whole part of the quotient."""
    if prim.is_int(a) and prim.is_int(b) and prim.is_signed(b) and b < 0:
        return _int_inverse(prim.cast(a, prim.result_type(a, b)), b)
    return python_pow(a, b)


def _int_inverse(a, b):
    dtype = prim.dtype_of(a)
    if b == np.iinfo(prim.dtype_of(b)).min:
        raise OverflowError
    if a == 0:
        if not prim.numpy_errors():
            raise ZeroDivisionError("0 cannot be raised to a negative power")
        return prim.cast(prim.shl(prim.cast(1, np.int64), 8 * prim.itemsize(dtype) - 1), dtype)
    if a == 1:
        return a
    if prim.is_signed(a) and a == -1:
        return a if (b & 1) != 0 else prim.cast(1, dtype)
    return prim.cast(0, dtype)
