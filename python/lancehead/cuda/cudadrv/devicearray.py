"""Arrays in device memory."""

from lancehead.cuda.devicearray import DeviceNDArray, DeviceRecord, ManagedNDArray, MappedNDArray, is_cuda_array

is_cuda_ndarray = is_cuda_array

__all__ = ["DeviceNDArray", "DeviceRecord", "ManagedNDArray", "MappedNDArray", "is_cuda_array", "is_cuda_ndarray"]
