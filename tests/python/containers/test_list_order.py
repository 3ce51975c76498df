"""`sort` and `sorted` of lists longer than a run: stable in both directions, also of what is in order already."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lancehead import njit


@njit
def ordered(a):
    b = a[:]
    b.sort(reverse=True)
    by_rest = sorted(a, key=lambda x: x % 5), sorted(a, key=lambda x: x % 5, reverse=True)
    return sorted(a), sorted(a, reverse=True), b, by_rest


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=150))
@settings(max_examples=60, deadline=None)
def test_numbers(a):
    assert ordered(a) == ordered.py_func(a)


@pytest.mark.parametrize("n", [1, 16, 17, 31, 32, 33, 64, 100, 333])
def test_runs(n):
    for a in (list(range(n)), list(range(n, 0, -1)), [x // 20 for x in range(n)], [0] * n, [x % 17 for x in range(n)]):
        assert ordered(a) == ordered.py_func(a)


@njit
def ordered_words(a):
    b = a[:]
    b.sort()
    by_length = sorted(a, key=lambda w: len(w)), sorted(a, key=lambda w: len(w), reverse=True)
    return sorted(a), sorted(a, reverse=True), b, by_length


@given(st.lists(st.text(st.sampled_from("abé日😀\ud800\0"), max_size=12), min_size=1, max_size=80))
@settings(max_examples=60, deadline=None)
def test_texts(a):
    assert ordered_words(a) == ordered_words.py_func(a)


@njit
def ordered_pairs(a):
    return sorted(a), sorted(a, reverse=True), sorted(a, key=lambda p: p[0])


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(allow_nan=False)), min_size=1, max_size=60))
@settings(max_examples=60, deadline=None)
def test_pairs(a):
    assert ordered_pairs(a) == ordered_pairs.py_func(a)
