"""A compiler from Python and NumPy functions to native code.

>>> from lancehead import njit
>>> @njit
... def add(x, y):
...     return x + y
>>> add(1, 2)
3
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from lancehead import config, errors, types
from lancehead._core import __version__
from lancehead.cfuncs import carray, cfunc, farray
from lancehead.decorators import jit, jit_module, literal_unroll, literally, njit, optional, pndindex, prange
from lancehead.types import (
    b1, bool_, boolean, byte, c8, c16, char, complex64, complex128, deferred_type, double, f2, f4, f8, float16,
    float32, float64, from_dtype, i1, i2, i4, i8, int8, int16, int32, int64, int_, intc, intp, long_, longlong, none,
    short, size_t, ssize_t, u1, u2, u4, u8, uchar, uint, uint8, uint16, uint32, uint64, uintc, uintp, ulong, ulonglong,
    typeof, ushort, void,
)  # fmt: skip
from lancehead.options import NearModules
from lancehead.stencils import stencil
from lancehead.threads import (
    get_num_threads, get_parallel_chunksize, get_thread_id, parallel_chunksize, set_num_threads, set_parallel_chunksize,
    threading_layer,
)  # fmt: skip
from lancehead.ufuncs import guvectorize, vectorize
from lancehead.errors import (
    NumbaDeprecationWarning,
    NumbaError,
    NumbaPerformanceWarning,
    NumbaWarning,
    TypingError,
    UnsupportedError,
)

__all__ = [
    "__version__", "carray", "cfunc", "config", "errors", "farray", "guvectorize", "jit", "jit_module",
    "literal_unroll", "literally", "njit", "optional", "pndindex", "prange", "stencil", "typeof", "types", "vectorize",
    "get_num_threads", "get_parallel_chunksize", "get_thread_id", "parallel_chunksize", "set_num_threads",
    "set_parallel_chunksize", "threading_layer", "NumbaDeprecationWarning", "NumbaError", "NumbaPerformanceWarning",
    "NumbaWarning", "TypingError", "UnsupportedError", "b1", "bool_", "boolean", "byte", "c8", "c16", "char",
    "complex64", "complex128", "deferred_type", "double", "f2", "f4", "f8", "float16", "float32", "float64",
    "from_dtype", "i1", "i2", "i4", "i8", "int8", "int16", "int32", "int64", "int_", "intc", "intp", "long_",
    "longlong", "none", "short", "size_t", "ssize_t", "u1", "u2", "u4", "u8", "uchar", "uint", "uint8", "uint16",
    "uint32", "uint64", "uintc", "uintp", "ulong", "ulonglong", "ushort", "void",
]  # fmt: skip

if TYPE_CHECKING:
    from lancehead import cffi_support as cffi_support
    from lancehead import cuda as cuda
    from lancehead import cudalib as cudalib
    from lancehead import cupy as cupy
    from lancehead import cupyx as cupyx
    from lancehead import experimental as experimental
    from lancehead import extending as extending
    from lancehead import extensions as extensions
    from lancehead import gradients as gradients
    from lancehead import pycc as pycc
    from lancehead import sparse as sparse
    from lancehead import typed as typed
    from lancehead import xp as xp
    from lancehead._command.serve import serve_numba as serve_numba
    from lancehead.bars import progress as progress
    from lancehead.objectmode import objmode as objmode

#: Modules that most programs do without: they are loaded when they are asked for.
_LATER = frozenset((
    "cffi_support", "cuda", "cudalib", "cupy", "cupyx", "experimental", "extending", "extensions", "gradients", "pycc",
    "sparse", "typed", "xp",
))  # fmt: skip

if NearModules not in sys.meta_path:
    sys.meta_path.append(NearModules)


def __getattr__(name: str) -> Any:
    if name == "serve_numba":
        return importlib.import_module("lancehead._command.serve").serve_numba
    if name == "as_dtype":
        return types.as_dtype
    if name == "objmode":
        return importlib.import_module("lancehead.objectmode").objmode
    if name == "progress":
        return importlib.import_module("lancehead.bars").progress
    if name in _LATER:
        return importlib.import_module(f"lancehead.{name}")
    if name == "bool" or isinstance(getattr(errors, name, None), type):
        return getattr(types if name == "bool" else errors, name)
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    raise importlib.import_module("lancehead._absent").missing(__name__, name)


def __dir__() -> list[str]:
    return [*__all__, *_LATER, "as_dtype", "bool", "objmode", "progress", "serve_numba"]
