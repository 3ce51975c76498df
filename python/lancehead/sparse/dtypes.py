"""Types of values and of indices, as SciPy's sparse arrays choose them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

#: Types of values, in the order in which sums of several types look for one that holds all.
SUPPORTED = tuple(np.dtype(t) for t in "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 f4 f8 c8 c16".split())
_SUPPORTED = frozenset(SUPPORTED)
_INT32_MAX = np.iinfo(np.int32).max
_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)
#: Types by which values are moved, by their sizes: one compiled loop for all of a size.
_CARRIERS = {1: np.dtype("u1"), 2: np.dtype("u2"), 4: np.dtype("u4"), 8: np.dtype("u8"), 16: np.dtype("c16")}


def supported(dtype: Any) -> np.dtype[Any]:
    """A dtype of sparse arrays, in the machine's byte order.

    Raises:
        ValueError: there are no sparse arrays of it.
    """
    found: np.dtype[Any] = np.dtype(dtype).newbyteorder("=")
    if found not in _SUPPORTED:
        names = ", ".join(t.name for t in SUPPORTED)
        raise ValueError(f"lancehead.sparse does not support dtype {found}. The only supported types are: {names}.")
    return found


def values(x: Any, dtype: Any = None, copy: bool = False) -> np.ndarray[Any, Any]:
    """Values as a contiguous array of a type that is supported."""
    # Large integers in lists would become floats.
    given = np.asarray(x, None if dtype is None or hasattr(x, "dtype") else supported(dtype))
    wanted = supported(given.dtype if dtype is None else dtype)
    out = np.ascontiguousarray(given, dtype=wanted)
    return out.copy() if copy and np.shares_memory(out, given) else out.reshape(given.shape)


def joined(*dtypes: Any) -> np.dtype[Any]:
    """The type in which values of several types meet."""
    found = np.result_type(*dtypes)
    for t in SUPPORTED:
        if np.can_cast(found, t):
            return t
    raise TypeError(f"no supported conversion for types: {tuple(np.dtype(t) for t in dtypes)}")


def index_dtype(arrays: Iterable[np.ndarray[Any, Any]] = (), largest: int = 0) -> np.dtype[Any]:
    """32 bits for indices if these arrays have no more and the largest one fits; else 64."""
    if largest > _INT32_MAX:
        return _INT64
    return _INT32 if all(np.can_cast(a.dtype, _INT32) for a in arrays) else _INT64


def indices(x: Any, dtype: np.dtype[Any], copy: bool = False) -> np.ndarray[Any, Any]:
    """Indices as a contiguous array of a type.

    Raises:
        ValueError: a number does not fit.
    """
    given = np.asarray(x)
    if given.dtype.kind == "u" and given.size and int(given.max()) > np.iinfo(dtype).max:
        raise ValueError("index values are too large")
    out = np.ascontiguousarray(given, dtype=dtype)
    return out.copy() if copy and np.shares_memory(out, given) else out.reshape(given.shape)


def carried(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Values as numbers of the same size, which loops move without looking at them."""
    return a.view(_CARRIERS[a.dtype.itemsize])


def sum_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of sums of values of a type."""
    if dtype.kind == "u" and np.can_cast(dtype, np.uint):
        return np.dtype(np.uint)
    return np.dtype(np.int_) if np.can_cast(dtype, np.int_) else dtype
