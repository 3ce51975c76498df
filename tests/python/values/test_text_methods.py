"""Methods of `str` and formatting, with CPython's answers, over all of Unicode."""

import sys
import time
import unicodedata
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lancehead import njit

CHARACTERS = st.one_of(
    st.sampled_from(
        "abAB 1\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029ßſİıŉΣσςǆǅǄᾳᾼ½²٣一\u0301\u0345\u00ad"
        "\ud7ff\ud800\udc80\udfff\ue000😀𐐀𐐨𝟘'.:_-+"
    ),
    st.characters(),
)
TEXTS = st.text(CHARACTERS, max_size=12)
INDICES = st.one_of(st.none(), st.integers(-15, 15))


def answer(f, *args):
    """A result, or the type and message of what was raised."""
    try:
        return f(*args)
    except (ValueError, TypeError, IndexError, KeyError, OverflowError) as error:
        # A truth value is called an integer here.
        return type(error), str(error).replace("'bool'", "'int'")


@njit
def questions(s):
    return (
        s.isalpha(), s.isdecimal(), s.isdigit(), s.isnumeric(), s.isalnum(), s.isspace(), s.isprintable(),
        s.isidentifier(), s.isascii(), s.isupper(), s.islower(), s.istitle(),
    )  # fmt: skip


@njit
def cases(s):
    return s.lower(), s.upper(), s.title(), s.capitalize(), s.swapcase(), s.casefold()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="later versions of Unicode name more characters")
def test_every_character(some):
    wrong = []
    # Most characters that have cases come early.
    for code in chain(range(0x3000), range(0x3000, sys.maxunicode + 1, some(1, 13))):
        for f in (questions, cases, shown):
            for text in (chr(code), "a" + chr(code) + "Σ"):
                if f(text) != f.py_func(text):
                    wrong.append((hex(code), f(text), f.py_func(text)))
    assert unicodedata.unidata_version == "14.0.0"
    assert not wrong, (len(wrong), wrong[:20])


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_questions_and_cases(s):
    if all(unicodedata.ucd_3_2_0.category(c) != "Cn" for c in s):
        assert questions(s) == questions.py_func(s)
        assert cases(s) == cases.py_func(s)
        assert shown(s) == shown.py_func(s)


@njit
def shown(s):
    return repr(s), ascii(s), f"{s!r}{s!a}"


@njit
def cut(s, sep, n, keep):
    return s.splitlines(), s.splitlines(keep), s.rsplit(), s.rsplit(None, n), s.split(None, n), s.rsplit(maxsplit=n)


@njit
def cut_at(s, sep, n):
    return s.rsplit(sep, n), s.split(sep, maxsplit=n), s.partition(sep), s.rpartition(sep), s.rsplit(sep=sep)


@given(TEXTS, TEXTS, st.integers(-2, 4), st.booleans())
@settings(max_examples=300, deadline=None)
def test_parts(s, sep, n, keep):
    assert cut(s, sep, n, keep) == cut.py_func(s, sep, n, keep)
    for text, by in [(s, sep[:1]), (sep.join([s, s, ""]), sep), (s + s, s[:2])]:
        assert answer(cut_at, text, by, n) == answer(cut_at.py_func, text, by, n)


@njit
def filled(s, width, fill):
    return s.center(width, fill), s.ljust(width, fill), s.rjust(width, fill), s.zfill(width), s.expandtabs(width)


@given(TEXTS, st.integers(-3, 20), CHARACTERS)
@settings(max_examples=300, deadline=None)
def test_filling(s, width, fill):
    assert filled(s, width, fill) == filled.py_func(s, width, fill)
    assert answer(filled, s, width, "") == answer(filled.py_func, s, width, "")


@njit
def search(s, part, i, j):
    return (
        s.find(part, i, j), s.rfind(part, i, j), s.count(part, i, j), s.startswith(part, i, j), s.endswith(part, i, j),
        s.removeprefix(part), s.removesuffix(part), part in s, s.strip(part), s < part, s <= part, s == part, s[i:j],
    )  # fmt: skip


@given(TEXTS, TEXTS, INDICES, INDICES)
@settings(max_examples=300, deadline=None)
def test_searching(s, part, i, j):
    for own in (part, s[1:3], s[-2:]):
        assert search(s, own, i, j) == search.py_func(s, own, i, j)


@njit
def percent(template, x):
    return template % x


SPECS = st.from_regex(r"(.?[<>=^])?[-+ ]?z?#?0?([0-9]{0,2})[,_]?(\.[0-9]{0,2})?[bcdeEfFgGnosxX%]?", fullmatch=True)
CONVERSIONS = st.from_regex(
    r"[ab]?%[-+ #0]{0,3}([0-9]{0,2})(\.[0-9]{0,2})?[hlL]?[diouxXeEfFgGcrsaz%]c?", fullmatch=True
)
NUMBERS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(), st.booleans(), st.sampled_from(["", "é😀x", "b"]))


@given(CONVERSIONS, NUMBERS)
@settings(max_examples=500, deadline=None)
def test_percent(template, x):
    assert answer(percent, template, x) == answer(percent.py_func, template, x)


@njit
def by_spec(x, spec):
    return format(x, spec)


@njit
def by_field(x, spec):
    return f"{x:{spec}}", "{:{}}".format(x, spec), "{0!r:>9}{0}{k!a}".format(x, k=spec)  # noqa: UP032


@given(SPECS, st.one_of(NUMBERS, st.complex_numbers()))
@settings(max_examples=500, deadline=None)
def test_specifications(spec, x):
    assert answer(by_spec, x, spec) == answer(by_spec.py_func, x, spec)
    assert answer(by_field, x, spec) == answer(by_field.py_func, x, spec)


@njit
def by_template(template, x, y):
    return template.format(x, y, name=x)


PIECES = ["{", "}", "{{", "}}", "{}", "{0}", "{1}", "{2}", "{name}", "{none}", "{:>{}}", "{!r}", "{!z}", "{!", "{:"]


@given(st.lists(st.sampled_from([*PIECES, "{0:{1}}", "{:{:{}}}", "{!r:>5}", "{[}", ":", "!"]), max_size=5))
@settings(max_examples=500, deadline=None)
def test_templates(pieces):
    template = "".join(pieces)
    assert answer(by_template, template, "ab", 7) == answer(by_template.py_func, template, "ab", 7)


@njit
def looked_up(s, part, places):
    own = s[len(s) // 3 :]
    found = []
    at = s.find(part)
    while at >= 0:
        found.append(at)
        at = s.find(part, at + 1)
    return [s[i] for i in places], [own[i % len(own)] for i in places], [s[i : i + 9] for i in places], len(own), found


@given(st.data(), st.integers(60, 700), st.sampled_from(["é", "éa", "日本", "😀", "aé日😀", "日x"]))
@settings(max_examples=150, deadline=None)
def test_places_in_long_texts(data, n, alphabet):
    s = "".join(data.draw(st.lists(st.sampled_from(alphabet), min_size=n, max_size=n)))
    bounds = [i for i in (0, 3, 4, 59, 60, 63, 64, 65, 127, 128, n // 2, n - 1) if i < n]
    places = [*bounds, *(-1 - i for i in bounds)]
    assert looked_up(s, alphabet[-1], places) == looked_up.py_func(s, alphabet[-1], places)
    assert item(s, -n) == s[0]
    with pytest.raises(IndexError, match="string index out of range"):
        item(s, n)


@njit
def item(s, i):
    return s[i]


@njit
def by_table(s, x, y, z):
    return s.translate(str.maketrans(x, y)), s.translate(str.maketrans(x, y, z))


@given(TEXTS, TEXTS, TEXTS, TEXTS)
@settings(max_examples=300, deadline=None)
def test_tables(s, x, y, z):
    for own in (s + x, s):
        assert answer(by_table, own, x, y, z) == answer(by_table.py_func, own, x, y, z)
        assert answer(by_table, own, x, x[::-1], z) == answer(by_table.py_func, own, x, x[::-1], z)


@njit
def by_parts(template, x):
    return template.format(x, k=x)


PATHS = ["{0[0]}", "{0[1]:>4}", "{[2]}", "{k[-1]}", "{k[x]}", "{0[0]!r}", "{0[}", "{0[0]a}", "{[}", "]", "{0[]}"]


@given(st.lists(st.sampled_from(PATHS), max_size=3))
@settings(max_examples=200, deadline=None)
def test_items_in_templates(pieces):
    template = "".join(pieces)
    for x in ((1, "b"), [3, 4], "ab", {0: 1}, {"x": 2.5}):
        assert answer(by_parts, template, x) == answer(by_parts.py_func, template, x)


STARS = ["%*d", "%-*d", "%.*f", "%s", "%%", "%*.*f", "% *d", "%.*s", "a"]


@given(st.lists(st.sampled_from(STARS), max_size=3), st.tuples(*[st.integers(-9, 9)] * 3))
@settings(max_examples=200, deadline=None)
def test_widths_among_values(pieces, values):
    template = "".join(pieces)
    assert answer(percent, template, values) == answer(percent.py_func, template, values)


@pytest.mark.parametrize("f", [lambda s: s.expandtabs(3), ascii, lambda s: str({i: c for i, c in enumerate(s)})])
def test_long_texts_take_linear_time(f):
    compiled = njit(lambda s: len(f(s))) if f is ascii else njit(f)
    times = []
    for n in (20_000, 160_000):
        s = "é\t" * n
        compiled(s)
        start = time.perf_counter()
        compiled(s)
        times.append(time.perf_counter() - start)
    assert times[1] < 30 * times[0]


def test_refused():
    with pytest.raises(ValueError, match="this attribute in a format string is not supported"):
        by_template("{0.numerator}", 1, 2)


def test_fixed_formats_of_floats():
    @njit
    def forms(x):
        plain = f"{x:.3f}", f"{x:f}", f"{x:8.2f}", f"{x:<9.1f}|", f"{x:+.0f}", f"{x: .2f}", f"{x:z.1f}", f"{x:08.2f}"
        return plain, f"{x:^12.4F}", f"{x:.60f}", f"{x:.61f}", f"{x:+010.3f}", f"{x:,.2f}", f"{x:#.0f}", f"{x:*=+12.1f}"

    inf = float("inf")
    for x in [0.0, -0.0, 0.04, -0.04, 0.5, 1.5, 2.5, -2.5, 1e300, -1e22, 5e-324, inf, -inf, inf - inf, -1e-9, 1e6 / 7]:
        assert forms(x) == forms.py_func(x)
