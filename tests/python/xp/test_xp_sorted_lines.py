"""Merges and set operations of sorted lines of `lancehead.xp`: lengths around parts, equal elements, threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lancehead import get_num_threads, njit, set_num_threads, xp
from lancehead.lib.primitives.merging import PART

A = xp.asarray
SETS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "union": (xp.union, np.union1d),
    "intersection": (xp.intersection, np.intersect1d),
    "difference": (xp.difference, np.setdiff1d),
    "symmetric_difference": (xp.symmetric_difference, np.setxor1d),
}


@pytest.fixture(params=(1, 2))
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = get_num_threads()
    set_num_threads(request.param)
    yield request.param
    set_num_threads(before)


def check(x: np.ndarray, y: np.ndarray) -> None:
    x, y = np.sort(x), np.sort(y)
    found = xp.merge(A(x), A(y)).numpy()
    np.testing.assert_array_equal(found, np.sort(np.concatenate([x, y])), strict=True)
    for name, (ours, numpys) in SETS.items():
        found = ours(A(x), A(y), is_sorted=True).numpy()
        np.testing.assert_array_equal(found, numpys(x, y), err_msg=name, strict=True)


@pytest.mark.parametrize("span", (1, 50, 10**6))
@pytest.mark.parametrize("sizes", ((1, 1), (8 * PART + 3, 9 * PART), (20 * PART, 7), (0, 4 * PART + 1)))
def test_lengths(threads: int, span: int, sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(span)
    for shift in (0, span // 2, 2 * span):
        check(rng.integers(0, span, sizes[0]), rng.integers(0, span, sizes[1]) + shift)
        check(rng.integers(0, span, sizes[0]) + shift, rng.integers(0, span, sizes[1]))
    check(rng.integers(0, span, sizes[0]) * 0.5, rng.integers(0, span, sizes[1]) - 0.5)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(-30, 30), max_size=200), st.lists(st.integers(-30, 30), max_size=200),
    st.sampled_from(("int8", "uint16", "int64", "float32", "float64")),
)  # fmt: skip
def test_any_lines(a: list[int], b: list[int], dtype: str) -> None:
    check(np.array(a, np.int64).astype(dtype), np.array(b, np.int64).astype(dtype))


def test_nan_and_zeros_of_both_signs() -> None:
    x, y = np.array([-1.0, -0.0, 2.0, np.nan, np.nan]), np.array([0.0, 3.0, np.nan])
    merged = xp.merge(A(x), A(y)).numpy()
    np.testing.assert_array_equal(merged, [-1.0, 0.0, 0.0, 2.0, 3.0, np.nan, np.nan, np.nan])
    # Of equal elements those of the first are first.
    assert list(np.signbit(merged[1:3])) == [True, False]
    expected = {
        "union": [-1.0, 0.0, 2.0, 3.0, np.nan], "intersection": [0.0, np.nan], "difference": [-1.0, 2.0],
        "symmetric_difference": [-1.0, 2.0, 3.0],
    }  # fmt: skip
    for name, (ours, _) in SETS.items():
        np.testing.assert_array_equal(ours(A(x), A(y), is_sorted=True).numpy(), expected[name], err_msg=name)
    np.testing.assert_array_equal(xp.difference(A(x), A(y[:2]), is_sorted=True).numpy(), [-1.0, 2.0, np.nan])
    np.testing.assert_array_equal(xp.symmetric_difference(A(x[:3]), A(y), is_sorted=True).numpy()[-1:], [np.nan])


def test_complex_numbers(threads: int) -> None:
    rng = np.random.default_rng(0)
    x, y = [np.sort(rng.integers(0, 40, n) + 1j * rng.integers(0, 3, n)) for n in (2000, 3000)]
    check(x, y)


@pytest.mark.parametrize("dtype", ("int64", "float64"))
def test_lines_that_are_not_sorted_are_safe(threads: int, dtype: str) -> None:
    rng = np.random.default_rng(3)
    for n, m in ((5, 3), (200, 1000), (8 * PART + 1, 9 * PART)):
        x, y = rng.integers(0, 99, n).astype(dtype), rng.integers(0, 99, m).astype(dtype)
        if dtype == "float64":
            x[::7] = np.nan
        assert xp.merge(A(x), A(y)).size == n + m
        for ours, _ in SETS.values():
            found = ours(A(x), A(y), is_sorted=True).numpy()
            assert found.size <= n + m and np.isin(found[found == found], np.arange(99)).all()


@njit
def compiled(a, b):  # type: ignore[no-untyped-def]
    return xp.merge(a, b), xp.union(a, b), xp.difference(a, b), xp.symmetric_difference(a, b, is_sorted=True)


def test_compiled_code() -> None:
    rng = np.random.default_rng(1)
    a, b = np.sort(rng.integers(0, 9000, 40_000)), np.sort(rng.integers(4000, 20_000, 30_000))
    expected = (
        np.sort(np.concatenate([a, b])), np.union1d(a, b), np.setdiff1d(a, b), np.setxor1d(a, b),
    )  # fmt: skip
    for found, wanted in zip(compiled(a, b), expected, strict=True):
        np.testing.assert_array_equal(found, wanted, strict=True)
