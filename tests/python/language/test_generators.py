"""Generators as Python sees them, and what they leave behind."""

from __future__ import annotations

import gc
import inspect
import threading
from collections.abc import Generator

import numpy as np
import pytest

from lancehead import _core, njit


@njit
def texts(names):
    kept = []
    for name in names:
        kept.append(name + "!")
        yield kept[-1], np.ones(3)
    return len(kept)


@njit
def outer(names):
    n = yield from texts(names)
    yield "n" + str(n), np.zeros(1)


@njit
def echo() -> Generator[str, str, str]:
    last = ""
    while True:
        given = yield last
        if given is None:
            return last
        last = last + given


def test_dropped_generators_leak_nothing():
    gc.collect()
    before = _core.live_allocations()
    for _ in range(5):
        g = outer(["ab", "cd"])
        assert next(g)[0] == "ab!"
        del g
        h = outer(["ab"])
        assert [t for t, _ in h] == ["ab!", "n1"]
        e = echo()
        next(e)
        e.send("x" * 50)
        with pytest.raises(KeyError):
            e.throw(KeyError("k"))
        del h, e
    gc.collect()
    assert _core.live_allocations() == before


def test_dropped_inside_compiled_code():
    @njit
    def f(names, fails):
        g = outer(names)
        first = next(g)[0]
        h = texts(names)
        for t, _ in h:
            if t == "b!":
                break
        if fails:
            raise ValueError(first)
        return first

    gc.collect()
    f(["a", "b", "c"], False)
    before = _core.live_allocations()
    for fails in (False, True, False):
        if fails:
            with pytest.raises(ValueError, match="a!"):
                f(["a", "b", "c"], True)
        else:
            assert f(["a", "b", "c"], False) == "a!"
    gc.collect()
    assert _core.live_allocations() == before


def test_what_is_returned_is_the_value_of_stop_iteration():
    g = echo()
    next(g)
    g.send("ab")
    with pytest.raises(StopIteration) as stop:
        next(g)
    assert stop.value.value == "ab"
    with pytest.raises(StopIteration) as stop:
        next(g)
    assert stop.value.value is None


def test_it_is_an_iterator_with_the_methods_of_a_generator():
    g = echo()
    assert iter(g) is g
    assert not g.gi_running
    with pytest.raises(TypeError, match="just-started"):
        g.send("early")
    with pytest.raises(TypeError, match="deriving from BaseException"):
        g.throw(3)
    g.close()
    assert next(g, None) is None
    assert not inspect.isgenerator(g)


def test_throwing_into_one_that_has_not_begun_or_has_ended():
    for begun in (False, True):
        g = echo()
        if begun:
            next(g)
        with pytest.raises(LookupError, match="x"):
            g.throw(LookupError("x"))
        with pytest.raises(StopIteration):
            next(g)
        with pytest.raises(LookupError, match="y"):
            g.throw(LookupError("y"))


def test_an_exception_of_ones_own_passes_through():
    class Mine(Exception):
        pass

    @njit
    def cleans(a):
        try:
            yield 1
        finally:
            a[0] += 1

    a, mine = np.zeros(1), Mine("m")
    g = cleans(a)
    next(g)
    with pytest.raises(Mine) as raised:
        g.throw(mine)
    assert raised.value is mine
    assert a[0] == 1


def test_one_thread_at_a_time():
    @njit(nogil=True)
    def slow(n):
        x = 0.0
        for i in range(n):
            x += np.sin(i)
        yield x

    g, errors = slow(20_000_000), []

    def advance():
        try:
            next(g, None)
        except ValueError as e:
            errors.append(str(e))

    threads = [threading.Thread(target=advance) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors in ([], ["generator already executing"])


def test_what_a_generator_changes_in_its_arguments():
    @njit
    def grow(b, items, counts):
        b.append(1)
        yield 1
        b.extend(b"xyz")
        items.append(5)
        yield 2
        items[0] = 7
        counts[9] = 3
        b[0] = 65

    def run(f):
        b, items, counts = bytearray(b"ab"), [1], {1: 2}
        seen = []
        for x in f(b, items, counts):
            seen.append((x, bytes(b), list(items), dict(counts)))
        return seen, b, items, counts

    assert run(grow) == run(grow.py_func)


def test_what_a_dying_generator_raises_is_told(monkeypatch):
    @njit
    def fails(log):
        try:
            yield 1
        finally:
            log.append(3)
            raise ValueError("in cleanup")

    @njit
    def ignores(log):
        try:
            yield 1
        except GeneratorExit:
            log.append(4)
        yield 2

    @njit
    def use(log, which):
        if which:
            for _ in fails(log):
                break
        else:
            for _ in ignores(log):
                break
        log.append(5)
        return log

    told = []
    monkeypatch.setattr("sys.unraisablehook", lambda u: told.append((u.exc_type, str(u.exc_value))))
    assert use([1], True) == [1, 3, 5] and use([1], False) == [1, 4, 5]
    assert told == [(ValueError, "in cleanup"), (RuntimeError, "generator ignored GeneratorExit")]


def test_dying_generators_leave_nothing():
    @njit
    def words(log):
        try:
            for i in range(3):
                yield "word " + str(i)
        finally:
            log.append("end " + str(len(log)))

    @njit
    def use(n):
        log = [""]
        for i in range(n):
            for w in words(log):
                if i % 2:
                    log.append(w)
                break
            gs = [words(log), words(log)]
            next(gs[0])
        if n == 3:
            raise ValueError("odd")
        return log

    use(4)
    gc.collect()
    before = _core.live_allocations()
    for _ in range(3):
        use(4)
        with pytest.raises(ValueError, match="odd"):
            use(3)
    gc.collect()
    assert _core.live_allocations() == before
