"""Types that hold an array and say so by `as_array`: what compiled code does with arrays, it does with their values.

`lower_builtin("__array__", T)` says where the array of a value is, `lower_builtin("__array_wrap__", T, types.Array)`
makes the value that a ufunc or operator returns of its result, as Numba has it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead import extending, types
from lancehead.lowlevel.context import blamed, recording, signature
from lancehead.lowlevel.registry import generator_for, recorded, typed_by_name
from lancehead.lowlevel.results import result_of
from lancehead.lowlevel.values import lowered

_OPERATORS = (
    "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift lt le gt ge eq ne neg pos invert "
    "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift"
)


def _is_array_like(of: Any) -> bool:
    return getattr(of, "kind", "") == "Extension" and generator_for("__array__", (of,)) is not None


def _array(of: Any) -> Any:
    """The function that gives the array of a value of a type."""
    generator = generator_for("__array__", (of,))
    with recording("as_array", generator.__code__, [of]) as (context, builder), blamed(generator):
        r = builder.recorder
        held = r.slot(lowered(of))
        builder.store(r.args[0], held)
        found = builder.load(generator(context, builder, signature(of.as_array, of), (held,)))
        return r.finish(r.result(found, of.as_array))


def _view(of: Any, array: Any) -> Any:
    """The function that makes a value of a class of buffers of an array that an index has given; None if it stays an
    array."""
    if not isinstance(of, types.Buffer):
        return None
    try:
        to = of.copy(ndim=array.ndim, layout=array.layout)
    except (AssertionError, TypeError, AttributeError):
        return None
    generator = generator_for("__array__", (to,))
    with recording("as_view", generator.__code__, [array]) as (context, builder), blamed(generator):
        r = builder.recorder
        place = generator(context, builder, signature(array, to), (r.slot(lowered(to)),))
        if getattr(place, "proxy", None) is None:
            return None
        builder.store(r.args[0], place)
        return r.finish(r.result(place.proxy._getvalue(), to))


def _wrapper(of: Any, result: Any) -> Any:
    """The function that makes a value of a type of another one and the result of an operation; None if it stays what
    it is."""
    generator = generator_for("__array_wrap__", (of, result))
    typed = None if generator is None else typed_by_name("__array_wrap__", of, result)
    return None if typed is None else recorded(generator, typed, (of, result))


def _operation(function: Any) -> Callable[..., Any]:
    """An overload that chooses the function that applies an operation to the arrays of its operands."""

    def choose(*given: Any) -> Any:
        like = [i for i, of in enumerate(given) if _is_array_like(of)]
        if not like:
            return None
        plain = tuple(of.as_array if i in like else of for i, of in enumerate(given))
        result = result_of(function, plain, {})
        if result is None:
            return None
        first = max(like, key=lambda i: getattr(given[i], "array_priority", 0))
        wrapper = _wrapper(given[first], result) if isinstance(result, types.Array) else None
        inside = {"function": function, "wrapper": wrapper} | {f"array{i}": _array(given[i]) for i in like}
        names = [f"a{i}" for i in range(len(given))]
        call = ", ".join(f"array{i}({n})" if i in like else n for i, n in enumerate(names))
        text = f"function({call})" if wrapper is None else f"wrapper(a{first}, function({call}))"
        return eval(f"lambda {', '.join(names)}: {text}", inside)

    return choose


def _length(of: Any) -> Any:
    if not _is_array_like(of):
        return None
    array = _array(of)
    return lambda value: len(array(value))


def _item(of: Any, index: Any) -> Any:
    if not _is_array_like(of):
        return None
    array = _array(of)
    result = result_of(operator.getitem, (of.as_array, index), {})
    view = _view(of, result) if isinstance(result, types.Array) else None
    if view is None:
        return lambda value, index: array(value)[index]
    return lambda value, index: view(array(value)[index])


def _assign(of: Any, index: Any, new: Any) -> Any:
    if not _is_array_like(of):
        return None
    array = _array(of)

    def assign(value: Any, index: Any, new: Any) -> None:
        array(value)[index] = new

    return assign


def _items(of: Any) -> Any:
    if not _is_array_like(of):
        return None
    array = _array(of)
    return lambda value: array(value)


def enable() -> None:
    """Lets compiled code ask whether a value of a program's type is like an array, once."""
    if len in extending.FALLBACKS:
        return
    ufuncs: set[Any] = {f for f in vars(np).values() if isinstance(f, np.ufunc)}
    own: dict[Any, Any] = {len: _length, operator.getitem: _item, operator.setitem: _assign, iter: _items}
    functions = [*ufuncs, *(getattr(operator, name) for name in _OPERATORS.split())]
    for function, choose in {**{f: _operation(f) for f in functions}, **own}.items():
        extending.falling_back(function, choose)
