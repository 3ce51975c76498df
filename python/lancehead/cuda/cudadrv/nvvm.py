"""NVIDIA's compiler, which lancehead does not need."""

from lancehead.cuda.errors import CudaSupportError
from lancehead.options import public

__all__ = ["CudaSupportError"]
public(globals())
