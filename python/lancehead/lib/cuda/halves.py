"""`cuda.fp16` and `cuda.bf16` in kernels: each function takes the type first, computes in `float32` and rounds once.

Operands of other types become of the type first. Conversions that say how they round are in `rounding.py`.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.cuda.rounding import half_bits, half_of_bits


def _wide(t, x):
    return prim.cast(prim.cast(x, t), np.float32)


def _half(t, x):
    return prim.cast(x, t)


def _saturated(t, x):
    # Within 0 and 1; NaN becomes 0.
    return _half(t, x if x > 0.0 and x < 1.0 else prim.cast(1 if x >= 1.0 else 0, np.float32))


def _sum(t, a, b, c):
    # The product of two is exact in 64 bits, and so nearly is the sum: its rounding to 53 bits keeps what decides.
    return prim.cast(_wide(t, a), np.float64) * prim.cast(_wide(t, b), np.float64) + prim.cast(_wide(t, c), np.float64)


def hadd(t, a, b):
    """`a + b`"""
    return _half(t, _wide(t, a) + _wide(t, b))


def hsub(t, a, b):
    """`a - b`"""
    return _half(t, _wide(t, a) - _wide(t, b))


def hmul(t, a, b):
    """`a * b`"""
    return _half(t, _wide(t, a) * _wide(t, b))


def hdiv(t, a, b):
    """`a / b`"""
    return _half(t, prim.fdiv(_wide(t, a), _wide(t, b)))


def hadd_sat(t, a, b):
    """`a + b`, within 0 and 1."""
    return _saturated(t, _wide(t, a) + _wide(t, b))


def hsub_sat(t, a, b):
    """`a - b`, within 0 and 1."""
    return _saturated(t, _wide(t, a) - _wide(t, b))


def hmul_sat(t, a, b):
    """`a * b`, within 0 and 1."""
    return _saturated(t, _wide(t, a) * _wide(t, b))


def hfma(t, a, b, c):
    """`a * b + c`, rounded once."""
    return _half(t, _sum(t, a, b, c))


def hfma_sat(t, a, b, c):
    """`a * b + c`, rounded once, within 0 and 1."""
    return _saturated(t, _wide(t, _sum(t, a, b, c)))


def hfma_relu(t, a, b, c):
    """`a * b + c`, rounded once, or 0 if that is negative."""
    x = hfma(t, a, b, c)
    return _half(t, 0.0) if x < _half(t, 0.0) else x


def hneg(t, a):
    """`-a`"""
    return -_half(t, a)


def habs(t, a):
    """`abs(a)`"""
    return abs(_half(t, a))


def heq(t, a, b):
    """`a == b`"""
    return _wide(t, a) == _wide(t, b)


def hne(t, a, b):
    """`a != b`, of which none is NaN."""
    return _wide(t, a) < _wide(t, b) or _wide(t, a) > _wide(t, b)


def hlt(t, a, b):
    """`a < b`"""
    return _wide(t, a) < _wide(t, b)


def hle(t, a, b):
    """`a <= b`"""
    return _wide(t, a) <= _wide(t, b)


def hgt(t, a, b):
    """`a > b`"""
    return _wide(t, a) > _wide(t, b)


def hge(t, a, b):
    """`a >= b`"""
    return _wide(t, a) >= _wide(t, b)


def hequ(t, a, b):
    """`a == b`, or one is NaN."""
    return not hne(t, a, b)


def hneu(t, a, b):
    """`a != b`, or one is NaN."""
    return _wide(t, a) != _wide(t, b)


def hltu(t, a, b):
    """`a < b`, or one is NaN."""
    return not hge(t, a, b)


def hleu(t, a, b):
    """`a <= b`, or one is NaN."""
    return not hgt(t, a, b)


def hgtu(t, a, b):
    """`a > b`, or one is NaN."""
    return not hle(t, a, b)


def hgeu(t, a, b):
    """`a >= b`, or one is NaN."""
    return not hlt(t, a, b)


def hisnan(t, a):
    """Whether it is NaN."""
    return _wide(t, a) != _wide(t, a)


def hisinf(t, a):
    """1 for infinity, -1 for its negative, 0 for all else."""
    x = _wide(t, a)
    return prim.cast(1 if x == np.inf else -1 if x == -np.inf else 0, np.int32)


def hmax(t, a, b):
    """The greater of two numbers; of a number and NaN, the number."""
    x, y = _half(t, a), _half(t, b)
    return x if x > y or y != y else y


def hmin(t, a, b):
    """The less of two numbers; of a number and NaN, the number."""
    x, y = _half(t, a), _half(t, b)
    return x if x < y or y != y else y


def hmax_nan(t, a, b):
    """The greater of two numbers, or NaN if one is."""
    x, y = _half(t, a), _half(t, b)
    return x if x > y or x != x else y


def hmin_nan(t, a, b):
    """The less of two numbers, or NaN if one is."""
    x, y = _half(t, a), _half(t, b)
    return x if x < y or x != x else y


def half2float(t, a):
    """As `float32`, exactly."""
    return _wide(t, a)


def float2half(t, a):
    """The nearest number."""
    return _half(t, prim.cast(a, np.float32))


def double2half(t, a):
    """The nearest number."""
    return _half(t, prim.cast(a, np.float64))


def half_as_short(t, a):
    """The bits."""
    return half_bits(_half(t, a))


def half_as_ushort(t, a):
    """The bits."""
    return prim.cast(half_bits(_half(t, a)), np.uint16)


def short_as_half(t, a):
    """The number of these bits."""
    return half_of_bits(t, prim.cast(a, np.int16))


def hsin(t, a):
    """Sine."""
    return _half(t, prim.sin(_wide(t, a)))


def hcos(t, a):
    """Cosine."""
    return _half(t, prim.cos(_wide(t, a)))


def hlog(t, a):
    """Natural logarithm."""
    return _half(t, prim.log(_wide(t, a)))


def hlog2(t, a):
    """Logarithm to the base 2."""
    return _half(t, prim.log2(_wide(t, a)))


def hlog10(t, a):
    """Logarithm to the base 10."""
    return _half(t, prim.log10(_wide(t, a)))


def hexp(t, a):
    """`e ** a`"""
    return _half(t, prim.exp(_wide(t, a)))


def hexp2(t, a):
    """`2 ** a`"""
    return _half(t, prim.exp2(_wide(t, a)))


def hexp10(t, a):
    """`10 ** a`"""
    return _half(t, prim.exp(prim.cast(_wide(t, a), np.float64) * 2.302585092994046))


def htanh(t, a):
    """Hyperbolic tangent."""
    return _half(t, prim.tanh(_wide(t, a)))


def hsqrt(t, a):
    """Square root."""
    return _half(t, prim.sqrt(_wide(t, a)))


def hrsqrt(t, a):
    """One by the square root."""
    return _half(t, prim.fdiv(prim.cast(1, np.float64), prim.sqrt(prim.cast(_wide(t, a), np.float64))))


def hrcp(t, a):
    """One by a number."""
    return _half(t, prim.fdiv(prim.cast(1, np.float32), _wide(t, a)))


def hfloor(t, a):
    """The next integer below."""
    return _half(t, prim.floor(_wide(t, a)))


def hceil(t, a):
    """The next integer above."""
    return _half(t, prim.ceil(_wide(t, a)))


def htrunc(t, a):
    """The integer towards zero."""
    return _half(t, prim.trunc(_wide(t, a)))


def hrint(t, a):
    """The nearest integer; of two as near, the even one."""
    return _half(t, prim.rint(_wide(t, a)))
