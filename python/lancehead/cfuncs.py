"""C functions: compiled functions that C code calls, C functions that compiled code calls, arrays over memory of
C's."""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from lancehead import _core, config, types
from lancehead import options as table
from lancehead.decorated import function_of
from lancehead.options import near_members

if TYPE_CHECKING:
    from typing import Unpack

    from lancehead.typing_ import AnyFunction, JitOptions

_INTEGERS = {
    (t.bitwidth, t.signed): t
    for t in (types.int8, types.int16, types.int32, types.int64, types.uint8, types.uint16, types.uint32, types.uint64)
}
_SCALARS = {"f": types.float32, "d": types.float64, "?": types.boolean, "P": types.voidptr}
#: Addresses of the functions of modules that `cffi` has compiled.
addresses: dict[Any, Any] = {}
#: The types of registered structs, by their `cffi` types.
structs: dict[Any, Any] = {}
_IN_C = {"Integer", "Boolean", "CPointer", "RawPointer", "NoneType"}


def _is_in_c(type_: Any) -> bool:
    return type_.kind in _IN_C or type_ in (types.float32, types.float64)


@near_members
class CFunc:
    """A function that C code calls by its address. An exception is printed to stderr, and the function returns 0.

    >>> half = cfunc("float64(float64)")(lambda x: x / 2)
    >>> half.ctypes(3.0), half.address != 0
    (1.5, True)
    """

    __name__: str
    __qualname__: str

    def __init__(self, function: FunctionType, signature: Any, options: dict[str, Any]) -> None:
        functools.update_wrapper(cast(Callable[..., Any], self), function)
        self._sig = _core.parse_signature(signature) if isinstance(signature, str) else signature
        wanted = getattr(self._sig, "return_type", None)
        if wanted is None:
            raise TypeError(f"a signature with a result type is needed, not {signature!r}")
        #: A type of the signature that C does not have: compiled code calls the function nevertheless.
        self._not_in_c = next((t for t in (wanted, *self._sig.args) if not _is_in_c(t)), None)
        #: The Python function; Numba's name for it.
        self._pyfunc = function
        options = {**config.with_settings(function, options), "_callback": self._not_in_c is None}
        self._dispatcher = _core.dispatcher(function, options, [self._sig.args], True)
        if self._dispatcher.nopython_signatures[0].return_type != wanted:
            self._dispatcher = _converting(self._dispatcher, function, self._sig, options)
        # Where the function is a result, this is what Python gets.
        vars(self._dispatcher)["__lancehead_owner__"] = self
        #: Its name in LLVM's text.
        self.native_name = f"cfunc.{function.__code__.co_qualname}"

    def __repr__(self) -> str:
        return f"<Numba C callback {self.__qualname__!r}>"

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Calls the Python function, as Numba does."""
        return self._pyfunc(*args, **named)

    @functools.cached_property
    def address(self) -> int:
        """The address of the C function."""
        if self._not_in_c is not None:
            raise TypeError(f"a C function has no parameter or result of type {self._not_in_c}")
        return _core.callback_address(self._dispatcher)

    @property
    def _wrapper_address(self) -> int:
        # Numba's name for it, which objects with `__wrapper_address__` use.
        return self.address

    @functools.cached_property
    def ctypes(self) -> Any:
        """The C function for `ctypes`."""
        address = self.address
        prototype = ctypes.CFUNCTYPE(to_ctypes(self._sig.return_type), *map(to_ctypes, self._sig.args))
        return prototype(address)

    @functools.cached_property
    def cffi(self) -> Any:
        """The C function for `cffi`, a `void *`."""
        return importlib.import_module("cffi").FFI().cast("void *", self.address)

    @property
    def cache_hits(self) -> int:
        """How often its code was found in the cache."""
        return sum(self._dispatcher.stats.cache_hits.values())

    def inspect_llvm(self) -> str:
        """LLVM's text after optimisation."""
        return str(next(iter(self._dispatcher.inspect_llvm().values())))


def _converting(compiled: Any, function: FunctionType, signature: Any, options: dict[str, Any]) -> Any:
    """A function whose result is converted to the type that its signature says."""
    wanted = signature.return_type

    def convert(*args: Any) -> Any:
        return wanted(compiled(*args))

    if wanted.kind not in ("Integer", "Float", "Boolean"):
        raise TypeError(f"{function.__qualname__} gives {compiled.nopython_signatures[0].return_type}, not {wanted}")
    # Tracebacks and the cache know it as the function.
    parts = ("co_name", "co_qualname", "co_filename", "co_firstlineno")
    code = convert.__code__.replace(**{part: getattr(function.__code__, part) for part in parts})
    named = FunctionType(code, {"__name__": function.__module__}, function.__name__, None, convert.__closure__)
    named.__qualname__ = function.__qualname__
    # Its one parameter, a tuple of all, is passed as they are.
    return _core.dispatcher(named, options, [(types.Tuple(signature.args),)], True)


def cfunc(signature: str | _core.Signature, **options: Unpack[JitOptions]) -> Callable[[AnyFunction], CFunc]:
    """Compiles a function for one signature as a C function.

    >>> from lancehead import cfunc
    >>> @cfunc("float64(float64, float64)")
    ... def add(x, y):
    ...     return x + y
    >>> add.ctypes(2.0, 3.5)
    5.5
    """
    if options.get("forceobj"):
        raise NotImplementedError(table.OBJECT_MODE)
    given: dict[str, Any] = {**options}
    table.check("cfunc", given)
    if isinstance(signature, FunctionType):
        raise TypeError(f'cfunc() needs a signature: `@cfunc("float64(float64)")` before `{signature.__name__}`')
    return lambda function: CFunc(function_of(function, "cfunc"), signature, given)


table.describe("cfunc", cfunc)


def from_ctypes(c: Any) -> Any:
    """The type of a `ctypes` type."""
    if c is None:
        return types.void
    code = getattr(c, "_type_", None)
    if isinstance(code, type):
        return (
            types.CPointer(from_ctypes(code))
            if issubclass(code, (ctypes._SimpleCData, ctypes._Pointer))
            else types.voidptr
        )
    if isinstance(code, str) and code in _SCALARS:
        return _SCALARS[code]
    if isinstance(code, str) and code in "bBhHiIlLqQ":
        return _INTEGERS[8 * ctypes.sizeof(c), code.islower()]
    raise TypeError(f"Unsupported ctypes type: {c}")


def to_ctypes(type_: Any) -> Any:
    """The `ctypes` type of a type."""
    if type_.kind == "NoneType":
        return None
    if type_.kind == "CPointer":
        return (
            ctypes.c_void_p if type_.dtype.kind in ("Record", "RawPointer") else ctypes.POINTER(to_ctypes(type_.dtype))
        )
    for c in (
        ctypes.c_bool,
        ctypes.c_void_p,
        ctypes.c_float,
        ctypes.c_double,
        *(getattr(ctypes, f"c_{s}int{n}") for s in ("", "u") for n in (8, 16, 32, 64)),
    ):
        if from_ctypes(c) == type_:
            return c
    raise TypeError(f"Cannot convert Numba type '{type_}' to ctypes type")


def _from_cffi(c: Any) -> Any:
    backend = importlib.import_module("_cffi_backend")
    if c.kind == "void":
        return types.void
    if c.kind == "pointer":
        if c.item in structs:
            return types.CPointer(structs[c.item])
        return types.CPointer(_from_cffi(c.item)) if c.item.kind in ("primitive", "pointer") else types.voidptr
    floats = {"float": types.float32, "double": types.float64, "_Bool": types.boolean}
    if c.kind == "primitive" and c.cname in floats:
        return floats[c.cname]
    if c.kind in ("primitive", "enum") and "long double" not in c.cname and "complex" not in c.cname:
        return _INTEGERS[8 * backend.sizeof(c), int(backend.cast(c, -1)) < 0]
    raise TypeError(f"Unsupported cffi type: {c.cname}")


def described(f: Any) -> tuple[str, int, tuple[Any, ...], Any]:
    """Name, address, types of parameters and of the result of a C function.

    The address is zero if there is no code.

    Raises:
        TypeError: they are not known.
    """
    if isinstance(f, types.WrapperAddressProtocol):
        # One that has no code yet may find it when it is asked again.
        signature, address = f.signature(), f.__wrapper_address__() or f.__wrapper_address__()
        return type(f).__name__, max(address, 0), signature.args, signature.return_type
    if not isinstance(f, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        return _described_by_cffi(addresses[f] if isinstance(f, BuiltinFunctionType) else f)
    name = getattr(f, "__name__", type(f).__name__)
    if f.argtypes is None:
        raise TypeError(
            f"ctypes function {name!r} doesn't define its argument types; consider setting the `argtypes` attribute"
        )
    result = f.restype if f.restype is None or isinstance(f.restype, type) else ctypes.c_int
    # Compiled code computes with pointers as numbers.
    ret = types.uint64 if result is ctypes.c_void_p else from_ctypes(result)
    return name, int(ctypes.cast(f, ctypes.c_void_p).value or 0), tuple(map(from_ctypes, f.argtypes)), ret


def checked(f: Any) -> None:
    """Refuses a C function as an argument if there is no code at its address, or its types are not known.

    Raises:
        TypeError: the types are not known.
        ValueError: there is no code.
    """
    if described(f)[1] == 0:
        raise ValueError(f"wrapper address of {f!r} instance must be a positive integer")


def _described_by_cffi(f: Any) -> tuple[str, int, tuple[Any, ...], Any]:
    backend = importlib.import_module("_cffi_backend")
    type_ = backend.typeof(f)
    if type_.kind == "pointer":
        type_ = type_.item
    if type_.kind != "function" or type_.ellipsis:
        raise TypeError(f"{f} is not a C function with parameters of known types")
    address = int(backend.cast(backend.new_primitive_type("uintptr_t"), f))
    ret = types.uint64 if type_.result.cname == "void *" else _from_cffi(type_.result)
    return str(type_.cname), address, tuple(map(_from_cffi, type_.args)), ret


def carray(ptr: Any, shape: int | tuple[int, ...], dtype: Any = None) -> np.ndarray[Any, Any]:
    """An array in C order over the memory that a `ctypes` pointer points to, and that has to stay.

    `dtype` is needed for `c_void_p`, and has to fit other pointers. `TypeError` if it does not.

    >>> import ctypes
    >>> memory = (ctypes.c_double * 3)(1, 2, 3)
    >>> carray(ctypes.cast(memory, ctypes.POINTER(ctypes.c_double)), 3)
    array([1., 2., 3.])
    """
    return _over(ptr, shape, dtype, "C")


def farray(ptr: Any, shape: int | tuple[int, ...], dtype: Any = None) -> np.ndarray[Any, Any]:
    """As `carray`, in Fortran's order.

    >>> import ctypes
    >>> memory = (ctypes.c_double * 4)(1, 2, 3, 4)
    >>> farray(ctypes.cast(memory, ctypes.POINTER(ctypes.c_double)), (2, 2))
    array([[1., 3.],
           [2., 4.]])
    """
    return _over(ptr, shape, dtype, "F")


def _over(ptr: Any, shape: Any, dtype: Any, order: Any) -> np.ndarray[Any, Any]:
    address: Any
    if isinstance(ptr, ctypes.c_void_p):
        if dtype is None:
            raise TypeError("explicit dtype required for void* argument")
        address, item = ptr.value, np.dtype(dtype)
    elif isinstance(ptr, ctypes._Pointer):
        address, item = ctypes.cast(ptr, ctypes.c_void_p).value, np.dtype(ptr._type_)
        if dtype is not None and np.dtype(dtype) != item:
            raise TypeError(f"mismatching dtype '{np.dtype(dtype)}' for pointer {ptr}")
    else:
        raise TypeError(f"expecting a ctypes pointer, got {ptr!r}")
    extents = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    size = item.itemsize * int(np.prod(extents, dtype=np.int64))
    return np.ndarray(extents, item, (ctypes.c_char * size).from_address(address), order=order)
