"""Dictionaries and sets as arguments: copied in, and written back if they were changed."""

from __future__ import annotations

import collections
import enum
import gc
from typing import NamedTuple

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from lancehead import TypingError, _core, njit, typeof
from lancehead.errors import UnsupportedError


class Kind(enum.IntEnum):
    FIRST = 1
    SECOND = 2


class Colour(enum.Enum):
    RED = 1


def total(d):
    t = 0
    for k in d:
        t += d[k]
    return t


def look(d, k):
    return k in d, d.get(k, 0), len(d)


def put(d, k, v):
    d[k] = v
    return d


def delete(d, k):
    del d[k]
    return len(d)


def set_operations(s, x):
    s.add(x)
    s.discard(1)
    return sorted(s)


def append_to_values(d):
    for k in d:
        d[k].append(k)
    return len(d)


def put_in_values(d):
    n = 0
    for k, e in d.items():
        e["new"] = k
        n += len(e)
    return n


def put_in_items(items):
    for d in items:
        d[0] = 7
    return items


def update(d, e):
    d.update(e)
    return d | e


def refill(d):
    d.popitem()
    d.clear()
    d[7] = 1
    return len(d)


def raise_after_change(d):
    d[1] = 9
    raise ValueError("x")


def lengths(t):
    return len(t[0]) + len(t[1])


def sum_of_array(d):
    return float(d["x"].sum())


compiled = {}


def both(f, make, *rest):
    """The result and the arguments afterwards, compiled and in Python."""
    told = []
    for run in (compiled.setdefault(f, njit(f)), f):
        args = make()
        args = args if isinstance(args, tuple) else (args,)
        try:
            result = run(*args, *rest)
        except Exception as error:
            result = type(error), error.args
        told.append((result, args))
    return told


CASES = [
    (total, lambda: {1: 2, 3: 4}),
    (total, lambda: {"a": 2.5, "bb": 1.0, "ß": 4.0, "語" * 40: 1.0}),
    (total, lambda: {(1, "x"): 2, (2, "y"): 4}),
    (total, lambda: {1.5: 1, -0.0: 4, float("inf"): 3}),
    (total, lambda: {True: 1, False: 5}),
    (total, lambda: {1j: 1, 2 + 1j: 5}),
    (total, lambda: {None: 1}),
    (total, lambda: {Kind.SECOND: 3, Kind.FIRST: 4}),
    (total, lambda: {2**64 - 1: 3, 2**63: 4}),
    (total, lambda: {np.int8(-3): 3, np.int8(4): 4}),
    (total, lambda: {i: i for i in range(5000)}),
    (total, lambda: {str(i): i for i in range(5000)}),
    (total, lambda: {(i, str(i)): i for i in range(5000)}),
    (put, lambda: ({1: 2}, 5, 6)),
    (put, lambda: ({}, 5, 6.5)),
    (put, lambda: ({}, "a", "b")),
    (put, lambda: ({"a": [1]}, "b", [2, 3])),
    (delete, lambda: ({1: 2, 3: 4, 5: 6}, 3)),
    (delete, lambda: ({1: 2}, 3)),
    (set_operations, lambda: ({1, 2, 3}, 9)),
    (set_operations, lambda: (set(), 9)),
    (append_to_values, lambda: {1: [1], 2: []}),
    (append_to_values, lambda: {1: [], 2: []}),
    (put_in_values, lambda: {1: {"a": 1}, 2: {}}),
    (put_in_values, lambda: {1: {"a": 1}, 2: {"b": 5}}),
    (put_in_items, lambda: ([{1: 2}, {}],)),
    (put_in_items, lambda: ([{}, {}],)),
    (update, lambda: ({1: 2}, {3: 4})),
    (update, lambda: ({}, {3: 4})),
    (update, lambda: ({}, {})),
    (refill, lambda: {1: 2, 3: 4}),
    (raise_after_change, lambda: {1: 2}),
    (lengths, lambda: (({1: 2}, {3}),)),
    (lengths, lambda: (({}, set()),)),
]


@pytest.mark.parametrize("f, make", CASES, ids=[f"{f.__name__}{i}" for i, (f, _) in enumerate(CASES)])
def test_as_python(f, make):
    ours, python = both(f, make)
    assert ours == python


KEYS = st.one_of(
    st.just((st.integers(-(2**63), 2**63 - 1), 5)),
    st.just((st.text(max_size=5), "b")),
    st.just((st.floats(allow_nan=False), 0.5)),
    st.just((st.tuples(st.integers(-9, 9), st.text(max_size=2)), (1, "a"))),
    st.just((st.booleans(), True)),
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_every_key_is_found(data):
    keys, other = data.draw(KEYS)
    d = data.draw(st.dictionaries(keys, st.integers(0, 9), min_size=1, max_size=60))
    for key in [*d, other, *data.draw(st.lists(keys, max_size=3))]:
        ours, python = both(look, lambda: (dict(d), key))
        assert ours[0] == python[0]


def test_order_and_identity():
    key, value = "a" * 50, "b" * 50
    d = {key: value, "c": "d"}
    f = njit(lambda d: d.pop("c"))
    f(d)
    assert list(d) == [key]
    assert next(iter(d)) is key
    assert d[key] is value

    given_back = njit(lambda d: d)
    assert given_back(d) is d
    assert given_back({}) == {}


def test_the_same_dictionary_twice():
    def f(a, b):
        a[1] = 5
        return b[1], a is b

    d = {1: 2}
    assert njit(f)(d, d) == (5, True)
    assert d == {1: 5}


def test_what_is_not_changed_is_not_written():
    class Watched(dict):
        pass

    d = {1: [1, 2], 2: [3]}
    values = list(d.values())
    njit(lambda d: len(d[1]) + len(d))(d)
    assert all(a is b for a, b in zip(d.values(), values))
    with pytest.raises(TypingError, match="unsupported-type"):
        njit(lambda d: len(d))(Watched())


@pytest.mark.parametrize("d", [{1: 2, "a": 3}, {1: 2, 3: "a"}, {1, 2.5}], ids=repr)
def test_refused(d):
    with pytest.raises(TypingError, match="unsupported-type"):
        njit(lambda d: len(d))(d)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([1.5, True], ["items of a list are `float` and `bool`", "`list(map(float, x))`"]),
        ([True, 2], ["`bool` and `int`", "`list(map(int, x))`"]),
        ({1, 2.5}, ["items of a set are", "`set(map(float, x))`"]),
        ([1, "a"], ["`int` and `str`", "`tuple(x)`"]),
        ([1, None], ["`int` and `NoneType`", "in place of None"]),
        ([[1, "a"]], ["`int` and `str`"]),
        ({"n": 3, "x": 2.5, "name": "q"}, ["values of a dict are `int` and `str`", "namedtuple"]),
        ({"a": True, "b": 2.5}, ["values of a dict are `bool` and `float`", "`{k: float(v) for k, v in x.items()}`"]),
        ({1: 2, "a": 3}, ["keys of a dict are `int` and `str`"]),
        (([1], {"k": {1, 2.5}}), ["items of a set are `int` and `float`"]),
        ([np.ones(2), np.ones(2, np.int8)], ["1-dimensional array of float64", "1-dimensional array of int8"]),
    ],
    ids=repr,
)
def test_the_diagnostic_names_both_types(given, says):
    with pytest.raises(TypingError) as caught:
        njit(lambda x: len(x))(given)
    for part in says:
        assert part in str(caught.value)


def test_arrays_as_values():
    assert njit(sum_of_array)({"x": np.arange(3.0), "y": np.ones(2)}) == 3.0


def test_a_dictionary_in_itself():
    d = {}
    d[1] = d
    with pytest.raises(UnsupportedError, match="nested too deeply"):
        njit(lambda d: len(d))(d)


def test_types():
    assert str(typeof({1: 2.0})) == "DictType[int64,float64]<iv=None>"
    assert str(typeof({"a"})) == "reflected set(unicode_type)"


def test_nothing_leaks():
    f, g = njit(put), njit(raise_after_change)
    h = njit(append_to_values)

    def calls():
        for i in range(50):
            f({"a" * 40: "b" * 40}, "c" * 40, str(i) * 30)
            h({1: [i], 2: []})
            with pytest.raises(ValueError):
                g({1: 2})
            with pytest.raises(TypingError):
                f({1: 2, "a": 3}, 1, 2)

    calls()
    gc.collect()
    before = _core.live_allocations()
    calls()
    gc.collect()
    assert _core.live_allocations() == before


def test_in_callees_and_threads():
    from concurrent.futures import ThreadPoolExecutor

    @njit(nogil=True)
    def count(words, counts):
        for w in words:
            counts[w] = counts.get(w, 0) + 1
        return counts

    @njit(nogil=True)
    def twice(words, counts):
        count(words, counts)
        return count(words, counts)

    words = ["a", "b", "a", "c"] * 50
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda i: twice(words, {"a": i, "z": 1}), range(40)))
    for i, counts in enumerate(made):
        assert counts == {"a": 200 + i, "z": 1, "b": 100, "c": 100}


class Shade(enum.Enum):
    RED = 5
    BLUE = 9


def test_members_of_enumerations_are_keys():
    @njit
    def f(d, s, c):
        s.add(Shade.BLUE)
        d[Shade.BLUE] = d[Shade.RED] + 1
        c[Shade.RED] += 1
        return Shade.RED in s, d.get(Shade.BLUE), d, c

    for shades in ({Shade.RED: 1}, {c: i for i, c in enumerate(Shade)}):
        s, c = set(shades), collections.Counter(shades)
        got = f(dict(shades), s, c)
        assert got == f.py_func(dict(shades), set(shades), collections.Counter(shades))
        assert s == {*shades, Shade.BLUE} and c[Shade.RED] == shades[Shade.RED] + 1


def test_key_errors_carry_bytes():
    for d in ({b"a": 1}, {(b"a", 1): 2}):
        key = next(iter(d))
        with pytest.raises(KeyError) as e:
            njit(lambda d, k: d.pop(k) + d[k])(d, key)
        assert e.value.args == (key,)


class Point(NamedTuple):
    flag: bool
    y: float


LEAVES = [
    lambda i: i % 3 == 0,
    lambda i: b"x" * (i % 50),
    lambda i: Point(i % 2 == 0, i / 2),
    lambda i: (True, i),
    lambda i: (True, i % 2 == 0),
    lambda i: (i % 2 == 0, (False, i, True), f"a{i}"),
    lambda i: f"\u00e9{i}",
]


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("n", [1, 31, 33, 49, 2100])
def test_items_of_every_form(leaf, n):
    @njit
    def pairs(d):
        return [(k, v) for k, v in d.items()]

    @njit
    def items(c):
        return [x for x in c]

    leaves = [leaf(i) for i in range(n)]
    assert items(leaves) == leaves
    assert set(items(set(leaves))) == set(leaves)
    for d in ({x: i for i, x in enumerate(leaves)}, dict(enumerate(leaves)), {x: x for x in leaves}):
        assert pairs(d) == list(d.items())
        assert [type(x) for x in pairs(d)[0]] == [type(x) for x in next(iter(d.items()))]
    nested = [[x] for x in leaves]
    assert all(a is b for a, b in zip(items(nested), nested, strict=True))
    assert pairs({i: {x: x} for i, x in enumerate(leaves)}) == [(i, {x: x}) for i, x in enumerate(leaves)]


def test_many_containers_in_one():
    # Each was compared with all before it.
    @njit
    def extend(rows):
        for row in rows:
            row.append(len(row))
        rows.append([1])
        return rows[0] is rows[-2]

    rows = [[i] for i in range(50_000)]
    rows.append(rows[0])
    first = rows[0]
    assert extend(rows)
    assert rows[0] is first
    assert first == [0, 1, 2]
    assert rows[-3] == [49_999, 1]
    assert len(rows) == 50_002


def test_many_queues_and_frozen_sets():
    @njit
    def same(rows):
        return [r for r in rows]

    for rows in ([collections.deque([i]) for i in range(30)], [frozenset([i]) for i in range(30)]):
        assert same(rows) == rows


def test_f17_ints_among_floats_are_floats():
    first = njit(lambda v: (v[0], v[0] + v[-1]))
    assert first([1, 2.5]) == (1.0, 3.5) and first([2.5, 1]) == (2.5, 3.5) and first([1, 2]) == (1, 3)
    product = njit(lambda p: p["a"] * p["b"])
    assert product({"a": 1.0, "b": 2}) == 2.0 and isinstance(product({"a": 2, "b": 2}), int)
    assert njit(lambda v: v[1])([2**63, 0.5]) == 0.5


def test_f17_what_is_not_changed_stays_an_int():
    values, table = [1, 2.5, 3], {"a": 1, "b": 2.5}

    @njit
    def change(v, t):
        v[1] = 0.5
        t["b"] = 1.5

    change(values, table)
    assert values == [1, 0.5, 3] and list(map(type, values)) == [int, float, int]
    assert table == {"a": 1, "b": 1.5} and type(table["a"]) is int
