"""Streams, events and memory of a GPU: the library that stands in for the driver does nothing before somebody waits for
it, and finds what is used or freed too early."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import threading

import numpy as np
import pytest

from lancehead import cuda
from lancehead.cuda.cudadrv.driver import CudaAPIError
from stand_in import StandIn


@cuda.jit
def scale(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= factor


@cuda.jit
def copy(to, source):
    i = cuda.grid(1)
    to[i] = source[i]


def foreign_stream(gpu: StandIn, flags: int) -> int:
    # The driver refuses all calls before the first use.
    cuda.current_context().synchronize()
    handle = ctypes.c_void_p()
    assert gpu.library.cuStreamCreate(ctypes.byref(handle), flags) == 0
    return handle.value or 0


def test_streams_and_events(gpu: StandIn) -> None:
    stream, start, end = cuda.stream(), cuda.event(), cuda.event()
    with stream.auto_synchronize():
        d = cuda.to_device(np.ones(8), stream=stream)
        start.record(stream)
        scale[1, 8, stream](d, 2)
        end.record(stream)
        assert gpu.pending >= 2 and not end.query()
    assert start.query() and end.query() and cuda.event_elapsed_time(start, end) == 1.5
    assert d.copy_to_host(stream=stream).tolist() == [2] * 8
    cuda.synchronize()
    assert gpu.pending == 0


def test_a_stream_waits_for_an_event_of_another(gpu: StandIn) -> None:
    gpu.set(pinned=True)
    first, second, event = cuda.stream(), cuda.stream(), cuda.event(timing=False)
    source, to = cuda.to_device(np.ones(4)), cuda.to_device(np.zeros(4))
    scale[1, 4, first](source, 3)
    event.record(first)
    event.wait(second)
    copy[1, 4, second](to, source)
    out = np.zeros(4)
    to.copy_to_host(out, stream=second)
    assert out.tolist() == [0] * 4
    second.synchronize()
    assert out.tolist() == [3] * 4
    with pytest.raises(CudaAPIError, match="NOT_READY"):
        early, late = cuda.event(), cuda.event()
        early.record(first)
        scale[1, 4, first](source, 3)
        late.record(first)
        cuda.event_elapsed_time(early, late)
    late.synchronize()
    assert late.query()
    with pytest.raises(CudaAPIError, match="timing=False"):
        cuda.event_elapsed_time(event, late)


def test_copies_in_streams_are_done_later(gpu: StandIn) -> None:
    gpu.set(pinned=True)
    stream, out = cuda.stream(), np.zeros(1000)
    d = cuda.to_device(np.arange(1000.0), stream=stream)
    scale[4, 256, stream](d, 2)
    assert d.copy_to_host(out, stream=stream) is out and not out.any()
    other = cuda.device_array_like(d)
    other.copy_to_device(d, stream=stream)
    # The copy, the launch and the array that is copied are kept until the stream has come to them.
    want = np.arange(1000.0) * 2
    del d
    gc.collect()
    stream.synchronize()
    assert np.array_equal(out, want) and np.array_equal(other.copy_to_host(), want)
    # A new array is filled when it is given back.
    assert np.array_equal(other.copy_to_host(stream=stream), want)
    square = cuda.to_device(np.arange(12.0).reshape(3, 4), stream=stream)
    assert np.array_equal(square[:, 1:3].copy_to_host(stream=stream), np.arange(12.0).reshape(3, 4)[:, 1:3])


def test_memory_is_freed_after_what_uses_it(gpu: StandIn) -> None:
    streams, outs = [cuda.stream() for _ in range(3)], []
    for i, stream in enumerate(streams):
        temporary, out = cuda.to_device(np.full(4, i + 1.0)), cuda.device_array(4)
        copy[1, 4, stream](out, temporary)
        outs.append(out)
        del temporary
    gc.collect()
    assert gpu.used == 3 * 32 and gpu.pending
    streams[0].close()
    assert [o.copy_to_host().tolist() for o in outs] == [[i + 1.0] * 4 for i in range(3)]


@pytest.mark.parametrize("flags", [0, 1])
def test_streams_of_other_libraries(gpu: StandIn, flags: int) -> None:
    """Even those that do not wait for the default stream use memory after it is allocated and before it is freed."""
    stream = cuda.external_stream(foreign_stream(gpu, flags))
    out = cuda.device_array(4)
    for _ in range(2):
        temporary = cuda.to_device(np.full(4, 7.0), stream=stream)
        copy[1, 4, stream](out, temporary)
        del temporary
    gc.collect()
    cuda.to_device(np.zeros(4))
    stream.synchronize()
    assert out.copy_to_host(stream=stream).tolist() == [7] * 4
    assert "External" in repr(stream)

    class Theirs:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, int(stream)

    scale[1, 4, Theirs()](out, 2)
    assert out.copy_to_host(stream=stream).tolist() == [14] * 4


def test_default_streams(gpu: StandIn) -> None:
    d = cuda.to_device(np.ones(4))
    for stream in (cuda.default_stream(), cuda.legacy_default_stream(), cuda.per_thread_default_stream(), 0):
        scale[1, 4, stream](d, 2)
    assert d.copy_to_host().tolist() == [16] * 4
    assert [
        int(s) for s in (cuda.default_stream(), cuda.legacy_default_stream(), cuda.per_thread_default_stream())
    ] == [0, 1, 2]


def test_closed_streams(gpu: StandIn) -> None:
    stream, d = cuda.stream(), cuda.to_device(np.ones(4))
    launch = scale[1, 4, stream]
    launch(d, 2)
    stream.close()
    stream.close()
    uses = [lambda: launch(d, 2), lambda: scale[1, 4, stream](d, 2), stream.synchronize,
            lambda: d.copy_to_host(stream=stream),
            lambda: cuda.event().record(stream), lambda: cuda.to_device(np.ones(4), stream=stream)]  # fmt: skip
    for use in uses:
        with pytest.raises(CudaAPIError, match=r"\[400\].*closed"):
            use()
    assert d.copy_to_host().tolist() == [2] * 4


def test_callbacks(gpu: StandIn) -> None:
    stream, seen = cuda.stream(), []
    d = cuda.to_device(np.ones(4))
    scale[1, 4, stream](d, 2)
    stream.add_callback(lambda s, status, arg: seen.append((s is stream, status, arg)), "it")
    scale[1, 4, stream](d, 2)
    assert not seen
    # The driver calls from a thread of its own.
    waiting = threading.Thread(target=stream.synchronize)
    waiting.start()
    waiting.join()
    assert seen == [(True, 0, "it")] and d.copy_to_host().tolist() == [4] * 4
    stream.add_callback(lambda s, status, arg: 1 / 0)
    with pytest.warns(UserWarning, match="Exception in stream callback: division by zero"):
        stream.synchronize()

    async def wait() -> object:
        scale[1, 4, stream](d, 2)
        future = stream.async_done()
        assert not future.done()
        stream.synchronize()
        return await future

    assert asyncio.run(wait()) is stream


@pytest.mark.parametrize("pools", [True, False])
def test_memory_comes_from_a_pool_if_there_is_one(gpu: StandIn, pools: bool) -> None:
    gpu.set(pools=pools)
    name = "cuMemAlloc(FromPool)?Async" if pools else "cuMemAlloc_v2"
    with pytest.raises(CudaAPIError, match=rf"\[2\] Call to {name} results in CUDA_ERROR_OUT_OF_MEMORY"):
        cuda.device_array(1 << 40, np.uint8)
    half = cuda.device_array(40 << 20, np.uint8)
    scale[1, 4](half[:4], 2)
    # Before allocation fails, it waits for freed memory that is still in use.
    del half
    again = cuda.device_array(40 << 20, np.uint8)
    with pytest.raises(CudaAPIError, match="OUT_OF_MEMORY"):
        cuda.device_array(40 << 20, np.uint8)
    del again
    assert gpu.used == 0


def test_cleanup_can_be_deferred(gpu: StandIn) -> None:
    with cuda.defer_cleanup():
        with cuda.defer_cleanup():
            d = cuda.device_array(100, np.uint8)
            del d
            assert gpu.used == 100
        assert gpu.used == 100
    assert gpu.used == 0
    kept = cuda.device_array(8, np.uint8)
    with pytest.raises(ZeroDivisionError), cuda.defer_cleanup():
        1 / 0
    del kept
    assert gpu.used == 0


def test_what_fails_later_is_told_where_it_is_waited_for(gpu: StandIn) -> None:
    @cuda.jit
    def forgets(a):
        a[0] = 1

    d = cuda.to_device(np.ones(4))
    forgets[1, 1](d)
    # Memory that somebody else has freed meanwhile.
    assert gpu.library.cuMemFreeAsync(ctypes.c_uint64(d.device_ctypes_pointer.value), None) == 0
    cuda.synchronize()
    forgets[1, 1](d)
    with pytest.raises(CudaAPIError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        cuda.synchronize()
