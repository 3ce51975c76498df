"""Functions of NVIDIA's that say how they round, by their names without the ending that says it.

The first argument is the mode: 0 for `_rn`, to the nearest; 1 for `_rd`, down; 2 for `_ru`, up; 3 for `_rz`, towards
zero. Where `half` is in the name, `float16` or `bfloat16` is the second.
"""

import math

import numpy as np

from lancehead.lib import prim


def _i32(x):
    return prim.cast(x, np.int32)


def _u32(x):
    return prim.cast(x, np.uint32)


def _i64(x):
    return prim.cast(x, np.int64)


def _u64(x):
    return prim.cast(x, np.uint64)


def _f32(x):
    return prim.cast(x, np.float32)


def _f64(x):
    return prim.cast(x, np.float64)


# To integers


def _whole(x, mode):
    if mode == 0:
        return prim.rint(x)
    if mode == 1:
        return prim.floor(x)
    return prim.ceil(x) if mode == 2 else prim.trunc(x)


def _within(x, low, high):
    # Out of range conversions give the nearest number that there is, and NaN gives 0.
    return 0.0 if x != x else low if x < low else high if x > high else x


def _to_i32(x, mode):
    return _i32(_within(_whole(_f64(x), mode), -2147483648.0, 2147483647.0))


def _to_u32(x, mode):
    return _i32(_u32(_i64(_within(_whole(_f64(x), mode), 0.0, 4294967295.0))))


def _to_i64(x, mode):
    v = _whole(_f64(x), mode)
    return _i64(9223372036854775807) if v >= 9223372036854775808.0 else _i64(_within(v, -9223372036854775808.0, v))


def _to_u64(x, mode):
    v = _whole(_f64(x), mode)
    return _i64(-1) if v >= 18446744073709551616.0 else _i64(_u64(_within(v, 0.0, v)))


def double2int(mode, x):
    """A `float64` as a 32-bit integer; out of range, the nearest that there is."""
    return _to_i32(_f64(x), mode)


def double2uint(mode, x):
    """A `float64` as an unsigned 32-bit integer; out of range, the nearest that there is."""
    return _to_u32(_f64(x), mode)


def double2ll(mode, x):
    """A `float64` as a 64-bit integer; out of range, the nearest that there is."""
    return _to_i64(_f64(x), mode)


def double2ull(mode, x):
    """A `float64` as an unsigned 64-bit integer; out of range, the nearest that there is."""
    return _to_u64(_f64(x), mode)


def float2int(mode, x):
    """A `float32` as a 32-bit integer; out of range, the nearest that there is."""
    return _to_i32(_f32(x), mode)


def float2uint(mode, x):
    """A `float32` as an unsigned 32-bit integer; out of range, the nearest that there is."""
    return _to_u32(_f32(x), mode)


def float2ll(mode, x):
    """A `float32` as a 64-bit integer; out of range, the nearest that there is."""
    return _to_i64(_f32(x), mode)


def float2ull(mode, x):
    """A `float32` as an unsigned 64-bit integer; out of range, the nearest that there is."""
    return _to_u64(_f32(x), mode)


def half2char(mode, t, x):
    """A float of 16 bits as an 8-bit integer; out of range, the nearest that there is."""
    return prim.cast(_within(_whole(_f64(x), mode), -128.0, 127.0), np.int8)


def half2uchar(mode, t, x):
    """A float of 16 bits as an unsigned 8-bit integer; out of range, the nearest that there is."""
    return prim.cast(_within(_whole(_f64(x), mode), 0.0, 255.0), np.uint8)


def half2short(mode, t, x):
    """A float of 16 bits as a 16-bit integer; out of range, the nearest that there is."""
    return prim.cast(_within(_whole(_f64(x), mode), -32768.0, 32767.0), np.int16)


def half2ushort(mode, t, x):
    """A float of 16 bits as an unsigned 16-bit integer; out of range, the nearest that there is."""
    return prim.cast(_within(_whole(_f64(x), mode), 0.0, 65535.0), np.uint16)


def half2int(mode, t, x):
    """A float of 16 bits as a 32-bit integer; out of range, the nearest that there is."""
    return _to_i32(x, mode)


def half2uint(mode, t, x):
    """A float of 16 bits as an unsigned 32-bit integer; out of range, the nearest that there is."""
    return _u32(_to_u32(x, mode))


def half2ll(mode, t, x):
    """A float of 16 bits as a 64-bit integer; out of range, the nearest that there is."""
    return _to_i64(x, mode)


def half2ull(mode, t, x):
    """A float of 16 bits as an unsigned 64-bit integer; out of range, the nearest that there is."""
    return _u64(_to_u64(x, mode))


# To floats


def _down(r, mode):
    return mode == 1 or mode == 3 and r > 0.0


def _up(r, mode):
    return mode == 2 or mode == 3 and r < 0.0


def _stepped(r, rest, mode):
    # `r` is next to a number that differs from it by something of the sign of `rest`.
    if rest < 0.0 and _down(r, mode):
        return prim.nextafter(r, prim.cast(-np.inf, prim.dtype_of(r)))
    return prim.nextafter(r, prim.cast(np.inf, prim.dtype_of(r))) if rest > 0.0 and _up(r, mode) else r


def _single(value, rest, mode):
    r = _f32(value)
    near = value - _f64(r)
    return _stepped(r, near if near != 0.0 else rest, mode)


def _half(t, value, mode):
    r = prim.cast(value, t)
    rest, word = value - _f64(r), half_bits(r)
    one = prim.cast(1, np.int16)
    if rest < 0.0 and _down(r, mode):
        word = word - one if word > 0 else prim.cast(-32767, np.int16) if r == 0.0 else word + one
    elif rest > 0.0 and _up(r, mode):
        word = one if r == 0.0 else word + one if word > 0 else word - one
    return half_of_bits(t, word)


def half_bits(x):
    """The bits of a `float16` or `bfloat16`."""
    if x.dtype.kind == "V":
        return prim.bits_of_bf16(x)
    return prim.bits_of_f16(x)


def half_of_bits(t, word):
    """The number of these bits."""
    if t.kind == "V":
        return prim.bf16_of_bits(word)
    return prim.f16_of_bits(word)


def _marked(x):
    # A 64-bit integer as a `float64` that any shorter type rounds as it would round the integer.
    size = x
    if prim.is_signed(x) and x < 0:
        size = -x
    if size <= prim.cast(9007199254740992, prim.dtype_of(x)) and size >= 0:
        return _f64(x)
    low = x & prim.cast(4095, prim.dtype_of(x))
    return _f64(x - low) + (2048.0 if low != 0 else 0.0)


def double2float(mode, x):
    """A `float64` as a `float32`."""
    return _single(_f64(x), 0.0, mode)


def int2float(mode, x):
    """A 32-bit integer as a `float32`."""
    return _single(_f64(_i32(x)), 0.0, mode)


def uint2float(mode, x):
    """An unsigned 32-bit integer as a `float32`."""
    return _single(_f64(_u32(x)), 0.0, mode)


def ll2float(mode, x):
    """A 64-bit integer as a `float32`."""
    return _single(_marked(_i64(x)), 0.0, mode)


def ull2float(mode, x):
    """An unsigned 64-bit integer as a `float32`."""
    return _single(_marked(_u64(x)), 0.0, mode)


def int2double(mode, x):
    """A 32-bit integer as a `float64`."""
    return _f64(_i32(x))


def uint2double(mode, x):
    """An unsigned 32-bit integer as a `float64`."""
    return _f64(_u32(x))


def ll2double(mode, x):
    """A 64-bit integer as a `float64`."""
    r = _f64(_i64(x))
    rest = -1.0 if r >= 9223372036854775808.0 else _f64(_i64(x) - _i64(r))
    return _stepped(r, rest, mode)


def ull2double(mode, x):
    """An unsigned 64-bit integer as a `float64`."""
    r = _f64(_u64(x))
    rest = -1.0 if r >= 18446744073709551616.0 else _f64(_i64(_u64(x) - _u64(r)))
    return _stepped(r, rest, mode)


def float2half(mode, t, x):
    """A `float32` as a float of 16 bits."""
    return _half(t, _f64(_f32(x)), mode)


def short2half(mode, t, x):
    """A 16-bit integer as a float of 16 bits."""
    return _half(t, _f64(prim.cast(x, np.int16)), mode)


def ushort2half(mode, t, x):
    """An unsigned 16-bit integer as a float of 16 bits."""
    return _half(t, _f64(prim.cast(x, np.uint16)), mode)


def int2half(mode, t, x):
    """A 32-bit integer as a float of 16 bits."""
    return _half(t, _f64(_i32(x)), mode)


def uint2half(mode, t, x):
    """An unsigned 32-bit integer as a float of 16 bits."""
    return _half(t, _f64(_u32(x)), mode)


def ll2half(mode, t, x):
    """A 64-bit integer as a float of 16 bits."""
    return _half(t, _marked(_i64(x)), mode)


def ull2half(mode, t, x):
    """An unsigned 64-bit integer as a float of 16 bits."""
    return _half(t, _marked(_u64(x)), mode)


# Arithmetic: of `float32` in `float64`, whose own rounding is known as a rest.


def _is_finite(x):
    return x - x == 0.0


def _sum_rest(x, y, s):
    # The exact rounding error of a sum.
    if not _is_finite(s):
        return -s if _is_finite(x) and _is_finite(y) else 0.0
    part = s - x
    return (x - (s - part)) + (y - part)


def _zero_sum(r, x, y, mode):
    # Rounded down, a sum of nothing is negative unless both are positive zeros.
    positive = prim.copysign(1.0, x) > 0.0 and prim.copysign(1.0, y) > 0.0
    return -prim.fabs(r) if mode == 1 and r == 0.0 and not positive else r


def _add(x, y, mode):
    s = x + y
    return _stepped(_zero_sum(s, x, y, mode), _sum_rest(x, y, s), mode)


def _product_rest(x, y, p):
    if not _is_finite(p):
        return -p if _is_finite(x) and _is_finite(y) else 0.0
    if prim.fabs(p) > 1e-270:
        return prim.fma(x, y, -p)
    # The rounding error of so small a product may underflow: it is computed from scaled operands.
    (a, i), (b, j) = math.frexp(x), math.frexp(y)
    return prim.fma(a, b, -math.ldexp(p, -i - j))


def _quotient_rest(x, y, q):
    if not _is_finite(q):
        return -q if _is_finite(x) and y != 0.0 else 0.0
    if not _is_finite(y):
        # Something divided by infinity is nothing, exactly.
        return 0.0
    (a, i), (b, j) = math.frexp(x), math.frexp(y)
    rest = prim.fma(-math.ldexp(q, j - i), b, a)
    return rest if y > 0.0 else -rest


def _root_rest(x, q):
    scale = 2.0**200 if x < 1.0 else 1.0
    half = 2.0**100 if x < 1.0 else 1.0
    return prim.fma(-q * half, q * half, x * scale)


def _fma_rest(x, y, z, r):
    if not _is_finite(r):
        return -r if _is_finite(x) and _is_finite(y) and _is_finite(z) else 0.0
    if x == 0.0 or y == 0.0:
        return 0.0
    if z == 0.0:
        return _product_rest(x, y, r)
    (a, i), (b, j), (c, k) = math.frexp(x), math.frexp(y), math.frexp(z)
    # In units of the third number. A product that is far below its last place counts by its sign only, one far above it
    # is `r` nearly.
    place = i + j - k
    if place > 200:
        c = math.ldexp(c, -min(place, 1000))
        r = math.ldexp(r, -i - j)
    else:
        b = math.ldexp(b, max(place, -400))
        r = math.ldexp(r, -k)
    p = a * b
    lost = prim.fma(a, b, -p)
    s = p + c
    left = _sum_rest(p, c, s)
    near = s - r
    total = near + left
    return total + (_sum_rest(near, left, total) + lost)


def dadd(mode, x, y):
    """`x + y` of `float64`."""
    return _add(_f64(x), _f64(y), mode)


def dmul(mode, x, y):
    """`x * y` of `float64`."""
    p = _f64(x) * _f64(y)
    return _stepped(p, _product_rest(_f64(x), _f64(y), p), mode)


def ddiv(mode, x, y):
    """`x / y` of `float64`."""
    q = prim.fdiv(_f64(x), _f64(y))
    return _stepped(q, _quotient_rest(_f64(x), _f64(y), q), mode)


def drcp(mode, x):
    """`1 / x` of `float64`."""
    return ddiv(mode, 1.0, x)


def dsqrt(mode, x):
    """Square root of a `float64`."""
    q = prim.sqrt(_f64(x))
    return _stepped(q, _root_rest(_f64(x), q), mode)


def fma(mode, x, y, z):
    """`x * y + z` of `float64`, rounded once."""
    r = prim.fma(_f64(x), _f64(y), _f64(z))
    rest = _fma_rest(_f64(x), _f64(y), _f64(z), r)
    return _stepped(_zero_sum(r, _f64(x) * _f64(y), _f64(z), mode) if rest == 0.0 else r, rest, mode)


def fadd(mode, x, y):
    """`x + y` of `float32`."""
    a, b = _f64(_f32(x)), _f64(_f32(y))
    s = a + b
    return _f32(_zero_sum(_f64(_single(s, _sum_rest(a, b, s), mode)), a, b, mode if s == 0.0 else 0))


def fsub(mode, x, y):
    """`x - y` of `float32`."""
    return fadd(mode, x, -_f32(y))


def fmul(mode, x, y):
    """`x * y` of `float32`."""
    return _single(_f64(_f32(x)) * _f64(_f32(y)), 0.0, mode)


def fdiv(mode, x, y):
    """`x / y` of `float32`."""
    a, b = _f64(_f32(x)), _f64(_f32(y))
    q = prim.fdiv(a, b)
    return _single(q, _quotient_rest(a, b, q), mode)


def frcp(mode, x):
    """`1 / x` of `float32`."""
    return fdiv(mode, 1.0, x)


def fsqrt(mode, x):
    """Square root of a `float32`."""
    a = _f64(_f32(x))
    q = prim.sqrt(a)
    return _single(q, _root_rest(a, q), mode)


def fmaf(mode, x, y, z):
    """`x * y + z` of `float32`, rounded once."""
    p, c = _f64(_f32(x)) * _f64(_f32(y)), _f64(_f32(z))
    s = p + c
    rest = _sum_rest(p, c, s)
    return _f32(_zero_sum(_f64(_single(s, rest, mode)), p, c, mode if s == 0.0 else 0))
