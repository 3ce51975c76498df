"""Numbers of the driver's interface."""

from lancehead.options import public

CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 0, 1, 2, 720

__all__ = [
    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_OUT_OF_MEMORY", "CUDA_SUCCESS",
]  # fmt: skip
public(globals())
