"""Kernels of the ufuncs of divisors and multiples, in 64 bits without a sign."""

import numpy as np

from lancehead.lib import prim


def gcd(x, y):
    """Greatest common divisor.

    >>> np.gcd(np.array([12, 18]), 8)
    array([4, 2])
    """
    dtype = prim.result_type(x, y)
    if not prim.is_int(dtype):
        prim.error("divisors and multiples are of integers")
    return prim.cast(_divisor(_size(x, dtype), _size(y, dtype)), dtype)


def _size(x, dtype):
    # The magnitude in 64 bits without a sign, which hold that of the least integer, too.
    a = prim.cast(x, dtype)
    return prim.cast(prim.abs(prim.cast(a, np.int64)) if prim.is_signed(dtype) else a, np.uint64)


def _divisor(a, b):
    while b != 0:
        a, b = b, prim.srem(a, b)
    return a


def lcm(x, y):
    """Least common multiple.

    >>> np.lcm(4, 6)
    np.int64(12)
    """
    dtype = prim.result_type(x, y)
    if not prim.is_int(dtype):
        prim.error("divisors and multiples are of integers")
    a, b = _size(x, dtype), _size(y, dtype)
    if a == 0 or b == 0:
        return prim.cast(0, dtype)
    return prim.cast(prim.sdiv(a, _divisor(a, b)) * b, dtype)
