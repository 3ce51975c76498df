"""Reductions, running results, sorting and searching."""

from __future__ import annotations

import builtins
import functools
import math
from collections import namedtuple
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from lancehead.caches import Cache
from lancehead.options import near_keywords
from lancehead.xp import dtypes, places
from lancehead.xp.arrays import from_numpy, lazy, ndarray, wrap
from lancehead.xp.creation import full
from lancehead.xp.devices import by_kernels
from lancehead.xp.elementwise import as_node, convert, not_equal, operands, sqrt, square
from lancehead.xp.folds import is_mapped, total
from lancehead.xp.graph import Op, made
from lancehead.xp.manipulation import astype, axes_of, axis_of, concat, flip, reshape, take
from lancehead.xp.rows import Element, Gives, How, Kind, Law, Row


def _row(name: str, law: Law, gives: Gives = Gives.WHOLE, **columns: Any) -> Row:
    return Row(name, Kind.REDUCTION, How.REDUCED, law=law, gives=gives, is_portable=True, **columns)


#: Kinds of types that functions of numbers do not take.
_NO_NUMBERS, _NO_FLOATS = "MSUV", "MmSUV"

_SUM, _MEAN = _row("sum", Law.SUM, refuses=_NO_NUMBERS), _row("mean", Law.SUM, Gives.MEAN, refuses=_NO_NUMBERS)
_PROD = _row("prod", Law.PRODUCT, refuses=_NO_FLOATS)
_MAX, _MIN = _row("max", Law.GREATEST), _row("min", Law.LEAST)
_ALL, _ANY = _row("all", Law.ALL), _row("any", Law.ANY)
# The mean is needed first.
_VAR = _row("var", Law.SUM, Gives.VARIANCE, reads=2, is_real=True, refuses=_NO_FLOATS)
_STD = _row("std", Law.SUM, Gives.DEVIATION, reads=2, is_real=True, refuses=_NO_FLOATS)
_ARGMAX = Row(
    "argmax", how=How.REDUCED, law=Law.GREATEST, gives=Gives.PLACE, is_portable=True, is_real=True, fills=True
)
_ARGMIN = Row("argmin", how=How.REDUCED, law=Law.LEAST, gives=Gives.PLACE, is_portable=True, is_real=True, fills=True)
_CUMSUM = Row("cumsum", how=How.SCANNED, law=Law.SUM, is_portable=True, fills=True, refuses=_NO_NUMBERS)
_CUMPROD = Row("cumprod", how=How.SCANNED, law=Law.PRODUCT, is_portable=True, fills=True, refuses=_NO_FLOATS)
SORT = Row("sort", how=How.SORTED, nanoseconds=60.0, is_portable=True, fills=True)
ARGSORT = Row("argsort", how=How.SORTED, nanoseconds=60.0, is_portable=True, gives_places=True, fills=True)
_SEARCHSORTED = Row("searchsorted", element=Element.SEARCHED, nanoseconds=60.0, reads=2)


def _mean_dtype(x: ndarray) -> np.dtype[Any]:
    return dtypes.float64 if x.dtype == dtypes.bool or x.dtype in dtypes.INTEGRAL else x.dtype


def _spread_dtype(x: ndarray) -> np.dtype[Any]:
    return np.empty(0, _mean_dtype(x)).real.dtype


def _reduced(
    row: Row, x: ndarray, axis: Any, keepdims: bool, dtype: np.dtype[Any], more: tuple[Any, ...] = ()
) -> ndarray:
    assert row.law is not None, "elements are combined"
    axes = axes_of(axis, x.ndim)
    shape = tuple(1 if k in axes else n for k, n in enumerate(x.shape) if keepdims or k not in axes)
    if row.law.nothing is None and x.size == 0 and builtins.any(x.shape[k] == 0 for k in axes):
        raise ValueError(f"{row.name} of no elements: the shape is {x.shape}")
    if not axes:
        # Over no axes, each element is reduced by itself.
        x, axes, keepdims = x[..., None], (x.ndim,), False
    if 1 < len(axes) < x.ndim and row.law in (Law.SUM, Law.PRODUCT) and dtype.kind in "fc" and by_kernels(x):
        return reshape(_one_by_one(row, astype(x, dtype, copy=False), axes, dict(more).get("ddof", 0.0)), shape)
    named = None if len(axes) == x.ndim else axes[0] if len(axes) == 1 else axes
    static = (row.name, named, bool(keepdims), more)
    return wrap(made(row, _reduction, (x.node(),), shape, dtype, static=static, is_costly=True))


def _one_by_one(row: Row, x: ndarray, axes: tuple[int, ...], ddof: float) -> ndarray:
    # A reduction on a device along one axis after the other, as on the host, whose order it has. Axes are kept.
    if row.gives is Gives.WHOLE:
        for k in axes:
            x = _reduced(row, x, k, True, x.dtype)
        return x
    n = math.prod(x.shape[k] for k in axes)
    if row.gives is Gives.MEAN:
        return _one_by_one(_SUM, x, axes, ddof) / n
    squares = square(x - _one_by_one(_MEAN, x, axes, ddof))
    found = _one_by_one(_SUM, squares, axes, ddof) / builtins.max(n - ddof, 0.0)
    return sqrt(found) if row.gives is Gives.DEVIATION else found


def _reduction(a: str, name: str, axis: Any, keepdims: bool, more: tuple[Any, ...]) -> str:
    rest = "".join(f", {k}={v}" for k, v in more)
    return f"np.{name}({a}, axis={axis!r}, keepdims={keepdims!r}{rest})"


#: Operations, types of results and axes of reductions that have been there, by what they are called with.
_KNOWN: Cache[Any, tuple[Op, np.dtype[Any], Any]] = Cache(4096)
_known = _KNOWN.get


def _remembered(f: Callable[..., ndarray]) -> Callable[..., ndarray]:
    # A reduction whose operation is looked up if it has been there for the type, the number of axes and arguments.
    name = f.__name__

    @functools.wraps(f)
    def call(x: ndarray, /, *, axis: Any = None, keepdims: bool = False, **more: Any) -> ndarray:
        if more or type(x) is not ndarray or not (axis is None or type(axis) is int) or type(keepdims) is not bool:
            return f(x, axis=axis, keepdims=keepdims, **more)
        node = x._node if x._view is None else x._view.node()
        if node.value is None and is_mapped(x):
            return f(x, axis=axis, keepdims=keepdims)
        shape = node.shape
        key = name, axis, keepdims, node.dtype, len(shape)
        found = _known(key)
        if found is None or 0 in shape or by_kernels(node):
            result = f(x, axis=axis, keepdims=keepdims)
            made_one = result._node
            if made_one.op.kind is Kind.REDUCTION and made_one.inputs[0] is node and not by_kernels(node):
                _KNOWN[key] = made_one.op, made_one.dtype, None if axis is None else axis_of(axis, len(shape))
            return result
        op, dtype, k = found
        if k is None:
            kept: tuple[int, ...] = (1,) * len(shape) if keepdims else ()
        else:
            kept = (*shape[:k], 1, *shape[k + 1 :]) if keepdims else (*shape[:k], *shape[k + 1 :])
        result = lazy(op, (node,), kept, dtype, node.device)
        result._node.place = places.here()
        return result

    return call


def _sum_dtype(x: ndarray, dtype: Any) -> np.dtype[Any]:
    if dtype is not None:
        return dtypes.as_dtype(dtype)
    return _SUMS_OF.get(x.dtype, x.dtype)


_SUMS_OF = {
    **dict.fromkeys((dtypes.bool, *dtypes.SIGNED), dtypes.int64),
    **dict.fromkeys(dtypes.UNSIGNED, dtypes.uint64),
}


def _check_kind(row: Row, x: ndarray) -> None:
    if x.dtype.kind in row.refuses:
        raise TypeError(f"{row.name} does not take elements of {x.dtype}")


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    # The type in which compiled code adds and multiplies. Integers keep their last bits when they become narrower.
    if dtype.kind in "bi":
        return dtypes.int64
    return dtypes.uint64 if dtype.kind == "u" else dtype


def _accumulated(row: Row, x: ndarray, axis: Any, keepdims: bool, wanted: np.dtype[Any]) -> ndarray:
    wide = _wide(wanted)
    found = _reduced(row, astype(astype(x, wanted, copy=False), wide, copy=False), axis, keepdims, wide)
    return found if wide == wanted else astype(found, wanted)


@_remembered
def sum(x: ndarray, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> ndarray:
    """Sums along axes, all for None; of integers in 64 bits."""
    _check_kind(_SUM, x)
    wanted = _sum_dtype(x, dtype)
    if is_mapped(x) and wanted == x.dtype and axis is None:
        # One pass with the functions of the program, in the order of `xp.reduce`.
        found = total(x)
        return reshape(found, (1,) * x.ndim) if keepdims else found
    return _accumulated(_SUM, x, axis, keepdims, wanted)


@_remembered
def prod(x: ndarray, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> ndarray:
    """Products along axes, all for None; of integers in 64 bits."""
    _check_kind(_PROD, x)
    return _accumulated(_PROD, x, axis, keepdims, _sum_dtype(x, dtype))


@_remembered
def max(x: ndarray, /, *, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Greatest elements along axes; NaN if there is one. ValueError for no elements."""
    return _reduced(_MAX, x, axis, keepdims, x.dtype)


@_remembered
def min(x: ndarray, /, *, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Least elements along axes; NaN if there is one. ValueError for no elements."""
    return _reduced(_MIN, x, axis, keepdims, x.dtype)


@_remembered
def mean(x: ndarray, /, *, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Means along axes."""
    _check_kind(_MEAN, x)
    return _reduced(_MEAN, x, axis, keepdims, _mean_dtype(x))


@_remembered
def var(x: ndarray, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> ndarray:
    """Variances along axes."""
    _check_kind(_VAR, x)
    return _reduced(_VAR, x, axis, keepdims, _spread_dtype(x), (("ddof", float(correction)),))


@_remembered
def std(x: ndarray, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> ndarray:
    """Standard deviations along axes."""
    _check_kind(_STD, x)
    return _reduced(_STD, x, axis, keepdims, _spread_dtype(x), (("ddof", float(correction)),))


@_remembered
def all(x: ndarray, /, *, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Whether all elements along axes are true or not zero."""
    return _reduced(_ALL, x, axis, keepdims, dtypes.bool)


@_remembered
def any(x: ndarray, /, *, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Whether an element along axes is true or not zero."""
    return _reduced(_ANY, x, axis, keepdims, dtypes.bool)


def count_nonzero(x: ndarray, /, *, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Numbers of elements along axes that are not zero."""
    return sum(astype(x, dtypes.bool) if x.dtype not in dtypes.COMPLEX else _not_zero(x), axis=axis, keepdims=keepdims)


def _not_zero(x: ndarray) -> ndarray:
    return not_equal(x, 0)


def _running(row: Row, x: ndarray, axis: int | None, dtype: Any, include_initial: bool) -> ndarray:
    _check_kind(row, x)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"an axis is needed for an array with {x.ndim} axes")
        axis = 0
    k = axis_of(axis, x.ndim)
    wanted = _sum_dtype(x, dtype)
    node = convert(convert(x.node(), wanted), wide := _wide(wanted))
    found = wrap(convert(made(row, _scan, (node,), x.shape, wide, static=(row.name, k), is_costly=True), wanted))
    if not include_initial or row.law is None:
        return found
    first = (*x.shape[:k], 1, *x.shape[k + 1 :])
    return concat([full(first, row.law.nothing, dtype=wanted, device=x.device), found], axis=k)


def _scan(a: str, name: str, axis: int) -> str:
    return f"np.{name}({a}, axis={axis})"


def cumulative_sum(
    x: ndarray, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> ndarray:
    """Running sums along an axis, from 0 on if it is included."""
    return _running(_CUMSUM, x, axis, dtype, include_initial)


def cumulative_prod(
    x: ndarray, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> ndarray:
    """Running products along an axis, from 1 on if it is included."""
    return _running(_CUMPROD, x, axis, dtype, include_initial)


def diff(
    x: ndarray, /, *, axis: int = -1, n: int = 1, prepend: ndarray | None = None, append: ndarray | None = None
) -> ndarray:
    """Differences of neighbours along an axis, `n` times. ValueError for a negative number of times."""
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


def _extreme_place(row: Row, x: ndarray, axis: int | None, keepdims: bool) -> ndarray:
    if axis is None:
        shape: tuple[int, ...] = (1,) * x.ndim if keepdims else ()
        if not x.size:
            raise ValueError(f"{row.name} of no elements")
        line = as_node(x) if x.ndim == 1 else as_node(reshape(x, (-1,)))
        node = made(row, _place, (line,), (), dtypes.int64, static=(row.name, 0), is_costly=True)
        return reshape(wrap(node), shape) if keepdims else wrap(node)
    k = axis_of(axis, x.ndim)
    if not x.shape[k]:
        raise ValueError(f"{row.name} of no elements along axis {axis}")
    shape = (*x.shape[:k], *x.shape[k + 1 :])
    found = wrap(made(row, _place, (as_node(x),), shape, dtypes.int64, static=(row.name, k), is_costly=True))
    return reshape(found, (*x.shape[:k], 1, *x.shape[k + 1 :])) if keepdims else found


def _place(a: str, name: str, axis: int) -> str:
    return f"np.{name}({a}, {axis})"


def argmax(x: ndarray, /, *, axis: int | None = None, keepdims: bool = False) -> ndarray:
    """Places of the first greatest elements. ValueError for no elements."""
    return _extreme_place(_ARGMAX, x, axis, keepdims)


def argmin(x: ndarray, /, *, axis: int | None = None, keepdims: bool = False) -> ndarray:
    """Places of the first least elements. ValueError for no elements."""
    return _extreme_place(_ARGMIN, x, axis, keepdims)


def sort(x: ndarray, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> ndarray:
    """Sorted along an axis; NaN last, or first if descending."""
    k = axis_of(axis, x.ndim)
    node = as_node(x)
    found: ndarray = wrap(made(SORT, _sorted, (node,), node.shape, node.dtype, static=(k,), is_costly=True))
    return flip(found, axis=k) if descending else found


def _sorted(a: str, axis: int) -> str:
    return f"np.sort({a}, {axis})"


def argsort(x: ndarray, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> ndarray:
    """The order of elements along an axis; equal ones keep theirs."""
    k = axis_of(axis, x.ndim)
    if descending:
        # Backward twice, so that equal elements keep their order.
        found = flip(argsort(flip(x, axis=k), axis=k), axis=k)
        return (x.shape[k] - 1) - found
    node = made(ARGSORT, _order, (as_node(x),), x.shape, dtypes.int64, static=(k,), is_costly=True)
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
    return wrap(made(_SEARCHSORTED, _searched, nodes, v.shape, dtypes.int64, static=(side,)))


def _searched(a: str, v: str, side: str) -> str:
    return f"np.searchsorted({a}, {v}, side={side!r})"


def nonzero(x: ndarray, /) -> tuple[ndarray, ...]:
    """Places of elements that are not zero, a line for each axis. Their number is needed, so it computes."""
    if not x.ndim:
        raise ValueError("nonzero of an array without axes")
    return tuple(from_numpy(np.ascontiguousarray(k), x.device) for k in np.nonzero(x.numpy()))


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
    "max", "mean", "min", "nonzero", "prod", "searchsorted", "sort", "std", "sum", "unique_all", "unique_counts",
    "unique_inverse", "unique_values", "var",
]  # fmt: skip

near_keywords(globals())
