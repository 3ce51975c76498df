"""Functions of the CUDA driver that programs call, and its errors."""

from __future__ import annotations

import threading
from typing import Any

from lancehead.cupy import layout
from lancehead.cupy.cuda import runtime
from lancehead.options import public


class CUDADriverError(RuntimeError):
    """An error of the driver, with its number in `status`."""

    def __init__(self, status: int, more: str = "") -> None:
        super().__init__(runtime.message(status, True) + (f" ({more})" if more else ""))
        self.status, self._more = status, more

    def __reduce__(self) -> Any:
        return CUDADriverError, (self.status, self._more)


def get_build_version() -> int:
    """The version of CUDA, as a number such as 12040."""
    return runtime.runtimeGetVersion()


def ctxGetCurrent() -> int:
    """The context of this thread, a number; 0 before a thread has used a device."""
    is_used = threading.current_thread() is threading.main_thread() or "number" in vars(layout.CURRENT)
    return layout.CURRENT.number + 1 if is_used else 0


def ctxGetDevice() -> int:
    """The device of the context of this thread."""
    return int(layout.CURRENT.number)


def streamGetCtx(stream: int) -> int:
    """The context of a stream."""
    return int(layout.CURRENT.number) + 1


__all__ = ["CUDADriverError", "ctxGetCurrent", "ctxGetDevice", "get_build_version", "streamGetCtx"]
public(globals())
