"""Variables that a parallel loop assigns on some paths only: their last value, or none, is there after the loop."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lancehead import njit, prange


def only_set_under_a_condition(a: np.ndarray, n: int, k: int) -> Any:
    for i in prange(n):
        if k > 2:
            y = 1
        a[i] = i
    return y


def used_where_it_may_not_be(a: np.ndarray, n: int, k: int) -> Any:
    for i in prange(n):
        if k > 2:
            y = i
        a[i] = i
    if n < 0:
        return y
    return 0


def assigned_before_under_a_condition(a: np.ndarray, n: int, k: int) -> Any:
    if k > 2:
        y = 3
    for i in prange(n):
        if k > 3:
            y = i
    return y


def variable_of_an_inner_loop(a: np.ndarray, n: int, k: int) -> Any:
    for i in prange(n):
        for j in range(k):
            a[i] += j
    return j


def a_tuple(a: np.ndarray, n: int, k: int) -> Any:
    for i in prange(n):
        if k > 2:
            y = (1.5, i)
        a[i] = i
    return y


def a_complex_number(a: np.ndarray, n: int, k: int) -> Any:
    y = 1j
    for i in prange(n):
        if k > 2:
            y = 1j * i
        a[i] = i
    return y


def an_optional_number(a: np.ndarray, n: int, k: int) -> Any:
    y = None
    for i in prange(n):
        if k > 2:
            y = i
        a[i] = i
    return y


@pytest.mark.parametrize("n", [0, 1, 1000])
@pytest.mark.parametrize("k", [0, 3, 4])
@pytest.mark.parametrize(
    "function",
    [
        only_set_under_a_condition,
        used_where_it_may_not_be,
        assigned_before_under_a_condition,
        variable_of_an_inner_loop,
        a_tuple,
        a_complex_number,
        an_optional_number,
    ],
)
def test_it_is_as_in_a_loop_in_order(function: Callable[..., Any], n: int, k: int) -> None:
    seen = []
    for f in (function, njit(parallel=True)(function)):
        a = np.zeros(1000)
        try:
            seen.append((f(a, n, k), a.tolist()))
        except UnboundLocalError:
            seen.append((UnboundLocalError, a.tolist()))
    assert seen[0] == seen[1]
