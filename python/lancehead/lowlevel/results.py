"""Types of results of calls, which the compiler is asked for."""

from __future__ import annotations

from typing import Any

from lancehead import _core, errors, type_texts
from lancehead.decorators import njit


def result_of(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """The type of what a call gives in compiled code; None if it does not compile."""
    try:
        return result_or_error(function, args, named)
    except errors.NumbaError:
        return None


def result_or_error(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """The same.

    Raises:
        NumbaError: it does not compile.
    """
    names = [f"a{i}" for i in range(len(args))] + list(named)
    inside = ", ".join([f"a{i}" for i in range(len(args))] + [f"{n}={n}" for n in named])
    call = eval(f"lambda {', '.join(names)}: function({inside})", {"function": function})
    made = njit(call, semantics="numba") if type_texts.served else njit(call)
    made.compile(tuple(map(_core.unliteral, (*args, *named.values()))))
    return made.nopython_signatures[-1].return_type
