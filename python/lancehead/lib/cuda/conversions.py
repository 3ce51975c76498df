"""Conversions between numbers by NVIDIA's names: `_rn` is to the nearest, `_rd` down, `_ru` up, `_rz` towards zero."""

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


def _away(x):
    # To the nearest, halves away from zero.
    whole = prim.trunc(x)
    return whole + prim.copysign(1.0, x) if prim.fabs(x - whole) >= 0.5 else whole


def _whole(x, mode):
    # Rounded to an integer: 0 to the nearest, 1 down, 2 up, 3 towards zero.
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


def double2int_rn(x):
    return _to_i32(_f64(x), 0)


def double2int_rd(x):
    return _to_i32(_f64(x), 1)


def double2int_ru(x):
    return _to_i32(_f64(x), 2)


def double2int_rz(x):
    return _to_i32(_f64(x), 3)


def double2uint_rn(x):
    return _to_u32(_f64(x), 0)


def double2uint_rd(x):
    return _to_u32(_f64(x), 1)


def double2uint_ru(x):
    return _to_u32(_f64(x), 2)


def double2uint_rz(x):
    return _to_u32(_f64(x), 3)


def double2ll_rn(x):
    return _to_i64(_f64(x), 0)


def double2ll_rd(x):
    return _to_i64(_f64(x), 1)


def double2ll_ru(x):
    return _to_i64(_f64(x), 2)


def double2ll_rz(x):
    return _to_i64(_f64(x), 3)


def double2ull_rn(x):
    return _to_u64(_f64(x), 0)


def double2ull_rd(x):
    return _to_u64(_f64(x), 1)


def double2ull_ru(x):
    return _to_u64(_f64(x), 2)


def double2ull_rz(x):
    return _to_u64(_f64(x), 3)


def float2int_rn(x):
    return _to_i32(_f32(x), 0)


def float2int_rd(x):
    return _to_i32(_f32(x), 1)


def float2int_ru(x):
    return _to_i32(_f32(x), 2)


def float2int_rz(x):
    return _to_i32(_f32(x), 3)


def float2uint_rn(x):
    return _to_u32(_f32(x), 0)


def float2uint_rd(x):
    return _to_u32(_f32(x), 1)


def float2uint_ru(x):
    return _to_u32(_f32(x), 2)


def float2uint_rz(x):
    return _to_u32(_f32(x), 3)


def float2ll_rn(x):
    return _to_i64(_f32(x), 0)


def float2ll_rd(x):
    return _to_i64(_f32(x), 1)


def float2ll_ru(x):
    return _to_i64(_f32(x), 2)


def float2ll_rz(x):
    return _to_i64(_f32(x), 3)


def float2ull_rn(x):
    return _to_u64(_f32(x), 0)


def float2ull_rd(x):
    return _to_u64(_f32(x), 1)


def float2ull_ru(x):
    return _to_u64(_f32(x), 2)


def float2ull_rz(x):
    return _to_u64(_f32(x), 3)


def llrint(x):
    return _to_i64(_f64(x), 0)


def llrintf(x):
    return _to_i64(_f32(x), 0)


def llround(x):
    return _to_i64(_away(_f64(x)), 3)


def llroundf(x):
    return _to_i64(_away(_f64(_f32(x))), 3)


def int2double_rn(x):
    return _f64(_i32(x))


def uint2double_rn(x):
    return _f64(_u32(x))


def int2float_rn(x):
    return _f32(_i32(x))


def uint2float_rn(x):
    return _f32(_u32(x))


def ll2float_rn(x):
    return _f32(_i64(x))


def ull2float_rn(x):
    return _f32(_u64(x))


def ll2double_rn(x):
    return _f64(_i64(x))


def ull2double_rn(x):
    return _f64(_u64(x))


def double2float_rn(x):
    return _f32(_f64(x))
