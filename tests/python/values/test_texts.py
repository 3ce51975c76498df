"""Characters of long texts: found without looking through what is before them."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lancehead import njit

TEXTS = st.text(st.sampled_from("ab\0 é€😀"), max_size=40)


@njit
def parts(s, t, i, j, k):
    return (
        s[i:j],
        s[j:],
        s[i::k],
        len(s[i:j]),
        s.find(t, i),
        s.rfind(t),
        s.count(t),
        s[i:j] + t,
        t in s,
        (s + t)[-1:],
        s[i:j] == t,
    )


@njit
def characters(s):
    joined = ""
    for c in s:
        joined = c + joined
    return joined, [c for c in s], [s[i] for i in range(len(s))], [s[-1 - i] for i in range(len(s))]


@given(TEXTS, TEXTS, st.integers(-5, 45), st.integers(-5, 45), st.sampled_from([-3, -1, 1, 2]))
@settings(max_examples=300, deadline=None)
def test_parts_are_pythons(s, t, i, j, k):
    assert parts(s, t[:2], i, j, k) == parts.py_func(s, t[:2], i, j, k)
    assert [list(p) for p in characters(s)] == [list(p) for p in characters.py_func(s)]


def test_texts_in_lists_and_results():
    @njit
    def last(texts, i):
        out = [t[i:] for t in texts]
        return out, [len(t) for t in out], texts[0], max(texts)[-3]

    for text in ["ab" * 300, "aé😀" * 200, "b" * 130 + "é", "é" * 64, "é" * 65, ""]:
        given = [text + "xyz", text]
        assert last(given, 2) == last.py_func(given, 2)
        assert last(given, 2)[2] is given[0]


@njit
def walk(s):
    n = 0
    for c in s:
        n += c == "b"
    return n


@njit
def walk_reversed(s):
    return s[::-1].swapcase().title().count("b")


@njit
def walk_by_index(s):
    n, i = 0, 0
    while i < len(s):
        n += s[i] == "b"
        i += 1
    return n


@njit
def walk_by_find(s):
    n = 0
    at = s.find("b")
    while at >= 0:
        n += 1
        at = s.find("b", at + 1)
    return n


@pytest.mark.parametrize(
    ("f", "text"), [(walk, "aab"), (walk, "aéb"), (walk_by_index, "aab"), (walk_by_find, "aab"), (walk_reversed, "aab")]
)
def test_long_texts(f, text):
    f(text)
    begin = time.perf_counter()
    assert f(text * 200_000) == f.py_func(text * 200_000)
    # Looking through what is before each character takes minutes.
    assert time.perf_counter() - begin < 20


#: Letters whose case is of several letters or depends on others: ligatures, digraphs, letters with an iota.
LETTERS = [
    chr(c)
    for c in (*range(0x1F80, 0x2000), *range(0x1C4, 0x1CD), *range(0x1F1, 0x1F4), *range(0xFB00, 0xFB18))
    if chr(c).isalpha()
]
CASED = st.text(
    st.one_of(st.sampled_from("ΣσςΑaB.:' 1ßŉİıǰΐև中ªᾼჀა\u0301\u0345"), st.sampled_from(LETTERS)), max_size=12
)


@njit
def cases(s):
    return s.lower(), s.upper(), s.swapcase(), s.title(), s.capitalize(), s.isupper(), s.islower()


@given(CASED)
@settings(max_examples=1000, deadline=None)
def test_case_depends_on_neighbours_as_in_python(s):
    assert cases(s) == cases.py_func(s)


def test_a_final_sigma():
    assert cases("ΌΔΟΣ ΣΑΣ") == cases.py_func("ΌΔΟΣ ΣΑΣ")
    assert cases("ΌΔΟΣ")[2] == "όδος"
