"""`cuda.fp16` in kernels: each function computes in `float32` and rounds once, operands of other types become `float16` first."""

import numpy as np

from lancehead.lib import prim


def _wide(x):
    return prim.cast(prim.cast(x, np.float16), np.float32)


def _half(x):
    return prim.cast(x, np.float16)


def hadd(a, b):
    """`a + b`"""
    return _half(_wide(a) + _wide(b))


def hsub(a, b):
    """`a - b`"""
    return _half(_wide(a) - _wide(b))


def hmul(a, b):
    """`a * b`"""
    return _half(_wide(a) * _wide(b))


def hdiv(a, b):
    """`a / b`"""
    return _half(prim.fdiv(_wide(a), _wide(b)))


def hfma(a, b, c):
    """`a * b + c`, rounded once."""
    # The product of two is exact in 64 bits, and so nearly is the sum: its rounding to 53 bits keeps what decides.
    return _half(prim.cast(_wide(a), np.float64) * prim.cast(_wide(b), np.float64) + prim.cast(_wide(c), np.float64))


def hneg(a):
    """`-a`"""
    return -_half(a)


def habs(a):
    """`abs(a)`"""
    return abs(_half(a))


def heq(a, b):
    """`a == b`"""
    return _half(a) == _half(b)


def hne(a, b):
    """`a != b`"""
    return _half(a) != _half(b)


def hlt(a, b):
    """`a < b`"""
    return _half(a) < _half(b)


def hle(a, b):
    """`a <= b`"""
    return _half(a) <= _half(b)


def hgt(a, b):
    """`a > b`"""
    return _half(a) > _half(b)


def hge(a, b):
    """`a >= b`"""
    return _half(a) >= _half(b)


def hmax(a, b):
    """The greater of two numbers; of a number and NaN, the number."""
    x, y = _half(a), _half(b)
    return x if x > y or y != y else y


def hmin(a, b):
    """The less of two numbers; of a number and NaN, the number."""
    x, y = _half(a), _half(b)
    return x if x < y or y != y else y


def hsin(a):
    """Sine."""
    return _half(prim.sin(_wide(a)))


def hcos(a):
    """Cosine."""
    return _half(prim.cos(_wide(a)))


def hlog(a):
    """Natural logarithm."""
    return _half(prim.log(_wide(a)))


def hlog2(a):
    """Logarithm to the base 2."""
    return _half(prim.log2(_wide(a)))


def hlog10(a):
    """Logarithm to the base 10."""
    return _half(prim.log10(_wide(a)))


def hexp(a):
    """`e ** a`"""
    return _half(prim.exp(_wide(a)))


def hexp2(a):
    """`2 ** a`"""
    return _half(prim.exp2(_wide(a)))


def hexp10(a):
    """`10 ** a`"""
    return _half(prim.exp(prim.cast(_wide(a), np.float64) * 2.302585092994046))


def htanh(a):
    """Hyperbolic tangent."""
    return _half(prim.tanh(_wide(a)))


def htanh_approx(a):
    """Hyperbolic tangent."""
    return _half(prim.tanh(_wide(a)))


def hsqrt(a):
    """Square root."""
    return _half(prim.sqrt(_wide(a)))


def hrsqrt(a):
    """One by the square root."""
    return _half(prim.fdiv(prim.cast(1, np.float64), prim.sqrt(prim.cast(_wide(a), np.float64))))


def hrcp(a):
    """One by a number."""
    return _half(prim.fdiv(prim.cast(1, np.float32), _wide(a)))


def hfloor(a):
    """The next integer below."""
    return _half(prim.floor(_wide(a)))


def hceil(a):
    """The next integer above."""
    return _half(prim.ceil(_wide(a)))


def htrunc(a):
    """The integer towards zero."""
    return _half(prim.trunc(_wide(a)))


def hrint(a):
    """The nearest integer; of two as near, the even one."""
    return _half(prim.rint(_wide(a)))
