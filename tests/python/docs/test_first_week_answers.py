"""Silent wrong answers that a new user met (F1, F3), and messages that name the way out (F6, F11, F13, F14, F20)."""

from __future__ import annotations

import collections
import datetime
import re
import warnings
from typing import Any

import numpy as np
import pytest

from lancehead import errors, guvectorize, njit, prange, vectorize

ITEMS, ROWS, PAIR = [3, 1, 2], [[1], [2, 3]], (1, [2])
CONFIG = {"n": 3, 4: "m"}


@njit
def push(items, x):
    items.append(x)


@njit
def given():
    return ITEMS


def appends():
    ITEMS.append(len(ITEMS))


def extends():
    ITEMS.extend([1])


def inserts():
    ITEMS.insert(0, 1)


def pops():
    ITEMS.pop()


def removes():
    ITEMS.remove(1)


def clears():
    ITEMS.clear()


def sorts():
    ITEMS.sort()


def reverses():
    ITEMS.reverse()


def sets_an_item():
    ITEMS[0] = 99


def sets_a_slice():
    ITEMS[0:2] = [5]


def adds_to_an_item():
    ITEMS[0] += 1


def deletes():
    del ITEMS[0]


def deletes_a_slice():
    del ITEMS[:2]


def by_another_name():
    items = ITEMS
    items.append(1)


def adds_in_place():
    items = ITEMS
    items += [1]


def multiplies_in_place():
    items = ITEMS
    items *= 2


def by_a_callee():
    push(ITEMS, 1)


def from_a_callee():
    given().append(1)


def inside():
    ROWS[0].append(5)


def inside_of_a_tuple():
    PAIR[1].append(5)


def in_a_loop():
    for row in ROWS:
        row[0] = 1


def in_parallel():
    for _ in prange(5):
        ITEMS[0] += 1


CHANGES = [
    v
    for v in list(globals().values())
    if callable(v) and getattr(v, "__module__", "") == __name__ and not hasattr(v, "py_func")
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda f: f.__name__)
def test_f1_a_global_list_cannot_be_changed(change: Any) -> None:
    kept = (ITEMS.copy(), [r.copy() for r in ROWS], list(PAIR[1]))
    with pytest.raises(errors.TypingError, match=r"\[read-only\](.|\n)*help: pass the list as an argument"):
        njit(parallel=change is in_parallel)(change)()
    assert (ITEMS, ROWS, PAIR[1]) == kept


def test_f1_a_captured_list_cannot_be_changed() -> None:
    captured = [1, 2]

    @njit
    def f():
        captured.append(3)
        return len(captured)

    with pytest.raises(errors.TypingError, match=r"\[read-only\]"):
        f()


def test_f1_global_lists_are_read_as_in_python() -> None:
    def reads():
        total = 0
        for row in ROWS:
            for x in row:
                total += x
        chosen = ITEMS if len(ROWS) > 2 else ROWS[1]
        copied, again, part = ITEMS.copy(), list(ITEMS), ITEMS[1:]
        copied.append(7)
        again.sort()
        part.reverse()
        return (
            total,
            chosen[0],
            copied,
            again,
            part,
            ITEMS + [1],
            ITEMS * 2,
            sorted(ITEMS),
            ITEMS.index(1),
            2 in ITEMS,
            max(ITEMS),
        )

    assert njit(reads)() == reads()
    assert njit(lambda: ITEMS)() == ITEMS


def test_f1_a_list_that_may_be_a_global_one_is_refused() -> None:
    with pytest.raises(
        errors.TypingError, match=r"`x` is a global or captured list, a constant, on one way(.|\n)*list\(GLOBAL\)"
    ):

        @njit
        def f(flag):
            x = ITEMS if flag else [1]
            x.append(1)
            return x

        f(True)


def test_f1_what_is_copied_in_comes_back() -> None:
    item = np.dtype([("x", "f8"), ("n", "i4")])
    records, rows, pair = np.zeros(2, item), [[1], [2]], ([1], 2)
    unaligned = np.zeros(17, np.uint8)[1:].view(np.float64)

    @njit
    def change(records, row, rows, pair, unaligned, raw):
        records[0].x = 1.0
        row.n = 2
        rows[0].append(5)
        pair[0].append(6)
        unaligned[1] = 7.0
        raw[0] = 65

    raw = bytearray(b"abc")
    change(records, records[1], rows, pair, unaligned, raw)
    assert records.tolist() == [(1.0, 0), (0.0, 2)] and rows == [[1, 5], [2]] and pair == ([1, 6], 2)
    assert unaligned.tolist() == [0.0, 7.0] and raw == b"Abc"


def test_lists_are_repeated_in_place() -> None:
    @njit
    def repeat(items, n):
        items *= n
        return len(items)

    for n in (3, 1, 0, -1):
        items, want = [1, 2], [1, 2]
        want *= n
        assert repeat(items, n) == len(want) and items == want


@pytest.mark.parametrize("signatures", [["(float64[:], float64[:])"], None])
def test_f3_the_function_of_a_generalised_ufunc_returns_nothing(signatures: Any) -> None:
    def total(x, out):
        return x.sum()

    a, out = np.arange(6.0).reshape(2, 3), np.zeros(2)
    with pytest.raises(
        errors.TypingError,
        match=r"total` returns `float64`(.|\n)*return x\.sum\(\)(.|\n)*help: store the result in an output",
    ):
        if signatures is None:
            guvectorize("(n)->()")(total)(a, out)
        else:
            guvectorize(signatures, "(n)->()")(total)


def test_f3_an_output_that_is_never_stored_to_is_warned_of() -> None:
    def doubled(x, out):
        out = x * 2  # noqa: F841

    def stored(x, out):
        out[:] = x * 2

    with pytest.warns(errors.NumbaWarning, match="`doubled` never stores to its output 0"):
        guvectorize(["(float64[:], float64[:])"], "(n)->(n)")(doubled)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert guvectorize(["(float64[:], float64[:])"], "(n)->(n)")(stored)(np.ones(2)).tolist() == [2, 2]


@pytest.mark.parametrize("signatures", [[], [["float64(float64)"]]])
def test_f14_a_ufunc_without_return_is_told_by_its_name(signatures: Any) -> None:
    def forgets(x):
        x + 1

    with pytest.raises(errors.TypingError, match="`forgets` returns None: the function of a ufunc returns a number"):
        vectorize(*signatures)(forgets)(np.ones(2))


def settings(key):
    found = {"a": 1, "b": "text"}
    return found[key]


def test_f6_a_dictionary_is_refused_where_it_is_made() -> None:
    with pytest.raises(errors.TypingError, match="a dictionary with values of several types") as caught:
        njit(settings)("a")
    assert "found = {" in str(caught.value)
    with pytest.raises(errors.TypingError, match=r"help: take the item outside of the function"):
        njit(lambda: CONFIG["n"])()


UNSORTED = np.arange(3.0)
ARRAYS = {
    "object": (np.array([1, None], object), r"dtype `object`(.|\n)*x\.astype\(float\)"),
    "byte order": (np.arange(3.0).astype(">f8"), r"newbyteorder\(\"=\"\)"),
    "longdouble": (np.zeros(2, np.longdouble), r"x\.astype\(np\.float64\)"),
    "ChainMap": (collections.ChainMap({1: 2}), r"pass `list\(x\)`"),
    "mixed dict": ({"a": 1, 2: 3}, "make the keys of one type"),
    "mixed set": ({1, "a"}, "make the items of one type"),
    "defaultdict": (collections.defaultdict(int), "pass"),
    "date": (datetime.date(2020, 1, 1), "pass a number"),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_f11_an_argument_that_is_refused_says_what_it_is_and_what_to_do(kind: str) -> None:
    value, text = ARRAYS[kind]
    with pytest.raises(errors.TypingError, match=rf"argument `x` of `f`(.|\n)*{text}"):

        @njit
        def f(x):
            return x + 1

        f(value)


def test_f11_a_series_of_pandas_says_to_numpy() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(errors.TypingError, match=r"`x\.to_numpy\(\)`"):
        njit(lambda x: x + 1)(pandas.Series([1.0]))


def test_f13_every_diagnostic_names_its_page() -> None:
    def ask(x):
        return np.poly1d(x)

    with pytest.raises(errors.TypingError) as caught:
        njit(ask)(UNSORTED)
    assert re.search(r"help: use `np.polyval.*\n  more: lancehead help unsupported-call$", str(caught.value))
    assert "manual" not in str(caught.value)


def test_f14_types_have_the_names_that_users_write() -> None:
    cases: list[tuple[Any, tuple[Any, ...], str]] = [
        (lambda x: x.foo, ("a",), "`str` has no attribute"),
        (lambda x: x.foo, (range(3),), "`range` has no attribute"),
        (lambda x: x.foo, (b"a",), "`bytes` has no attribute"),
        (lambda x: x.foo, ([1],), r"`list\[int\]` has no attribute"),
        (lambda x: x.foo, ((1, "a"),), r"`tuple\[int, str\]` has no attribute"),
        (lambda x: x + None, (1.5,), "`float` and `None`"),
    ]
    for function, args, text in cases:
        with pytest.raises(errors.TypingError, match=text):
            njit(function)(*args)


def test_f20_a_race_shows_both_places() -> None:
    @njit(parallel=True)
    def f(a):
        for i in prange(a.size - 1):
            a[i] = a[i + 1] + 1
        return a

    with pytest.raises(errors.ParallelRaceError, match="the other access"):
        f(np.zeros(4))


def test_searchsorted_in_two_dimensions_is_numpy_s_error() -> None:
    for function in (lambda a: np.searchsorted(a, 1.0), lambda a: a.searchsorted(1.0)):
        with pytest.raises(ValueError, match="object too deep"):
            njit(function)(np.zeros((2, 2)))
