"""The programs of the demo as data, and their measurement."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Program:
    """A real program, once in plain Python or by the packages that are used for it, and once compiled."""

    name: str
    title: str
    #: The baseline of the comparison: "Python", "NumPy", "SciPy" or "Dask" with NumPy's arrays.
    baseline: str
    #: Arguments of both versions; small ones if its argument is true.
    inputs: Callable[[bool], tuple[Any, ...]]
    #: The size of these arguments in words.
    size: Callable[..., str]
    plain: Callable[..., Any]
    compiled: Callable[..., Any]
    #: Largest relative difference of the two answers; 0 where they must be equal.
    tolerance: float = 0.0
    #: Says in which way the common answer contradicts theory; "" if it does not.
    objection: Callable[[Any], str] = lambda answer: ""


@dataclass(frozen=True)
class Measurement:
    """Seconds of one program, or why there are none."""

    program: Program
    size: str = ""
    plain: float = 0.0
    compiled: float = 0.0
    #: First call, which compiles, less a later one.
    compiling: float = 0.0
    failure: str = ""

    @property
    def speedup(self) -> float:
        return self.plain / self.compiled


def measure(program: Program, quick: bool = False) -> Measurement:
    """Runs both versions on the same inputs, compares their answers and takes the best of several times.

    Raises:
        ImportError: the program needs a package that is not installed.
    """
    arguments = program.inputs(quick)
    size = program.size(*arguments)
    try:
        expected, plain = timed(program.plain, arguments, budget=0.2 if quick else 0.5, most=50)
        answer, first = timed(program.compiled, arguments, budget=0.0, most=1)
    except ImportError:
        raise
    except Exception as error:
        return Measurement(program, size, failure=describe(error))
    _, compiled = timed(program.compiled, arguments, budget=0.1 if quick else 0.25, most=500)
    difference = distance(expected, answer)
    if not difference <= program.tolerance:
        failure = f"answers differ by {difference:.3g}, allowed is {program.tolerance:.3g}"
        return Measurement(program, size, failure=failure)
    if wrong := program.objection(answer):
        return Measurement(program, size, failure=wrong)
    return Measurement(program, size, plain, compiled, max(first - compiled, 0.0))


def timed(function: Callable[..., Any], arguments: tuple[Any, ...], budget: float, most: int) -> tuple[Any, float]:
    """The answer and the shortest time of calls that take `budget` seconds together, at least one call."""
    best = float("inf")
    spent = 0.0
    answer = None
    for _ in range(most):
        fresh = copy.deepcopy(arguments)
        start = time.perf_counter()
        answer = function(*fresh)
        seconds = time.perf_counter() - start
        best = min(best, seconds)
        spent += seconds
        if spent > budget:
            break
    return answer, best


def distance(expected: Any, answer: Any) -> float:
    """Largest difference of two answers, relative to the largest number of the expected one."""
    if isinstance(expected, tuple):
        if len(expected) != len(answer):
            return float("inf")
        return max((distance(a, b) for a, b in zip(expected, answer)), default=0.0)
    if isinstance(expected, list) and expected == answer:
        return 0.0
    a, b = np.asarray(expected), np.asarray(answer)
    if a.shape != b.shape:
        return float("inf")
    if np.array_equal(a, b):
        return 0.0
    with np.errstate(all="ignore"):
        return float(np.max(np.abs(a - b)) / np.max(np.abs(a)))


def describe(error: BaseException) -> str:
    """An exception as its class and the first line of its message."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
