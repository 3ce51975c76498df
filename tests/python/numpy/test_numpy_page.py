"""`docs/numpy.md` against the compiler: names that it calls refused are, with a way out, and all others are known."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lancehead

sys.path.insert(0, str(Path(__file__).parents[3] / "xtask"))
import numpy_page
import numpy_refused

#: Expressions of instances of the classes whose members the page has.
INSTANCES = {
    "numpy.ndarray": "np.ones(2)",
    "numpy.ufunc": "np.add",
    "numpy.random.Generator": "np.random.default_rng(5)",
    "numpy.random.SeedSequence": "np.random.SeedSequence(5)",
    "numpy.random.BitGenerator": "np.random.PCG64(5)",
    "numpy.polynomial.Chebyshev": "np.polynomial.Chebyshev([1.0])",
}
#: Members that are no values of their own in compiled code.
UNNAMED = {"numpy.ndarray.ctypes", "numpy.ndarray.flat"}


def expression(path: str) -> str:
    """An expression that uses a name: a call of a function, or a member of an instance."""
    home, _, name = path.rpartition(".")
    if home in INSTANCES:
        return f"{INSTANCES[home]}.{name}" + "((np.int8,))" * (home == "numpy.ufunc" and name == "resolve_dtypes")
    text = path.replace("numpy", "np", 1)
    try:
        given = numpy_page.parameters(eval(text, {"np": np}))
    except (ArithmeticError, LookupError, TypeError, ValueError):
        given = []
    required = [p for p in given if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    argument = "np.float64" if name in ("dtype", "finfo", "iinfo") else "np.ones(2)"
    return f"{text}({', '.join([argument] * len(required))})"


def refusal(text: str) -> str:
    """The compiler's diagnostic for an expression; empty if it compiles."""
    space: dict[str, Any] = {"np": np}
    exec(f"def f():\n    x = {text}", space)
    try:
        lancehead.njit(space["f"])()
    except lancehead.errors.TypingError as e:
        return str(e)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        pass
    return ""


@pytest.mark.parametrize("path", [p for p in numpy_refused.REASONS if numpy_refused.REASONS[p]])
def test_refused_names_are_refused_with_a_way_out(path: str) -> None:
    said = refusal(expression(path))
    assert "unsupported-call" in said or "unknown-attribute" in said or "no value of compiled code" in said
    assert "help:" in said or "start it anew" in said


# tests/fuzz/calls.py calls the functions.
@pytest.mark.parametrize("title", [title for title, _ in numpy_page.sections() if re.match("Classes|Methods", title)])
def test_supported_names_are_known(title: str) -> None:
    found = dict(numpy_page.sections())[title]
    for path, missing in found.items():
        if missing is not None and path not in UNNAMED:
            said = refusal(expression(path))
            assert "unsupported-call" not in said and "unknown-attribute" not in said, said
