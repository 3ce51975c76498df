"""The types of compiled code that annotations say."""

from __future__ import annotations

import collections
import collections.abc
import types as python_types
import typing
from typing import Any

import numpy

from lancehead import _core, errors, types

#: Classes whose values are of one type.
_PLAIN = {
    int: types.int64,
    float: types.float64,
    complex: types.complex128,
    bool: types.boolean,
    str: types.unicode_type,
    bytes: _core.typeof(b""),
    type(None): types.none,
}
#: Containers by their path in the library.
_CONTAINERS = {
    **{cls: f"builtins.{cls.__name__}" for cls in (list, set, dict, frozenset)},
    **{cls: f"collections.{cls.__name__}" for cls in (collections.deque, collections.Counter, collections.OrderedDict)},
}


def tuple_of(*parts: Any) -> tuple[Any, ...]:
    """The parts of a dtype that compiled code describes, as a tuple."""
    return parts


def list_of(*parts: Any) -> list[Any]:
    """The same as a list."""
    return list(parts)


def dict_of(*parts: Any) -> dict[Any, Any]:
    """Keys and values, one after the other, as a dictionary."""
    return dict(zip(parts[::2], parts[1::2], strict=True))


def dtype_of(t: Any) -> Any:
    """NumPy's dtype for a type of compiled code."""
    return numpy.dtype(t.dtype if hasattr(t, "dtype") and not isinstance(t, numpy.dtype) else t)


def hints_of(cls: type) -> dict[str, Any]:
    """The annotations of a class and its bases. If a name in them is not found, those that are text stay text."""
    try:
        return typing.get_type_hints(cls, localns={cls.__name__: cls})
    except (NameError, AttributeError, TypeError):
        bases = reversed(cls.__mro__[:-1])
        return {name: hint for base in bases for name, hint in vars(base).get("__annotations__", {}).items()}


def type_of_hint(hint: Any, *, strict: bool = False) -> Any:
    """The type that an annotation says completely; None if it does not.

    >>> type_of_hint(tuple[int, float])
    Tuple(int64, float64)
    """
    found = _plain(hint)
    if found is None:
        found = _generic(hint)
    if found is None and strict:
        raise errors.TypingError(f"Cannot infer Numba type of Python type {hint!r}")
    return found


def sent_to(function: Any) -> Any:
    """The type of what is sent to a generator, if the annotation of its function's result says it; else None.

    >>> def f() -> Generator[int, float, None]: yield 0
    >>> sent_to(f)
    float64
    """
    try:
        hint = typing.get_type_hints(function).get("return")
    except (NameError, AttributeError, TypeError):
        return None
    args = typing.get_args(hint)
    if typing.get_origin(hint) is not collections.abc.Generator or len(args) < 2:
        return None
    return type_of_hint(args[1])


def _plain(hint: Any) -> Any:
    if isinstance(hint, _core.Type):
        return hint
    if hint is None:
        return types.none
    if isinstance(hint, type):
        if hint in _PLAIN:
            return _PLAIN[hint]
        class_type = vars(hint).get("class_type")
        if class_type is not None:
            return class_type.instance_type
        found = _core.instance_type(hint)
        return _scalar(hint) if found is None else found
    return None


def _scalar(hint: type) -> Any:
    return _core.type_of_dtype(hint) if issubclass(hint, (numpy.number, numpy.bool_)) else None


def _generic(hint: Any) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, python_types.UnionType):
        parts = [part for part in args if part is not type(None)]
        if len(parts) != 1 or len(parts) == len(args):
            return None
        inner = type_of_hint(parts[0])
        return None if inner is None else _core.optional_type(inner)
    if origin is typing.Annotated:
        return type_of_hint(args[0])
    if origin is tuple and args and args[-1] is not Ellipsis:
        parts = [type_of_hint(part) for part in args]
        return None if None in parts else _core.tuple_type(parts)
    if origin in _CONTAINERS:
        items = [type_of_hint(arg) for arg in args]
        if origin is collections.Counter:
            items.append(types.int64)
        return None if None in items else _core.container_type(_CONTAINERS[origin], items)
    return None
