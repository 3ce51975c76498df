"""Names beside CuPy's: scatters, kernels in Python (`jit` is `lancehead.cuda.jit`), pinned arrays."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from lancehead.cupy import indexing
from lancehead.cupy.cuda import alloc_pinned_memory
from lancehead.options import missing


def scatter_add(a: Any, slices: Any, value: Any) -> None:
    """Adds values to elements of an array, which may be there several times."""
    indexing.scatter(a, slices, value, "add")


def scatter_max(a: Any, slices: Any, value: Any) -> None:
    """The greater one of elements and values, of elements that may be there several times."""
    indexing.scatter(a, slices, value, "maximum")


def scatter_min(a: Any, slices: Any, value: Any) -> None:
    """The lesser one of elements and values, of elements that may be there several times."""
    indexing.scatter(a, slices, value, "minimum")


def rsqrt(x: Any) -> Any:
    """One divided by the root of each element."""
    from lancehead import cupy

    return cupy.reciprocal(cupy.sqrt(x))


def empty_pinned(shape: Any, dtype: Any = float, order: Any = "C") -> np.ndarray:
    """An array of NumPy in memory for copies."""
    count = int(np.prod(shape))
    memory = alloc_pinned_memory(max(count * np.dtype(dtype).itemsize, 1))
    return np.frombuffer(memory, dtype, count).reshape(shape, order=order)


def zeros_pinned(shape: Any, dtype: Any = float, order: Any = "C") -> np.ndarray:
    """Zeros in memory for copies."""
    found = empty_pinned(shape, dtype, order)
    found[...] = 0
    return found


def empty_like_pinned(a: Any, dtype: Any = None) -> np.ndarray:
    """An array of NumPy of the shape and type of another one, in memory for copies."""
    return empty_pinned(a.shape, a.dtype if dtype is None else dtype)


def zeros_like_pinned(a: Any, dtype: Any = None) -> np.ndarray:
    """Zeros of the shape and type of an array, in memory for copies."""
    return zeros_pinned(a.shape, a.dtype if dtype is None else dtype)


def __getattr__(name: str) -> Any:
    if name in ("jit", "scipy"):
        return importlib.import_module(f"lancehead.cupyx.{name}")
    raise missing(__name__, name)


__all__ = [
    "empty_like_pinned", "empty_pinned", "rsqrt", "scatter_add", "scatter_max", "scatter_min", "zeros_like_pinned",
    "zeros_pinned",
]  # fmt: skip


def __dir__() -> list[str]:
    return [*__all__, "jit", "scipy"]
