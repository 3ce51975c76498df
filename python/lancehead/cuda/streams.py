"""Streams and events. What is put into a stream of the CPU device is done at once, which is an order that any stream allows; on a
GPU all streams are one, the driver's default.
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


class Stream:
    """A queue of work of a device."""

    def __init__(self, handle: int = 0, external: bool = False) -> None:
        self.handle = handle
        self.external = external
        self._closed = False

    def __int__(self) -> int:
        return self.handle

    def __repr__(self) -> str:
        names = {0: "Default CUDA stream", 1: "Legacy default CUDA stream", 2: "Per-thread default CUDA stream"}
        kind = "External CUDA stream" if self.external else "CUDA stream"
        return f"<{names.get(self.handle, f'{kind} {self.handle}')} on {'CPU device' if current_gpu() is None else 'GPU'}>"

    def close(self) -> None:
        """Ends the stream: what is put into it after that raises CudaAPIError."""
        self._closed = True

    def check(self) -> None:
        """Whether work can be put into it.

        Raises:
            CudaAPIError: it is closed.
        """
        if self._closed:
            raise CudaAPIError(400, "the stream is closed: CUDA_ERROR_INVALID_HANDLE")

    def synchronize(self) -> None:
        """Waits for all that was put into the stream."""
        self.check()
        wait()

    @contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Waits for the stream at the end of the block."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable[[Stream, int, Any], object], arg: Any = None) -> None:
        """Calls a function when all that was put into the stream is done."""
        self.synchronize()
        callback(self, 0, arg)

    def async_done(self) -> asyncio.Future[Stream]:
        """A future for when all that was put into the stream is done."""
        self.synchronize()
        future: asyncio.Future[Stream] = asyncio.get_running_loop().create_future()
        future.set_result(self)
        return future


def wait() -> None:
    """Waits for what a GPU was given to do."""
    if (gpu := current_gpu()) is not None:
        gpu.wait()


def check(stream: Any) -> None:
    """Whether work can be put into a stream, see `Stream.check`."""
    if isinstance(stream, Stream):
        stream.check()


class Event:
    """A point in a stream."""

    def __init__(self, timing: bool = True) -> None:
        self.timing = timing
        self._at: int | _core.GpuEvent | None = None

    def record(self, stream: Stream | int = 0) -> None:
        """Notes the time at which the stream comes here."""
        check(stream)
        gpu = current_gpu()
        self._at = time.perf_counter_ns() if gpu is None else gpu.event()

    def query(self) -> bool:
        """Whether the stream has come here; on a GPU, once it has."""
        wait()
        return True

    def synchronize(self) -> None:
        """Waits until the stream has come here."""
        wait()

    def wait(self, stream: Stream | int = 0) -> None:
        """Makes a stream wait until this point."""

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to another."""
        return event_elapsed_time(self, end)


_handles = iter(range(3, 1 << 62))


def stream() -> Stream:
    """A new stream."""
    return Stream(next(_handles))


def default_stream() -> Stream:
    """The stream that is used where none is named."""
    return Stream(0)


def legacy_default_stream() -> Stream:
    """The default stream of all threads together."""
    return Stream(1)


def per_thread_default_stream() -> Stream:
    """The default stream of this thread."""
    return Stream(2)


def external_stream(ptr: int) -> Stream:
    """A stream made by another library."""
    if ptr is None:
        raise RuntimeError("external_stream() takes the address of a stream")
    return Stream(ptr, external=True)


def event(timing: bool = True) -> Event:
    """A new event."""
    return Event(timing)


def event_elapsed_time(start: Event, end: Event) -> float:
    """Milliseconds between two recorded events."""
    if start._at is None or end._at is None:
        raise RuntimeError("both events must have been recorded")
    if isinstance(end._at, int) and isinstance(start._at, int):
        return (end._at - start._at) / 1e6
    if isinstance(end._at, int) or isinstance(start._at, int):
        raise RuntimeError("one event was recorded on a GPU, the other on the CPU")
    return end._at.since(start._at)
