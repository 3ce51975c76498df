"""Powers of floats in loops: within a unit in the last place of CPython's, whatever is known of the exponent."""

import math

import numpy as np
import pytest

from lancehead import njit, vectorize

CONSTANTS = [-7, -1.5, 0.5, -1, -2, -3, -16, -17, 2, 2.0, 3, 7, 16, 17, 3.0, 12.0, 1.5, -0.5, 0.0, -0.0, 1.0, 0.3, 1e3]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 5e-324, -3e-310, 1e-300, 1e300, 1.7e308, math.inf, -math.inf, math.nan]


def numbers(dtype=np.float64):
    gen = np.random.default_rng(5)
    some = np.exp(gen.normal(0, 4, 400)) * gen.choice([-1.0, 1.0, 1.0, 1.0], 400)
    with np.errstate(over="ignore"):
        return np.concatenate([some, np.exp(gen.uniform(-700, 700, 200)), SPECIAL]).astype(dtype)


def in_a_loop(exponent):
    def powers(x, out):
        for i in range(x.size):
            out[i] = x[i] ** exponent

    return powers


def exact(x, exponent):
    """As C has it: infinity, or what is not a number, where Python raises or has a complex number."""
    with np.errstate(all="ignore"):
        return np.float_power(x, exponent)


def units(got, want):
    """The largest distance in units in the last place."""
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    np.testing.assert_array_equal(np.signbit(got[finite]), np.signbit(want[finite]))
    got, want = got[finite], want[finite]
    return np.max(np.abs(got - want) / np.spacing(np.abs(want)), initial=0.0)


@pytest.mark.optimised
@pytest.mark.parametrize("exponent", CONSTANTS, ids=str)
def test_constant_exponents(exponent):
    x = numbers()
    want = exact(x, float(exponent))
    out = np.empty_like(x)
    njit(in_a_loop(exponent), error_model="numpy")(x, out)
    assert units(out, want) <= 1
    # In Python's model the same without zeros, and in order of the elements with them.
    some = x[x != 0] if exponent < 0 else x
    njit(in_a_loop(exponent))(some, out)
    assert units(out[: some.size], exact(some, float(exponent))) <= 1
    if exponent < 0:
        out[:] = 7
        with pytest.raises(ZeroDivisionError, match="0.0 cannot be raised to a negative power"):
            njit(in_a_loop(exponent))(x, out)
        zero = np.flatnonzero(x == 0)[0]
        assert units(out[:zero], want[:zero]) <= 1 and (out[zero:] == 7).all()


@pytest.mark.optimised
@pytest.mark.parametrize("exponent", CONSTANTS, ids=str)
def test_exponents_at_run_time(exponent):
    @njit
    def powers(x, p, out):
        for i in range(x.size):
            out[i] = x[i] ** p

    @njit
    def total(x, p):
        s = 0.0
        for i in range(x.size):
            s += x[i] ** p
        return s

    x = numbers()
    some = x[x != 0] if exponent < 0 else x
    out = np.empty_like(some)
    powers(some, exponent, out)
    assert units(out, exact(some, float(exponent))) <= 1
    some = np.exp(np.random.default_rng(3).normal(0, 1, 1500))
    np.testing.assert_allclose(total(some, exponent), exact(some, exponent).sum(), rtol=1e-13)
    some[1200] = 0
    if exponent < 0:
        for call in (lambda: total(some, exponent), lambda: powers(some, exponent, np.empty_like(some))):
            with pytest.raises(ZeroDivisionError):
                call()


@pytest.mark.optimised
@pytest.mark.parametrize("exponent", [-7, -1.5, 0.5, -0.5, 1.5, 12.0, -16, 2.5], ids=str)
def test_with_fastmath(exponent):
    x = np.exp(np.random.default_rng(4).normal(0, 2, 500))
    out = np.empty_like(x)
    for fastmath in (True, {"afn"}, {"afn", "ninf"}, {"reassoc", "contract"}):
        njit(in_a_loop(exponent), fastmath=fastmath)(x, out)
        np.testing.assert_allclose(out, x**exponent, rtol=1e-14)


@pytest.mark.optimised
@pytest.mark.parametrize("exponent", [-7, -1.5, 0.5, -2, 2.0, 1.5, -16], ids=str)
def test_single_precision_and_arrays(exponent):
    x = numbers(np.float32)
    x = x[x != 0]
    out = np.empty_like(x)
    njit(in_a_loop(exponent))(x, out)
    with np.errstate(all="ignore"):
        want = np.float_power(x.astype(np.float64), exponent).astype(np.float32)
    assert units(out, want) <= 1
    assert units(njit(lambda x: x**exponent)(x), want) <= 1
    x = numbers()
    want = exact(x, exponent)
    assert units(njit(lambda x: x**exponent)(x), want) <= 1
    assert units(njit(lambda x: x[::-1] ** exponent)(x)[::-1], want) <= 1
    assert units(njit(lambda x: np.power(x, float(exponent)), parallel=True)(x), want) <= 1
    assert units(vectorize(lambda x: x**exponent)(x[x != 0]), want[x != 0]) <= 1


def test_bases_that_are_constant_or_computed():
    @njit
    def tests(x, p):
        return 2.0**x, 2**-3, x**-x, (x + 1) ** p, 10**p, math.pow(x, -2.0), pow(x, -3), (-x) ** 3.0

    for x, p in ((2.0, 3.0), (0.25, -1.5), (5.0, 0.0)):
        np.testing.assert_allclose(tests(x, p), tests.py_func(x, p), rtol=1e-15)
    with pytest.raises(ZeroDivisionError):
        tests(0.25, -math.inf) and tests(-1.0, -1.0)


def test_integers_to_negative_powers_stay():
    @njit
    def power(x, n):
        return x**n

    with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
        power(2, -1)
    assert njit(lambda x: x**-2)(4) == 0.0625
    with pytest.raises(ZeroDivisionError):
        njit(lambda x: x**-2)(0)


def test_powers_in_code_that_hardly_ever_runs():
    """It calls functions of C, which has none for whole exponents alone."""

    @njit
    def f(x):
        if x < 0:
            raise ValueError(x**7, x**-5, x**0.5 + (-x) ** 0.5)
        return x

    with pytest.raises(ValueError) as info:
        f(-2.0)
    assert info.value.args[:2] == (-128.0, -1 / 32)
    assert math.isnan(info.value.args[2])
