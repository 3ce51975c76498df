"""A state machine of texts: one that compiled functions make from the one before, beside one that Python makes."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import lancehead
from lancehead import njit

LETTERS = st.sampled_from("aAbB \t\n.,-0ßσΣéЖ日ǆ\x85\u2028\ud800\udc80\udfff\U0001f600\U00010400")
TEXTS = st.text(LETTERS, max_size=9)
PARTS = st.text(LETTERS, max_size=2)
INDICES = st.one_of(st.none(), st.integers(-12, 12))
LONGEST = 400


@njit
def joined(s, t, n):
    return t + s * n + t


@njit
def part(s, i, j, k):
    return s[i:j:k]


@njit
def replaced(s, old, new, count):
    return s.replace(old, new, count)


@njit
def cut(s, sep, count, is_right):
    parts = s.rsplit(sep, count) if is_right else s.split(sep, count)
    return parts, "|".join(parts)


@njit
def words(s, count):
    parts = s.split(None, count)
    return parts, "_".join(parts), s.rsplit(None, count), s.splitlines(), s.splitlines(True)


@njit
def cased(s, which):
    if which == 0:
        return s.upper()
    if which == 1:
        return s.lower()
    if which == 2:
        return s.title()
    if which == 3:
        return s.swapcase()
    if which == 4:
        return s.capitalize()
    return s.casefold()


@njit
def stripped(s, chars):
    return s.strip(chars), s.lstrip(chars), s.rstrip(), s.strip()


@njit
def padded(s, width, fill):
    return s.center(width, fill), s.ljust(width), s.rjust(width, fill), s.zfill(width), s.expandtabs(width)


@njit
def found(s, t, i, j):
    return s.find(t, i, j), s.rfind(t, i, j), s.count(t, i, j), s.startswith(t, i), s.endswith(t, i, j), t in s


@njit
def item(s, i):
    return s[i], ord(s[i])


@njit
def parted(s, sep):
    return s.partition(sep), s.rpartition(sep), s.removeprefix(sep), s.removesuffix(sep)


@njit
def there_and_back(s, errors):
    return s.encode("utf-8", errors).decode("utf-8", errors)


@njit
def compared(s, t):
    return s == t, s < t, s >= t, {s: 1}.get(t, 0), hash(s) == hash(t), len(s), repr(s), f"{s:>{len(t)}}"


@njit
def translated(s, t):
    table = {ord(c): i for i, c in enumerate(t)}
    return s.translate(table), "".join(sorted(s)), "".join([c for c in s if c not in t])


def outcome(f, *args):
    try:
        return f(*args)
    except (ValueError, IndexError) as error:
        return type(error), str(error)


class Strings(RuleBasedStateMachine):
    """Texts that follow each other."""

    @initialize(text=TEXTS)
    def start(self, text):
        self.own = self.oracle = text

    def both(self, f, *args):
        own, oracle = outcome(f, self.own, *args), outcome(f.py_func, self.oracle, *args)
        assert own == oracle, (f.__name__, self.oracle, args)
        return own, oracle

    def follow(self, f, *args):
        own, oracle = self.both(f, *args)
        if isinstance(oracle, tuple):
            own, oracle = own[1], oracle[1]
        if len(oracle) < LONGEST:
            self.own, self.oracle = own, oracle

    @rule(text=TEXTS, n=st.integers(-1, 3))
    def join(self, text, n):
        self.follow(joined, text, n)

    @rule(i=INDICES, j=INDICES, k=st.sampled_from([None, 1, 1, -1, 2, -3, 0]))
    def slice(self, i, j, k):
        own, oracle = self.both(part, i, j, k)
        if isinstance(oracle, str):
            self.own, self.oracle = own, oracle

    @rule(old=PARTS, new=TEXTS, count=st.integers(-1, 3))
    def replace(self, old, new, count):
        self.follow(replaced, old, new, count)

    @rule(sep=PARTS.filter(len), count=st.integers(-1, 3), is_right=st.booleans())
    def split(self, sep, count, is_right):
        self.follow(cut, sep, count, is_right)

    @rule(count=st.integers(-1, 3))
    def split_words(self, count):
        self.follow(words, count)

    @rule(which=st.integers(0, 5))
    def change_case(self, which):
        self.follow(cased, which)

    @rule(chars=PARTS)
    def strip(self, chars):
        self.follow(stripped, chars)

    @rule(width=st.integers(-1, 30), fill=LETTERS)
    def pad(self, width, fill):
        self.both(padded, width, fill)

    @rule(text=PARTS, i=INDICES, j=INDICES)
    def find(self, text, i, j):
        self.both(found, text, i, j)

    @rule(i=st.integers(-12, 12))
    def index(self, i):
        self.both(item, i)

    @rule(sep=PARTS)
    def partition(self, sep):
        self.both(parted, sep)

    @rule(errors=st.sampled_from(["surrogatepass", "ignore", "replace"]))
    def encode(self, errors):
        self.follow(there_and_back, errors)

    @rule(text=TEXTS)
    def compare(self, text):
        self.both(compared, text)

    @rule(text=PARTS)
    def translate(self, text):
        self.follow(translated, text)

    @invariant()
    def same(self):
        assert getattr(self, "own", None) == getattr(self, "oracle", None)


TestStrings = Strings.TestCase
TestStrings.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_nothing_is_leaked():
    # `run` compiles all functions before the count.
    def run():
        for text in ("a b", "é \ud800 日", "x" * 200 + "日\udfff"):
            for args in (
                (outcome, joined, "b", 2),
                (outcome, cut, "b", 1, False),
                (outcome, words, -1),
                (outcome, parted, ""),
            ):
                call, f, *rest = args
                call(f, text, *rest)
            for errors in ("surrogatepass", "strict"):
                outcome(there_and_back, text, errors)
            outcome(item, text, 500)
            outcome(translated, text, "b")

    run()
    before = lancehead._core.live_allocations()
    run()
    assert lancehead._core.live_allocations() == before
