"""Loops in files of their own kind, with arguments for them."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lancehead import errors, njit

N = 400


def runs_in_order(function: Any, *args: Any, **options: Any) -> list[str]:
    """Asserts that a loop that must not run in parallel gives what it gives over `range`; answers with its warnings."""
    mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            got, expected = njit(parallel=True, **options)(function)(*mine), None
        except errors.NumbaError:
            raise
        except Exception as error:
            got = expected = error
    try:
        expected = njit(**options)(function)(*theirs)
    except Exception as error:
        assert type(error) is type(got)
        return [str(w.message) for w in told]
    for x, y in zip(parts(got, mine), parts(expected, theirs), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)
    return [str(w.message) for w in told]


def parts(result: Any, args: Any) -> list[Any]:
    """The numbers and arrays of a result and of arguments."""
    if isinstance(result, (tuple, list)):
        return [part for item in (*result, *args) for part in parts(item, ())]
    if result is None or isinstance(result, (dict, set)):
        return [part for item in args for part in parts(item, ())]
    if isinstance(result, np.ndarray) and result.dtype.names:
        return [part for name in result.dtype.names for part in parts(result[name], args)]
    return [result, *(part for item in args for part in parts(item, ()))]


def is_refused(function: Any, *args: Any) -> bool:
    """Whether a loop is proven wrong; if it is not, it gives what it gives in order."""
    if not is_wrong(function, *args):
        runs_in_order(function, *args)
        return False
    # With Numba's semantics it runs in order.
    told = runs_in_order(function, *args, semantics="numba")
    assert len(told) >= 1
    return True


def is_wrong(function: Any, *args: Any) -> bool:
    """Whether a loop is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            njit(parallel=True)(function)(*copy.deepcopy(args))
        except errors.ParallelRaceError:
            return True
        except (ValueError, TypeError, ArithmeticError, LookupError):
            pass
    return False


class Corpus:
    """Loops that share random arguments: `@corpus.wrong(corpus.vector())` adds one."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(7)
        self.right_loops: list[Any] = []
        self.wrong_loops: list[Any] = []

    def right(self, *args: Any) -> Callable[[Any], Any]:
        return lambda f: self._add(self.right_loops, f, args)

    def wrong(self, *args: Any) -> Callable[[Any], Any]:
        return lambda f: self._add(self.wrong_loops, f, args)

    def _add(self, to: list[Any], f: Any, args: Any) -> Any:
        to.append(pytest.param(f, args, id=f.__name__))
        return f

    def vector(self) -> Any:
        return self.random.random(N)

    def matrix(self, m: int = 30, n: int = 20) -> Any:
        return self.random.random((m, n))

    def bins(self) -> Any:
        return self.random.integers(0, 10, N)
