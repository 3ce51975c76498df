"""The examples of the table of operations, in CPython and NumPy and in compiled code."""

from __future__ import annotations

import importlib
import math
import sys

import numpy as np
import pytest

from lancehead import _core, njit

ROWS = _core.operations()
#: Names that newer versions of CPython have.
NEW = {"math.fma": (3, 13)}
CASES = [
    pytest.param(path, args, result, id=f"{path}-{number}")
    for _, paths, examples in ROWS
    for path in paths
    if sys.version_info >= NEW.get(path, (3, 11))
    for number, (args, result) in enumerate(examples)
]


def callable_of(path):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def value_of(typed, as_python):
    type_, value = typed
    return value if as_python else np.dtype(type_).type(value)


def agree(got, want, type_):
    """Equal, to an ulp where they are floats: libraries round elementary functions differently."""
    if isinstance(want, float) or type_.startswith("float"):
        got, want = float(got), float(want)
        if math.isnan(want):
            return math.isnan(got)
        if want == 0.0:
            return got == 0.0 and math.copysign(1.0, got) == math.copysign(1.0, want)
        return got == want or abs(got - want) <= np.spacing(abs(np.dtype(type_).type(want)))
    return got == want


def test_every_name_exists():
    assert len(CASES) > 200
    assert all(callable(callable_of(case.values[0])) for case in CASES)


@pytest.mark.parametrize(("path", "args", "result"), CASES)
def test_example(path, args, result):
    function = callable_of(path)
    # Operators are those of the types: Python's integers have no bound.
    as_python = path.startswith("math.")
    values = [value_of(a, as_python) for a in args]
    names = ", ".join("abc"[: len(args)])
    compiled = njit(eval(f"lambda f: lambda {names}: f({names})")(function))
    got = compiled(*values)
    assert agree(got, result[1], result[0]), (got, result)
    try:
        with np.errstate(all="ignore"):
            expected = function(*values)
    except (ValueError, OverflowError):
        # A difference from CPython: results that are not finite are not errors.
        assert not math.isfinite(got)
        return
    # NumPy's choice between zeros depends on how it was built.
    same_zero = path in ("numpy.maximum", "numpy.minimum") and expected == result[1] == 0.0
    assert same_zero or agree(expected, result[1], result[0]), (expected, result)


@njit(error_model="numpy")
def remainders(a, b):
    out = np.empty((3, a.size), a.dtype)
    for i in range(a.size):
        out[0, i], out[1, i], out[2, i] = a[i] % b[i], a[i] // b[i], math.fmod(a[i], b[i])
    return out


@njit
def remainders_of_arrays(a, b):
    return a % b, a // b, np.fmod(a, b)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_remainders_of_floats_are_numpys_to_the_last_bit(dtype):
    random = np.random.default_rng(3)
    special = np.array(
        [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 1.5, 3, -3, 0.3, 1e300, 2.0**53, 1e16], "f8"
    )
    size, widest = 3000, 300 if dtype == "f8" else 37
    kinds = (
        lambda: random.choice(special, size),
        lambda: random.normal(size=size) * 10.0 ** random.integers(-widest, widest, size),
        lambda: random.integers(-50, 50, size),
        lambda: random.integers(-500, 500, size) * random.choice([0.1, 0.3, 1e-3]),
    )
    for first in kinds:
        for second in kinds:
            with np.errstate(all="ignore"):
                a, b = first().astype(dtype), second().astype(dtype)
                want = (a % b, a // b, np.fmod(a, b))
            for got in (remainders(a, b), remainders_of_arrays(a, b)):
                for w, g in zip(want, got):
                    nan = np.isnan(w)
                    np.testing.assert_array_equal(nan, np.isnan(g))
                    np.testing.assert_array_equal(w[~nan].view("i" + dtype[1]), g[~nan].view("i" + dtype[1]))
