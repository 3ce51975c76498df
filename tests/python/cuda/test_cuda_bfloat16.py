"""`bfloat16` in kernels and arrays, and the functions of `cuda.bf16`."""

import math

import numpy as np
import pytest

import lancehead as lh
from lancehead import cuda
from lancehead.cuda import bf16

ml_dtypes = pytest.importorskip("ml_dtypes")
bfloat16 = ml_dtypes.bfloat16
ALL = np.arange(1 << 16, dtype=np.uint16).view(bfloat16)


def same(got, want):
    return (
        (got.view(np.uint16) == want.view(np.uint16)) | (np.isnan(got.astype("f4")) & np.isnan(want.astype("f4")))
    ).all()


@lh.njit
def copied(x, out):
    for i in range(x.size):
        out[i] = x[i]


@pytest.mark.parametrize("kind", ["f4", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
def test_conversions(kind):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, 8000, np.uint8).view(kind) if kind != "?" else rng.integers(0, 2, 100).astype(bool)
    out = np.zeros(x.size, bfloat16)
    copied(x, out)
    with np.errstate(all="ignore"):
        # The package goes through `float32`, which rounds large integers twice.
        want = x.astype("f4").astype(bfloat16)
    if kind[0] in "iu" and x.itemsize > 2:
        twice = out.view(np.int16).astype(int) - want.view(np.int16)
        assert abs(twice).max() <= 1 and (twice != 0).mean() < 0.01
        return
    assert same(out, want)


def test_conversions_of_doubles_round_once():
    words = np.arange(0x8000, 0x7F800000, 0x10000 * 13, dtype=np.uint32) | np.uint32(0x8000)
    middle = words.view(np.float32).astype(np.float64)
    middle = middle[np.isfinite(middle)]
    even = (
        middle.astype(np.float32).view(np.uint32) + 0x7FFF + (middle.astype(np.float32).view(np.uint32) >> 16 & 1)
    ) >> 16
    for x, want in (
        (middle, even), (np.nextafter(middle, np.inf), (middle.astype(np.float32).view(np.uint32) >> 16) + 1),
        (np.nextafter(middle, 0), middle.astype(np.float32).view(np.uint32) >> 16),
    ):  # fmt: skip
        for sign in (1, -1):
            out = np.zeros(x.size, bfloat16)
            copied(sign * x, out)
            assert (out.view(np.uint16) == want + (0 if sign > 0 else 0x8000)).all()


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "c8", "?"])
def test_from_all_numbers(kind):
    out = np.zeros(ALL.size, kind)
    copied(ALL, out)
    with np.errstate(all="ignore"):
        assert np.array_equal(out, ALL.astype(kind), equal_nan=kind != "?")


def test_arithmetic_in_kernels():
    @cuda.jit
    def kernel(a, b, out, whole, less):
        i = cuda.grid(1)
        if i < out.size:
            x = a[i] * b[i] + a[i] / (b[i] * b[i] + cuda.bfloat16(1))
            out[i] = x if x > b[i] else -b[i]
            whole[i] = int(x) + i
            less[i] = a[i] < b[i]

    rng = np.random.default_rng(0)
    a, b = ((rng.random(1000) * 8 - 4).astype(bfloat16) for _ in range(2))
    out, whole, less = np.zeros(1000, bfloat16), np.zeros(1000, np.int32), np.zeros(1000, bool)
    kernel[8, 128](a, b, out, whole, less)
    x = a * b + a / (b * b + bfloat16(1))
    assert same(out, np.where(x > b, x, -b)) and (less == (a < b)).all()
    assert (whole == x.astype("f4").astype(int) + np.arange(1000)).all()


def test_types():
    assert str(lh.typeof(ALL)) == "array(bfloat16, 1d, C)" and lh.typeof(bfloat16(1)) == cuda.bfloat16 == bf16.bfloat16
    assert lh.types.from_dtype(np.dtype(bfloat16)) == cuda.bfloat16 and cuda.is_bfloat16_supported()

    @lh.njit
    def kinds(x):
        return (
            x + 1,
            x + 2.5,
            x + np.float32(1),
            x + np.int8(1),
            x + np.int16(1),
            x + np.float16(1),
            abs(x),
            -x,
            x.dtype.kind,
        )

    assert [str(t) for t in lh.typeof(kinds(bfloat16(1.5))).types][:0] == []
    signature = kinds.nopython_signatures[0].return_type
    assert [str(t) for t in signature.types][:8] == ["bfloat16"] * 2 + ["float32", "bfloat16", "float32", "float32"] + [
        "bfloat16"
    ] * 2
    assert kinds(bfloat16(1.5))[:8] == (2.5, 4, 2.5, 2.5, 2.5, 2.5, 1.5, -1.5)

    @lh.njit
    def made(x):
        y = np.zeros(3, bfloat16)
        y[1] = x
        return y, x > 2, cuda.bfloat16(x), bfloat16(x), y.sum(), isinstance(y[0], cuda.bfloat16)

    y, more, *rest = made(2.3)
    assert y.dtype == bfloat16 and same(y, np.array([0, 2.3, 0], bfloat16)) and more and rest == [2.296875] * 3 + [True]


def test_text(capsys):
    a = np.array([2.3, 1e30, -np.inf, 0.9375, 1], bfloat16)
    lh.njit(lambda a: print(a[0], a[1], a[2], a[3], a[4], a))(a)
    assert capsys.readouterr().out == " ".join(map(str, [*a, a])) + "\n"


def test_places_that_take_no_bfloat16():
    with pytest.raises(lh.errors.TypingError, match="not a type of array elements"):
        lh.vectorize("bfloat16(bfloat16)")(lambda x: x)


def applied(function, dtype, *args):
    n = len(args)

    @cuda.jit
    def kernel(out, x):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = (
                function(x[0][i])
                if n == 1
                else function(x[0][i], x[1][i])
                if n == 2
                else function(x[0][i], x[1][i], x[2][i])
            )

    out = np.zeros(args[0].size, dtype)
    kernel.forall(out.size)(out, args)
    return out


@pytest.mark.parametrize("name, expected", [
    ("hsin", np.sin), ("hcos", np.cos), ("hexp", np.exp), ("hexp2", np.exp2), ("hexp10", lambda x: 10**x),
    ("htanh", np.tanh),
    ("hfloor", np.floor), ("hceil", np.ceil), ("htrunc", np.trunc), ("hrint", np.rint), ("habs", np.abs),
    ("hrcp", lambda x: 1 / x),
    ("hsqrt", lambda x: np.sqrt(np.abs(x))), ("hlog", lambda x: np.log(np.abs(x))),
    ("hrsqrt", lambda x: 1 / np.sqrt(np.abs(x))),
])  # fmt: skip
def test_functions(name, expected):
    x = np.linspace(-9, 9, 200).astype(bfloat16)
    if name in ("hsqrt", "hlog", "hrsqrt"):
        x = np.abs(x)
    assert same(applied(getattr(bf16, name), bfloat16, x), expected(x.astype("f8")).astype("f4").astype(bfloat16))


def test_arithmetic_by_name():
    rng = np.random.default_rng(1)
    a, b, c = (rng.standard_normal(300).astype(bfloat16) for _ in range(3))
    x, y, z = (v.astype("f8") for v in (a, b, c))
    for name, exact, args in (
        ("hadd", x + y, (a, b)), ("hsub_rn", x - y, (a, b)), ("hmul", x * y, (a, b)), ("hdiv", x / y, (a, b)),
        ("hfma", x * y + z, (a, b, c)),
        ("hadd_sat", np.clip(x + y, 0, 1), (a, b)), ("hfma_relu", np.maximum(x * y + z, 0), (a, b, c)),
        ("hmax", np.maximum(x, y), (a, b)),
    ):  # fmt: skip
        out = np.zeros(300, bfloat16)
        copied(exact, out)
        assert same(applied(getattr(bf16, name), bfloat16, *args), out)
    nan, one = np.full(1, np.nan, bfloat16), np.ones(1, bfloat16)
    truth = {"hne": 0, "hneu": 1, "heq": 0, "hequ": 1, "hlt": 0, "hltu": 1, "hgeu": 1, "hge": 0}
    assert {name: int(applied(getattr(bf16, name), np.int32, nan, one)[0]) for name in truth} == truth
    assert applied(bf16.hmax, np.float32, nan, one)[0] == 1 and np.isnan(
        applied(bf16.hmin_nan, np.float32, one, nan)[0]
    )


def test_conversions_that_say_how_they_round():
    x = np.array([1.5, 2.5, -1.5, -2.75, 300, -300, np.nan, 1e30], bfloat16)
    assert applied(bf16.bfloat16_to_int32_rn, np.int32, x)[:5].tolist() == [2, 2, -2, -3, 300]
    assert applied(bf16.bfloat162short_rd, np.int16, x).tolist() == [1, 2, -2, -3, 300, -300, 0, 32767]
    assert applied(bf16.bfloat16_to_uint8_rz, np.uint8, x).tolist() == [1, 2, 0, 0, 255, 0, 0, 255]
    assert applied(bf16.bfloat162ull_ru, np.uint64, x)[3:].tolist() == [0, 300, 0, 0, 2**64 - 1]
    rng = np.random.default_rng(2)
    n = np.concatenate([rng.integers(-(2**63), 2**63 - 1, 200), [0, 1, -1, 2**62 + 2**54, 2**62 + 2**54 + 1]])
    down, up, zero = (applied(getattr(bf16, f"int64_to_bfloat16_{m}"), bfloat16, n) for m in ("rd", "ru", "rz"))
    for value, *ends, least in zip(n.tolist(), down, up, zero):
        low, high = (int(float(e)) for e in ends)
        assert low <= value <= high and int(float(least)) == (low if value >= 0 else high)
        assert low == high == value or ends[1] == np.nextafter(ends[0], bfloat16(math.inf))
    bits = applied(bf16.bfloat16_as_uint16, np.uint16, ALL)
    assert (bits == np.arange(1 << 16)).all() and same(
        applied(bf16.int16_as_bfloat16, bfloat16, bits.view(np.int16)), ALL
    )


def test_names():
    assert len(dir(bf16)) > 150
    with pytest.raises(AttributeError):
        bf16.hnothing


def test_float16_has_the_same_functions():
    fp16 = cuda.fp16
    n = np.array([2049, -2049, 2050, 70000, -70000, 3], np.int32)
    assert applied(fp16.int2half_rd, np.float16, n).tolist() == [2048, -2050, 2050, 65504, -math.inf, 3]
    assert applied(fp16.int2half_rz, np.float16, n).tolist() == [2048, -2048, 2050, 65504, -65504, 3]
    x = np.array([1.5, -2.5, 300, np.nan], np.float16)
    assert applied(getattr(fp16, "__half2char_rz"), np.int8, x).tolist() == [1, -2, 127, 0]
    assert applied(fp16.half_as_short, np.int16, x).tolist() == x.view(np.int16).tolist()
    assert applied(fp16.hfma_sat, np.float16, x, x, x).tolist() == [1, 1, 1, 0]
