"""Dictionaries, sets and lists that iterations of `prange` make, and those that they share."""

from __future__ import annotations

import numpy as np
import pytest

from lancehead import njit, prange, typed, types
from lancehead.errors import ParallelRaceError
from loop_corpus import runs_in_order


@njit
def squares(n):
    d = {}
    for j in range(n):
        d[j] = float(j * j)
    return d


@njit
def first(items):
    return items[0]


def of_own_dictionary(n):
    out = np.zeros(n)
    for i in prange(n):
        d = {}
        for j in range(i):
            d[j % 3] = d.get(j % 3, 0) + j
        for x in d.values():
            out[i] += x
    return out


def of_returned_dictionary(n):
    out = np.zeros(n)
    for i in prange(n):
        for x in squares(i).values():
            out[i] += x
    return out


def into_a_list(n):
    out = [squares(0) for _ in range(n)]
    for i in prange(n):
        out[i] = squares(i)
    return out


def of_own_set(n):
    total = 0
    for i in prange(n):
        s = {0}
        for j in range(i):
            s.add(j % 4)
        total += len(s)
    return total


def of_lists_in_a_list(n):
    out = np.zeros(n)
    for i in prange(n):
        rows = [[0] * 3 for _ in range(4)]
        rows[i % 4][1] = i
        out[i] = sum([sum(row) for row in rows])
    return out


def of_lists_in_a_dictionary(n):
    out = np.zeros(n)
    for i in prange(n):
        groups = {}
        for j in range(10):
            groups.setdefault(j % 3, []).append(j + i)
        for group in groups.values():
            out[i] += len(group) * sum(group)
    return out


def of_search(n):
    out = np.zeros(n)
    for i in prange(n):
        queue = [(0.0, i)]
        seen = {i}
        while queue:
            cost, v = queue.pop()
            out[i] += cost
            for w in (v + 1, v + 2):
                if w < i + 4 and w not in seen:
                    seen.add(w)
                    queue.append((cost + 1, w))
    return out


@pytest.mark.parametrize(
    "function",
    [
        of_own_dictionary,
        of_returned_dictionary,
        into_a_list,
        of_own_set,
        of_lists_in_a_list,
        of_lists_in_a_dictionary,
        of_search,
    ],
    ids=lambda function: function.__name__,
)
@pytest.mark.parametrize("n", [0, 1, 7, 500])
def test_containers_of_an_iteration(function, n):
    expected, answer = function(n), njit(parallel=True)(function)(n)
    assert np.array_equal(expected, answer) if isinstance(expected, np.ndarray) else expected == answer


def test_typed_containers_of_results():
    @njit
    def scaled(results):
        out = typed.Dict.empty(types.unicode_type, types.float64)
        for key in results.keys():
            out[key] = 2.0 * results[key]
        return out

    @njit(parallel=True)
    def all_scaled(runs):
        names = typed.List(runs.keys())
        out = typed.List([typed.Dict.empty(types.unicode_type, types.float64) for _ in range(len(names))])
        for i in prange(len(names)):
            out[i] = scaled(runs[names[i]])
        return out

    assert [dict(d) for d in all_scaled({"a": {"x": 1.0}, "b": {"y": 2.5}})] == [{"x": 2.0}, {"y": 5.0}]


def reading_is_shared(d, n):
    total = 0
    for i in prange(n):
        total += d[i]
    return total


def test_shared_dictionaries_are_read():
    assert njit(parallel=True)(reading_is_shared)({i: i * i for i in range(100)}, 100) == sum(i * i for i in range(100))


def shared_dictionary(n):
    d = {0: 0}
    for i in prange(n):
        d[i] = i
    return len(d)


def shared_dictionary_of_a_callee(n):
    d = squares(n)
    for i in prange(n):
        d[i] += 1.0
    return len(d)


def shared_set(n):
    s = {0}
    for i in prange(n):
        s.add(i)
    return len(s)


def maybe_shared(n):
    shared = {0: 0}
    for i in prange(n):
        d = shared
        if i > 3:
            d = {}
        d[i] = 2
    return len(shared)


def shared_list_in_own_list(n):
    shared = [0] * 3
    for i in prange(n):
        rows = [shared for _ in range(4)]
        rows[i % 4][1] = i
    return shared


def shared_array_in_own_list(n):
    shared = np.zeros(3)
    for i in prange(n):
        first([shared])[1] = i
    return shared


def shared_array_in_a_copy(n):
    shared = np.zeros(3)
    items = [shared, shared]
    for i in prange(n):
        first(items.copy())[1] = i
    return shared


def shared_list_in_own_dictionary(n):
    shared = [0] * 3
    for i in prange(n):
        d = {0: shared}
        d.setdefault(0, [0])[1] = i
    return shared


def shared_list(n):
    found = [0.0]
    for i in prange(n):
        found.append(i * 1.0)
    return found


def shared_key(n):
    found = {0: 0.0}
    for i in prange(n):
        found[i] = i * 1.0
    return found


def arrays_of_shared_dictionary(n):
    d = {i: np.zeros(3) for i in range(n)}
    for i in prange(n):
        d[0][1] += i
    return d[0]


@pytest.mark.parametrize(
    "function",
    [
        shared_dictionary,
        shared_dictionary_of_a_callee,
        maybe_shared,
        shared_list_in_own_list,
        shared_array_in_own_list,
        shared_array_in_a_copy,
        shared_list_in_own_dictionary,
        arrays_of_shared_dictionary,
    ],
    ids=lambda function: function.__name__,
)
def test_loops_that_share_containers_run_in_order(function):
    assert len(runs_in_order(function, 8)) == 1


def test_a_shared_set_is_refused():
    with pytest.raises(ParallelRaceError):
        njit(parallel=True)(shared_set)(8)


@pytest.mark.parametrize("function", [shared_set, shared_list, shared_key], ids=lambda function: function.__name__)
def test_no_option_makes_threads_change_the_length_of_one_container(function):
    # The memory of its items moves.
    with pytest.raises(ParallelRaceError, match="changes the length") as caught:
        njit(parallel={"unsafe": True})(function)(200_000)
    assert "unsafe" not in str(caught.value)
