"""NVIDIA's mathematical functions. Those with an underscore are of any float type: `_sin` is `libdevice.sin` of `float64` and
`libdevice.sinf` of `float32`, to which arguments have been converted.

Functions that say how they round are in `rounding.py`, Bessel and inverse error functions in `special.py`. Results are those of
lancehead's own functions, within their bounds, on the CPU device and on GPUs.
"""

import math

import numpy as np

from lancehead.lib import prim
from lancehead.lib.cuda.rounding import _f32, _f64, _i32, _i64, _to_i64, _u32, _u64
from lancehead.lib.cuda.special import _erfcinv, _erfcx, _erfinv, _j0, _j1, _jn, _like, _normcdfinv, _y0, _y1, _yn  # noqa: F401


def abs(x):
    return _i32(x) if _i32(x) >= 0 else -_i32(x)


def llabs(x):
    return _i64(x) if _i64(x) >= 0 else -_i64(x)


def brev(x):
    return prim.bitreverse(_i32(x))


def brevll(x):
    return prim.bitreverse(_i64(x))


def clz(x):
    return _i32(prim.ctlz(_u32(x)))


def clzll(x):
    return _i32(prim.ctlz(_u64(x)))


def ffs(x):
    return _i32(0) if _i32(x) == 0 else _i32(prim.cttz(_u32(x))) + _i32(1)


def ffsll(x):
    return _i32(0) if _i64(x) == 0 else _i32(prim.cttz(_u64(x))) + _i32(1)


def popc(x):
    return _i32(prim.popcount(_u32(x)))


def popcll(x):
    return _i32(prim.popcount(_u64(x)))


def max(a, b):
    return _i32(a) if _i32(a) > _i32(b) else _i32(b)


def min(a, b):
    return _i32(a) if _i32(a) < _i32(b) else _i32(b)


def umax(a, b):
    return _i32(a) if _u32(a) > _u32(b) else _i32(b)


def umin(a, b):
    return _i32(a) if _u32(a) < _u32(b) else _i32(b)


def llmax(a, b):
    return _i64(a) if _i64(a) > _i64(b) else _i64(b)


def llmin(a, b):
    return _i64(a) if _i64(a) < _i64(b) else _i64(b)


def ullmax(a, b):
    return _i64(a) if _u64(a) > _u64(b) else _i64(b)


def ullmin(a, b):
    return _i64(a) if _u64(a) < _u64(b) else _i64(b)


def hadd(a, b):
    return _i32((_i64(_i32(a)) + _i64(_i32(b))) >> 1)


def rhadd(a, b):
    return _i32((_i64(_i32(a)) + _i64(_i32(b)) + 1) >> 1)


def uhadd(a, b):
    return _i32((_i64(_u32(a)) + _i64(_u32(b))) >> 1)


def urhadd(a, b):
    return _i32((_i64(_u32(a)) + _i64(_u32(b)) + 1) >> 1)


def mulhi(a, b):
    return _i32((_i64(_i32(a)) * _i64(_i32(b))) >> 32)


def umulhi(a, b):
    return _i32((_u64(_u32(a)) * _u64(_u32(b))) >> _u64(32))


def _high(a, b):
    # Upper half of the product of two unsigned numbers, by halves.
    low = _u64(0xFFFFFFFF)
    half = _u64(32)
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    middle = a1 * b0 + ((a0 * b0) >> half)
    return a1 * b1 + (middle >> half) + (((middle & low) + a0 * b1) >> half)


def umul64hi(a, b):
    return _i64(_high(_u64(a), _u64(b)))


def mul64hi(a, b):
    x, y = _i64(a), _i64(b)
    high = _i64(_high(_u64(x), _u64(y)))
    if x < 0:
        high -= y
    if y < 0:
        high -= x
    return high


def _low24(x):
    return (_i32(x) << _i32(8)) >> _i32(8)


def mul24(a, b):
    return _low24(a) * _low24(b)


def umul24(a, b):
    mask = _u32(0xFFFFFF)
    return _i32((_u32(a) & mask) * (_u32(b) & mask))


def sad(a, b, c):
    difference = _i64(_i32(a)) - _i64(_i32(b))
    return _i32((difference if difference >= 0 else -difference) + _i64(_u32(c)))


def usad(a, b, c):
    difference = _i64(_u32(a)) - _i64(_u32(b))
    return _i32((difference if difference >= 0 else -difference) + _i64(_u32(c)))


def byte_perm(a, b, s):
    both = _u64(_u32(a)) | (_u64(_u32(b)) << _u64(32))
    result = _u64(0)
    for i in range(4):
        which = (_u64(_u32(s)) >> _u64(4 * i)) & _u64(7)
        result |= ((both >> (which * _u64(8))) & _u64(255)) << _u64(8 * i)
    return _i32(_u32(result))


def _acos(x):
    return prim.acos(x)


def _acosh(x):
    return prim.acosh(x)


def _asin(x):
    return prim.asin(x)


def _asinh(x):
    return prim.asinh(x)


def _atan(x):
    return prim.atan(x)


def _atanh(x):
    return prim.atanh(x)


def _atan2(y, x):
    return prim.atan2(y, x)


def _cbrt(x):
    return prim.cbrt(x)


def _rcbrt(x):
    return prim.fdiv(_like(1, x), prim.cbrt(x))


def _ceil(x):
    return prim.ceil(x)


def _floor(x):
    return prim.floor(x)


def _trunc(x):
    return prim.trunc(x)


def _rint(x):
    return prim.rint(x)


def _nearbyint(x):
    return prim.rint(x)


def _round(x):
    # Halves go away from zero.
    whole = prim.trunc(x)
    if prim.fabs(x - whole) >= _like(0.5, x):
        return whole + prim.copysign(_like(1, x), x)
    return prim.copysign(whole, x)


def _cos(x):
    return prim.cos(x)


def _sin(x):
    return prim.sin(x)


def _tan(x):
    return prim.tan(x)


def _turned(x):
    # What is left of `x` half turns after whole turns: exact.
    return x - _like(2, x) * prim.rint(x * _like(0.5, x))


def _sinpi(x):
    r = _turned(x)
    if r > _like(0.5, x):
        r = _like(1, x) - r
    elif r < _like(-0.5, x):
        r = _like(-1, x) - r
    if r == _like(0, x):
        return prim.copysign(_like(0, x), x)
    return prim.sin(r * _like(3.141592653589793, x))


def _cospi(x):
    r = prim.fabs(_turned(x))
    if r == _like(0.5, x):
        return _like(0, x)
    return prim.cos(r * _like(3.141592653589793, x))


def _sincos(x):
    return prim.sin(x), prim.cos(x)


def _sincospi(x):
    return _sinpi(x), _cospi(x)


def _cosh(x):
    return prim.cosh(x)


def _sinh(x):
    return prim.sinh(x)


def _tanh(x):
    return prim.tanh(x)


def _erf(x):
    return prim.erf(x)


def _erfc(x):
    return prim.erfc(x)


def _normcdf(x):
    return _like(0.5, x) * prim.erfc(x * _like(-0.7071067811865476, x))


def _exp(x):
    return prim.exp(x)


def _exp2(x):
    return prim.exp2(x)


def _exp10(x):
    return prim.pow(_like(10, x), x)


def _expm1(x):
    return prim.expm1(x)


def _log(x):
    return prim.log(x)


def _log2(x):
    return prim.log2(x)


def _log10(x):
    return prim.log10(x)


def _log1p(x):
    return prim.log1p(x)


def _logb(x):
    if x == _like(0, x):
        return _like(-np.inf, x)
    if not prim.isfinite(x):
        return x * x
    return _like(math.frexp(_f64(x))[1] - 1, x)


def _ilogb(x):
    if x == _like(0, x) or prim.isnan(x):
        return _i32(-2147483648)
    return _i32(2147483647) if prim.isinf(x) else _i32(math.frexp(_f64(x))[1] - 1)


def _lgamma(x):
    return prim.lgamma(x)


def _tgamma(x):
    return prim.tgamma(x)


def _sqrt(x):
    return prim.sqrt(x)


def _rsqrt(x):
    return prim.fdiv(_like(1, x), prim.sqrt(x))


def _fabs(x):
    return prim.fabs(x)


def _copysign(x, y):
    return prim.copysign(x, y)


def _fdim(x, y):
    return x - y if not x <= y else _like(0, x)


def _fmax(x, y):
    return prim.maxnum(x, y)


def _fmin(x, y):
    return prim.minnum(x, y)


def _fmod(x, y):
    return prim.frem(x, y)


def _hypot(x, y):
    return prim.hypot(x, y)


def _nextafter(x, y):
    return prim.nextafter(x, y)


def _pow(x, y):
    return prim.pow(x, y)


def _powi(x, n):
    return prim.pow(x, _like(_i32(n), x))


def _remainder(x, y):
    # Twice the divisor may overflow, half of it may not.
    r = prim.frem(x, y)
    size, d = prim.fabs(r), prim.fabs(y)
    half = d * _like(0.5, x)
    odd = prim.fabs(prim.frem(x, d + d)) >= d
    if size > half or (size == half and odd):
        size -= d
    return -size if prim.signbit(r) else size


def _remquo(x, y):
    # The quotient's last bits, with its sign.
    rest, eight = _remainder(x, y), prim.fabs(y) * _like(8, x)
    part = prim.frem(x, eight) if eight - eight == 0 else x
    quotient = _i32(prim.rint(prim.fdiv(part - rest, y)))
    return rest, quotient & 7 if quotient >= 0 else -(-quotient & 7)


def _fma(x, y, z):
    return prim.fma(x, y, z)


def _ldexp(x, n):
    return _like(prim.ldexp(_f64(x), _i32(n)), x)


def _scalbn(x, n):
    return _like(prim.ldexp(_f64(x), _i32(n)), x)


def _frexp(x):
    m, e = math.frexp(_f64(x))
    return _like(m, x), _i32(e)


def _modf(x):
    whole = prim.trunc(x)
    rest = _like(0, x) if prim.isinf(x) else x - whole
    return prim.copysign(rest, x), prim.copysign(whole, x)


def _fast_cos(x):
    return prim.cos(x)


def _fast_sin(x):
    return prim.sin(x)


def _fast_tan(x):
    return prim.tan(x)


def _fast_sincos(x):
    return prim.sin(x), prim.cos(x)


def _fast_exp(x):
    return prim.exp(x)


def _fast_exp10(x):
    return prim.pow(_like(10, x), x)


def _fast_log(x):
    return prim.log(x)


def _fast_log2(x):
    return prim.log2(x)


def _fast_log10(x):
    return prim.log10(x)


def _fast_pow(x, y):
    return prim.pow(x, y)


def _fast_fdivide(x, y):
    return prim.fdiv(x, y)


def _saturate(x):
    # NaN becomes 0.
    return _like(0, x) if not x > _like(0, x) else _like(1, x) if x > _like(1, x) else x


def isfinited(x):
    return _i32(prim.isfinite(_f64(x)))


def finitef(x):
    return _i32(prim.isfinite(_f32(x)))


def isinfd(x):
    return _i32(prim.isinf(_f64(x)))


def isinff(x):
    return _i32(prim.isinf(_f32(x)))


def isnand(x):
    return _i32(prim.isnan(_f64(x)))


def isnanf(x):
    return _i32(prim.isnan(_f32(x)))


def signbitd(x):
    return _i32(prim.signbit(_f64(x)))


def signbitf(x):
    return _i32(prim.signbit(_f32(x)))


def frsqrt_rn(x):
    return _f32(prim.fdiv(_f64(1), prim.sqrt(_f64(_f32(x)))))


def fmaf_rn(x, y, z):
    return prim.fma(_f32(x), _f32(y), _f32(z))


def double_as_longlong(x):
    return prim.bits_of_f64(_f64(x))


def longlong_as_double(x):
    return prim.f64_of_bits(_i64(x))


def float_as_int(x):
    return prim.bits_of_f32(_f32(x))


def int_as_float(x):
    return prim.f32_of_bits(_i32(x))


def double2hiint(x):
    return _i32(prim.bits_of_f64(_f64(x)) >> 32)


def double2loint(x):
    return _i32(prim.bits_of_f64(_f64(x)))


def hiloint2double(hi, lo):
    return prim.f64_of_bits((_i64(_i32(hi)) << 32) | _i64(_u32(lo)))


def float2half_rn(x):
    return prim.bits_of_f16(prim.cast(_f32(x), np.float16))


def half2float(x):
    return _f32(prim.f16_of_bits(prim.cast(x, np.int16)))


def _away(x):
    # To the nearest, halves away from zero.
    whole = prim.trunc(x)
    return whole + prim.copysign(1.0, x) if prim.fabs(x - whole) >= 0.5 else whole


def llrint(x):
    return _to_i64(_f64(x), 0)


def llrintf(x):
    return _to_i64(_f32(x), 0)


def llround(x):
    return _to_i64(_away(_f64(x)), 3)


def llroundf(x):
    return _to_i64(_away(_f64(_f32(x))), 3)
