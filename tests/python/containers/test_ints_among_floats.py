"""Ints among floats in containers of containers are floats, as in NumPy's arrays of such."""

from __future__ import annotations

import collections
import copy
import random
import time
from typing import NamedTuple

import numpy as np
import pytest

from lancehead import njit
from lancehead.errors import TypingError
from lancehead.typed import List

text = njit(lambda x: repr(x))


class Point(NamedTuple):
    x: float
    y: float


def schema(rng, depth):
    """The parts of a value."""
    kind = rng.choice(["list", "dict", "tuple", "point"]) if depth else "number"
    of = {"list": 1, "dict": 1, "tuple": rng.randint(1, 3), "point": 2, "number": 0}[kind]
    return kind, [schema(rng, depth - rng.randint(1, depth)) for _ in range(of)]


def made(rng, shape):
    kind, of = shape
    if kind == "number":
        return rng.choice([rng.randint(-9, 9), rng.randint(-9, 9) / 4, np.float64(0.5), np.int64(3)])
    if kind == "list":
        return [made(rng, of[0]) for _ in range(rng.randint(0, 3))]
    if kind == "dict":
        return {k: made(rng, of[0]) for k in range(rng.randint(0, 3))}
    parts = [made(rng, one) for one in of]
    return Point(*parts) if kind == "point" else tuple(parts)


def widened(values, shape):
    """Values of one place, floats if one of them is; the oracle."""
    kind, of = shape
    if kind == "number":
        floats = any(isinstance(v, float) for v in values)
        return [float(v) if floats else int(v) for v in values]
    if kind in ("list", "dict"):
        parts = [list(v.values()) if kind == "dict" else v for v in values]
        flat = iter(widened([x for part in parts for x in part], of[0]))
        rows = [[next(flat) for _ in part] for part in parts]
        return rows if kind == "list" else [dict(zip(v, row, strict=True)) for v, row in zip(values, rows, strict=True)]
    columns = [widened([v[i] for v in values], of[i]) for i in range(len(of))]
    rows = list(zip(*columns, strict=True))
    return [Point(*row) for row in rows] if kind == "point" else rows


def counts(value):
    """Whether a value has a number, so that its type is known."""
    if isinstance(value, dict):
        value = list(value.values())
    return all(counts(v) for v in value) and len(value) > 0 if isinstance(value, list | tuple) else True


@pytest.mark.parametrize("seed", range(25))
def test_random_structures_are_what_numpy_would_make(seed):
    rng = random.Random(seed)
    shape = schema(rng, 3)
    for _ in range(4):
        value = [made(rng, shape) for _ in range(3)]
        if not counts(value):
            continue
        before = copy.deepcopy(value)
        assert text(value) == repr(widened([value], ("list", [shape]))[0])
        assert repr(value) == repr(before)


@njit
def replace(rows, table):
    rows[0][1] = 7.5
    table["b"].append(0.25)


def test_what_is_not_changed_stays_an_int():
    rows, table = [[1, 2], [3, 0.5]], {"a": [1.5], "b": [4]}
    replace(rows, table)
    assert repr(rows) == "[[1, 7.5], [3, 0.5]]" and repr(table) == "{'a': [1.5], 'b': [4, 0.25]}"


def test_a_list_that_is_an_argument_by_itself_keeps_its_type():
    own = [1, 2]
    show = njit(lambda a, rows: repr((a, rows)))
    assert show([1.5], [own, [2.5]]) == "([1.5], [[1.0, 2.0], [2.5]])"
    assert njit(lambda rows, a: repr((rows, a)))([own, [2.5]], own) == "([[1.0, 2.0], [2.5]], [1.0, 2.0])"
    with pytest.raises(TypingError, match="items of a list"):
        show(own, [own, [2.5]])


def test_one_list_at_several_places():
    own = [1]
    assert text([own, own, [0.5]]) == "[[1.0], [1.0], [0.5]]"
    with pytest.raises(TypingError):
        text([(own, own), ([1], [0.5])])


def test_dictionaries_with_an_order_or_a_factory():
    assert njit(lambda d: list(d.values()))(collections.OrderedDict(a=1, b=0.5)) == [1.0, 0.5]
    counted = collections.defaultdict(float, a=1, b=0.5)
    assert njit(lambda d: d["a"] / 2 + d["c"])(counted) == 0.5


@pytest.mark.parametrize("value", [[{1, 2}, {0.5}], [{1: 0}, {0.5: 0}], [[True], [0.5]], [[1], ["a"]]], ids=repr)
def test_keys_and_other_types_stay_as_they_are(value):
    with pytest.raises(TypingError, match="items of a list are"):
        text(value)


def test_large_ints():
    assert text([(2**63, 1), (0.5, 2)]) == repr([(2.0**63, 1), (0.5, 2)])
    with pytest.raises(OverflowError):
        text([[2**64], [0.5]])


def test_typed_containers_beside_ints_and_floats():
    own = List([1, 2])
    assert njit(lambda v: len(v[1][0]))([([], own), ([1], own)]) == 1
    with pytest.raises(TypingError):
        njit(lambda v: len(v))([(own, 1), (own, 0.5)])


@pytest.mark.parametrize(
    "make",
    [
        lambda n: [[[1], [2.5]] for _ in range(n)],
        lambda n: [[1], [2.5]] * n,
        lambda n: [(i if i % 2 else 0.5, [1]) for i in range(n)],
        lambda n: {i: (i if i % 2 else 0.5) for i in range(n)},
    ],
    ids=["nested", "repeated", "tuples", "values"],
)
def test_the_time_is_linear(make):
    size = njit(lambda v: len(v))

    def least(n):
        given, taken = make(n), []
        for _ in range(5):
            start = time.perf_counter()
            size(given)
            taken.append(time.perf_counter() - start)
        return min(taken)

    # The square would be 64 times the time.
    assert min(least(4000) / least(500) for _ in range(3)) < 24
