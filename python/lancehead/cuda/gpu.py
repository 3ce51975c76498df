"""GPUs through NVIDIA's driver: what there is, and copies to and from arrays in their memory.

An array of a GPU is described by a NumPy array at the GPU's addresses, which is never read: its slices, views and
strides are those of the memory there.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead import _core, settings
from lancehead.cuda.errors import CudaAPIError, CudaSupportError
from lancehead.cuda.memory import Foreign

CPU_INSTEAD = "LANCEHEAD_CUDA_DEVICE=cpu runs kernels on the CPU"

# No library of the driver, one that is only there to link with, a driver without a GPU.
_NO_GPU = frozenset({-1, 34, 100})


# GPUs by their numbers, or why one cannot be used; under a lock, so that there is one object for a card whatever
# threads come first.
_opened: dict[int, _core.Gpu | CudaAPIError] = {}
_count: int | None = None
_opening = threading.RLock()


def count() -> int:
    """Number of GPUs that kernels run on; 0 if that is the CPU.

    Raises:
        CudaSupportError: a GPU is asked for and there is none, or there is a driver that cannot be used.
    """
    global _count
    if _count is None:
        with _opening:
            _count = _counted() if _count is None else _count
    return _count


def _counted() -> int:
    try:
        wanted = settings.named("LANCEHEAD_CUDA_DEVICE", os.environ, "cpu", "gpu")
    except ValueError as error:
        raise CudaSupportError(str(error)) from None
    if wanted == "cpu":
        return 0
    try:
        return opened(0).devices
    except CudaAPIError as error:
        if wanted == "gpu":
            raise CudaSupportError(
                f"LANCEHEAD_CUDA_DEVICE=gpu, but there is no GPU that lancehead can use: {error}"
            ) from None
        if error.code in _NO_GPU:
            return 0
        raise CudaSupportError(f"NVIDIA's driver cannot be used: {error}; {CPU_INSTEAD}") from None


def opened(number: int) -> _core.Gpu:
    """A GPU with its primary context, which other libraries of the process share.

    Raises:
        CudaAPIError: the driver cannot be used, or there is no such GPU. It is tried once.
    """
    found = _opened.get(number)
    if found is None:
        with _opening:
            found = _opened.get(number)
            if found is None:
                found = _opened[number] = _open(number)
    if isinstance(found, CudaAPIError):
        raise CudaAPIError(found.code, found.msg)
    return found


def _open(number: int) -> _core.Gpu | CudaAPIError:
    try:
        gpu = _core.Gpu(number, os.environ.get("LANCEHEAD_CUDA_DRIVER") or None)
    except CudaAPIError as error:
        # A kept traceback would keep all that is alive now.
        return error.with_traceback(None)
    # Streams may call functions of Python's as long as there is an interpreter.
    atexit.register(gpu.finish_callbacks)
    return gpu


def forget() -> None:
    """Has devices be chosen and opened anew, for tests: arrays and streams that there are belong to the old ones."""
    global _count
    with _opening:
        for gpu in _opened.values():
            if isinstance(gpu, _core.Gpu):
                atexit.unregister(gpu.finish_callbacks)
        _opened.clear()
        _count = None
    here.gpu = None


# GPUs, and those whose memory their kernels can use.
reached: set[tuple[_core.Gpu, _core.Gpu]] = set()


class _Here(threading.local):
    """The state of a thread: the device in use and those to return to."""

    #: The number of the device, and the GPU once something has asked for it: launches look there first.
    number = 0
    gpu: _core.Gpu | None = None
    #: Devices to go back to.
    before: tuple[int, ...] = ()


here = _Here()


def use(number: int) -> None:
    """Makes a device the one that this thread uses."""
    here.number, here.gpu = number, None


def current_gpu() -> _core.Gpu | None:
    """The GPU that this thread uses; None if kernels run on the CPU."""
    if here.gpu is None and count():
        here.gpu = opened(here.number)
    return here.gpu


def place(
    memory: Any, shape: tuple[int, ...], dtype: np.dtype, strides: Any = None, order: Any = "C", offset: int = 0
) -> np.ndarray:
    """An array descriptor for memory of a GPU, which it keeps alive."""
    known: dict[str, Any] = {"shape": (memory.bytes,), "typestr": "|u1", "data": (memory.address, False), "version": 3}
    return np.ndarray(shape, dtype, np.asarray(Foreign(known, memory)), offset, strides, order)


def allocated(
    allocate: Callable[[int], Any], shape: tuple[int, ...], dtype: np.dtype, strides: Any = None, order: Any = "C"
) -> np.ndarray:
    """A new array in memory that is allocated, as `place` describes it; one stride may be a number, and negative ones
    are allowed."""
    if strides is None:
        return place(allocate(dtype.itemsize * int(np.prod(shape, dtype=object))), shape, dtype, None, order)
    steps = (strides,) if isinstance(strides, int) else tuple(strides)
    before, beyond = reach_of(shape, steps, dtype.itemsize)
    return place(allocate(before + beyond), shape, dtype, steps, "C", before)


def reach_of(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """How many bytes the elements of an array take before where the first one is, and from there on."""
    steps = [(n - 1) * s for n, s in zip(shape, strides) if n]
    return -sum(s for s in steps if s < 0), sum(s for s in steps if s > 0) + itemsize


def address_of(a: np.ndarray) -> int:
    """Where the first element is."""
    return int(a.__array_interface__["data"][0])


def extent_of(a: np.ndarray) -> tuple[int, int]:
    """From which address to which the elements are."""
    if not a.size:
        return 0, 0
    at, (before, beyond) = address_of(a), reach_of(a.shape, a.strides, a.itemsize)
    return at - before, at + beyond


def download(gpu: _core.Gpu, a: np.ndarray) -> np.ndarray:
    """The elements in memory of the host, with the same strides."""
    if not a.size:
        return np.empty(a.shape, a.dtype)
    low, high = extent_of(a)
    raw = np.empty(high - low, np.uint8)
    gpu.read(low, raw)
    return np.ndarray(a.shape, a.dtype, raw, address_of(a) - low, a.strides)


def fetch(gpu: _core.Gpu, a: np.ndarray, into: np.ndarray, stream: _core.GpuStream | None) -> None:
    """Copies the elements to an array of the host: where both are without gaps, in the order of a stream if there is
    one."""
    raw = (
        dense(into) if a.size and a.strides == into.strides and extent_of(a)[1] - extent_of(a)[0] == a.nbytes else None
    )
    if raw is not None:
        gpu.read(extent_of(a)[0], raw, stream)
        return
    if stream is not None:
        stream.wait()
    np.copyto(into, download(gpu, a))


def upload(gpu: _core.Gpu, a: np.ndarray, values: Any, stream: _core.GpuStream | None = None) -> None:
    """Sets the elements of an array of a GPU to those of a host's, which is broadcast; what lies between them stays. In
    the order of a stream if there is one: an array of the host without gaps must then stay as it is until the stream
    has passed."""
    if not a.size:
        return
    low, high = extent_of(a)
    if (
        isinstance(values, np.ndarray)
        and high - low == a.nbytes
        and (values.dtype, values.shape, values.strides) == (a.dtype, a.shape, a.strides)
    ):
        raw = dense(values)
        if raw is not None:
            gpu.write(low, raw, stream)
            return
    raw = np.empty(high - low, np.uint8)
    if high - low != a.nbytes:
        gpu.read(low, raw, stream)
        if stream is not None:
            stream.wait()
    np.ndarray(a.shape, a.dtype, raw, address_of(a) - low, a.strides)[...] = values
    gpu.write(low, raw, stream)


def dense(a: np.ndarray) -> np.ndarray | None:
    """The bytes of an array without gaps."""
    if a.flags.f_contiguous:
        a = a.T
    return (
        np.asarray(a).reshape(-1).view(np.uint8) if a.flags.c_contiguous and a.ndim and not a.dtype.hasobject else None
    )
