"""Types for type checkers and editors: the decorators' options, arguments and results.

No program imports this when it runs: decorators name it under `TYPE_CHECKING`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, ParamSpec, Protocol, SupportsIndex, TypedDict, TypeVar, overload

import numpy as np

from lancehead._core import Dispatcher, DUFunc, Signature, Type
from lancehead.cfuncs import CFunc
from lancehead.cuda.args import ArgHint
from lancehead.cuda.devicearray import DeviceNDArray, DeviceRecord
from lancehead.cuda.dispatcher import CUDADispatcher
from lancehead.cuda.ufuncs import DeviceUFunc
from lancehead.stencils import StencilFunc

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)
AnyFunction = Callable[..., Any]

#: Types of arguments, perhaps with that of the result.
OneSignature = str | Signature | tuple[Type, ...]
Signatures = OneSignature | Sequence[OneSignature]

FastmathFlag = Literal["nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"]
# A variable with flags is one of strings for type checkers. A string alone, which is a collection of strings, is
# refused.
FastmathFlags = set[FastmathFlag] | set[str] | frozenset[str] | list[FastmathFlag] | list[str] | tuple[str, ...]
Fastmath = bool | FastmathFlags | dict[FastmathFlag, bool] | dict[str, bool]


class Parallel(TypedDict, total=False):
    """Switches for the constructs that `parallel=True` runs on several threads."""

    comprehension: bool
    prange: bool
    inplace_binop: bool
    setitem: bool
    reduction: bool
    numpy: bool
    stencil: bool
    fusion: bool
    unsafe: bool
    race: bool


class CompilerOptions(TypedDict, total=False):
    """Options of `jit`, `vectorize`, `guvectorize` and `cfunc`: those that all of them have."""

    parallel: bool | Parallel | None
    cache: bool
    fastmath: Fastmath
    boundscheck: bool | None
    nogil: bool
    error_model: Literal["python", "numpy"]
    overflow: Literal["wrap", "check"]
    semantics: Literal["python", "numba"]
    debug: bool
    # Accepted for Numba's sake.
    inline: Literal["never", "always"] | AnyFunction
    locals: Mapping[str, Type]
    nopython: bool
    forceobj: bool
    looplift: bool
    forceinline: bool
    no_cpython_wrapper: bool
    no_cfunc_wrapper: bool
    no_rewrites: bool
    pipeline_class: Any
    pipeline: Any
    target_backend: str | None


class VectorizeOptions(CompilerOptions, total=False):
    """Options of `vectorize`, beside `target` and `identity`; that of its own is accepted for Numba's sake."""

    writable_args: Sequence[str | int]


class JitOptions(VectorizeOptions, total=False):
    """Options of `jit` and `cfunc`; those of their own are accepted for Numba's sake."""

    target: str
    identity: Any


class StencilOptions(TypedDict, total=False):
    """Options of `stencil`."""

    neighborhood: Sequence[tuple[int, int]] | None
    standard_indexing: str | Iterable[str] | None
    cval: Any
    index_offsets: Iterable[int] | None
    cache: bool
    semantics: Literal["python", "numba"]
    mode: Literal["constant"]


class CudaOptions(TypedDict, total=False):
    """Options of `cuda.jit`, beside `device`, `debug` and `opt`."""

    cache: bool
    semantics: Literal["python", "numba"]
    fastmath: Fastmath
    boundscheck: bool | None
    overflow: Literal["wrap", "check"]
    lineinfo: bool
    link: Any
    extensions: Sequence[Any]
    max_registers: int | None
    launch_bounds: int | tuple[int, ...] | None
    shared_memory_carveout: int | str | None
    # Accepted for Numba's sake.
    inline: Literal["never", "always"] | bool
    forceinline: bool
    nopython: bool
    lto: Any
    cc: Any
    abi: Any
    abi_info: Any
    output: Any


#: Arguments of launches that a kernel takes where its parameter is an array or a record of NumPy.
InsteadOfArray = DeviceNDArray | DeviceRecord | ArgHint

#: One to three extents of a launch.
Extents = SupportsIndex | tuple[SupportsIndex, ...] | list[int]
#: Blocks, threads of a block, stream, bytes of dynamic shared memory.
LaunchConfiguration = (
    tuple[Extents, Extents]
    | tuple[Extents, Extents, Any]
    | tuple[Extents, Extents, Any, int]
    | tuple[Extents, Extents, Any, int | None, Any]
)


class Compiles(Protocol):
    """A decorator that compiles a function."""

    def __call__(self, function: Callable[P, R], /) -> Dispatcher[P, R]: ...


class CompilesKernel(Protocol):
    """A decorator that makes a kernel of a function."""

    def __call__(self, function: Callable[P, None], /) -> CUDADispatcher[P, None]: ...


class CompilesDeviceFunction(Protocol):
    """A decorator that makes a function of a function that kernels call."""

    def __call__(self, function: Callable[P, R], /) -> CUDADispatcher[P, R]: ...


class Derivative(Protocol[T_contra, P, R_co]):
    """The derivative of a function with respect to its first argument: it takes the same arguments."""

    @overload
    def __call__(self, first: T_contra, /, *args: P.args, **named: P.kwargs) -> R_co: ...
    @overload
    def __call__(self, **named: Any) -> R_co: ...


class Stated(Protocol[P, R_co]):
    """A function whose derivative the program states."""

    def __call__(self, *args: P.args, **named: P.kwargs) -> R_co: ...
    @property
    def defvjp(self) -> Callable[[AnyFunction, AnyFunction], Any]: ...
    @property
    def defjvp(self) -> Callable[[AnyFunction], Any]: ...


#: With respect to which arguments: a position or a name, or several.
Argnums = int | str | tuple[int | str, ...] | list[int | str]

MakesUfunc = Callable[[AnyFunction], np.ufunc]
MakesDUFunc = Callable[[AnyFunction], DUFunc]
MakesDeviceUFunc = Callable[[AnyFunction], DeviceUFunc]
MakesStencil = Callable[[AnyFunction], StencilFunc]
MakesCFunc = Callable[[AnyFunction], CFunc]
