"""Devices, streams, events and memory, by CuPy's names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lancehead.cupy.cuda import (
    compiler,
    device,
    driver,
    memory,
    memory_hook,
    memory_hooks,
    pinned_memory,
    profiler,
    runtime,
    stream,
)
from lancehead.cupy.cuda.device import Device
from lancehead.cupy.cuda.memory import (
    BaseMemory,
    ManagedMemory,
    Memory,
    MemoryPointer,
    MemoryPool,
    UnownedMemory,
    alloc,
    get_allocator,
    malloc_managed,
    set_allocator,
    using_allocator,
)
from lancehead.cupy.cuda.memory_hook import MemoryHook
from lancehead.cupy.cuda.pinned_memory import (
    PinnedMemory,
    PinnedMemoryPointer,
    PinnedMemoryPool,
    alloc_pinned_memory,
    set_pinned_memory_allocator,
)
from lancehead.cupy.cuda.stream import Event, ExternalStream, Stream, get_current_stream, get_elapsed_time
from lancehead.options import missing, public

#: Names that are not served, and why.
_REFUSED = {
    "Graph": "operations are compiled together without graphs of CUDA",
    "MemoryAsyncPool": "memory of a pool is there at once: MemoryPool",
    "PythonFunctionAllocator": "arrays get their memory from lancehead, whatever the allocator",
    "cublas": "products of matrices are those of linalg and matmul",
    "cufft": "transforms are those of fft",
    "curand": "random numbers are those of random",
    "cusolver": "solvers are those of linalg",
    "cusparse": "sparse matrices are those of sparse",
    "cutensor": "contractions are those of einsum",
    "nccl": "there is one device for a program",
    "nvrtc": "texts are compiled by lancehead: RawModule",
    "nvtx": "there is no profiler of NVIDIA for the CPU device",
    "texture": "there is no hardware for textures on the CPU device: read arrays, and interpolate in the kernel",
}


def is_available() -> bool:
    """Whether there is a device. Without a GPU it is the CPU device."""
    return runtime.getDeviceCount() > 0


def get_local_runtime_version() -> int:
    """The version of CUDA."""
    return runtime.runtimeGetVersion()


@contextmanager
def profile() -> Iterator[None]:
    """A block that profilers record."""
    profiler.start()
    try:
        yield
    finally:
        profiler.stop()


def __getattr__(name: str) -> object:
    if name == "null_stream":
        return Stream.null
    if name in _REFUSED:
        raise AttributeError(f"cupy.cuda.{name} is not served: {_REFUSED[name]}")
    raise missing(__name__, name)


__all__ = [
    "BaseMemory", "Device", "Event", "ExternalStream", "ManagedMemory", "Memory", "MemoryHook", "MemoryPointer",
    "MemoryPool", "PinnedMemory", "PinnedMemoryPointer", "PinnedMemoryPool", "Stream", "UnownedMemory", "alloc",
    "alloc_pinned_memory", "compiler", "device", "driver", "get_allocator", "get_current_stream", "get_elapsed_time",
    "get_local_runtime_version", "is_available", "malloc_managed", "memory", "memory_hook", "memory_hooks",
    "pinned_memory", "profile", "profiler", "runtime", "set_allocator", "set_pinned_memory_allocator", "stream",
    "using_allocator",
]  # fmt: skip
public(globals())
