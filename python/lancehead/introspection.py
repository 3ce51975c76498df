"""Numba's functions that inspect compiled functions, beside the methods that dispatchers have themselves."""

from __future__ import annotations

import inspect
import uuid
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from lancehead import _core, caching, types
from lancehead.options import NoMember


class CompileResult:
    """The facts of one specialisation.

    >>> from lancehead import njit
    >>> twice = njit(lambda x: 2 * x)
    >>> twice(2), twice.get_compile_result(twice.nopython_signatures[0]).signature
    (4, (int64) -> int64)
    """

    dispatcher: Any
    signature: Any

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)

    def __getattr__(self, name: str) -> Any:
        find = _OF_RESULTS.get(name)
        if find is None:
            raise NoMember(f"{type(self).__name__!r} object", name, lambda: [*dir(self), *_OF_RESULTS])
        return find(self)

    def __repr__(self) -> str:
        return f"<CompileResult of {self.dispatcher.__qualname__}{self.signature}>"


_OF_RESULTS: dict[str, Callable[[Any], Any]] = {
    "fndesc": lambda r: SimpleNamespace(
        qualname=r.dispatcher.__qualname__, argtypes=r.signature.args, restype=r.signature.return_type,
        modname=r.dispatcher.__module__, mangled_name=r.dispatcher.__qualname__, unique_name=r.dispatcher.__qualname__,
    ),
    "library": lambda r: SimpleNamespace(
        name=r.dispatcher.__qualname__,
        get_llvm_str=lambda: r.dispatcher.inspect_llvm(r.signature.args),
        get_asm_str=lambda: r.dispatcher.inspect_asm(r.signature.args),
    ),
    "metadata": lambda r: r.dispatcher.get_metadata(r.signature.args),
    "type_annotation": lambda r: _annotation(r.dispatcher),
    "lifted": lambda r: (),
    "typing_error": lambda r: None,
    "environment": lambda r: SimpleNamespace(globals=r.dispatcher.__globals__, consts=[]),
    "reload_init": lambda r: (),
    "call_helper": lambda r: None,
}  # fmt: skip


def _annotation(dispatcher: Any) -> str:
    import io

    out = io.StringIO()
    dispatcher.inspect_types(out)
    return out.getvalue()


def _args(signature: Any) -> tuple[Any, ...]:
    if isinstance(signature, str):
        signature = _core.parse_signature(signature)
    return tuple(getattr(signature, "args", signature))


def _result(dispatcher: Any, signature: Any) -> Any:
    """The facts of the specialisation for a signature, which is compiled if it does not exist."""
    wanted = _args(signature)
    if wanted not in dispatcher.overloads:
        dispatcher.compile(signature)
    return dispatcher.overloads[wanted]


def _enable_caching(dispatcher: Any) -> None:
    dispatcher.targetoptions["cache"] = True


def _folded(dispatcher: Any, args: tuple[Any, ...], kws: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """A signature of Python and types of arguments in order, those of defaults added."""
    signature = inspect.signature(dispatcher.py_func)
    bound = signature.bind(*args, **kws)
    given = [
        bound.arguments[p.name] if p.name in bound.arguments else types.Omitted(p.default)
        for p in signature.parameters.values()
    ]
    return signature, tuple(given)


#: Caches of dispatchers, as Numba has them: they say where code is kept.
_CACHES: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def _cache(dispatcher: Any) -> Any:
    """The cache of a dispatcher: one that keeps nothing, unless it is of a function with `cache=True`."""
    kind = caching.FunctionCache if dispatcher.targetoptions.get("cache") else caching.NullCache
    known = _CACHES.get(dispatcher)
    if type(known) is not kind:
        known = caching.NullCache() if kind is caching.NullCache else caching.FunctionCache(dispatcher.py_func)
        _CACHES[dispatcher] = known
    return known


_UUIDS: weakref.WeakKeyDictionary[Any, uuid.UUID] = weakref.WeakKeyDictionary()

_ATTRIBUTES: dict[str, Callable[[Any], Any]] = {
    "get_compile_result": lambda d: lambda sig: _result(d, sig),
    "get_overload": lambda d: lambda sig: _result(d, sig).entry_point,
    "get_function_type": lambda d: (
        lambda: types.FunctionType(d.nopython_signatures[0]) if not d._can_compile and len(d.signatures) == 1 else None
    ),
    "locals": lambda d: dict(d.targetoptions.get("locals") or {}),
    "doc": lambda d: d.__doc__,
    "func_code": lambda d: d.__code__,
    "func_defaults": lambda d: d.__defaults__,
    "is_compiling": lambda d: False,
    "enable_caching": lambda d: lambda: _enable_caching(d),
    "typeof_pyval": lambda d: types.typeof,
    "fold_argument_types": lambda d: lambda args, kws: _folded(d, args, kws),
    "_type": types.typeof,
    "_numba_type_": types.typeof,
    "__numba__": lambda d: "py_func",
    "_cache": _cache,
    "_uuid": lambda d: str(_UUIDS.setdefault(d, uuid.uuid4())),
    "inspect_cfg": lambda d: lambda signature=None, **more: d.inspect_llvm(signature),
    "inspect_disasm_cfg": lambda d: lambda signature=None: d.inspect_asm(signature),
}


def attribute(dispatcher: Any, name: str) -> Any:
    """An attribute that only Numba's dispatchers have.

    Raises:
        AttributeError: there is none of the name.
    """
    find = _ATTRIBUTES.get(name)
    if find is None:
        raise NoMember(f"{type(dispatcher).__qualname__!r} object", name, lambda: [*dir(dispatcher), *_ATTRIBUTES])
    return find(dispatcher)


__all__ = ["CompileResult", "attribute"]
