"""Modules of `cupyx.scipy`: `special` over SciPy's functions, `sparse` over `lancehead.sparse`."""

from __future__ import annotations

import importlib
from typing import Any

from lancehead.cupy.creation import asnumpy
from lancehead.xp.arrays import ndarray


def get_array_module(*args: Any) -> Any:
    """This module if an argument is an array of the device, else SciPy."""
    is_ours = any(isinstance(x, ndarray) or hasattr(x, "__cuda_array_interface__") for x in args)
    return importlib.import_module("lancehead.cupyx.scipy" if is_ours else "scipy")


def __getattr__(name: str) -> Any:
    if name in ("special", "fft", "linalg", "ndimage", "signal", "stats"):
        return importlib.import_module(f"lancehead.cupyx.scipy.{name}")
    if name == "sparse":
        return importlib.import_module("lancehead.cupy.sparse")
    raise AttributeError(f"module 'lancehead.cupyx.scipy' has no attribute {name!r}")


__all__ = ["asnumpy", "get_array_module"]
__dir__ = __all__.copy
