"""Hooks that are told of memory that pools get and give."""

from __future__ import annotations

import threading
from typing import Any

from lancehead.options import public


class _Active(threading.local):
    def __init__(self) -> None:
        self.hooks: dict[str, MemoryHook] = {}


_ACTIVE = _Active()


class MemoryHook:
    """A hook that is told of memory of pools, in a `with` block of the thread. Its methods get facts by their names."""

    name = "MemoryHook"

    def __enter__(self) -> MemoryHook:
        if self.name in _ACTIVE.hooks:
            raise KeyError(f"memory hook {self.name} already exists")
        _ACTIVE.hooks[self.name] = self
        return self

    def __exit__(self, *error: Any) -> None:
        del _ACTIVE.hooks[self.name]

    def alloc_preprocess(self, **facts: Any) -> None:
        """Before a pool gets memory of the device."""

    def alloc_postprocess(self, **facts: Any) -> None:
        """After a pool got memory of the device."""

    def malloc_preprocess(self, **facts: Any) -> None:
        """Before a pool gives memory."""

    def malloc_postprocess(self, **facts: Any) -> None:
        """After a pool gave memory."""

    def free_preprocess(self, **facts: Any) -> None:
        """Before memory goes back to a pool."""

    def free_postprocess(self, **facts: Any) -> None:
        """After memory went back to a pool."""


def tell(what: str, **facts: Any) -> None:
    """Tells the hooks of this thread."""
    for hook in list(_ACTIVE.hooks.values()):
        getattr(hook, what)(**facts)


__all__ = ["MemoryHook"]
public(globals())
