"""Registers modules that `cffi` has compiled and their types, so that compiled code can call their functions."""

from __future__ import annotations

from importlib.util import find_spec
from types import BuiltinFunctionType
from typing import Any

from lancehead import cfuncs
from lancehead.options import public

__all__ = ["SUPPORTED", "register_module", "register_type"]
public(globals())

#: Whether `cffi` is installed.
SUPPORTED = find_spec("cffi") is not None


def register_module(module: Any) -> None:
    """Makes the functions of a module that `cffi` has compiled (`ffi.set_source`) known to compiled code.

    >>> from cffi import FFI
    >>> ffi = FFI()
    >>> ffi.cdef("double half(double);")
    >>> ffi.set_source("_halves", "double half(double x) { return x / 2; }")

    After `ffi.compile()`: `import _halves; register_module(_halves)`, and compiled code calls `_halves.lib.half`.
    """
    for name in dir(module.lib):
        function = getattr(module.lib, name)
        if isinstance(function, BuiltinFunctionType):
            cfuncs.addresses[function] = module.ffi.addressof(module.lib, name)


def register_type(cffi_type: Any, type_: Any) -> None:
    """Says what values of a struct are, behind addresses: `register_type(ffi.typeof("struct z"), complex128)`.

    >>> from cffi import FFI
    >>> ffi = FFI()
    >>> ffi.cdef("typedef struct { double re, im; } number;")
    >>> register_type(ffi.typeof("number"), types.complex128)
    """
    cfuncs.structs[cffi_type] = type_
