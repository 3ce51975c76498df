"""Selections, orders and counts of elements. All orders are NumPy's: NaN is after the numbers."""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from lancehead.lib.primitives import results
from lancehead.options import near_keywords
from lancehead.xp import dtypes, selecting
from lancehead.xp.arrays import ndarray, wrap
from lancehead.xp.devices import by_kernels
from lancehead.xp.elementwise import as_node, convert
from lancehead.xp.folds import as_line, reshaped
from lancehead.xp.graph import Node, made, several
from lancehead.xp.manipulation import TAKE, TAKE_ALONG_AXIS, axis_of, moveaxis
from lancehead.xp.reducing import ARGSORT, SORT, argsort
from lancehead.xp.regions import compute
from lancehead.xp.rows import How, Row

_COMPACT, _PARTITION = Row("compact", how=How.CHOSEN), Row("partition", how=How.CHOSEN)
_UNIQUE, _RUN_LENGTH = Row("unique", how=How.RUNS, nanoseconds=60.0), Row("run_length", how=How.RUNS)
_TOP_K, _K_SELECT = Row("top_k", how=How.TOP), Row("k_select", how=How.TOP)
_MERGE = Row("merge", how=How.MERGED, nanoseconds=60.0)
_BINCOUNT, _HISTOGRAM = Row("bincount", how=How.COUNTED), Row("histogram", how=How.BINNED)
_UNION, _INTERSECTION, _DIFFERENCE, _SYMMETRIC_DIFFERENCE = (
    Row(name, how=How.COMBINED) for name in ("union", "intersection", "difference", "symmetric_difference")
)


def _call(*given: str) -> str:
    # The helper is the first of the names that begin with f.
    at = next(i for i, name in enumerate(given) if name.startswith("f"))
    return f"{given[at]}({', '.join((*given[at + 1 :], *given[:at]))})"


def _computed(*arrays: ndarray) -> tuple[ndarray, ...]:
    # Arrays whose shapes their values decide.
    compute(*(x.node() for x in arrays))
    return arrays


def _made(row: Row, nodes: Any, shape: tuple[int, ...], dtype: Any, *objects: Any, more: Any = ()) -> ndarray:
    return wrap(made(row, _call, nodes, shape, dtype, dynamic=more, objects=objects, is_costly=True))


def _mask(x: ndarray, mask: ndarray) -> tuple[Node, Node, tuple[int, ...]]:
    # Rows of the array, and for each whether it is chosen.
    if mask.dtype != dtypes.bool:
        raise TypeError(f"a mask is of truth values, not {mask.dtype}")
    if mask.shape != x.shape[: mask.ndim]:
        raise ValueError(f"a mask of shape {mask.shape} does not fit an array of shape {x.shape}")
    rest = x.shape[mask.ndim :]
    row = () if math.prod(rest) == 1 else (math.prod(rest),)
    return reshaped(as_node(x), (mask.size, *row)), as_line(as_node(mask)), rest


def compact(x: ndarray, mask: ndarray) -> ndarray:
    """`x[mask]`: the elements, or rows, where a mask of the shape of the first axes is true, in their order.

    Their number is needed, so it computes. Raises TypeError unless the mask is of truth values, ValueError if its shape
    does not fit.
    """
    rows, mask_node, rest = _mask(x, mask)
    helper = selecting.chosen if rows.shape[1:] else selecting.chosen_elements
    (found,) = _computed(_made(_COMPACT, (rows, mask_node), (-1, *rows.shape[1:]), x.dtype, helper))
    return wrap(reshaped(found.node(), (found.shape[0], *rest)))


def partition(x: ndarray, mask: ndarray) -> results.PartitionResult:
    """The elements, or rows, where a mask is true, then the others, each in their order, and the number of the first.

    `values` has the shape of `x`, if the mask has several axes with these made one; `count` has no axes and is `int64`.
    Raises as `compact`.
    """
    rows, mask_node, rest = _mask(x, mask)
    helper = selecting.parted if rows.shape[1:] else selecting.parted_elements
    parts = ((rows.shape, x.dtype), ((), dtypes.int64))
    values, count = several(_PARTITION, _call, (rows, mask_node), parts, objects=(helper,))
    return results.PartitionResult(wrap(reshaped(values, (mask.size, *rest))), wrap(count))


def sort_by_key(keys: ndarray, values: ndarray, *, axis: int | None = None) -> results.SortByKeyResult:
    """A line of keys sorted, equal ones in their order, and the elements or rows of `values` in the same order.

    With an axis, lines along it are sorted, each by itself, and keys and values have one shape. Raises ValueError
    unless the shapes fit: without an axis, the first axis of `values` has as many elements as the line of keys.
    AxisError for an axis that is not there.
    """
    if axis is not None:
        if keys.shape != values.shape:
            raise ValueError(f"keys of shape {keys.shape} and values of shape {values.shape} have no one shape")
        axis = axis_of(axis, keys.ndim)
    elif keys.ndim != 1 or not values.ndim or keys.shape[0] != values.shape[0]:
        raise ValueError(f"keys of shape {keys.shape} do not fit values of shape {values.shape}")
    row = TAKE if axis is None else TAKE_ALONG_AXIS
    if axis is None and not by_kernels(keys):
        order = _made(ARGSORT, (as_node(keys),), keys.shape, dtypes.int64, selecting.stable_order).node()
    else:
        order = as_node(argsort(keys, axis=-1 if axis is None else axis))
    found = (
        wrap(made(row, _take, (as_node(x), order), x.shape, x.dtype, static=(axis,), is_costly=True))
        for x in (keys, values)
    )
    return results.SortByKeyResult(*found)


def _take(a: str, order: str, axis: int | None) -> str:
    return f"np.take({a}, {order}, axis=0)" if axis is None else f"np.take_along_axis({a}, {order}, {axis})"


def top_k(x: ndarray, k: int, axis: int = -1) -> results.TopKResult:
    """The k greatest elements along an axis, in descending order, and their places; of equal ones those first.

    NaN is greater than the numbers, as in NumPy's order. `values` and `indices` (`int64`) have the shape of `x` with
    the extent k. Raises ValueError unless k is from 0 to the extent, AxisError for an axis that is not there.
    """
    at = axis_of(axis, x.ndim)
    n = x.shape[at]
    if not 0 <= k <= n:
        raise ValueError(f"there are no {k} greatest of {n} elements")
    moved = moveaxis(x, at, -1)
    count = math.prod(moved.shape[:-1])
    rows = reshaped(_ordered(moved.node()), (count, n))
    parts = (((count, k), rows.dtype), ((count, k), dtypes.int64))
    objects = (selecting.top_rows, selecting.before(rows.dtype))
    found = several(_TOP_K, _call, (rows,), parts, dynamic=(int(k),), objects=objects)
    shape = (*moved.shape[:-1], k)
    values, places = (wrap(moveaxis(wrap(reshaped(f, shape)), -1, at).node()) for f in found)
    return results.TopKResult(wrap(convert(values.node(), x.dtype)), places)


def _ordered(node: Node) -> Node:
    # Truth values as numbers, which have an order.
    return convert(node, dtypes.uint8) if node.dtype == dtypes.bool else node


def k_select(x: ndarray, k: int, *, axis: int | None = None) -> ndarray:
    """The k-th smallest of all elements, an array without axes: of 1 the least, of `x.size` the greatest.

    It counts from 1, so that it is `numpy.partition(x, k - 1)[k - 1]`. With an axis it is the k-th smallest of each
    line along it. Raises ValueError unless k is from 1 to the number of elements, AxisError for an axis that is not
    there.
    """
    k = index(k)
    at = None if axis is None else axis_of(axis, x.ndim)
    n = x.size if at is None else x.shape[at]
    if not 1 <= k <= n:
        raise ValueError(f"there is no {k}-th smallest of {n} elements")
    if at is None:
        line = as_line(_ordered(as_node(x)))
        helper = (selecting.smallest, selecting.before(line.dtype))
        return wrap(convert(_made(_K_SELECT, (line,), (), line.dtype, *helper, more=(k - 1,)).node(), x.dtype))
    moved = moveaxis(x, at, -1)
    rows = reshaped(_ordered(moved.node()), (math.prod(moved.shape[:-1]), n))
    helper = (selecting.smallest_of_rows, selecting.before(rows.dtype))
    found = _made(_K_SELECT, (rows,), rows.shape[:1], rows.dtype, *helper, more=(k - 1,))
    return wrap(convert(reshaped(found.node(), moved.shape[:-1]), x.dtype))


def _sorted(a: str) -> str:
    return f"np.sort({a})"


def _sort(x: ndarray) -> Node:
    line = as_line(as_node(x))
    return made(SORT, _sorted, (line,), line.shape, x.dtype, is_costly=True)


def unique(x: ndarray) -> ndarray:
    """Different elements, sorted, in one dimension; all NaN are one. Their number is needed, so it computes."""
    line = _sort(x)
    values, _ = several(_UNIQUE, _call, (line,), _runs(x), objects=(selecting.runs, selecting.before(x.dtype)))
    return _computed(wrap(values))[0]


def _runs(x: ndarray) -> Any:
    return (((-1,), x.dtype), ((-1,), dtypes.int64))


def run_length(x: ndarray) -> results.RunLengthResult:
    """Runs of equal elements in row-major order: for each its element and its length; all NaN are equal.

    Their number is needed, so it computes.
    """
    line = as_line(as_node(x))
    found = several(_RUN_LENGTH, _call, (line,), _runs(x), objects=(selecting.runs, selecting.before(x.dtype)))
    return results.RunLengthResult(*_computed(*map(wrap, found)))


def histogram(
    x: ndarray,
    bins: Any = 10,
    range: tuple[float, float] | None = None,
    *,
    weights: ndarray | None = None,
    density: bool = False,
) -> results.HistogramResult:
    """How many elements are in each of so many bins of a range, or between edges, as `numpy.histogram`, and the edges.

    Counts are `int64`, weights are summed in their type, and densities are `float64`. Raises TypeError for complex
    numbers, ValueError for a range that is none and for edges that decrease.
    """
    if x.dtype in dtypes.COMPLEX:
        raise TypeError("histogram does not take complex numbers, which have no bins")
    if range is not None and not (math.isfinite(range[0]) and math.isfinite(range[1]) and range[0] <= range[1]):
        raise ValueError(f"a range is of two finite numbers in order, not {range}")
    line = as_line(_ordered(as_node(x)))
    more: tuple[Any, ...] = ()
    nodes, edges = [line], line.dtype if line.dtype.kind == "f" else dtypes.float64
    if isinstance(bins, ndarray):
        if bins.ndim != 1:
            raise ValueError("edges are a line")
        nodes, edges, number = [line, as_node(bins)], bins.dtype, bins.shape[0] - 1
    else:
        number, more = bins.__index__(), (bins.__index__(),)
        if number < 1:
            raise ValueError("at least one bin is needed")
        more = more if range is None else (*more, (float(range[0]), float(range[1])))
    counts = dtypes.float64 if density else dtypes.int64
    if weights is not None:
        if weights.shape != x.shape:
            raise ValueError("weights have the shape of the array")
        nodes.append(as_line(as_node(weights)))
        counts = np.result_type(weights.dtype, dtypes.float64) if density else weights.dtype
    static = (range is not None and not isinstance(bins, ndarray), weights is not None, bool(density))
    found = several(
        _HISTOGRAM, _histogram, nodes, (((number,), counts), ((number + 1,), edges)), static=static, dynamic=more
    )
    return results.HistogramResult(*map(wrap, found))


def _histogram(*given: Any) -> str:
    *names, has_range, has_weights, density = given
    # Operands are before numbers, so that edges are before weights, and the number of bins is after them.
    arrays = [n for n in names if n[0] != "s"]
    numbers = [n for n in names if n[0] == "s"]
    bins = numbers[0] if numbers else arrays[1]
    rest = (
        [f"range={n}" for n in numbers[1:] if has_range]
        + [f"weights={arrays[-1]}"] * has_weights
        + ["density=True"] * density
    )
    return f"np.histogram({', '.join([arrays[0], bins, *rest])})"


def bincount(x: ndarray, weights: ndarray | None = None, minlength: int = 0) -> ndarray:
    """How often each of the integers 0, 1, 2 and so on is in a line, as `numpy.bincount`: `int64`.

    With weights it is their sums, in `float64` unless there are none. The greatest integer is needed, so it computes.
    Raises TypeError for
    other types, ValueError for negative integers, arrays that are no lines, and weights of another shape.
    """
    if x.dtype not in dtypes.INTEGRAL or weights is not None and weights.dtype in dtypes.COMPLEX:
        raise TypeError(
            f"bincount takes integers and real weights, not {x.dtype if weights is None else weights.dtype}"
        )
    if x.ndim != 1 or minlength < 0 or weights is not None and weights.shape != x.shape:
        raise ValueError("bincount takes a line, weights of its shape, and a least length that is not negative")
    nodes = [convert(as_node(x), dtypes.int64)]
    if weights is not None:
        nodes.append(convert(as_node(weights), dtypes.float64))
    dtype = dtypes.int64 if weights is None or not x.size else dtypes.float64
    node = made(_BINCOUNT, _bincount, nodes, (-1,), dtype, dynamic=(int(minlength),), is_costly=True)
    return _computed(wrap(node))[0]


def _bincount(a: str, *more: str) -> str:
    *weights, least = more
    return f"np.bincount({a}, {weights[0] if weights else None}, {least})"


def _both(a: ndarray, b: ndarray) -> tuple[Node, Node, np.dtype[Any]]:
    dtype = dtypes.result_type(a, b)
    return convert(as_node(a), dtype), convert(as_node(b), dtype), dtype


def merge(a: ndarray, b: ndarray) -> ndarray:
    """Two sorted lines as one sorted line; of equal elements those of `a` are first. The type is their common one.

    Raises ValueError for arrays that are no lines. Lines that are not sorted give some order.
    """
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"lines are merged, not arrays of the shapes {a.shape} and {b.shape}")
    one, other, dtype = _both(a, b)
    return _made(_MERGE, (one, other), (a.size + b.size,), dtype, selecting.merged, selecting.before(dtype))


def _set_operation(row: Row, a: ndarray, b: ndarray, is_sorted: bool, keep: tuple[bool, bool, bool]) -> ndarray:
    one, other, dtype = _both(a, b)
    lines = [as_line(x) if is_sorted else _sort(wrap(x)) for x in (one, other)]
    found = _made(row, lines, (-1,), dtype, selecting.combined, selecting.before(dtype), more=(keep,))
    return _computed(found)[0]


def union(a: ndarray, b: ndarray, *, is_sorted: bool = False) -> ndarray:
    """Different elements of either array, sorted, in one dimension and the common type; all NaN are one.

    With `is_sorted` both are taken to be sorted already. The number of results is needed, so it computes.
    """
    return _set_operation(_UNION, a, b, is_sorted, (True, True, True))


def intersection(a: ndarray, b: ndarray, *, is_sorted: bool = False) -> ndarray:
    """Different elements of both arrays, as `union` gives its results."""
    return _set_operation(_INTERSECTION, a, b, is_sorted, (False, True, False))


def difference(a: ndarray, b: ndarray, *, is_sorted: bool = False) -> ndarray:
    """Different elements of `a` that are not in `b`, as `union` gives its results."""
    return _set_operation(_DIFFERENCE, a, b, is_sorted, (True, False, False))


def symmetric_difference(a: ndarray, b: ndarray, *, is_sorted: bool = False) -> ndarray:
    """Different elements of one of the arrays only, as `union` gives its results."""
    return _set_operation(_SYMMETRIC_DIFFERENCE, a, b, is_sorted, (True, False, True))


__all__ = [
    "bincount", "compact", "difference", "histogram", "intersection", "k_select", "merge", "partition", "run_length",
    "sort_by_key", "symmetric_difference", "top_k", "union", "unique",
]  # fmt: skip

near_keywords(globals())
