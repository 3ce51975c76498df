"""Objects of results: those of the arguments where a result has them again."""

import itertools
import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lancehead import njit

INTS = st.integers(-(2**63), 2**63 - 1) | st.integers(-10, 300)


@njit
def reordered(a, b):
    kept = a[:]
    a.sort()
    return kept[::-1], a + b, sorted(kept), [(x, y) for x, y in zip(kept, b)], set(b), [x for x in b if x > 0]


def same(got, want):
    """Whether two values have the same types and bits."""
    if type(got) is not type(want):
        return False
    if isinstance(got, (list, tuple)):
        return len(got) == len(want) and all(map(same, got, want))
    return struct.pack("d", got) == struct.pack("d", want) if isinstance(got, float) else got == want


@given(st.lists(INTS, min_size=1, max_size=40), st.lists(INTS, min_size=1, max_size=40))
@settings(max_examples=200, deadline=None)
def test_numbers_of_arguments_come_back(a, b):
    mine, theirs = a[:], a[:]
    got, want = reordered(mine, b), reordered.py_func(theirs, b)
    assert same(got, want)
    assert mine == theirs


@pytest.mark.parametrize("count", [3, 100, 5000, 100_000])
def test_numbers_keep_their_objects(count):
    a = [7**11 + 13 * i for i in range(count)]
    b = [i + 0.5 for i in range(count)]
    for got, want in zip(njit(lambda a: a[::-1])(a), reversed(a)):
        assert got is want
    for (x, y), want_x, want_y in zip(njit(lambda a, b: list(zip(a, b)))(a, b), a, b):
        assert x is want_x and y is want_y


def test_floats_keep_their_bits():
    values = [0.0, -0.0, math.nan, math.inf, 5e-324, *(i / 7 for i in range(100))]
    assert same(njit(lambda a: [x for x in a])(values), values)
    assert same(njit(lambda a: [-x for x in a])(values), [-x for x in values])


def test_numbers_that_are_not_those_of_an_argument():
    a = list(range(10**6, 10**6 + 500))
    assert njit(lambda a: [x * x for x in a])(a) == [x * x for x in a]
    assert njit(lambda a: [x if x % 3 else -x for x in a])(a) == [x if x % 3 else -x for x in a]
    assert njit(lambda a: [True for x in a])(a) == [True] * 500
    # Ints among floats become floats, as in NumPy.
    mixed = [1000, 2.5] * 50
    assert same(njit(lambda a: [x for x in a])(mixed), [float(x) for x in mixed])


def test_a_list_that_changes_during_the_call():
    @njit
    def grown(a):
        a.append(a[0] + 10**6)
        a[1] = 10**9
        return [x for x in a]

    mine, theirs = [10**5 + i for i in range(50)], [10**5 + i for i in range(50)]
    assert grown(mine) == grown.py_func(theirs)
    assert mine == theirs


def test_combinations_of_arguments():
    a = [10**6 + i for i in range(12)]
    f = njit(lambda a: list(itertools.combinations(a, 3)))
    assert f(a) == list(itertools.combinations(a, 3))
    assert f(a)[0][0] is a[0]


TEXTS = st.text(st.sampled_from("ab\0\x7f\x80é\xffĀ€\ud800\udfff😀"), max_size=12)


@njit
def texts(s, several):
    return (
        s,
        list(s),
        s[1:],
        s[::-1],
        [s, s],
        several,
        several[::-1],
        {t: len(t) for t in several},
        set(several),
        ("", s),
    )


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=60))
@settings(max_examples=200, deadline=None)
def test_texts_come_back(s, several):
    assert texts(s, several) == texts.py_func(s, several)


def test_texts_keep_their_objects():
    several = ["word" + str(i) for i in range(200)] + ["é" * 100, "", "a", "ÿ"]
    for got, want in zip(njit(lambda a: sorted(a))(several), sorted(several)):
        assert got is want
    text = "some text"
    assert njit(lambda s: s)(text) is text
    assert njit(lambda s: s[:])(text) is text
    # As CPython has them, characters of Latin-1 are one object each.
    assert njit(lambda s: list(s))("éa")[0] is chr(0xE9)


def test_bytes_come_back():
    f = njit(lambda b: (b, b[1:], b[::-1], b[::2], [b, b[:2]], b[:0]))
    for b in (b"", b"a", b"abc\xff\0", bytes(range(256)) * 20):
        assert f(b) == f.py_func(b)
        assert f(b)[0] is b
    parts = [bytes([i, i]) for i in range(100)]
    assert njit(lambda a: a[::-1])(parts) == parts[::-1]


def test_tables_of_plain_items():
    a = [10**6 + i for i in range(100)]
    b = [i / 3 for i in range(100)]
    assert njit(lambda a, b: dict(zip(a, b)))(a, b) == dict(zip(a, b))
    assert njit(lambda a: frozenset(a))(a) == frozenset(a)
    assert njit(lambda a: {(x, x > 10**6): str(x) for x in a})(a) == {(x, x > 10**6): str(x) for x in a}

    @njit
    def removed(a):
        s = set(a)
        s.remove(a[3])
        return s

    assert removed(a) == set(a) - {a[3]}


def test_characters_of_a_long_text_as_a_set():
    text = "the quick brown fox\n\0\x7f" * 40
    got = njit(lambda s: [c for c in set(s)])(text)
    # The items of a set are in the order in which they came.
    assert got == list(dict.fromkeys(text))
    assert njit(lambda s: set(s))(text + "é") == set(text + "é")
