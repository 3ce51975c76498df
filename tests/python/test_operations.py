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
