"""NVIDIA's mathematical functions by their own names; their code is in `lancehead/lib/cuda/libdevice.py`."""

from __future__ import annotations

from lancehead.cuda.names import Name

_KNOWN: dict[str, Name] = {}


def __getattr__(name: str) -> Name:
    if name.startswith("_"):
        raise AttributeError(name)
    return _KNOWN.setdefault(name, Name(f"cuda.libdevice.{name}"))
