"""Compiled library functions against NumPy: dtypes, orders, strides, empties."""

from __future__ import annotations

import ast
import inspect
import linecache
import warnings
from pathlib import Path

import numpy as np
import pytest

import lancehead
from lib_cases import CASES, arrays, outcome, same

LIBRARY = Path(__file__).parents[3] / "python/lancehead/lib/numpy"
KINDS = (
    "f8 C",
    "i8 line",
    "f8 strided",
    "f8 empty",
    "f8 nan",
    "f4 F",
    "c16 A",
    "u1 cube T",
    "? line",
    "i1 reversed",
    "f8 long",
)


def _function(name, text):
    file, source = f"<{name}>", f"def f(a): return {text}"
    linecache.cache[file] = (len(source), None, [source], file)
    names = {"np": np}
    exec(compile(source, file, "exec"), names)
    return names["f"]


def _comparable(want, got):
    # Compiled code returns Python's numbers for NumPy's scalars.
    if isinstance(want, np.generic) and not isinstance(got, type):
        return want, np.asarray(got).astype(want.dtype)[()]
    return want, got


@pytest.mark.parametrize("name, text, applies", CASES, ids=[c[0] for c in CASES])
def test_agrees_with_numpy(name, text, applies):
    f = _function(name, text)
    compiled = lancehead.njit(f)
    chosen = [(k, a) for k, a in arrays(sorted({k.split()[0] for k in KINDS})) if k in KINDS and applies(a)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, a in chosen:
            try:
                got = outcome(compiled, a)
            except lancehead.errors.TypingError:
                # A rank that the function refuses is refused while compiling.
                got = outcome(f, a)
                assert isinstance(got, type), kind
            want, got = _comparable(outcome(f, a), got)
            assert same(want, got), (kind, want, got)


def test_positions_of_parameters_are_numpys():
    # A parameter that NumPy takes by position has the same position here.
    for path in sorted(LIBRARY.glob("*.py")):
        home = HOMES.get(path.stem, np)
        for node in ast.parse(path.read_text()).body:
            real = getattr(home, getattr(node, "name", ""), None) or getattr(np.linalg, getattr(node, "name", ""), None)
            if not isinstance(node, ast.FunctionDef) or real is None or isinstance(real, np.ufunc):
                continue
            try:
                parameters = inspect.signature(real).parameters.values()
            except ValueError:
                continue
            own = [a.arg for a in node.args.posonlyargs + node.args.args]
            theirs = [p.name for p in parameters if p.kind < p.VAR_POSITIONAL]
            gathers = any(p.kind == p.VAR_POSITIONAL for p in parameters)
            if not gathers and (node.name, own) not in MORE:
                assert own == theirs[: len(own)], node.name


#: Modules of the library whose names are not those of `numpy` itself.
HOMES = {"random": np.random, "linalg_names": np.linalg, "fft": np.fft} | dict.fromkeys(
    ("random_choices", "random_distributions", "random_draws", "random_lines"), np.random
)
#: Parameters that NumPy takes by position too, though its signature does not say so.
MORE = [("arange", ["start", "stop", "step", "dtype"])]


def test_operands_of_other_ranks_than_lines():
    a, number, matrix = np.arange(4.0), np.array(2.5), np.ones((2, 2))
    convolve = lancehead.njit(lambda x, y: np.convolve(x, y))
    for x, y in ((a, number), (number, a), (number, number), (a, 3), (3, a), (True, [1, 2]), (a, a[:2])):
        np.testing.assert_allclose(convolve(x, y), np.convolve(x, y))
    correlate = lancehead.njit(lambda x, y: np.correlate(x, y))
    refused = [(convolve, a, matrix), (convolve, matrix, number), (correlate, a, matrix), (correlate, number, a)]
    refused += [(lancehead.njit(lambda p, x: np.polyval(p, x)), p, 2.0) for p in (number, matrix)]
    for f, x, y in refused:
        with pytest.raises(lancehead.errors.TypingError):
            f(x, y)
