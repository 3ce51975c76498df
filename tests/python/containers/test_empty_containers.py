"""Containers to which nobody adds anything: all types of items give the same answers."""

import functools
import heapq
import itertools

import numpy as np
import pytest

from lancehead import errors, njit

TEXTS = """
len([])
sum([])
max([], default=3)
max([], default=2.5)
sorted([])
next(enumerate([]), (9, 9))
next(zip([], [1]), None) is None
next(iter([]), 7)
sum([x for x in []])
len([x + 1 for x in [y for y in []]])
len({})
len(set())
3 in []
3 in {}
all([]), any([]), list(reversed([])), tuple([])
[] == [], not [], bool([])
len([[], []]), len([[]][0])
len(list(itertools.chain([], []))), list(zip([], []))
functools.reduce(lambda a, b: a + b, [], 4)
len({}.keys()), list({}.items()), {}.get(1, 5)
str([]), repr([]), f"{[]}"
np.array([]), np.array([[], []]), np.asarray([]), np.array([], dtype=np.int8)
np.sum([]), np.prod([]), np.sort([]), np.mean(np.array([])) != 0
np.concatenate((np.array([]), np.arange(2)))
np.append([], [1, 2])
np.zeros(3)[[]], np.zeros(3).take([]), np.add.at(np.zeros(3), [], [])
np.add.reduce([]), np.maximum.reduce([], initial=1.5), np.multiply.accumulate([]), np.add.reduce([[], []], axis=1)
np.add.outer([], [1]), np.add.reduceat([], [])
""".strip().splitlines()


@pytest.mark.parametrize("text", TEXTS)
def test_expressions(text):
    space = {"np": np, "itertools": itertools, "functools": functools}
    exec(f"def f():\n    return {text}", space)
    if "np.mean" in text:
        with pytest.warns(RuntimeWarning):
            want = space["f"]()
    else:
        want = space["f"]()
    got = njit(space["f"])()
    for w, g in zip(want, got, strict=True) if isinstance(want, tuple) else [(want, got)]:
        assert type(w) is type(g) or isinstance(w, np.generic)
        np.testing.assert_array_equal(g, w)
        assert np.asarray(g).dtype == np.asarray(w).dtype


def test_names_that_stay_empty():
    @njit
    def f(n):
        found, seen, kept = [], set(), {}
        for i in range(n):
            if i in seen or i in kept:
                found += [i]
        heapq.heapify(found)
        found.reverse()
        found.sort()
        found.clear()
        return len(found), found.copy() == found, len(seen), sum(kept)

    assert f(4) == (0, True, 0, 0)


def test_what_is_added_decides_first():
    @njit
    def f(n):
        texts, numbers, arrays = [], [], []
        for i in range(n):
            texts.append(str(i))
            numbers.append(i / 2)
            arrays.append(np.zeros(i))
        return texts, numbers, len(arrays)

    assert f(0) == ([], [], 0)
    assert f(2) == (["0", "1"], [0.0, 0.5], 2)

    @njit
    def added(of):
        of.append("a")
        return len(of)

    @njit
    def g():
        of = []
        return added(of), of

    assert g() == (1, ["a"])


def test_arguments_and_functions():
    @njit
    def count(xs):
        return len(xs)

    @njit
    def asks():
        return count([]) + count({}) + count([[], []])

    assert count([]) == 0
    assert asks() == 2


def test_a_list_that_is_returned_is_decided_by_the_caller():
    @njit
    def made():
        return []

    @njit
    def f():
        a, b = made(), made()
        a.append(1.5)
        b.append("x")
        return a, b

    assert f() == ([1.5], ["x"])
    with pytest.raises(errors.TypingError, match="cannot be found"):
        made()
