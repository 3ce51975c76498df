"""Arrays in device memory."""

from lancehead.cuda.devicearray import (
    DeviceNDArray,
    DeviceRecord,
    ManagedNDArray,
    MappedNDArray,
    auto_device,
    is_cuda_array,
)

is_cuda_ndarray = is_cuda_array

__all__ = [
    "DeviceNDArray", "DeviceRecord", "ManagedNDArray", "MappedNDArray", "auto_device", "is_cuda_array",
    "is_cuda_ndarray",
]  # fmt: skip
