"""Arguments of library calls: arrays of the host are copied to the device in use, and back if they are written.

On the CPU device nothing is copied: its memory is the host's. On a GPU what describes an array in its memory is a NumPy
array at the GPU's addresses, which is never read (see `lancehead.cuda.gpu`).
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from lancehead import _core
from lancehead.cuda.devicearray import (
    DeviceNDArray,
    GpuNDArray,
    as_cuda_array,
    device_array_like,
    is_cuda_array,
    to_device,
)  # fmt: skip
from lancehead.cuda.gpu import address_of, current_gpu, download, extent_of

FLOATS: tuple[np.dtype[Any], ...] = tuple(np.dtype(c) for c in "fdFD")
LETTERS = {np.dtype("f"): "S", np.dtype("d"): "D", np.dtype("F"): "C", np.dtype("D"): "Z"}


class Call:
    """The arrays of one call. As a context manager it copies back what was written, if nothing is raised. NumPy does
    not warn within, since CUDA's libraries do not.
    """

    def __init__(self, stream: Any = 0) -> None:
        self.stream = stream
        self.gpu = current_gpu()
        self._back: list[tuple[Any, Any]] = []
        # Memory that must live until the call is done.
        self._kept: list[Any] = []
        self._quiet = np.errstate(all="ignore")

    def __enter__(self) -> Call:
        self._quiet.__enter__()
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        self._quiet.__exit__(kind, *rest)
        if kind is None:
            for host, there in self._back:
                if isinstance(host, DeviceNDArray):
                    host[...] = there
                elif isinstance(there, DeviceNDArray):
                    there.copy_to_host(host, stream=self.stream)
                else:
                    np.copyto(host, there)
        if self.gpu is not None and self._kept:
            # Their memory goes when this object does, and the library may still read it.
            self.gpu.wait()

    def array(self, value: Any, name: str, dtype: Any = None, ndim: int | None = None, out: bool = False) -> np.ndarray:
        """The argument in the memory of the device: its own memory, or a copy of a host array on a GPU.

        Raises:
            TypeError: it is no array, or of another type.
            ValueError: it has another number of dimensions, cannot be written, or is in the memory of another device.
        """
        there = self._there(value, name)
        if dtype is not None and there.dtype != dtype:
            raise TypeError(f"{name} is an array of {there.dtype}, where {np.dtype(dtype)} is needed")
        if ndim is not None and there.ndim != ndim:
            raise ValueError(f"{name} has {there.ndim} dimension{'s' * (there.ndim != 1)}, where {ndim} is needed")
        if isinstance(value, np.ndarray) and not is_cuda_array(value):
            if out and not value.flags.writeable:
                raise ValueError(f"{name} is read-only, and the call writes it")
            if self.gpu is not None:
                return self._copied(value, out)
        return there

    def _there(self, value: Any, name: str) -> np.ndarray:
        if isinstance(value, np.ndarray) and not is_cuda_array(value):
            return value
        if not is_cuda_array(value) and not isinstance(value, DeviceNDArray):
            raise TypeError(f"{name} is an array of NumPy or of a device, not {type(value).__name__}")
        array = as_cuda_array(value)
        home: _core.Gpu | None = array.gpu if isinstance(array, GpuNDArray) else None
        if home is not self.gpu and array.size:
            where = "the CPU device" if home is None else f"GPU {home.number}"
            raise ValueError(f"{name} is in the memory of {where}, which is not the device in use")
        # Of memory that was freed this raises.
        found: np.ndarray = np.asarray(array._data[...])
        return found

    def _copied(self, value: np.ndarray, out: bool) -> np.ndarray:
        # Memory without gaps is copied as it is.
        dense = value if value.flags.c_contiguous or value.flags.f_contiguous else np.asfortranarray(value)
        made = to_device(dense, stream=self.stream)
        self._kept.append(made)
        if out:
            self._back.append((value, made))
        return np.asarray(made._data)

    def vector(self, value: Any, name: str, dtype: Any = None, out: bool = False) -> np.ndarray:
        """An argument of one dimension, whose elements are at a distance from each other that is one of elements.

        Raises:
            ValueError: they are not.
        """
        found = self.array(value, name, dtype, 1, out)
        if found.strides[0] % found.itemsize:
            raise ValueError(
                f"{name} has a stride of {found.strides[0]} bytes, which is no multiple of {found.dtype}'s"
            )
        if found.strides[0] == 0 and found.size > 1:
            raise ValueError(f"{name} has a stride of 0: all its elements are one")
        return found

    def flat(self, value: Any, name: str, dtype: Any = None, out: bool = False) -> np.ndarray:
        """An argument without gaps, as its memory in one dimension."""
        found = self.array(value, name, dtype, None, out)
        if not (found.flags.c_contiguous or found.flags.f_contiguous):
            raise ValueError(f"{name} has gaps between its elements")
        return np.ravel(found, "K") if found.flags.c_contiguous else found.T.reshape(-1)

    def matrix(self, value: Any, name: str, dtype: Any = None, out: bool = False) -> np.ndarray:
        """A matrix as the library sees it: the columns of its memory. An array by rows is its transpose.

        Raises:
            ValueError: neither its rows nor its columns are without gaps.
        """
        found = self.array(value, name, dtype, 2, out)
        if by_columns(found):
            return found
        if by_columns(found.T):
            return found.T
        if isinstance(value, np.ndarray) and not is_cuda_array(value):
            copy = np.asfortranarray(found)
            if out:
                self._back.append((found, copy))
            return copy
        raise ValueError(f"{name} has gaps in its columns: a matrix has columns without gaps (order='F')")

    def after(self, to: Any, values: np.ndarray) -> None:
        """Copies an array of the host to an array of the host or the device, after what is copied back so far."""
        self._back.append((to, values))

    def empty(self, shape: Any, dtype: Any, order: Any = "F") -> np.ndarray:
        """New memory of the device that lives as long as the call."""
        if self.gpu is None:
            return np.empty(shape, dtype, order)
        made = device_array_like(np.empty(shape, dtype, order))
        self._kept.append(made)
        return np.asarray(made._data)

    def read(self, a: np.ndarray) -> np.ndarray:
        """The elements of an array of the device, after what was put into the stream."""
        if self.gpu is None:
            return a
        if self.stream:
            self.gpu.wait()
        return download(self.gpu, a)

    def bytes(self, count: int) -> ctypes.c_void_p:
        """The address of so many new bytes."""
        return pointer(self.empty(max(count, 1), np.uint8))


def by_columns(a: np.ndarray) -> bool:
    """Whether an array of two dimensions has columns without gaps, one after the other."""
    rows, columns = a.shape
    return (rows <= 1 or a.strides[0] == a.itemsize) and (
        columns <= 1 or (a.strides[1] % a.itemsize == 0 and a.strides[1] >= a.itemsize * max(rows, 1))
    )


def leading(a: np.ndarray) -> int:
    """The distance of the columns of a matrix in elements."""
    return a.strides[1] // a.itemsize if a.shape[1] > 1 else max(1, a.shape[0])


def step(a: np.ndarray) -> int:
    """The distance of the elements of a vector in elements."""
    return a.strides[0] // a.itemsize if a.size > 1 else 1


def pointer(a: np.ndarray) -> ctypes.c_void_p:
    """The address of an array in the memory of a GPU: of its lowest element, from which libraries count steps."""
    return ctypes.c_void_p((extent_of(a)[0] if a.size else address_of(a)) or None)


def host_pointer(value: Any) -> Any:
    """The address of a number of the host, or of an array of some; it keeps that alive."""
    return np.asarray(value).ctypes.data_as(ctypes.c_void_p)


class Described:
    """Memory of a GPU as an object that other code of the package takes for an array in it."""

    def __init__(self, a: np.ndarray) -> None:
        self.__cuda_array_interface__ = {**a.__array_interface__, "version": 3, "strides": a.strides}


def blend(alpha: Any, found: np.ndarray, beta: Any, out: np.ndarray) -> None:
    """out = alpha found + beta out in the memory of the host; with beta of 0, `out` is not read."""
    np.copyto(out, alpha * found + beta * out if beta != 0 else alpha * found)


def value_type(array: Any, name: str) -> np.dtype[Any]:
    """The type of an array of numbers.

    Raises:
        TypeError: it is none that the libraries compute with.
    """
    dtype = getattr(array, "dtype", None)
    found = next((t for t in FLOATS if t == dtype), None)
    if found is None:
        raise TypeError(f"{name} is an array of float32, float64, complex64 or complex128, not of {dtype}")
    return found


def real_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the parts of numbers."""
    return np.dtype(dtype.char.lower())


def scalar(value: Any, name: str, dtype: np.dtype[Any]) -> Any:
    """A number as one of a type.

    Raises:
        TypeError: it is none, or a complex one where the type is of real ones.
    """
    if isinstance(value, (np.ndarray, np.generic)) and np.ndim(value) == 0:
        value = value.item()
    if not isinstance(value, (int, float, complex)):
        raise TypeError(f"{name} is a number, not {type(value).__name__}")
    if isinstance(value, complex) and dtype.kind != "c":
        raise TypeError(f"{name} is complex, where {dtype} is needed")
    return dtype.type(value)


def count(value: Any, name: str) -> int:
    """A number of elements.

    Raises:
        TypeError: it is no integer.
        ValueError: it is negative, or more than the libraries count to.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} is an integer, not {type(value).__name__}")
    if not 0 <= value < 2**31:
        raise ValueError(f"{name} is {value}, where a number from 0 to 2**31 - 1 is needed")
    return int(value)


def choice(value: Any, name: str, choices: dict[Any, int]) -> int:
    """One of a few values, by its number.

    Raises:
        ValueError: it is another one.
    """
    key = value.upper() if isinstance(value, str) else bool(value) if isinstance(value, np.bool_) else value
    if not isinstance(key, (str, bool)) and key not in (0, 1) or key not in choices:
        known = " or ".join(repr(k) for k in choices if isinstance(k, str)) or "True or False"
        raise ValueError(f"{name} is {known}, not {value!r}")
    return choices[key]
