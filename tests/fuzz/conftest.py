"""Fuzzers run a sample of their fixed programs, and with `--whole` all of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture
def some(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """The first of two numbers with `--whole`, else the second."""
    return lambda whole, sample: whole if request.config.getoption("--whole") else sample
