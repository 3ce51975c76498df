"""The values that functions of the program read besides their arguments, captured when a call is recorded.

Variables that a function captured, globals and defaults are part of what it is: a change after the call, of an array
or of what a name stands for, does not reach results that are computed later. This holds for functions that it calls,
compiled or not, and for what tuples, lists and dictionaries contain. Functions of modules that the library serves, and
those with overloads, are left as they are, since the compiler knows them by their identity.
"""

from __future__ import annotations

import copy
import sys
from hashlib import blake2b
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from lancehead import _core, extending
from lancehead.caches import Cache

#: Names that code reads, of globals and attributes, in order.
_READ: Cache[CodeType, tuple[str, ...]] = Cache(4096)
#: Numbers and texts, which are values by themselves.
PLAIN = (bool, int, float, complex, str, bytes, type(None), np.number, np.bool_)
#: The mark of a function whose lists are copies: those of the program would not get what it appends.
COPY = {"__lancehead_copy__": True}
_NUMBER = frozenset((bool, int, float))
_SERVED = frozenset((*(path.stem for path in (Path(__file__).parents[1] / "lib").iterdir()), "lancehead"))


def all_names(code: CodeType) -> set[str]:
    """Names that code, and code in it, reads, of globals and attributes."""
    inner = (all_names(c) for c in code.co_consts if isinstance(c, CodeType))
    return set(code.co_names).union(*inner)


def names_of(code: CodeType) -> tuple[str, ...]:
    """Names that code reads, of globals and attributes, in order."""
    names = _READ.get(code)
    if names is None:
        names = _READ[code] = tuple(sorted(all_names(code)))
    return names


def globals_of(f: FunctionType) -> dict[str, Any]:
    """The globals that a function reads itself, by name."""
    names, known = names_of(f.__code__), f.__globals__
    return {name: known[name] for name in names if name in known}


def cells_of(f: FunctionType) -> tuple[Any, ...]:
    """The captured values of a function; None for a variable that has no value yet."""
    return tuple([None if c == CellType() else c.cell_contents for c in f.__closure__ or ()])


def _called(value: Any) -> FunctionType | None:
    # The function of Python that a captured function is, if it is the program's.
    f = value.py_func if type(value) is _core.Dispatcher else value
    if type(f) is not FunctionType or f.__module__ is None or f.__module__.partition(".")[0] in _SERVED:
        return None
    return None if value in extending.REGISTERED or value in extending.FALLBACKS else f


def _own(f: FunctionType) -> bool:
    # Whether a function's globals are a dictionary of its own and not those of its module.
    return getattr(sys.modules.get(f.__module__), "__dict__", None) is not f.__globals__


def home(f: FunctionType) -> Any:
    """The identity of a function's globals.

    One that arrived by value from another process has a dictionary of its own, each time that it arrives: it is known
    by its module and file.
    """
    return (f.__module__, f.__code__.co_filename) if _own(f) else id(f.__globals__)


def identity(value: Any, seen: dict[int, int] | None = None) -> Any:
    """Of numbers, arrays and containers of them the value, with type and sign of zero; of other objects the object.

    A function is itself, or its code if it has globals of its own, and what it reads. `seen` has those that are known
    already, with their numbers.
    """
    if type(value) in _NUMBER:
        return type(value), repr(value)
    if isinstance(value, np.ndarray):
        content = value.tobytes()
        return np.ndarray, value.dtype, value.shape, content if len(content) < 64 else blake2b(content).digest()
    seen = {} if seen is None else seen
    if isinstance(value, (tuple, list)):
        return (type(value), *[identity(x, seen) for x in value])
    if isinstance(value, set):
        return set, frozenset([identity(x, seen) for x in value])
    if isinstance(value, dict):
        return (dict, *[(identity(k, seen), identity(x, seen)) for k, x in value.items()])
    number = seen.get(id(value))
    if number is not None:
        return FunctionType, number
    f = _called(value)
    if f is not None:
        seen[id(value)] = len(seen)
        return (home(f), f.__code__) if value is f and _own(f) else id(value), of_function(f, seen)
    return (type(value), repr(value)) if isinstance(value, PLAIN) else id(value)


def of_function(f: FunctionType, seen: dict[int, int] | None = None) -> tuple[Any, ...]:
    """The identities of what a function reads."""
    seen = {id(f): 0} if seen is None else seen
    return tuple([identity(x, seen) for x in (f.__defaults__ or (), f.__kwdefaults__, cells_of(f), globals_of(f))])


def state(f: FunctionType) -> list[Any]:
    """A key of the values that a function reads, in the order in which it names them; it changes with them."""
    code, known = f.__code__, f.__globals__
    names = names_of(code)
    values = [known[name] for name in names if name in known]
    if f.__closure__:
        values += cells_of(f)
    return [
        (type(x), repr(x)) if type(x) in _NUMBER else identity(x, {id(f): 0})
        for x in values
        if type(x) is not ModuleType
    ]


_MISSING = object()
#: Types of objects that are keys of themselves: another value is another object.
_FIXED = (*PLAIN, ModuleType, type)


class Reads:
    """The objects that a function and those that it calls read, to see quickly that a state is that of before.

    `state` is None where a change of contents would not be seen, as that of a list.
    """

    __slots__ = ("_cells", "_functions", "_globals", "state")

    def __init__(self, f: FunctionType) -> None:
        self._globals: list[tuple[dict[str, Any], str, Any]] = []
        self._cells: list[tuple[CellType, Any]] = []
        self._functions: list[tuple[FunctionType, CodeType, Any]] = []
        self.state: tuple[Any, ...] | None = tuple(state(f)) if self._add(f) else None

    def _add(self, f: FunctionType) -> bool:
        code, known = f.__code__, f.__globals__
        self._functions.append((f, code, f.__defaults__))
        found = list(zip(f.__closure__ or (), cells_of(f), strict=True))
        if f.__kwdefaults__ or any(cell == CellType() for cell, _ in found):
            return False
        self._cells += found
        names = [(known, name, known.get(name, _MISSING)) for name in names_of(code)]
        self._globals += names
        values = [*(f.__defaults__ or ()), *[x for _, x in found], *[x for _, _, x in names if x is not _MISSING]]
        return all(self._is_fixed(x) for x in values)

    def _is_fixed(self, x: Any) -> bool:
        if isinstance(x, _FIXED):
            return True
        if type(x) is tuple:
            return all(self._is_fixed(item) for item in x)
        f = _called(x)
        if f is None:
            return not isinstance(x, (np.ndarray, tuple, list, dict, set))
        return any(f is known for known, *_ in self._functions) or self._add(f)

    def hold(self) -> bool:
        """Whether all are still the same objects."""
        for known, name, value in self._globals:
            if known.get(name, _MISSING) is not value:
                return False
        for f, code, defaults in self._functions:
            if f.__code__ is not code or f.__defaults__ is not defaults or f.__kwdefaults__:
                return False
        try:
            return not [None for cell, value in self._cells if cell.cell_contents is not value]
        except ValueError:
            # A variable that has no value any more.
            return False


def content(f: FunctionType, seen: frozenset[int] = frozenset()) -> tuple[Any, ...]:
    """Describes a function and the values that it reads in words that are the same in every process.

    The cache finds regions by names made of this, so that values of two processes are told apart.
    """
    seen |= {id(f.__code__)}
    reads = (f.__defaults__, cells_of(f), tuple(globals_of(f).items()))
    return _words(f.__code__, seen), *[_words(x, seen) for x in reads]


def _words(x: Any, seen: frozenset[int]) -> Any:
    if isinstance(x, CodeType):
        return x.co_code, x.co_names, x.co_varnames, x.co_freevars, _words(x.co_consts, seen)
    if isinstance(x, (tuple, list)):
        return type(x).__name__, *[_words(item, seen) for item in x]
    if isinstance(x, (set, frozenset)):
        return type(x).__name__, *sorted([repr(_words(item, seen)) for item in x])
    if isinstance(x, dict):
        return type(x).__name__, *[_words(item, seen) for item in x.items()]
    if isinstance(x, np.ndarray):
        return x.dtype.str, *identity(x)[2:]
    if isinstance(x, PLAIN):
        return type(x).__name__, repr(x)
    f = _called(x)
    return type(x).__name__ if f is None or id(f.__code__) in seen else content(f, seen)


def now(value: Any, known: dict[int, Any]) -> Any:
    """The value as it is now, of what can change. `known` has the copies of functions by identity."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if type(value) is tuple or type(value) is list:
        items = [now(x, known) for x in value]
        same = type(value) is tuple and all(a is b for a, b in zip(items, value, strict=True))
        return value if same else type(value)(items)
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make([now(x, known) for x in value])
    if type(value) is dict:
        return {k: now(x, known) for k, x in value.items()}
    if isinstance(value, (list, dict, set)):
        return copy.deepcopy(value)
    f = _called(value)
    if f is None or not _reads_values(f, set()):
        return value
    if id(value) not in known:
        own = FunctionType(f.__code__, _globals(f, known), f.__name__, None, tuple(map(_cell, f.__closure__ or ())))
        options = {} if f is value else {k: x for k, x in value.targetoptions.items() if k != "cache"}
        # It may read itself.
        own.__dict__.update(COPY)
        known[id(value)] = own if f is value else _core.dispatcher(own, options, [], False)
        _fill(own, f, known)
    return known[id(value)]


def _globals(f: FunctionType, known: dict[int, Any]) -> dict[str, Any]:
    # One copy for all functions of a module: the cache looks for what code reads by module and name.
    copied: dict[str, Any] = known.setdefault(id(f.__globals__), dict(f.__globals__))
    return copied


def _cell(_: Any) -> CellType:
    return CellType()


def _fill(own: FunctionType, f: FunctionType, known: dict[int, Any]) -> None:
    own.__defaults__ = now(f.__defaults__, known)
    own.__kwdefaults__, own.__qualname__, own.__module__ = f.__kwdefaults__, f.__qualname__, f.__module__
    for cell, source in zip(own.__closure__ or (), f.__closure__ or (), strict=True):
        if source != CellType():
            cell.cell_contents = now(source.cell_contents, known)
    own.__globals__.update({name: now(x, known) for name, x in globals_of(f).items()})


def _reads_values(f: FunctionType, seen: set[int]) -> bool:
    # Whether something that a function reads, or one that it calls, may change or be replaced.
    seen.add(id(f))
    for x in (*(f.__defaults__ or ()), *cells_of(f), *globals_of(f).values()):
        if isinstance(x, (np.ndarray, tuple, list, dict, set, *PLAIN)):
            return True
        called = _called(x)
        if called is not None and id(called) not in seen and _reads_values(called, seen):
            return True
    return False


def of_now(f: FunctionType) -> FunctionType:
    """A function with the values of now of what it reads."""
    known: dict[int, Any] = {}
    values = globals_of(f)
    current = {name: now(value, known) for name, value in values.items()}
    inner = tuple([CellType(now(value, known)) for value in cells_of(f)])
    defaults = now(f.__defaults__, known)
    # Modules, classes and functions without values are left where they are.
    has_values = _own(f) or any(isinstance(x, (*PLAIN, tuple)) or current[k] is not x for k, x in values.items())
    own_globals = f.__globals__
    if has_values or id(f.__globals__) in known:
        own_globals = _globals(f, known)
        own_globals.update(current)
    own = FunctionType(f.__code__, own_globals, f.__name__, defaults, inner)
    own.__kwdefaults__, own.__qualname__, own.__module__ = f.__kwdefaults__, f.__qualname__, f.__module__
    own.__dict__.update(COPY)
    return own


def plain_key(f: FunctionType) -> Any:
    """The key of a function that captured nothing and reads no globals but modules; None for other functions."""
    if f.__closure__ or f.__defaults__ or f.__kwdefaults__:
        return None
    code, known = f.__code__, f.__globals__
    names = names_of(code)
    read = [(name, id(known[name])) for name in names if name in known]
    for name, _ in read:
        if type(known[name]) is not ModuleType:
            return None
    return (code, home(f), *read)
