"""Hooks of memory."""

from __future__ import annotations

from lancehead.cupy.cuda.memory import MemoryHook

__all__ = ["MemoryHook"]
