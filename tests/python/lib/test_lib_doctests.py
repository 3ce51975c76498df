"""Every example in the library's docstrings, three ways: in CPython with the real modules, where the text must be
right; with the library's algorithms over emulated primitives; compiled."""

from __future__ import annotations

import bisect
import cmath
import contextlib
import doctest
import functools
import heapq
import importlib
import itertools
import linecache
import math
import operator
import pathlib
import random

import numpy as np
import pytest
import scipy.linalg

import lancehead
from lib_cases import same

LIB = pathlib.Path(lancehead.__file__).parent / "lib"
REAL = {
    "np": np, "math": math, "cmath": cmath, "operator": operator, "random": random, "functools": functools,
    "itertools": itertools, "bisect": bisect, "heapq": heapq, "contextlib": contextlib,
    "scipy": scipy,
}  # fmt: skip


def _examples():
    for path in sorted(LIB.rglob("*.py")):
        name = ".".join(path.relative_to(LIB).with_suffix("").parts)
        if name.endswith("__init__") or name in ("prim", "builtins"):
            continue
        module = importlib.import_module("lancehead.lib." + name)
        for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
            lines = []
            for number, example in enumerate(test.examples):
                source = example.source.strip()
                if example.want:
                    yield pytest.param(lines, source, example.want, id=f"{test.name}-{number}")
                else:
                    lines = [*lines, source]


EXAMPLES = list(_examples())


def _function(lines, source):
    text = "def f():\n" + "".join(f"    {s}\n" for s in [*lines, "return " + source])
    file = f"<example {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = dict(REAL)
    exec(compile(text, file, "exec"), names)
    return names["f"]


def _value(x):
    # Compiled code returns Python's numbers for NumPy's scalars.
    return tuple(map(_value, x)) if isinstance(x, tuple) else (x.item() if isinstance(x, np.generic) else x)


@pytest.mark.parametrize("lines, source, want", EXAMPLES)
def test_text_is_right(lines, source, want):
    assert repr(_function(lines, source)()) + "\n" == want


@pytest.mark.parametrize("lines, source, want", EXAMPLES)
def test_compiled(lines, source, want):
    f = _function(lines, source)
    expected, got = f(), lancehead.njit(f)()
    if isinstance(expected, str):
        assert got == expected
    else:
        assert same(_value(expected), _value(got)), (expected, got)
