"""Compiled functions as bytes, for other processes.

A function that its module has under its name is pickled as that name. Others, and those of `__main__`, which is another
module in each process, are pickled by value: bytecode, captured variables, and the globals that the code names. The
cache finds the unpickled function under the key of the original, so it is compiled once for all processes.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import marshal
import pickle
import sys
import threading
from collections import deque
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakValueDictionary

from lancehead import _core

#: Functions that arrived, by their bytes: a task that is sent again finds its function compiled.
_ARRIVED: WeakValueDictionary[bytes, Any] = WeakValueDictionary()
#: Keeps the last of them alive between tasks.
_LATEST: deque[Any] = deque(maxlen=128)


class _Loading(threading.local):
    """Namespaces of the functions being loaded, by number; functions that shared one share one again."""

    namespaces: dict[int, dict[str, Any]] | None = None


_LOADING = _Loading()


def dump(dispatcher: Any) -> bytes:
    """A dispatcher by value."""
    out = io.BytesIO()
    _Pickler(out, dispatcher).dump(dispatcher)
    return out.getvalue()


def reduce(made: Any) -> Any:
    """The result of `__reduce__` for an object with a method `_by_value`: its name, or its parts by value."""
    return made.__qualname__ if is_named(made) else (load, (dump(made),))


def load(data: bytes) -> Any:
    """The dispatcher of `dump`; the same one for the same bytes."""
    key = hashlib.blake2b(data, digest_size=32).digest()
    found = _ARRIVED.get(key)
    if found is None:
        outer, _LOADING.namespaces = _LOADING.namespaces, {}
        try:
            found = pickle.loads(data)
        finally:
            _LOADING.namespaces = outer
        _ARRIVED[key] = found
    _LATEST.append(found)
    return found


class _Pickler(pickle.Pickler):
    def __init__(self, out: io.BytesIO, root: Any) -> None:
        super().__init__(out, protocol=5)
        self.root = root
        self.namespaces: dict[int, int] = {}

    def reducer_override(self, obj: Any) -> Any:
        """By value what has no name that leads back to it."""
        if isinstance(obj, _core.Dispatcher):
            if obj is not self.root and is_named(obj):
                return NotImplemented
            eager = obj.nopython_signatures if not obj._can_compile else []
            parts = (self._skeleton(obj.py_func), obj.targetoptions)
            return _dispatcher, parts, (self._state(obj.py_func), eager), None, None, _fill_dispatcher
        if hasattr(type(obj), "_by_value"):
            return NotImplemented if obj is not self.root and is_named(obj) else obj._by_value()
        if isinstance(obj, FunctionType) and not is_named(obj):
            return _function, self._skeleton(obj), self._state(obj), None, None, _fill
        if isinstance(obj, ModuleType):
            return importlib.import_module, (obj.__name__,)
        if isinstance(obj, type) and not is_named(obj):
            return _class_by_value(obj)
        return NotImplemented

    def _skeleton(self, function: Any) -> tuple[Any, ...]:
        """The parts of a function without captured variables and globals: these may refer to it, and are filled in
        later.
        """
        own = function.__globals__
        module = own.get("__name__")
        by_name = module != "__main__" and own is getattr(sys.modules.get(str(module)), "__dict__", None)
        number = None if by_name else self.namespaces.setdefault(id(own), len(self.namespaces))
        code = function.__code__
        return (
            marshal.dumps(code),
            module,
            number,
            function.__name__,
            function.__qualname__,
            function.__module__,
            len(code.co_freevars),
        )

    def _state(self, function: Any) -> dict[str, Any]:
        own, names = function.__globals__, set[str]()
        if id(own) in self.namespaces:
            _names(function.__code__, names)
        captured = [_content(cell) for cell in function.__closure__ or ()]
        return {
            "captured": captured,
            "globals": {n: own[n] for n in sorted(names) if n in own},
            "defaults": function.__defaults__,
            "kwdefaults": function.__kwdefaults__,
            "doc": function.__doc__,
        }


def is_named(obj: Any) -> bool:
    """Whether a function or class is found under its name in another process that imports its module."""
    module = getattr(obj, "__module__", None)
    if module is None or module == "__main__":
        return False
    found: Any = sys.modules.get(module)
    for part in obj.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is obj


def _class_by_value(cls: type) -> Any:
    """Only `cloudpickle` knows how to send classes; without it, they go by name, as `pickle` does it."""
    try:
        import cloudpickle  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        return NotImplemented
    return cloudpickle.loads, (cloudpickle.dumps(cls),)


def _names(code: CodeType, out: set[str]) -> None:
    """Global names that a code object, or one inside it, may read."""
    out.update(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _names(constant, out)


def _content(cell: CellType) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _function(
    code: bytes, module: Any, number: int | None, name: str, qualname: str, home: str, captured: int
) -> FunctionType:  # fmt: skip
    if number is None:
        namespace = importlib.import_module(module).__dict__
    else:
        assert _LOADING.namespaces is not None
        namespace = _LOADING.namespaces.setdefault(number, {"__name__": module, "__builtins__": __builtins__})
    cells = tuple(CellType() for _ in range(captured))
    function = FunctionType(marshal.loads(code), namespace, name, None, cells)
    function.__qualname__ = qualname
    function.__module__ = home
    return function


def _dispatcher(skeleton: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return _core.dispatcher(_function(*skeleton), options, [], False)


def _fill(function: FunctionType, state: dict[str, Any]) -> None:
    for cell, content in zip(function.__closure__ or (), state["captured"], strict=True):
        if content:
            cell.cell_contents = content[0]
    function.__globals__.update(state["globals"])
    function.__defaults__ = state["defaults"]
    function.__kwdefaults__ = state["kwdefaults"]
    function.__doc__ = state["doc"]


def _fill_dispatcher(dispatcher: Any, state: tuple[dict[str, Any], list[Any]]) -> None:
    values, signatures = state
    _fill(dispatcher.py_func, values)
    for signature in signatures:
        dispatcher.compile(signature)
    if signatures:
        dispatcher.disable_compile()
