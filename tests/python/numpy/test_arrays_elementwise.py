"""Elementwise operations against NumPy: dtypes, orders, strides, broadcasting, empties."""

from __future__ import annotations

import math
import resource

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancehead import njit
from strategies import ALL, COMPLEX, FLOATS, INTEGERS, NUMBERS, REAL, arrays, check, pairs


@njit
def add(a, b):
    return a + b


@njit
def subtract(a, b):
    return a - b


@njit
def multiply(a, b):
    return a * b


@njit
def divide(a, b):
    return a / b


@njit
def floor_divide(a, b):
    return a // b


@njit
def remainder(a, b):
    return a % b


@njit
def compare(a, b):
    return a < b, a <= b, a == b, a != b, a >= b, a > b


@njit
def equal(a, b):
    return a == b, a != b


@njit
def bits(a, b):
    return a & b, a | b, a ^ b


@njit
def fused(a, b):
    return (a + b) * a - b


@njit
def in_place(a, b):
    a += b
    a *= b
    return a


@njit
def extremes(a, b):
    return np.maximum(a, b), np.minimum(a, b)


@njit
def negate(a):
    return -a, abs(a)


@njit
def select(a, b):
    return np.where(a > b, a, b)


@pytest.mark.parametrize("operation", [add, multiply, fused], ids=lambda f: f.__name__)
@given(operands=pairs(NUMBERS))
def test_ring(operation, operands):
    check(operation, *operands)


@given(operands=pairs(NUMBERS))
def test_subtract(operands):
    check(subtract, *operands)


@given(operands=pairs(("bool",)))
def test_bools_add_and_multiply_as_logic(operands):
    check(add, *operands)
    check(multiply, *operands)


@given(operands=pairs(REAL))
def test_divide(operands):
    check(divide, *operands)


@given(operands=pairs(COMPLEX))
def test_divide_complex(operands):
    check(divide, *operands, tolerance=1e-5)


@given(operands=pairs(REAL))
def test_floor_divide(operands):
    check(floor_divide, *operands)


@given(operands=pairs(REAL))
def test_remainder(operands):
    check(remainder, *operands)


@given(operands=pairs(("bool", *REAL), plain=False))
def test_compare(operands):
    check(compare, *operands)


@given(operands=pairs(ALL))
def test_equal(operands):
    check(equal, *operands)


@given(operands=pairs(("bool", "int8", "int64", "uint8", "uint32"), plain=False))
def test_bits(operands):
    check(bits, *operands)


@given(operands=pairs(REAL, plain=False))
def test_extremes(operands):
    check(extremes, *operands)


@given(a=arrays(("int8", "int32", "int64", *FLOATS), plain=False))
def test_negate(a):
    check(negate, a)


@given(operands=pairs(("float64", "int64")))
def test_where(operands):
    check(select, *operands)


@given(operands=pairs(("float64",)))
def test_in_place(operands):
    check(in_place, *operands)


@given(a=arrays(NUMBERS, plain=True), number=st.integers(-9, 9))
def test_python_int_adapts(a, number):
    if a.dtype.kind == "u" and number < 0:
        number = -number
    check(add, a, number)
    check(multiply, number, a)


@given(a=arrays(NUMBERS, plain=True), number=st.integers(-64, 64).map(lambda n: n / 8))
def test_python_float_adapts(a, number):
    check(add, a, number)
    check(multiply, number, a)


@njit
def rounding(a):
    return np.floor(a), np.ceil(a), np.trunc(a), np.rint(a)


@njit
def classes(a):
    return np.isnan(a), np.isinf(a), np.isfinite(a)


@njit
def exact(a):
    return np.sqrt(a), np.square(a), np.sign(a), np.abs(a)


@given(a=arrays(FLOATS))
def test_rounding_and_classes(a):
    check(rounding, a)
    check(classes, a)


@given(a=arrays(FLOATS))
def test_exact_functions(a):
    check(exact, a)


@njit
def transcendental(a):
    return np.exp(a), np.sin(a), np.cos(a), np.tanh(a), np.arctan(a), np.sinh(a), np.cosh(a), np.cbrt(a), np.expm1(a)


@njit
def logarithms(a):
    return np.log(a), np.log2(a), np.log10(a), np.log1p(a)


@given(a=arrays(("float64", "int64", "int32"), plain=True))
def test_transcendental_functions(a):
    check(transcendental, a, tolerance=1e-14)


@given(a=arrays(("float32",), plain=True))
def test_transcendental_functions_of_float32(a):
    check(transcendental, a, tolerance=2e-6)


@given(a=arrays(("float64",)))
def test_logarithms(a):
    check(logarithms, a, tolerance=1e-14)


@njit
def power(a, b):
    return a**b


@njit
def elementary_of_two(a, b):
    return np.hypot(a, b), np.logaddexp(a, b), np.copysign(a, b), np.heaviside(a, b), np.fmod(a, b)


@pytest.mark.parametrize("second", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint64", "float32"])
@pytest.mark.parametrize("first", ["bool", "int8", "int16", "uint16", "float16", "float32"])
def test_elementary_functions_of_two_types_compute_in_the_type_that_numpy_does(first, second):
    a, b = np.ones(2, first), np.ones(2, second)
    for result, wanted in zip(elementary_of_two(a, b), elementary_of_two.py_func(a, b), strict=True):
        # Of narrow integers NumPy makes float16, compiled code float32.
        is_narrow = wanted.dtype == np.float16 and np.float16 not in (a.dtype, b.dtype)
        assert result.dtype == (np.float32 if is_narrow else wanted.dtype)
        np.testing.assert_allclose(result, wanted, rtol=1e-3)


@njit
def beside_counts(a, x):
    return (
        a + int(x),
        a + math.floor(x),
        a + math.ceil(x),
        a + math.trunc(x),
        a + round(x),
        a + math.isqrt(int(x)),
        a + int(x).bit_length(),
    )


@njit
def beside_floats(a, x):
    return a * math.frexp(x)[0], a * math.ldexp(x, 2), a * math.modf(x)[0]


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "float16", "float32", "complex64"])
def test_numbers_that_functions_of_python_make_take_the_type_of_an_array_beside_them(dtype):
    a = np.ones(2, dtype)
    for function in (beside_counts, beside_floats):
        for result, wanted in zip(function(a, 6.5), function.py_func(a, 6.5), strict=True):
            assert result.dtype == wanted.dtype
            np.testing.assert_array_equal(result, wanted)


@given(operands=pairs(FLOATS))
def test_power(operands):
    check(power, *operands, tolerance=1e-5)


@given(a=arrays(INTEGERS, plain=True))
def test_square_of_integers(a):
    check(power, a, 2)


@njit
def convert(a):
    return a.astype(np.float64), a.astype(np.float32), a.astype(np.complex128), a.astype(np.bool_)


@given(a=arrays(("bool", *REAL), plain=True))
def test_astype(a):
    check(convert, a)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_an_output_array_of_functions_that_have_options_elsewhere(dtype):
    # `cmath.log` takes a base, `numpy.log` does not.
    a = np.array([0.5, 2, 3]).astype(dtype)
    out = np.zeros_like(a)
    njit(lambda a, out: np.log(a, out))(a, out)
    assert np.allclose(out, np.log(a), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_with_parts_that_are_not_finite(dtype):
    parts = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan]
    v = np.array([complex(a, b) for a in parts for b in parts], dtype)
    a, b = np.repeat(v, len(v)), np.tile(v, len(v))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(njit(lambda v: np.log2(v))(v), np.log2(v), rtol=1e-6)
        np.testing.assert_array_equal(njit(lambda a, b: np.fmax(a, b))(a, b), np.fmax(a, b))
        np.testing.assert_array_equal(njit(lambda a, b: np.fmin(a, b))(a, b), np.fmin(a, b))


NEW_AXES = [
    lambda a, b: a[:, None] * b[None, :] - a[:, None],
    lambda a, b: np.sqrt(a[:, None] + 1) + b,
    lambda a, b: a[None, :, None] + b[None, None, :] * a[:, None, None],
]


@pytest.mark.parametrize("n, m", [(0, 0), (0, 3), (3, 0), (1, 1), (1, 4), (4, 1), (5, 7), (33, 40)])
@pytest.mark.parametrize("number", range(len(NEW_AXES)))
def test_new_axes_are_broadcast(number, n, m):
    f = NEW_AXES[number]
    a, b = np.arange(n, dtype=np.float64), np.arange(m)[::-1] * 0.5
    np.testing.assert_array_equal(njit(f)(a, b), f(a, b))


@pytest.mark.parametrize("n, m", [(0, 3), (3, 1), (1, 4), (5, 7)])
def test_new_axes_are_stored_and_overlap(n, m):
    def store(out, a, b):
        out[:] = a[:, None] + b[None, :]
        out[:, :1] = b[:1, None] * 2
        out += out[:, :1] + a[:, None]
        out *= out[:1]
        return out

    a, b = np.arange(float(n)), np.arange(float(m)) + 1
    np.testing.assert_array_equal(njit(store)(np.zeros((n, m)), a, b), store(np.zeros((n, m)), a, b))


@pytest.mark.parametrize("size", [1 << 15, 1 << 18, 1 << 20])
def test_memory_of_temporary_arrays_is_used_again(size):
    """The pages that a call has written to are those of the next: none is asked for anew."""

    @njit
    def f(x):
        y = x * 2
        first = np.sort(y[:1])
        z, zero = y + 1, np.zeros(x.size)
        return first[0] + y[-1] + z.sum() + zero.sum()

    def faults():
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    x = np.arange(float(size))
    want = f.py_func(x)
    assert f(x) == want and f(x) == want
    before = faults()
    for _ in range(10):
        assert f(x) == want
    assert faults() - before < size * 8 // 4096


def test_operands_of_one_axis_leave_the_order_of_a_result_alone():
    f = njit(lambda a, b: a * 2 - b)
    for shape in [(2, 3), (3, 2), (2, 3, 4), (7, 5), (0, 3), (3, 0)]:
        a = np.asfortranarray(np.arange(float(np.prod(shape))).reshape(shape))
        line = np.arange(2.0 * shape[-1])
        for b in (line[: shape[-1]], line[::2], line[: shape[-1]][::-1], line[:1], np.array(2.0), a.copy(), a):
            got, wanted = f(a, b), f.py_func(a, b)
            np.testing.assert_array_equal(got, wanted)
            assert got.flags.f_contiguous == wanted.flags.f_contiguous or wanted.size == 0
            assert got.flags.c_contiguous == wanted.flags.c_contiguous or wanted.size == 0
