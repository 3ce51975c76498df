"""Exceptions that compiled code makes, keeps, links and hands to Python: what `tests/lang` does not show."""

import gc
import traceback

import numpy as np
import pytest

from lancehead import _core, njit


class Own(Exception):
    def __init__(self, code, text="none"):
        super().__init__(text)
        self.code = code


@njit
def divided(k):
    return 1 // k


@njit
def chained(k, words):
    try:
        return divided(k)
    except ZeroDivisionError as e:
        kept = [e, e]
        try:
            words[k + 10]
        except IndexError:
            pass
        raise ValueError(words, k, np.arange(3)) from kept[1]


@njit
def own(k):
    try:
        divided(k)
    except ZeroDivisionError:
        raise Own(k, text="own") from None
    return k


@njit
def kept(n):
    """Exceptions in containers, of which one is raised."""
    found = []
    by_place = {}
    for i in range(n):
        try:
            divided(i % 2)
        except ZeroDivisionError as e:
            found.append(e)
            by_place[i] = e
    found[0].add_note("kept")
    if n > 3:
        raise found[0]
    return len(found), str(by_place[0])


@njit
def read(k):
    try:
        raise KeyError("key" + str(k), k, (k, "x"))
    except KeyError as e:
        return e.args[0], e.args[2][1], len(e.args), str(e)


def raised(f, *args):
    with pytest.raises(Exception) as info:
        f(*args)
    return info.value


def everything():
    for f, args in ((chained, (0, ["a", "b"])), (own, (0,)), (kept, (5,)), (divided, (0,))):
        raised(f, *args)
    assert kept(2) == (1, "integer division or modulo by zero")
    assert read(3) == ("key3", "x", 3, "('key3', 3, (3, 'x'))")


def test_the_chain_has_tracebacks():
    e = raised(chained, 0, ["a"])
    assert isinstance(e.__cause__, ZeroDivisionError)
    assert e.__cause__ is e.__context__
    assert e.args[:2] == (["a"], 0)
    assert np.array_equal(e.args[2], [0, 1, 2])
    text = "".join(traceback.format_exception(e))
    assert "The above exception was the direct cause of the following exception" in text
    assert text.count("in divided") == 1
    assert text.count("in chained") == 2


def test_own_classes_are_made_by_python():
    e = raised(own, 0)
    assert (e.code, e.args, e.__cause__, type(e.__context__)) == (0, ("own",), None, ZeroDivisionError)
    assert e.__suppress_context__


def test_one_exception_is_kept_in_several_places():
    e = raised(kept, 5)
    assert (type(e), e.__notes__, e.__context__) == (ZeroDivisionError, ["kept"], None)


def test_long_chains_end():
    @njit
    def grow(n):
        last = ValueError(0)
        for i in range(1, n):
            try:
                raise ValueError(i) from last
            except ValueError as e:
                last = e
        raise last

    e = raised(grow, 10_000)
    length = 0
    while e is not None:
        e, length = e.__cause__, length + 1
    assert 1 <= length <= 500


def test_nothing_leaks():
    everything()
    gc.collect()
    before = _core.live_allocations()
    for _ in range(10):
        everything()
    gc.collect()
    assert _core.live_allocations() == before


AXES = [
    lambda x, k: np.sum(x, axis=k), lambda x, k: np.concatenate((x, x), axis=k), lambda x, k: np.sort(x, axis=k),
    lambda x, k: np.diff(x, axis=k), lambda x, k: x.sum(axis=k), lambda x, k: np.roll(x, 1, axis=k),
    lambda x, k: np.percentile(x, 50.0, axis=k), lambda x, k: np.stack((x, x), axis=k),
    lambda x, k: np.argmax(x, axis=k),
]  # fmt: skip


@pytest.mark.parametrize("call", AXES)
def test_the_text_of_an_axis_that_is_none(call):
    inner = njit(call)

    def f(x, k):
        try:
            inner(x, k)
            return "none"
        except ValueError as e:
            return str(e) + "!"

    def expected(x, k):
        try:
            call(x, k)
            return "none"
        except ValueError as e:
            return str(e) + "!"

    for k in (0, 5, -7):
        assert njit(f)(np.arange(3.0), k) == expected(np.arange(3.0), k)
