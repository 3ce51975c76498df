"""Reductions and scans on devices: what their elements, operators and results are, as functions of their kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lancehead.xp import device_orders as orders
from lancehead.xp import device_texts as texts
from lancehead.xp import dtypes
from lancehead.xp import functions as of
from lancehead.xp.graph import Node
from lancehead.xp.kernels import Code, Index, Places, cast, how, rounded
from lancehead.xp.rows import Gives, How, Law


class Facts(NamedTuple):
    """How many lines there are, and elements of each; in which order these are reduced, and whether the means of the
    lines are needed first.
    """

    extents: Callable[[Any], tuple[int, int]]
    order: str = ""
    has_means: bool = False


class Fold(NamedTuple):
    """The text of a reduction or a scan, and the arguments of its kernels."""

    text: str
    arguments: dict[Any, str]
    facts: Facts


def _axes(node: Node) -> tuple[int, ...]:
    named = node.op.static[1]
    if named is None:
        return tuple(range(len(node.inputs[0].shape)))
    return named if isinstance(named, tuple) else (named,)


def _lines(places: Places, shape: tuple[int, ...], axes: tuple[int, ...]) -> Callable[[Any], tuple[int, int]]:
    number = places.shape[shape]

    def extents(run: Any) -> tuple[int, int]:
        now = run.shapes[number]
        n = math.prod(now[k] for k in axes)
        return math.prod(m for k, m in enumerate(now) if k not in axes), n

    return extents


def _index(code: Code, shape: tuple[int, ...], axes: tuple[int, ...]) -> Index:
    # Element `i` of line `r`, where lines are along axes.
    if len(axes) == len(shape):
        return Index(shape, "i")
    if axes == (len(shape) - 1,):
        flat = code.let(f"r * {code.extent(shape, axes[0])} + i")
        if len(shape) == 2:
            code.known["multi", shape, flat] = ("r", "i")
        return Index(shape, flat)
    kept = [k for k in range(len(shape)) if k not in axes]
    multi = [""] * len(shape)
    for name, of_name in (("r", kept), ("i", axes)):
        for k, part in zip(of_name, code.parts(name, [code.extent(shape, k) for k in of_name]), strict=True):
            multi[k] = part
    return Index(shape, None, tuple(multi))


def _given(code: Code) -> str:
    return "".join(f", {name}" for name in code.arguments.values())


def _numpy_fold(node: Node, places: Places) -> Fold:
    # A reduction that NumPy has.
    (x,), row, dtype = node.inputs, node.op.row, of.typed(node.dtype)
    law, gives = row.law, row.gives
    assert law is not None, "functions of NumPy have a law"
    code, axes = Code(places), _axes(node)
    element = code.load(x, _index(code, x.shape, axes))
    given, names = _given(code), list(code.arguments.values())
    is_place, has_means = gives is Gives.PLACE, gives in (Gives.VARIANCE, Gives.DEVIATION)
    order = _order(law, is_place, x, axes, node.dtype)
    facts = Facts(_lines(places, x.shape, axes), order, has_means)
    result = cast(dtypes.bool, element, x.dtype) if row.is_truth else element if is_place else cast(node.dtype, element)
    parts = [texts.function("element", ["r", "i", *names], code.lines, result)]
    simple = f"{dtype}(np.{law.ufunc}(a, b))"
    if has_means:
        parts += _part("mean_", names, f"element(r, i{given})", simple, f"np.divide(a, {dtype}(n))")
        parts.append(_kernels(given, dtype, order, "mean_"))
        more = dict(node.op.static[3])["ddof"]
        divided = f"np.divide(a, {dtype}(max(n - {more!r}, 0.0)))"
        square = rounded(node.dtype, f"{dtype}(np.square(element(r, i{given}) - means[r]))")
        final = f"np.sqrt({divided})" if gives is Gives.DEVIATION else divided
        parts += _part("", ["means", *names], square, simple, final)
        parts.append(_kernels(f", means{given}", dtype, order))
    elif is_place:
        better = _better(">" if law is Law.GREATEST else "<", x.dtype.kind == "f")
        of_places = better(f"element(r, b{given})", f"element(r, a{given})")
        parts += _part("", names, "np.int64(i)", f"b if {of_places} else a", "a")
        parts.append(_kernels(given, dtype, order))
    else:
        final = f"{dtype}(np.divide(a, {dtype}(n)))" if gives is Gives.MEAN else "a"
        parts += _part("", names, f"element(r, i{given})", simple, final)
        parts.append(_kernels(given, dtype, order))
    nothing = "np.nan" if gives is Gives.MEAN or has_means else law.nothing or 0
    parts.append(texts.nothing(given, f"{dtype}({nothing})"))
    return Fold("\n".join(parts), dict(code.arguments), facts)


def _order(law: Law, is_place: bool, x: Node, axes: tuple[int, ...], dtype: np.dtype[Any]) -> str:
    # The order of a reduction of NumPy. Sums of floats have that of the host.
    is_near = len(axes) == len(x.shape) or (len(axes) == 1 and math.prod(x.shape[axes[0] + 1 :]) == 1)
    if dtype.kind in "fc" and law in (Law.SUM, Law.PRODUCT):
        return "halves" if is_near and law is Law.SUM else "left"
    # Neighbours in memory are of different lines, or of one.
    if len(x.shape) - 1 not in axes:
        return "left"
    if is_place:
        # Places have one order only.
        return "neighbours"
    return "lanes"


def _better(sign: str, has_nan: bool) -> Callable[[str, str], str]:
    # The text of whether an element goes before another one: NaN does before all others.
    def better(a: str, b: str) -> str:
        return f"{a} {sign} {b} or (np.isnan({a}) and not np.isnan({b}))" if has_nan else f"{a} {sign} {b}"

    return better


def _kernels(given: str, dtype: str, order: str, prefix: str = "") -> str:
    return orders.reduction(given, dtype, order, prefix)


def _part(prefix: str, names: list[str], at: str, op: str, final: str, opened: str = "a") -> list[str]:
    # The functions that kernels of a reduction call.
    return [
        texts.function(f"{prefix}at", ["r", "i", *names], [], at),
        texts.function(f"{prefix}op", ["a", "b", "r", *names], [], op),
        texts.function(f"{prefix}opened", ["a", *names], [], opened),
        texts.function(f"{prefix}final", ["a", "n", *names], [], final),
    ]


def _own_fold(node: Node, places: Places) -> Fold:
    # A reduction by an operator of the program.
    first, x = node.inputs
    operator, axis, order = node.op.static
    code, shape = Code(places), x.shape
    axes = tuple(range(len(shape))) if axis is None else (axis,)
    value = cast(node.dtype, code.load(x, _index(code, shape, axes)), x.dtype)
    has_first = first.shape != (0,)
    opening = Code(places)
    opening.arguments, opening.count = code.arguments, code.count
    start = opening.load(first, Index(first.shape, "0")) if has_first else "0"
    given, names = _given(code), list(code.arguments.values())
    parts = [
        texts.function("at", ["r", "i", *names], code.lines, value),
        texts.function("op", ["a", "b", "r", *names], [], f"{operator}(a, b)"),
        texts.function("final", ["a", "n", *names], [], "a"),
        texts.function("start", names, opening.lines, start),
        texts.function("opened", ["a", *names], [], f"op(start({given[2:]}), a, 0{given})" if has_first else "a"),
        _kernels(given, of.typed(node.dtype), order),
        texts.nothing(given, f"start({given[2:]})"),
    ]
    return Fold("\n".join(parts), dict(code.arguments), Facts(_lines(places, shape, axes), order))


def _scan(node: Node, places: Places) -> Fold:
    law = node.op.row.law
    is_own = law is None
    x, code = node.inputs[-1], Code(places)
    shape = x.shape
    axes: tuple[int, ...] = (len(shape) - 1,) if is_own else (node.op.static[1],)
    index = _index(code, shape, axes)
    element = cast(node.dtype, code.load(x, index), x.dtype)
    placing = Code(places)
    placing.arguments = code.arguments
    place = placing.flat(_index(placing, shape, axes))
    first = node.inputs[0] if is_own and node.inputs[0].shape != (0,) else None
    opening = Code(places)
    opening.arguments = code.arguments
    start = opening.load(first, Index(first.shape, "0")) if first is not None else "0"
    given, names = _given(code), list(code.arguments.values())
    op = f"{node.op.static[1]}(a, b)" if law is None else f"{of.typed(node.dtype)}(np.{law.ufunc}(a, b))"
    exclusive = is_own and bool(node.op.static[2])
    parts = [
        texts.function("at", ["r", "i", *names], code.lines, element),
        texts.function("place", ["r", "i", *names], placing.lines, place),
        texts.function("op", ["a", "b", "r", *names], [], op),
        texts.function("first", names, opening.lines, start),
        orders.scan(given, first is not None, exclusive),
    ]
    return Fold("\n".join(parts), dict(code.arguments), Facts(_lines(places, shape, axes)))


def fold_of(node: Node, places: Places) -> Fold:
    """The text of a reduction or a scan."""
    if how(node) is How.SCANNED:
        return _scan(node, places)
    return _own_fold(node, places) if node.op.row.law is None else _numpy_fold(node, places)
