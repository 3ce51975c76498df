"""Memory of the host for copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead.options import public

_UNIT = 512


class PinnedMemory:
    """Memory of the host: its address `ptr` and its `size` in bytes."""

    array: Any = None

    def __init__(self, size: int, flags: int = 0) -> None:
        self.size = size
        self.array = np.empty(size, np.uint8)
        self.ptr = int(self.array.ctypes.data) if size else 0


class PooledPinnedMemory(PinnedMemory):
    """Memory of a pool, which goes back to it."""

    def __init__(self, pool: PinnedMemoryPool, mem: Any, size: int) -> None:
        self.size, self.ptr, self.array = size, mem.ptr, mem.array
        self._pool, self._mem = pool, mem

    def free(self) -> None:
        """Gives it back, once."""
        mem, self._mem = self._mem, None
        if mem is not None:
            self._pool.free(mem, self.size)

    def __del__(self) -> None:
        self.free()


class PinnedMemoryPointer(np.ndarray):
    """A place in memory of the host, as a buffer from there on: `ptr` is the address, `mem` the memory."""

    mem: Any
    ptr: int

    def __new__(cls, mem: Any, offset: int) -> PinnedMemoryPointer:
        there = np.empty(0, np.uint8) if mem.array is None else mem.array[offset:]
        self: PinnedMemoryPointer = there.view(cls)
        self.mem, self.ptr = mem, mem.ptr + offset
        return self

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, offset: Any) -> Any:
        return PinnedMemoryPointer(self.mem, self.ptr - self.mem.ptr + int(offset))

    __radd__ = __iadd__ = __add__

    def __sub__(self, offset: Any) -> Any:
        return self + -int(offset)

    __isub__ = __sub__


def new(size: int) -> PinnedMemoryPointer:
    """New memory of the host."""
    return PinnedMemoryPointer(PinnedMemory(size), 0)


class PinnedMemoryPool:
    """Keeps memory of the host that was freed for the next one who asks."""

    def __init__(self, allocator: Any = None) -> None:
        self._allocator = allocator or new
        self._free: dict[int, list[Any]] = {}

    def malloc(self, size: int) -> Any:
        """New memory, in a power of two of bytes."""
        if not size:
            return PinnedMemoryPointer(PinnedMemory(0), 0)
        rounded = max(1 << (int(size) - 1).bit_length(), _UNIT)
        known = self._free.get(rounded)
        mem = known.pop() if known else self._allocator(rounded).mem
        return PinnedMemoryPointer(PooledPinnedMemory(self, mem, rounded), 0)

    def free(self, mem: Any, size: int) -> None:
        """Takes memory back."""
        self._free.setdefault(size, []).append(mem)

    def free_all_blocks(self) -> None:
        """Gives back what is not in use."""
        self._free.clear()

    def n_free_blocks(self) -> int:
        """Number of blocks that are not in use."""
        return sum(map(len, self._free.values()))


_allocator: list[Any] = [new]


def set_pinned_memory_allocator(allocator: Any = None) -> None:
    """Sets the allocator of memory of the host."""
    _allocator[0] = allocator or new


def alloc_pinned_memory(size: int) -> Any:
    """Memory of the host for copies, as a buffer."""
    return _allocator[0](size)


__all__ = [
    "PinnedMemory", "PinnedMemoryPointer", "PinnedMemoryPool", "PooledPinnedMemory", "alloc_pinned_memory",
    "set_pinned_memory_allocator",
]  # fmt: skip
public(globals())
