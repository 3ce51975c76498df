"""Look-ups of keys of other types than a table's, and views as sets: what CPython finds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from lancehead import TypingError, njit

COLUMNS = [
    np.array([44, -1], np.int8),
    np.array([2, 255], np.uint8),
    np.array([2**64 - 1, 1], np.uint64),
    np.array([-1, 2**63 - 1], np.int64),
    np.array([0.1, 2.0], np.float32),
    np.array([44.0, 2.0**63]),
    np.array([True, False]),
    np.array([44 + 0j, 1j]),
]
INTEGERS = [0, 1, 2, 44, 300, -1, 255, 2**53 + 1, 2**63 - 1, -(2**63)]
FLOATS = [0.1, float(np.float32(0.1)), 2.0, 44.0, 44.5, -1.0, 2.0**63, 2.0**64, 1e300, -1e300]
FLOATS += [float("inf"), float("nan"), -0.0]
OTHERS = [True, False, 44 + 0j, 44 + 1j, None, "a", (1, 2)]


def look_up(a, key):
    d = {a[0]: 1, a[1]: 2}
    s = {a[0], a[1]}
    s.discard(key)
    return key in d, d.get(key, 0), key in d.keys(), (key, 1) in d.items(), key in {a[0], a[1]}, len(s), d.pop(key, 0)


def look_up_pair(a, key):
    d = {(a[0], "x"): 1}
    return (key, "x") in d, (key, "y") in d, (key, "x", 1) in d, key in d


def item(a, key):
    return {a[0]: 1}[key]


def meet(a, b):
    s, t = {a[0]}, {b[0], b[1]}
    return s == {b[0]}, {a[0]: 1} == {b[0]: 1}, s <= t, (s & t) == s, s.isdisjoint(t), len(s - t)


compiled = {f: njit(f) for f in (look_up, look_up_pair, item, meet)}


@pytest.mark.parametrize("column", COLUMNS, ids=lambda a: a.dtype.name)
@pytest.mark.parametrize("key", INTEGERS + FLOATS + OTHERS, ids=repr)
def test_as_python(column, key):
    assert compiled[look_up](column, key) == look_up(column.tolist(), key)


@pytest.mark.parametrize("column", COLUMNS[:6], ids=lambda a: a.dtype.name)
@pytest.mark.parametrize("key", [1, 2, 44, 300, -1, "a", True], ids=repr)
def test_parts_of_tuples(column, key):
    assert compiled[look_up_pair](column, key) == look_up_pair(column.tolist(), key)


@pytest.mark.parametrize("key", [300, 44, "a", 44.5, (1, 2), None], ids=repr)
def test_key_errors(key):
    column = COLUMNS[0]
    if key == 44:
        assert compiled[item](column, key) == 1
        return
    with pytest.raises(KeyError) as raised:
        compiled[item](column, key)
    assert raised.value.args == (key,)


@pytest.mark.parametrize("a, b", list(itertools.product(COLUMNS, COLUMNS)), ids=lambda a: a.dtype.name)
def test_sets_of_two_types(a, b):
    assert compiled[meet](a, b) == meet(a.tolist(), b.tolist())


def test_default_of_another_type():
    @njit
    def f(a):
        d = {a[0]: 1}
        return d.setdefault(a[1])

    with pytest.raises(TypingError, match="a dict of `int` cannot hold `None`"):
        f(COLUMNS[0])


def test_a_wider_integer_is_wrapped_where_it_is_stored():
    def store(d, k):
        d[k] = 2

    @njit
    def f(a, k):
        d = {a[0]: 1}
        store(d, k)
        return d

    @njit
    def decided_later(a, k):
        d = {a[0]: 1}
        d[k] = 2
        return d

    assert f(COLUMNS[0], 300) == {44: 2}
    assert decided_later(COLUMNS[0], 300) == {44: 1, 300: 2}


def equal(k):
    d, e = {1: 2}, {1: 2, k: 3}
    keys, items = d.keys(), d.items()
    told = [keys == [1], keys != [1], keys == {1}, {1} == keys, keys != {1}, keys == keys, keys == 1]
    told += [items == {(1, 2)}, {(1, 2)} == items, items == [(1, 2)], items != keys, items == e.items()]
    return told, d.values() == [2]


def ordered(k):
    d, e = {1: 2, k: 3}, {1: 2}
    return [
        d.keys() <= e.keys(),
        e.keys() <= d.keys(),
        e.keys() < d.keys(),
        d.keys() > e.keys(),
        {1} < d.keys(),
        d.keys() >= {1},
        {1, 7} >= e.keys(),
        e.items() <= d.items(),
        e.items() < d.items(),
        d.keys() < d.keys(),
    ]


def pairs(k):
    d = {1: 2, k: 3}
    return (1, 2, 3) in d.items(), (1, 2) in d.items(), (1, 3) in d.items(), 5 in d.items(), "x" in d.items()


def combined(k):
    d, e = {1: 2, k: 3}, {1: 2, 9: 4}
    return [
        sorted(d.items() & e.items()),
        sorted(d.items() | e.items()),
        sorted(d.items() - e.items()),
        sorted(d.items() ^ e.items()),
    ], [
        sorted(d.keys() & [1]),
        sorted([1, 7] | d.keys()),
        sorted({1, 8} - d.keys()),
        sorted({1, 8} ^ d.keys()),
    ]


def disjoint(k):
    d = {1: 2, k: 3}
    return d.keys().isdisjoint([5]), d.items().isdisjoint([(1, 2)]), d.items().isdisjoint({(1, 5)})


def of_texts(k):
    d = {"a": k}
    return d.keys() == {1}, d.keys() == {"a"}, d.keys() >= {"a"}, {1} & d.keys()


@pytest.mark.parametrize("f", [equal, ordered, pairs, combined, disjoint, of_texts], ids=lambda f: f.__name__)
def test_views(f):
    assert njit(f)(3) == f(3)


def test_order_of_a_view_and_a_list():
    @njit
    def f(d):
        return {1: d}.keys() <= [1]

    with pytest.raises(TypingError, match="`<=` is not supported"):
        f(1)


def static_methods(k):
    d = {}
    e = d.fromkeys("ab", k)
    d[k] = 1
    return d, e, {3: k}.fromkeys([k], 1.5), dict.fromkeys((1, 2), k)


def keywords_teach(k):
    d = {}
    d.update(a=k, b=1)
    return d


@pytest.mark.parametrize("f", [static_methods, keywords_teach], ids=lambda f: f.__name__)
def test_made_empty(f):
    assert njit(f)(3) == f(3)


def test_an_operator_that_refuses_is_known_in_later_compilations():
    # Each compilation gives the objects that only it holds back.
    assert not njit(lambda x: frozenset(x) == [1])([1])
    assert njit(lambda x: (frozenset(x) == [1], frozenset(x) == {1}))([1]) == (False, True)
