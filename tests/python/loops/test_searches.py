"""Searches in sorted arrays and least values: machine code that does not branch where data decides."""

import numpy as np
import pytest

from lancehead import njit


@njit
def left(a, x):
    return np.searchsorted(a, x)


@njit
def right(a, x):
    return np.searchsorted(a, x, "right")


def bisect(a, x):
    lo, hi = 0, a.size
    while lo < hi:
        m = (lo + hi) // 2
        if a[m] < x:
            lo = m + 1
        else:
            hi = m
    return lo


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "c16", "?"])
def test_places_of_all_elements(dtype):
    random = np.random.default_rng(1)
    for n in (0, 1, 2, 3, 7, 8, 9, 64, 1000):
        a = np.sort((random.random(n) * 40).astype(dtype))
        x = (random.random(200) * 42 - 1).clip(0).astype(dtype)
        if a.dtype.kind == "f":
            a[n - n // 4 :] = np.nan
            x[:3] = np.nan, np.inf, -np.inf
        for f in (left, right):
            np.testing.assert_array_equal(f(a, x), f.py_func(a, x))
            assert [f(a, y) for y in x[:20]] == [f.py_func(a, y) for y in x[:20]]


def test_halves_are_chosen_without_branches():
    a = np.sort(np.random.default_rng(1).random(1000))
    f = njit(bisect)
    assert all(f(a, x) == bisect(a, x) for x in (-1.0, 0.0, 0.3, a[7], 0.99, 2.0))
    (code,) = f.inspect_asm().values()
    assert code.count("cmov") >= 2


def edits(a, b):
    before, row = np.arange(len(b) + 1), np.zeros(len(b) + 1, np.int64)
    for i in range(1, len(a) + 1):
        row[0] = i
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + cost)
        before, row = row, before
    return before[len(b)]


def test_the_least_of_three_is_chosen_without_branches():
    a, b = np.random.default_rng(1).integers(0, 4, (2, 30))
    f = njit(edits)
    assert f(a, b) == edits(a, b)
    (code,) = f.inspect_asm().values()
    # LLVM would make branches of all but six.
    assert code.count("cmov") >= 12


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_numbers_with_nan_in_a_part_have_numpys_order(dtype):
    @njit
    def one_by_one(a, x):
        return [np.searchsorted(a, v) for v in x]

    @njit
    def extremes(a):
        return np.max(a), np.min(a), np.argmax(a), np.argmin(a), np.sort(a), np.argsort(a)

    parts = (1, 2, np.nan, np.inf, -np.inf)
    numbers = np.array([complex(re, im) for re in parts for im in parts], dtype)
    random = np.random.default_rng(1)
    for _ in range(20):
        x = random.permutation(numbers)
        a = np.sort(x)
        for f in (left, right):
            np.testing.assert_array_equal(f(a, x), f.py_func(a, x))
        assert one_by_one(a, x) == one_by_one.py_func(a, x)
        want = np.max(x), np.min(x), np.argmax(x), np.argmin(x), a, np.argsort(x, kind="stable")
        for w, g in zip(want, extremes(x)):
            for part in (np.real, np.imag):
                np.testing.assert_array_equal(part(g), part(w))
