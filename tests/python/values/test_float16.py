"""`float16`: as NumPy computes it, in compiled code, in ufuncs and in kernels."""

import math
import operator

import numpy as np
import pytest

from lancehead import cuda, from_dtype, njit, types, vectorize

RNG = np.random.default_rng(5)
ALL = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(np.float16)
SOME = np.concatenate([RNG.choice(ALL, 400), np.float16([0.0, -0.0, 1, -1, 65504, 6e-8, np.inf, -np.inf, np.nan])])


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


@pytest.mark.parametrize(
    "op", [operator.add, operator.sub, operator.mul, operator.truediv, operator.lt, operator.ge, operator.eq]
)
def test_arithmetic_is_numpys(op):
    x, y = SOME, SOME[::-1].copy()
    with np.errstate(all="ignore"):
        expected = op(x, y)
    assert same(njit(error_model="numpy")(lambda a, b: op(a, b))(x, y), expected)

    @njit(error_model="numpy")
    def one_by_one(a, b, out):
        for i in range(a.size):
            out[i] = op(a[i], b[i])
        return out

    assert same(one_by_one(x, y, np.empty_like(expected)), expected)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "f4", "f8", "?"])
def test_conversions_are_numpys(dtype):
    back = njit(lambda a: a.astype(np.float16))
    finite = ALL[np.isfinite(ALL)]
    small = finite[np.abs(finite) < 127] if dtype == "i1" else finite[finite >= 0] if dtype == "u2" else finite
    assert same(njit(lambda a: a.astype(np.dtype(dtype)))(small), small.astype(dtype))
    values = (RNG.standard_normal(2000) * 10.0 ** RNG.integers(-9, 6, 2000)).astype("f8")
    with np.errstate(all="ignore"):
        assert same(back(values), values.astype(np.float16))
        assert same(back(values.astype("f4")), values.astype("f4").astype(np.float16))


def test_all_values_there_and_back():
    assert same(njit(lambda a: a.astype(np.float64))(ALL), ALL.astype(np.float64))
    assert same(njit(lambda a: a.astype(np.float64).astype(np.float16))(ALL), ALL)


@pytest.mark.parametrize("other", ["i1", "u1", "i2", "i4", "i8", "u8", "f4", "f8", "c8", "c16", "?"])
def test_promotion_is_numpys(other):
    a, b = np.ones(3, np.float16), np.ones(3, other)
    assert njit(lambda a, b: a + b)(a, b).dtype == (a + b).dtype
    assert njit(lambda a: a * 2)(a).dtype == njit(lambda a: a * 2.5)(a).dtype == np.float16
    assert njit(lambda a: a * 2j)(a).dtype == np.complex64


@pytest.mark.parametrize("f", [np.exp, np.log, np.sin, np.sqrt, np.floor, np.tanh, np.abs, np.negative])
def test_functions_are_numpys(f):
    x = np.linspace(0.1, 9, 200).astype(np.float16)
    got, want = njit(lambda a: f(a))(x), f(x)
    assert got.dtype == np.float16
    assert np.abs(got.view(np.int16).astype(int) - want.view(np.int16)).max() <= 1


def test_scalars_and_types():
    assert njit(lambda x: x * x)(np.float16(1.5)) == 2.25
    assert njit(lambda x: math.floor(x))(np.float16(2.75)) == 2
    assert from_dtype(np.float16) is types.float16 is types.f2
    assert njit("float16(float16, float16)")(lambda a, b: a + b)(1.0, 2.0) == 3.0
    assert njit(lambda: np.float16(1) / np.float16(3))() == np.float16(1) / np.float16(3)
    assert same(vectorize(["float16(float16)"])(lambda x: x + 1)(SOME[:50]), SOME[:50] + np.float16(1))
    assert same(njit(lambda a: np.sort(a))(SOME[:50]), np.sort(SOME[:50]))
    assert njit(lambda a: (a.min(), a.max()))(np.float16([3, 1, 2])) == (1.0, 3.0)


def test_kernels():
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = cuda.fp16.hfma(a[i], a[i], cuda.fp16.hmax(a[i], 1)) + np.float16(0.5)

    x = np.linspace(-3, 3, 40).astype(np.float16)
    out = np.zeros_like(x)
    kernel[2, 32](x, out)
    wide = x.astype(np.float64)
    assert same(out, (wide * wide + np.maximum(wide, 1)).astype(np.float16) + np.float16(0.5))
    ptx = cuda.compile_ptx(lambda a, b: a * b + b, "float16(float16, float16)", device=True)[0]
    assert "mul.rn.f16" in ptx and "add.rn.f16" in ptx


def test_sorting_products_and_text():
    finite = SOME[np.isfinite(SOME)]
    assert same(njit(lambda a: np.sort(a))(SOME), np.sort(SOME))
    order = njit(lambda a: np.argsort(a))(finite)
    assert same(finite[order], np.sort(finite))
    assert njit(lambda a: np.median(a))(finite) == pytest.approx(float(np.median(finite)), rel=1e-2, abs=1e-3)
    a = RNG.standard_normal((5, 7)).astype(np.float16)
    assert np.allclose(njit(lambda a: a @ a.T)(a), a @ a.T, rtol=2e-3, atol=2e-3)
    assert njit(lambda a: np.dot(a, a))(a[0].copy()) == pytest.approx(float(np.dot(a[0], a[0])), rel=1e-2)
    text = njit(lambda x: str(x))
    assert [text(x) for x in finite[:60]] == [repr(float(str(x))) for x in finite[:60]]
    assert text(np.float16(np.nan)) == "nan" and text(np.float16(-np.inf)) == "-inf"
