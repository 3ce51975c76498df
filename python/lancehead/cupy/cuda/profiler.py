"""Begin and end of what profilers record, which lancehead leaves to them."""

from __future__ import annotations

from lancehead.cupy.cuda import runtime
from lancehead.options import public


def start() -> None:
    """Begins a profile."""
    runtime.profilerStart()


def stop() -> None:
    """Ends a profile."""
    runtime.profilerStop()


__all__ = ["start", "stop"]
public(globals())
