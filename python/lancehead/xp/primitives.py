"""Parallel primitives with functions of the program, as parallel libraries have them, on arrays that are lazy.

Functions are plain functions, lambdas or compiled ones. They are compiled for the types of the elements, which tells
the type of the results, and become part of the compiled region: what is mapped and then reduced needs no memory.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lancehead.decorators import njit
from lancehead.lib.primitives import placing
from lancehead.options import near_keywords
from lancehead.xp import dtypes, several
from lancehead.xp import functions as of
from lancehead.xp import places as program
from lancehead.xp.arrays import from_numpy, ndarray, set_operators, wrap
from lancehead.xp.creation import full
from lancehead.xp.devices import as_device, by_kernels
from lancehead.xp.elementwise import as_node, convert
from lancehead.xp.folds import as_line, map, no_text, reshaped
from lancehead.xp.functions import Zipped
from lancehead.xp.graph import Node, made, name_of
from lancehead.xp.graph import op as operation
from lancehead.xp.manipulation import axis_of, broadcast_to, concat, flip, places_in, take
from lancehead.xp.rows import Element, How, Kind, Row

_GATHER = Row("gather", element=Element.OF_ROW, takes_places=True, fills=True)
_SCATTER, _STENCIL = Row("scatter", how=How.SCATTERED), Row("stencil", element=Element.STENCIL, reads=2)
_COUNTING = Row("counting", Kind.COUNTING, element=Element.COUNTING, is_portable=True)

put_rows, put_elements = njit(placing.put_rows), njit(placing.put_elements)
take_rows = njit(parallel=True)(placing.take_rows)


def zipwith(f: Any, *arrays: Any) -> Any:
    """As `map` of two or more arrays of one shape. ValueError for other shapes or fewer arrays."""
    shapes = {x.shape for x in arrays if isinstance(x, ndarray)}
    if len(arrays) < 2 or len(shapes) > 1:
        raise ValueError(f"two or more arrays of one shape are needed, not of {sorted(shapes)}")
    return map(f, *arrays)


def outer(f: Any, a: ndarray, b: ndarray) -> Any:
    """The results of a function for each element of `a` with each of `b`: shape a.shape + b.shape, type as of `map`."""
    f = of.binary(f)
    dtype = several.result(f, (a.dtype, b.dtype))
    if by_kernels(a, b) or isinstance(dtype, tuple):
        return map(f, a[(..., *(None,) * b.ndim)], b)
    helper = of.made(_products(of.typed(dtype)), f, parallel={"unsafe": True})
    shape = a.shape + b.shape
    node = made("outer", _outer, (as_node(a), as_node(b)), shape, dtype, dynamic=(shape,), objects=(helper,))
    return wrap(node)


def _products(dtype: str) -> str:
    return f"""def call(a, b, shape):
    out = np.empty(shape, {dtype})
    line, n = out.reshape(-1), b.size
    for i in prange(a.size):
        for j in range(n):
            put(line, i * n + j, {dtype}(f0(element(a, i), element(b, j))))
    return out
"""


def _outer(a: str, b: str, shape: str, helper: str) -> str:
    return f"{helper}(np.ascontiguousarray({a}).reshape(-1), np.ascontiguousarray({b}).reshape(-1), {shape})"


def _places(x: ndarray, indices: ndarray) -> Node:
    places = places_in(indices, x.shape[0] if x.ndim else 0)
    if not x.ndim:
        raise ValueError("an array without axes has no elements at indices")
    return as_line(convert(places, dtypes.int64))


def gather(x: ndarray, indices: ndarray) -> ndarray:
    """`x[indices]`: elements, or rows, at places along the first axis, of the shape indices.shape + x.shape[1:].

    Negative indices count from the end. Raises IndexError for one out of bounds, when the value is computed, TypeError
    unless indices are integers, ValueError for an array without axes.
    """
    if type(x) is ndarray and type(indices) is ndarray:
        a, i = x.node(), indices.node()
        is_plain = len(a.shape) == 1 == len(i.shape) and i.dtype is dtypes.int64 and not by_kernels(a, i)
        if is_plain and a.op.kind is not Kind.VIEW and i.op.kind is not Kind.VIEW:
            found = Node(_ELEMENTS, (a, i), i.shape, a.dtype)
            found.place = program.here()
            return wrap(found)
    places, rest = _places(x, indices), x.shape[1:]
    row = () if math.prod(rest) == 1 else (math.prod(rest),)
    rows = reshaped(as_node(x), (x.shape[0], *row))
    shape = (places.shape[0], *row)
    node = made(_GATHER, _gather, (rows, places), shape, x.dtype, objects=(take_rows,), is_costly=True)
    return wrap(reshaped(node, indices.shape + rest))


set_operators(gather=gather)


def _gather(x: str, places: str, helper: str) -> str:
    return f"{helper}({x}, {places})"


#: The operation of lines on the host.
_ELEMENTS = operation(_GATHER, _gather, (name_of(take_rows),), count=2, is_costly=True)


_MODES = {
    "set": of.compiled(lambda a, b: b),
    "add": of.compiled(lambda a, b: np.add(a, b)),
    "min": of.compiled(lambda a, b: np.minimum(a, b)),
    "max": of.compiled(lambda a, b: np.maximum(a, b)),
}


def scatter(x: ndarray, indices: ndarray, values: Any, mode: Any = "set") -> ndarray:
    """A copy of `x` with `x[indices] = values`, or with elements there that are combined with the values.

    `mode` is "set", "add", "min", "max" (NaN wins), or a function of an element and a value. Values, of the shape
    indices.shape + x.shape[1:] or what broadcasts to it, go in one after the other in row-major order, so that of
    several for one place the last stays. Shape and type as `x`. Raises IndexError for an index out of bounds, when the
    value is computed, TypeError for values or results that the type does not hold, ValueError for an unknown mode.
    """
    if isinstance(mode, str) and mode not in _MODES:
        raise ValueError(f"mode is one of {', '.join(_MODES)}, or a function, not {mode!r}")
    places, rest = _places(x, indices), x.shape[1:]
    value = values if isinstance(values, ndarray) else wrap(as_node(values, np.result_type(x.dtype, values)))
    op = of.binary(_MODES[mode] if isinstance(mode, str) else mode)
    found = of.result_dtype(op, (x.dtype, value.dtype))
    if not np.can_cast(found, x.dtype, "same_kind"):
        raise TypeError(f"values of {found} do not go into an array of {x.dtype}")
    op = of.converted(op, 2, (x.dtype, value.dtype), x.dtype)
    row = () if math.prod(rest) == 1 else (math.prod(rest),)
    lines = reshaped(as_node(broadcast_to(value, indices.shape + rest)), (indices.size, *row))
    given = (reshaped(as_node(x), (x.shape[0], *row)), places, lines)
    helper = put_rows if row else put_elements
    node = made(_SCATTER, _scatter, given, (x.shape[0], *row), x.dtype, objects=(helper, op), is_costly=True)
    return wrap(reshaped(node, x.shape))


def _scatter(x: str, places: str, values: str, helper: str, op: str) -> str:
    return f"{helper}({op}, {x}, {places}, {values})"


#: Places for those outside of `n`, by names of boundaries of `scipy.ndimage`.
_BOUNDARIES = {
    "nearest": "min(max({p}, 0), {n} - 1)",
    "constant": "min(max({p}, 0), {n} - 1)",
    "wrap": "({p}) % {n}",
    "reflect": "min(({p}) % (2 * {n}), 2 * {n} - 1 - ({p}) % (2 * {n}))",
    "mirror": "abs(({p} + {n} - 1) % max(2 * {n} - 2, 1) - ({n} - 1))",
    "valid": "{p}",
}


def stencil(f: Any, x: ndarray, where: Any, boundary: str = "nearest", *, value: Any = 0) -> Any:
    """The results of a function of the neighbours of each element.

    `where` is a radius, or one for each axis, of which all neighbours are arguments in row-major order, or a list of
    offsets (numbers for a line, else tuples), whose neighbours are arguments in that order. Outside are, by the names
    of `scipy.ndimage`, "nearest", "wrap", "reflect", "mirror", or "constant" with its `value`; with "valid" only those
    elements have a result all of whose neighbours are there. Else the shape is that of `x`; the type is that of `map`.
    Raises ValueError for an unknown boundary, for offsets that do not fit the axes.
    """
    offsets = _offsets(where, x.ndim)
    if boundary not in _BOUNDARIES:
        raise ValueError(f"boundary is one of {', '.join(_BOUNDARIES)}, not {boundary!r}")
    before = tuple([max(0, *(-o[k] for o in offsets)) for k in range(x.ndim)])
    after = tuple([max(0, *(o[k] for o in offsets)) for k in range(x.ndim)])
    shape: tuple[int, ...] = x.shape
    if boundary == "valid":
        shape = tuple([max(n - b - a, 0) for n, b, a in builtins.zip(x.shape, before, after, strict=True)])
    f = of.flattened(f, (x,) * len(offsets))[0]
    dtype = several.result(f, (x.dtype,) * len(offsets))
    if isinstance(dtype, tuple):
        return tuple([stencil(_item(f, i, len(offsets)), x, where, boundary, value=value) for i in range(len(dtype))])
    if by_kernels(x):
        return _stencil_there(f, x, shape, before, after, offsets, boundary, value, dtype)
    text = _loops(x.ndim, before, after, tuple(offsets), boundary, of.typed(dtype))
    helper = of.made(text, f, parallel={"unsafe": True})
    more = (np.asarray(value).astype(x.dtype)[()],) if boundary == "constant" else ()
    dynamic = (shape, x.shape, *more)
    node = made(_STENCIL, _stencil, (as_node(x),), shape, dtype, dynamic=dynamic, objects=(helper,), is_costly=True)
    return wrap(node)


def _item(f: Any, i: int, count: int) -> Any:
    # The function of one of the results of a function.
    names = ", ".join(f"x{k}" for k in range(count))
    return of.made(f"def call({names}):\n    return f0({names})[{i}]\n", f)


#: Places for those outside of so many, by names of boundaries.
_OUTSIDE: dict[str, Callable[[Any, int], Any]] = {
    "nearest": lambda i, n: np.clip(i, 0, n - 1),
    "wrap": lambda i, n: i % n,
    "reflect": lambda i, n: np.minimum(i % (2 * n), 2 * n - 1 - i % (2 * n)),
    "mirror": lambda i, n: np.abs((i + n - 1) % max(2 * n - 2, 1) - (n - 1)),
}


def _stencil_there(
    f: Any, x: ndarray, shape: Any, before: Any, after: Any, offsets: Any, boundary: str, value: Any, dtype: Any
) -> ndarray:
    # A stencil on a device, whose kernel reads an array that contains what is outside.
    if boundary != "valid":
        for k, pad in enumerate(builtins.zip(before, after, strict=True)):
            if any(pad) and (shape[k] or boundary == "constant"):
                x = concat(_extended(x, k, pad, boundary, value), axis=k)
    elif not all(shape):
        extents = [s and n for s, n in builtins.zip(shape, x.shape, strict=True)]
        x = full(extents, 0, dtype=x.dtype, device=x.device)
    steps = tuple(tuple(b + k for b, k in builtins.zip(before, o, strict=True)) for o in offsets)
    node = made(_STENCIL, no_text, (as_node(x),), shape, dtype, objects=(f,), static=(steps,), is_costly=True)
    return wrap(node)


def _extended(x: ndarray, axis: int, pad: tuple[int, int], boundary: str, value: Any) -> list[ndarray]:
    # The elements before an array along an axis, the array, and those after it.
    n, ends = x.shape[axis], []
    for places in (np.arange(-pad[0], 0), np.arange(n, n + pad[1])):
        if boundary == "constant":
            shape = (*x.shape[:axis], places.size, *x.shape[axis + 1 :])
            ends.append(full(shape, value, dtype=x.dtype, device=x.device))
        else:
            ends.append(take(x, from_numpy(_OUTSIDE[boundary](places, n)), axis=axis))
    return [ends[0], x, ends[1]]


def _stencil(x: str, *more: str) -> str:
    *numbers, helper = more
    return f"{helper}(np.ascontiguousarray({x}).reshape(-1), {', '.join(numbers)})"


@functools.lru_cache(1024)
def _loops(ndim: int, before: tuple[int, ...], after: tuple[int, ...], offsets: Any, boundary: str, dtype: str) -> str:
    # The text of nested loops over an array, the first of them parallel. Of the last axis, elements all of whose
    # neighbours along it are there have a loop of their own, without questions.
    is_constant, is_valid = boundary == "constant", boundary == "valid"
    lines = [f"def call(x, shape, extents{', value' if is_constant else ''}):", f"    out = np.empty(shape, {dtype})"]
    lines.append("    line = out.reshape(-1)")
    if not ndim:
        lines.append(f"    put(line, 0, f0({', '.join(['element(x, 0)'] * len(offsets))}))")
        return "\n".join([*lines, "    return out", ""])
    for k in range(ndim):
        lines.append(f"    n{k}, e{k} = shape[{k}], extents[{k}]")
    last, base = ndim - 1, before if is_valid else (0,) * ndim
    to = "0" if not last else _flat_place([f"i{k}" for k in range(last)], "n")
    lines.append(f"    low = {0 if is_valid else f'min({before[last]}, n{last})'}")
    lines.append(f"    high = {f'n{last}' if is_valid else f'max(n{last} - {after[last]}, low)'}")
    indent = "    "
    for k in range(last):
        lines.append(f"{indent}for i{k} in {'range' if k else 'prange'}(n{k}):")
        indent += "    "
    outer = {o[:last]: f"{i}" for i, o in enumerate(offsets)}
    for o, name in outer.items():
        places = [f"i{k} + {base[k] + o[k]}" for k in range(last)]
        inside = [_BOUNDARIES[boundary].format(p=p, n=f"e{k}") for k, p in enumerate(places)]
        lines.append(f"{indent}r{name} = {_flat_place(inside, 'e') if last else 0}")
        there = " and ".join(f"0 <= {p} < e{k}" for k, p in enumerate(places)) or "True"
        lines += [f"{indent}is{name} = {there}"] * is_constant
    edge, plain = (
        ", ".join(_neighbour(o, outer[o[:last]], last, base[last], boundary, is_edge) for o in offsets)
        for is_edge in (True, False)
    )
    lines.append(f"{indent}to = {to}")
    kinds = [("low, high", plain), ("0, low", edge), (f"high, n{last}", edge)]
    for ends, values in kinds[:1] if is_valid else kinds:
        inner, at = f"range({ends})", indent
        if not last and values is plain:
            lines.append(f"{indent}for t in prange((high - low + {of.BLOCK - 1}) // {of.BLOCK}):")
            inner, at = f"range(low + t * {of.BLOCK}, min(low + (t + 1) * {of.BLOCK}, high))", indent + "    "
        lines.append(f"{at}for i in {inner}:\n{at}    put(line, to + i, {dtype}(f0({values})))")
    return "\n".join([*lines, "    return out", ""])


def _flat_place(places: Sequence[str], extents: str) -> str:
    # The place of the first element of a row.
    text = f"({places[0]})"
    for k, p in enumerate(places[1:], 1):
        text = f"({text} * {extents}{k} + ({p}))"
    return f"{text} * {extents}{len(places)}"


def _neighbour(o: tuple[int, ...], name: str, last: int, base: int, boundary: str, is_edge: bool) -> str:
    # The text of an element whose row begins at `r`.
    p = f"i + {base + o[last]}"
    at = f"element(x, r{name} + {_BOUNDARIES[boundary].format(p=p, n=f'e{last}') if is_edge else p})"
    if boundary != "constant" or (not is_edge and not any(o[:last])):
        return at
    return f"({at} if is{name}{f' and 0 <= {p} < e{last}' if is_edge else ''} else value)"


def _offsets(where: Any, ndim: int) -> list[tuple[int, ...]]:
    if isinstance(where, (int, tuple)):
        radii = (where,) * ndim if isinstance(where, int) else where
        if len(radii) != ndim or min(radii, default=0) < 0:
            raise ValueError(f"a radius {where} does not fit {ndim} axes")
        return list(itertools.product(*(range(-r, r + 1) for r in radii)))
    found = [(o,) if isinstance(o, int) else tuple(o) for o in where]
    if not found or any(len(o) != ndim for o in found):
        raise ValueError(f"offsets are one or more, with a number for each of {ndim} axes")
    return found


def counting(n: int, start: int = 0, *, dtype: Any = None, device: Any = None) -> ndarray:
    """The integers from `start` on, so many, made where they are needed. ValueError for a negative number of them.

    OverflowError for numbers that `int64` does not hold.
    """
    if n < 0:
        raise ValueError(f"there are no {n} numbers")
    wanted = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    ends, where = (int(start), int(start) + int(n)), as_device(device)
    if ends[0] < -(2**63) or ends[1] >= 2**63:
        raise OverflowError(f"{n} integers from {start} on do not fit int64")
    node = made(_COUNTING, _counting, (), (int(n),), dtypes.int64, dynamic=ends, device=where)
    return wrap(convert(node, wanted))


def _counting(start: str, stop: str) -> str:
    return f"np.arange({start}, {stop})"


def constant(value: Any, shape: Any, *, dtype: Any = None, device: Any = None) -> ndarray:
    """One value in a shape, made where it is needed."""
    return full(shape, value, dtype=dtype, device=device)


def zip(*arrays: Any) -> Zipped:
    """Arrays as one whose elements are tuples: an argument of maps, reductions, scans and their kin of segments.

    Operators then accumulate tuples, and results are tuples of arrays.
    """
    return Zipped(*arrays)


def transform(f: Any, *arrays: Any) -> Any:
    """The results of `map`, made where they are needed."""
    return map(f, *arrays)


def permutation(x: ndarray, indices: ndarray) -> ndarray:
    """The elements of `gather`, in the order of the indices."""
    return gather(x, indices)


def reverse(x: ndarray, axis: int = 0) -> ndarray:
    """The elements along an axis from the last to the first, without memory. AxisError for an axis not there."""
    return flip(x, axis=axis_of(axis, x.ndim))


def strided(x: ndarray, step: int, start: int = 0) -> ndarray:
    """Every so many elements along the first axis, without memory. ValueError unless the step is positive."""
    if step <= 0:
        raise ValueError(f"a step is positive, not {step}")
    return wrap(x[start::step].node())


__all__ = [
    "constant", "counting", "gather", "outer", "permutation", "reverse", "scatter", "stencil", "strided", "transform",
    "zip", "zipwith",
]  # fmt: skip

near_keywords(globals())
