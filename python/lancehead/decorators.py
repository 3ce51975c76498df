"""`jit` and its relatives."""

from __future__ import annotations

import importlib
import itertools
import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from lancehead import _core, config, errors
from lancehead import options as table
from lancehead.decorated import caller_of_cached, function_of, is_own
from lancehead.notices import tell
from lancehead.options import public

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeGuard, Unpack

    from lancehead.typing_ import Compiles, JitOptions, Signatures

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


@overload
def jit(signature_or_function: Callable[P, R], **options: Unpack[JitOptions]) -> _core.Dispatcher[P, R]: ...
@overload
def jit(signature_or_function: Signatures | None = None, **options: Unpack[JitOptions]) -> Compiles: ...
def jit(signature_or_function: Any = None, **options: Any) -> Any:
    """Compiles a function when it is called, for the types of its arguments; at once for signatures that are given.

    Args:
        signature_or_function: the function, or a signature, such as `"float64(float64)"`, or a list of them.
        options: see below.

    Raises:
        TypeError: it is not a function, there is no such option, or its value is of a wrong type.
        ValueError: an option does not take the value.
        TypingError: the function cannot be compiled for a signature that is given.

    >>> @jit
    ... def add(x, y):
    ...     return x + y
    >>> add(1, 2)
    3
    """
    return _decorated("jit", signature_or_function, options)


@overload
def njit(signature_or_function: Callable[P, R], **options: Unpack[JitOptions]) -> _core.Dispatcher[P, R]: ...
@overload
def njit(signature_or_function: Signatures | None = None, **options: Unpack[JitOptions]) -> Compiles: ...
def njit(signature_or_function: Any = None, **options: Any) -> Any:
    """Compiles a function when it is called, for the types of its arguments; at once for signatures that are given.

    It is `jit`, but for `forceobj`, which it ignores with a warning: compiled code is all there is.

    Args:
        signature_or_function: the function, or a signature, such as `"float64(float64)"`, or a list of them.
        options: see below.

    Raises:
        TypeError: it is not a function, there is no such option, or its value is of a wrong type.
        ValueError: an option does not take the value.
        TypingError: the function cannot be compiled for a signature that is given.

    >>> @njit
    ... def total(a):
    ...     s = 0.0
    ...     for x in a:
    ...         s += x
    ...     return s
    >>> total(np.arange(4.0))
    6.0
    >>> @njit(error_model="numpy")
    ... def ratio(x, y):
    ...     return x / y
    >>> ratio(1.0, 0.0)
    inf
    """
    return _decorated("njit", signature_or_function, options)


for _decorator in (jit, njit):
    table.describe(_decorator.__name__, _decorator)


def _decorated(name: str, given: Any, options: dict[str, Any]) -> Any:
    table.check(name, options)
    options = _modes(name, options)
    if given is None:
        return lambda function: _dispatcher(function, options, [], False)
    if isinstance(given, (str, tuple, _core.Signature)):
        return lambda function: _dispatcher(function, options, [given], True)
    if isinstance(given, list):
        return lambda function: _dispatcher(function, options, given, True)
    return _dispatcher(given, options, [], False)


def _modes(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options, with what `nopython` and `forceobj` mean for a decorator."""
    if options.get("forceobj") and name == "njit":
        tell(RuntimeWarning("forceobj is set for njit and is ignored"))
        return {key: value for key, value in options.items() if key != "forceobj"}
    if options.get("forceobj"):
        if options.get("nopython"):
            raise ValueError("Only one of 'nopython' or 'forceobj' can be True.")
        if options.get("nogil"):
            text = "Code running in object mode won't allow parallel execution despite nogil=True."
            tell(errors.NumbaWarning(text))
        return {**options, "_interpreted": True}
    if options.get("nopython", True) not in (True, None):
        text = f"{table.OBJECT_MODE}: the function is compiled, or refused, as without `nopython=False`"
        tell(errors.NumbaInvalidConfigWarning(text))
    return options


def _dispatcher(function: Any, options: dict[str, Any], signatures: list[Any], eager: bool) -> Any:
    if isinstance(function, _core.Dispatcher):
        if config.with_semantics(function, options).get("semantics") == "numba":
            raise TypeError(
                f"A jit decorator was called on an already jitted function {function}. If trying to get access to the "
                f"original python function, use the {function.__name__}.py_func attribute instead."
            )
        if not options and not signatures:
            return function
    function = function_of(caller_of_cached(function), "njit")
    if config.DISABLE_JIT and not is_own(function):
        return function
    return _core.dispatcher(function, config.with_settings(function, options), signatures, eager)


def compiled(function: Any) -> Any:
    """`njit` of a function that the interpreter cannot run, whatever `LANCEHEAD_DISABLE_JIT` says."""
    if isinstance(function, _core.Dispatcher):
        return function
    return _core.dispatcher(function_of(function, "njit"), config.with_settings(function, {}), [], False)


def prange(*args: int) -> range:
    """`range` whose iterations do not depend on each other.

    >>> @njit(parallel=True)
    ... def total(a):
    ...     s = 0.0
    ...     for i in prange(a.shape[0]):
    ...         s += a[i]
    ...     return s
    >>> total(np.ones(1000))
    1000.0
    """
    return range(*args)


def pndindex(*args: int | tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """`numpy.ndindex` whose iterations do not depend on each other.

    >>> @njit(parallel=True)
    ... def filled(a):
    ...     for i in pndindex(a.shape):
    ...         a[i] = i[0] + i[1]
    ...     return a
    >>> filled(np.zeros((2, 3)))
    array([[0., 1., 2.],
           [1., 2., 3.]])
    """
    shape = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    return itertools.product(*map(range, shape))  # type: ignore[arg-type]


def literally(value: T) -> T:
    """Its argument, known while compiling.

    >>> literally(3)
    3
    """
    return value


def literal_unroll(items: T) -> T:
    """Its argument, over which a loop is unrolled.

    >>> @njit
    ... def total(items):
    ...     s = 0.0
    ...     for x in literal_unroll(items):
    ...         s += x
    ...     return s
    >>> total((1, 2.5, True))
    4.5
    """
    return items


def optional(type: _core.Type) -> _core.Type:
    """The type of values of a type, or `None`.

    >>> optional(types.float64)
    OptionalType(float64)
    """
    return _core.optional_type(type)


def jit_module(**options: Any) -> None:
    """Compiles all functions that the calling module defines, with the options of `jit`; called at its end.

    >>> import types, sys
    >>> module = sys.modules["some_module"] = types.ModuleType("some_module")
    >>> exec("from lancehead import jit_module\\ndef f(x): return x + 1\\njit_module(fastmath=True)", vars(module))
    >>> module.f(1), is_jitted(module.f)
    (2, True)
    """
    compile_module(sys._getframe(1).f_globals, options)


def compile_module(names: dict[str, Any], options: dict[str, Any]) -> None:
    """Compiles the functions of a module, by its names."""
    for name, value in list(names.items()):
        if isinstance(value, FunctionType) and value.__module__ == names.get("__name__"):
            text = "Auto decorating function %s from module %s with jit and options: %s"
            # Loaded when it is asked for, so that an import of lancehead stays quick.
            importlib.import_module("logging").getLogger("numba.core.decorators").debug(
                text, value, names["__name__"], options
            )
            names[name] = jit(value, **options)


def is_jitted(function: object) -> TypeGuard[_core.Dispatcher[..., Any]]:
    """Whether a function is compiled by lancehead.

    >>> is_jitted(njit(lambda x: x))
    True
    """
    return isinstance(function, _core.Dispatcher)


__all__ = ["is_jitted", "jit", "jit_module", "literal_unroll", "literally", "njit", "optional", "pndindex", "prange"]
public(globals())
