"""Errors of the driver and the compilers."""

from lancehead.cuda.errors import CudaDriverError, CudaSupportError, NvrtcError
from lancehead.options import public

__all__ = ["CudaDriverError", "CudaSupportError", "NvrtcError"]
public(globals())
