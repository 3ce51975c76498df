"""Memory of devices: the module of this package that imports [`lancehead.cuda`][] first, when a program names a device.

Devices have their numbers there; None is the one in use.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from lancehead import cuda
from lancehead.cuda.gpu import current_gpu


def count() -> int:
    """How many devices there are: without a GPU one, lancehead's CPU device."""
    return len(cuda.gpus)


def is_real() -> bool:
    """Whether there is a GPU, whose memory the host does not reach."""
    return current_gpu() is not None


def current(number: int | None) -> AbstractContextManager[object]:
    """A context in which a device is the one in use."""
    return nullcontext() if len(cuda.gpus) == 1 or number is None else cuda.gpus[number]


def uploaded(value: Any, number: int | None) -> cuda.DeviceNDArray:
    """A copy of an array of NumPy, or of another device, in a device's memory."""
    if not isinstance(value, (np.ndarray, cuda.DeviceNDArray)):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
        value = np.ascontiguousarray(value).reshape(value.shape)
    with current(number):
        return cuda.to_device(value)


def over(value: np.ndarray, number: int | None) -> cuda.DeviceNDArray:
    """An array of a CPU device over memory of the host, in row-major order."""
    with current(number):
        return cuda.DeviceNDArray(value)


def shared(owner: object) -> tuple[cuda.DeviceNDArray, int]:
    """The device array of the memory of what has `__cuda_array_interface__`, and the number of its device."""
    found = cuda.as_cuda_array(owner)
    return found, getattr(getattr(found, "gpu", None), "number", 0)


def imported(owner: Any) -> cuda.DeviceNDArray:
    """The device array of the memory of a device's array with `__dlpack__`."""
    return cuda.from_dlpack(owner)
