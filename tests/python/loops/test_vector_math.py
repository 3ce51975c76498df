"""Loops over elementary functions use vectors as wide as the processor has them."""

import math
import warnings

import numpy as np
import pytest

from lancehead import njit, vectorize


def widest():
    with open("/proc/cpuinfo") as file:
        return "zmm" if " avx512f " in file.read() else "ymm"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tan", "tanh", "erf", "atan"])
def test_vectors_are_wide(name, dtype):
    f = getattr(math, name)

    @njit
    def run(x, out):
        for i in range(x.shape[0]):
            out[i] = f(x[i])

    x = np.linspace(0.1, 2, 1000, dtype=dtype)
    out = np.empty_like(x)
    run(x, out)
    assert widest() in "".join(run.inspect_asm().values())
    np.testing.assert_allclose(out, [f(v) for v in x.tolist()], rtol=4 * np.finfo(dtype).eps)


LANES = [0.0, -0.0, 5e-324, -1e-310, 1e-300, -2.5, 0.5, 1.0, 3.0, 1e155, 1.7e308, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "name",
    [
        "log",
        "log2",
        "log10",
        "cbrt",
        "arcsin",
        "arccos",
        "arctan",
        "arcsinh",
        "arccosh",
        "arctanh",
        "arctan2",
        "hypot",
        "power",
    ],
)
def test_rare_lanes_stand_among_others(name, dtype):
    """A vector has plain and rare arguments in every place, and all lanes are right."""
    f = getattr(np, name)
    binary = f.nin == 2

    @njit
    def run(x, y, out):
        for i in range(x.shape[0]):
            out[i] = f(x[i], y[i]) if binary else f(x[i])

    rng = np.random.default_rng(1)
    with np.errstate(all="ignore"):
        values = np.array(LANES).astype(dtype)
        x, y = rng.choice(values, 3000), rng.choice(values, 3000)
        plain = rng.random(3000) < 0.7
        x[plain] = rng.uniform(0.1, 1, plain.sum())
        expected = f(x, y) if binary else f(x)
    out = np.empty_like(x)
    run(x, y, out)
    np.testing.assert_allclose(out, expected, rtol=4 * np.finfo(dtype).eps, atol=np.finfo(dtype).smallest_subnormal)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(out[number]), np.signbit(expected[number]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "name, arguments",
    [
        ("power", ([5, 0, 2, 8], [1, -1, 1e20, 4])),
        ("power", ([-8.5, 2], [0.5, 2])),
        ("log", ([0, 1, 2],)),
        ("log", ([-1, 1, 2],)),
        ("log2", ([0, 1, -2],)),
        ("log10", ([1, 2, 3],)),
    ],
)
def test_flags_are_those_of_numpy(name, arguments, dtype):
    f = getattr(np, name)
    binary = f.nin == 2
    ours = vectorize((lambda x, y: f(x, y)) if binary else (lambda x: f(x)))
    arrays = [np.array(a * 5, dtype) for a in arguments]

    def kinds(run):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run(*arrays)
        return {str(w.message).split(" encountered")[0] for w in caught}

    assert kinds(ours) == kinds(f)
