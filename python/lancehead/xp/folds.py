"""Reductions and running results by functions of the program.

Operators are taken to be associative, and need not be commutative: elements keep their order. A line is reduced in
blocks of 2048 elements. In a block, eight elements at a time are combined as ((0 1) (2 3)) ((4 5) (6 7)), and these
results from left to right, then the rest of fewer than eight elements one by one. The results of the blocks are
folded from left to right, after the initial value if there is one. So results do not depend on the number of threads.
Running results and reductions of segments are folded from left to right without blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lancehead.decorators import njit
from lancehead.lib.primitives import folding
from lancehead.xp import dtypes, several
from lancehead.xp import functions as of
from lancehead.xp.array import ndarray, wrap
from lancehead.xp.elementwise import convert, subtract
from lancehead.xp.graph import Kind, Node, leaf, made
from lancehead.xp.manipulation import axis_of, concat, moveaxis

folded = njit(parallel=True)(folding.folded)
scanned = njit(parallel=True)(folding.scanned)
segments_folded = njit(parallel=True)(folding.segments_folded)
# Segments do not overlap.
segments_scanned = njit(parallel={"unsafe": True})(folding.segments_scanned)


def _first(init: Node | None, dtype: np.dtype[Any]) -> Node:
    # An array of the initial value, or of nothing.
    if init is None:
        return leaf(np.empty(0, dtype))
    return as_line(convert(init, dtype))


def reshaped(node: Node, shape: tuple[int, ...]) -> Node:
    """A node's elements in row-major order in a shape of as many, next to each other in memory."""
    if node.shape == shape and node.op.kind is not Kind.VIEW:
        return node
    return made("reshape", _reshaped, (node,), shape, node.dtype, dynamic=(shape,))


def _reshaped(a: str, shape: str) -> str:
    return f"np.ascontiguousarray({a}).reshape({shape})"


def as_line(node: Node) -> Node:
    """A node's elements in row-major order, with one axis."""
    return reshaped(node, (math.prod(node.shape),))


def _line(node: Node, name: str, axis: int | None, shape: tuple[int, ...]) -> tuple[Node, str, str]:
    # A line of the elements in memory, and the texts of where line `r` along an axis, or of all, begins in it, and of
    # the element at place `i` of a line that begins at `b`. The elements are `m` from each other.
    if node.value is None and node.op.kind is Kind.CONSTANT:
        node = leaf(np.asarray(node.dynamic[1], node.dtype))
    if math.prod(node.shape) == 1:
        return as_line(node), "0", f"{name}[0]"
    if node.shape != shape:
        node = wrap(node).view(lambda s: np.broadcast_to(s, shape)).node()
    is_apart = axis is not None and axis != len(shape) - 1
    begin, place = ("r // m * n * m + r % m", "{b} + i * m") if is_apart else ("r * n", "{b} + i")
    if node.value is None and node.op.kind is Kind.COUNTING:
        return leaf(np.asarray(node.dynamic[:1])), begin, f"{name}[0] + {place}"
    return as_line(node), begin, f"{name}[{place}]"


def _rows(shape: tuple[int, ...], axis: int) -> int:
    return math.prod(n for k, n in enumerate(shape) if k != axis)


def _read(f: Any, begins: Sequence[str], elements: Sequence[str], dtype: np.dtype[Any]) -> tuple[Any, Any]:
    # The functions of where a line begins in each array, and of its elements as a type.
    names = ", ".join(f"x{i}" for i in range(len(elements)))
    values = ", ".join(element.format(b=f"line[{i}]") for i, element in enumerate(elements))
    begin = of.made(f"def call(r, n, m):\n    return ({', '.join(begins)},)\n")
    return begin, of.made(f"def call(line, m, i, {names}):\n    return {of.typed(dtype)}(f0({values}))\n", f)


def _same(x):  # type: ignore[no-untyped-def]
    return x


def _call(*given: str) -> str:
    *names, f = given
    return f"{f}({', '.join(names)})"


def map(f: Any, *arrays: Any) -> Any:
    """The results of a function for the elements of arrays, which broadcast; numbers take part as in `add`.

    The type is that of the function's results; if these are tuples, so is what is given: a tuple of arrays. Raises
    TypeError if they are no numbers, truth values or tuples of these, ValueError for shapes that do not fit, and what
    the function raises.
    """
    f, nodes, kind = several.elementwise(f, arrays)
    shape = np.broadcast_shapes(*(n.shape for n in nodes))
    if isinstance(kind, tuple):
        text = several.Text()
        return several.call("map", text, ", ".join([text.array(n) for n in nodes]), _map_several, (f,), shape, kind)
    return wrap(made("map", _call, nodes, shape, kind, objects=(of.ufunc(f, len(nodes)),)))


@njit(parallel=True)
def _map_several(f, *arrays):  # type: ignore[no-untyped-def]
    return map(f, *arrays)


def _folded(
    op: Any, f: Any, nodes: Sequence[Node], init: Node | None, axis: Any, shape: Any, of_elements: Any
) -> ndarray:
    elements, check = of_elements
    op, dtype = of.accumulated(op, elements if init is None else init.dtype, elements)
    n = math.prod(shape) if axis is None else shape[axis]
    rows = 1 if axis is None else _rows(shape, axis)
    if init is None and not n:
        raise ValueError("a reduction of no elements needs an initial value")
    if check:
        some = wrap(made("map", _call, nodes, shape, elements, objects=(of.ufunc(f, len(nodes)),))).numpy()
        of.check_associative(op, some.astype(dtype))
    read = [_line(node, f"x{i}", axis, shape) for i, node in enumerate(nodes)]
    # Elements of a line along an axis are as far from each other as there are elements after the axis.
    m = 1 if axis is None else math.prod(shape[axis + 1 :])
    out = () if axis is None else (*shape[:axis], *shape[axis + 1 :])
    given = (_first(init, dtype), *(line for line, _, _ in read))
    functions = _read(f, [begin for _, begin, _ in read], [element for _, _, element in read], dtype)
    objects, dynamic = (folded, op, *functions), (rows, n, m, out)
    return wrap(made("reduce", _fold, given, out, dtype, dynamic=dynamic, objects=objects, is_costly=True))


def _fold(first: str, *more: str) -> str:
    *lines, rows, n, m, shape, helper, op, begin, at = more
    return f"{helper}({op}, {begin}, {at}, {first}, {rows}, {n}, {m}, {', '.join(lines)}).reshape({shape})"


def reduce(f: Any, x: Any, *, init: Any, axis: int | None = None, check: bool = False) -> Any:
    """The elements along an axis, all for None, combined by an associative operator after an initial value.

    The type is the least that holds the initial value, the elements and the operator's results; without an initial
    value (None) the first element begins. In blocks of 2048 elements, eight at a time are combined as
    ((0 1) (2 3)) ((4 5) (6 7)); their results, a rest of fewer than eight elements, and the results of blocks are
    combined from left to right, whatever the number of threads. Of tuples, as `zip` makes them, the initial value is a
    tuple, and so is the result, of an array for each item. Raises ValueError for no elements without an initial value,
    and with `check` if the operator is not associative on samples, TypeError for tuples of different forms.
    """
    return transform_reduce(of.compiled(_same), f, init, x, axis=axis, check=check)


def transform_reduce(f: Any, op: Any, init: Any, *arrays: Any, axis: int | None = None, check: bool = False) -> Any:
    """As `reduce(op, map(f, *arrays), init=init)`, without memory for the results of `f`."""
    f, nodes, elements = several.elementwise(f, arrays)
    shape = np.broadcast_shapes(*(n.shape for n in nodes))
    k = None if axis is None else axis_of(axis, len(shape))
    if isinstance(elements, tuple) or isinstance(init, tuple):
        if init is None and not (math.prod(shape) if k is None else shape[k]):
            raise ValueError("a reduction of no elements needs an initial value")
        text = several.Text()
        op, begin, kind = text.running(op, init, elements)
        places = ", ".join([text.array(n) for n in nodes])
        out = () if k is None else (*shape[:k], *shape[k + 1 :])
        given = f"{begin}, {k}, {bool(check) or None}, {places}"
        return several.call("reduce", text, given, _reduce_several, (op, f), out, kind)
    return _folded(op, f, nodes, several.initial(init, elements), k, shape, (elements, check))


@njit(parallel=True)
def _reduce_several(op, f, init, axis, check, *arrays):  # type: ignore[no-untyped-def]
    return transform_reduce(f, op, init, *arrays, axis=axis, check=check)


def inner(f: Any, op: Any, a: Any, b: Any, *, init: Any = None, check: bool = False) -> ndarray:
    """The results of `f` for elements of lines along the last axes of both, combined by `op`: shape a[:-1] + b[:-1].

    With multiplication and addition it is `numpy.inner`. The order is that of `reduce`. Raises ValueError if the lines
    have different numbers of elements, or none without an initial value.
    """
    if not a.ndim or not b.ndim or a.shape[-1] != b.shape[-1]:
        raise ValueError(f"lines of arrays of the shapes {a.shape} and {b.shape} do not fit")
    f, nodes, elements = of.elementwise(f, (a, b))
    begin, n = several.initial(init, elements), a.shape[-1]
    op, dtype = of.accumulated(op, elements if begin is None else begin.dtype, elements)
    if begin is None and not n:
        raise ValueError("a reduction of no elements needs an initial value")
    if check and a.size and b.size:
        of.check_associative(op, map(f, a[..., :6], b[(0,) * (b.ndim - 1)][:6]).numpy().astype(dtype))
    left, right = math.prod(a.shape[:-1]), math.prod(b.shape[:-1])
    functions = _read(f, ("r // m * n", "r % m * n"), ("x0[{b} + i]", "x1[{b} + i]"), dtype)
    shape = a.shape[:-1] + b.shape[:-1]
    dynamic, objects = (left * right, n, max(right, 1), shape), (folded, op, *functions)
    given = (_first(begin, dtype), as_line(nodes[0]), as_line(nodes[1]))
    return wrap(made("inner", _fold, given, shape, dtype, dynamic=dynamic, objects=objects, is_costly=True))


def scan(
    op: Any, x: Any, *, axis: int | None = None, init: Any = None, exclusive: bool = False, check: bool = False
) -> Any:
    """Running results of an operator along an axis, from left to right, after an initial value if there is one.

    A result includes its element, or, if exclusive, only those before. Shape as `x`; the type is that of `reduce`.
    Raises ValueError without an axis unless there is one, for exclusive results without an initial value, and with
    `check` if the operator is not associative on samples.
    """
    k = _axis(x, axis)
    if several.is_several(x) or several.is_several(init):
        return _several("scan", _scan_several, op, x, init, k, exclusive, check)
    begin, op, dtype = _running(op, x, init, exclusive, check)
    given = (_first(begin, dtype), _lines(x, k, dtype))
    return _of_lines("scan", _scan, x.shape, k, x.shape[k], given, dtype, (scanned, op), (bool(exclusive),))


@njit(parallel=True)
def _scan_several(op, x, init, axis, exclusive, check):  # type: ignore[no-untyped-def]
    return scan(op, x, axis=axis, init=init, exclusive=exclusive, check=check)


def _several(
    name: str, helper: Any, op: Any, x: Any, init: Any, k: int, exclusive: Any, check: bool, offsets: Any = None
) -> Any:
    # Results of tuples along an axis, for which the segments between offsets may count.
    shape = several.shape_of(x)
    if exclusive and init is None:
        raise ValueError("exclusive results need an initial value")
    text = several.Text()
    op, begin, kind = text.running(op, init, several.elements(x))
    given = f"{text.array(x)}, {begin}, {k}, {exclusive}, {bool(check) or None}"
    if offsets is not None:
        given += f", {text.array(offsets)}"
    if name == "segmented_reduce":
        shape = (*shape[:k], offsets.shape[0] - 1, *shape[k + 1 :])
    return several.call(name, text, given, helper, (op,), shape, kind)


def _axis(x: Any, axis: int | None) -> int:
    ndim = len(several.shape_of(x))
    if axis is None:
        if ndim != 1:
            raise ValueError(f"an axis is needed for an array with {ndim} axes")
        axis = 0
    return axis_of(axis, ndim)


def _lines(x: Any, k: int, dtype: np.dtype[Any]) -> Node:
    # The lines along an axis as rows of a matrix.
    return reshaped(convert(moveaxis(x, k, -1).node(), dtype), (_rows(x.shape, k), x.shape[k]))


def _of_lines(
    name: str, emit: Any, shape: Any, k: int, n: int, given: Any, dtype: Any, objects: Any, static: Any = ()
) -> ndarray:
    # The results of a helper for lines along an axis, which has so many elements afterwards.
    moved = (*shape[:k], *shape[k + 1 :], n)
    node = made(name, emit, given, moved, dtype, static=static, dynamic=(moved,), objects=objects, is_costly=True)
    return wrap(node) if k == len(shape) - 1 else wrap(moveaxis(wrap(node), -1, k).node())


def _running(op: Any, x: Any, init: Any, exclusive: bool, check: bool) -> tuple[Node | None, Any, np.dtype[Any]]:
    begin = several.initial(init, x.dtype)
    if exclusive and begin is None:
        raise ValueError("exclusive results need an initial value")
    op, dtype = of.accumulated(op, x.dtype if begin is None else begin.dtype, x.dtype)
    if check:
        of.check_associative(op, x.numpy().astype(dtype))
    return begin, op, dtype


def _scan(first: str, x: str, shape: str, helper: str, op: str, exclusive: bool) -> str:
    return f"{helper}({op}, {first}, {exclusive}, {x}).reshape({shape})"


def inclusive_scan(op: Any, x: Any, *, axis: int | None = None, init: Any = None, check: bool = False) -> Any:
    """`scan` whose results are with the element itself."""
    return scan(op, x, axis=axis, init=init, check=check)


def exclusive_scan(op: Any, x: Any, *, axis: int | None = None, init: Any, check: bool = False) -> Any:
    """`scan` whose results are of the elements before."""
    return scan(op, x, axis=axis, init=init, exclusive=True, check=check)


def _offsets(offsets: Any) -> Node:
    if offsets.ndim != 1 or not offsets.shape[0]:
        raise ValueError(f"offsets are a line of one or more, not of the shape {offsets.shape}")
    if offsets.dtype not in dtypes.INTEGRAL:
        raise TypeError(f"offsets are integers, not {offsets.dtype}")
    return as_line(convert(offsets.node(), dtypes.int64))


def segmented_reduce(op: Any, x: Any, offsets: Any, init: Any, *, axis: int | None = None, check: bool = False) -> Any:
    """For each segment `x[offsets[i]:offsets[i + 1]]` of a line its elements folded from left to right after `init`.

    With an axis these are segments of each line along it. The axis has one result less than offsets; the type is that
    of `reduce`. Raises IndexError for an offset outside of the line, ValueError for offsets that decrease, without an
    axis unless there is one, and with `check` as `reduce`.
    """
    places, k = _offsets(offsets), _axis(x, axis)
    if init is None:
        raise ValueError("segments may have no elements, so that an initial value is needed")
    if several.is_several(x) or several.is_several(init):
        return _several("segmented_reduce", _reduce_segments, op, x, init, k, None, check, places)
    begin, op, dtype = _running(op, x, init, False, check)
    given = (_first(begin, dtype), _lines(x, k, dtype), places)
    objects, n = (segments_folded, op), offsets.shape[0] - 1
    return _of_lines("segmented_reduce", _of_segments, x.shape, k, n, given, dtype, objects)


@njit(parallel=True)
def _reduce_segments(op, x, init, axis, exclusive, check, offsets):  # type: ignore[no-untyped-def]
    return segmented_reduce(op, x, offsets, init, axis=axis, check=check)


def _of_segments(first: str, x: str, offsets: str, shape: str, helper: str, op: str) -> str:
    return f"{helper}({op}, {first}, {x}, {offsets}).reshape({shape})"


def segmented_scan(
    op: Any,
    x: Any,
    offsets: Any,
    *,
    axis: int | None = None,
    init: Any = None,
    exclusive: bool = False,
    check: bool = False,
) -> Any:
    """As `scan` of each segment `x[offsets[i]:offsets[i + 1]]` of a line, or of each line along an axis, by itself.

    Raises as `segmented_reduce`, and ValueError for segments that leave elements out.
    """
    places, k = _offsets(offsets), _axis(x, axis)
    if several.is_several(x) or several.is_several(init):
        return _several("segmented_scan", _scan_in_segments, op, x, init, k, exclusive, check, places)
    begin, op, dtype = _running(op, x, init, exclusive, check)
    given = (_first(begin, dtype), _lines(x, k, dtype), places)
    objects, static = (segments_scanned, op), (bool(exclusive),)
    return _of_lines("segmented_scan", _scan_segments, x.shape, k, x.shape[k], given, dtype, objects, static)


@njit(parallel=True)
def _scan_in_segments(op, x, init, axis, exclusive, check, offsets):  # type: ignore[no-untyped-def]
    return segmented_scan(op, x, offsets, axis=axis, init=init, exclusive=exclusive, check=check)


def _scan_segments(first: str, x: str, offsets: str, shape: str, helper: str, op: str, exclusive: bool) -> str:
    return f"{helper}({op}, {first}, {exclusive}, {x}, {offsets}).reshape({shape})"


def adjacent_difference(x: Any, f: Any = None, *, axis: int = -1) -> ndarray:
    """`f(x[i], x[i - 1])` along an axis, subtraction without a function; the first element stays.

    Shape as `x`; the type holds the elements and the results. AxisError for an axis that is not there.
    """
    k = axis_of(axis, x.ndim)
    before = (slice(None),) * k
    head, tail, last = x[(*before, slice(0, 1))], x[(*before, slice(1, None))], x[(*before, slice(0, -1))]
    return concat([head, subtract(tail, last) if f is None else map(f, tail, last)], axis=k)


__all__ = [
    "adjacent_difference", "exclusive_scan", "inclusive_scan", "inner", "map", "reduce", "scan", "segmented_reduce",
    "segmented_scan", "transform_reduce",
]  # fmt: skip
