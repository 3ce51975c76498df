"""Texts longer than a vector, of ASCII and nearly so: methods look at them in blocks and write them in place."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lancehead import njit

ASCII = "abcXYZ 019\t\n\r\v\f\x1c\x1d\x1e\x1f\x7f\0'\"\\_-"
PIECES = st.sampled_from([*ASCII, "word ", "\r\n", "  ", "aaaa", "Title", "z" * 63, " " * 64, "ab\t" * 30])
OTHERS = st.sampled_from("éßσΣıǆ日\x85\u2028\u3000\xa0ÿ\ud800😀")
PLAIN = st.lists(PIECES, max_size=60).map("".join)
MIXED = st.lists(st.one_of(PIECES, PIECES, PIECES, OTHERS), max_size=60).map("".join)
TEXTS = st.one_of(PLAIN, MIXED)


@njit
def changed(s):
    return (
        s.upper(),
        s.lower(),
        s.casefold(),
        s.title(),
        s.swapcase(),
        s.capitalize(),
        repr(s),
        s[::-1],
        s[::3],
        s[5::-2],
    )


@njit
def asked(s):
    return (
        s.isalpha(), s.isalnum(), s.isdigit(), s.isdecimal(), s.isnumeric(), s.isspace(), s.isprintable(), s.isascii(),
        s.isupper(), s.islower(), s.istitle(), s.isidentifier(), len(s), hash(s),
    )  # fmt: skip


@njit
def cut(s, chars):
    stripped = [s.strip(), s.lstrip(), s.rstrip(), s.strip(chars), s.lstrip(chars), s.rstrip(chars)]
    return s.splitlines(), s.splitlines(True), s.split(), s.rsplit(), s.split("a"), s.rsplit("a"), stripped, list(s)


@njit
def arranged(s, n, fill):
    padded = [s.center(n), s.center(n, fill), s.ljust(n, fill), s.rjust(n, fill), s.zfill(n), s * 2]
    return padded, s.expandtabs(), s.expandtabs(3), s.expandtabs(0), sorted(s), sorted(s, reverse=True)


@njit
def replaced(s, old, new):
    translated = s.translate({97: 65, 98: None}), s.translate({97: "éa", 32: ""})
    return s.replace(old, new), s.replace(old, new, 2), s.count(old), s.count(old, 3, -3), translated


@given(TEXTS)
@settings(max_examples=150, deadline=None)
def test_cases_and_questions(s):
    assert changed(s) == changed.py_func(s)
    assert asked(s) == asked.py_func(s)


@given(TEXTS, st.sampled_from(["a", " a", "xyzabc", "é", "aé", "\ud800 ", ""]))
@settings(max_examples=150, deadline=None)
def test_parts(s, chars):
    assert cut(s, chars) == cut.py_func(s, chars)


@given(TEXTS, st.integers(-1, 300), st.sampled_from(["*", "é", "日", "😀", "\ud800"]))
@settings(max_examples=150, deadline=None)
def test_arrangements(s, n, fill):
    assert arranged(s, n, fill) == arranged.py_func(s, n, fill)


@given(TEXTS, st.sampled_from(["a", "aa", "word", "é", "", "\r\n", " "]), st.sampled_from(["", "b", "é", "long one"]))
@settings(max_examples=150, deadline=None)
def test_replacements(s, old, new):
    assert replaced(s, old, new) == replaced.py_func(s, old, new)


def test_case_of_each_byte_is_that_of_the_character():
    # The bytes of a vector, at each place of it.
    every = "".join(map(chr, range(128)))
    for at in range(64):
        s = "x" * at + every
        assert changed(s) == changed.py_func(s)
        assert cut(s, "x") == cut.py_func(s, "x")


@njit
def grown(pieces):
    out = ""
    kept = []
    for piece in pieces:
        out += piece
        kept.append(out)
        # Others continue the same text.
        kept.append(out + "!")
        kept.append(out + "?")
        kept.append(out[1:] + "#")
        kept.append(piece + out)
    return out, kept


@given(st.lists(st.one_of(PIECES, PIECES, OTHERS), max_size=40))
@settings(max_examples=100, deadline=None)
def test_a_text_that_is_continued_stays_what_it_is(pieces):
    assert grown([*pieces, "a"]) == grown.py_func([*pieces, "a"])


@njit
def characters(s, n):
    out = ""
    for i in range(n):
        out += s[i % len(s)]
    return out, len(out), out[n // 2], out.find("b")


@pytest.mark.parametrize("s", ["abc", "aéb", "日b", "😀ab"])
def test_texts_that_grow_by_characters(s):
    assert characters(s, 5000) == characters.py_func(s, 5000)


@njit(nogil=True)
def continued(s, letter, n):
    out = s
    for _ in range(n):
        out += letter
        if (s + letter)[-1] != letter:
            return ""
    return out


@njit
def of_block(n):
    return "ab" * n


def test_threads_that_continue_one_text():
    # The text has an owner of its own, whose room the threads compete for.
    base = of_block(20)
    results = {}

    def work(letter):
        results[letter] = continued(base, letter, 2000)

    threads = [threading.Thread(target=work, args=(letter,)) for letter in "xyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {letter: base + letter * 2000 for letter in "xyz"}


@njit
def numbers(n):
    return str(n), repr(n), f"{n}", f"{n:,}", f"{n:>25}", f"{n:+x}", bin(n), oct(n), hex(n), bin(n).count("1")


@given(st.integers(-(2**63), 2**63 - 1))
@settings(max_examples=200, deadline=None)
def test_digits(n):
    assert numbers(n) == numbers.py_func(n)


@pytest.mark.parametrize("n", [0, 1, -1, 9, 10, -10, 99, 100, 101, 1005, 2**63 - 1, -(2**63), 10**18, -(10**18)])
def test_digits_at_the_edges(n):
    assert numbers(n) == numbers.py_func(n)


@njit
def parsed(s, base):
    try:
        return int(s, base), True
    except ValueError:
        return 0, False


@given(st.text(st.sampled_from("0189azZ_-+ ٣"), max_size=15), st.sampled_from([2, 8, 10, 16, 36, 0]))
@settings(max_examples=300, deadline=None)
def test_numbers_of_digits(s, base):
    expected = parsed.py_func(s, base)
    if abs(expected[0]) < 2**63:
        assert parsed(s, base) == expected


@njit
def bytes_of(s):
    return s.encode(), s.encode("utf-8").decode(), s.encode("latin-1", "replace"), s.encode("ascii", "ignore")


@given(st.one_of(PLAIN, st.lists(st.one_of(PIECES, st.sampled_from("éÿ日😀")), max_size=20).map("".join)))
@settings(max_examples=100, deadline=None)
def test_encodings(s):
    assert bytes_of(s) == bytes_of.py_func(s)


@njit
def decoded(b, errors):
    return b.decode("utf-8", errors), b.decode("ascii", errors)


@given(st.lists(st.sampled_from([b"a", b"word", "é".encode(), "日".encode(), b"\xff", b"\xe2\x82", b"\xed\xa0\x80"])))
@settings(max_examples=100, deadline=None)
def test_decoding_with_faults(parts):
    b = b"".join(parts)
    for errors in ("replace", "ignore", "backslashreplace"):
        assert decoded(b, errors) == decoded.py_func(b, errors)


@njit
def boxed(words):
    return [w for w in words], {w: len(w) for w in words}, (words[0], words[-1][1:])


@given(st.lists(st.text(st.sampled_from("aé日😀ÿ\x80\ud800 "), max_size=8), min_size=1))
@settings(max_examples=100, deadline=None)
def test_texts_of_all_widths_as_results(words):
    assert boxed(words) == boxed.py_func(words)
    for own, expected in zip(boxed(words)[0], words):
        assert own.isascii() == expected.isascii()
        assert hash(own) == hash(expected)
        assert own.__sizeof__() <= expected.__sizeof__()
