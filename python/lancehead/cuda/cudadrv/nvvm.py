"""NVIDIA's compiler, which lancehead does not need."""

from lancehead.cuda.errors import CudaSupportError

__all__ = ["CudaSupportError"]
