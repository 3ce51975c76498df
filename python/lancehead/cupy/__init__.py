"""CuPy's interface over lazily fused arrays: a program moves by its import.

>>> from lancehead import cupy as cp
>>> x = cp.arange(5, dtype=cp.float32)
>>> y = cp.sqrt(x * x + 1.0)
>>> y.get().shape
(5,)
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import (
    base_repr, binary_repr, bool_, broadcast_shapes, byte, cdouble, complex64, complex128, complexfloating, csingle,
    double, dtype, e, errstate, euler_gamma, finfo, float16, float32, float64, floating, format_float_positional,
    format_float_scientific, generic, get_printoptions, geterr, iinfo, inexact, inf, int8, int16, int32, int64, int_,
    intc, integer, intp, isdtype, issubdtype, longlong, mintypecode, nan, newaxis, number, pi, printoptions,
    promote_types, set_printoptions, short, signedinteger, single, typename, ubyte, uint8, uint16, uint32, uint64,
    uintc, uintp, ulonglong, unsignedinteger, ushort,
)  # fmt: skip

from lancehead._core import __version__ as _VERSION
from lancehead.cupy import (
    creation, cuda, exceptions, fft, layout, linalg, random, reductions, routines, shapes, ufuncs,
)  # fmt: skip
from lancehead.cupy.array import ndarray
from lancehead.cupy.creation import *  # noqa: F403
from lancehead.cupy.fusion import fuse
from lancehead.cupy.reductions import *  # noqa: F403
from lancehead.cupy.routines import *  # noqa: F403
from lancehead.cupy.shapes import *  # noqa: F403
from lancehead.cupy.ufuncs import *  # noqa: F403
from lancehead.options import missing

if TYPE_CHECKING:
    from lancehead.cupy.kernels import ElementwiseKernel
    from lancehead.cupy.raw import RawKernel, RawModule
    from lancehead.cupy.reduction_kernels import ReductionKernel

abs = ufuncs.absolute
acos = ufuncs.arccos
acosh = ufuncs.arccosh
asin = ufuncs.arcsin
asinh = ufuncs.arcsinh
atan = ufuncs.arctan
atan2 = ufuncs.arctan2
atanh = ufuncs.arctanh
bitwise_invert = ufuncs.invert
bitwise_left_shift = ufuncs.left_shift
bitwise_not = ufuncs.invert
bitwise_right_shift = ufuncs.right_shift
concat = shapes.concatenate
conj = ufuncs.conjugate
max = reductions.amax
min = reductions.amin
mod = ufuncs.remainder
permute_dims = shapes.transpose
pow = ufuncs.power
round = routines.around
trapz = routines.trapezoid

bool = np.bool_
float = np.float64
int = np.int64
complex = np.complex128
cfloat = np.complex128
float_ = np.float64
complex_ = np.complex128
singlecomplex = np.complex64
__version__ = "14.2.0"

_POOL = cuda.MemoryPool()
cuda.set_allocator(_POOL.malloc)
_PINNED_POOL = cuda.PinnedMemoryPool()


def get_array_module(*args: Any) -> Any:
    """This module if an argument is an array of the device, else NumPy."""
    from lancehead.xp.arrays import ndarray as lazy

    if any_of(args, lazy):
        return importlib.import_module("lancehead.cupy")
    return np


def any_of(given: Any, kind: Any) -> Any:
    """Whether one of several objects is of a class, or has memory on a device."""
    for x in given:
        if isinstance(x, kind) or hasattr(x, "__cuda_array_interface__"):
            return True
    return False


def get_default_memory_pool() -> cuda.MemoryPool:
    """The pool of memory of devices."""
    return _POOL


def get_default_pinned_memory_pool() -> cuda.PinnedMemoryPool:
    """The pool of memory of the host for copies."""
    return _PINNED_POOL


def is_available() -> Any:
    """Whether there is a device; without a GPU it is the CPU device."""
    return cuda.is_available()


_KEPT: list[Any] = []


def memoize(for_each_device: Any = False) -> Any:
    """A decorator that keeps the results of a function, for each device if that is asked for."""
    import functools

    def keep(f: Any) -> Any:
        kept = functools.cache(lambda device, *given, **named: f(*given, **named))
        _KEPT.append(kept)

        @functools.wraps(f)
        def g(*given: Any, **named: Any) -> Any:
            return kept(layout.CURRENT.number if for_each_device else 0, *given, **named)

        return g

    return keep


def clear_memo() -> None:
    """Forgets the results that `memoize` keeps."""
    for kept in _KEPT:
        kept.cache_clear()


def show_config(*, _full: Any = False) -> None:
    """Prints the versions of lancehead and of the device's software."""
    print(f"lancehead {_VERSION}, CuPy's interface {__version__}, CUDA {cuda.runtime.runtimeGetVersion()}")


#: Names that are found when they are asked for, and their modules.
_LATER = {
    "ElementwiseKernel": "kernels", "ReductionKernel": "reduction_kernels", "RawKernel": "raw", "RawModule": "raw",
}  # fmt: skip


layout.NAMESPACE.append(sys.modules[__name__])


def __getattr__(name: str) -> Any:
    if name in ("sparse", "testing"):
        return importlib.import_module(f"lancehead.cupy.{name}")
    if name in _LATER:
        found = globals()[name] = getattr(importlib.import_module(f"lancehead.cupy.{_LATER[name]}"), name)
        return found
    raise missing(__name__, name)


#: The names of functions stand in the modules that define them.
__all__ = [
    "ElementwiseKernel", "RawKernel", "RawModule", "ReductionKernel", "abs", "acos", "acosh", "asin", "asinh", "atan",
    "atan2", "atanh", "base_repr", "binary_repr", "bitwise_invert", "bitwise_left_shift", "bitwise_not",
    "bitwise_right_shift", "bool_", "broadcast_shapes", "byte", "cdouble", "clear_memo", "complex128", "complex64",
    "complexfloating", "concat", "conj", "csingle", "cuda", "double", "dtype", "e", "errstate", "exceptions",
    "euler_gamma", "fft", "finfo", "float16", "float32", "float64", "floating", "format_float_positional",
    "format_float_scientific", "fuse", "generic", "get_array_module", "get_default_memory_pool",
    "get_default_pinned_memory_pool", "get_printoptions", "geterr", "iinfo", "inexact", "inf", "int16", "int32",
    "int64", "int8", "int_", "intc", "integer", "intp", "is_available", "isdtype", "issubdtype", "linalg", "longlong",
    "max", "memoize", "min", "mintypecode", "mod", "nan", "ndarray", "newaxis", "number", "permute_dims", "pi", "pow",
    "printoptions", "promote_types", "random", "round", "set_printoptions", "short", "show_config", "signedinteger",
    "single", "trapz", "typename", "ubyte", "uint16", "uint32", "uint64", "uint8", "uintc",
    "uintp", "ulonglong", "unsignedinteger", "ushort",
    "sparse", "testing",  # noqa: F405
]  # fmt: skip
__all__ += creation.__all__ + reductions.__all__ + routines.__all__ + shapes.__all__ + ufuncs.__all__


def __dir__() -> list[str]:
    return [*__all__, "bool", "cfloat", "complex", "complex_", "float", "float_", "int", "singlecomplex"]
