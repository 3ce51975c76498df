"""CUDA's libraries, found when they are needed: in NVIDIA's wheels, in a toolkit, or by the system's loader."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from typing import Any

from lancehead import _core
from lancehead.cuda import toolkit
from lancehead.cuda.errors import CudaDriverError
from lancehead.cuda.gpu import CPU_INSTEAD, current_gpu
from lancehead.cuda.streams import check, on_gpu
from lancehead.cudalib.errors import (
    CuBLASError,
    CudaLibraryError,
    CudaSupportError,
    CuFFTError,
    CuRandError,
    CuSolverError,
    CuSparseError,
)  # fmt: skip


class Library:
    """A library by its name, with the error that its statuses become."""

    def __init__(
        self, name: str, error: type[CudaLibraryError], majors: tuple[int, ...], needs: tuple[str, ...] = ()
    ) -> None:
        self.name, self.error, self.majors, self.needs = name, error, majors, needs
        self._opened: ctypes.CDLL | None = None
        self._opening = threading.Lock()

    def opened(self) -> ctypes.CDLL:
        """The library.

        Raises:
            CudaSupportError: it is not there, or cannot be loaded; the text says how to get it.
        """
        with self._opening:
            if self._opened is None:
                # Wheels of some versions do not say where the libraries are that theirs need.
                for name in self.needs:
                    _loaded(name, ())
                found = _loaded(f"lib{self.name}", self.majors)
                if isinstance(found, str):
                    raise CudaSupportError(
                        f"lib{self.name}.so was not found{found}: `pip install nvidia-{self.name}` "
                        f"(`nvidia-{self.name}-cu12` for CUDA 12), or let CUDA_HOME be the folder of a CUDA toolkit; "
                        f"{CPU_INSTEAD}"
                    )
                self._opened = found
            return self._opened

    def function(self, *names: str) -> Any:
        """A function by the first of its names that the library has.

        Raises:
            CudaSupportError: it has none of them.
        """
        there = self.opened()
        for name in names:
            if hasattr(there, name):
                return getattr(there, name)
        raise CudaSupportError(
            f"lib{self.name}.so has no {names[0]}: its version is not one that this call is written for; {CPU_INSTEAD}"
        )

    def call(self, name: str, *args: Any) -> None:
        """Calls a function, which gives a status.

        Raises:
            CudaLibraryError: the status is not that of success.
        """
        status = self.function(name)(*args)
        if status != 0:
            raise self.error(status, f"from {name}")


def _loaded(name: str, majors: tuple[int, ...]) -> ctypes.CDLL | str:
    """The library, or why it cannot be loaded if a file of it is there."""
    reason = ""
    paths = [
        str(path)
        for home in toolkit.homes()
        for folder in ("lib", "lib64", os.path.join("targets", "x86_64-linux", "lib"))
        for path in sorted((home / folder).glob(f"{name}.so*"), reverse=True)
    ]
    for path in [*paths, *(f"{name}.so.{major}" for major in majors), f"{name}.so"]:
        try:
            return ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
        except OSError as error:
            if os.sep in path:
                reason = reason or f" ({error})"
    return reason


CUBLAS = Library("cublas", CuBLASError, (13, 12, 11), ("libcudart", "libcublasLt"))
CUFFT = Library("cufft", CuFFTError, (12, 11, 10), ("libcudart",))
CURAND = Library("curand", CuRandError, (10,), ("libcudart",))
CUSPARSE = Library("cusparse", CuSparseError, (12, 11), ("libcudart", "libnvJitLink"))
CUSOLVER = Library(
    "cusolver", CuSolverError, (12, 11), ("libcudart", "libnvJitLink", "libcublasLt", "libcublas", "libcusparse")
)


class Session:
    """The state that calls of a library share: the device, a stream, and on a GPU the library's handle.

    The base of `Blas`, `Sparse`, `Solver`, of plans and of generators.
    """

    LIBRARY: Library
    #: Functions of the library that make a handle, end it, and have it put its work into a stream.
    CREATE = DESTROY = SET_STREAM = ""

    def __init__(self, stream: Any = 0) -> None:
        self._gpu = current_gpu()
        self._closed = False
        self._handle: Any = None
        self._stream: Any = 0
        if self._gpu is not None:
            enter(self._gpu)
            self._handle = self._create()
        self.stream = stream

    def _create(self) -> Any:
        """A handle of the library."""
        handle = ctypes.c_void_p()
        self.LIBRARY.call(self.CREATE, ctypes.byref(handle))
        return handle

    @property
    def stream(self) -> Any:
        """The stream that calls are put into."""
        return self._stream

    @stream.setter
    def stream(self, stream: Any) -> None:
        stream = 0 if stream is None else stream
        there = _stream_of(self._gpu, stream)
        self._stream = stream
        if self._handle is not None and not self._closed:
            self.LIBRARY.call(self.SET_STREAM, self._handle, ctypes.c_void_p(there))

    def check(self) -> None:
        """Whether calls can be made.

        Raises:
            CudaLibraryError: it is closed.
            ValueError: another device than the one that it was made for is in use.
            CudaAPIError: the stream is closed.
        """
        name = type(self).__name__
        if self._closed:
            raise self.LIBRARY.error(self.LIBRARY.error.CLOSED, f"this {name} is closed")
        gpu = current_gpu()
        if gpu is not self._gpu:
            raise ValueError(f"this {name} was made for {_named(self._gpu)}, and {_named(gpu)} is in use")
        _stream_of(self._gpu, self._stream)
        if gpu is not None:
            enter(gpu)

    def close(self) -> None:
        """Ends it: calls after that are errors. Closing twice does nothing."""
        if not self._closed:
            self._closed = True
            if self._handle is not None:
                handle, self._handle = self._handle, None
                self.LIBRARY.call(self.DESTROY, handle)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        # Of an object whose `__init__` has raised there may be nothing to end; nobody is there to be told of errors.
        if not getattr(self, "_closed", True) and not sys.is_finalizing():
            with contextlib.suppress(CudaDriverError, CudaSupportError):
                self.close()


def enter(gpu: _core.Gpu) -> None:
    """Makes the context of a GPU the thread's, which is the one that libraries use."""
    # The cheapest of the calls that do.
    gpu.event(False)


def _stream_of(gpu: _core.Gpu | None, stream: Any) -> int:
    if gpu is None:
        check(stream)
        return 0
    there = on_gpu(gpu, stream)
    return 0 if there is None else there.handle or 0


def _named(gpu: _core.Gpu | None) -> str:
    return "the CPU device" if gpu is None else f"GPU {gpu.number}"
