"""Memory of devices: pointers, pools as programs ask for them, allocators. Arrays get their memory from lancehead."""

from __future__ import annotations

import ctypes
import sys
import threading
import warnings
from typing import Any

import numpy as np

from lancehead.cupy import layout
from lancehead.cupy.cuda import memory_hook, runtime
from lancehead.cupy.cuda.pools import UNIT, Block, Blocks
from lancehead.cupy.hosted import wrap
from lancehead.options import public
from lancehead.xp import arrays as lazy
from lancehead.xp import devices
from lancehead.xp.graph import leaf


class OutOfMemoryError(MemoryError):
    """There is not enough memory, or not within the limit of the pool."""

    def __init__(self, size: int, total: int, limit: int = 0) -> None:
        more = f", limit set to: {limit:,} bytes" if limit else ""
        super().__init__(f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes{more}).")
        self._size, self._total, self._limit = size, total, limit

    def __reduce__(self) -> Any:
        return OutOfMemoryError, (self._size, self._total, self._limit)


class BaseMemory:
    """Memory of a device: its address `ptr`, its `size` in bytes, and the number of the device."""

    ptr = 0
    size = 0
    device_id = 0
    #: The array that owns it, or reads and writes it, if there is one.
    array: Any = None
    #: The bytes, as an array of the device; later the same as elements of the array's type.
    _raw: Any = None

    @property
    def device(self) -> Any:
        """Where it is."""
        from lancehead.cupy.cuda import Device

        return Device(self.device_id)

    def typed(self, dtype: np.dtype[Any] | None) -> Any:
        """The array that reads and writes the memory, of a type if it is new; None if there can be none."""
        if self.array is None and self._raw is not None:
            itemsize = 1 if dtype is None else dtype.itemsize
            whole = self._raw[: self._raw.size // itemsize * itemsize]
            self._raw = whole if dtype is None else whole.view(dtype)
            self.array = wrap(lazy.ndarray(leaf(self._raw, layout.device())))
        return self.array


class UnownedMemory(BaseMemory):
    """Memory that something else owns."""

    def __init__(self, ptr: int, size: int, owner: Any, device_id: int = -1) -> None:
        self.ptr, self.size, self._owner = ptr, size, owner
        self.device_id = layout.CURRENT.number if device_id < 0 else device_id

    def typed(self, dtype: np.dtype[Any] | None) -> Any:
        """The array of the owner, if it has just this memory."""
        if self.array is None and isinstance(self._owner, MemoryPointer) and self._owner.mem.ptr == self.ptr:
            self.array = self._owner.mem.typed(dtype)
        return self.array


class Memory(BaseMemory):
    """New memory of so many bytes."""

    def __init__(self, size: int) -> None:
        from lancehead import cuda

        self._raw = cuda.device_array(max(size, 1), np.uint8)
        self.ptr = int(self._raw.gpu_data.device_pointer) if size else 0
        self.size, self.device_id = size, layout.CURRENT.number


class PooledMemory(BaseMemory):
    """Memory of a pool, which goes back to it."""

    def __init__(self, pool: MemoryPool, block: Block) -> None:
        self.ptr, self.size, self.device_id = block.ptr, block.size, block.mem.device_id
        raw = block.mem._raw
        self._raw = None if raw is None else raw[block.offset : block.offset + block.size]
        self._pool, self._block = pool, block

    def free(self) -> None:
        """Gives it back, once. Memory that arrays still have stays theirs, and leaves the pool."""
        block, self._block = self._block, None  # type: ignore[assignment]
        if block is None:
            return
        facts = {"device_id": self.device_id, "mem_size": self.size, "mem_ptr": self.ptr, "pmem_id": id(self)}
        memory_hook.tell("free_preprocess", **facts)
        self.array, raw, self._raw = None, self._raw, None
        self._pool._give_back(block, raw is not None and sys.getrefcount(raw) > _OWN)
        memory_hook.tell("free_postprocess", **facts)

    def __del__(self) -> None:
        self.free()


#: References to memory that only a function's variable holds, as `sys.getrefcount` counts them.
_OWN = 2


class MemoryPointer:
    """A place in memory: `ptr` is the address, `mem` the memory."""

    def __init__(self, mem: Any, offset: int) -> None:
        self.mem, self.ptr = mem, mem.ptr + offset
        self.device_id = mem.device_id

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

    def _place(self, writes: bool) -> int:
        # The address now: an array that owns the memory may have got a new one, and operations that were written before
        # a change still read the old values.
        owner = self.mem.array
        if owner is None:
            return int(self.ptr)
        from lancehead.cupy import arguments

        now: int = arguments.memory(owner, writes).gpu_data.device_pointer
        return now + int(self.ptr - self.mem.ptr)

    def copy_to_host(self, mem: Any, size: int) -> None:
        """Copies bytes to an address of the host."""
        move(_address(mem), self._place(False), size)

    def copy_from_host(self, mem: Any, size: int) -> None:
        """Copies bytes from an address of the host."""
        move(self._place(True), _address(mem), size)

    def copy_from_device(self, src: Any, size: int) -> None:
        """Copies bytes of the device."""
        self.copy_from(src, size)

    def copy_from(self, mem: Any, size: int) -> None:
        """Copies bytes of the device or of the host."""
        source = mem._place(False) if isinstance(mem, MemoryPointer) else _address(mem)
        move(self._place(True), source, size)

    def memset(self, value: int, size: int) -> None:
        """Sets bytes to a value."""
        fill(self._place(True), value, size)

    # Copies of a stream are made at once, which is an order that it allows.
    def copy_to_host_async(self, mem: Any, size: int, stream: Any = None) -> None:
        """Copies bytes to an address of the host."""
        self.copy_to_host(mem, size)

    def copy_from_host_async(self, mem: Any, size: int, stream: Any = None) -> None:
        """Copies bytes from an address of the host."""
        self.copy_from(mem, size)

    def copy_from_device_async(self, src: Any, size: int, stream: Any = None) -> None:
        """Copies bytes of the device."""
        self.copy_from(src, size)

    def copy_from_async(self, mem: Any, size: int, stream: Any = None) -> None:
        """Copies bytes of the device or of the host."""
        self.copy_from(mem, size)

    def memset_async(self, value: int, size: int, stream: Any = None) -> None:
        """Sets bytes to a value."""
        self.memset(value, size)


def _address(mem: Any) -> int:
    return int(getattr(mem, "value", mem) or 0) if not hasattr(mem, "ptr") else int(mem.ptr)


def _own(size: int) -> None:
    if size and devices.is_gpu(layout.device()):
        raise NotImplementedError("memory of a GPU is copied by arrays: x.get() and x.set(a)")


def move(to: int, source: int, size: int) -> None:
    """Copies bytes between addresses."""
    _own(size)
    if size:
        ctypes.memmove(to, source, size)


def fill(to: int, value: int, size: int) -> None:
    """Sets bytes at an address to a value."""
    _own(size)
    if size:
        ctypes.memset(to, value, size)


def of_array(x: lazy.ndarray) -> MemoryPointer:
    """The memory of an array, computed and kept alive."""
    owner = x if x._view is None else x._view.owner
    there = owner._on_device()
    if not hasattr(there, "copy_to_host"):
        there = owner._node.value = devices.uploaded(np.asarray(there), layout.device())
    memory = UnownedMemory(int(there.gpu_data.device_pointer), there.nbytes, there)
    memory.array = owner
    first = 0 if x._view is None else x._view.first() * x.itemsize
    return MemoryPointer(memory, first if x.size else 0)


def memory_of(size: int) -> MemoryPointer:
    """New memory."""
    return MemoryPointer(Memory(size), 0)


class ManagedMemory(Memory):
    """Memory that the host and devices reach, where it is."""

    def prefetch(self, stream: Any = None, *, device_id: int = -1) -> None:
        """Asks for the memory to be moved to a device, which it need not be."""
        runtime.check(max(device_id, 0))

    def advise(self, advise: int, device: Any) -> None:
        """Says how the memory will be used, by a number of 1 to 6."""
        if not 1 <= advise <= 6:
            raise runtime.CUDARuntimeError(1)


def malloc_managed(size: int) -> MemoryPointer:
    """Memory that the host and devices reach."""
    return MemoryPointer(ManagedMemory(size), 0)


class MemoryPool:
    """Keeps memory that was freed for the next one who asks, by devices and streams, in units of 512 bytes."""

    def __init__(self, allocator: Any = None) -> None:
        self._allocator = allocator or memory_of
        self._devices: dict[int, Blocks] = {}
        # Memory may be freed by the collector while the pool is at work: then it waits.
        self._waiting: list[tuple[Block, bool]] = []
        self._lock = threading.Lock()

    def _blocks(self) -> Blocks:
        # Those of the current device, with all that was freed.
        found = self._devices.setdefault(layout.CURRENT.number, Blocks())
        while self._waiting:
            block, is_kept = self._waiting.pop()
            of = self._devices[block.mem.device_id] if block.mem.device_id in self._devices else found
            if is_kept:
                of.leave(block)
            else:
                of.free(block)
        return found

    def malloc(self, size: int) -> MemoryPointer:
        """New memory; OutOfMemoryError beyond the limit."""
        from lancehead.cupy.cuda import stream

        rounded = -(-size // UNIT) * UNIT
        if not rounded:
            return MemoryPointer(Memory(0), 0)
        facts = {"device_id": layout.CURRENT.number, "size": size, "mem_size": rounded}
        memory_hook.tell("malloc_preprocess", **facts)
        queue = stream.get_current_stream().ptr
        with self._lock:
            blocks = self._blocks()
            block = blocks.take(rounded, queue)
            if block is None and not blocks.has_room(rounded):
                blocks.release(queue)
                if not blocks.has_room(rounded):
                    raise OutOfMemoryError(rounded, blocks.total, blocks.limit)
        if block is None:
            block = self._new(rounded, queue)
        found = PooledMemory(self, block)
        memory_hook.tell("malloc_postprocess", mem_ptr=found.ptr, pmem_id=id(found), **facts)
        return MemoryPointer(found, 0)

    def _new(self, size: int, queue: int) -> Block:
        facts = {"device_id": layout.CURRENT.number, "mem_size": size}
        memory_hook.tell("alloc_preprocess", **facts)
        try:
            mem = self._allocator(size).mem
        except MemoryError:
            self.free_all_blocks()
            mem = self._allocator(size).mem
        memory_hook.tell("alloc_postprocess", mem_ptr=mem.ptr, **facts)
        with self._lock:
            self._blocks().total += size
        return Block(mem, 0, size, queue)

    def _give_back(self, block: Block, is_kept: bool) -> None:
        self._waiting.append((block, is_kept))
        if self._lock.acquire(blocking=False):
            try:
                self._blocks()
            finally:
                self._lock.release()

    def free_all_blocks(self, stream: Any = None) -> None:
        """Gives back what is not in use, of all streams or one."""
        with self._lock:
            self._blocks().release(None if stream is None else stream.ptr)

    def free_all_free(self) -> None:
        """As `free_all_blocks`, by an old name."""
        warnings.warn("free_all_free is deprecated: free_all_blocks does the same", DeprecationWarning, stacklevel=2)
        self.free_all_blocks()

    def n_free_blocks(self) -> int:
        """Number of blocks that are not in use."""
        with self._lock:
            return self._blocks().count()

    def used_bytes(self) -> int:
        """Bytes in use."""
        with self._lock:
            blocks = self._blocks()
            return blocks.total - blocks.unused

    def free_bytes(self) -> int:
        """Bytes that are not in use."""
        with self._lock:
            return self._blocks().unused

    def total_bytes(self) -> int:
        """Bytes of the pool."""
        with self._lock:
            return self._blocks().total

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Bytes, or a share of the device's memory, that the pool may have."""
        if size is not None and fraction is not None:
            raise ValueError("size and fraction cannot be specified at one time")
        if size is None:
            if fraction is None:
                fraction = 0.0
            if not 0 <= fraction <= 1:
                raise ValueError(f"memory limit fraction out of range: {fraction} should be in the range of [0, 1]")
            size = int(fraction * runtime.memGetInfo()[1])
        if size < 0:
            raise ValueError(f"memory limit size out of range: {size} should be in the range of [0, +INF)")
        with self._lock:
            self._blocks().limit = size

    def get_limit(self) -> int:
        """Bytes that the pool may have; 0 for no limit."""
        with self._lock:
            return self._blocks().limit


class _Allocators(threading.local):
    def __init__(self) -> None:
        self.entered: list[Any] = []


_ALLOCATORS = _Allocators()
_allocator: list[Any] = [memory_of]


def get_allocator() -> Any:
    """The allocator of this thread."""
    return _ALLOCATORS.entered[-1] if _ALLOCATORS.entered else _allocator[0]


def set_allocator(allocator: Any = None) -> None:
    """Sets the allocator of `alloc`, not in `using_allocator`. Arrays get theirs from lancehead."""
    if _ALLOCATORS.entered:
        raise ValueError("Can't change the global allocator inside `using_allocator` context manager")
    _allocator[0] = allocator or memory_of


def alloc(size: int) -> MemoryPointer:
    """New memory of the current allocator."""
    found: MemoryPointer = get_allocator()(size)
    return found


class using_allocator:
    """A context in which an allocator is the current one of the thread."""

    def __init__(self, allocator: Any = None) -> None:
        self._now = allocator or memory_of

    def __enter__(self) -> None:
        _ALLOCATORS.entered.append(self._now)

    def __exit__(self, *error: Any) -> None:
        _ALLOCATORS.entered.pop()


__all__ = [
    "BaseMemory", "ManagedMemory", "Memory", "MemoryPointer", "MemoryPool", "OutOfMemoryError", "PooledMemory",
    "UnownedMemory", "alloc",
    "get_allocator", "malloc_managed", "set_allocator", "using_allocator",
]  # fmt: skip
public(globals())
