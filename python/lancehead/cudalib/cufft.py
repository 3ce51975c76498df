"""cuFFT: Fourier transforms, by the names of NumbaPro's and pyculib's. The inverse is not divided by the number of
elements, as in cuFFT.

>>> from lancehead.cudalib import cufft
>>> a = np.arange(4).astype(np.complex64)
>>> (cufft.ifft_inplace(cufft.fft_inplace(a)) / 4).real
array([0., 1., 2., 3.], dtype=float32)
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from lancehead.cudalib import fourier_kernels as loops
from lancehead.cudalib.errors import CuFFTError
from lancehead.cudalib.libraries import CUFFT, Session
from lancehead.cudalib.operands import Call, pointer
from lancehead.options import public

_FORWARD, _INVERSE = -1, 1
_KINDS = {"fF": ("R2C", 0x2A), "Ff": ("C2R", 0x2C), "FF": ("C2C", 0x29),
          "dD": ("D2Z", 0x6A), "Dd": ("Z2D", 0x6C), "DD": ("Z2Z", 0x69)}  # fmt: skip


def _kind(itype: Any, otype: Any) -> tuple[str, int]:
    pair = np.dtype(itype).char + np.dtype(otype).char
    if pair not in _KINDS:
        raise ValueError(
            f"there is no transform from {np.dtype(itype)} to {np.dtype(otype)}: one of both is complex64 or "
            "complex128, the other is the same or its real type"
        )
    return _KINDS[pair]


class FFTPlan(Session):
    """Transforms of arrays of one shape.

    Args:
        shape: the shape of what is transformed, of one to three axes; that of the input.
        itype: the type of the input, `otype` that of the output: both complex, or one of both real.
        batch: how many such arrays one call transforms; they are one after the other in the first axis.
        stream: the stream that the work is put into.
        mode: kept as an attribute; all modes are the same since cuFFT has one.
    """

    LIBRARY, DESTROY, SET_STREAM = CUFFT, "cufftDestroy", "cufftSetStream"
    MODE_NATIVE, MODE_FFTW_PADDING, MODE_FFTW_ASYMMETRIC, MODE_FFTW_ALL = 0, 1, 2, 3
    MODE_DEFAULT = MODE_FFTW_PADDING
    #: The transforms by types of input and output.
    SUPPORTED_TYPES = {(np.dtype(k[0]), np.dtype(k[1])): number for k, (_, number) in _KINDS.items()}

    def __init__(
        self, shape: Any, itype: Any, otype: Any, batch: int = 1, stream: Any = 0, mode: int = MODE_DEFAULT,
        *, length: int | None = None,
    ) -> None:  # fmt: skip
        self._name, self.operation = _kind(itype, otype)
        self.itype, self.otype = np.dtype(itype), np.dtype(otype)
        extents = tuple(int(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,)))
        if not 1 <= len(extents) <= 3 or min(extents) < 1 or batch < 1:
            raise ValueError(f"a plan is for one to three axes of at least one element, not {extents} times {batch}")
        half = (*extents[:-1], extents[-1] // 2 + 1)
        self.direction = "both"
        self.ishape = self.oshape = self.shape = extents
        if self.otype.kind == "f":
            n = max(1, 2 * (extents[-1] - 1)) if length is None else length
            self.direction, self.shape = "inverse", (*extents[:-1], n)
            self.oshape = self.shape
        elif self.itype.kind == "f":
            self.direction, self.oshape = "forward", half
        self.batch, self.mode = int(batch), mode
        super().__init__(stream)

    def _create(self) -> Any:
        handle = ctypes.c_int()
        extents = (ctypes.c_int * len(self.shape))(*self.shape)
        CUFFT.call(
            "cufftPlanMany", ctypes.byref(handle), len(self.shape), extents, None, 1, 0, None, 1, 0,
            ctypes.c_int(self.operation), ctypes.c_int(self.batch),
        )  # fmt: skip
        return handle

    def forward(self, ary: Any, out: Any = None) -> Any:
        """The transform, in `out` or a new array of NumPy; `out` may be `ary`."""
        return self._transform(ary, out, _FORWARD)

    def inverse(self, ary: Any, out: Any = None) -> Any:
        """The inverse transform, in `out` or a new array of NumPy; `out` may be `ary`."""
        return self._transform(ary, out, _INVERSE)

    def _transform(self, ary: Any, out: Any, direction: int) -> Any:
        wanted = "forward" if direction == _FORWARD else "inverse"
        if self.direction not in ("both", wanted):
            raise TypeError(f"a plan from {self.itype} to {self.otype} has no {wanted} transform")
        self.check()
        if out is None:
            out = np.empty(self.oshape if self.batch == 1 else (self.batch, *self.oshape), self.otype)
        with Call(self.stream) as call:
            source = _fitting(call.array(ary, "ary", self.itype), "ary", self.ishape, self.batch)
            result = _fitting(call.array(out, "out", self.otype, out=True), "out", self.oshape, self.batch)
            if self.itype != self.otype and source.size and np.may_share_memory(source, result):
                raise ValueError("a transform between real and complex numbers is not done in place")
            if call.gpu is None:
                self._on_host(source, result, direction)
            else:
                self._on_gpu(call, ary, source, out, result, direction)
        return out

    def _on_host(self, source: np.ndarray, result: np.ndarray, direction: int) -> None:
        given = np.ascontiguousarray(source).reshape(self.batch, *self.ishape)
        axes = tuple(range(1, given.ndim))
        if self.direction == "both":
            found = (loops.whole if direction == _FORWARD else loops.inverse)(given, axes)
        elif direction == _FORWARD:
            found = loops.from_real(given, axes)
        else:
            found = loops.to_real(given, self.shape, axes)
        result[...] = found.reshape(result.shape)

    def _on_gpu(self, call: Call, ary: Any, source: np.ndarray, out: Any, result: np.ndarray, direction: int) -> None:
        if not source.flags.c_contiguous:
            source = call.array(np.ascontiguousarray(np.asarray(ary)), "ary")
        place, rows = result, None
        if not result.flags.c_contiguous:
            rows = np.empty(result.shape, self.otype)
            place = call.array(rows, "out", out=True)
        given = [self._handle, pointer(source), pointer(place)]
        if self.direction == "both":
            given.append(ctypes.c_int(direction))
        CUFFT.call(f"cufftExec{self._name}", *given)
        if rows is not None:
            call.after(out, rows)


def _fitting(a: np.ndarray, name: str, shape: tuple[int, ...], batch: int) -> np.ndarray:
    """An array that has the elements of a plan: of its shape, or with the batch in an axis before or within the first
    one; or all of them in one axis."""
    allowed = [(batch, *shape), (batch * shape[0], *shape[1:]), (batch * math.prod(shape),)]
    if a.shape not in allowed:
        raise ValueError(f"{name} has the shape {a.shape}, where {allowed[0] if batch > 1 else shape} is needed")
    return a


def _planned(ary: Any, out: Any, stream: Any) -> FFTPlan:
    for name, a in (("ary", ary), ("out", out)):
        if not hasattr(a, "dtype") or not hasattr(a, "shape"):
            raise TypeError(f"{name} is an array of NumPy or of a device, not {type(a).__name__}")
    length = None
    if np.dtype(out.dtype).kind == "f" and len(out.shape) == len(ary.shape) and ary.shape:
        length = out.shape[-1] if out.shape[-1] // 2 + 1 == ary.shape[-1] else None
    return FFTPlan(tuple(ary.shape), ary.dtype, out.dtype, stream=stream, length=length)


def fft(ary: Any, out: Any, stream: Any = None) -> Any:
    """The transform of an array of one to three axes, in `out`, which is given back.

    >>> cufft.fft(np.ones(4, np.float32), np.empty(3, np.complex64)).real
    array([4., 0., 0.], dtype=float32)
    """
    with _planned(ary, out, stream) as plan:
        return plan.forward(ary, out)


def ifft(ary: Any, out: Any, stream: Any = None) -> Any:
    """The inverse transform, which is not divided by the number of elements, in `out`, which is given back.

    >>> cufft.ifft(np.array([4, 0, 0], np.complex64), np.empty(4, np.float32))
    array([4., 4., 4., 4.], dtype=float32)
    """
    with _planned(ary, out, stream) as plan:
        return plan.inverse(ary, out)


def fft_inplace(ary: Any, stream: Any = None) -> Any:
    """The transform of an array of complex numbers, in its place.

    >>> cufft.fft_inplace(np.ones(2, np.complex64))
    array([2.+0.j, 0.+0.j], dtype=complex64)
    """
    return fft(_complex(ary), ary, stream)


def ifft_inplace(ary: Any, stream: Any = None) -> Any:
    """The inverse transform, which is not divided by the number of elements, in the array's place.

    >>> cufft.ifft_inplace(np.array([2, 0], np.complex64))
    array([2.+0.j, 2.+0.j], dtype=complex64)
    """
    return ifft(_complex(ary), ary, stream)


def _complex(ary: Any) -> Any:
    dtype = getattr(ary, "dtype", None)
    if dtype not in (np.complex64, np.complex128):
        raise TypeError(f"a transform in place is one of complex64 or complex128, not of {dtype or type(ary).__name__}")
    return ary


__all__ = ["CuFFTError", "FFTPlan", "fft", "fft_inplace", "ifft", "ifft_inplace"]
public(globals())
