"""Streams and events, over those of `lancehead.cuda`."""

from __future__ import annotations

import threading
from typing import Any

from lancehead.cupy.cuda import runtime


class _Stacks(threading.local):
    def __init__(self) -> None:
        self.current: list[Any] = []


_STACKS = _Stacks()


class _BaseStream:
    """A queue of work of a device; in a `with` block it is the current one."""

    def __init__(self, there: Any, ptr: int, device_id: int) -> None:
        self._there, self.ptr, self.device_id = there, ptr, device_id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _BaseStream) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)

    def __enter__(self) -> Any:
        _STACKS.current.append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        _STACKS.current.pop()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ptr} (device {self.device_id})>"

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.ptr

    def use(self) -> Any:
        """Makes it the current stream of the thread."""
        _STACKS.current[:] = [self]
        return self

    @property
    def done(self) -> bool:
        """Whether all work is done."""
        self.synchronize()
        return True

    @property
    def is_capturing(self) -> bool:
        """Whether a graph records it."""
        return False

    def synchronize(self) -> None:
        """Waits for all work."""
        self._there.synchronize()

    def add_callback(self, callback: Any, arg: Any) -> None:
        """Calls a function with the stream, 0 and an argument when all work is done."""
        self._there.add_callback(lambda stream, status, given: callback(self, status, given), arg)

    def launch_host_func(self, callback: Any, arg: Any) -> None:
        """Calls a function with an argument when all work is done."""
        self._there.add_callback(lambda stream, status, given: callback(given), arg)

    def record(self, event: Any = None) -> Any:
        """An event of now."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Any) -> None:
        """Later work waits for an event."""
        event.synchronize()


class _Default:
    # One of the default streams, made when it is asked for.
    def __init__(self, **options: bool) -> None:
        self._options = options
        self._made: Any = None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if self._made is None:
            self._made = Stream(**self._options)
        return self._made


class Stream(_BaseStream):
    """A new stream, or the default one with `null`."""

    null: Any = _Default(null=True)
    ptds: Any = _Default(ptds=True)

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: Any = None
    ) -> None:
        from lancehead import cuda

        if null and ptds:
            raise ValueError("null and ptds cannot be enabled at the same time")
        there = cuda.default_stream() if null else cuda.per_thread_default_stream() if ptds else cuda.stream()
        super().__init__(there, 0 if null else int(there), -1 if null else runtime.getDevice())
        self.is_non_blocking = non_blocking

    @classmethod
    def from_external(cls, stream: Any) -> ExternalStream:
        """The stream of an object with `__cuda_stream__`."""
        found = stream.__cuda_stream__()
        if found[0] != 0:
            raise ValueError(f"version {found[0]} of the protocol of streams is not served")
        return ExternalStream(found[1])


class ExternalStream(_BaseStream):
    """A stream of another library by its address."""

    def __init__(self, ptr: int, device_id: int = -1) -> None:
        from lancehead import cuda

        super().__init__(cuda.external_stream(ptr), ptr, device_id)


class Event:
    """A mark in a stream, of which the time is known."""

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        from lancehead import cuda

        self._there = cuda.event(timing=not disable_timing)
        self.ptr = id(self._there)
        self._timed = not disable_timing
        self._recorded = False

    @property
    def done(self) -> bool:
        """Whether the stream has come there."""
        return True

    def record(self, stream: Any = None) -> None:
        """Puts the mark into a stream."""
        there = get_current_stream()._there if stream is None else stream._there
        self._there.record(there)
        self._recorded = True

    def synchronize(self) -> None:
        """Waits for it."""
        if self._recorded:
            self._there.synchronize()


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two events."""
    from lancehead import cuda

    if not (start_event._timed and end_event._timed and start_event._recorded and end_event._recorded):
        raise runtime.CUDARuntimeError(400, "cudaErrorInvalidResourceHandle: invalid resource handle")
    return float(cuda.event_elapsed_time(start_event._there, end_event._there))


def get_current_stream(device_id: int = -1) -> Any:
    """The current stream of the thread."""
    return _STACKS.current[-1] if _STACKS.current else Stream.null
