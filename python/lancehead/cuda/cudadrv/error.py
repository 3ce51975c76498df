"""Errors of the driver and the compilers."""

from lancehead.cuda.errors import CudaDriverError, CudaSupportError, NvrtcError

__all__ = ["CudaDriverError", "CudaSupportError", "NvrtcError"]
