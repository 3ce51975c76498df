"""The types of containers that are made empty are found by what callees store in them."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from lancehead import TypingError, njit


def put(groups, key, item):
    if key not in groups:
        groups[key] = [item]
    else:
        groups[key].append(item)


def put_in_both(groups, items, item):
    put(groups, item, items)
    items.append(item)


def count_down(out, n):
    if n > 0:
        out.append(n)
        count_down(out, n - 1)


def first_open(heap, groups):
    while heap:
        if groups[heap[0]]:
            return heap[0]
        heapq.heappop(heap)
    return 0


def is_even(n, seen):
    seen.add(n)
    return True if n == 0 else is_odd(n - 1, seen)


def is_odd(n, seen):
    seen.add(n)
    return False if n == 0 else is_even(n - 1, seen)


def groups_of(x):
    groups = {}
    for i in range(len(x)):
        put(groups, x[i], 0.5 * i)
    return groups


def nested(x):
    groups = {}
    for v in x:
        items = []
        put_in_both(groups, items, v)
    return groups


def recursive(x):
    out = []
    count_down(out, x[0])
    return out


def mutually_recursive(x):
    seen = set()
    return is_even(x[2], seen), sorted(seen)


def heap_of_pairs(x):
    heap = []
    for v in x:
        heapq.heappush(heap, (v, -v))
    return [heapq.heappop(heap) for _ in range(len(heap))]


def one_of_two(x):
    low, high = [], []
    for v in x:
        heapq.heappush(low if v < 3 else high, v)
    return low, high


def result_used(x):
    heap, groups = [], {}
    for v in x:
        best = first_open(heap, groups)
        if v not in groups:
            groups[v] = []
            heap.append(v)
        groups[v].append(best)
    return heap, groups


def wider(x):
    out = []
    count_down(out, x[0])
    out.append(0.5)
    return out


def inner_function(x):
    out = []

    def add(v):
        out.append(v * 2)

    for v in x:
        add(v)
    return out


def by_keyword(x):
    out = []
    out.append(x[0])
    more = []
    put(item=x[1], groups={}, key=2)
    more.extend(out)
    return more


@pytest.mark.parametrize(
    "f",
    [
        groups_of,
        nested,
        recursive,
        mutually_recursive,
        heap_of_pairs,
        one_of_two,
        result_used,
        inner_function,
        by_keyword,
    ],
    ids=lambda f: f.__name__,
)
def test_as_python(f):
    x = [4, 1, 2, 3, 4, 1]
    assert njit(f)(x) == f(list(x))


def test_meets_what_the_caller_stores():
    assert njit(wider)([2]) == [2.0, 1.0, 0.5]


def test_items_of_arrays():
    def rows(a):
        out = []
        for i in range(len(a)):
            heapq.heappush(out, (a[i].sum(), i))
        return out

    a = np.arange(6.0)[::-1].reshape(3, 2)
    assert njit(rows)(a) == rows(a)


def test_after_a_call_from_python_that_gave_an_empty_list():
    count = njit(count_down)
    given = []
    count(given, 2)
    assert given == [2, 1]

    @njit
    def floats(x):
        out = []
        count(out, x)
        return out

    assert floats(1.5) == [1.5, 0.5]


def test_nobody_stores():
    def length(items):
        return len(items)

    @njit
    def f():
        items = []
        return length(items)

    @njit
    def g():
        items = []
        return length(items), items

    assert f() == 0
    with pytest.raises(TypingError, match="untyped-list"):
        g()


def test_the_diagnostic_of_the_callee_is_shown():
    def bad(items, x):
        items.append(x)
        return x.no_such_attribute

    @njit
    def f(x):
        items = []
        return bad(items, x)

    with pytest.raises(TypingError, match="no_such_attribute"):
        f(1.0)


def test_an_empty_list_from_outside_is_decided_by_later_uses():
    """The copy and the slice say nothing of the items, and what comes after them does."""

    @njit
    def copied(c, x):
        return sorted(c), c + [x]

    @njit
    def sliced(c, x):
        c.sort()
        return c[0:1:1], c + [x]

    for x in ("b", 1.5, (1, "a"), 3):
        assert copied([], x) == ([], [x])
        assert sliced([], x) == ([], [x])
