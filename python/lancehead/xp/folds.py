"""Reductions and running results by functions of the program.

Operators are taken to be associative. A line is reduced in blocks of 4096 elements, and the results of the blocks as
one block; the initial value, if there is one, comes before. So results do not depend on the number of threads. In a
block four neighbours at a time are combined as (0 1) (2 3), a last group of fewer from left to right, and their results
in the same way until one is left: elements keep their order, and operators need not be commutative.

Of operators that are known to be commutative (addition, multiplication, `&`, `|`, `^`, `np.minimum`, `np.maximum`, or a
function that is nothing else) each group of 64 elements of a block goes to 16 lanes: elements j, j + 16, j + 32 and
j + 48 are combined in pairs, and that with what lane j has of the groups before. Halves of the lanes are combined with
each other until one is left, and with it, one by one, the rest of fewer than 64 elements.

Lines along another axis than the last are folded from left to right in blocks, and so are the results of the blocks.
Running results are folded from left to right in spans of 512 elements, and what is before a span, itself folded from
left to right, is combined with each of its results. Segments are folded from left to right without blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np
from numpy import empty

from lancehead.caches import Cache
from lancehead.decorators import njit
from lancehead.lib.primitives import folding
from lancehead.options import near_keywords
from lancehead.xp import captured, dtypes, places, records, several
from lancehead.xp import functions as of
from lancehead.xp.arrays import lazy, ndarray, wrap
from lancehead.xp.devices import by_kernels
from lancehead.xp.elementwise import convert, subtract
from lancehead.xp.graph import Node, Op, leaf, made, name_of
from lancehead.xp.graph import op as operation
from lancehead.xp.manipulation import RESHAPE, axis_of, moveaxis
from lancehead.xp.rows import Element, How, Kind, Row

_MAP = Row("map", Kind.ELEMENTWISE, element=Element.MAPPED, nanoseconds=3.0, is_portable=True, may_raise=True)
_REDUCE, _SCAN = Row("reduce", how=How.REDUCED), Row("scan", how=How.SCANNED)
_SEGMENTED_REDUCE = Row("segmented_reduce", how=How.SEGMENTS_REDUCED)
_SEGMENTED_SCAN = Row("segmented_scan", how=How.SEGMENTS_SCANNED)

# Places that these loops read are there.
folded = njit(parallel=True, boundscheck=False)(folding.folded)
folded_in_lanes = njit(parallel=True, boundscheck=False)(folding.folded_in_lanes)
folded_across = njit(parallel={"unsafe": True}, boundscheck=False)(folding.folded_across)
scanned = njit(parallel={"unsafe": True}, boundscheck=False)(folding.scanned)
segments_folded = njit(parallel=True)(folding.segments_folded)
# Segments do not overlap.
segments_scanned = njit(parallel={"unsafe": True})(folding.segments_scanned)


def _first(init: Node | None, dtype: np.dtype[Any]) -> Node:
    # An array of the initial value, or of nothing.
    if init is None:
        return leaf(np.empty(0, dtype))
    if init.value is not None:
        return leaf(np.asarray(init.value).astype(dtype).reshape(1))
    return as_line(convert(init, dtype))


def reshaped(node: Node, shape: tuple[int, ...]) -> Node:
    """A node's elements in row-major order in a shape of as many, next to each other in memory."""
    if node.shape == shape and node.op.kind is not Kind.VIEW:
        return node
    return made(RESHAPE, _reshaped, (node,), shape, node.dtype, dynamic=(shape,))


def _reshaped(a: str, shape: str) -> str:
    return f"np.ascontiguousarray({a}).reshape({shape})"


def as_line(node: Node) -> Node:
    """A node's elements in row-major order, with one axis."""
    return reshaped(node, (math.prod(node.shape),))


def _line(node: Node, name: str, shape: tuple[int, ...]) -> tuple[Node, str]:
    # A node of the elements, and the text of one whose place in row-major order is `p`, of the line that they are.
    if node.value is None and node.op.kind is Kind.CONSTANT:
        node = leaf(np.asarray(node.dynamic[1], node.dtype))
    if node.shape != shape or not node.shape:
        if math.prod(node.shape) == 1:
            return node, f"element({name}, 0)"
        node = wrap(node).view(lambda s: np.broadcast_to(s, shape)).node()
    if node.value is None and node.op.kind is Kind.COUNTING:
        return leaf(np.asarray(node.dynamic[:1])), f"element({name}, 0) + {{p}}"
    return node, f"element({name}, {{p}})"


def _rows(shape: tuple[int, ...], axis: int) -> int:
    return math.prod(n for k, n in enumerate(shape) if k != axis)


def _element(f: Any, place: str, parameters: str, elements: Sequence[str], dtype: np.dtype[Any]) -> Any:
    # The function of an element as a type: of parameters that say its place, and the arrays.
    names = ", ".join(f"x{i}" for i in range(len(elements)))
    values = ", ".join(element.format(p=place) for element in elements)
    if records.is_record(dtype):
        return of.made(f"def call({parameters}, {names}):\n    return f0({values})\n", f)
    return of.made(f"def call({parameters}, {names}):\n    return {of.typed(dtype)}(f0({values}))\n", f)


def _same(x):  # type: ignore[no-untyped-def]
    return x


#: The function that gives its argument.
_SAME = of.compiled(_same)


def _call(*given: str) -> str:
    *names, f = given
    return f"{f}({', '.join(names)})"


def map(f: Any, *arrays: Any) -> Any:
    """The results of a function for the elements of arrays, which broadcast; numbers take part as in `add`.

    The type is that of the function's results; if these are tuples, so is what is given: a tuple of arrays. Raises
    TypeError if they are no numbers, truth values or tuples of these, ValueError for shapes that do not fit, and what
    the function raises.
    """
    x, plain = arrays[0] if len(arrays) == 1 else None, None
    if type(x) is ndarray and type(f) is FunctionType:
        a = x._node if x._view is None else x._view.node()
        known = _bare_map((id(f.__code__), a.dtype))
        if known is None or f.__closure__ or f.__defaults__ or f.__kwdefaults__:
            plain = captured.plain_key(f)
            known = None if plain is None else _PLAIN_MAPS.get((plain, a.dtype))
        if known is not None:
            result = lazy(known[0], (a,), a.shape, known[1], a.device)
            # Functions of the program may raise.
            result._node.place = places.here()
            return result
    given = f
    f, nodes, dtype = several.elementwise(f, arrays)
    if isinstance(dtype, tuple):
        shape, text = np.broadcast_shapes(*(n.shape for n in nodes)), several.Text()
        return several.call("map", text, ", ".join([text.array(n) for n in nodes]), _map_several, (f,), shape, dtype)
    shape = nodes[0].shape if len(nodes) == 1 else np.broadcast_shapes(*[n.shape for n in nodes])
    if records.is_record(dtype) or any(records.is_record(n.dtype) for n in nodes):
        return _placed(_of_records(f, nodes, shape, dtype))
    found = _MAPS.get((f, len(nodes)))
    if found is None:
        node = made(_MAP, _call, nodes, shape, dtype, objects=(of.ufunc(f, len(nodes)),))
        found = _MAPS[f, len(nodes)] = node.op
        found.function = f
    if plain is not None:
        # The function stays: its globals, and modules that it reads, are in the key by identity.
        _PLAIN_MAPS[plain, dtype if x is None else x.dtype] = found, dtype, given
        if x is not None and len(plain) == 2 and not captured.names_of(f.__code__):
            _BARE_MAPS[id(f.__code__), x.dtype] = found, dtype, f.__code__
    return _placed(Node(found, tuple(nodes), shape, dtype))


def _of_records(f: Any, nodes: Sequence[Node], shape: Any, dtype: np.dtype[Any]) -> Node:
    read = [_line(node, f"x{i}", shape) for i, node in enumerate(nodes)]
    at = _element(f, "p", "p", [text for _, text in read], dtype)
    return records.mapped(at, [node for node, _ in read], shape, dtype)


@njit(parallel=True)
def _map_several(f, *arrays):  # type: ignore[no-untyped-def]
    return map(f, *arrays)


def _placed(node: Node) -> ndarray:
    # Functions of the program may raise.
    node.place = places.here()
    return wrap(node)


#: Operations of `map` by functions and numbers of operands.
_MAPS: Cache[Any, Op] = Cache(4096)
#: Operations and types of results by code that captured nothing, its globals, and the type of elements.
_PLAIN_MAPS: Cache[Any, tuple[Any, ...]] = Cache(4096)
#: The same by the identity of code that reads no names, which are not looked up; the code stays, so that it stays its.
_BARE_MAPS: Cache[Any, tuple[Any, ...]] = Cache(4096)
_bare_map = _BARE_MAPS.get
#: Functions of elements in which others are called, by what they consist of.
_JOINED: Cache[Any, Any] = Cache(4096)
#: So many functions become one.
_MANY = 64


def _is_map(n: Node, shape: tuple[int, ...]) -> bool:
    return n.value is None and n.op.function is not None and n.shape == shape


def _place_of(
    n: Node, depth: int, shape: tuple[int, ...], place: dict[Node, int], calls: list[Any], leaves: list[Node]
) -> int:
    # The number of the call that computes a node, of a leaf a negative one.
    k = place.get(n)
    if k is None:
        if depth < _MANY and _is_map(n, shape):
            inputs = tuple([_place_of(i, depth + 1, shape, place, calls, leaves) for i in n.inputs])
            calls.append((n.op, inputs))
            k = len(calls) - 1
        else:
            leaves.append(n)
            k = -len(leaves)
        place[n] = k
    return k


def _joined(f: Any, nodes: list[Node], shape: tuple[int, ...]) -> tuple[Any, list[Node]]:
    # The function and its arrays, with maps that have no values as a part of the function: they need no memory.
    if not any(_is_map(n, shape) for n in nodes):
        return f, nodes
    # A chain is found by its operations.
    chain, n = [f], nodes[0]
    while len(nodes) == 1 and len(n.inputs) == 1 and len(chain) < _MANY and _is_map(n, shape):
        chain.append(n.op)
        n = n.inputs[0]
    known = None if n.value is None else _JOINED.get(tuple(chain))
    if known is not None:
        return known, [n]
    leaves: list[Node] = []
    calls: list[Any] = []
    place: dict[Node, int] = {}
    roots = tuple([_place_of(n, 0, shape, place, calls, leaves) for n in nodes])
    key = (f, roots, *calls)
    found = _JOINED.get(key)
    if found is None:
        names = ", ".join(f"x{i}" for i in range(len(leaves)))

        def called(i: int, places: Sequence[int]) -> str:
            return f"f{i}({', '.join(f't{k}' if k >= 0 else f'x{-k - 1}' for k in places)})"

        lines = [f"    t{i} = {called(i, places)}\n" for i, (_, places) in enumerate(calls)]
        text = f"def call({names}):\n{''.join(lines)}    return {called(len(calls), roots)}\n"
        found = _JOINED[key] = of.made(text, *(op.function for op, _ in calls), f)
    if len(calls) == len(chain) - 1 and leaves == [n]:
        _JOINED[tuple(chain)] = found
    return found, leaves


#: Operations of reductions, by what they consist of.
_REDUCTIONS: Cache[Any, Op] = Cache(4096)


def _folded(
    op: Any, f: Any, nodes: Sequence[Node], init: Node | None, axis: Any, shape: Any, of_elements: Any
) -> ndarray:
    elements, check = of_elements
    is_commutative = of.is_commutative(op)
    op, dtype = of.accumulated(op, elements if init is None else init.dtype, elements)
    n = math.prod(shape) if axis is None else shape[axis]
    if init is None and not n:
        raise ValueError("a reduction of no elements needs an initial value")
    if check:
        some = wrap(made(_MAP, _call, nodes, shape, elements, objects=(of.ufunc(f, len(nodes)),))).numpy()
        of.check_associative(op, some.astype(dtype))
    if by_kernels(*nodes) and not any(records.is_record(d) for d in (elements, dtype, *[n.dtype for n in nodes])):
        is_near = axis is None or math.prod(shape[axis + 1 :]) == 1
        order = "left" if not is_near else "lanes" if is_commutative else "neighbours"
        return _folded_there(op, f, nodes, _first(init, dtype), axis, shape, (elements, dtype, order))
    f, nodes = _joined(f, list(nodes), shape)
    read = [_line(node, f"x{i}", shape) for i, node in enumerate(nodes)]
    texts = tuple([text for _, text in read])
    out = () if axis is None else (*shape[:axis], *shape[axis + 1 :])
    given = (_first(init, dtype), *[node for node, _ in read])
    # Elements of a line along an axis are as far from each other as there are elements after the axis.
    m = 1 if axis is None else math.prod(shape[axis + 1 :])
    key = (op, f, texts, dtype, m == 1, is_commutative)
    found = _REDUCTIONS.get(key)
    if found is None:
        found = _REDUCTIONS[key] = _reduction(op, f, texts, dtype, m == 1, is_commutative)
        if dtype.kind in "biufc" and not found.fills:
            found.fills, found.filling = True, None
    rows = math.prod(out) if m == 1 else math.prod(shape[:axis])
    return _placed(Node(found, given, out, dtype, (rows, n, m, out)))


def _folded_there(
    op: Any, f: Any, nodes: Sequence[Node], first: Node, axis: Any, shape: Any, types: tuple[Any, Any, str]
) -> ndarray:
    # A reduction on a device, whose kernel contains the map.
    elements, dtype, order = types
    if len(nodes) == 1 and nodes[0].shape == shape and f is _SAME:
        x = nodes[0]
    else:
        x = made(_MAP, _call, nodes, shape, elements, objects=(of.ufunc(f, len(nodes)),))
    out = () if axis is None else (*shape[:axis], *shape[axis + 1 :])
    x = convert(x, dtype) if shape else reshaped(convert(x, dtype), (1,))
    static = (None if axis is None or not shape else axis, order)
    return wrap(made(_REDUCE, no_text, (first, x), out, dtype, objects=(op,), static=static, is_costly=True))


def no_text(*_: str) -> str:
    """The text of an operation that only devices have."""
    raise AssertionError("there is a kernel for it on devices, and the host has another operation")


def _reduction(op: Any, f: Any, texts: Sequence[str], dtype: Any, is_near: bool, is_commutative: bool) -> Op:
    # The operation of a reduction of lines whose elements are next to each other, or as far as they say.
    if is_near:
        begin = of.made("def call(r, n, m):\n    return r * n\n")
        at = _element(f, "b + i", "b, m, i", texts, dtype)
        objects: tuple[Any, ...] = (folded_in_lanes if is_commutative else folded, op, begin, at)
        return operation(_REDUCE, _fold, tuple(name_of(x) for x in objects), count=len(texts) + 1, is_costly=True)
    objects = (folded_across, op, _element(f, "b + c", "b, c", texts, dtype))
    return operation(_REDUCE, _fold_across, tuple(name_of(x) for x in objects), count=len(texts) + 1, is_costly=True)


def _flat(lines: Sequence[str]) -> str:
    return ", ".join(f"np.ascontiguousarray({x}).reshape(-1)" for x in lines)


def _fold(first: str, *more: str) -> str:
    *lines, rows, n, m, shape, helper, op, begin, at = more
    return f"{helper}({op}, {begin}, {at}, {first}, {rows}, {n}, {m}, {_flat(lines)}).reshape({shape})"


def _fold_across(first: str, *more: str) -> str:
    *lines, rows, n, m, shape, helper, op, at = more
    return f"{helper}({op}, {at}, {first}, {rows}, {n}, {m}, {_flat(lines)}).reshape({shape})"


def reduce(f: Any, x: Any, *, init: Any = None, axis: int | None = None, check: bool = False) -> Any:
    """The elements along an axis, all for None, combined by an associative operator after an initial value.

    The type is the least that holds the initial value, the elements and the operator's results; without an initial
    value (None) the first element begins. Blocks of 4096 elements are reduced four neighbours at a time as
    (0 1) (2 3), and their results in the same way; by an operator that is known to be commutative, such as addition, in
    16 lanes; along another axis than the last from left to right. The results of blocks are combined in the same way,
    whatever the number of threads. Of tuples, as `zip` makes them, the initial value is a tuple, and so is the result,
    of an array for each item. Raises ValueError for no elements without an initial value, and with `check` if the
    operator is not associative on samples, TypeError for tuples of different forms.
    """
    return transform_reduce(_SAME, f, init, x, axis=axis, check=check)


def transform_reduce(f: Any, op: Any, init: Any, *arrays: Any, axis: int | None = None, check: bool = False) -> Any:
    """As `reduce(op, map(f, *arrays), init=init)`, without memory for the results of `f`."""
    f, nodes, elements = several.elementwise(f, arrays)
    shape = nodes[0].shape if len(nodes) == 1 else np.broadcast_shapes(*[n.shape for n in nodes])
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


def is_mapped(x: ndarray) -> bool:
    """Whether an array is the result of `map` and not computed."""
    node = x.node()
    return _is_map(node, node.shape)


def total(x: ndarray) -> ndarray:
    """The sum of all elements, in the order of `reduce`."""
    node = x.node()
    shape, ops, n = node.shape, list[Op](), node
    while n.value is None and len(ops) < _MANY:
        op, inputs = n.op, n.inputs
        if op.function is None or len(inputs) != 1 or n.shape != shape:
            break
        ops.append(op)
        n = inputs[0]
    key = (*ops, n.dtype, node.dtype)
    is_chain = n.value is not None and n.shape == shape and 0 not in shape and len(shape) > 0 and not by_kernels(node)
    known = _total_of(key) if is_chain else None
    if known is not None:
        op, dtype = known
        first = _NOTHING.get(dtype)
        if first is None:
            first = _NOTHING[dtype] = leaf(empty(0, dtype))
        return _placed(Node(op, (first, n), (), dtype, (1, math.prod(shape), 1, ())))
    found: ndarray = reduce(np.add, x, init=None if x.size else 0)
    if is_chain and len(found._node.inputs) == 2 and found._node.inputs[1] is n and len(ops) < _MANY:
        _TOTALS[key] = found._node.op, found.dtype
    return found


#: Operations and types of sums of all elements by the maps of which they are, and by the types before and after them.
_TOTALS: Cache[Any, tuple[Op, np.dtype[Any]]] = Cache(4096)
_total_of = _TOTALS.get
#: Nodes of no elements, by types: initial values that are not there.
_NOTHING: Cache[np.dtype[Any], Node] = Cache(1024)


def inner(f: Any, op: Any, a: Any, b: Any, *, init: Any = None, check: bool = False) -> Any:
    """The results of `f` for elements of lines along the last axes of both, combined by `op`: shape a[:-1] + b[:-1].

    With multiplication and addition it is `numpy.inner`. The order is that of `reduce`. Raises ValueError if the lines
    have different numbers of elements, or none without an initial value.
    """
    if not a.ndim or not b.ndim or a.shape[-1] != b.shape[-1]:
        raise ValueError(f"lines of arrays of the shapes {a.shape} and {b.shape} do not fit")
    f, nodes, elements = several.elementwise(f, (a, b))
    if by_kernels(a, b) or isinstance(elements, tuple):
        a = a[(..., *(None,) * (b.ndim - 1), slice(None))]
        return transform_reduce(f, op, init, a, b, axis=-1, check=check)
    begin, n = several.initial(init, elements), a.shape[-1]
    helper = folded_in_lanes if of.is_commutative(op) else folded
    op, dtype = of.accumulated(op, elements if begin is None else begin.dtype, elements)
    if begin is None and not n:
        raise ValueError("a reduction of no elements needs an initial value")
    if check and a.size and b.size:
        of.check_associative(op, map(f, a[..., :6], b[(0,) * (b.ndim - 1)][:6]).numpy().astype(dtype))
    left, right = math.prod(a.shape[:-1]), math.prod(b.shape[:-1])
    begins = of.made("def call(r, n, m):\n    return r // m * n, r % m * n\n")
    functions = (begins, _element(f, "b", "b, m, i", ("element(x0, {p}[0] + i)", "element(x1, {p}[1] + i)"), dtype))
    shape = a.shape[:-1] + b.shape[:-1]
    dynamic, objects = (left * right, n, max(right, 1), shape), (helper, op, *functions)
    given = (_first(begin, dtype), *nodes)
    return wrap(made("inner", _fold, given, shape, dtype, dynamic=dynamic, objects=objects, is_costly=True))


def scan(
    op: Any, x: Any, *, axis: int | None = None, init: Any = None, exclusive: bool = False, check: bool = False
) -> Any:
    """Running results of an operator along an axis, from left to right, after an initial value if there is one.

    Each span of 512 elements is folded by itself, and then combined with the result of what is before it; exclusive
    results are those of the initial value followed by the elements.
    A result includes its element, or, if exclusive, only those before. Shape as `x`; the type is that of `reduce`.
    Raises ValueError without an axis unless there is one, for exclusive results without an initial value, and with
    `check` if the operator is not associative on samples.
    """
    k = _axis(x, axis)
    if several.is_several(x) or several.is_several(init):
        return _several("scan", _scan_several, op, x, init, k, exclusive, check)
    begin, op, dtype = _running(op, x, init, exclusive, check)
    given = (_first(begin, dtype), _lines(x, k, dtype))
    return _of_lines(_SCAN, _scan, x.shape, k, x.shape[k], given, dtype, (scanned, op), (bool(exclusive),))


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
    if exclusive is None:
        # Results are those of segments.
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
    row: Row, emit: Any, shape: Any, k: int, n: int, given: Any, dtype: Any, objects: Any, static: Any = ()
) -> ndarray:
    # The results of a helper for lines along an axis, which has so many elements afterwards.
    moved = (*shape[:k], *shape[k + 1 :], n)
    node = made(row, emit, given, moved, dtype, static=static, dynamic=(moved,), objects=objects, is_costly=True)
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
    return _of_lines(_SEGMENTED_REDUCE, _of_segments, x.shape, k, n, given, dtype, objects)


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
    return _of_lines(_SEGMENTED_SCAN, _scan_segments, x.shape, k, x.shape[k], given, dtype, objects, static)


@njit(parallel=True)
def _scan_in_segments(op, x, init, axis, exclusive, check, offsets):  # type: ignore[no-untyped-def]
    return segmented_scan(op, x, offsets, axis=axis, init=init, exclusive=exclusive, check=check)


def _scan_segments(first: str, x: str, offsets: str, shape: str, helper: str, op: str, exclusive: bool) -> str:
    return f"{helper}({op}, {first}, {exclusive}, {x}, {offsets}).reshape({shape})"


def adjacent_difference(x: Any, f: Any = None, *, axis: int = -1) -> ndarray:
    """`f(x[i], x[i - 1])` along an axis, without a function subtraction; the first element stays.

    Without a function, truth values are those that differ from the one before, as of `np.diff`. Shape as `x`; the type
    holds the elements and the results. AxisError for an axis that is not there.
    """
    k = axis_of(axis, x.ndim)
    if f is None and x.dtype == dtypes.bool:
        found, f = x.dtype, _unlike
    elif f is None:
        found, f = subtract(x, x).dtype, _less
    else:
        found = of.result_dtype(f := of.binary(f), (x.dtype, x.dtype))
    dtype = dtypes.as_dtype(np.result_type(x.dtype, found))
    # Elements before axis `k` are rows; neighbours are as far from each other as there are elements after it.
    rows, m = math.prod(x.shape[:k]), math.prod(x.shape[k + 1 :])
    helper = of.made(_differences(dtype, k == 0), f, parallel={"unsafe": True})
    dynamic = (x.shape, rows, x.shape[k] * m, m)
    return wrap(made("adjacent_difference", _differ, (x.node(),), x.shape, dtype, dynamic=dynamic, objects=(helper,)))


@njit
def _less(a, b):  # type: ignore[no-untyped-def]
    return a - b


@njit
def _unlike(a, b):  # type: ignore[no-untyped-def]
    return a != b


def _differences(dtype: np.dtype[Any], is_one: bool) -> str:
    # The loops over rows of `n` elements, or over the elements of one, in parallel. The last loop, which has most of
    # them, begins where a line of the cache does: stores that cross such lines take twice as long.
    name, line = of.typed(dtype), max(64 // dtype.itemsize, 1)
    return f"""def call(x, shape, rows, n, m):
    out = np.empty(shape, {name})
    line = out.reshape(-1)
    for r in {"range" if is_one else "prange"}(rows):
        start, stop = r * n + min(m, n), r * n + n
        whole = min((start + {line - 1}) // {line} * {line}, stop)
        for i in range(r * n, start):
            put(line, i, {name}(element(x, i)))
        for i in range(start, whole):
            put(line, i, {name}(f0(element(x, i), element(x, i - m))))
        for t in {"prange" if is_one else "range"}((stop - whole + {of.BLOCK - 1}) // {of.BLOCK}):
            for i in range(whole + t * {of.BLOCK}, min(whole + (t + 1) * {of.BLOCK}, stop)):
                put(line, i, {name}(f0(element(x, i), element(x, i - m))))
    return out
"""


def _differ(x: str, shape: str, rows: str, n: str, m: str, helper: str) -> str:
    return f"{helper}({_flat([x])}, {shape}, {rows}, {n}, {m})"


__all__ = [
    "adjacent_difference", "exclusive_scan", "inclusive_scan", "inner", "map", "reduce", "scan", "segmented_reduce",
    "segmented_scan", "transform_reduce",
]  # fmt: skip

near_keywords(globals())
