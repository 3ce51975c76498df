"""Functions that append to lists outside of them, and do nothing else with them: Python appends."""

import gc
import weakref

import numpy as np
import pytest

from lancehead import cuda, errors, njit, prange

items = []


@pytest.fixture(autouse=True)
def _empty():
    items.clear()


def record(x):
    items.append(x)


def twice(x):
    items.append(x)
    items.append((x, x))


@pytest.mark.parametrize("f", [record, twice], ids=lambda f: f.__name__)
@pytest.mark.parametrize("options", [{}, {"nogil": True}, {"cache": True}], ids=str)
def test_callbacks_record(f, options):
    rows = [1, 2.5, "a", (1, "b"), [1, 2], {"a": 1}, np.arange(3), None, True]
    compiled = njit(**options)(f)
    for row in rows:
        assert compiled(row) is None
    got = list(items)
    items.clear()
    for row in rows:
        f(row)
    assert repr(got) == repr(items)


def test_calls_from_compiled_code():
    seen = []

    @njit
    def watch(t, y):
        seen.append((t, y.copy()))

    @njit
    def solve(watch, n):
        y = np.zeros(2)
        for i in range(n):
            y += i
            watch(i * 0.5, y)
        return y

    solve(watch, 3)
    assert [t for t, _ in seen] == [0.0, 0.5, 1.0]
    assert [y.tolist() for _, y in seen] == [[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]]


def test_each_closure_has_its_own_list():
    def make():
        seen = []

        @njit
        def add(x):
            seen.append(x)

        return add, seen

    (first, a), (second, b) = make(), make()
    for x in range(100):
        first(x)
        second(-x)
    assert a == list(range(100)) and b == [-x for x in range(100)]
    first("text")
    assert a[-1] == "text"
    held = weakref.ref(first.py_func)
    del first, second
    gc.collect()
    assert held() is None


def test_lists_that_are_read_are_constants_still():
    def count(x):
        items.append(x)
        return len(items)

    def kept(x):
        own = items
        own.append(x)

    def inner(x):
        items.append(x)
        return [y for y in items]

    for f in (count, kept, inner):
        with pytest.raises(errors.TypingError, match="is a constant in compiled code") as caught:
            njit(f)(1)
        assert "only appends" in str(caught.value)
    assert items == []


def test_threads_and_kernels_do_not_record():
    @njit(parallel=True)
    def loop(n):
        for i in prange(n):
            items.append(i)

    @cuda.jit
    def kernel(a):
        items.append(a[0])

    with pytest.raises(errors.TypingError):
        loop(3)
    with pytest.raises(errors.TypingError):
        kernel[1, 1](np.zeros(1))
    assert items == []


def test_a_function_that_reads_later_is_refused_then():
    def first(x):
        items.append(x)

    def second(x):
        items.append(x)
        return len(items)

    compiled = njit(first)
    compiled(1)
    first.__code__ = second.__code__
    with pytest.raises(errors.TypingError, match="only appends"):
        compiled(2)
    assert items == [1]
