"""NVIDIA's functions by their own names, in kernels."""

import math

import numpy as np
import pytest

from lancehead import cuda, errors
from lancehead.cuda import libdevice

X = np.concatenate([np.linspace(-3, 3, 61), [0.5, -0.5, 1.5, 2.5, 1e9, -1e9]])


def applied(function, dtype, *args):
    @cuda.jit
    def kernel(out, a, b, c):
        i = cuda.grid(1)
        if i < out.size:
            if len(args) == 1:
                out[i] = function(a[i])
            elif len(args) == 2:
                out[i] = function(a[i], b[i])
            else:
                out[i] = function(a[i], b[i], c[i])

    arrays = [np.ascontiguousarray(a) for a in args]
    out = np.zeros(arrays[0].size, dtype)
    kernel.forall(out.size)(out, *(arrays + arrays[:1] * 2)[:3])
    return out


@pytest.mark.parametrize("name, expected", [
    ("sin", np.sin), ("cos", np.cos), ("tanh", np.tanh), ("exp", np.exp), ("floor", np.floor), ("rint", np.rint), ("fabs", np.abs),
    ("cbrt", np.cbrt), ("expm1", np.expm1), ("asinh", np.arcsinh), ("atan", np.arctan), ("erf", np.vectorize(math.erf)),
    ("round", lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x)),
])  # fmt: skip
def test_functions_of_both_widths(name, expected):
    x = X[np.abs(X) < 4]
    got = applied(getattr(libdevice, name), np.float64, x)
    assert np.allclose(got, expected(x), rtol=1e-14, atol=1e-300)
    single = applied(getattr(libdevice, name + "f"), np.float32, x.astype(np.float32))
    assert np.allclose(single, expected(x.astype(np.float32)), rtol=1e-6, atol=1e-7)


def test_half_turns():
    x = np.arange(-8, 9) / 2
    assert (applied(libdevice.sinpi, np.float64, x) == np.rint(np.sin(np.pi * x))).all()
    assert (applied(libdevice.cospi, np.float64, x) == np.rint(np.cos(np.pi * x))).all()


@pytest.mark.parametrize("name, expected", [
    ("fmod", np.fmod), ("fmax", np.fmax), ("atan2", np.arctan2), ("hypot", np.hypot), ("copysign", np.copysign),
    ("remainder", np.vectorize(math.remainder)), ("fdim", lambda x, y: np.maximum(x - y, 0)), ("nextafter", np.nextafter),
])  # fmt: skip
def test_functions_of_two(name, expected):
    x, y = X, X[::-1] + 0.25
    assert np.allclose(applied(getattr(libdevice, name), np.float64, x, y), expected(x, y), rtol=1e-14, atol=0)


def test_integers():
    a = np.array([5, -7, 2**31 - 1, -(2**31), 0x12345678], np.int32)
    b = np.array([3, 9, -5, 7, 0x0ABCDEF0], np.int32)
    wide, other = a.astype(np.int64), b.astype(np.int64)
    unsigned = [v.view(np.uint32).astype(np.uint64) for v in (a, b)]
    as_int = lambda v: np.asarray(v).astype(np.uint64).astype(np.uint32).view(np.int32)  # noqa: E731
    assert (applied(libdevice.mulhi, np.int32, a, b) == wide * other >> 32).all()
    assert (applied(libdevice.umulhi, np.int32, a, b) == as_int(unsigned[0] * unsigned[1] >> np.uint64(32))).all()
    assert (applied(libdevice.hadd, np.int32, a, b) == wide + other >> 1).all()
    assert (applied(libdevice.umax, np.int32, a, b) == as_int(np.maximum(*unsigned))).all()
    assert (applied(libdevice.sad, np.int32, a, b, np.zeros_like(a)) == as_int((np.abs(wide - other) & 0xFFFFFFFF))).all()
    big = [int(v) * int(w) >> 64 for v, w in zip(wide << 31, other << 31)]
    assert (applied(libdevice.mul64hi, np.int64, wide << 31, other << 31) == big).all()
    assert applied(libdevice.byte_perm, np.int32, a[4:], b[4:], np.int32([0x5140]))[0] == as_int([0xDE56F078])[0]
    assert (applied(libdevice.popc, np.int32, a) == [bin(v & 0xFFFFFFFF).count("1") for v in a.tolist()]).all()
    assert (applied(libdevice.clz, np.int32, a) == [32 - int(v).bit_length() for v in unsigned[0]]).all()


def test_conversions_and_bits():
    x = np.array([1.5, 2.5, -1.5, -2.7, 3e9, -3e9, np.nan, 1e20])
    assert applied(libdevice.double2int_rn, np.int32, x).tolist() == [2, 2, -2, -3, 2**31 - 1, -(2**31), 0, 2**31 - 1]
    assert applied(libdevice.double2int_rd, np.int32, x[:4]).tolist() == [1, 2, -2, -3]
    assert applied(libdevice.double2int_ru, np.int32, x[:4]).tolist() == [2, 3, -1, -2]
    assert applied(libdevice.llround, np.int64, x[:4]).tolist() == [2, 3, -2, -3]
    assert (applied(libdevice.double_as_longlong, np.int64, x) == x.view(np.int64)).all()
    assert (applied(libdevice.float2half_rn, np.int16, x[:4].astype("f4")) == x[:4].astype("f2").view(np.int16)).all()
    assert applied(libdevice.isnand, np.int32, x).tolist() == [0, 0, 0, 0, 0, 0, 1, 0]


def test_several_results():
    @cuda.jit
    def kernel(x, out):
        out[0], out[1] = libdevice.sincos(x)
        out[2], out[3] = libdevice.frexp(x)
        out[4], out[5] = libdevice.modf(x)

    out = np.zeros(6)
    kernel[1, 1](-2.75, out)
    assert np.allclose(out, [np.sin(-2.75), np.cos(-2.75), -0.6875, 2, -0.75, -2], rtol=1e-15)


def test_what_there_is_not():
    with pytest.raises(errors.TypingError, match=r"libdevice\.j0` is not supported"):
        applied(libdevice.j0, np.float64, X)
