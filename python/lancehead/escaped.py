"""Inner functions that compiled code returns to Python: they become compiled functions with variables of their own."""

from __future__ import annotations

import functools
from types import CellType, CodeType, FunctionType
from typing import Any

from lancehead import _core

#: A captured variable that names the function itself.
_ITSELF = NotImplemented


def function(owner: Any, place: tuple[str, int], parts: tuple[tuple[Any, ...], tuple[Any, ...], dict[str, Any]]) -> Any:
    """An inner function of a function, of this name and in this line, with captured values and defaults.

    >>> from lancehead import njit
    >>> @njit
    ... def adder(n):
    ...     return lambda x: x + n
    >>> adder(3)(4)
    7
    """
    outer = owner.py_func if isinstance(owner, _core.Dispatcher) else owner
    captures, defaults, keywords = parts
    code = _inner_code(outer.__code__, *place)
    # Of functions that call each other, one may have captured more than its code names.
    cells = [CellType() if value is _ITSELF else CellType(value) for value in captures[: len(code.co_freevars)]]
    made = FunctionType(code, outer.__globals__, code.co_name, defaults or None, tuple(cells))
    made.__kwdefaults__ = keywords or None
    made.__module__, made.__qualname__ = outer.__module__, code.co_qualname
    options = owner.targetoptions if isinstance(owner, _core.Dispatcher) else {}
    compiled = _core.dispatcher(made, options, [], False)
    for cell, value in zip(cells, captures, strict=False):
        if value is _ITSELF:
            cell.cell_contents = compiled
    return compiled


def partial(captures: tuple[Any, ...], keywords: dict[str, Any]) -> functools.partial[Any]:
    """A `functools.partial`: the function and its first arguments, and those by name."""
    return functools.partial(captures[0], *captures[1:], **keywords)


def compiled(function: FunctionType) -> Any:
    """A Python function as a compiled one."""
    return _core.dispatcher(function, {}, [], False)


def caller(function: Any) -> Any:
    """A compiled function that calls an object, such as a C function, with its arguments."""

    def call(*args: Any) -> Any:
        return function(*args)

    return _core.dispatcher(call, {}, [], False)


def _inner_code(outer: CodeType, name: str, line: int) -> CodeType:
    todo, found = [outer], []
    while todo:
        inner = [c for c in todo.pop().co_consts if isinstance(c, CodeType)]
        found += [c for c in inner if (c.co_name, c.co_firstlineno) == (name, line)]
        todo += inner
    if any(c != found[0] for c in found):
        raise TypeError(f"several functions `{name}` begin in line {line}, and Python cannot be given one of them")
    return found[0]


__all__ = ["function", "partial"]
