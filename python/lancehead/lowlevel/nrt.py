"""Numba's memory management as extensions in C reach it: `numba.core.runtime._nrt_python`."""

from __future__ import annotations

import ctypes

from lancehead import _core

#: Functions in the table by which C code manages memory, in its order, and the names that Numba has for them.
_ORDER = "Allocate Allocate_External MemInfo_manage_memory MemInfo_acquire MemInfo_release MemInfo_data".split()


def _table() -> int:
    return int(_core.owner_type()[1])


#: A function of C that gives the address of that table, and lives as long as the process.
_GET_API = ctypes.CFUNCTYPE(ctypes.c_void_p)(_table)


def _helpers() -> dict[str, int]:
    """The addresses of functions of C by their names."""
    words = ctypes.cast(_table(), ctypes.POINTER(ctypes.c_void_p))
    found = {name: words[at] or 0 for at, name in enumerate(_ORDER)}
    return {"get_api": ctypes.cast(_GET_API, ctypes.c_void_p).value or 0, **found}


c_helpers = _helpers()

__all__ = ["c_helpers"]
