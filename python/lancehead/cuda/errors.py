"""Errors of CUDA, with the names of numba-cuda's."""

from __future__ import annotations

from lancehead.errors import *  # noqa: F403
from lancehead.errors import NumbaError, NumbaWarning, TypingError, UnsupportedError

__all__ = [
    "CudaAPIError", "CudaDriverError", "CudaSupportError", "LinkerError", "NumbaError", "NumbaWarning", "NvrtcError", "TypingError",
    "UnsupportedError",
]  # fmt: skip


class CudaDriverError(Exception):
    """Something is wrong with the use of a device."""


class CudaSupportError(ImportError):
    """There is no device of the kind that is asked for."""


class CudaAPIError(CudaDriverError):
    """A call of the driver has failed."""

    def __init__(self, code: int, msg: str) -> None:
        self.code, self.msg = code, msg
        super().__init__(code, msg)

    def __str__(self) -> str:
        return f"[{self.code}] {self.msg}"


class LinkerError(RuntimeError):
    """Code could not be linked."""


class NvrtcError(Exception):
    """CUDA C could not be compiled."""
