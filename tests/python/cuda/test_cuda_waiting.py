"""Threads of kernels that wait for others in loops, deadlocks, and deep recursion on the stacks of threads."""

import numpy as np
import pytest

from lancehead import cuda


@cuda.jit
def by_reads(flags, out):
    b = cuda.blockIdx.x
    if b == 0:
        while cuda.atomic.add(flags, 0, 0) == 0:
            pass
        out[0] = flags[1] + 1
    elif b == cuda.gridDim.x - 1:
        flags[1] = 41
        cuda.threadfence()
        cuda.atomic.add(flags, 0, 1)


@cuda.jit
def by_sleeping(flags, out):
    b = cuda.blockIdx.x
    if b == 0:
        while cuda.atomic.add(flags, 0, 0) == 0:
            cuda.nanosleep(100)
        out[0] = flags[1] + 1
    elif b == cuda.gridDim.x - 1:
        flags[1] = 41
        cuda.threadfence()
        cuda.atomic.add(flags, 0, 1)


@cuda.jit
def each_for_the_next(flags, out):
    b = cuda.blockIdx.x
    if b + 1 < cuda.gridDim.x:
        while cuda.atomic.add(flags, b + 1, 0) == 0:
            pass
    if cuda.threadIdx.x == 0:
        out[0] = max(out[0], b)
        cuda.atomic.add(flags, b, 1)


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("blocks", [2, 3, 40])
@pytest.mark.parametrize("kernel", [by_reads, by_sleeping])
def test_block_0_may_wait_for_the_last(kernel, blocks, debug):
    kernel = cuda.jit(debug=debug, opt=not debug)(kernel.py_func)
    for threads in (1, 4):
        flags, out = np.zeros(2, np.int64), np.zeros(1, np.int64)
        if debug and threads > 1:
            continue
        kernel[blocks, threads](flags, out)
        assert out[0] == 42


def test_every_block_may_wait_for_the_next():
    for blocks in (2, 50):
        flags, out = np.zeros(blocks, np.int64), np.zeros(1, np.int64)
        each_for_the_next[blocks, 2](flags, out)
        assert flags.tolist() == [1] * blocks
        assert out[0] == blocks - 1


@cuda.jit
def never_set(flags):
    while cuda.atomic.add(flags, 0, 0) == 0:
        pass


@cuda.jit
def locked_twice(lock):
    for _ in range(2):
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass


@cuda.jit
def one_at_the_barrier(flags):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.add(flags, 0, 0) == 0:
            cuda.nanosleep(50)
    cuda.syncthreads()
    flags[0] = 1


@cuda.jit
def blocks_in_a_circle(flags):
    b = cuda.blockIdx.x
    while cuda.atomic.add(flags, (b + 1) % cuda.gridDim.x, 0) == 0:
        pass
    cuda.atomic.add(flags, b, 1)


@cuda.jit(device=True)
def is_set(flags, k):
    return cuda.atomic.add(flags, k % 2, 0) != 0


@cuda.jit
def asks_a_function(flags):
    while not is_set(flags, cuda.threadIdx.x):
        pass


@pytest.mark.parametrize("kernel", [never_set, locked_twice, one_at_the_barrier, blocks_in_a_circle, asks_a_function])
def test_waiting_for_ever_is_noticed(kernel):
    with pytest.raises(RuntimeError, match="wait for each other for ever"):
        kernel[3, 4](np.zeros(4, np.int64))
    # The next launch goes on.
    out = np.zeros(1, np.int64)
    by_reads[2, 1](np.zeros(2, np.int64), out)
    assert out[0] == 42


@cuda.jit
def with_backoff(flags, out):
    if cuda.blockIdx.x == 0:
        ns = 8
        while cuda.atomic.cas(flags, 0, 1, 1) == 0:
            cuda.nanosleep(ns)
            if ns < 256:
                ns *= 2
        out[0] = ns
    elif cuda.blockIdx.x == cuda.gridDim.x - 1:
        # A second and a half of work, with sleeps.
        x = 1.0
        for _ in range(100_000):
            for _ in range(out.size):
                x = x * 0.999 + 1.0 / x
            cuda.nanosleep(50)
        out[1] = x
        cuda.atomic.exch(flags, 0, 1)


def test_who_works_between_sleeps_is_waited_for():
    out = np.zeros(4000)
    with_backoff[3, 2](np.zeros(1, np.int64), out)
    assert out[0] == 256
    assert out[1] > 0


@cuda.jit
def late(flags, out):
    t = cuda.threadIdx.x
    if t == 0:
        for k in range(2000):
            out[0] = k
            cuda.nanosleep(50)
    cuda.syncthreads()
    out[t] += 1


def test_who_waits_at_a_barrier_waits_for_a_thread_that_takes_its_time():
    out = np.zeros(8, np.int64)
    late[2, 8](np.zeros(1), out)
    assert out[0] >= 2000
    assert (out[1:] == 2).all()


@cuda.jit
def guarded(lock, total):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    total[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


def test_locks():
    total = np.zeros(1, np.int64)
    guarded[20, 16](np.zeros(1, np.int64), total)
    assert total[0] == 320


@cuda.jit(device=True)
def depth(n):
    if n <= 0:
        return 0
    return 1 + depth(n - 1)


@cuda.jit(device=True)
def both(n, x):
    cuda.syncthreads()
    if n <= 0:
        return x
    return both(n - 1, x + 1)


def alone(a, n):
    a[cuda.threadIdx.x] = depth(n)


def with_barriers(a, n):
    a[cuda.threadIdx.x] = both(n, 0)


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("function", [alone, with_barriers])
def test_recursion_ends_in_an_exception(function, debug):
    kernel = cuda.jit(debug=debug, opt=not debug)(function)
    for _ in range(2):
        with pytest.raises(RecursionError):
            kernel[2, 4](np.zeros(4), 10_000_000)
        a = np.zeros(4)
        kernel[1, 4](a, 50)
        assert (a == 50).all()
