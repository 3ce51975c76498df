"""NVIDIA's mathematical functions. Those with an underscore are of any float type: `_sin` is `libdevice.sin` of
`float64` and `libdevice.sinf` of `float32`, to which arguments have been converted.

Functions that say how they round are in `rounding.py`, Bessel and inverse error functions in `special.py`. Results are
those of lancehead's own functions, within their bounds, on the CPU device and on GPUs.
"""

import math

import numpy as np

from lancehead.lib import prim
from lancehead.lib.cuda.rounding import _f32, _f64, _i32, _i64, _to_i64, _u32, _u64
from lancehead.lib.cuda.special import _erfcinv, _erfcx, _erfinv, _j0, _j1, _jn, _like, _normcdfinv, _y0, _y1, _yn  # noqa: F401


def abs(x):
    """Absolute value of a 32-bit integer."""
    return _i32(x) if _i32(x) >= 0 else -_i32(x)


def llabs(x):
    """Absolute value of a 64-bit integer."""
    return _i64(x) if _i64(x) >= 0 else -_i64(x)


def brev(x):
    """The bits of a 32-bit integer in reverse order."""
    return prim.bitreverse(_i32(x))


def brevll(x):
    """The bits of a 64-bit integer in reverse order."""
    return prim.bitreverse(_i64(x))


def clz(x):
    """Number of zero bits of a 32-bit integer before the highest one that is set."""
    return _i32(prim.ctlz(_u32(x)))


def clzll(x):
    """Number of zero bits of a 64-bit integer before the highest one that is set."""
    return _i32(prim.ctlz(_u64(x)))


def ffs(x):
    """Place of the lowest bit of a 32-bit integer that is set, from 1; 0 if there is none."""
    return _i32(0) if _i32(x) == 0 else _i32(prim.cttz(_u32(x))) + _i32(1)


def ffsll(x):
    """Place of the lowest bit of a 64-bit integer that is set, from 1; 0 if there is none."""
    return _i32(0) if _i64(x) == 0 else _i32(prim.cttz(_u64(x))) + _i32(1)


def popc(x):
    """Number of bits of a 32-bit integer that are set."""
    return _i32(prim.popcount(_u32(x)))


def popcll(x):
    """Number of bits of a 64-bit integer that are set."""
    return _i32(prim.popcount(_u64(x)))


def max(a, b):
    """The larger of two 32-bit integers."""
    return _i32(a) if _i32(a) > _i32(b) else _i32(b)


def min(a, b):
    """The smaller of two 32-bit integers."""
    return _i32(a) if _i32(a) < _i32(b) else _i32(b)


def umax(a, b):
    """The larger of two unsigned 32-bit integers."""
    return _i32(a) if _u32(a) > _u32(b) else _i32(b)


def umin(a, b):
    """The smaller of two unsigned 32-bit integers."""
    return _i32(a) if _u32(a) < _u32(b) else _i32(b)


def llmax(a, b):
    """The larger of two 64-bit integers."""
    return _i64(a) if _i64(a) > _i64(b) else _i64(b)


def llmin(a, b):
    """The smaller of two 64-bit integers."""
    return _i64(a) if _i64(a) < _i64(b) else _i64(b)


def ullmax(a, b):
    """The larger of two unsigned 64-bit integers."""
    return _i64(a) if _u64(a) > _u64(b) else _i64(b)


def ullmin(a, b):
    """The smaller of two unsigned 64-bit integers."""
    return _i64(a) if _u64(a) < _u64(b) else _i64(b)


def hadd(a, b):
    """Half the sum of two 32-bit integers, rounded down, without overflow."""
    return _i32((_i64(_i32(a)) + _i64(_i32(b))) >> 1)


def rhadd(a, b):
    """Half the sum of two 32-bit integers, rounded up, without overflow."""
    return _i32((_i64(_i32(a)) + _i64(_i32(b)) + 1) >> 1)


def uhadd(a, b):
    """Half the sum of two unsigned 32-bit integers, rounded down, without overflow."""
    return _i32((_i64(_u32(a)) + _i64(_u32(b))) >> 1)


def urhadd(a, b):
    """Half the sum of two unsigned 32-bit integers, rounded up, without overflow."""
    return _i32((_i64(_u32(a)) + _i64(_u32(b)) + 1) >> 1)


def mulhi(a, b):
    """The upper 32 bits of the product of two 32-bit integers."""
    return _i32((_i64(_i32(a)) * _i64(_i32(b))) >> 32)


def umulhi(a, b):
    """The upper 32 bits of the product of two unsigned 32-bit integers."""
    return _i32((_u64(_u32(a)) * _u64(_u32(b))) >> _u64(32))


def _high(a, b):
    # Upper half of the product of two unsigned numbers, by halves.
    low = _u64(0xFFFFFFFF)
    half = _u64(32)
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    middle = a1 * b0 + ((a0 * b0) >> half)
    return a1 * b1 + (middle >> half) + (((middle & low) + a0 * b1) >> half)


def umul64hi(a, b):
    """The upper 64 bits of the product of two unsigned 64-bit integers."""
    return _i64(_high(_u64(a), _u64(b)))


def mul64hi(a, b):
    """The upper 64 bits of the product of two 64-bit integers."""
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
    """The lower 32 bits of the product of the lower 24 bits of two integers."""
    return _low24(a) * _low24(b)


def umul24(a, b):
    """The lower 32 bits of the product of the lower 24 bits of two unsigned integers."""
    mask = _u32(0xFFFFFF)
    return _i32((_u32(a) & mask) * (_u32(b) & mask))


def sad(a, b, c):
    """`abs(a - b) + c` of 32-bit integers."""
    difference = _i64(_i32(a)) - _i64(_i32(b))
    return _i32((difference if difference >= 0 else -difference) + _i64(_u32(c)))


def usad(a, b, c):
    """`abs(a - b) + c` of unsigned 32-bit integers."""
    difference = _i64(_u32(a)) - _i64(_u32(b))
    return _i32((difference if difference >= 0 else -difference) + _i64(_u32(c)))


def byte_perm(a, b, s):
    """Four of the eight bytes of `a` and `b`; each of the lower four hexadecimal digits of `s` names one."""
    both = _u64(_u32(a)) | (_u64(_u32(b)) << _u64(32))
    result = _u64(0)
    for i in range(4):
        which = (_u64(_u32(s)) >> _u64(4 * i)) & _u64(7)
        result |= ((both >> (which * _u64(8))) & _u64(255)) << _u64(8 * i)
    return _i32(_u32(result))


def _acos(x):
    """Arc cosine."""
    return prim.acos(x)


def _acosh(x):
    """Inverse hyperbolic cosine."""
    return prim.acosh(x)


def _asin(x):
    """Arc sine."""
    return prim.asin(x)


def _asinh(x):
    """Inverse hyperbolic sine."""
    return prim.asinh(x)


def _atan(x):
    """Arc tangent."""
    return prim.atan(x)


def _atanh(x):
    """Inverse hyperbolic tangent."""
    return prim.atanh(x)


def _atan2(y, x):
    """Angle of the point (`x`, `y`)."""
    return prim.atan2(y, x)


def _cbrt(x):
    """Cube root."""
    return prim.cbrt(x)


def _rcbrt(x):
    """One over the cube root."""
    return prim.fdiv(_like(1, x), prim.cbrt(x))


def _ceil(x):
    """The next integer not below."""
    return prim.ceil(x)


def _floor(x):
    """The next integer not above."""
    return prim.floor(x)


def _trunc(x):
    """The integer towards zero."""
    return prim.trunc(x)


def _rint(x):
    """The nearest integer; of two, the even one."""
    return prim.rint(x)


def _nearbyint(x):
    """The nearest integer; of two, the even one."""
    return prim.rint(x)


def _round(x):
    """The nearest integer; of two, the one away from zero."""
    # Halves go away from zero.
    whole = prim.trunc(x)
    if prim.fabs(x - whole) >= _like(0.5, x):
        return whole + prim.copysign(_like(1, x), x)
    return prim.copysign(whole, x)


def _cos(x):
    """Cosine."""
    return prim.cos(x)


def _sin(x):
    """Sine."""
    return prim.sin(x)


def _tan(x):
    """Tangent."""
    return prim.tan(x)


def _turned(x):
    # The exact remainder of `x` after subtraction of a multiple of 2; sine and cosine of pi times it are the same.
    return x - _like(2, x) * prim.rint(x * _like(0.5, x))


def _sinpi(x):
    """Sine of `x` times pi."""
    r = _turned(x)
    if r > _like(0.5, x):
        r = _like(1, x) - r
    elif r < _like(-0.5, x):
        r = _like(-1, x) - r
    if r == _like(0, x):
        return prim.copysign(_like(0, x), x)
    return prim.sin(r * _like(3.141592653589793, x))


def _cospi(x):
    """Cosine of `x` times pi."""
    r = prim.fabs(_turned(x))
    if r == _like(0.5, x):
        return _like(0, x)
    return prim.cos(r * _like(3.141592653589793, x))


def _sincos(x):
    """Sine and cosine."""
    return prim.sin(x), prim.cos(x)


def _sincospi(x):
    """Sine and cosine of `x` times pi."""
    return _sinpi(x), _cospi(x)


def _cosh(x):
    """Hyperbolic cosine."""
    return prim.cosh(x)


def _sinh(x):
    """Hyperbolic sine."""
    return prim.sinh(x)


def _tanh(x):
    """Hyperbolic tangent."""
    return prim.tanh(x)


def _erf(x):
    """Error function."""
    return prim.erf(x)


def _erfc(x):
    """One less the error function."""
    return prim.erfc(x)


def _normcdf(x):
    """Distribution function of the standard normal distribution."""
    return _like(0.5, x) * prim.erfc(x * _like(-0.7071067811865476, x))


def _exp(x):
    """e to the power of `x`."""
    return prim.exp(x)


def _exp2(x):
    """2 to the power of `x`."""
    return prim.exp2(x)


def _exp10(x):
    """10 to the power of `x`."""
    return prim.pow(_like(10, x), x)


def _expm1(x):
    """e to the power of `x`, less one."""
    return prim.expm1(x)


def _log(x):
    """Natural logarithm."""
    return prim.log(x)


def _log2(x):
    """Logarithm to base 2."""
    return prim.log2(x)


def _log10(x):
    """Logarithm to base 10."""
    return prim.log10(x)


def _log1p(x):
    """Natural logarithm of one plus `x`."""
    return prim.log1p(x)


def _logb(x):
    """The binary exponent, as a float."""
    if x == _like(0, x):
        return _like(-np.inf, x)
    if not prim.isfinite(x):
        return x * x
    return _like(math.frexp(_f64(x))[1] - 1, x)


def _ilogb(x):
    """The binary exponent, as an integer."""
    if x == _like(0, x) or prim.isnan(x):
        return _i32(-2147483648)
    return _i32(2147483647) if prim.isinf(x) else _i32(math.frexp(_f64(x))[1] - 1)


def _lgamma(x):
    """Logarithm of the gamma function's absolute value."""
    return math.lgamma(x)


def _tgamma(x):
    """Gamma function."""
    return math.gamma(x)


def _sqrt(x):
    """Square root."""
    return prim.sqrt(x)


def _rsqrt(x):
    """One over the square root."""
    return prim.fdiv(_like(1, x), prim.sqrt(x))


def _fabs(x):
    """Absolute value."""
    return prim.fabs(x)


def _copysign(x, y):
    """`x` with the sign of `y`."""
    return prim.copysign(x, y)


def _fdim(x, y):
    """`x - y`, or 0 if that is negative."""
    return x - y if not x <= y else _like(0, x)


def _fmax(x, y):
    """The larger of two numbers; a NaN counts as nothing."""
    return prim.maxnum(x, y)


def _fmin(x, y):
    """The smaller of two numbers; a NaN counts as nothing."""
    return prim.minnum(x, y)


def _fmod(x, y):
    """The remainder of `x / y` with the sign of `x`."""
    return prim.frem(x, y)


def _hypot(x, y):
    """The root of the sum of the squares."""
    return prim.hypot(x, y)


def _nextafter(x, y):
    """The number next to `x` on the way to `y`."""
    return prim.nextafter(x, y)


def _pow(x, y):
    """`x` to the power of `y`."""
    return prim.pow(x, y)


def _powi(x, n):
    """`x` to the power of an integer."""
    return prim.pow(x, _like(_i32(n), x))


def _remainder(x, y):
    """The remainder of `x / y`, where the quotient is rounded to the nearest."""
    # Twice the divisor may overflow, half of it may not.
    r = prim.frem(x, y)
    size, d = prim.fabs(r), prim.fabs(y)
    half = d * _like(0.5, x)
    odd = prim.fabs(prim.frem(x, d + d)) >= d
    if size > half or (size == half and odd):
        size -= d
    return -size if prim.signbit(r) else size


def _remquo(x, y):
    """The remainder of `x / y`, where the quotient is rounded to the nearest, and the low bits of that quotient."""
    # The quotient's last bits, with its sign.
    rest, eight = _remainder(x, y), prim.fabs(y) * _like(8, x)
    part = prim.frem(x, eight) if eight - eight == 0 else x
    quotient = _i32(prim.rint(prim.fdiv(part - rest, y)))
    return rest, quotient & 7 if quotient >= 0 else -(-quotient & 7)


def _fma(x, y, z):
    """`x * y + z`, rounded once."""
    return prim.fma(x, y, z)


def _ldexp(x, n):
    """`x` times two to the power of `n`."""
    return _like(prim.ldexp(_f64(x), _i32(n)), x)


def _scalbn(x, n):
    """`x` times two to the power of `n`."""
    return _like(prim.ldexp(_f64(x), _i32(n)), x)


def _frexp(x):
    """A fraction from 0.5 to before 1, and the binary exponent."""
    m, e = math.frexp(_f64(x))
    return _like(m, x), _i32(e)


def _modf(x):
    """The fraction and the integer part."""
    whole = prim.trunc(x)
    rest = _like(0, x) if prim.isinf(x) else x - whole
    return prim.copysign(rest, x), prim.copysign(whole, x)


def _fast_cos(x):
    """Cosine, by the name of NVIDIA's fast variant."""
    return prim.cos(x)


def _fast_sin(x):
    """Sine, by the name of NVIDIA's fast variant."""
    return prim.sin(x)


def _fast_tan(x):
    """Tangent, by the name of NVIDIA's fast variant."""
    return prim.tan(x)


def _fast_sincos(x):
    """Sine and cosine, by the name of NVIDIA's fast variant."""
    return prim.sin(x), prim.cos(x)


def _fast_exp(x):
    """e to the power of `x`, by the name of NVIDIA's fast variant."""
    return prim.exp(x)


def _fast_exp10(x):
    """10 to the power of `x`, by the name of NVIDIA's fast variant."""
    return prim.pow(_like(10, x), x)


def _fast_log(x):
    """Natural logarithm, by the name of NVIDIA's fast variant."""
    return prim.log(x)


def _fast_log2(x):
    """Logarithm to base 2, by the name of NVIDIA's fast variant."""
    return prim.log2(x)


def _fast_log10(x):
    """Logarithm to base 10, by the name of NVIDIA's fast variant."""
    return prim.log10(x)


def _fast_pow(x, y):
    """`x` to the power of `y`, by the name of NVIDIA's fast variant."""
    return prim.pow(x, y)


def _fast_fdivide(x, y):
    """`x / y`, by the name of NVIDIA's fast variant."""
    return prim.fdiv(x, y)


def _saturate(x):
    """The number within 0 and 1; NaN becomes 0."""
    # NaN becomes 0.
    return _like(0, x) if not x > _like(0, x) else _like(1, x) if x > _like(1, x) else x


def isfinited(x):
    """Whether a `float64` is neither infinite nor NaN, as 0 or 1."""
    return _i32(prim.isfinite(_f64(x)))


def finitef(x):
    """Whether a `float32` is neither infinite nor NaN, as 0 or 1."""
    return _i32(prim.isfinite(_f32(x)))


def isinfd(x):
    """Whether a `float64` is infinite, as 0 or 1."""
    return _i32(prim.isinf(_f64(x)))


def isinff(x):
    """Whether a `float32` is infinite, as 0 or 1."""
    return _i32(prim.isinf(_f32(x)))


def isnand(x):
    """Whether a `float64` is NaN, as 0 or 1."""
    return _i32(prim.isnan(_f64(x)))


def isnanf(x):
    """Whether a `float32` is NaN, as 0 or 1."""
    return _i32(prim.isnan(_f32(x)))


def signbitd(x):
    """Whether the sign bit of a `float64` is set, as 0 or 1."""
    return _i32(prim.signbit(_f64(x)))


def signbitf(x):
    """Whether the sign bit of a `float32` is set, as 0 or 1."""
    return _i32(prim.signbit(_f32(x)))


def frsqrt_rn(x):
    """One over the square root of a `float32`, rounded to the nearest."""
    return _f32(prim.fdiv(_f64(1), prim.sqrt(_f64(_f32(x)))))


def fmaf_rn(x, y, z):
    """`x * y + z` of `float32`, rounded once, to the nearest."""
    return prim.fma(_f32(x), _f32(y), _f32(z))


def double_as_longlong(x):
    """The bits of a `float64` as a 64-bit integer."""
    return prim.bits_of_f64(_f64(x))


def longlong_as_double(x):
    """The `float64` with the bits of a 64-bit integer."""
    return prim.f64_of_bits(_i64(x))


def float_as_int(x):
    """The bits of a `float32` as a 32-bit integer."""
    return prim.bits_of_f32(_f32(x))


def int_as_float(x):
    """The `float32` with the bits of a 32-bit integer."""
    return prim.f32_of_bits(_i32(x))


def double2hiint(x):
    """The upper 32 bits of a `float64`."""
    return _i32(prim.bits_of_f64(_f64(x)) >> 32)


def double2loint(x):
    """The lower 32 bits of a `float64`."""
    return _i32(prim.bits_of_f64(_f64(x)))


def hiloint2double(hi, lo):
    """The `float64` with these upper and lower 32 bits."""
    return prim.f64_of_bits((_i64(_i32(hi)) << 32) | _i64(_u32(lo)))


def float2half_rn(x):
    """The bits of a `float32` as `float16`, rounded to the nearest."""
    return prim.bits_of_f16(prim.cast(_f32(x), np.float16))


def half2float(x):
    """The `float32` of the bits of a `float16`."""
    return _f32(prim.f16_of_bits(prim.cast(x, np.int16)))


def _away(x):
    # To the nearest, halves away from zero.
    whole = prim.trunc(x)
    return whole + prim.copysign(1.0, x) if prim.fabs(x - whole) >= 0.5 else whole


def llrint(x):
    """The nearest 64-bit integer to a `float64`; of two, the even one."""
    return _to_i64(_f64(x), 0)


def llrintf(x):
    """The nearest 64-bit integer to a `float32`; of two, the even one."""
    return _to_i64(_f32(x), 0)


def llround(x):
    """The nearest 64-bit integer to a `float64`; of two, the one away from zero."""
    return _to_i64(_away(_f64(x)), 3)


def llroundf(x):
    """The nearest 64-bit integer to a `float32`; of two, the one away from zero."""
    return _to_i64(_away(_f64(_f32(x))), 3)
