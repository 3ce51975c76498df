"""Streams and events, over those of `lancehead.cuda`."""

from __future__ import annotations

import threading
import warnings
from typing import Any

from lancehead.cupy.cuda import runtime
from lancehead.options import public

__all__ = ["Event", "ExternalStream", "Stream", "get_current_stream", "get_elapsed_time"]
public(globals())


class _Stacks(threading.local):
    def __init__(self) -> None:
        #: The current stream, None for a default one, which of those, and the streams of the blocks around.
        self.current: Any = None
        self.default: Any = None
        self.entered: list[Any] = []

    def set(self, stream: Any) -> None:
        """Makes a stream the current one."""
        self.current, self.default = (stream, None) if stream.ptr else (None, stream)


_STACKS = _Stacks()


class _BaseStream:
    """A queue of work of a device; in a `with` block it is the current one."""

    def __init__(self, there: Any, ptr: int, device_id: int) -> None:
        self._there, self.ptr, self.device_id = there, ptr, device_id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _BaseStream) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)

    def _set(self) -> None:
        if self.device_id not in (-1, runtime.getDevice()):
            raise RuntimeError(f"{self!r} is a stream of another device than the one in use, {runtime.getDevice()}")
        _STACKS.set(self)

    def __enter__(self) -> Any:
        self._set()
        _STACKS.entered.append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        # A stream of `use` is forgotten, as by CuPy.
        _STACKS.entered.pop()
        _STACKS.set(_STACKS.entered[-1] if _STACKS.entered else Stream.null)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ptr} (device {self.device_id})>"

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.ptr

    def use(self) -> Any:
        """Makes it the current stream of the thread."""
        self._set()
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
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: int | None = None
    ) -> None:
        from lancehead import cuda

        if null and ptds:
            raise ValueError("null and ptds cannot be enabled at the same time")
        there = cuda.default_stream() if null else cuda.per_thread_default_stream() if ptds else cuda.stream()
        super().__init__(there, 0 if null else int(there), -1 if null or ptds else runtime.getDevice())
        self.is_non_blocking, self.priority = non_blocking, priority or 0

    @classmethod
    def from_external(cls, stream: Any) -> Any:
        """The stream of an object with `__cuda_stream__`, which it keeps."""
        if not hasattr(stream, "__cuda_stream__"):
            raise TypeError(f"{type(stream).__name__} does not implement __cuda_stream__")
        found = stream.__cuda_stream__()
        if not isinstance(found, tuple) or len(found) != 2:
            raise TypeError("__cuda_stream__ must return a 2-tuple")
        if not all(isinstance(v, int) for v in found):
            raise TypeError("__cuda_stream__ must return (int, int)")
        if found[0] != 0:
            raise TypeError(f"unsupported version {found[0]} of __cuda_stream__")
        made = object.__new__(cls)
        _wrap(made, found[1], -1)
        made.is_non_blocking, made.priority, made._foreign_stream_ref = False, 0, stream
        return made

    _foreign_stream_ref: Any = None


def _wrap(made: _BaseStream, ptr: int, device_id: int) -> None:
    from lancehead import cuda

    _BaseStream.__init__(made, cuda.external_stream(ptr) if ptr else cuda.default_stream(), ptr, device_id)


class ExternalStream(_BaseStream):
    """A stream of another library by its address."""

    def __init__(self, ptr: int, device_id: int = -1) -> None:
        text = "ExternalStream is deprecated: Stream.from_external takes the object of the stream"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        _wrap(self, ptr, device_id)


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
        raise runtime.CUDARuntimeError(400)
    return float(cuda.event_elapsed_time(start_event._there, end_event._there))


def get_current_stream(device_id: int = -1) -> Any:
    """The current stream of the thread."""
    found = _STACKS.current or _STACKS.default
    wanted = runtime.getDevice() if device_id < 0 else device_id
    return found if found is not None and found.device_id in (-1, wanted) else Stream.null
