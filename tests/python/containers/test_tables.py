"""Dictionaries and sets against CPython's, by random sequences of operations; leaks; sizes."""

import gc
import random
import resource

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from lancehead import _core, njit
from lancehead.errors import TypingError


def dictionary(steps, keys, values):
    """The results of operations on a dictionary; the same in CPython and compiled."""
    d = {}
    told = []
    for what, k, v in zip(steps, keys, values):
        if what == 0:
            d[k] = v
        elif what == 1:
            told.append((k in d, len(d)))
        elif what == 2:
            if k in d:
                del d[k]
        elif what == 3:
            told.append((d.get(k, v) == v, len(d)))
        elif what == 4:
            told.append((d.setdefault(k, v) == v, len(d)))
        elif what == 5:
            told.append((d.pop(k, v) == v, len(d)))
        elif what == 6:
            if len(d) > 0:
                last = d.popitem()
                told.append((last[0] == k, len(d)))
        elif what == 7:
            e = d.copy()
            e[k] = v
            told.append((e == d, len(e)))
        elif what == 8:
            d.update({k: v, keys[0]: values[0]})
        elif what == 9:
            try:
                told.append((d[k] == v, len(d)))
            except KeyError:
                told.append((False, -1))
        elif what == 10:
            d |= {k: v}
        elif what == 11 and v == values[0]:
            d.clear()
    return told, [x for x in d], [x for x in d.values()], [x for x in d.items()]


def items_of_set(steps, keys, others):
    """The results of operations on a set."""
    s = set()
    told = []
    for what, k in zip(steps, keys):
        if what == 0:
            s.add(k)
        elif what == 1:
            told.append((k in s, len(s)))
        elif what == 2:
            s.discard(k)
        elif what == 3:
            try:
                s.remove(k)
            except KeyError:
                told.append((False, -1))
        elif what == 4:
            s |= set(others)
        elif what == 5:
            s -= {k}
        elif what == 6:
            t = s ^ set(others)
            told.append((t <= s, len(t)))
        elif what == 7:
            t = s & set(others)
            told.append((t < s, len(t)))
        elif what == 8:
            s.symmetric_difference_update([k])
        elif what == 9:
            s.intersection_update(others)
        elif what == 10:
            told.append((s.isdisjoint([k]), len(s.union(others))))
        elif what == 11 and k == keys[0]:
            s.clear()
    return told, sorted(s)


compiled_dictionary = njit(dictionary)
compiled_set = njit(items_of_set)

KEYS = [
    st.integers(-4, 4),
    st.sampled_from([0, 1, -1, 1 << 40, 2 << 40, -(1 << 62), (1 << 63) - 1, -(1 << 63), 1 << 20]),
    st.sampled_from([0.0, -0.0, 0.5, 1.0, -1.0, 1e300, float("inf"), float("-inf"), 5e-324]),
    st.sampled_from(["", "a", "b", "ab", "ä", "€", "\U0001f600", "a" * 100]),
    st.tuples(st.integers(0, 2), st.sampled_from(["x", "y"])),
    st.booleans(),
]


@pytest.mark.parametrize("keys", KEYS, ids=["small", "far", "floats", "texts", "tuples", "bools"])
@pytest.mark.parametrize("text", [False, True], ids=["numbers", "texts"])
def test_dictionary(keys, text):
    values = st.sampled_from(["p", "q", "r"]) if text else st.integers(0, 3)

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.tuples(st.integers(0, 11), keys, values), min_size=1, max_size=80))
    def check(operations):
        steps, ks, vs = (list(column) for column in zip(*operations))
        assert compiled_dictionary(steps, ks, vs) == dictionary(steps, ks, vs)

    check()
    gc.collect()
    before = _core.live_allocations()
    check()
    gc.collect()
    assert _core.live_allocations() <= before


@pytest.mark.parametrize("keys", KEYS, ids=["small", "far", "floats", "texts", "tuples", "bools"])
def test_set(keys):
    @settings(max_examples=60, deadline=None)
    @given(
        st.lists(st.tuples(st.integers(0, 11), keys), min_size=1, max_size=80),
        st.lists(keys, min_size=1, max_size=8),
    )
    def check(operations, others):
        steps, ks = (list(column) for column in zip(*operations))
        assert compiled_set(steps, ks, others) == items_of_set(steps, ks, others)

    check()


def test_many_operations():
    r = random.Random(1)
    n = 100_000
    steps = [r.choice([0, 0, 0, 2, 4, 5]) for _ in range(n)]
    keys = [r.randrange(20_000) for _ in range(n)]
    assert compiled_dictionary(steps, keys, keys) == dictionary(steps, keys, keys)


@pytest.mark.parametrize("made", [lambda n: n, lambda n: -n * 4096, lambda n: n << 44])
def test_many_keys(made):
    keys = [made(i) for i in range(200_000)]

    @njit
    def total(keys):
        d = dict.fromkeys(keys, 1)
        for k in keys:
            d[k] += 2
        return len(d), sum(d.values())

    assert total(keys) == (200_000, 600_000)


def test_queue_does_not_slow_down():
    @njit
    def queue(n):
        d = {0: 0}
        for i in range(1, n):
            d[i] = i
            del d[i - 1]
        return [k for k in d]

    assert queue(1_000_000) == [999_999]


def test_nan_is_found_by_nothing():
    @njit
    def f(x, n):
        d = {}
        for i in range(n):
            d[x] = i
        return len(d), x in d

    assert f(float("nan"), 100_000) == (100_000, False)
    assert f(0.5, 10) == (1, True)


def test_nothing_leaks_when_something_raises():
    @njit
    def f(k, n):
        d = {}
        for i in range(n):
            d.setdefault(str(i % 3), []).append(str(i))
        e = {(x, 1): {x} for x in d}
        for x in d:
            if n > 3:
                d["new"] = [x]
        return len(e), d[k]

    def once():
        f("0", 2)
        with pytest.raises(KeyError, match="'9'"):
            f("9", 2)
        with pytest.raises(RuntimeError, match="changed size"):
            f("0", 5)

    once()
    gc.collect()
    before = _core.live_allocations()
    for _ in range(5):
        once()
    gc.collect()
    assert _core.live_allocations() == before


def test_key_errors_carry_the_key():
    @njit
    def f(k):
        return {k: 1}.pop((k[0], "b"))

    with pytest.raises(KeyError) as e:
        f((1, "a"))
    assert e.value.args == ((1, "b"),)


def test_unknown_types_are_reported_where_the_display_is():
    @njit
    def f():
        d = {}
        return d

    @njit
    def g():
        s = set()
        return len(s), s

    with pytest.raises(TypingError, match=r"(?s)what this dict holds cannot be found.*d = \{\}"):
        f()
    with pytest.raises(TypingError, match=r"(?s)this set's items cannot be found.*s = set\(\)"):
        g()


def test_keys_that_are_lists():
    @njit
    def f(n):
        return len({n: 1}), len({(n, 2): [n]}), [n] in {n: 2}

    @njit
    def g(n):
        d = {}
        d[[n]] = 1
        return len(d)

    with pytest.raises(TypingError, match="hashable"):
        g(1)
    with pytest.raises(TypingError):
        f(1)


def test_keys_that_take_the_place_of_others_while_a_dictionary_is_gone_through():
    @njit
    def f(d):
        out = [0]
        for k in d:
            out.append(k)
            if k < 3:
                d.pop(k)
                d[k + 10] = k
        return out

    @njit
    def g(d):
        n = 0
        for k, _ in d.items():
            n += 1
            d[k] = d.pop(k)
        return n

    # CPython makes the table of `g` anew at its third key, where the loop ends.
    for function in (f, f.py_func, g):
        with pytest.raises(RuntimeError, match="keys changed"):
            function({1: 1, 2: 2, 3: 3})


def test_keys_that_are_taken_and_added_again_leave_no_gaps():
    @njit
    def turned(n):
        d = {1: 2, 3: 4, 5: 6}
        for i in range(n):
            k = 1 + 2 * (i % 3)
            d[k] = d.pop(k)
        return list(d)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert turned(1_000_000) == [3, 5, 1]
    # An entry for each would take 24 MB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 << 10
