"""Modules of `cupyx.scipy`: `special` over SciPy's functions, `sparse` over `lancehead.sparse`."""

from __future__ import annotations

import importlib
from typing import Any

from lancehead.cupy.creation import asnumpy
from lancehead.options import missing
from lancehead.xp.arrays import ndarray

#: Modules that are loaded when they are asked for.
_HOSTED = ("special", "fft", "linalg", "ndimage", "signal", "stats")


def get_array_module(*args: Any) -> Any:
    """This module if an argument is an array of the device, else SciPy."""
    is_ours = any(isinstance(x, ndarray) or hasattr(x, "__cuda_array_interface__") for x in args)
    return importlib.import_module("lancehead.cupyx.scipy" if is_ours else "scipy")


def __getattr__(name: str) -> Any:
    if name in _HOSTED:
        return importlib.import_module(f"lancehead.cupyx.scipy.{name}")
    if name == "sparse":
        return importlib.import_module("lancehead.cupy.sparse")
    raise missing(__name__, name)


__all__ = ["asnumpy", "get_array_module"]


def __dir__() -> list[str]:
    return [*__all__, *_HOSTED, "sparse"]
