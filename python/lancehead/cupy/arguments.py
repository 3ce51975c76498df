"""Arrays as arguments of kernels that work on memory itself."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from lancehead.cuda.devicearray import DeviceNDArray
from lancehead.cuda.gpu import current_gpu, here
from lancehead.cupy import layout
from lancehead.xp import array as lazy
from lancehead.xp import devices
from lancehead.xp.graph import leaf
from lancehead.xp.regions import compute

#: References to a node that only its array holds, as `sys.getrefcount` counts them below.
_OWN = 3


def memory(x: lazy.ndarray, writes: bool) -> Any:
    """The device array of an array that owns its memory. Memory that a kernel changes is no one else's."""
    node = x._node
    if node.value is None:
        compute(node)
    value = node.value
    if not hasattr(value, "copy_to_host"):
        value = devices.uploaded(np.asarray(value), layout.device())
        node.value = value
    if writes:
        # Operations that were written before read the old values, wherever they are still held.
        if sys.getrefcount(node) > _OWN:
            value = devices.uploaded(value, layout.device())
        x._node = leaf(value, node.device or layout.device())
    return value


def new(shape: Any, dtype: np.dtype[Any]) -> Any:
    """New memory of the current device, of unknown values."""
    if here.gpu is None and current_gpu() is None:
        # As `device_array` does, which also counts what is freed.
        return DeviceNDArray(np.empty(shape, dtype))
    from lancehead import cuda

    return cuda.device_array(shape, dtype)


def flat(value: Any) -> Any:
    """A device array in one dimension."""
    data = value._data
    if data.ndim == 1:
        return value
    if type(value) is not DeviceNDArray:
        return value.reshape((value.size,))
    # It lives as long as a launch, so the context need not know it.
    found = object.__new__(DeviceNDArray)
    found._data, found.stream = data.reshape(-1), value.stream
    return found


def pointed(x: lazy.ndarray, dtype: np.dtype[Any] | None, writes: bool) -> Any:
    """The memory of an array from its first element on, as elements of a type."""
    view = x._view
    found = flat(memory(x if view is None else view.owner, writes))
    if view is not None and view.first():
        found = found[view.first() :]
    if dtype is not None and found.dtype != dtype:
        whole = found.size * found.dtype.itemsize // dtype.itemsize * dtype.itemsize // found.dtype.itemsize
        found = found[:whole].view(dtype)
    return found


def dense(x: lazy.ndarray) -> Any:
    """The elements in row-major order, for reading."""
    if x._view is None:
        return flat(memory(x, False))
    return flat(memory(lazy.wrap(x.node()), False))


def shared(owner: lazy.ndarray, first: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> lazy.ndarray:
    """A view of an array's memory from an element on."""
    return lazy.ndarray.view(owner, lambda s: as_strided(s.reshape(-1)[first:], shape, strides))


__all__ = ["dense", "flat", "memory", "new", "pointed", "shared"]
