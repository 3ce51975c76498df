"""Arrays in device memory."""

from typing import Any

import numpy as np

from lancehead.cuda.devicearray import (
    DeviceNDArray,
    DeviceRecord,
    ManagedNDArray,
    MappedNDArray,
    auto_device,
    device_array_like,
    errmsg_contiguous_buffer,
    is_cuda_array,
)
from lancehead.options import public

is_cuda_ndarray = is_cuda_array


def require_cuda_ndarray(obj: object) -> None:
    """Raises ValueError for what is no array of a device."""
    if not is_cuda_ndarray(obj):
        raise ValueError("require an cuda ndarray object")


def verify_cuda_ndarray_interface(obj: Any) -> None:
    """Raises ValueError for what is no array of a device, and AttributeError for one that does not say its shape."""
    require_cuda_ndarray(obj)
    for name, kind in {"shape": tuple, "strides": tuple, "dtype": np.dtype, "size": int}.items():
        if not isinstance(getattr(obj, name), kind):
            raise AttributeError(f"{name} must be of type {kind}")


def array_core(ary: Any) -> Any:
    """A broadcast array without its repetitions."""
    if not ary.strides or not ary.size:
        return ary
    return ary[tuple(0 if stride == 0 else slice(None) for stride in ary.strides)]


def is_contiguous(ary: Any) -> bool:
    """Whether the memory of an array, without its repetitions, is in row-major order without gaps."""
    return bool(array_core(ary).flags["C_CONTIGUOUS"])


def sentry_contiguous(ary: Any) -> None:
    """Raises ValueError for an array with gaps."""
    flags = array_core(ary).flags
    if not (flags["C_CONTIGUOUS"] or flags["F_CONTIGUOUS"]):
        raise ValueError(errmsg_contiguous_buffer)


def from_array_like(ary: Any, stream: Any = 0) -> DeviceNDArray:
    """An array on the device with the shape, type and order of another."""
    return device_array_like(ary, stream)


def from_record_like(rec: Any, stream: Any = 0) -> DeviceRecord:
    """A record on the device with the fields of another."""
    found: DeviceRecord = device_array_like(np.empty((), rec.dtype), stream)[()]
    return found


__all__ = [
    "DeviceNDArray", "DeviceRecord", "ManagedNDArray", "MappedNDArray", "array_core", "auto_device",
    "errmsg_contiguous_buffer", "from_array_like", "from_record_like", "is_contiguous", "is_cuda_array",
    "is_cuda_ndarray", "require_cuda_ndarray", "sentry_contiguous", "verify_cuda_ndarray_interface",
]  # fmt: skip
public(globals())
