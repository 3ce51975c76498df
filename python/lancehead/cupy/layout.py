"""Arrays of CuPy's interface as views of `lancehead.xp`, and their memory as arrays of NumPy with the same strides.

An array whose memory is not in row-major order is a view of one that is: of column-major order, its transpose.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from lancehead.xp import arrays as lazy
from lancehead.xp import devices
from lancehead.xp.graph import Node
from lancehead.xp.regions import compute


class _Current(threading.local):
    number = 0


#: The namespace with all functions, which methods of arrays and others call by name.
NAMESPACE: list[Any] = []
#: The device in use by this thread.
CURRENT = _Current()
_DEVICES: dict[int, devices.Device] = {}


def device() -> devices.Device:
    """The device on which arrays are made now."""
    number = CURRENT.number
    found = _DEVICES.get(number)
    if found is None:
        found = _DEVICES[number] = devices.as_device(f"cuda:{number}")
    return found


def shadow(x: lazy.ndarray) -> np.ndarray:
    """An array of NumPy with the extents and strides of an array, whose elements are not its."""
    return lazy._shadow(x.shape, x.dtype) if x._view is None else x._view.shadow


def _flat(node: Node) -> np.ndarray:
    if node.value is None:
        compute(node)
    value = node.value
    if hasattr(value, "copy_to_host"):
        value = value.copy_to_host() if devices.is_gpu(node.device) else value._data
    return np.asarray(value).reshape(-1)


def host(x: lazy.ndarray) -> np.ndarray:
    """The value with the strides of the array; of the CPU device its memory itself, which is not to be written to."""
    view = x._view
    if view is None:
        return _flat(x._node).reshape(x.shape)
    s = view.shadow
    if not s.size:
        return np.empty(s.shape, s.dtype)
    first = _flat(view.owner._node)[view.first() :]
    return as_strided(first, s.shape, s.strides)


def order_of(strides: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes from the slowest to the fastest one in memory."""
    return tuple(sorted(range(len(shape)), key=lambda k: (-abs(strides[k]), k)))


def inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    """The order of axes that undoes another one."""
    found = [0] * len(axes)
    for place, k in enumerate(axes):
        found[k] = place
    return tuple(found)


def transposed(x: lazy.ndarray, axes: tuple[int, ...]) -> lazy.ndarray:
    """A view with the axes in another order."""
    return x if axes == tuple(range(len(axes))) else x.view(lambda s: s.transpose(axes))


def placed(value: Any) -> lazy.ndarray:
    """An array of the current device with the value and the order of memory of an array of NumPy."""
    value = np.asarray(value)
    if value.ndim > 1 and not value.flags.c_contiguous and value.size:
        axes = order_of(value.strides, value.shape)
        dense = value.transpose(axes)
        if dense.flags.c_contiguous:
            return transposed(lazy.from_numpy(dense, device()), inverse(axes))
    return lazy.from_numpy(np.ascontiguousarray(value).reshape(value.shape), device())


def dense_order(x: lazy.ndarray, order: str) -> tuple[int, ...]:
    """The axes from the slowest one of a copy in an order of `C`, `F`, `A` or `K`."""
    n = x.ndim
    if n < 2 or order == "C" or (order in "AK" and x._view is None):
        return tuple(range(n))
    if order == "F":
        return tuple(range(n))[::-1]
    flags = shadow(x).flags
    if order == "A":
        return tuple(range(n))[::-1] if flags.f_contiguous and not flags.c_contiguous else tuple(range(n))
    if flags.c_contiguous:
        return tuple(range(n))
    # With elements of no size, NumPy itself says which order of axes a copy keeps.
    like = np.empty_like(as_strided(np.empty(1, np.int8), x.shape, shadow(x).strides))
    return order_of(like.strides, x.shape)


__all__ = ["CURRENT", "dense_order", "device", "host", "inverse", "order_of", "placed", "shadow", "transposed"]
