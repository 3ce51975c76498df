"""Memory of devices: pointers, the pool as programs ask for it, hooks. Arrays get their memory from lancehead."""

from __future__ import annotations

import ctypes
import threading
import weakref
from typing import Any

import numpy as np

from lancehead.cupy import layout
from lancehead.xp import array as lazy
from lancehead.xp import devices

_UNIT = 512


class OutOfMemoryError(MemoryError):
    """There is not enough memory, or not within the limit of the pool."""


class UnownedMemory:
    """Memory that something else owns."""

    def __init__(self, ptr: int, size: int, owner: Any, device_id: int = -1) -> None:
        self.ptr, self.size, self._owner = ptr, size, owner
        #: The array that owns it, if one does.
        self.array: Any = None
        self.device_id = layout.CURRENT.number if device_id < 0 else device_id

    @property
    def device(self) -> Any:
        """Where it is."""
        from lancehead.cupy.cuda import Device

        return Device(self.device_id)


class Memory(UnownedMemory):
    """New memory of so many bytes."""

    def __init__(self, size: int) -> None:
        from lancehead import cuda

        made = cuda.device_array(max(size, 1), np.uint8)
        super().__init__(int(made.gpu_data.device_pointer) if size else 0, size, made)


class MemoryPointer:
    """A place in memory: `ptr` is the address, `mem` the memory."""

    def __init__(self, mem: Any, offset: int) -> None:
        self.mem, self.ptr = mem, mem.ptr + offset
        self.device_id = getattr(mem, "device_id", 0)

    @property
    def device(self) -> Any:
        """Where it is."""
        return self.mem.device

    def __int__(self) -> int:
        return int(self.ptr)

    def __add__(self, bytes: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + int(bytes))

    __radd__ = __add__

    def __iadd__(self, bytes: int) -> MemoryPointer:
        return self + bytes

    def __sub__(self, bytes: int) -> MemoryPointer:
        return self + -int(bytes)

    def __isub__(self, bytes: int) -> MemoryPointer:
        return self - bytes

    def array(self, shape: tuple[int, ...], dtype: Any, strides: Any = None, order: str = "C") -> np.ndarray:
        """A copy of the elements at the place, as an array of NumPy."""
        like = np.empty(shape, dtype, order) if strides is None else None  # type: ignore[call-overload]
        steps = like.strides if like is not None else strides
        count = sum((n - 1) * abs(s) for n, s in zip(shape, steps, strict=True)) + np.dtype(dtype).itemsize
        flat = self._bytes(count if 0 not in shape else 0)
        return np.array(np.ndarray(shape, dtype, flat, 0, steps), order="K") if flat.size else np.empty(shape, dtype)

    def _bytes(self, count: int) -> np.ndarray:
        found = np.empty(count, np.uint8)
        if count:
            self.copy_to_host(found.ctypes.data, count)
        return found

    def copy_to_host(self, mem: Any, size: int) -> None:
        """Copies bytes to an address of the host."""
        _move(_address(mem), self.ptr, size)

    def copy_from_host(self, mem: Any, size: int) -> None:
        """Copies bytes from an address of the host."""
        _move(self.ptr, _address(mem), size)

    def copy_from_device(self, src: Any, size: int) -> None:
        """Copies bytes of the device."""
        _move(self.ptr, int(src), size)

    def copy_from(self, mem: Any, size: int) -> None:
        """Copies bytes of the device or of the host."""
        _move(self.ptr, int(mem) if isinstance(mem, MemoryPointer) else _address(mem), size)

    def memset(self, value: int, size: int) -> None:
        """Sets bytes to a value."""
        _own(size)
        ctypes.memset(self.ptr, value, size)

    copy_to_host_async = copy_from_host_async = copy_from_device_async = copy_from_async = memset_async = None

    def __getattribute__(self, name: str) -> Any:
        # Copies of a stream are made at once, which is an order that it allows.
        if name.endswith("_async"):
            f = object.__getattribute__(self, name.removesuffix("_async"))
            return lambda *given, stream=None: f(*given[: f.__code__.co_argcount - 1])
        return object.__getattribute__(self, name)


def _address(mem: Any) -> int:
    return int(getattr(mem, "value", mem) or 0) if not hasattr(mem, "ptr") else int(mem.ptr)


def _own(size: int) -> None:
    if size and devices.is_gpu(layout.device()):
        raise NotImplementedError("memory of a GPU is copied by arrays: x.get() and x.set(a)")


def _move(to: int, source: int, size: int) -> None:
    _own(size)
    if size:
        ctypes.memmove(to, source, size)


def of_array(x: lazy.ndarray) -> MemoryPointer:
    """The memory of an array, computed and kept alive."""
    owner = x if x._view is None else x._view.owner
    there = owner._on_device()
    if not hasattr(there, "copy_to_host"):
        there = owner._node.value = devices.uploaded(np.asarray(there), layout.device())
    base = int(there.gpu_data.device_pointer)
    memory = UnownedMemory(base, there.nbytes, there)
    memory.array = owner
    first = 0 if x._view is None else x._view.first() * x.itemsize
    return MemoryPointer(memory, first if x.size else 0)


def memory_of(size: int) -> MemoryPointer:
    """New memory."""
    return MemoryPointer(Memory(size), 0)


class MemoryPool:
    """Counts the memory that was asked of it in units of 512 bytes; what is freed goes back to lancehead."""

    def __init__(self, allocator: Any = None) -> None:
        self._allocator = allocator or memory_of
        self._used = 0
        self._free = 0
        self._count = 0
        self._limit = 0
        self._lock = threading.RLock()

    def malloc(self, size: int) -> MemoryPointer:
        """New memory; OutOfMemoryError beyond the limit."""
        rounded = -(-size // _UNIT) * _UNIT
        with self._lock:
            reused = min(self._free, rounded) if self._free >= rounded else 0
            if self._limit and self._used + self._free - reused + rounded > self._limit:
                raise OutOfMemoryError(
                    f"Out of memory allocating {rounded:,} bytes (allocated so far: {self._used + self._free:,} bytes, "
                    f"limit set to: {self._limit:,} bytes)."
                )
            self._free -= reused
            self._used += rounded
        found = self._allocator(rounded)
        kept = UnownedMemory(found.ptr, rounded, found.mem)
        for hook in MemoryHook.active():
            hook.malloc_postprocess(device_id=kept.device_id, size=size, mem_size=rounded, mem_ptr=kept.ptr, pmem_id=0)
        weakref.finalize(kept, self._freed, rounded).atexit = False
        return MemoryPointer(kept, 0)

    def _freed(self, size: int) -> None:
        with self._lock:
            self._used -= size
            self._free += size
            self._count += bool(size)

    def free_all_blocks(self, stream: Any = None) -> None:
        """Gives back what is not in use."""
        self._free = self._count = 0

    def free_all_free(self) -> None:
        """As `free_all_blocks`."""
        self.free_all_blocks()

    def n_free_blocks(self) -> int:
        """Number of blocks that are not in use."""
        return self._count

    def used_bytes(self) -> int:
        """Bytes in use."""
        return self._used

    def free_bytes(self) -> int:
        """Bytes that are not in use."""
        return self._free

    def total_bytes(self) -> int:
        """Bytes of the pool."""
        return self._used + self._free

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Bytes, or a share of the device's memory, that the pool may have."""
        if size is not None and fraction is not None:
            raise ValueError("size and fraction cannot be specified at one time")
        if size is None:
            if fraction is None:
                fraction = 0.0
            if not 0 <= fraction <= 1:
                raise ValueError(f"memory limit fraction out of range: {fraction} should be in the range of [0, 1]")
            from lancehead.cupy.cuda import runtime

            size = int(fraction * runtime.memGetInfo()[1])
        if size < 0:
            raise ValueError(f"memory limit size out of range: {size} should be in the range of [0, +INF)")
        self._limit = size

    def get_limit(self) -> int:
        """Bytes that the pool may have; 0 for no limit."""
        return self._limit


def alloc_pinned_memory(size: int) -> Any:
    """Memory of the host for copies, as a buffer."""
    return _pinned_allocator[0](size)


class PinnedBuffer(np.ndarray):
    """Bytes of the host, with their address as `ptr`."""

    @property
    def ptr(self) -> int:
        """The address."""
        return int(self.ctypes.data)

    @property
    def mem(self) -> Any:
        """The memory itself."""
        return self


def _pinned(size: int) -> Any:
    return np.empty(size, np.uint8).view(PinnedBuffer)


class PinnedMemoryPool:
    """A pool of memory of the host."""

    def __init__(self, allocator: Any = None) -> None:
        self._allocator = allocator or _pinned

    def malloc(self, size: int) -> Any:
        """New memory, in a power of two of bytes."""
        return self._allocator(max(1 << (max(int(size), 1) - 1).bit_length(), _UNIT))

    def free_all_blocks(self) -> None:
        """Gives back what is not in use."""

    def free(self, mem: Any, size: int) -> None:
        """Gives memory back."""

    def n_free_blocks(self) -> int:
        """Number of blocks that are not in use."""
        return 0


_pinned_allocator: list[Any] = [_pinned]
_allocator: list[Any] = []


def set_pinned_memory_allocator(allocator: Any = None) -> None:
    """Sets the allocator of memory of the host."""
    _pinned_allocator[0] = allocator or _pinned


def get_allocator() -> Any:
    """The allocator of this thread."""
    return _allocator[-1] if _allocator else memory_of


def set_allocator(allocator: Any = None) -> None:
    """Sets the allocator of `alloc`. Arrays get theirs from lancehead."""
    _allocator[:] = [allocator or memory_of]


def alloc(size: int) -> MemoryPointer:
    """New memory of the current allocator."""
    found: MemoryPointer = get_allocator()(size)
    return found


class using_allocator:
    """A context in which an allocator is the current one."""

    def __init__(self, allocator: Any = None) -> None:
        self._now = allocator or memory_of

    def __enter__(self) -> None:
        _allocator.append(self._now)

    def __exit__(self, *error: Any) -> None:
        _allocator.pop()


def malloc_managed(size: int) -> MemoryPointer:
    """Memory that the host and devices reach."""
    return memory_of(size)


class MemoryHook:
    """A hook that is told of memory that a pool gives, in a `with` block."""

    name = "MemoryHook"
    _active: dict[str, MemoryHook] = {}

    @classmethod
    def active(cls) -> list[MemoryHook]:
        """Hooks whose block is entered."""
        return list(cls._active.values())

    def __enter__(self) -> MemoryHook:
        if self.name in self._active:
            raise KeyError(f"memory hook {self.name} already exists")
        self._active[self.name] = self
        return self

    def __exit__(self, *error: Any) -> None:
        del self._active[self.name]

    def alloc_preprocess(self, **facts: Any) -> None:
        """Before memory of the device is allocated."""

    def alloc_postprocess(self, **facts: Any) -> None:
        """After memory of the device was allocated."""

    def malloc_preprocess(self, **facts: Any) -> None:
        """Before a pool gives memory."""

    def malloc_postprocess(self, **facts: Any) -> None:
        """After a pool gave memory."""

    def free_preprocess(self, **facts: Any) -> None:
        """Before memory goes back to a pool."""

    def free_postprocess(self, **facts: Any) -> None:
        """After memory went back to a pool."""
