"""Devices, streams, events and memory, by CuPy's names."""

from __future__ import annotations

from lancehead.cupy.cuda import compiler, device, memory, memory_hook, pinned_memory, runtime, stream
from lancehead.cupy.cuda.device import Device
from lancehead.cupy.cuda.memory import Memory as Memory
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
from lancehead.cupy.cuda.stream import Event, ExternalStream, Stream, get_current_stream, get_elapsed_time


def is_available() -> bool:
    """Whether there is a device. Without a GPU it is the CPU device."""
    return runtime.getDeviceCount() > 0


def get_local_runtime_version() -> int:
    """The version of CUDA."""
    return runtime.runtimeGetVersion()


def __getattr__(name: str) -> object:
    if name == "null_stream":
        return Stream.null
    raise AttributeError(f"module 'lancehead.cupy.cuda' has no attribute {name!r}")


__all__ = [
    "Device", "Event", "ExternalStream", "MemoryHook", "MemoryPointer", "MemoryPool", "PinnedMemoryPool", "Stream",
    "UnownedMemory", "alloc", "alloc_pinned_memory", "compiler", "device", "get_allocator", "get_current_stream",
    "get_elapsed_time",
    "get_local_runtime_version", "is_available", "malloc_managed", "memory", "memory_hook", "pinned_memory", "runtime",
    "set_allocator",
    "set_pinned_memory_allocator", "stream", "using_allocator",
]  # fmt: skip
