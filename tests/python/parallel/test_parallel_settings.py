"""`with parallel_chunksize(n)` in compiled code; parallel functions in other libraries' threads and processes."""

import os
import threading
import time

import joblib
import numpy as np
import pytest

from lancehead import (
    errors,
    get_num_threads,
    get_parallel_chunksize,
    njit,
    parallel_chunksize,
    prange,
    set_num_threads,
    set_parallel_chunksize,
)


@pytest.fixture(autouse=True)
def as_it_was():
    before = get_parallel_chunksize()
    yield
    set_parallel_chunksize(before)


@njit(parallel=True)
def nested(n, size):
    first = get_parallel_chunksize()
    s = 0
    with parallel_chunksize(size):
        inside = get_parallel_chunksize()
        for i in prange(n):
            s += i
        with parallel_chunksize(4):
            inner = get_parallel_chunksize()
        again = get_parallel_chunksize()
    return first, inside, inner, again, get_parallel_chunksize(), s


def test_a_chunksize_holds_while_the_statement_runs():
    assert nested(100, 7) == nested.py_func(100, 7) == (0, 7, 4, 7, 0, 4950)
    set_parallel_chunksize(3)
    assert nested(100, 8) == nested.py_func(100, 8) == (3, 8, 4, 8, 3, 4950)


def test_it_ends_with_return_and_with_exceptions():
    @njit
    def f(x):
        with parallel_chunksize(9):
            if x > 5:
                return get_parallel_chunksize()
            if x < 0:
                raise ValueError("low")
        return get_parallel_chunksize()

    assert (f(6), f(1), get_parallel_chunksize()) == (9, 0, 0)
    with pytest.raises(ValueError, match="low"):
        f(-1)
    assert get_parallel_chunksize() == 0


def test_sizes_that_are_none():
    with pytest.raises(ValueError, match="greater than or equal to zero"):
        nested(1, -1)
    assert get_parallel_chunksize() == 0
    with pytest.raises(errors.TypingError, match="must be an integer"):
        nested(1, 2.5)


def test_the_size_before_holds_again_after_an_exception_in_the_loop():
    @njit(parallel=True)
    def f(n):
        out = np.zeros(n)
        with parallel_chunksize(5):
            for i in prange(n):
                if i == 17:
                    raise KeyError(i)
                out[i] = i
        return out

    with pytest.raises(KeyError, match="17"):
        f(100)
    assert get_parallel_chunksize() == 0


def test_exceptions_replaced_in_the_loop():
    @njit(parallel=True)
    def f(a):
        out = np.zeros(len(a))
        for i in prange(len(a)):
            try:
                if a[i] < 0:
                    raise KeyError(i)
                out[i] = a[i]
            except KeyError:
                raise ValueError(i)
        return out

    a = np.ones(3000)
    assert np.array_equal(f(a), a)
    a[[11, 2999]] = -1
    with pytest.raises(ValueError, match="11"):
        f(a)


def test_loops_inside_choose_their_own_size():
    @njit(parallel=True)
    def f(n, size):
        inside = np.full(n, -1)
        with parallel_chunksize(n=size):
            for i in prange(n):
                inside[i] = get_parallel_chunksize()
            return inside, get_parallel_chunksize(), set_parallel_chunksize(n=0)

    inside, around, before = f(900, 7)
    assert not inside.any() and (around, before) == (7, 7)


def test_settings_that_are_no_numbers():
    with pytest.raises(errors.TypingError, match="parallel chunksize must be an integer"):
        njit(lambda: set_parallel_chunksize("large"))()
    with pytest.raises(errors.TypingError, match="number of threads must be an integer"):
        njit(lambda: set_num_threads(1.5))()


def test_numbers_of_threads_that_there_cannot_be():
    most = get_num_threads()
    for wrong in [0, -1, most + 1, 2**40, 10**20]:
        with pytest.raises(ValueError, match=f"between 1 and {most}"):
            set_num_threads(wrong)
        with pytest.raises(ValueError, match=f"between 1 and {most}"):
            njit(lambda n: set_num_threads(n))(min(wrong, 2**62))
    assert get_num_threads() == most


def test_a_step_of_zero():
    def f(step):
        s = 0
        for i in prange(0, 10, step):
            s += i
        return s

    for compiled in [njit(f), njit(parallel=True)(f)]:
        assert [compiled(step) for step in (1, 3, -1)] == [f(step) for step in (1, 3, -1)]
        with pytest.raises(ValueError, match="must not be zero"):
            compiled(0)
    with pytest.raises(ValueError, match="must not be zero"):
        njit(parallel=True)(lambda: [i for i in prange(0, 3, 0)])()


@njit(parallel=True)
def distances(a):
    out = np.empty(a.shape[0])
    for i in prange(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j] ** 2
        out[i] = np.sqrt(s)
    return out


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_in_workers_of_joblib(backend):
    inputs = [np.random.default_rng(k).normal(size=(500, 20)) for k in range(6)]
    found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(distances)(a) for a in inputs)
    for a, out in zip(inputs, found, strict=True):
        np.testing.assert_allclose(out, np.linalg.norm(a, axis=1))


def test_many_threads_that_begin_loops_for_a_while(some):
    """Loops, reductions and exceptions from several threads at once; LANCEHEAD_TORTURE: for how many seconds."""

    @njit(parallel=True)
    def work(a, bad):
        s = 0.0
        h = np.zeros(8)
        for i in prange(a.size):
            if i == bad:
                raise ValueError("bad")
            s += a[i]
            h[i % 8] += a[i]
        return s, h.sum(), (a * 2).sum()

    a = np.arange(300_000.0)
    expected = work(a, -1)
    until = time.monotonic() + float(os.environ.get("LANCEHEAD_TORTURE", some(8, 3)))
    wrong = []

    def run(k):
        n = 0
        while time.monotonic() < until and not wrong:
            n += 1
            set_parallel_chunksize((n * k) % 3 * 5000)
            try:
                bad = 1000 * k if n % 5 == 0 else -1
                got = work(a, bad)
                good = bad == -1 and np.allclose(got, expected, rtol=1e-12)
            except ValueError:
                good = n % 5 == 0
            except BaseException as e:
                wrong.append(repr(e))
                raise
            if not good:
                wrong.append((k, n))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(timeout=float(os.environ.get("LANCEHEAD_TORTURE", some(8, 3))) + 60)
    assert not wrong and not any(t.is_alive() for t in threads)
