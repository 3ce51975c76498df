"""Functions of `ctypes` as code generators call them."""

from __future__ import annotations

import ctypes
from typing import Any

from lancehead import foreign_types, types
from lancehead.lowlevel.context import signature

_BY_CODE = {
    "?": types.boolean,
    "f": types.float32,
    "d": types.float64,
    "P": types.voidptr,
    "z": types.voidptr,
    "Z": types.voidptr,
    "O": types.pyobject,
}


def from_ctypes(of: Any) -> Any:
    """The type for a class of `ctypes`; `None` is the result of functions without one.

    >>> from_ctypes(ctypes.c_uint16), from_ctypes(None)
    (uint16, none)

    Raises:
        TypeError: there is none.
    """
    if of is None:
        return types.none
    if isinstance(pointee := getattr(of, "_type_", None), type):
        return types.CPointer(from_ctypes(pointee))
    if pointee in _BY_CODE:
        return _BY_CODE[pointee]
    if isinstance(pointee, str) and pointee in "bBhHiIlLqQ":
        sign = "u" if pointee.isupper() else ""
        return getattr(types, f"{sign}int{8 * ctypes.sizeof(of)}")
    raise TypeError(f"Unsupported ctypes type: {of}")


def get_pointer(function: Any) -> int:
    """The address of a function."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def make_function_type(function: Any) -> Any:
    """The type of a function by its `argtypes` and `restype`.

    Raises:
        TypeError: it has no `argtypes`.
    """
    if function.argtypes is None:
        raise TypeError(f"ctypes function {function.__name__!r} has no argument types; set its `argtypes`")
    result = from_ctypes(function.restype)
    result = types.uint64 if result == types.voidptr else result
    sig = signature(result, *map(from_ctypes, function.argtypes))
    return foreign_types.ExternalFunctionPointer(sig, get_pointer)
