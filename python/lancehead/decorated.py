"""The function that a decorator is put on, or a refusal that says what to write instead."""

from __future__ import annotations

import functools
import inspect
import os
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from lancehead import _core

_CLASS = """classes are not compiled. Decorate functions, and keep data in named tuples, record arrays or arrays; \
a function can stay in the class:
    class {name}:
        @staticmethod
        @{decorator}
        def area(width, height):
            return width * height"""
_CACHED = """put the cache above `@{decorator}`; it keeps results of calls from Python:
    @functools.lru_cache
    @{decorator}
    def {name}(...): ..."""
_STATIC = """put `@{kind}` above `@{decorator}`:
    @{kind}
    @{decorator}
    def {name}(...): ..."""
_METHOD = """a method is compiled with its object as first argument, which compiled code does not take. \
Pass its fields to a function:
    @{decorator}
    def {name}(x, y): ..."""
#: How a parameter is passed on.
_PASSED: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*{0}",
    inspect.Parameter.KEYWORD_ONLY: "{0}={0}",
    inspect.Parameter.VAR_KEYWORD: "**{0}",
}
_BUILTIN = "`{name}` is native already; call it in a compiled function"
_PARTIAL = "write a function that calls `{name}` with these arguments, and decorate that"

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
#: Programs of our own that are compiled as those of users are.
_PROGRAMS = f"{_OWN}demo{os.sep}"


def function_of(given: Any, decorator: str) -> FunctionType:
    """The Python function of a function or of a compiled one.

    >>> from lancehead import njit
    >>> function_of(njit(lambda x: x + 1), "njit")(2)
    3

    Raises:
        TypeError: it is something else; the text says what to write for classes, methods, caches, `functools.partial`.
    """
    function = given.py_func if isinstance(given, _core.Dispatcher) else given
    if isinstance(function, FunctionType):
        return function
    text = f"The decorated object is not a function (got type {type(given)})."
    help_ = _help(given)
    if help_ is not None:
        text += "\nhelp: " + help_.format(name=_name(given), decorator=decorator, kind=type(given).__name__)
    raise TypeError(text)


def caller_of_cached(given: Any) -> Any:
    """A function that calls one with `functools.cache`, in its place; anything else as it is.

    >>> import functools
    >>> caller_of_cached(functools.cache(lambda x: x + 1))(2)
    3
    """
    inner = getattr(given, "__wrapped__", None)
    inner = inner.py_func if isinstance(inner, _core.Dispatcher) else inner
    if not isinstance(given, functools._lru_cache_wrapper) or not isinstance(inner, FunctionType):
        return given
    # It has the parameters of the function, which decide how calls of compiled code pass arguments.
    parameters = list(inspect.signature(inner).parameters.values())
    plain = [p.replace(annotation=p.empty, default=p.default if p.default is p.empty else None) for p in parameters]
    names = [_PASSED.get(p.kind, "{0}").format(p.name) for p in parameters]
    call = eval(f"lambda {str(inspect.Signature(plain))[1:-1]}: _given({', '.join(names)})", {"_given": given})
    own = inner.__code__
    call.__code__ = call.__code__.replace(
        co_name=own.co_name, co_filename=own.co_filename, co_firstlineno=own.co_firstlineno
    )
    call.__defaults__, call.__kwdefaults__ = inner.__defaults__, inner.__kwdefaults__
    return functools.update_wrapper(call, inner)


def misfit(function: FunctionType, positional: int, names: tuple[str, ...] | None) -> str | None:
    """Describes the mismatch between a call's arguments and a signature in Numba's words; `None` if the interpreter
    reports it.

    >>> misfit(lambda x, y=1: x, 0, ("z",))
    "missing argument 'x'"
    """
    parameters = list(inspect.signature(function).parameters.values())
    given, takes_more = list(names or ()), any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if any(p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD, p.POSITIONAL_ONLY) for p in parameters):
        return None
    plain = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    least, most, count = sum(p.default is p.empty for p in plain), len(plain), positional + len(given)
    if count > most and not takes_more:
        return f"too many arguments: expected {most}, got {count}"
    if count < least:
        at_least = "" if least == most and not takes_more else "at least "
        return f"not enough arguments: expected {at_least}{least}, got {count}"
    for p in plain[positional:]:
        if p.name in given:
            given.remove(p.name)
        elif p.default is p.empty:
            return f"missing argument {p.name!r}"
    return "some keyword arguments unexpected" if given else None


def _help(given: Any) -> str | None:
    if isinstance(given, type):
        return _CLASS
    if isinstance(given, functools._lru_cache_wrapper):
        return _CACHED
    if isinstance(given, (staticmethod, classmethod)):
        return _STATIC if isinstance(given, staticmethod) else _METHOD
    if isinstance(given, (MethodType, property, functools.cached_property)):
        return _METHOD
    if isinstance(given, functools.partial):
        return _PARTIAL
    return _BUILTIN if isinstance(given, BuiltinFunctionType) else None


def _name(given: Any) -> str:
    inner = getattr(given, "fget", None) or getattr(given, "func", None) or given
    return getattr(inner, "__name__", None) or "f"


def is_own(function: FunctionType) -> bool:
    """Whether a function is lancehead's own: the interpreter cannot run these."""
    file = function.__code__.co_filename
    return file.startswith((_OWN, "<lancehead")) and not file.startswith(_PROGRAMS)


__all__ = ["caller_of_cached", "function_of", "is_own", "misfit"]
