"""Arrays as arguments of kernels that work on memory itself."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from lancehead.cuda.devicearray import DeviceNDArray
from lancehead.cuda.gpu import current_gpu, here
from lancehead.cupy import layout
from lancehead.cupy.c.values import WIDE
from lancehead.xp import arrays as lazy
from lancehead.xp import devices
from lancehead.xp.graph import ARRAY, leaf
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
        elif node.op is ARRAY:
            return value
        x._node = leaf(value, node.device or layout.device())
    return value


def on_cpu(data: np.ndarray) -> DeviceNDArray:
    """A device array over memory of the CPU device. The context need not know it: only this interface has it."""
    found = object.__new__(DeviceNDArray)
    found._data, found.stream = data, 0
    return found


def new(shape: Any, dtype: np.dtype[Any]) -> Any:
    """New memory of the current device, of unknown values."""
    if here.gpu is None and current_gpu() is None:
        return on_cpu(np.empty(shape, dtype))
    from lancehead import cuda

    return cuda.device_array(shape, dtype)


def flat(value: Any) -> Any:
    """A device array in one dimension."""
    data = value._data
    if data.ndim == 1:
        return value
    if type(value) is not DeviceNDArray:
        return value.reshape((value.size,))
    return on_cpu(data.reshape(-1))


def pointed(x: lazy.ndarray, dtype: np.dtype[Any] | None, writes: bool) -> Any:
    """The memory of an array from its first element on, as elements of a type."""
    view = x._view
    found = flat(memory(x if view is None else view.owner, writes))
    first = 0 if view is None else view.first()
    if dtype is None or found._data.dtype == dtype:
        dtype = None
    if dtype is None and not first:
        return found
    data = found._data if type(found) is DeviceNDArray else found
    part = data[first:] if first else data
    if dtype is not None:
        whole = part.size * part.dtype.itemsize // dtype.itemsize * dtype.itemsize // part.dtype.itemsize
        part = part[:whole].view(dtype)
    return on_cpu(part) if part is not found and isinstance(part, np.ndarray) else part


def number(d: np.dtype[Any]) -> Any:
    """A function from a number to an argument of a kernel of a type; those of 32 bits have 64 there."""
    own = d.type
    if d not in WIDE:
        plain = float if d == np.float64 else own
        return lambda x: x if type(x) is own or type(x) is plain else np.asarray(x).astype(d)[()]
    low, high = (int(n) for n in (np.iinfo(d).min, np.iinfo(d).max))

    def convert(x: Any) -> Any:
        if type(x) is int and low <= x <= high:
            return x
        return int(x) if type(x) is own else np.int64(np.asarray(x).astype(d)[()])

    return convert


def dense(x: lazy.ndarray, is_apart: bool = False) -> Any:
    """The elements in row-major order, for reading; of a view on request as a copy, as others write to its memory."""
    if x._view is None:
        return flat(memory(x, False))
    if devices.is_gpu(x._view.owner._node.device or layout.device()):
        return flat(memory(lazy.wrap(x.node()), False))
    return on_cpu(np.array(layout.host(x), order="C", copy=is_apart or None).reshape(-1))


def shared(owner: lazy.ndarray, first: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> lazy.ndarray:
    """A view of an array's memory from an element on."""
    return lazy.ndarray.view(owner, lambda s: as_strided(s.reshape(-1)[first:], shape, strides))


__all__ = ["dense", "flat", "memory", "new", "number", "on_cpu", "pointed", "shared"]
