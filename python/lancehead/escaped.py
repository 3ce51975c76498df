"""Inner functions that compiled code returns to Python: they become compiled functions with variables of their own."""

from __future__ import annotations

import contextlib
import functools
import operator
from types import CellType, CodeType, FunctionType
from typing import Any

from lancehead import _core

#: A captured variable that names the function itself.
_ITSELF = NotImplemented


def function(
    owner: Any, place: tuple[str, int, list[str]], parts: tuple[tuple[Any, ...], tuple[Any, ...], dict[str, Any]]
) -> Any:
    """An inner function of a function, of this name and in this line, with what it captures and its defaults.

    >>> from lancehead import njit
    >>> @njit
    ... def adder(n):
    ...     return lambda x: x + n
    >>> adder(3)(4)
    7
    """
    name, line, captured = place
    captures, defaults, keywords = parts
    outer = owner.py_func if isinstance(owner, _core.Dispatcher) else owner
    parent, code = _inner_code(outer.__code__, name, line)
    family = _Family(owner, parent, dict(zip(captured, captures, strict=True)))
    return family.function(code, defaults, keywords)


class _Family:
    """An inner function and those that it calls, which capture the same values and share their cells.

    A variable that none of them captures names one of the functions.
    """

    def __init__(self, owner: Any, parent: CodeType, values: dict[str, Any]) -> None:
        self._owner = owner
        self._codes = [c for c in parent.co_consts if isinstance(c, CodeType)]
        self._values = values
        self._cells: dict[str, CellType] = {}
        self._made: dict[CodeType, Any] = {}

    def function(self, code: CodeType, defaults: tuple[Any, ...] = (), keywords: dict[str, Any] | None = None) -> Any:
        """The compiled function of some code."""
        is_compiled = isinstance(self._owner, _core.Dispatcher)
        outer = self._owner.py_func if is_compiled else self._owner
        closure = tuple(self._cells.setdefault(name, CellType()) for name in code.co_freevars)
        made = FunctionType(code, outer.__globals__, code.co_name, defaults or None, closure)
        made.__kwdefaults__ = keywords or None
        made.__module__, made.__qualname__ = outer.__module__, code.co_qualname
        compiled = self._made[code] = _core.dispatcher(
            made, self._owner.targetoptions if is_compiled else {}, [], False
        )
        for name, cell in zip(code.co_freevars, closure, strict=True):
            value = self._values[name] if name in self._values else self._named(name)
            cell.cell_contents = compiled if value is _ITSELF else value
        return compiled

    def _named(self, name: str) -> Any:
        found = [c for c in self._codes if c.co_name == name]
        if len(found) != 1:
            raise TypeError(f"Python cannot be given an inner function that calls `{name}`: define both outside")
        return self._made.get(found[0]) or self.function(found[0])


def of_library(name: str, captures: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A `functools.partial`, an `operator.itemgetter` or the like, with what it was given."""
    module = next(m for m in (functools, contextlib, operator) if hasattr(m, name))
    return getattr(module, name)(*captures, **keywords)


def compiled(function: FunctionType) -> Any:
    """A Python function as a compiled one."""
    return _core.dispatcher(function, {}, [], False)


def caller(function: Any) -> Any:
    """A compiled function that calls an object, such as a C function, with its arguments."""

    def call(*args: Any) -> Any:
        return function(*args)

    return _core.dispatcher(call, {}, [], False)


def _inner_code(outer: CodeType, name: str, line: int) -> tuple[CodeType, CodeType]:
    # The code, and that around it.
    todo, found = [outer], []
    while todo:
        parent = todo.pop()
        inner = [c for c in parent.co_consts if isinstance(c, CodeType)]
        found += [(parent, c) for c in inner if (c.co_name, c.co_firstlineno) == (name, line)]
        todo += inner
    if any(c != found[0][1] for _, c in found):
        raise TypeError(f"several functions `{name}` begin in line {line}, and Python cannot be given one of them")
    return found[0]


__all__ = ["function", "of_library"]
