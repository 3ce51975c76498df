"""Loops in files of their own kind, with arguments for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

N = 400


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
