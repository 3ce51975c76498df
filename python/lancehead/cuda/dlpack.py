"""DLPack for arrays of GPUs: NumPy makes and reads the capsules, in which only the device, and the type `bfloat16`, are
others."""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

import numpy as np

from lancehead.cuda.memory import over

HOST, GPU = 1, 2
_UNSIGNED, _BFLOAT = 1, 4
# Capsules of version 1 say whether the memory may be written.
_VERSION: dict[str, Any] = {"max_version": (1, 0)} if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else {}
_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_address = ctypes.PYFUNCTYPE(ctypes.c_size_t, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _Tensor(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("number", ctypes.c_int32),
                ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))  # fmt: skip


class _Holder:
    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return HOST, 0

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.capsule


def _tensor(capsule: Any) -> tuple[_Tensor, bool]:
    # With a version, number and flags come first, and what frees it.
    name = _name(capsule)
    is_versioned = name == b"dltensor_versioned"
    return _Tensor.from_address(_address(capsule, name) + 32 * is_versioned), is_versioned


def exported(data: np.ndarray, device: tuple[int, int], max_version: tuple[int, int] | None) -> Any:
    """A capsule for the memory that an array describes."""
    is_bfloat = data.dtype.name == "bfloat16"
    plain = data.view(np.uint16) if is_bfloat else data
    capsule = plain.__dlpack__(**(_VERSION if max_version and max_version[0] >= 1 else {}))
    tensor, _ = _tensor(capsule)
    tensor.kind, tensor.number = device
    tensor.code = _BFLOAT if is_bfloat else tensor.code
    return capsule


def imported(obj: Any, stream: int) -> np.ndarray:
    """Imports an object in a GPU's memory: an array descriptor that keeps the object alive and is ready for work that
    is put into a stream.
    """
    try:
        capsule = obj.__dlpack__(stream=stream, **_VERSION)
    except TypeError:
        capsule = obj.__dlpack__(stream=stream)
    tensor, is_versioned = _tensor(capsule)
    tensor.kind, tensor.number = HOST, 0
    is_bfloat = (tensor.code, tensor.bits) == (_BFLOAT, 16)
    tensor.code = _UNSIGNED if is_bfloat else tensor.code
    data = np.from_dlpack(_Holder(capsule))
    if not is_versioned and not data.flags.writeable and data.size:
        data = over({**data.__array_interface__, "data": (data.ctypes.data, False)}, data)
    return data.view(importlib.import_module("ml_dtypes").bfloat16) if is_bfloat else data
