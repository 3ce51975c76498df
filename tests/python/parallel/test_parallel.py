"""Parallel loops: threads, reductions that do not depend on them, exceptions, random numbers, processes."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

import numpy as np
import pytest

import lancehead
from lancehead import get_thread_id, njit, prange

MANY = 100_003


@njit(parallel=True)
def total(a):
    s = 0.0
    for i in prange(a.shape[0]):
        s += a[i]
    return s


@njit(parallel=True)
def fails_from(n, first):
    for i in prange(n):
        if i >= first:
            raise ValueError("iteration", i)
    return n


@njit(parallel=True)
def uniform(n, seed):
    np.random.seed(seed)
    out = np.empty(n)
    for i in prange(n):
        out[i] = np.random.random()
    return out


def with_threads(n: int, f: Any, *args: Any) -> Any:
    before = lancehead.get_num_threads()
    lancehead.set_num_threads(min(n, lancehead.config.NUM_THREADS))
    try:
        return f(*args)
    finally:
        lancehead.set_num_threads(before)


def test_sums_do_not_depend_on_threads() -> None:
    a = np.random.default_rng(0).random(MANY)
    assert len({with_threads(n, total, a) for n in (1, 2, 2, 2)}) == 1
    assert np.isclose(total(a), a.sum(), rtol=1e-12)


def test_random_numbers_do_not_depend_on_threads() -> None:
    one, two = with_threads(1, uniform, MANY, 3), with_threads(2, uniform, MANY, 3)
    assert np.array_equal(one, two)
    assert len(np.unique(one)) == MANY
    assert not np.array_equal(one, uniform(MANY, 4))


def test_the_first_exception_counts() -> None:
    for first in (0, 17, MANY - 1):
        for _ in range(5):
            with pytest.raises(ValueError) as info:
                fails_from(MANY, first)
            assert info.value.args == ("iteration", first)
    assert fails_from(10, MANY) == 10


def test_exceptions_are_caught_outside() -> None:
    @njit(parallel=True)
    def caught(a):
        try:
            for i in prange(a.shape[0]):
                if a[i] > 0.999:
                    raise ValueError("large")
        except ValueError:
            return -1
        return 1

    assert caught(np.ones(10_000)) == -1 and caught(np.zeros(10_000)) == 1


def test_steps() -> None:
    @njit(parallel=True)
    def visited(start, stop, step):
        s, n = 0, 0
        for i in prange(start, stop, step):
            s += i
            n += 1
        return s, n

    most = 2**63 - 1
    far = [(-most - 1, most, 2**62), (most, -most - 1, -(2**62)), (-most - 1, most, most)]
    for args in [(0, 10, 1), (10, 0, -3), (5, 5, 1), (-7, 100, 9), (3, -20, 1), (9, 1, -1), *far]:
        assert visited(*args) == (sum(range(*args)), len(range(*args)))
    with pytest.raises(ValueError):
        visited(0, 10, 0)


def test_early_exits_run_on_one_thread() -> None:
    @njit(parallel=True)
    def first_above(a, x):
        for i in prange(a.shape[0]):
            if a[i] > x:
                return i
        return -1

    assert first_above(np.arange(100.0), 41.5) == 42


libc = ctypes.CDLL(None)
libc.gettid.restype, libc.gettid.argtypes = ctypes.c_int, ()
libc.usleep.restype, libc.usleep.argtypes = ctypes.c_int, (ctypes.c_uint,)
gettid, usleep = libc.gettid, libc.usleep


@njit(parallel=True)
def threads_inside(n, m):
    ids = np.zeros((n, m), np.int64)
    sums = np.zeros(n)
    for i in prange(n):
        s = 0.0
        for j in prange(m):
            usleep(200)
            ids[i, j] = gettid()
            s += 1 / (i + j + 1)
        sums[i] = s
    return ids, sums


@pytest.mark.parametrize(("n", "threads"), [(1, 2), (70, 1)])
def test_loops_inside_of_short_loops_use_all_threads(n: int, threads: int) -> None:
    before = lancehead.get_num_threads()
    m = 200 if n == 1 else 3
    results = []
    try:
        for k in (1, 2):
            lancehead.set_num_threads(k)
            ids, sums = threads_inside(n, m)
            results.append(sums.tobytes())
    finally:
        lancehead.set_num_threads(before)
    assert max(len(set(row)) for row in ids.tolist()) == threads
    assert results[0] == results[1]


@njit(parallel=True)
def numbers_inside(n, m):
    ids = np.zeros((n, m), np.int64)
    outer = np.zeros(n, np.int64)
    for i in prange(n):
        outer[i] = get_thread_id()
        for j in prange(m):
            usleep(20)
            ids[i, j] = get_thread_id()
    return ids, outer


def test_thread_numbers_inside_are_those_of_the_outer_loop() -> None:
    ids, outer = numbers_inside(2, 50)
    assert (ids == outer[:, None]).all()


@njit(parallel=True)
def fails_inside(n, m, at):
    np.random.seed(5)
    out = np.zeros((n, m))
    for i in prange(n):
        for j in prange(m):
            if i * m + j >= at:
                raise ValueError(i * m + j)
            out[i, j] = np.random.random()
    return out


def test_exceptions_and_random_numbers_of_loops_inside() -> None:
    before = lancehead.get_num_threads()
    for n in (1, 3, 70):
        with pytest.raises(ValueError, match="^100$"):
            fails_inside(n, 100_000, 100)
        drawn = []
        for threads in (1, 2):
            lancehead.set_num_threads(threads)
            drawn.append(fails_inside(n, 1000, 1 << 40))
        assert np.array_equal(*drawn)
        assert len(np.unique(drawn[0])) == drawn[0].size
    lancehead.set_num_threads(before)


def test_settings() -> None:
    most = lancehead.config.NUM_THREADS
    assert 1 <= lancehead.get_num_threads() <= most and lancehead.get_thread_id() == 0
    for n in (0, -1, most + 1):
        with pytest.raises(ValueError):
            lancehead.set_num_threads(n)
    with pytest.raises(TypeError):
        lancehead.set_num_threads(1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        lancehead.set_parallel_chunksize(-1)
    with lancehead.parallel_chunksize(4):
        assert lancehead.get_parallel_chunksize() == 4
        assert np.isclose(total(np.ones(1000)), 1000)
    assert lancehead.set_parallel_chunksize(0) == 0
    assert lancehead.threading_layer() == "lancehead"


def test_settings_in_compiled_code() -> None:
    @njit(parallel=True)
    def ids(n):
        before = lancehead.get_num_threads()
        lancehead.set_num_threads(1)
        seen = np.zeros(n, np.int64)
        for i in prange(n):
            seen[i] = lancehead.get_thread_id()
        lancehead.set_num_threads(before)
        return seen.max(), before

    assert ids(MANY) == (0, lancehead.get_num_threads())


def test_array_expressions() -> None:
    def mixed(a, b):
        c = a * 2.0 + np.sin(b)
        c[1:] -= a[:-1]
        c[:, ::2] = 1.0
        return c

    a, b = np.random.default_rng(1).random((2, 300, 200))
    np.testing.assert_allclose(njit(parallel=True)(mixed)(a, b), mixed(a, b), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(njit(parallel=True)(mixed)(a.T, b.T), mixed(a.T, b.T), rtol=1e-13, atol=1e-15)


def test_many_threads_at_once() -> None:
    a = np.random.default_rng(2).random(MANY)
    expected, bad = total(a), []

    def work() -> None:
        for _ in range(30):
            if total(a) != expected:
                bad.append(1)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not bad


def _child_total(n: int) -> float:
    return float(total(np.ones(n)))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes(method: str) -> None:
    assert total(np.ones(MANY)) == MANY
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(_child_total, [MANY] * 4) == [float(MANY)] * 4


def test_forks_while_loops_run() -> None:
    a, stop = np.ones(MANY), threading.Event()

    def work() -> None:
        while not stop.is_set():
            total(a)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                os._exit(0 if total(a) == MANY else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


ENDLESS = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from lancehead import njit, prange
@njit(parallel=True)
def spin(n, m):
    s = 0
    for i in prange(n):
        for j in range(m):
            s ^= i * j
    return s
spin(10, 10)
print("ready", flush=True)
try:
    spin(1 << 20, 1 << 40)
except KeyboardInterrupt:
    print("stopped", spin(3, 3), flush=True)
"""


def test_interrupt() -> None:
    with subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline().startswith("stopped")
        assert child.wait(30) == 0


def test_options() -> None:
    with pytest.raises(NameError):
        njit(parallel={"speed": True})(lambda x: x)
    with pytest.raises(ValueError):
        njit(parallel=[1])(lambda x: x)
    serial = njit(parallel={"prange": False})(total.py_func)
    assert serial(np.arange(10.0)) == 45


def test_iterations_that_need_the_interpreter_do_not_wait_for_its_holder():
    """The thread that begins a loop has the GIL; others print while it waits for them."""
    code = """
import lancehead as lh

@lh.njit(parallel=True)
def show(n):
    for i in lh.prange(n):
        s = 0.0
        for k in range(20000):
            s += k * 0.5
        print(i, s)

for _ in range(60):
    show(8)
"""
    # Written to a file, each line lets go of the GIL.
    with tempfile.TemporaryFile() as out:
        environment = os.environ | {"LANCEHEAD_NUM_THREADS": "4", "PYTHONUNBUFFERED": "1"}
        done = subprocess.run([sys.executable, "-c", code], stdout=out, timeout=60, env=environment)
        out.seek(0)
        lines = out.read().splitlines()
    assert done.returncode == 0 and len(lines) == 60 * 8 and len(set(lines)) == 8
