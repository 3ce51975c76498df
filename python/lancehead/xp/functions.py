"""Functions of the program that primitives apply: their compilation, and the types that they give.

Elements follow NumPy: division by zero gives infinity, NaN or 0. Compiled functions keep their own options.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from lancehead import _core, types
from lancehead.caches import Cache
from lancehead.decorators import njit, prange
from lancehead.lib.primitives.lines import element, put
from lancehead.ufuncs import vectorize
from lancehead.xp import captured, dtypes
from lancehead.xp.arrays import ndarray
from lancehead.xp.elementwise import operands
from lancehead.xp.graph import Node, describe, name_of

#: Compiled functions by code and by what they captured.
_COMPILED: Cache[Any, tuple[Any, Any]] = Cache(4096)
#: The same for functions that captured nothing, by identity of the code, which stays: code, globals, compiled.
_PLAIN_COMPILED: Cache[Any, tuple[Any, Any]] = Cache(4096)
#: Operators and the types that they accumulate, by operator, type of the first value, and type of elements.
_ACCUMULATED: Cache[Any, tuple[Any, np.dtype[Any]]] = Cache(4096)
#: Functions around functions, by these and their texts.
_ADAPTED: Cache[Any, tuple[Any, Any]] = Cache(4096)
#: Types of results, and their texts, by functions and types of elements; the functions stay.
_RESULTS: Cache[Any, tuple[np.dtype[Any] | None, str, Any]] = Cache(4096)
#: The mark of functions of Python from which compiled functions are made here.
_OURS = {"__lancehead_made__": True}


#: Elements of a task of loops that call functions, of whose time the compiler may know nothing.
BLOCK = 4096


class _Types(dict[np.dtype[Any], Any]):
    def __missing__(self, dtype: np.dtype[Any]) -> Any:
        if dtype.fields is None:
            raise TypeError(f"functions take numbers, truth values and records, not elements of {dtype}")
        found = _RECORDS.get(dtype)
        if found is None:
            found = _RECORDS[dtype] = _core.typeof(np.zeros((), dtype)[()])
        _BY_TEXT[str(found)] = dtype
        return found


#: Types of compiled code by those of elements that functions of the program take; TypeError for others.
TYPES = _Types(
    {d: types.boolean if d == dtypes.bool else getattr(types, d.name) for d in (*dtypes.ALL, dtypes.float16)}
)
#: Types of records.
_RECORDS: Cache[np.dtype[Any], Any] = Cache(1024)
#: Types of elements by their texts in compiled code: of numbers, and of records that were given.
_NUMBERS = {str(t): d for d, t in TYPES.items()}
_BY_TEXT: Cache[str, np.dtype[Any]] = Cache(1024)


def element_type(text: str) -> np.dtype[Any] | None:
    """The type of elements by its text in compiled code; None if there are no such elements."""
    return _NUMBERS.get(text) or _BY_TEXT.get(text)


class Zipped:
    """Arrays as one, whose elements are tuples. Functions get such a tuple as one argument."""

    def __init__(self, *arrays: Any) -> None:
        self.arrays = arrays


def compiled(f: Any) -> Any:
    """The compiled function of a function, a lambda or a compiled one; others are called as they are.

    Variables that it captured, and globals that it reads itself, have the values of now, arrays and lists too.
    Functions made by the same code with equal values and the same objects are compiled once. Raises TypeError for what
    cannot be called.
    """
    plain = captured.plain_key(f) if type(f) is FunctionType else None
    known = None if plain is None else _PLAIN_COMPILED.get(plain)
    if known is not None:
        return known[1]
    if isinstance(f, _core.Dispatcher):
        return _dispatcher_of_now(f)
    if not isinstance(f, FunctionType):
        if not callable(f):
            raise TypeError(f"a function is needed, not {type(f).__name__}")
        return f
    key = (f.__code__, captured.home(f), *captured.of_function(f))
    known = _COMPILED.get(key)
    if known is None:
        own = captured.of_now(f)
        describe(own, *captured.content(own))
        own.__dict__.update(_OURS)
        # Objects whose identity is part of the key stay alive with it.
        objects = f.__globals__, f.__kwdefaults__, captured.cells_of(f), captured.globals_of(f)
        known = _COMPILED[key] = njit(own, error_model="numpy"), objects
    if plain is not None:
        _PLAIN_COMPILED[plain] = f, known[0]
    return known[0]


def _dispatcher_of_now(f: Any) -> Any:
    # A compiled function keeps its options; one that reads no values is itself.
    if type(f) is not _core.Dispatcher or type(f.py_func) is not FunctionType or captured.plain_key(f.py_func):
        return f
    key = captured.identity(f)
    known = _COMPILED.get(key)
    if known is None:
        found = captured.now(f, {})
        if found is not f:
            describe(found.py_func, *captured.content(found.py_func))
        known = _COMPILED[key] = found, f
    return known[0]


def made(text: str, *objects: Any, parallel: Any = False) -> Any:
    """The compiled function of a text, in which objects are `f0`, `f1` and so on; the same one for the same objects.

    Places of elements that the text itself reads are there: they are not checked.
    """
    key = (text, *map(id, objects))
    known = _ADAPTED.get(key)
    if known is None:
        names: dict[str, Any] = {"np": np, "prange": prange, "element": element, "put": put}
        names.update({f"f{i}": x for i, x in enumerate(objects)})
        exec(compile(text, "<lancehead.xp>", "exec"), names)
        describe(names["call"], text, *map(name_of, objects))
        names["call"].__dict__.update(_OURS)
        # The objects stay with it, so that their identities stay theirs.
        known = _ADAPTED[key] = njit(names["call"], error_model="numpy", parallel=parallel, boundscheck=False), objects
    return known[0]


def ufunc(f: Any, count: int) -> Any:
    """The ufunc of a compiled function of so many numbers, with its own model of errors."""
    key = ("ufunc", id(f))
    known = _ADAPTED.get(key)
    if known is None:
        names: dict[str, Any] = {"f0": f}
        numbers = ", ".join(f"x{i}" for i in range(count))
        exec(compile(f"def call({numbers}):\n    return f0({numbers})\n", "<lancehead.xp>", "exec"), names)
        describe(names["call"], name_of(f), count)
        known = _ADAPTED[key] = vectorize(names["call"]), f
    return known[0]


def typed(dtype: np.dtype[Any]) -> str:
    """The text of a data type."""
    return "np.bool_" if dtype == dtypes.bool else f"np.{dtype.name}"


def _placed(x: Any, flat: list[Any]) -> str:
    # Not a function in the next one: its cell would refer to itself, and keep arrays after their last use.
    if isinstance(x, Zipped):
        return f"({', '.join([_placed(a, flat) for a in x.arrays])},)"
    flat.append(x)
    return f"x{len(flat) - 1}"


def flattened(f: Any, arrays: Sequence[Any]) -> tuple[Any, list[Any]]:
    """A function of numbers only, and its arrays, for a function some of whose arrays are zipped."""
    f, flat = compiled(f), list[Any]()
    places = [_placed(x, flat) for x in arrays]
    if isinstance(f, _core.Dispatcher) and len(flat) == len(arrays):
        return f, flat
    names = ", ".join(f"x{i}" for i in range(len(flat)))
    return made(f"def call({names}):\n    return f0({', '.join(places)})\n", f), flat


def asked(f: Any, count: int) -> Any:
    """The compiled function of so many parameters that tells the type of a function's results; others have defaults."""
    if not isinstance(f, _core.Dispatcher):
        return _core.dispatcher(f, {}, [], False)
    python = f.py_func
    if type(python) is FunctionType and _OURS.items() <= python.__dict__.items():
        # The code is in the cache for the next process that asks; regions have their own.
        f = njit(python, error_model="numpy", cache=True)
    more = python.__code__.co_argcount - count if type(python) is FunctionType else 0
    if more < 0 and not python.__code__.co_flags & inspect.CO_VARARGS:
        raise TypeError(f"`{python.__name__}` is called with {count} elements, and takes {count + more}")
    if 0 < more <= len(python.__defaults__ or ()):
        names = ", ".join([f"x{i}" for i in range(count)])
        return made(f"def call({names}):\n    return f0({names})\n", f)
    return f


def result_dtype(f: Any, given: Sequence[np.dtype[Any]]) -> np.dtype[Any]:
    """The type of a function's results for elements of types: it is compiled for them, and does not run.

    Raises TypeError if they are no numbers or truth values, and what the compiler says of the function.
    """
    key = (id(f), *given)
    known = _RESULTS.get(key)
    if known is None:
        # Without compilation by `LANCEHEAD_DISABLE_JIT`, functions are compiled for their types only.
        text = str(asked(f, len(given)).compile(tuple(TYPES[d] for d in given)).return_type)
        known = _RESULTS[key] = element_type(text), text, f
    found, text, _ = known
    if found is None:
        of = ", ".join(map(str, given))
        raise TypeError(
            f"elements are numbers, truth values or given records; `{f.__name__}` gives {text} for elements of {of}"
        )
    return found


def elementwise(f: Any, arrays: Sequence[Any]) -> tuple[Any, list[Node], np.dtype[Any]]:
    """A function of elements, the nodes of its arrays, and the type of its results."""
    f = compiled(f)
    if type(f) is _core.Dispatcher and all(type(x) is ndarray for x in arrays):
        nodes = [x._node if x._view is None else x._view.node() for x in arrays]
        return f, nodes, result_dtype(f, [n.dtype for n in nodes])
    f, flat = flattened(f, arrays)
    nodes = operands(*flat)
    return f, nodes, result_dtype(f, [n.dtype for n in nodes])


def binary(op: Any) -> Any:
    """The compiled function of two elements that an operator is."""
    op = compiled(op)
    return op if isinstance(op, _core.Dispatcher) else made("def call(x, y):\n    return f0(x, y)\n", op)


#: Operators that do not depend on the order of their operands: objects, and the code of functions that are no more.
#: Compiled code decides by the same list (`prim.is_commutative`).
_COMMUTATIVE = (
    operator.add, operator.mul, operator.and_, operator.or_, operator.xor,
    np.add, np.multiply, np.minimum, np.maximum, np.bitwise_and, np.bitwise_or, np.bitwise_xor,
)  # fmt: skip
_COMMUTATIVE_CODE = frozenset(
    f.__code__.co_code
    for f in (
        lambda a, b: a + b, lambda a, b: b + a, lambda a, b: a * b, lambda a, b: b * a,
        lambda a, b: a & b, lambda a, b: b & a, lambda a, b: a | b, lambda a, b: b | a, lambda a, b: a ^ b,
        lambda a, b: b ^ a,
    )
)  # fmt: skip


def is_commutative(op: Any) -> bool:
    """Whether an operator is known to be commutative: a function that only adds, multiplies or combines bits, too."""
    if any(op is known for known in _COMMUTATIVE):
        return True
    code = getattr(getattr(op, "py_func", op), "__code__", None)
    return isinstance(code, CodeType) and code.co_argcount == 2 and code.co_code in _COMMUTATIVE_CODE


def converted(f: Any, count: int, given: Sequence[np.dtype[Any]], dtype: np.dtype[Any]) -> Any:
    """A function whose results have a type."""
    if result_dtype(f, given) == dtype:
        return f
    if dtype.fields is not None:
        of = result_dtype(f, given)
        raise TypeError(f"an operator on records gives one of them, not {of}; records are not made of other types")
    names = ", ".join(f"x{i}" for i in range(count))
    return made(f"def call({names}):\n    return {typed(dtype)}(f0({names}))\n", f)


def accumulated(op: Any, dtype: np.dtype[Any], elements: np.dtype[Any]) -> tuple[Any, np.dtype[Any]]:
    """An operator, and the type of what it accumulates: the least that holds its results for itself and for elements.

    `dtype` is the type of the value that it begins with.
    """
    op = binary(op)
    known = _ACCUMULATED.get((op, dtype, elements))
    if known is not None:
        return known
    if dtype.fields is not None or elements.fields is not None:
        return _of_records(op, dtype, elements)
    wanted = dtypes.as_dtype(np.promote_types(dtype, elements))
    # A chain of promotions is shorter than the list of types.
    for _ in dtypes.ALL:
        wider = np.promote_types(wanted, result_dtype(op, (wanted, wanted)))
        if wider == wanted:
            break
        wanted = wider
    found = _ACCUMULATED[op, dtype, elements] = converted(op, 2, (wanted, wanted), wanted), wanted
    return found


def _of_records(op: Any, dtype: np.dtype[Any], elements: np.dtype[Any]) -> tuple[Any, np.dtype[Any]]:
    if dtype != elements:
        raise TypeError(f"records are combined with records of one type, not of {dtype} and of {elements}")
    return converted(op, 2, (dtype, dtype), dtype), dtype


def check_associative(op: Callable[..., Any], values: np.ndarray) -> None:
    """Raises ValueError if an operator is not associative on some of the values, within the rounding of floats."""
    flat = values.reshape(-1)
    some = list(flat[np.unique(np.linspace(0, flat.size - 1, 6).astype(int))]) if flat.size else []
    exact = values.dtype.kind not in "fc"
    error = 0.0 if exact else 1e4 * float(np.finfo(values.dtype).eps)
    scale = 1.0 if exact else float(np.nanmax(np.abs(some), initial=0.0))
    of = values.dtype.type
    for a in some:
        for b in some:
            for c in some:
                one, other = op(of(op(a, b)), c), op(a, of(op(b, c)))
                same = operator.eq(one, other) or np.isclose(one, other, rtol=error, atol=error * scale, equal_nan=True)
                if not same:
                    text = f"(({a} . {b}) . {c}) is {one}, and ({a} . ({b} . {c})) is {other}"
                    raise ValueError(f"the operator is not associative: {text}")


__all__ = [
    "TYPES", "Zipped", "accumulated", "asked", "binary", "check_associative", "compiled", "converted", "elementwise",
    "flattened", "is_commutative", "made", "result_dtype", "typed", "ufunc",
]  # fmt: skip
