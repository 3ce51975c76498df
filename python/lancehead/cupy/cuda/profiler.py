"""Begin and end of what profilers record, which lancehead leaves to them."""

from __future__ import annotations

from lancehead.cupy.cuda import runtime


def start() -> None:
    """Begins a profile."""
    runtime.profilerStart()


def stop() -> None:
    """Ends a profile."""
    runtime.profilerStop()


__all__ = ["start", "stop"]
__dir__ = __all__.copy
