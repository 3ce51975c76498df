"""What lets compiled code be extended from Python."""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

from lancehead.decorators import is_jitted


def register_jitable(*args: Any, **options: Any) -> Any:
    """Marks a function as one to be compiled into its callers, which every Python function is."""
    if args and callable(args[0]):
        return args[0]
    return lambda function: function


def get_cython_function_address(module: str, name: str) -> int:
    """The address of a C function that a module made by Cython exports, for `ctypes`.

    Raises:
        ValueError: the module exports no such function.
    """
    exported = importlib.import_module(module).__pyx_capi__
    if name not in exported:
        raise ValueError(f"{module} exports no function `{name}`")
    name_of, address_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    address_of.restype, address_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = exported[name]
    found: int = address_of(capsule, name_of(capsule))
    return found


__all__ = ["get_cython_function_address", "is_jitted", "register_jitable"]
