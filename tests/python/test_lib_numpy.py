"""Compiled library functions against NumPy: dtypes, orders, strides, empties."""

from __future__ import annotations

import linecache
import warnings

import numpy as np
import pytest
from lib_cases import CASES, arrays, outcome, same

import lancehead

KINDS = ("f8 C", "i8 line", "f8 strided", "f8 empty", "f8 nan", "f4 F", "c16 A", "u1 cube T", "? line", "i1 reversed", "f8 long")


def _function(name, text):
    file, source = f"<{name}>", f"def f(a): return {text}"
    linecache.cache[file] = (len(source), None, [source], file)
    names = {"np": np}
    exec(compile(source, file, "exec"), names)
    return names["f"]


def _comparable(want, got):
    # What compiled code returns for NumPy's scalars are Python's numbers.
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
