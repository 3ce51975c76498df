"""Values of function types by the addresses of functions of C: `numba.experimental.function_type`, and what struct
proxies of such types stand for."""

from __future__ import annotations

import functools
from typing import Any

from lancehead import _core, types
from lancehead.cfuncs import cfunc
from lancehead.extending import overload
from lancehead.lib import prim

#: Members that Numba's values of function types have: only the address of a function of C has a meaning here.
MEMBERS = ("c_addr", "py_addr", "jit_addr")


def as_address(x: Any) -> Any:
    """An argument of a function of C as an address."""


@overload(as_address)
def _as_address(x: Any) -> Any:
    if isinstance(x, types.NoneType):
        return lambda x: prim.lh_addr_ptr(0)
    if isinstance(x, types.Array):
        return lambda x: prim.data(x)
    if isinstance(x, types.Integer):
        return lambda x: prim.lh_addr_ptr(prim.cast(x, types.int64))
    if isinstance(x, (types.CPointer, types.RawPointer)):
        return lambda x: prim.address(x)
    return lambda x: prim.lh_addr_ptr(prim.cast(x.data, types.int64))


def _is_address(of: Any) -> bool:
    return getattr(of, "kind", "") in ("CPointer", "RawPointer", "PyObject")


@functools.cache
def function_at(of: Any) -> Any:
    """The function that makes a function of a function type of the address of one of C.

    >>> import ctypes
    >>> from lancehead import njit
    >>> sqrt = function_at(types.FunctionType(types.float64(types.float64)))
    >>> address = ctypes.cast(ctypes.CDLL(None).sqrt, ctypes.c_void_p).value
    >>> njit(lambda p, x: sqrt(prim.lh_addr_ptr(p))(x))(address, 16)
    4.0
    """
    sig = of.signature
    names = [f"a{i}" for i in range(len(sig.args))]
    space: dict[str, Any] = {"prim": prim, "as_address": as_address, "result": sig.return_type}
    given = []
    for name, want in zip(names, sig.args, strict=True):
        space[f"of_{name}"] = want
        given.append(f"as_address({name})" if _is_address(want) else f"prim.as_type({name}, of_{name})")
    call = f"prim.call_address(address, result, {', '.join(given)})"
    if sig.return_type == types.none:
        call = f"({call}, None)[1]"
    exec(f"def at(address):\n    return lambda {', '.join(names)}: {call}\n", space)
    return space["at"]


@functools.cache
def _wrapper(function: Any, sig: Any) -> Any:
    return cfunc(sig)(getattr(function, "py_func", function))


def _get_wrapper_address(func: Any, sig: Any) -> int:
    """The address of a function of C that calls a compiled one with the types of a signature. It stays valid.

    >>> from lancehead import njit
    >>> _get_wrapper_address(njit(lambda x: x + 1), types.int64(types.int64)) > 0
    True
    """
    if hasattr(func, "__wrapper_address__"):
        return int(func.__wrapper_address__())
    if isinstance(func, _core.Dispatcher):
        return int(_wrapper(func, sig).address)
    return int(func.address)


__all__ = ["MEMBERS", "function_at"]
