"""Errors of CUDA, with the names of numba-cuda's."""

from __future__ import annotations

from lancehead.errors import *  # noqa: F403
from lancehead.errors import NumbaError, NumbaWarning, TypingError, UnsupportedError
from lancehead.options import public

__all__ = [
    "CudaAPIError", "CudaCheckError", "CudaDriverError", "CudaSupportError", "LinkerError", "NumbaError",
    "NumbaWarning", "NvrtcError", "TypingError", "UnsupportedError",
]  # fmt: skip
public(globals())


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


class CudaCheckError(CudaDriverError):
    """A kernel that is checked (`debug=True`) does what is not defined: races, memory read before it is written,
    barriers that not all threads come to. `ids` has the kinds of what was found, each with a page in
    `docs/diagnostics`.
    """

    ids: tuple[str, ...] = ()


class LinkerError(RuntimeError):
    """Code could not be linked."""


class NvrtcError(Exception):
    """CUDA C could not be compiled."""
