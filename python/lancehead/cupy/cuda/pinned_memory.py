"""Memory of the host for copies."""

from __future__ import annotations

from lancehead.cupy.cuda.memory import PinnedMemoryPool, alloc_pinned_memory, set_pinned_memory_allocator

__all__ = ["PinnedMemoryPool", "alloc_pinned_memory", "set_pinned_memory_allocator"]
