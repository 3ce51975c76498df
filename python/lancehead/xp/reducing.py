"""Reductions, running results, sorting and searching."""

from __future__ import annotations

import builtins
import math
from collections import namedtuple
from typing import Any, cast

import numpy as np

from lancehead.xp import dtypes
from lancehead.xp.array import from_numpy, ndarray, wrap
from lancehead.xp.devices import on_device
from lancehead.xp.elementwise import as_node, convert, minimum, operands, sqrt, square
from lancehead.xp.folds import is_mapped, total
from lancehead.xp.graph import Kind, Node, leaf, made
from lancehead.xp.manipulation import astype, axes_of, axis_of, reshape


def _mean_dtype(x: ndarray) -> np.dtype[Any]:
    return dtypes.float64 if x.dtype == dtypes.bool or x.dtype in dtypes.INTEGRAL else x.dtype


def _spread_dtype(x: ndarray) -> np.dtype[Any]:
    return np.empty(0, _mean_dtype(x)).real.dtype


def _reduced(
    name: str, x: ndarray, axis: Any, keepdims: bool, dtype: np.dtype[Any], more: tuple[Any, ...] = ()
) -> ndarray:
    axes = axes_of(axis, x.ndim)
    shape = tuple(1 if k in axes else n for k, n in enumerate(x.shape) if keepdims or k not in axes)
    if name in ("max", "min") and x.size == 0 and builtins.any(x.shape[k] == 0 for k in axes):
        raise ValueError(f"{name} of no elements: the shape is {x.shape}")
    if not axes:
        # Over no axes, each element is reduced by itself.
        x, axes, keepdims = x[..., None], (x.ndim,), False
    if 1 < len(axes) < x.ndim and name in _SUMS and dtype.kind in "fc" and on_device(x):
        return reshape(_one_by_one(name, astype(x, dtype, copy=False), axes, dict(more).get("ddof", 0.0)), shape)
    named = None if len(axes) == x.ndim else axes[0] if len(axes) == 1 else axes
    static = (name, named, bool(keepdims), more)
    node = made(name, _reduction, (x.node(),), shape, dtype, static=static, is_costly=True, kind=Kind.REDUCTION)
    return wrap(node)


#: Reductions that depend on the order of floats.
_SUMS = ("sum", "prod", "mean", "var", "std")


def _one_by_one(name: str, x: ndarray, axes: tuple[int, ...], ddof: float) -> ndarray:
    # A reduction on a device along one axis after the other, as on the host, whose order it has. Axes are kept.
    if name in ("sum", "prod"):
        for k in axes:
            x = _reduced(name, x, k, True, x.dtype)
        return x
    n = math.prod(x.shape[k] for k in axes)
    if name == "mean":
        return _one_by_one("sum", x, axes, ddof) / n
    squares = square(x - _one_by_one("mean", x, axes, ddof))
    found = _one_by_one("sum", squares, axes, ddof) / builtins.max(n - ddof, 0.0)
    return sqrt(found) if name == "std" else found


def _reduction(a: str, name: str, axis: Any, keepdims: bool, more: tuple[Any, ...]) -> str:
    rest = "".join(f", {k}={v}" for k, v in more)
    return f"np.{name}({a}, axis={axis!r}, keepdims={keepdims!r}{rest})"


def _sum_dtype(x: ndarray, dtype: Any) -> np.dtype[Any]:
    if dtype is not None:
        return dtypes.as_dtype(dtype)
    if x.dtype == dtypes.bool or x.dtype in dtypes.SIGNED:
        return dtypes.int64
    return dtypes.uint64 if x.dtype in dtypes.UNSIGNED else x.dtype


#: Kinds of types that functions of numbers do not take.
_REFUSED = dict.fromkeys(("prod", "var", "std", "cumprod"), "MmSUV")
_REFUSED |= dict.fromkeys(("sum", "mean", "cumsum"), "MSUV")


def _check_kind(name: str, x: ndarray) -> None:
    if x.dtype.kind in _REFUSED[name]:
        raise TypeError(f"{name} does not take elements of {x.dtype}")


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    # The type in which compiled code adds and multiplies. Integers keep their last bits when they become narrower.
    if dtype.kind in "bi":
        return dtypes.int64
    return dtypes.uint64 if dtype.kind == "u" else dtype


def _accumulated(name: str, x: ndarray, axis: Any, keepdims: bool, wanted: np.dtype[Any]) -> ndarray:
    wide = _wide(wanted)
    found = _reduced(name, astype(astype(x, wanted, copy=False), wide, copy=False), axis, keepdims, wide)
    return found if wide == wanted else astype(found, wanted)


def sum(x: ndarray, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> ndarray:
    """Sums along axes, all for None; of integers in 64 bits."""
    _check_kind("sum", x)
    wanted = _sum_dtype(x, dtype)
    if is_mapped(x) and wanted == x.dtype and axis is None:
        # One pass with the functions of the program, in the order of `xp.reduce`.
        found = total(x)
        return reshape(found, (1,) * x.ndim) if keepdims else found
    return _accumulated("sum", x, axis, keepdims, wanted)


def prod(x: ndarray, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> ndarray:
    """Products along axes, all for None; of integers in 64 bits."""
    _check_kind("prod", x)
    return _accumulated("prod", x, axis, keepdims, _sum_dtype(x, dtype))


def max(x: ndarray, /, *, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Greatest elements along axes; NaN if there is one. ValueError for no elements."""
    return _reduced("max", x, axis, keepdims, x.dtype)


def min(x: ndarray, /, *, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Least elements along axes; NaN if there is one. ValueError for no elements."""
    return _reduced("min", x, axis, keepdims, x.dtype)


def mean(x: ndarray, /, *, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Means along axes."""
    _check_kind("mean", x)
    return _reduced("mean", x, axis, keepdims, _mean_dtype(x))


def var(x: ndarray, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> ndarray:
    """Variances along axes."""
    _check_kind("var", x)
    return _reduced("var", x, axis, keepdims, _spread_dtype(x), (("ddof", float(correction)),))


def std(x: ndarray, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> ndarray:
    """Standard deviations along axes."""
    _check_kind("std", x)
    return _reduced("std", x, axis, keepdims, _spread_dtype(x), (("ddof", float(correction)),))


def all(x: ndarray, /, *, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Whether all elements along axes are true or not zero."""
    return _reduced("all", x, axis, keepdims, dtypes.bool)


def any(x: ndarray, /, *, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Whether an element along axes is true or not zero."""
    return _reduced("any", x, axis, keepdims, dtypes.bool)


def count_nonzero(x: ndarray, /, *, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Numbers of elements along axes that are not zero."""
    return sum(astype(x, dtypes.bool) if x.dtype not in dtypes.COMPLEX else _not_zero(x), axis=axis, keepdims=keepdims)


def _not_zero(x: ndarray) -> ndarray:
    from lancehead.xp import elementwise

    return elementwise.not_equal(x, 0)


def _running(name: str, x: ndarray, axis: int | None, dtype: Any, include_initial: bool) -> ndarray:
    _check_kind(name, x)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"an axis is needed for an array with {x.ndim} axes")
        axis = 0
    k = axis_of(axis, x.ndim)
    wanted = _sum_dtype(x, dtype)
    node = convert(convert(x.node(), wanted), wide := _wide(wanted))
    found = wrap(convert(made(name, _scan, (node,), x.shape, wide, static=(name, k), is_costly=True), wanted))
    if not include_initial:
        return found
    from lancehead.xp.creation import full
    from lancehead.xp.manipulation import concat

    first = (*x.shape[:k], 1, *x.shape[k + 1 :])
    return concat([full(first, 0 if name == "cumsum" else 1, dtype=wanted, device=x.device), found], axis=k)


def _scan(a: str, name: str, axis: int) -> str:
    return f"np.{name}({a}, axis={axis})"


def cumulative_sum(
    x: ndarray, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> ndarray:
    """Running sums along an axis, from 0 on if it is included."""
    return _running("cumsum", x, axis, dtype, include_initial)


def cumulative_prod(
    x: ndarray, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> ndarray:
    """Running products along an axis, from 1 on if it is included."""
    return _running("cumprod", x, axis, dtype, include_initial)


def diff(
    x: ndarray, /, *, axis: int = -1, n: int = 1, prepend: ndarray | None = None, append: ndarray | None = None
) -> ndarray:
    """Differences of neighbours along an axis, `n` times. ValueError for a negative number of times."""
    from lancehead.xp.manipulation import concat

    if n < 0:
        raise ValueError(f"differences are taken 0 times or more often, not {n}")
    k = axis_of(axis, x.ndim)
    parts = [p for p in (prepend, x, append) if p is not None]
    out = concat(parts, axis=k) if len(parts) > 1 else x
    before = (slice(None),) * k
    for _ in range(n):
        a, b = out[(*before, slice(1, None))], out[(*before, slice(None, -1))]
        out = a != b if x.dtype == dtypes.bool else a - b
    return wrap(out.node())


def _extreme_place(name: str, x: ndarray, axis: int | None, keepdims: bool) -> ndarray:
    if axis is None:
        shape: tuple[int, ...] = (1,) * x.ndim if keepdims else ()
        if not x.size:
            raise ValueError(f"{name} of no elements")
        node = made(name, _place, (as_node(reshape(x, (-1,))),), (), dtypes.int64, static=(name, 0), is_costly=True)
        return reshape(wrap(node), shape) if keepdims else wrap(node)
    k = axis_of(axis, x.ndim)
    if not x.shape[k]:
        raise ValueError(f"{name} of no elements along axis {axis}")
    shape = (*x.shape[:k], *x.shape[k + 1 :])
    found = wrap(made(name, _place, (as_node(x),), shape, dtypes.int64, static=(name, k), is_costly=True))
    return reshape(found, (*x.shape[:k], 1, *x.shape[k + 1 :])) if keepdims else found


def _place(a: str, name: str, axis: int) -> str:
    return f"np.{name}({a}, {axis})"


def argmax(x: ndarray, /, *, axis: int | None = None, keepdims: bool = False) -> ndarray:
    """Places of the first greatest elements. ValueError for no elements."""
    return _extreme_place("argmax", x, axis, keepdims)


def argmin(x: ndarray, /, *, axis: int | None = None, keepdims: bool = False) -> ndarray:
    """Places of the first least elements. ValueError for no elements."""
    return _extreme_place("argmin", x, axis, keepdims)


def sort(x: ndarray, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> ndarray:
    """Sorted along an axis; NaN last, or first if descending."""
    from lancehead.xp.manipulation import flip

    k = axis_of(axis, x.ndim)
    found = wrap(
        made("sort", lambda a, k: f"np.sort({a}, {k})", (as_node(x),), x.shape, x.dtype, static=(k,), is_costly=True)
    )
    return flip(found, axis=k) if descending else found


def argsort(x: ndarray, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> ndarray:
    """The order of elements along an axis; equal ones keep theirs."""
    from lancehead.xp.manipulation import flip

    k = axis_of(axis, x.ndim)
    if descending:
        # Backward twice, so that equal elements keep their order.
        found = flip(argsort(flip(x, axis=k), axis=k), axis=k)
        return (x.shape[k] - 1) - found
    node = made("argsort", _order, (as_node(x),), x.shape, dtypes.int64, static=(k,), is_costly=True)
    return wrap(node)


def _order(a: str, axis: int) -> str:
    return f'np.argsort({a}, axis={axis}, kind="stable")'


def searchsorted(x1: ndarray, x2: Any, /, *, side: str = "left", sorter: ndarray | None = None) -> ndarray:
    """Places in a sorted line at which values keep it sorted."""
    if side not in ("left", "right"):
        raise ValueError(f"side is 'left' or 'right', not {side!r}")
    if sorter is not None:
        x1 = take(x1, sorter)
    a, v = operands(x1, x2)
    common = np.result_type(a.dtype, v.dtype)
    nodes = (convert(a, common), convert(v, common))
    return wrap(made("searchsorted", _searched, nodes, v.shape, dtypes.int64, static=(side,)))


def _searched(a: str, v: str, side: str) -> str:
    return f"np.searchsorted({a}, {v}, side={side!r})"


def where(condition: ndarray, x1: Any, x2: Any, /) -> ndarray:
    """Elements of `x1` where the condition is true, else of `x2`."""
    if condition.dtype != dtypes.bool:
        raise TypeError(f"a condition is of truth values, not {condition.dtype}")
    if not isinstance(x1, ndarray) and not isinstance(x2, ndarray):
        dtype = np.result_type(x1, x2)
        a, b = as_node(x1, dtype), as_node(x2, dtype)
    else:
        a, b = operands(x1, x2)
    dtype = dtypes.as_dtype(np.result_type(a.dtype, b.dtype))
    shape = np.broadcast_shapes(condition.shape, a.shape, b.shape)
    nodes = (as_node(condition), convert(a, dtype), convert(b, dtype))
    return wrap(made("where", _chosen, nodes, shape, dtype, is_fresh=True, kind=Kind.ELEMENTWISE))


def _chosen(m: str, a: str, b: str) -> str:
    return f"np.where({m}, {a}, {b})"


def nonzero(x: ndarray, /) -> tuple[ndarray, ...]:
    """Places of elements that are not zero, a line for each axis. Their number is needed, so it computes."""
    if not x.ndim:
        raise ValueError("nonzero of an array without axes")
    return tuple(from_numpy(np.ascontiguousarray(k), x.device) for k in np.nonzero(x.numpy()))


def _places(indices: ndarray, n: int) -> Node:
    if indices.dtype not in dtypes.INTEGRAL:
        raise TypeError(f"indices are integers, not {indices.dtype}")
    node = as_node(indices)
    if indices.dtype == dtypes.uint64:
        # Those that int64 does not hold are out of bounds, too.
        node = as_node(minimum(indices, wrap(leaf(np.asarray(n, dtypes.uint64)))))
    return convert(node, dtypes.int64) if indices.dtype == dtypes.uint64 else node


def take(x: ndarray, indices: ndarray, /, *, axis: int | None = None) -> ndarray:
    """Elements at places along an axis. TypeError unless these are integers, IndexError for one that is not there."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"an axis is needed for an array with {x.ndim} axes")
        axis = 0
    k = axis_of(axis, x.ndim)
    shape = (*x.shape[:k], *indices.shape, *x.shape[k + 1 :])
    nodes = (as_node(x), _places(indices, x.shape[k]))
    return wrap(
        made("take", lambda a, i, k: f"np.take({a}, {i}, axis={k})", nodes, shape, x.dtype, static=(k,), is_costly=True)
    )


def take_along_axis(x: ndarray, indices: ndarray, /, *, axis: int = -1) -> ndarray:
    """Elements at the places of each line along an axis."""
    k = axis_of(axis, x.ndim)
    outer = np.broadcast_shapes(_without(x.shape, k), _without(indices.shape, k))
    from lancehead.xp.manipulation import broadcast_to

    a = broadcast_to(x, (*outer[:k], x.shape[k], *outer[k:]))
    i = broadcast_to(indices, (*outer[:k], indices.shape[k], *outer[k:]))
    nodes = (as_node(a), convert(_places(i, x.shape[k]), dtypes.int64))
    node = made("take_along_axis", _along, nodes, i.shape, x.dtype, static=(k,), is_costly=True)
    return wrap(node)


def _without(shape: tuple[int, ...], k: int) -> tuple[int, ...]:
    return (*shape[:k], *shape[k + 1 :])


def _along(a: str, i: str, axis: int) -> str:
    return f"np.take_along_axis({a}, {i}, {axis})"


UniqueAllResult = namedtuple("UniqueAllResult", ["values", "indices", "inverse_indices", "counts"])
UniqueCountsResult = namedtuple("UniqueCountsResult", ["values", "counts"])
UniqueInverseResult = namedtuple("UniqueInverseResult", ["values", "inverse_indices"])


def _unique(x: ndarray) -> UniqueAllResult:
    # Their number is needed, so it computes.
    found = np.unique_all(x.numpy())
    return UniqueAllResult(*(from_numpy(np.ascontiguousarray(v).reshape(v.shape), x.device) for v in found))


def unique_all(x: ndarray, /) -> UniqueAllResult:
    """Different elements, where each is first, for each element its number, and how many there are."""
    return _unique(x)


def unique_counts(x: ndarray, /) -> UniqueCountsResult:
    """Different elements, and how many there are of each."""
    found = _unique(x)
    return UniqueCountsResult(found.values, found.counts)


def unique_inverse(x: ndarray, /) -> UniqueInverseResult:
    """Different elements, and for each element its number among them."""
    found = _unique(x)
    return UniqueInverseResult(found.values, found.inverse_indices)


def unique_values(x: ndarray, /) -> ndarray:
    """Different elements, sorted."""
    return cast("ndarray", _unique(x).values)


__all__ = [
    "all", "any", "argmax", "argmin", "argsort", "count_nonzero", "cumulative_prod", "cumulative_sum", "diff",
    "max", "mean", "min", "nonzero", "prod", "searchsorted", "sort", "std", "sum", "take", "take_along_axis",
    "unique_all", "unique_counts", "unique_inverse", "unique_values", "var", "where",
]  # fmt: skip
