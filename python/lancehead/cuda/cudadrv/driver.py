"""Errors and objects of the driver, and its functions on memory, which the CPU device copies as the host does."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from lancehead.cuda.devices import Context, Device
from lancehead.cuda.errors import CudaAPIError, CudaDriverError, CudaSupportError, LinkerError, UnsupportedError
from lancehead.cuda.gpu import CPU_INSTEAD, current_gpu, reach_of
from lancehead.cuda.memory import MemoryPointer
from lancehead.cuda.streams import Event, Stream, check
from lancehead.options import public

__all__ = [
    "Context", "CudaAPIError", "CudaDriverError", "CudaSupportError", "Device", "Event", "LinkerError", "MemoryPointer",
    "Stream", "device_ctypes_pointer", "device_memory_size", "device_memset", "device_pointer", "device_to_device",
    "device_to_host", "host_memory_extents", "host_memory_size", "host_pointer", "host_to_device", "is_device_memory",
    "memory_size_from_info", "require_device_memory",
]  # fmt: skip
public(globals())


def is_device_memory(obj: object) -> bool:
    """Whether an object is memory of a device."""
    return bool(getattr(obj, "__cuda_memory__", False))


def require_device_memory(obj: object) -> None:
    """Raises for what is no memory of a device."""
    if not is_device_memory(obj):
        raise Exception("Not a CUDA memory object.")


def device_ctypes_pointer(obj: Any) -> Any:
    """The address of memory of a device, for `ctypes`."""
    if obj is None:
        return ctypes.c_void_p(0)
    require_device_memory(obj)
    return obj.device_ctypes_pointer


def device_pointer(obj: Any) -> int:
    """The address of memory of a device."""
    return device_ctypes_pointer(obj).value or 0


def device_memory_size(devmem: Any) -> int:
    """Bytes of memory of a device."""
    require_device_memory(devmem)
    size: int = getattr(devmem, "alloc_size", devmem.size)
    return size


def _array(obj: Any) -> np.ndarray:
    return np.asarray(obj) if isinstance(obj, (np.ndarray, np.generic)) else np.frombuffer(obj, np.uint8)


def host_pointer(obj: Any, readonly: bool = False) -> int:
    """The address of an object of the host; a number is one."""
    if isinstance(obj, int):
        return obj
    address: int = obj.__array_interface__["data"][0] if isinstance(obj, np.generic) else _array(obj).ctypes.data
    return address


def host_memory_extents(obj: Any) -> tuple[int, int]:
    """The addresses of the first byte of an object and behind the last."""
    made = _array(obj)
    before, beyond = reach_of(made.shape, made.strides, made.itemsize)
    return made.ctypes.data - before, made.ctypes.data + beyond


def host_memory_size(obj: Any) -> int:
    """Bytes from the first to the last of an object."""
    first, end = host_memory_extents(obj)
    return end - first


def memory_size_from_info(shape: Any, strides: Any, itemsize: int) -> int:
    """Bytes from the first to the last of an array."""
    return sum(reach_of(tuple(shape), tuple(strides), itemsize))


def _move(to: int, source: int, size: int, stream: Any) -> None:
    check(stream)
    _on_cpu()
    ctypes.memmove(to, source, size)


def _on_cpu() -> None:
    if current_gpu() is not None:
        raise UnsupportedError(f"memory of a GPU is copied by copy_to_host and copy_to_device; {CPU_INSTEAD}")


def host_to_device(dst: Any, src: Any, size: int, stream: Any = 0) -> None:
    """Copies bytes of the host to memory of the device."""
    _move(device_pointer(dst), host_pointer(src, readonly=True), size, stream)


def device_to_host(dst: Any, src: Any, size: int, stream: Any = 0) -> None:
    """Copies bytes of memory of the device to the host."""
    _move(host_pointer(dst), device_pointer(src), size, stream)


def device_to_device(dst: Any, src: Any, size: int, stream: Any = 0) -> None:
    """Copies bytes within the memory of the device."""
    _move(device_pointer(dst), device_pointer(src), size, stream)


def device_memset(dst: Any, val: int, size: int, stream: Any = 0) -> None:
    """Sets bytes of memory of the device."""
    check(stream)
    _on_cpu()
    ctypes.memset(device_pointer(dst), val, size)
