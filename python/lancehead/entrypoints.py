"""Packages that extend Numba register what they have before the first compilation, by entry points of
`numba_extensions`."""

from __future__ import annotations

import importlib.metadata
from typing import Any

from lancehead import errors
from lancehead.notices import tell

_initialised = False


def init_all() -> None:
    """Calls the entry points `init` of the group `numba_extensions`, once in a process. One that fails is told by a
    warning."""
    global _initialised
    if _initialised:
        return
    _initialised = True
    found: Any = importlib.metadata.entry_points()
    for entry in found.select(group="numba_extensions", name="init"):
        try:
            entry.load()()
        except Exception as error:
            text = f"Numba extension module {entry.value.split(':')[0]!r} failed to load due to '{error!r}'."
            tell(errors.NumbaWarning(text))


__all__ = ["init_all"]
