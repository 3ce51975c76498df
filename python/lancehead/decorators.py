"""`jit` and its relatives."""

from __future__ import annotations

import itertools
import warnings
from types import FunctionType
from typing import Any

from lancehead import _core, config, errors
from lancehead import options as table


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


def njit(signature_or_function: Any = None, **options: Any) -> Any:
    """As `jit`, with the same arguments, errors and options: compiled code is all there is, without an object mode.

    >>> @njit(error_model="numpy")
    ... def ratio(x, y):
    ...     return x / y
    >>> ratio(1.0, 0.0)
    inf
    """
    return _decorated("njit", signature_or_function, options)


for _decorator in (jit, njit):
    # Without docstrings (`python -OO`) there is none to complete.
    if _decorator.__doc__:
        _decorator.__doc__ = _decorator.__doc__.rstrip() + table.described(_decorator.__name__)


def _decorated(name: str, given: Any, options: dict[str, Any]) -> Any:
    table.check(name, options)
    if options.get("forceobj") or not (options.get("nopython", True) in (True, None)):
        text = f"{table.OBJECT_MODE}: the function is compiled, or refused, as without `forceobj` and `nopython=False`"
        warnings.warn(errors.NumbaInvalidConfigWarning(text), stacklevel=3)
    if given is None:
        return lambda function: _dispatcher(function, options, [], False)
    if isinstance(given, (str, tuple, _core.Signature)):
        return lambda function: _dispatcher(function, options, [given], True)
    if isinstance(given, list):
        return lambda function: _dispatcher(function, options, given, True)
    return _dispatcher(given, options, [], False)


def _dispatcher(function: Any, options: dict[str, Any], signatures: list[Any], eager: bool) -> Any:
    if isinstance(function, _core.Dispatcher):
        if not options and not signatures:
            return function
        function = function.py_func
    if not isinstance(function, FunctionType):
        raise TypeError(f"The decorated object is not a function (got type {type(function)}).")
    if config.DISABLE_JIT:
        return function
    return _core.dispatcher(function, options, signatures, eager)


def prange(*args: int) -> range:
    """`range` whose iterations do not depend on each other."""
    return range(*args)


def pndindex(*args: Any) -> Any:
    """`numpy.ndindex` whose iterations do not depend on each other."""
    shape = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    return itertools.product(*map(range, shape))


def literally(value: Any) -> Any:
    """Its argument, known while compiling."""
    return value


def literal_unroll(items: Any) -> Any:
    """Its argument, over which a loop is unrolled."""
    return items


def optional(type: _core.Type) -> _core.Type:
    """The type of values of a type, or `None`."""
    return _core.optional_type(type)


def is_jitted(function: object) -> bool:
    """Whether a function is compiled by lancehead."""
    return isinstance(function, _core.Dispatcher)


__all__ = ["is_jitted", "jit", "literal_unroll", "literally", "njit", "optional", "pndindex", "prange"]
