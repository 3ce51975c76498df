"""Places of elements: of true ones, of triangles, of ranks; and values at places, where the way depends on the data."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from lancehead import njit

R = np.random.default_rng(3)


def same(want: Any, got: Any) -> None:
    """Tuples of arrays of the same types and elements."""
    assert len(want) == len(got)
    for a, b in zip(want, got):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("f", [lambda n, k, m: np.tril_indices(n, k, m), lambda n, k, m: np.triu_indices(n, k, m)])
def test_triangles(f: Any) -> None:
    compiled = njit(f)
    for n, k, m in itertools.product([-1, 0, 1, 3, 5], [-7, -2, -1, 0, 1, 2, 7], [-1, 0, 1, 4, 6]):
        same(f(n, k, m), compiled(n, k, m))


@pytest.mark.parametrize("dtype", ["?", "i1", "f8", "c16"])
def test_places_of_true_elements(dtype: str) -> None:
    places, flat = njit(lambda a: np.nonzero(a)), njit(lambda a: np.flatnonzero(a))
    for shape, share in itertools.product([(0,), (9,), (3, 4), (0, 4), (4, 0), (2, 3, 4), (2, 0, 3)], [0, 0.3, 1]):
        base = (R.random(shape) < share).astype(dtype)
        for a in (base, base.copy("F"), base[::-1], base[..., ::2]):
            same(np.nonzero(a), places(a))
            same((np.flatnonzero(a),), (flat(a),))
    line = np.array([1, np.nan, -0.0, 0, 2])
    same(np.nonzero(line), places(line))


@pytest.mark.parametrize("dtype", ["?", "i4", "u1", "f4", "f8", "c16", "M8[s]"])
def test_places_by_rank(dtype: str) -> None:
    """The order of places before and behind the rank is not defined: the elements are compared."""
    along_last, along_first = njit(lambda a, k: np.argpartition(a, k)), njit(lambda a, k: np.argpartition(a, k, axis=0))
    for n, most, is_rare in itertools.product([1, 2, 7, 50], [3, 100], [False, True]):
        table = R.integers(0, most, (3, n)).astype(dtype)
        if is_rare and table.dtype.kind in "fcM":
            table[R.random(table.shape) < 0.2] = "NaT" if table.dtype.kind == "M" else np.nan
        for a, k in itertools.product((table[0], table, table[:, ::-1], table.copy("F")), (0, n // 2, -1, -n)):
            found, rank, want = along_last(a, k), k % n, np.sort(a)
            assert found.dtype == np.int64
            np.testing.assert_array_equal(np.sort(found), np.broadcast_to(np.arange(n), found.shape))
            values = np.take_along_axis(a, found, -1)
            np.testing.assert_array_equal(values[..., rank], want[..., rank])
            np.testing.assert_array_equal(np.sort(values[..., :rank]), want[..., :rank])
        values = np.take_along_axis(table, along_first(table, 1), 0)
        np.testing.assert_array_equal(values[1], np.sort(table, 0)[1])
        for k in (n, -n - 1):
            with pytest.raises(ValueError, match="out of bounds"):
                along_last(table, k)


def test_interpolation_at_places_in_any_order() -> None:
    f = njit(lambda x, xp, fp: np.interp(x, xp, fp))
    for n, order in itertools.product([1, 2, 3, 9, 40], ["any", "sorted", "with nan", "equal points"]):
        xp, fp, x = np.sort(R.random(n)), R.random(n), R.random(100) * 1.4 - 0.2
        x[3] = xp[n // 2]
        if order != "any":
            x.sort()
        if order == "with nan":
            x[50] = np.nan
        if order == "equal points":
            xp[: n // 2] = xp[n // 2]
        np.testing.assert_allclose(f(x, xp, fp), np.interp(x, xp, fp), rtol=1e-13)


def test_counts_with_the_least_and_the_most() -> None:
    f = njit(lambda a, least: np.bincount(a, None, least))
    for a in (np.array([], np.int64), np.array([3, 1, 1]), np.array([0, 255], np.uint8), np.array([True, False])):
        for least in (0, 2, 9):
            same((np.bincount(a, None, least),), (f(a, least),))
    with pytest.raises(ValueError, match="no negative elements"):
        f(np.array([5, -1]), 0)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_extremes_of_floats_that_do_not_lie_side_by_side(dtype: str) -> None:
    f = njit(lambda a: (np.min(a), np.max(a), a.max(keepdims=True)))
    for n, nans in itertools.product([1, 2, 3, 40], [(), (0,), (-1,), (1,), (0, -1)]):
        line = R.random(2 * n).astype(dtype)
        line[[2 * k if k >= 0 else 2 * (n + k) for k in nans if -n <= k < n]] = np.nan
        for a in (line[::2], line[::-2], np.sort(line)[::2], line[:1].repeat(n)[::2]):
            low, high, kept = f(a)
            np.testing.assert_array_equal([low, high], [a.min(), a.max()])
            same((a.max(keepdims=True),), (kept,))


def test_floor_division_of_integers() -> None:
    f, by = (
        njit(lambda a, b: (a // b, a % b)),
        njit(lambda a: (a // 7, a % 7, a // -7, a % -7, a // 10, a // 8, a // -1)),
    )
    for dtype in (np.int8, np.int32, np.int64):
        a = np.concatenate((np.arange(-22, 23), [np.iinfo(dtype).max, np.iinfo(dtype).min + 1])).astype(dtype)
        with np.errstate(all="ignore"):
            same(by.py_func(a), by(a))
            for b in (-9, -2, 1, 2, 3, 9):
                same(f.py_func(a, np.full_like(a, b)), f(a, np.full_like(a, b)))
