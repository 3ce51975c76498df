"""Streams and events. Work that is put into a stream of the CPU device runs at once, an order that every stream allows;
on a GPU, streams and events are the driver's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from lancehead import _core
from lancehead.cuda.errors import CudaAPIError
from lancehead.cuda.gpu import current_gpu
from lancehead.notices import tell
from lancehead.options import near_keywords, near_members


@near_members
class Stream:
    """A queue of work of a device.

    >>> stream = cuda.stream()
    >>> there = cuda.to_device(np.arange(3), stream=stream)
    >>> stream.synchronize()
    """

    def __init__(self, handle: int = 0, external: bool = False, there: _core.GpuStream | None = None) -> None:
        self.handle = handle
        self.external = external
        self._closed = False
        # The driver's stream, and the GPU that it is of.
        self._gpu, self._there = None if there is None else current_gpu(), there

    def __int__(self) -> int:
        return self.handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle

    def __repr__(self) -> str:
        names = {0: "Default CUDA stream", 1: "Legacy default CUDA stream", 2: "Per-thread default CUDA stream"}
        kind = "External CUDA stream" if self.external else "CUDA stream"
        return (
            f"<{names.get(self.handle, f'{kind} {self.handle}')} on {'CPU device' if current_gpu() is None else 'GPU'}>"
        )

    def close(self) -> None:
        """Ends the stream, which does what is in it: what is put into it after that raises CudaAPIError."""
        self._closed = True
        if self._there is not None:
            self._there.close()

    def check(self) -> None:
        """Whether work can be put into it.

        Raises:
            CudaAPIError: it is closed.
        """
        if self._closed:
            raise CudaAPIError(400, "the stream is closed: CUDA_ERROR_INVALID_HANDLE")

    def on(self, gpu: _core.Gpu) -> _core.GpuStream:
        """The driver's stream.

        Raises:
            CudaAPIError: it is closed, or one of another device.
        """
        self.check()
        if self._there is None and (self.external or self.handle <= _PER_THREAD):
            self._gpu, self._there = gpu, gpu.stream(self.handle)
        if self._gpu is not gpu or self._there is None:
            raise CudaAPIError(400, "a stream of another device: CUDA_ERROR_INVALID_HANDLE")
        return self._there

    def synchronize(self) -> None:
        """Waits for all that was put into the stream."""
        self.check()
        if (gpu := current_gpu()) is not None:
            self.on(gpu).wait()

    @contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Waits for the stream at the end of the block."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable[[Stream, int, Any], object], arg: Any = None) -> None:
        """Calls a function with the stream, an error's number or 0, and `arg`, when all that was put into the stream is
        done; on a GPU in a thread of the driver's, where nothing of CUDA may be called."""

        def call(status: int) -> None:
            try:
                callback(self, status, arg)
            except Exception as error:
                tell(f"Exception in stream callback: {error}")

        gpu = current_gpu()
        if gpu is not None:
            self.on(gpu).call(call)
            return
        self.synchronize()
        callback(self, 0, arg)

    def async_done(self) -> asyncio.Future[Stream]:
        """A future for when all that was put into the stream is done."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Stream] = loop.create_future()

        def resolve(status: int) -> None:
            if not future.done() and status:
                future.set_exception(CudaAPIError(status, f"the stream has failed: error {status}"))
            elif not future.done():
                future.set_result(self)

        self.add_callback(lambda stream, status, arg: loop.call_soon_threadsafe(resolve, status))
        return future


def on_gpu(gpu: _core.Gpu, stream: Any) -> _core.GpuStream | None:
    """The driver's stream that an argument names; None for the default one.

    Raises:
        CudaAPIError: it is closed, or one of another device.
    """
    if isinstance(stream, Stream):
        return stream.on(gpu)
    if hasattr(stream, "__cuda_stream__"):
        stream = stream.__cuda_stream__()[1]
    return gpu.stream(int(stream)) if stream else None


def exported(stream: Any, is_gpu: bool) -> int | None:
    """The number of a stream in the array interface, where the default one is 1 and 0 is forbidden. On a GPU there is
    always one to wait for; without a GPU only if somebody has named one."""
    number = int(stream) if stream else 0
    return (number or _LEGACY) if is_gpu or number else None


def wait() -> None:
    """Waits for what a GPU was given to do."""
    if (gpu := current_gpu()) is not None:
        gpu.wait()


def check(stream: Any) -> None:
    """Whether work can be put into a stream, see `Stream.check`.

    Raises:
        TypeError: it is none.
    """
    if isinstance(stream, Stream):
        stream.check()
    elif stream is not None and not hasattr(stream, "__index__") and not hasattr(stream, "__cuda_stream__"):
        raise TypeError(f"a stream is made by cuda.stream(), or an object with __cuda_stream__, not {stream!r}")


@near_members
class Event:
    """A point in a stream.

    >>> event = cuda.event()
    >>> event.record()
    >>> event.synchronize(); event.query()
    True
    """

    def __init__(self, timing: bool = True) -> None:
        self.timing = timing
        self._gpu = current_gpu()
        self._there = None if self._gpu is None else self._gpu.event(timing)
        self._at: int | None = None

    def record(self, stream: Any = 0) -> None:
        """Notes the time at which the stream comes here."""
        check(stream)
        if self._gpu is not None and self._there is not None:
            self._there.record(on_gpu(self._gpu, stream) or self._gpu.stream(0))
        self._at = time.perf_counter_ns()

    def query(self) -> bool:
        """Whether the stream has come here."""
        return self._there is None or self._there.query()

    def synchronize(self) -> None:
        """Waits until the stream has come here."""
        if self._there is not None:
            self._there.wait()

    def wait(self, stream: Any = 0) -> None:
        """Makes a stream wait until this point."""
        check(stream)
        if self._gpu is not None and self._there is not None:
            self._there.hold(on_gpu(self._gpu, stream) or self._gpu.stream(0))

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to another."""
        return event_elapsed_time(self, end)


_LEGACY, _PER_THREAD = 1, 2
_handles = iter(range(_PER_THREAD + 1, 1 << 62))


def stream() -> Stream:
    """A new stream. It waits for what was put into the default stream before, and that for it.

    >>> stream = cuda.stream()
    >>> cuda.to_device(np.arange(3), stream=stream).copy_to_host(stream=stream)
    array([0, 1, 2])
    """
    gpu = current_gpu()
    there = None if gpu is None else gpu.stream()
    return Stream(next(_handles) if there is None else there.handle or 0, there=there)


def default_stream() -> Stream:
    """The stream that is used where none is named.

    >>> int(cuda.default_stream())
    0
    """
    return Stream(0)


def legacy_default_stream() -> Stream:
    """The default stream of all threads together.

    >>> int(cuda.legacy_default_stream())
    1
    """
    return Stream(_LEGACY)


def per_thread_default_stream() -> Stream:
    """The default stream of this thread.

    >>> int(cuda.per_thread_default_stream())
    2
    """
    return Stream(_PER_THREAD)


def external_stream(ptr: int) -> Stream:
    """A stream made by another library, which must outlive its use here.

    >>> cuda.external_stream(0).external
    True
    """
    if ptr is None:
        raise RuntimeError("external_stream() takes the address of a stream")
    return Stream(ptr, external=True)


def event(timing: bool = True) -> Event:
    """A new event.

    >>> start, end = cuda.event(), cuda.event()
    >>> start.record(); end.record(); end.synchronize()
    >>> cuda.event_elapsed_time(start, end) >= 0
    True
    """
    return Event(timing)


def event_elapsed_time(start: Event, end: Event) -> float:
    """Milliseconds between two recorded events.

    >>> start, end = cuda.event(), cuda.event()
    >>> start.record(); end.record(); end.synchronize()
    >>> cuda.event_elapsed_time(start, end) >= 0
    True

    Raises:
        CudaAPIError: their streams have not come to them yet, or one has no time.
    """
    if start._at is None or end._at is None:
        raise RuntimeError("both events must have been recorded")
    if not (start.timing and end.timing):
        raise CudaAPIError(400, "an event that was made with timing=False has no time")
    if (start._there is None) != (end._there is None):
        raise RuntimeError("one event was recorded on a GPU, the other on the CPU")
    if start._there is not None and end._there is not None:
        return end._there.since(start._there)
    return (end._at - start._at) / 1e6


near_keywords(globals())
