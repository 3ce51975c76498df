"""How much of LLVM's optimisation the code of tests has: `tests/python/conftest.py` decides it."""

from __future__ import annotations

import numpy as np
import pytest

from lancehead import njit


@njit
def made_at_import(x):
    return x + 1


def is_for_debuggers(function) -> bool:
    return bool(function.targetoptions.get("debug"))


def test_functions_have_little_of_it(request: pytest.FixtureRequest) -> None:
    is_night = request.config.getoption("--optimised") or request.config.getoption("parallel")
    assert is_for_debuggers(made_at_import) == is_for_debuggers(njit(lambda x: x)) == (not is_night)
    assert made_at_import(np.arange(3)).tolist() == [1, 2, 3]


def test_decorators_that_say_more_are_left_alone() -> None:
    assert not is_for_debuggers(njit(parallel=True)(lambda x: x))
    assert not is_for_debuggers(njit(debug=False)(lambda x: x))


@pytest.mark.optimised
def test_marked_tests_have_all_of_it() -> None:
    assert not is_for_debuggers(njit(lambda x: x))
