"""Exceptions of kernels made with `debug=True`, and what kernels print."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from guarded import Task
from lancehead import cuda


def _raised(kind: type[Exception], launch: Callable[[], Any], *texts: str) -> None:
    try:
        launch()
        cuda.synchronize()
    except kind as error:
        assert all(text in str(error) for text in texts), error
    else:
        raise AssertionError(f"{kind.__name__} was not raised")


def one_lane() -> None:
    """One lane of a warp raises before a barrier: the others pass it."""

    @cuda.jit(debug=True, opt=False)
    def kernel(a, lane):
        i = cuda.threadIdx.x
        if i == lane:
            raise ValueError("this lane")
        cuda.syncthreads()
        a[i] = i

    for threads in (32, 256):
        there = cuda.to_device(np.full(threads, -1, np.int64))
        _raised(ValueError, lambda t=threads, a=there: kernel[1, t](a, 5), "tid=[5, 0, 0] ctaid=[0, 0, 0]: this lane")
        want = np.arange(threads)
        want[5] = -1
        assert (there.copy_to_host() == want).all(), there.copy_to_host()
        kernel[1, threads](there, -1)
        assert (there.copy_to_host() == np.arange(threads)).all()


def half_a_warp() -> None:
    """Half the lanes raise in a loop that has a barrier."""

    @cuda.jit(debug=True, opt=False)
    def kernel(a, rounds):
        i = cuda.threadIdx.x
        for r in range(rounds):
            if r == 2 and i % 2 == 1:
                raise RuntimeError("odd")
            cuda.syncthreads()
            a[i] += 1

    there = cuda.to_device(np.zeros(64, np.int64))
    _raised(RuntimeError, lambda: kernel[1, 64](there, 4), "odd")
    assert there.copy_to_host().tolist() == [4, 2] * 32, there.copy_to_host()


def leader_of_a_grid() -> None:
    """The thread that stands for its block at barriers of the grid raises: the launch ends, and the next one works."""

    @cuda.jit(debug=True, opt=False)
    def kernel(a, wrong):
        i = cuda.grid(1)
        if i == wrong:
            raise ValueError("the leader")
        cuda.cg.this_grid().sync()
        a[i] = i

    blocks = cuda.get_current_device().MULTIPROCESSOR_COUNT
    there = cuda.to_device(np.full(64 * blocks, -1, np.int64))
    for wrong in (0, 64):
        _raised(
            ValueError,
            lambda w=wrong: kernel[blocks, 64](there, w),
            f"tid=[0, 0, 0] ctaid=[{wrong // 64}, 0, 0]: the leader",
        )
        kernel[blocks, 64](there, -1)
        assert (there.copy_to_host() == np.arange(64 * blocks)).all()


def index_error() -> None:
    """An index out of bounds is told with its thread, with `debug` and with `boundscheck` alone."""

    def put(a, n):
        i = cuda.grid(1)
        a[i + n] = i

    for options in ({"debug": True, "opt": False}, {"boundscheck": True}):
        kernel = cuda.jit(**options)(put)
        a = np.zeros(64, np.int64)
        _raised(IndexError, lambda k=kernel, a=a: k[2, 32](a, 1), "tid=[31, 0, 0] ctaid=[1, 0, 0]")
        kernel[2, 32](a, 0)
        assert (a == np.arange(64)).all()


PRINTS = """
from lancehead import cuda
@cuda.jit
def kernel(x):
    print("thread", cuda.threadIdx.x, x)
kernel[1, 64](1.5)
cuda.synchronize()
"""


def prints() -> None:
    """The lines that 64 threads print are on the standard output."""
    done = subprocess.run([sys.executable, "-c", PRINTS], capture_output=True, text=True, timeout=15)
    assert done.returncode == 0, done.stderr[-1000:]
    lines = sorted(line.split()[:2] for line in done.stdout.splitlines())
    assert lines == sorted(["thread", str(i)] for i in range(64)), done.stdout[:300]
    assert all(float(line.split()[2]) == 1.5 for line in done.stdout.splitlines())


def checks() -> Iterator[Task]:
    """Of this step."""
    for check in (one_lane, half_a_warp, leader_of_a_grid, index_error, prints):
        yield Task(check.__name__, check)
