"""Loops whose data are indices, and places and values of extremes."""

import itertools
import re

import numpy as np
import pytest

from lancehead import njit

R = np.random.default_rng(0)
SIZES = (4, 5)


@njit
def tally(h, a, b):
    for k in range(a.size):
        i, j = int(a[k]), b[k]
        h[i, j] += 1
        if h[i, j] > 2:
            h[i, j] -= h[i, 0] + h[0, j]


@njit
def chased(following, at, n):
    seen = 0
    for _ in range(n):
        at = following[at]
        seen += at
    return seen


@njit
def runs(text, h):
    n = 0
    for c in text:
        if c == 32:
            if n != 0:
                h[n] += 1
            n = 0
        else:
            n -= 1


@njit
def first_least(a, skip):
    at, least = -1, np.inf
    for i in range(a.size):
        if not skip[i] and a[i] < least:
            least = a[i]
            at = i
    return at, least


@njit
def last_greatest(a):
    at, greatest = 0, a[0]
    for i in range(1, a.size):
        if a[i] >= greatest:
            at, greatest = i, a[i]
    return at, greatest


@njit
def spreads(v):
    greatest = least = 0.0
    t = np.empty(11, v.dtype)
    for i in range(v.size - 10):
        for j in range(11):
            t[j] = v[i + j]
        greatest += t.max() * i
        least += t.min() * i
    return greatest, least


def test_indices_of_either_sign():
    n, m = SIZES
    pairs = list(itertools.product(range(-n, n), range(-m, m)))
    for chosen in (pairs, pairs[::-1], [pairs[k] for k in R.integers(0, len(pairs), 300)]):
        a, b = (np.array(x) for x in zip(*chosen))
        ours, expected = np.zeros(SIZES, np.int64), np.zeros(SIZES, np.int64)
        tally(ours, a + 0.0, b)
        tally.py_func(expected, a + 0.0, b)
        assert np.array_equal(ours, expected)


@pytest.mark.parametrize("bad", [(4, 0), (-5, 0), (0, 5), (0, -6), (3, 2**62), (3, -(2**63)), (3, 2**63 - 1)])
def test_what_is_outside_is_refused(bad):
    a, b = np.array([1, -1, bad[0], 2]), np.array([1, -1, bad[1], 2])
    ours, expected = np.zeros(SIZES, np.int64), np.zeros(SIZES, np.int64)
    with pytest.raises(IndexError) as said:
        tally(ours, a + 0.0, b)
    with pytest.raises(IndexError) as meant:
        tally.py_func(expected, a + 0.0, b)
    assert str(said.value) == str(meant.value)
    assert np.array_equal(ours, expected)


def test_an_index_that_was_loaded():
    following = np.array([2, -1, 1, -3, 0])
    for start in range(-5, 5):
        assert chased(following, start, 100) == chased.py_func(following, start, 100)
    for start in (5, -6):
        with pytest.raises(IndexError, match=f"index {start} is out of bounds for axis 0 with size 5"):
            chased(following, start, 100)


def test_negative_lengths_of_runs():
    text = np.frombuffer(b"the quick brown fox jumps over the lazy dog " * 3, np.uint8)
    ours, expected = np.zeros(9, np.int64), np.zeros(9, np.int64)
    runs(text, ours)
    runs.py_func(text, expected)
    assert np.array_equal(ours, expected) and ours.sum() == 27
    with pytest.raises(IndexError, match="index -5 is out of bounds for axis 0 with size 4"):
        runs(text, np.zeros(4, np.int64))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
def test_places_of_extremes(dtype):
    for n in (0, 1, 2, 7, 64, 301):
        a = R.integers(0, 40, n).astype(dtype)
        rows = [a, np.sort(a), np.sort(a)[::-1].copy(), np.zeros(n, dtype)]
        if a.dtype.kind == "f":
            rows += [np.where(R.random(n) < 0.3, np.nan, a).astype(dtype), np.full(n, np.nan, dtype), -0.0 * a]
        for row in rows:
            skip = R.random(n) < 0.4
            assert first_least(row, skip) == first_least.py_func(row, skip)
            if n:
                assert str(last_greatest(row)) == str(
                    tuple(x.item() for x in map(np.asarray, last_greatest.py_func(row)))
                )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_extremes_of_short_arrays(dtype):
    v = R.standard_normal(200).astype(dtype)
    for row in (v, np.round(v), np.sort(v), np.where(np.arange(200) == 150, np.nan, v).astype(dtype)):
        assert np.allclose(spreads(row), spreads.py_func(row), rtol=1e-5, equal_nan=True)


def text_of(f):
    return "".join(f.inspect_llvm().values())


def expected_selects(f):
    return [line for line in text_of(f).splitlines() if " select " in line and "!prof" in line]


def test_a_new_extreme_is_unlikely_only_where_its_place_is_kept():
    assert first_least(R.random(50), np.zeros(50, bool)) != (-1, np.inf)

    @njit
    def least_of(a):
        least = a[0]
        for x in a:
            if x < least:
                least = x
        return least

    assert least_of(np.array([2.0, 1.0, 3.0])) == 1
    assert expected_selects(first_least)
    assert not expected_selects(least_of)


def test_extremes_of_few_values_are_trees():
    spreads(R.random(20))
    operands = dict(re.findall(r"(%\S+) = call double @llvm\.maximum\.f64\((.*)\)", text_of(spreads)))

    def depth(value):
        return 1 + max(map(depth, re.findall(r"%[\w.]+", operands[value]))) if value in operands else 0

    assert len(operands) >= 10
    assert max(map(depth, operands)) <= 5


def test_negative_indices_are_off_the_way_of_others():
    chased(np.array([2, -1, 1, -3, 0]), 0, 10)
    signs = re.findall(r"(%\S+) = icmp slt i64 \S+, 0\b", text_of(chased))
    assert not any(f"select i1 {sign}," in text_of(chased) for sign in signs)
