"""NVIDIA's functions by their own names, in kernels."""

import math
from fractions import Fraction

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
    ("sin", np.sin), ("cos", np.cos), ("tanh", np.tanh), ("exp", np.exp), ("floor", np.floor), ("rint", np.rint),
    ("fabs", np.abs),
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
    ("remainder", np.vectorize(math.remainder)), ("fdim", lambda x, y: np.maximum(x - y, 0)),
    ("nextafter", np.nextafter),
])  # fmt: skip
def test_functions_of_two(name, expected):
    x, y = X, X[::-1] + 0.25
    assert np.allclose(applied(getattr(libdevice, name), np.float64, x, y), expected(x, y), rtol=1e-14, atol=0)


def test_integers():
    a = np.array([5, -7, 2**31 - 1, -(2**31), 0x12345678], np.int32)
    b = np.array([3, 9, -5, 7, 0x0ABCDEF0], np.int32)
    wide, other = a.astype(np.int64), b.astype(np.int64)
    unsigned = [v.view(np.uint32).astype(np.uint64) for v in (a, b)]
    as_int = lambda v: np.asarray(v).astype(np.uint64).astype(np.uint32).view(np.int32)
    assert (applied(libdevice.mulhi, np.int32, a, b) == wide * other >> 32).all()
    assert (applied(libdevice.umulhi, np.int32, a, b) == as_int(unsigned[0] * unsigned[1] >> np.uint64(32))).all()
    assert (applied(libdevice.hadd, np.int32, a, b) == wide + other >> 1).all()
    assert (applied(libdevice.umax, np.int32, a, b) == as_int(np.maximum(*unsigned))).all()
    assert (applied(libdevice.sad, np.int32, a, b, np.zeros_like(a)) == as_int(np.abs(wide - other) & 0xFFFFFFFF)).all()
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


def directed(exact, near, mode):
    """The neighbour of an exact number that a mode asks for."""
    kind = type(near)

    def value(v):
        return Fraction(float(v)) if np.isfinite(v) else Fraction(10) ** 400 * int(np.sign(v))

    low = near if np.isfinite(near) else kind(np.copysign(np.finfo(kind).max, near))
    while value(low) > exact:
        low = np.nextafter(low, kind(-np.inf))
    while value(np.nextafter(low, kind(np.inf))) <= exact:
        low = np.nextafter(low, kind(np.inf))
    high = low if value(low) == exact else np.nextafter(low, kind(np.inf))
    return low if mode == "rd" or mode == "rz" and exact > 0 else high


def test_arithmetic_rounded_to_the_nearest():
    rng = np.random.default_rng(1)
    for kind, letter in ((np.float32, "f"), (np.float64, "d")):
        x, y = (np.ldexp(rng.standard_normal(500), rng.integers(-30, 30, 500)).astype(kind) for _ in range(2))
        for name, want in (
            ("add", x + y),
            ("mul", x * y),
            ("div", x / y),
            ("rcp", 1 / x),
            ("sqrt", np.sqrt(np.abs(x))),
        ):
            args = (x, y) if name in ("add", "mul", "div") else (np.abs(x),) if name == "sqrt" else (x,)
            assert (applied(getattr(libdevice, f"{letter}{name}_rn"), kind, *args) == want).all(), name
    assert applied(libdevice.fma_rn, np.float64, *np.full((3, 1), 1 + 2.0**-30)).tolist() == [
        math.fsum([1, 2.0**-29, 2.0**-60, 1, 2.0**-30])
    ]


@pytest.mark.parametrize("mode", ["rd", "ru", "rz"])
@pytest.mark.parametrize("kind, scale", [(np.float64, 5), (np.float64, 520), (np.float32, 70)])
def test_arithmetic_rounded_other_ways(mode, kind, scale):
    rng = np.random.default_rng(scale)
    x, y, z = (np.ldexp(rng.standard_normal(150), rng.integers(-scale, scale, 150)).astype(kind) for _ in range(3))
    with np.errstate(all="ignore"):
        z[:50] = np.nan_to_num(-(x * y)[:50], posinf=1, neginf=1)
        letter = "d" if kind is np.float64 else "f"
        cases = [
            (letter + "add", lambda a, b: a + b, (x, y)), (letter + "mul", lambda a, b: a * b, (x, y)),
            (letter + "div", lambda a, b: a / b, (x, y)), (letter + "rcp", lambda a: 1 / a, (x,)),
            ("fma" if letter == "d" else "fmaf", lambda a, b, c: a * b + c, (x, y, z)),
        ]  # fmt: skip
        for name, exact, args in cases:
            for got, *parts in zip(applied(getattr(libdevice, f"{name}_{mode}"), kind, *args), *args):
                want = exact(*(Fraction(float(p)) for p in parts))
                assert got == directed(want, got, mode) if want else got == 0, (name, parts)


def test_roots_and_integers_rounded_other_ways():
    rng = np.random.default_rng(3)
    x = np.ldexp(rng.random(200) + 0.1, rng.integers(-1000, 1000, 200))
    down, up = (applied(getattr(libdevice, f"dsqrt_{m}"), np.float64, x) for m in ("rd", "ru"))
    exact = [[Fraction(float(v)) ** 2 for v in side] for side in (down, up)]
    assert all(a <= Fraction(float(v)) <= b for v, a, b in zip(x, *exact)) and (up <= np.nextafter(down, np.inf)).all()
    n = np.concatenate([rng.integers(-(2**63), 2**63 - 1, 100), [2**63 - 1, -(2**63), 2**53 + 1, 2**62 + 2**38 + 1]])
    for name, kind, integers in (
        ("ll2float", np.float32, n),
        ("ull2double", np.float64, n.view(np.uint64)),
        ("ll2double", np.float64, n),
    ):
        for mode in ("rd", "ru", "rz"):
            got = applied(getattr(libdevice, f"{name}_{mode}"), kind, integers)
            assert all(directed(Fraction(int(v)), g, mode) == g for v, g in zip(integers, got)), (name, mode)
    assert applied(libdevice.dadd_rd, np.float64, np.ones(1), -np.ones(1)).tobytes() == np.array([-0.0]).tobytes()


def test_special_functions():
    special = pytest.importorskip("scipy.special")
    x = np.concatenate([np.linspace(0.01, 8, 200), np.linspace(8, 200, 200)])
    for name in ("j0", "j1", "y0", "y1"):
        assert np.allclose(
            applied(getattr(libdevice, name), np.float64, x), getattr(special, name)(x), rtol=1e-14, atol=2e-15
        )
        single = applied(getattr(libdevice, name + "f"), np.float32, x.astype(np.float32))
        assert np.allclose(single, getattr(special, name)(x.astype(np.float32)), rtol=1e-6, atol=1e-6)
    for n in (0, 1, 2, 7, 40):
        orders = np.full(x.size, n, np.int32)
        assert np.allclose(applied(libdevice.jn, np.float64, orders, x), special.jv(n, x), rtol=1e-10, atol=1e-13)
        assert np.allclose(applied(libdevice.yn, np.float64, orders, x), special.yn(n, x), rtol=1e-11)
    p = np.concatenate([np.linspace(0.001, 0.999, 300), 10.0 ** -np.arange(1, 300, 7)])
    for name, expected in (("erfcinv", special.erfcinv), ("erfinv", special.erfinv), ("normcdfinv", special.ndtri)):
        assert np.allclose(applied(getattr(libdevice, name), np.float64, p), expected(p), rtol=2e-15, atol=1e-17)
    v = np.linspace(-20, 60, 300)
    assert np.allclose(applied(libdevice.erfcx, np.float64, v), special.erfcx(v), rtol=1e-13)
    edges = np.array([0, 1, -1, 2, np.inf, np.nan])
    assert np.array_equal(
        applied(libdevice.erfinv, np.float64, edges), [0, np.inf, -np.inf, np.nan, np.nan, np.nan], equal_nan=True
    )
    assert np.array_equal(applied(libdevice.y0, np.float64, edges[[0, 2, 4]]), [-np.inf, np.nan, 0], equal_nan=True)


def test_remainder_with_the_last_bits_of_the_quotient():
    @cuda.jit
    def kernel(x, y, rest, quotient):
        i = cuda.grid(1)
        if i < x.size:
            rest[i], quotient[i] = libdevice.remquo(x[i], y[i])

    rng = np.random.default_rng(0)
    x, y, rest, quotient = rng.uniform(-100, 100, 99), rng.uniform(-5, 5, 99), np.zeros(99), np.zeros(99, np.int32)
    kernel[1, 128](x, y, rest, quotient)
    assert rest.tolist() == list(map(math.remainder, x, y))
    whole = np.rint((x - rest) / y)
    assert (quotient == np.sign(whole) * (np.abs(whole) % 8)).all()
    assert applied(libdevice.ldexpf, np.float32, np.ones(2, np.float32), np.int32([3, -2])).tolist() == [8, 0.25]


def test_unknown_names_are_refused():
    @cuda.jit
    def kernel():
        libdevice.j9(1.0)

    with pytest.raises(errors.TypingError, match="j9"):
        kernel[1, 1]()


def test_every_name_is_listed_and_known_to_the_compiler():
    names = dir(libdevice)
    assert len(names) == 317 and {"sin", "sinf", "fma_rz", "int2double_rn", "umulhi"} <= set(names)
    with pytest.raises(AttributeError, match="sine"):
        _ = libdevice.sine
    for name in names:
        function = getattr(libdevice, name)

        @cuda.jit
        def kernel(out, x):
            function(x)

        # No name is unknown; how many arguments it takes is another question.
        try:
            kernel.compile("void(float64[::1], float64)")
        except errors.NumbaError as e:
            assert "has no function" not in str(e)
