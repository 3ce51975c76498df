"""Memory of the GPU and of the host, copies in streams, and events."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from guarded import Skipped, Task
from lancehead import cuda
from lancehead.cuda.cudadrv.driver import CudaAPIError

LARGE = 20 << 30


@cuda.jit
def scale(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= factor


@cuda.jit
def put(a, at, value):
    a[at] = value


@cuda.jit
def spin(rounds, out):
    for _ in range(rounds):
        cuda.nanosleep(500_000)
    out[0] += 1


def many_arrays() -> None:
    """10000 arrays are made and freed; the memory is there again."""
    make, context = (lambda n: cuda.device_array(n, np.uint8)), cuda.current_context()
    kept = [make(1 << 20) for _ in range(8)]
    cuda.synchronize()
    before = context.get_memory_info().free
    for i in range(10_000):
        kept[i % 8] = make(1 + i * 97 % (1 << 20))
    kept.clear()
    cuda.synchronize()
    assert context.get_memory_info().free >= before - (64 << 20), (
        f"{before - context.get_memory_info().free} bytes are gone"
    )


def large_array() -> None:
    """An array beyond 32 bits: its last element is another one than that 4 GiB before."""
    free = cuda.current_context().get_memory_info().free
    if free < LARGE + (1 << 30):
        raise Skipped(f"the GPU has {free >> 20} MiB free")
    a = cuda.device_array(LARGE, np.uint8)
    places = [0, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, LARGE - 1]
    for i, at in enumerate(places):
        put[1, 1](a, at, np.uint8(i + 1))
    assert [int(a[at]) for at in places] == [1, 2, 3, 4, 5, 6]


def out_of_memory() -> None:
    """Too large an array is refused by name, and what comes next works."""
    for _ in range(2):
        try:
            cuda.device_array(1 << 46, np.uint8)
        except CudaAPIError as error:
            assert error.code == 2 and "OUT_OF_MEMORY" in str(error), error
        else:
            raise AssertionError("64 TiB were allocated")
    there = cuda.to_device(np.ones(1000))
    scale[4, 256](there, 2)
    assert (there.copy_to_host() == 2).all()


def host_memory() -> None:
    """Pinned and mapped arrays."""
    pinned, mapped = cuda.pinned_array(1000, np.float32), cuda.mapped_array(1000, np.float32)
    pinned[:] = mapped[:] = 3
    scale[4, 256](pinned, np.float32(2))
    scale[4, 256](mapped, np.float32(2))
    cuda.synchronize()
    assert (pinned == 6).all() and (mapped == 6).all()


def pinned_arrays() -> None:
    """Memory of NumPy's is pinned for a while."""
    a = np.ones(1 << 20)
    for _ in range(2):
        with cuda.pinned(a):
            there = cuda.to_device(a)
            scale[1 << 12, 256](there, 2)
            there.copy_to_host(a)
        a /= 2
    assert (a == 1).all()


def copies_in_streams() -> None:
    """Copies both ways wait for a kernel that takes a while, and what they need stays until then."""
    stream, busy = cuda.stream(), cuda.to_device(np.zeros(1, np.int32))
    source, back = cuda.pinned_array(1 << 16, np.float32), cuda.pinned_array(1 << 16, np.float32)
    source[:], back[:] = np.arange(1 << 16), -1
    spin[1, 1, stream](20, busy)
    there = cuda.to_device(source, stream=stream)
    scale[1 << 8, 256, stream](there, np.float32(2))
    there.copy_to_host(back, stream=stream)
    del there
    stream.synchronize()
    np.testing.assert_array_equal(back, source * 2)
    # Memory that can be paged may be copied at once, and must be as it was then.
    plain = np.arange(1 << 16, dtype=np.float32)
    spin[1, 1, stream](20, busy)
    there = cuda.to_device(plain, stream=stream)
    scale[1 << 8, 256, stream](there, np.float32(3))
    assert (there.copy_to_host(stream=stream) == plain * 3).all()


def events() -> str:
    """A kernel's time by events is that by the host's clock; its event has not passed before it has ended."""
    stream, busy, start, end = cuda.stream(), cuda.to_device(np.zeros(1, np.int32)), cuda.event(), cuda.event()
    spin[1, 1, stream](1, busy)
    stream.synchronize()
    begin = time.perf_counter()
    start.record(stream)
    spin[1, 1, stream](40, busy)
    end.record(stream)
    early = end.query()
    stream.synchronize()
    host = (time.perf_counter() - begin) * 1e3
    device = cuda.event_elapsed_time(start, end)
    assert not early, "the event had passed when it was recorded"
    assert end.query() and busy.copy_to_host()[0] == 2
    assert 5 < device <= host + 0.1 and host - device < 2 + 0.1 * host, (
        f"{device} ms by events, {host} ms by the host's clock"
    )
    return f"{device:.2f} ms by events, {host:.2f} ms by the host's clock"


def checks() -> Iterator[Task]:
    """Of this step."""
    for check in (many_arrays, large_array, out_of_memory, host_memory, pinned_arrays, copies_in_streams, events):
        yield Task(check.__name__, check)
