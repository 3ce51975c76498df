"""Functions that run in the interpreter because the decorator says so: `jit(forceobj=True)`.

Nothing else leads here: a function that cannot be compiled is refused.
"""

from __future__ import annotations

import dis
import inspect
from types import CodeType, SimpleNamespace
from typing import Any

from lancehead import _core, errors, types
from lancehead.notices import tell

#: The attribute of a dispatcher in which its signatures are noted.
_NOTED = "_interpreted_signatures"


def signatures(dispatcher: Any) -> list[tuple[Any, ...]]:
    """The argument types of the calls so far, and those that the decorator was given.

    >>> from lancehead import jit
    >>> @jit(forceobj=True)
    ... def shown(x):
    ...     return repr(x)
    >>> shown(1), shown({}), shown.signatures
    ('1', '{}', [(int64,), (pyobject,)])
    """
    return list(getattr(dispatcher, _NOTED, ()))


def note(dispatcher: Any, args: tuple[Any, ...]) -> None:
    """Adds the types of a call's arguments; warns of a cache that keeps nothing, as Numba does of loops."""
    code = dispatcher.py_func.__code__
    if not signatures(dispatcher) and dispatcher.targetoptions.get("cache") and _has_loop(code):
        text = f'Cannot cache compiled function "{code.co_name}" as it uses lifted code'
        tell(errors.NumbaWarning(text))
    _add(dispatcher, tuple(map(_type_of, args)))


def compile(dispatcher: Any, signature: Any) -> Any:
    """Adds a signature. Parameters that it does not mention are objects.

    Raises:
        TypeError: it has some argument types, and not one for each parameter.
    """
    result, args = _read(signature)
    count = sum(p.kind is not p.VAR_KEYWORD for p in inspect.signature(dispatcher.py_func).parameters.values())
    if args and len(args) != count:
        raise TypeError(f"a signature has {len(args)} argument types for {count} parameters")
    args = args or (types.pyobject,) * count
    _add(dispatcher, args)
    return SimpleNamespace(args=args, return_type=types.pyobject if result is None else result)


def overloads(dispatcher: Any) -> dict[tuple[Any, ...], Any]:
    """The facts of each signature, by its argument types."""
    entry = dispatcher.py_func
    return {
        args: SimpleNamespace(
            signature=SimpleNamespace(args=args, return_type=types.pyobject),
            entry_point=entry,
            objectmode=True,
            lifted=(),
        )
        for args in signatures(dispatcher)
    }


def _has_loop(code: CodeType) -> bool:
    return any("JUMP_BACKWARD" in i.opname or i.opname == "JUMP_ABSOLUTE" for i in dis.get_instructions(code))


def _add(dispatcher: Any, args: tuple[Any, ...]) -> None:
    found = signatures(dispatcher)
    if args not in found:
        # Readers have a list that does not change.
        setattr(dispatcher, _NOTED, [*found, args])


def _type_of(value: Any) -> Any:
    try:
        return types.typeof(value)
    except Exception:
        return types.pyobject


def _read(signature: Any) -> tuple[Any, tuple[Any, ...]]:
    if isinstance(signature, str):
        signature = _core.parse_signature(signature)
    if isinstance(signature, tuple):
        return None, signature
    return getattr(signature, "return_type", None), tuple(signature.args)


__all__ = ["compile", "note", "overloads", "signatures"]
