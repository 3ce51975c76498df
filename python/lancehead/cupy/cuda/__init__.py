"""Devices, streams, events and memory, by CuPy's names."""

from __future__ import annotations

from typing import Any

from lancehead.cupy import layout
from lancehead.cupy.cuda import memory, runtime, streams
from lancehead.cupy.cuda.memory import (
    MemoryHook,
    MemoryPointer,
    MemoryPool,
    PinnedMemoryPool,
    UnownedMemory,
    alloc,
    alloc_pinned_memory,
    get_allocator,
    malloc_managed,
    set_allocator,
    set_pinned_memory_allocator,
    using_allocator,
)
from lancehead.cupy.cuda.memory import Memory as Memory
from lancehead.cupy.cuda.streams import Event, ExternalStream, Stream, get_current_stream, get_elapsed_time


class Device:
    """A device by its number, the one in use without. In a `with` block it is the one in use."""

    def __init__(self, device: Any = None) -> None:
        self.id = layout.CURRENT.number if device is None else int(device)
        self._before: list[int] = []

    @property
    def number(self) -> int:
        """Its number."""
        return int(self.id)

    def __int__(self) -> int:
        return int(self.id)

    def __enter__(self) -> Device:
        self._before.append(layout.CURRENT.number)
        runtime.setDevice(self.id)
        return self

    def __exit__(self, *error: Any) -> None:
        layout.CURRENT.number = self._before.pop()

    def __eq__(self, other: object) -> bool:
        return self.id == other.id if isinstance(other, Device) else self.id == other

    def __lt__(self, other: Any) -> bool:
        return bool(self.id < int(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.id > int(other))

    def __le__(self, other: Any) -> bool:
        return bool(self.id <= int(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self.id >= int(other))

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def use(self) -> Device:
        """Makes it the device in use."""
        runtime.setDevice(self.id)
        return self

    def synchronize(self) -> None:
        """Waits for all its work."""
        runtime.deviceSynchronize()

    @property
    def compute_capability(self) -> str:
        """What its kernels may use, as two digits."""
        found = runtime.getDeviceProperties(self.id)
        return f"{found['major']}{found['minor']}"

    @property
    def mem_info(self) -> tuple[int, int]:
        """Free bytes and bytes."""
        return runtime.memGetInfo()

    @property
    def attributes(self) -> dict[str, Any]:
        """Facts of the device by their names."""
        known = runtime.getDeviceProperties(self.id)
        return {name[0].upper() + name[1:]: v for name, v in known.items() if isinstance(v, int)}

    @property
    def pci_bus_id(self) -> str:
        """Its place in the machine."""
        return f"0000:{self.id:02x}:00.0"


def is_available() -> bool:
    """Whether there is a device. Without a GPU it is the CPU device."""
    return runtime.getDeviceCount() > 0


def get_local_runtime_version() -> int:
    """The version of CUDA."""
    return runtime.runtimeGetVersion()


def __getattr__(name: str) -> Any:
    if name == "null_stream":
        return streams.null_stream()
    raise AttributeError(f"module 'lancehead.cupy.cuda' has no attribute {name!r}")


__all__ = [
    "Device", "Event", "ExternalStream", "MemoryHook", "MemoryPointer", "MemoryPool", "PinnedMemoryPool", "Stream",
    "UnownedMemory", "alloc", "alloc_pinned_memory", "get_allocator", "get_current_stream", "get_elapsed_time",
    "get_local_runtime_version", "is_available", "malloc_managed", "memory", "runtime", "set_allocator",
    "set_pinned_memory_allocator", "streams", "using_allocator",
]  # fmt: skip
