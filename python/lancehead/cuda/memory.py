"""Memory of the CPU device, and what counts how much of it waits to be freed."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lancehead import config
from lancehead.cuda.errors import CudaAPIError


class Freed:
    """The replacement of freed memory: any use of it is an error, as on a GPU."""

    def __getattr__(self, name: str) -> Any:
        raise CudaAPIError(1, "the memory was freed: CUDA_ERROR_INVALID_VALUE")

    def __getitem__(self, item: Any) -> Any:
        return self.data

    def __setitem__(self, item: Any, value: Any) -> None:
        self.data  # noqa: B018

    def __len__(self) -> int:
        return len(self.data)


class MemoryPointer:
    """Memory of a device: that of an array, of an allocation, or of another library."""

    __cuda_memory__ = True
    is_managed = False

    def __init__(
        self, context: Any, pointer: Any, size: int, owner: Any = None, finalizer: Callable[[], Any] | None = None,
        kept: Any = None,
    ) -> None:  # fmt: skip
        self.context, self.size = context, size
        self.device_pointer_value: int | None = getattr(pointer, "value", pointer) or None
        self._owner, self._kept = owner, kept
        # By identity: views of the same bytes are equal.
        self._views: weakref.WeakValueDictionary[int, MemoryPointer] = weakref.WeakValueDictionary()
        self._finalizer = None if finalizer is None else weakref.finalize(self, finalizer)

    @property
    def owner(self) -> Any:
        """The memory that this is a view of, or itself."""
        return self if self._owner is None else self._owner

    @property
    def device_pointer(self) -> int:
        """Address of the first element; 0 if there is none."""
        return self.device_pointer_value or 0

    handle = device_pointer

    @property
    def device_ctypes_pointer(self) -> ctypes.c_size_t:
        """The address for `ctypes`."""
        return ctypes.c_size_t(self.device_pointer)

    @property
    def refct(self) -> int:
        """How many use the memory: its owner and the views of it."""
        return 1 + len(self.owner._views)

    def view(self, start: int, stop: int | None = None) -> MemoryPointer:
        """A part of the memory, by bytes, which keeps it alive."""
        size = (self.size if stop is None else stop) - start
        if size < 0:
            raise RuntimeError("size cannot be negative")
        made = MemoryPointer(self.context, self.device_pointer + start, size, self.owner)
        self.owner._views[id(made)] = made
        return made

    def own(self) -> MemoryPointer:
        """All of the memory as a view."""
        return self.view(0)

    def __int__(self) -> int:
        return self.device_pointer

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemoryPointer) and (self.device_pointer, self.size) == (
            other.device_pointer,
            other.size,
        )

    def __hash__(self) -> int:
        return hash(self.device_pointer)

    def get_ipc_handle(self) -> Any:
        """Refused, as an array's own."""
        return self._kept.get_ipc_handle()

    def free(self) -> None:
        """Frees the array: what uses it after that raises CudaAPIError. Arrays over the same memory go on."""
        if self._finalizer is not None:
            self._finalizer()
        if hasattr(self._kept, "_free"):
            self._kept._free()
        self._kept = None


class HostMemory(np.ndarray):
    """Bytes of the host that the device uses, too."""

    __cuda_memory__ = True
    is_managed = False

    @property
    def device_pointer(self) -> int:
        """Address of the first byte."""
        return self.ctypes.data

    @property
    def device_ctypes_pointer(self) -> ctypes.c_size_t:
        """The address for `ctypes`."""
        return ctypes.c_size_t(self.device_pointer)


class Deallocations:
    """Freed memory that may still be in use. The CPU device frees memory at once; the count is kept as on a GPU."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._sizes: list[int] = []
        self._deferred = 0

    def __len__(self) -> int:
        return len(self._sizes)

    @property
    def _size(self) -> int:
        return sum(self._sizes)

    @property
    def _max_pending_bytes(self) -> int:
        return int(self._total * config.CUDA_DEALLOCS_RATIO)

    def add(self, size: int) -> None:
        """Notes that so many bytes were freed."""
        self._sizes.append(size)
        if len(self._sizes) > config.CUDA_DEALLOCS_COUNT or self._size > self._max_pending_bytes:
            self.clear()

    def clear(self) -> None:
        """Forgets what was freed, unless that is deferred."""
        if not self._deferred:
            self._sizes.clear()

    @contextmanager
    def disable(self) -> Iterator[None]:
        """Defers it during the block."""
        self._deferred += 1
        try:
            yield
        finally:
            self._deferred -= 1


class MemoryManager:
    """The manager of a context's memory, as far as programs use it."""

    def __init__(self, total: int) -> None:
        self.deallocations = Deallocations(total)

    @contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        """Memory is freed after the block at the earliest."""
        with self.deallocations.disable():
            yield


def allocate(shape: Any, dtype: np.dtype, order: Any = "C", deallocations: Deallocations | None = None) -> np.ndarray:
    """A new array in the memory of the device."""
    made = np.empty(shape, dtype, order)
    if deallocations is not None and made.nbytes:
        owner = made if made.base is None else made.base
        weakref.finalize(owner, deallocations.add, made.nbytes).atexit = False
    return made


class Foreign:
    """Memory of another library's array, as NumPy takes it."""

    def __init__(self, interface: dict[str, Any], owner: Any) -> None:
        self.__array_interface__ = interface
        self.owner = owner


def over(interface: dict[str, Any], owner: Any) -> np.ndarray:
    """An array over the memory that a `__cuda_array_interface__` describes."""
    if interface.get("mask") is not None:
        raise NotImplementedError("Masked arrays are not supported")
    if not 0 <= interface.get("version", 0) <= 3:
        raise NotImplementedError(f"__cuda_array_interface__ version {interface['version']} is not supported")
    kept = {k: interface[k] for k in ("shape", "typestr", "data", "strides", "descr") if interface.get(k) is not None}
    if 0 in interface["shape"]:
        return np.empty(interface["shape"], dtype_of(interface))
    return np.asarray(Foreign({**kept, "version": 3}, owner))


def dtype_of(interface: dict[str, Any]) -> np.dtype:
    """The type of the elements."""
    descr = interface.get("descr")
    found: np.dtype = np.dtype(descr if descr and descr[0][0] else interface["typestr"])
    return found


def interface_of(data: np.ndarray, stream: int | None) -> dict[str, Any]:
    """The description of device memory for other libraries; addresses are the device's, the host's where that is the
    CPU. The stream is the one that others have to wait for, by its number in the protocol, or None."""
    made = dict(data.__array_interface__)
    if not data.size:
        made["data"] = (0, made["data"][1])
    return {**made, "stream": stream, "version": 3}
