"""Threads of Python, processes that fork, and callbacks of streams."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np

from guarded import Task
from lancehead import cuda
from lancehead.cuda.gpu import current_gpu


def _kernel():
    @cuda.jit
    def scale(a, factor):
        i = cuda.grid(1)
        if i < a.size:
            a[i] *= factor

    return scale


def _in_threads(run: Callable[[int], None], count: int = 8) -> None:
    errors: list[BaseException] = []
    barrier = threading.Barrier(count)

    def body(number: int) -> None:
        try:
            barrier.wait()
            run(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(6)
    assert not any(thread.is_alive() for thread in threads), "a thread has not ended"
    if errors:
        raise errors[0]


def first_use() -> None:
    """Eight threads use the GPU first, at once: it is one GPU, and arrays of one thread are arguments for another."""
    sys.setswitchinterval(1e-5)
    scale, seen, arrays = _kernel(), [], []

    def use(number: int) -> None:
        seen.append(current_gpu())
        arrays.append(cuda.to_device(np.ones(1000)))
        scale[4, 256](arrays[-1], number + 1)

    _in_threads(use)
    assert len(set(map(id, seen))) == 1, f"{len(set(map(id, seen)))} objects for one GPU"
    for a in arrays:
        scale[4, 256](a, 0)
        assert not a.copy_to_host().any()


def launches() -> None:
    """Eight threads launch, each in a stream of its own and in the default stream."""
    scale = _kernel()
    totals = [0.0] * 8

    def use(number: int) -> None:
        stream = cuda.stream()
        a = cuda.to_device(np.ones(10_000, np.float64), stream=stream)
        for i in range(200):
            scale[40, 256, stream](a, 2 if i % 2 else 0.5)
        b = cuda.to_device(np.ones(100))
        for i in range(50):
            scale[1, 128](b, 1)
        totals[number] = float(a.copy_to_host(stream=stream).sum() + b.copy_to_host().sum())

    _in_threads(use)
    assert totals == [10_100.0] * 8, totals


def _child(run: Callable[[], int]) -> int:
    """The exit status of a forked process; it has five seconds."""
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            code = run()
        finally:
            os._exit(code)
    for _ in range(500):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise AssertionError("the forked process hangs")


def fork_that_uses_it() -> str:
    """A process that is forked after the GPU was used is told that it cannot use it."""
    scale, there = _kernel(), cuda.to_device(np.ones(4))
    scale[1, 4](there, 2)
    reader, writer = os.pipe()

    def use() -> int:
        try:
            scale[1, 4](np.ones(4), 2)
        except Exception as error:
            os.write(writer, f"{type(error).__name__}: {error}".encode()[:1000])
            return 7
        return 8

    code = _child(use)
    os.close(writer)
    with os.fdopen(reader) as file:
        told = file.read()
    assert code == 7, f"the forked process ended with {code}"
    assert there.copy_to_host().tolist() == [2] * 4
    return told.splitlines()[0]


def fork_that_does_not() -> None:
    """A process that is forked and leaves the GPU alone ends well, with objects of the GPU among what it drops."""
    scale, given = _kernel(), [cuda.to_device(np.ones(4)), cuda.stream(), cuda.event()]
    scale[1, 4](given[0], 2)

    def drop() -> int:
        given.clear()
        return 0

    assert _child(drop) == 0
    assert given[0].copy_to_host().tolist() == [2] * 4


def callbacks() -> None:
    """Callbacks come in order while other kernels are compiled and loaded; what they drop is freed."""
    stream, there, seen = cuda.stream(), cuda.to_device(np.ones(1000)), []
    dropped = [cuda.device_array(1000) for _ in range(20)]
    scale = _kernel()
    for i in range(20):
        scale[4, 256, stream](there, 1)
        stream.add_callback(lambda s, status, number: (seen.append((number, status)), dropped.pop()), i)
        if i % 5 == 0:
            _kernel()[4, 256](np.ones(4, np.float32), np.float32(i))
    stream.synchronize()
    # A callback has passed the stream before its Python code has ended.
    for _ in range(300):
        if len(seen) == 20:
            break
        time.sleep(0.01)
    assert seen == [(i, 0) for i in range(20)], seen
    assert not dropped


def awaited() -> None:
    """A stream can be awaited."""

    async def wait() -> None:
        stream, there, scale = cuda.stream(), cuda.to_device(np.ones(1000)), _kernel()
        for _ in range(5):
            scale[4, 256, stream](there, 2)
            done = stream.async_done()
            await asyncio.to_thread(stream.synchronize)
            assert await asyncio.wait_for(done, 5) is stream
        assert there.copy_to_host().tolist() == [32.0] * 1000

    asyncio.run(wait())


def pending_at_the_end() -> None:
    """A process ends well whose callbacks are still to come."""
    stream, there, scale = cuda.stream(), cuda.to_device(np.ones(1 << 20)), _kernel()
    for _ in range(50):
        scale[1 << 12, 256, stream](there, 1)
        stream.add_callback(lambda s, status, arg: None)


def checks() -> Iterator[Task]:
    """Of this step."""
    yield Task("first_use", first_use, alone=True)
    for check in (launches, callbacks, awaited):
        yield Task(check.__name__, check)
    for check in (pending_at_the_end, fork_that_uses_it, fork_that_does_not):
        yield Task(check.__name__, check, alone=True)
