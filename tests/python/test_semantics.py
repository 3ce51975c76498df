"""The two semantics: Numba's answers as Numba gave them, Python's as NumPy gives them."""

from __future__ import annotations

import json
import math
import warnings
from typing import Any

import numpy as np
import pytest

import numba_answers
from lancehead import errors, njit

ANSWERS = json.loads(numba_answers.FILE.read_text())
NAMES = sorted({expression for _, expression, *_ in numba_answers.all_cases()})


def found(case: tuple[str, str, str, str, str]) -> Any:
    """As `numba_answers` has recorded it."""
    kind, expression, first, second, form = case
    operands = numba_answers.operands_of(kind, first, second, form)
    compiled = njit(numba_answers.function_of(expression), semantics="numba")
    try:
        values = [compiled(*o) for o in operands[: None if "a" not in form else 1]]
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        return type(error).__name__
    except errors.TypingError:
        return "refused"
    result = str(compiled.nopython_signatures[0].return_type)
    if "a" in form:
        return result.replace("array(", "").split(",")[0]
    return [result, [numba_answers.plain(v) for v in values]]


def is_near(got: Any, want: Any) -> bool:
    """Whether two recorded results agree: of functions of floats to a few digits."""
    if not isinstance(want, list) or not isinstance(got, list):
        return got == want
    number = lambda v: complex(*map(float.fromhex, v)) if isinstance(v, list) else float.fromhex(v)
    if got[0] != want[0] or len(got[1]) != len(want[1]):
        return False
    for g, w in zip(got[1], want[1]):
        if isinstance(w, (str, list)) != isinstance(g, (str, list)):
            return False
        if not isinstance(w, (str, list)):
            if g != w:
                return False
            continue
        x, y = number(g), number(w)
        close = 2e-6 if "32" in want[0] or "64" in want[0] and "complex" in want[0] else 1e-13
        if not (x == y or x != x and y != y or abs(x - y) <= close * abs(y)):
            return False
    return True
