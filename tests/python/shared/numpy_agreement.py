"""Expressions of `np` over named arrays, compiled and in NumPy: types, shapes, values and classes of errors agree."""

from __future__ import annotations

import linecache
import re
import warnings
from typing import Any

import numpy as np

import lancehead
from lib_cases import arrays, same

TABLE = np.arange(12).reshape(3, 4)
LINE = np.array([3.0, 1.0, 2.0, 1.0])
#: The values of the names; every call gets copies.
VALUES: dict[str, np.ndarray] = {
    "A": TABLE,
    "B": TABLE % 3 == 0,
    "F": TABLE * 1.5,
    "I": np.array([2, 0]),
    "J": np.array([1, 3]),
    "L": LINE,
    "U": TABLE.astype(np.uint8),
    "Z": TABLE * (1 + 0.5j) + 1j * TABLE[::-1],
}
KINDS = ("f8 C", "i8 line", "f8 strided", "f8 empty", "f8 nan", "f4 F", "c16 A", "u1 cube T", "? line", "i1 reversed")


def function(text: str, names: list[str]) -> Any:
    """A function of these parameters that returns an expression."""
    file, source = f"<{text} {names}>", f"def f({', '.join(names)}): return {text}"
    linecache.cache[file] = (len(source), None, [source], file)
    space: dict[str, Any] = {"np": np}
    exec(compile(source, file, "exec"), space)
    return space["f"]


def outcome(f: Any, args: list[np.ndarray]) -> Any:
    """The result of a call, or the class of its error: a refusal by the compiler counts as NumPy's error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return f(*args)
        except lancehead.errors.TypingError:
            return TypeError
        except (ValueError, IndexError, TypeError, OverflowError, ZeroDivisionError, KeyError, RuntimeError) as e:
            return ValueError if isinstance(e, ValueError) else type(e)


def plain(x: Any) -> Any:
    """A result without the differences between NumPy's scalars and Python's numbers, and of named tuples."""
    if isinstance(x, (tuple, list)):
        return type(x) if hasattr(x, "_fields") else tuple, [plain(i) for i in x]
    return x.item() if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and x.ndim == 0) else x


def agrees(text: str) -> None:
    """An expression of the named arrays."""
    names = sorted(set(re.findall(r"\b[A-Z]\b", text)) & set(VALUES))
    f = function(text, names)
    want, got = (plain(outcome(g, [VALUES[n].copy() for n in names])) for g in (f, lancehead.njit(f)))
    refused = isinstance(want, type) and got is TypeError
    assert refused or same(want, got), (text, want, got)


def agrees_over_kinds(text: str, applies: Any) -> None:
    """An expression of the array `a`, over types of elements, orders and strides."""
    f = function(text, ["a"])
    compiled = lancehead.njit(f)
    for kind, a in arrays(sorted({k.split()[0] for k in KINDS})):
        if kind in KINDS and applies(a):
            want, got = plain(outcome(f, [np.copy(a, "K")])), plain(outcome(compiled, [np.copy(a, "K")]))
            refused = isinstance(want, type) and got is TypeError
            assert refused or same(want, got), (text, kind, want, got)
