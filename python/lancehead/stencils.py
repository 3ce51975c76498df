"""`stencil`: a function of an array's neighbourhood, applied to every element."""

from __future__ import annotations

import functools
import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any, overload

from lancehead import _core, config, errors
from lancehead import options as table
from lancehead.decorated import function_of
from lancehead.options import near_members, public

if TYPE_CHECKING:
    from typing import Literal, Unpack

    from lancehead.typing_ import AnyFunction, MakesStencil, StencilOptions

_OPTIONS = tuple(table.of("stencil"))


@near_members
class StencilFunc:
    """A stencil: called with arrays, it gives an array of what its function makes of every neighbourhood.

    >>> slope = stencil(lambda a: a[1] - a[-1])
    >>> slope.neighborhood is None, slope(np.array([0.0, 1.0, 4.0, 9.0]))
    (True, array([0., 4., 8., 0.]))
    """

    __qualname__: str
    kernel: Any
    neighborhood: tuple[tuple[int, int], ...] | None
    standard_indexing: tuple[str, ...]
    cval: Any
    index_offsets: tuple[int, ...]
    cache: bool
    semantics: str

    def __init__(self, kernel: Any, options: dict[str, Any]) -> None:
        function = function_of(kernel, "stencil")
        functools.update_wrapper(self, function)
        self.kernel = kernel
        given = options.get("neighborhood")
        self.neighborhood = None if given is None else _pairs(given)
        self.standard_indexing = _names(function, options.get("standard_indexing"))
        self.cval = options.get("cval")
        self.index_offsets = tuple(int(i) for i in options.get("index_offsets") or ())
        self.cache = bool(options.get("cache"))
        self.semantics = config.with_semantics(function, options).get("semantics", "python")
        self._call = _caller(self, function)

    def __call__(self, *args: Any, out: Any = None) -> Any:
        return self._call(out, *args)

    def __reduce__(self) -> Any:
        module: Any = sys.modules.get(self.__module__)
        if getattr(module, self.__qualname__, None) is self:
            return self.__qualname__
        options = {name: getattr(self, name) for name in _OPTIONS}
        return StencilFunc, (self.kernel, options)


def _caller(stencil: Any, function: FunctionType) -> Any:
    def call(out: Any, *args: Any) -> Any:
        return stencil(*args, out=out)

    # Where the stencil is: there diagnostics point, and beside it compiled code is kept.
    own, units = function.__code__, len(call.__code__.co_code) // 2
    # All of it in the first line, without columns: eight instructions an entry.
    lines = b"".join(bytes([0xE7 + min(8, units - at), 0]) for at in range(0, units, 8))
    code = call.__code__.replace(co_filename=own.co_filename, co_firstlineno=own.co_firstlineno, co_linetable=lines)
    placed = FunctionType(code, call.__globals__, function.__name__, None, call.__closure__)
    placed.__qualname__, placed.__module__ = function.__qualname__, function.__module__
    return _core.dispatcher(placed, {"cache": stencil.cache, "semantics": stencil.semantics}, [], False)


def _pairs(neighborhood: Any) -> tuple[tuple[int, int], ...]:
    pairs = tuple((int(low), int(high)) for low, high in neighborhood)
    if any(low > high for low, high in pairs):
        raise errors.NumbaValueError(f"the neighborhood {pairs} has a range that ends before it begins")
    return pairs


def _names(function: FunctionType, given: Any) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given or ())
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    for name in names:
        if name not in parameters:
            raise errors.NumbaValueError(
                f"Standard indexing requested for an array name not present in the stencil kernel definition: {name}"
            )
    if parameters[:1] and parameters[0] in names:
        raise errors.NumbaValueError(
            "The first argument to a stencil kernel must use relative indexing, not standard indexing."
        )
    return names


@overload
def stencil(func_or_mode: Literal["constant"] = "constant", **options: Unpack[StencilOptions]) -> MakesStencil: ...
@overload
def stencil(func_or_mode: AnyFunction, **options: Unpack[StencilOptions]) -> StencilFunc: ...
def stencil(func_or_mode: Any = "constant", **options: Any) -> Any:
    """A stencil from a function that indexes its arrays relative to the element being computed.

    >>> import numpy as np
    >>> @stencil
    ... def smooth(a):
    ...     return (a[-1] + a[0] + a[1]) / 3
    >>> smooth(np.array([0.0, 3.0, 6.0, 0.0]))
    array([0., 3., 3., 0.])
    """
    mode = func_or_mode if isinstance(func_or_mode, str) else options.pop("mode", "constant")
    if mode != "constant":
        raise errors.NumbaValueError(f"Unsupported mode style {mode}: there is only 'constant'")
    for name in options:
        if name not in _OPTIONS:
            raise errors.NumbaValueError(
                f"Unknown stencil option {name}, not one of {', '.join(_OPTIONS)}{table.suggestion(name, _OPTIONS)}"
            )
    table.check("stencil", options)
    if isinstance(func_or_mode, str):
        return lambda function: _made(function, options)
    return _made(func_or_mode, options)


table.describe("stencil", stencil)


def _made(function: Any, options: dict[str, Any]) -> Any:
    return StencilFunc(function, options)


__all__ = ["StencilFunc", "stencil"]
public(globals())
