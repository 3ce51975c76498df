"""Rarely executed code, such as checked versions of loops, is compiled on its first call."""

import subprocess
import sys
import textwrap
import threading
import traceback

import numpy as np
import pytest

from lancehead import config, njit, prange


def wrapped(a, b, n):
    s = 0.0
    for i in range(n):
        b[i] = a[i] * 2.0 + a[i - 1]
        s += b[i]
    return s


def total(a, n):
    s = 0.0
    for i in range(n):
        s += a[i]
    return s


def test_negative_indices_take_the_checked_version():
    a, b, want = np.arange(10.0), np.zeros(10), np.zeros(10)
    f = njit(wrapped)
    assert f(a, b, 10) == wrapped(a, want, 10)
    assert np.array_equal(b, want)


def test_the_exception_has_its_place_and_what_came_before_is_done():
    a, b = np.arange(5.0), np.zeros(5)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5") as e:
        njit(wrapped)(a, b, 9)
    assert traceback.extract_tb(e.tb)[-1].line.startswith("b[i] = a[i] * 2.0")
    assert b[4] == 4 * 2 + 3


def test_several_threads_need_it_at_once():
    f, a, barrier, seen = njit(total), np.arange(4.0), threading.Barrier(8), []
    assert f(a, 4) == 6.0

    def run():
        barrier.wait()
        try:
            f(a, 5)
        except IndexError as e:
            seen.append(str(e))

    threads = [threading.Thread(target=run) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert seen == ["index 4 is out of bounds for axis 0 with size 4"] * 8


def test_workers_of_the_pool_need_it():
    def rows(a, out, n):
        for i in prange(len(out)):
            s = 0.0
            for j in range(n):
                s += a[j - 1]
            out[i] = s

    a, out, want = np.arange(9.0), np.zeros(64), np.zeros(64)
    f = njit(parallel=True)(rows)
    f(a, out, 9)
    rows(a, want, 9)
    assert np.array_equal(out, want)
    with pytest.raises(IndexError):
        f(a, out, 11)


def test_kept_code_is_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    a = np.arange(6.0)
    for hits in (0, 1):
        f = njit(cache=True)(total)
        assert f(a, 6) == 15.0
        assert sum(f.stats.cache_hits.values()) == hits
        with pytest.raises(IndexError):
            f(a, 7)


def test_a_child_that_is_forked_while_it_is_made_makes_its_own():
    code = """
    import os, signal, threading, time
    import numpy as np
    from lancehead import njit

    @njit(nogil=True)
    def f(a, b, n, m):
        s = 0.0
        for i in range(n):
            for j in range(m):
                b[i, j] = a[i, j] * a[j, i] + b[i, j] - a[j, i] / (1.0 + abs(b[j, i])) + b[j, i]
                s += b[i, j]
        return s

    def out_of_range(n, m):
        try:
            f(a, b, n, m)
        except IndexError:
            return True

    a, b = np.ones((6, 6)), np.ones((6, 6))
    f(a, b, 6, 6)
    thread = threading.Thread(target=out_of_range, args=(9, 6))
    thread.start()
    time.sleep(0.002)
    child = os.fork()
    if child == 0:
        os._exit(0 if out_of_range(6, 9) else 1)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.alarm(10)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    thread.join()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert done.stdout == "0\n", done.stderr
