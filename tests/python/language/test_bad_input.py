"""Invalid and unusual programs: they have CPython's answer or its exception, and leave nothing behind."""

import os
import subprocess
import sys
from collections import Counter, defaultdict, deque
from dataclasses import dataclass

import numpy as np
import pytest

from lancehead import _core, njit
from lancehead.experimental import jitclass


@dataclass(eq=False)
class Colliding:
    n: int

    def __eq__(self, other):
        return isinstance(other, Colliding) and self.n == other.n

    def __hash__(self):
        return 7


@dataclass(eq=False)
class Raising:
    n: int

    def __eq__(self, other):
        if self.n > 3:
            raise ValueError("eq", self.n)
        return self.n == other.n

    def __hash__(self):
        if self.n > 6:
            raise ValueError("hash", self.n)
        return 1


def outcome(f, *args):
    """The result of a call, or the class of its exception with the arguments that the program chose."""
    try:
        return f(*args)
    except (ValueError, KeyError) as e:
        return type(e), e.args if len(e.args) == 2 else None
    except Exception as e:
        return type(e)


def check(f, *args):
    """The answer of CPython, twice, without a leak."""
    compiled = njit(f)
    want = outcome(f, *args)
    assert outcome(compiled, *args) == want
    before = _core.live_allocations()
    assert outcome(compiled, *args) == want
    assert _core.live_allocations() == before


# Keys.


def zeros_of_both_signs(x):
    d = {x: 1}
    d[-x] = 2
    s = {-x, x}
    return len(d), d[x], str(list(d)[0]), len(s), -x in s, Counter([x, -x, x])[-x]


def numbers_equal_across_types(x):
    d = {1: "a", 2: "b", 0: "c"}
    return d[True], d[1.0], d[np.int8(2)], d.get(False), 1.5 in d, d.get(2.5, "no"), True in {1.0, 2.0}, 1 in {True}


def colliding_keys(n):
    d = {Colliding(i): i for i in range(n)}
    for i in range(0, n, 2):
        del d[Colliding(i)]
    s = {Colliding(i % 5) for i in range(n)}
    return len(d), d[Colliding(3)], Colliding(2) in d, len(s), [k.n for k in d]


def multiples_of_a_power(n):
    d = {}
    for i in range(n):
        d[i << 40] = i
        d[-i] = i
    return len(d), d[3 << 40], d[-n + 1], (n << 40) in d


def keys_that_raise(n):
    d = {Raising(1): 1, Raising(2): 2}
    d[Raising(n)] = 3
    return len(d), Raising(n) in {Raising(n + 1), Raising(1)}


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (zeros_of_both_signs, (0.0,)),
        (zeros_of_both_signs, (-0.0,)),
        (numbers_equal_across_types, (0,)),
        (colliding_keys, (40,)),
        (multiples_of_a_power, (3000,)),
        *[(keys_that_raise, (n,)) for n in (2, 4, 7)],
    ],
)
def test_hostile_keys(f, args):
    check(f, *args)


# Containers that a callee changes while a loop is over them.


def removes(d):
    d.pop(2, 0)


def adds(d):
    d[len(d) + 50] = 1


def clears(d):
    d.clear()


def over_dict(change, n):
    d = {i: i for i in range(5)}
    total = 0
    for k in d:
        total += k
        if k == n:
            change(d)
    return total


def over_items(change, n):
    d = {i: [i] for i in range(5)}
    total = 0
    for k, v in d.items():
        if k == n:
            d.clear()
        total += v[0]
    return total


def over_values(change, n):
    d = defaultdict(int)
    for i in range(5):
        d[i] = i
    total = 0
    for v in d.values():
        total += v
        if v == n:
            change(d)
    return total


def over_list(change, n):
    xs = [[i] for i in range(5)]
    total = 0
    for x in xs:
        if x[0] == n:
            xs.clear()
        total += x[0]
    return total, len(xs)


def over_set(change, n):
    s = {1, 2, 3}
    total = 0
    for x in s:
        s.add(n)
        total += 1
    return total


def over_deque(change, n):
    q = deque([1, 2, 3])
    total = 0
    for x in q:
        total += x
        if x == n:
            q.append(9)
    return total


def sorts_by_what_changes(change, n):
    xs = [3, 1, 2]

    def key(x):
        if x == n:
            xs.append(x)
        return x

    return sorted(xs, key=key), xs


@pytest.mark.parametrize("f", [over_dict, over_items, over_values, over_list, over_set, over_deque,
                               sorts_by_what_changes])  # fmt: skip
@pytest.mark.parametrize("change", [removes, adds, clears])
@pytest.mark.parametrize("n", [1, 3, 77])
def test_changed_while_it_is_iterated(f, change, n):
    check(lambda k: f(change, k), n)


# Sizes.

HUGE = 2**62
SIZES = {
    "list_times": lambda n: len([0] * n),
    "list_times_of_rows": lambda n: len([[0], [1]] * n),
    "list_in_place": lambda n: grown(n),
    "text_times": lambda n: len("ab" * n),
    "wide_text_times": lambda n: len("\u00e9" * n),
    "bytes_times": lambda n: len(b"abc" * n),
    "bytes_of_size": lambda n: len(bytes(n)),
    "bytearray_of_size": lambda n: len(bytearray(n)),
    "tuple_of_list": lambda n: len(list((1, 2) * 2) * n),
    "text_centre": lambda n: len("a".center(n)),
    "text_ljust": lambda n: len("a".ljust(n, "*")),
    "text_zfill": lambda n: len("7".zfill(n)),
    "bytes_rjust": lambda n: len(b"a".rjust(n)),
    "deque_times": lambda n: len(deque([1, 2]) * n),
    "list_insert": lambda n: inserted(n),
    "list_pop": lambda n: [1, 2].pop(n),
    "list_slice": lambda n: [1, 2, 3][-n:n],
    "list_steps": lambda n: [1, 2, 3][::n] if n else [],
    "text_slice": lambda n: "abc"[-n:n] + "abc"[:: n or 1],
    "text_index": lambda n: "abc"[n],
    "bytes_index": lambda n: b"abc"[n],
    "range_length": lambda n: len(range(-n, n, 3)),
    "range_index": lambda n: range(5)[n],
    "deque_index": lambda n: deque([1, 2])[n],
    "deque_rotate": lambda n: rotated(n),
    "text_find": lambda n: ("abcabc".find("b", n), "abcabc".find("b", -n), "abc".count("b", n)),
    "replace_count": lambda n: "aaa".replace("a", "b", n),
    "split_count": lambda n: "a b c".split(" ", n),
    "expandtabs": lambda n: len("a\tb".expandtabs(max(min(n, 1000), -1000))),
    "to_bytes": lambda n: len((5).to_bytes(max(n, 0) % 9, "big")),
    "zeros": lambda n: np.zeros(n).size,
    "ones": lambda n: np.ones((n, 2)).size,
    "array_tile": lambda n: np.tile(np.ones(2), n).size,
}


@njit
def grown(n):
    xs = [1, 2]
    xs *= n
    return len(xs)


@njit
def inserted(n):
    xs = [1, 2]
    xs.insert(n, 3)
    return xs


@njit
def rotated(n):
    q = deque([1, 2, 3])
    q.rotate(n)
    return list(q)


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name):
    f = SIZES[name]
    compiled = njit(f)
    for n in (0, -1, -HUGE, 1 - 2**63, HUGE, 2**63 - 1):
        want, got = outcome(f, n), outcome(compiled, n)
        # A number of items that 64 bits cannot count is a MemoryError, of arrays a ValueError.
        if want in (OverflowError, (ValueError, None)):
            assert got in (want, MemoryError), n
        else:
            assert got == want, n


def test_ten_million_items():
    @njit
    def count(n):
        d = {}
        for i in range(n):
            d[i * 7919 % 10_000_019] = i
        return len(d), d[7919]

    assert count(10_000_000) == (10_000_000, 1)
    before = _core.live_allocations()
    assert count(100) == (100, 1)
    assert _core.live_allocations() == before


# Endless recursion. Each function has a way out, which says what it gives.


@njit
def endless(n):
    return endless(n + 1) + 1 if n >= 0 else 0


@njit
def ping(n):
    return pong([n]) if n >= 0 else 0


@njit
def pong(xs):
    return ping(xs[0] + 1) + 1


@dataclass
class Node:
    n: int

    def depth(self, k):
        return self.depth(k + 1) + self.n if k >= 0 else 0

    @property
    def deep(self):
        return self.deep + 1 if self.n >= 0 else 0

    def __len__(self):
        return len(self) + 1 if self.n >= 0 else 0

    def __getitem__(self, i):
        return self[i + 1] + 1 if i >= 0 else 0

    def __call__(self, k):
        return self(k + 1) + 1 if k >= 0 else 0


@dataclass(eq=False)
class EndlessKey:
    n: int

    def __eq__(self, other):
        return self == other if self.n >= 0 else True

    def __hash__(self):
        return 1


@dataclass(eq=False)
class EndlessHash:
    n: int

    def __hash__(self):
        return hash(self) + 1 if self.n >= 0 else 0


@jitclass
class Jitted:
    n: int

    def __init__(self, n):
        self.n = n

    def depth(self, k):
        return self.depth(k + 1) + 1 if k >= 0 else 0


def closure(n):
    def inner(k):
        return inner(k + 1) + n if k >= 0 else 0

    return inner(n)


def walk(n):
    if n < 0:
        yield 0
    for x in walk(n + 1):
        yield x + 1


def delegated(n):
    if n < 0:
        yield 0
    yield from delegated(n + 1)


def texts(n):
    return texts(n + 1) + "a" if n >= 0 else ""


RECURSIONS = {
    "function": lambda n: endless(n),
    "mutual": lambda n: ping(n),
    "method": lambda n: Node(n).depth(0),
    "property": lambda n: Node(n).deep,
    "len": lambda n: len(Node(n)),
    "getitem": lambda n: Node(n)[0],
    "call": lambda n: Node(n)(0),
    "eq": lambda n: EndlessKey(n) == EndlessKey(n + 1),
    "eq_of_keys": lambda n: len({EndlessKey(n): 1, EndlessKey(n + 1): 2}),
    "hash": lambda n: len({EndlessHash(n)}),
    "jitted": lambda n: Jitted(n).depth(0),
    "closure": lambda n: closure(n),
    "generator": lambda n: sum(list(walk(n))),
    "delegated": lambda n: next(delegated(n)),
    "text": lambda n: len(texts(n)),
}


@pytest.mark.parametrize("name", RECURSIONS)
def test_endless_recursion(name):
    f = njit(RECURSIONS[name])
    with pytest.raises(RecursionError):
        f(1)
    before = _core.live_allocations()
    with pytest.raises(RecursionError):
        f(1)
    assert _core.live_allocations() == before


# Text.


@pytest.mark.parametrize("data", [b"\xff", b"a\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf"])
@pytest.mark.parametrize("errors", ["strict", "replace", "ignore", "surrogateescape", "surrogatepass"])
def test_invalid_utf8(data, errors):
    f = {
        "strict": lambda b: b.decode("utf-8"),
        "replace": lambda b: b.decode("utf-8", "replace"),
        "ignore": lambda b: b.decode("utf-8", "ignore"),
        "surrogateescape": lambda b: b.decode("utf-8", "surrogateescape"),
        "surrogatepass": lambda b: b.decode("utf-8", "surrogatepass"),
    }[errors]
    check(f, data)


def test_surrogates_have_no_bytes():
    check(lambda s: s.encode(), "a\ud800")
    check(lambda s: {s: 1}[s] + len(s), "a\udfff")
    check(lambda s: s.encode("utf-8", "surrogatepass"), "\ud800z")


HASHES = """
import sys
from lancehead import njit

@njit
def f(s):
    return hash(s), hash("constant"), hash((s, 1))

print(f(sys.argv[1]) == (hash(sys.argv[1]), hash("constant"), hash((sys.argv[1], 1))), f(sys.argv[1])[0])
"""


def test_texts_are_hashed_with_the_key_of_the_process():
    def run(seed):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", HASHES, "some text"], env=environment, capture_output=True,
                              text=True)  # fmt: skip
        assert done.returncode == 0, done.stderr
        same, number = done.stdout.split()
        assert same == "True"
        return int(number)

    assert run("0") == run("0") != run("1")
    assert run("random") != run("random")


# Times.


@pytest.mark.parametrize("unit", ["ns", "s", "D"])
def test_not_a_time_as_key_and_in_sums(unit):
    nat, one = np.timedelta64("NaT", unit), np.timedelta64(1, unit)

    def f(a, b):
        total = a
        for x in [b, a, b]:
            total += x
        return np.isnat(total), a == a, a != a, a < b, a > b, len([x for x in [a, b] if x == x])

    assert njit(f)(nat, one) == f(nat, one)
    assert njit(f)(one, one) == f(one, one)


def test_units_that_overflow():
    years = np.datetime64(9_000_000_000_000, "Y")
    f = lambda x: np.datetime64(x, "ns")
    assert outcome(njit(f), np.datetime64(2000, "Y")) == f(np.datetime64(2000, "Y"))
    want = outcome(f, years)
    got = outcome(njit(f), years)
    assert got is want if isinstance(want, type) else got == want
