"""Reductions, running results, sorting, searching, products: operations of the graph, or computed by the host."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead.cupy import hosted, layout, ufuncs
from lancehead.cupy.hosted import wrap
from lancehead.options import near_keywords
from lancehead.xp import arrays as lazy
from lancehead.xp import dtypes, elementwise, manipulation, products, reducing

_KINDS = "biufc"


def plain(x: Any) -> lazy.ndarray:
    """An array as one of `lancehead.xp`, for reading."""
    return lazy.ndarray(x._node, x._view)


def array_of(x: Any) -> Any:
    """An argument that is an array; TypeError for anything else."""
    if not isinstance(x, lazy.ndarray):
        if hasattr(x, "__cuda_array_interface__"):
            return ufuncs.operand(x)
        raise TypeError(f"an array of the device is needed, not {type(x).__name__}")
    return x


def finished(found: Any, out: Any, casting: str = "unsafe") -> Any:
    """A result, in `out` if that is given."""
    if out is None:
        return wrap(found) if isinstance(found, lazy.ndarray) else found
    if out.shape != found.shape:
        raise ValueError(f"Out shape is mismatched: {found.shape} is not {out.shape}")
    return ufuncs.stored_in(out, found, casting)


def _is_of_host(a: Any) -> bool:
    # As in CuPy, some functions call the method of an array, whosever it is.
    return isinstance(a, np.ndarray)


def _axis(axis: Any) -> Any:
    if isinstance(axis, np.integer):
        return int(axis)
    return tuple(axis) if isinstance(axis, list) else axis


def _is_plain(a: Any, dtype: Any = None) -> bool:
    return a.dtype.kind in _KINDS and (dtype is None or np.dtype(dtype).kind in _KINDS)


def sum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Sums along axes."""
    return _added("sum", a, axis, dtype, out, keepdims)


def prod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Products along axes."""
    return _added("prod", a, axis, dtype, out, keepdims)


def _added(name: str, a: Any, axis: Any, dtype: Any, out: Any, keepdims: bool) -> Any:
    if _is_of_host(a):
        return getattr(a, name)(axis, dtype, out, keepdims)
    a = array_of(a)
    if not _is_plain(a, dtype) or (dtype is not None and np.dtype(dtype).kind == "b"):
        return hosted.call(getattr(np, name), a, axis=axis, dtype=dtype, out=out, keepdims=keepdims)
    x = plain(a)
    if dtype is not None and x.dtype.kind == "c" and np.dtype(dtype).kind != "c":
        x = ufuncs.converted(x, np.dtype(dtype))
    found = getattr(reducing, name)(x, axis=_axis(axis), dtype=dtype, keepdims=bool(keepdims))
    return finished(found, out)


def _extreme(name: str, a: Any, axis: Any, out: Any, keepdims: bool) -> Any:
    if _is_of_host(a):
        return getattr(a, name)(axis, out, keepdims)
    a = array_of(a)
    if not _is_plain(a) or a.dtype.kind == "c":
        return hosted.call(getattr(np, name), a, axis=axis, out=out, keepdims=bool(keepdims))
    return finished(getattr(reducing, name)(plain(a), axis=_axis(axis), keepdims=bool(keepdims)), out)


def amax(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Greatest elements along axes."""
    return _extreme("max", a, axis, out, keepdims)


def amin(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Least elements along axes."""
    return _extreme("min", a, axis, out, keepdims)


def _truth(name: str, a: Any, axis: Any, out: Any, keepdims: bool) -> Any:
    a = array_of(a)
    if not _is_plain(a):
        return hosted.call(getattr(np, name), a, axis=axis, out=out, keepdims=bool(keepdims))
    return finished(getattr(reducing, name)(plain(a), axis=_axis(axis), keepdims=bool(keepdims)), out)


def all(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Whether all elements along axes are true or not zero."""
    return _truth("all", a, axis, out, keepdims)


def any(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Whether an element along axes is true or not zero."""
    return _truth("any", a, axis, out, keepdims)


def count_nonzero(a: Any, axis: Any = None) -> Any:
    """Numbers of elements along axes that are not zero."""
    a = array_of(a)
    if not _is_plain(a):
        return hosted.call(np.count_nonzero, a, axis=axis)
    return wrap(reducing.count_nonzero(plain(a), axis=_axis(axis)))


def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Means along axes."""
    if _is_of_host(a):
        return a.mean(axis, dtype, out, keepdims)
    a = array_of(a)
    if not _is_plain(a, dtype) or a.dtype == np.float16 or (dtype is not None and np.dtype(dtype) != a.dtype):
        return hosted.call(np.mean, a, axis=axis, dtype=dtype, out=out, keepdims=bool(keepdims))
    return finished(reducing.mean(plain(a), axis=_axis(axis), keepdims=bool(keepdims)), out)


def _spread(name: str, a: Any, axis: Any, dtype: Any, out: Any, ddof: Any, keepdims: bool) -> Any:
    if _is_of_host(a):
        return getattr(a, name)(axis, dtype, out, ddof, keepdims)
    a = array_of(a)
    if not _is_plain(a) or a.dtype.kind == "c" or a.dtype == np.float16 or dtype is not None or a.size == 0:
        return hosted.call(getattr(np, name), a, axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=bool(keepdims))
    f = getattr(reducing, name)
    return finished(f(plain(a), axis=_axis(axis), correction=float(ddof), keepdims=bool(keepdims)), out)


def var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
    """Variances along axes."""
    return _spread("var", a, axis, dtype, out, ddof, keepdims)


def std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
    """Standard deviations along axes."""
    return _spread("std", a, axis, dtype, out, ddof, keepdims)


def _place(name: str, a: Any, axis: Any, dtype: Any, out: Any, keepdims: bool) -> Any:
    a = array_of(a)
    if not _is_plain(a) or a.dtype.kind == "c" or a.size == 0 or not a.ndim:
        found = hosted.call(getattr(np, name), a, axis=axis, keepdims=bool(keepdims))
    else:
        found = wrap(getattr(reducing, name)(plain(a), axis=_axis(axis), keepdims=bool(keepdims)))
    if dtype is not None:
        found = found.astype(dtype)
    return finished(found, out)


def argmax(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Places of the greatest elements."""
    return _place("argmax", a, axis, dtype, out, keepdims)


def argmin(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Places of the least elements."""
    return _place("argmin", a, axis, dtype, out, keepdims)


def _running(name: str, own: Callable[..., Any], a: Any, axis: Any, dtype: Any, out: Any) -> Any:
    a = array_of(a)
    if not _is_plain(a, dtype) or a.dtype == np.float16 or not a.ndim or a.size == 0:
        return hosted.call(getattr(np, name), a, axis=axis, dtype=dtype, out=out)
    if dtype is not None and (np.dtype(dtype).kind == "b" or (a.dtype.kind == "c" and np.dtype(dtype).kind != "c")):
        return hosted.call(getattr(np, name), a, axis=axis, dtype=dtype, out=out)
    x = plain(a)
    if axis is None:
        x, axis = manipulation.reshape(x, (-1,)), 0
    return finished(own(x, axis=axis, dtype=dtype), out)


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running sums."""
    return _running("cumsum", reducing.cumulative_sum, a, axis, dtype, out)


def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running products."""
    return _running("cumprod", reducing.cumulative_prod, a, axis, dtype, out)


def sort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Any:
    """The elements in order along an axis; NaN last."""
    a = array_of(a)
    if not a.ndim:
        raise np.exceptions.AxisError("Sorting arrays with the rank of zero is not supported")
    if kind is not None and kind != "stable":
        raise ValueError("kind can only be None or 'stable'")
    if not _is_plain(a) or a.dtype.kind == "c" or a.size == 0:
        return hosted.call(np.sort, a, axis=axis)
    x = plain(a)
    if axis is None:
        x, axis = manipulation.reshape(x, (-1,)), 0
    return wrap(reducing.sort(x, axis=axis))


def argsort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Any:
    """Places of the elements in order along an axis; equal ones stay in theirs."""
    a = array_of(a)
    if kind is not None and kind != "stable":
        raise ValueError("kind can only be None or 'stable'")
    if not a.ndim:
        raise np.exceptions.AxisError("Sorting arrays with the rank of zero is not supported")
    if not _is_plain(a) or a.dtype.kind == "c" or a.size == 0:
        return hosted.call(np.argsort, a, axis=axis, kind="stable")
    x = plain(a)
    if axis is None:
        x, axis = manipulation.reshape(x, (-1,)), 0
    return wrap(reducing.argsort(x, axis=axis))


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of one array where a condition holds, else of another; places of true elements without arrays."""
    if (x is None) != (y is None):
        raise ValueError("Must provide both 'x' and 'y' or neither.")
    if x is None:
        return nonzero(condition)
    given = [ufuncs.operand(v) for v in (condition, x, y)]
    if not isinstance(given[0], lazy.ndarray):
        given[0] = ufuncs._as_array(np.asarray(given[0]))
    arrays = [v for v in given[1:] if isinstance(v, lazy.ndarray)]
    if not arrays:
        dtype = np.result_type(*given[1:])
        given[1:] = [ufuncs._as_array(v, dtype) for v in given[1:]]
    if not builtins.all(v.dtype.kind in _KINDS for v in given if isinstance(v, (lazy.ndarray, np.generic))):
        return hosted.call(np.where, *given)
    given[0] = ufuncs.converted(given[0], dtypes.bool)
    return wrap(ufuncs.in_order(lambda c, a, b: elementwise.where(c, a, b), *given))


def nonzero(a: Any) -> tuple[Any, ...]:
    """Places of elements that are not zero."""
    a = array_of(a)
    if not a.ndim:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use cupy.atleast_1d(scalar).nonzero() instead.")
    found: tuple[Any, ...] = hosted.call(np.nonzero, a)
    return found


def matmul(x1: Any, x2: Any, out: Any = None, **options: Any) -> Any:
    """Products of matrices."""
    a, b = array_of(x1), array_of(x2)
    if not a.ndim or not b.ndim:
        raise ValueError("matmul: Input operand does not have enough dimensions")
    dtype = np.result_type(a.dtype, b.dtype)
    if (
        options
        or np.bool_ in (a.dtype, b.dtype)
        or dtype.kind not in "fc"
        or dtype == np.float16
        or 0 in (*a.shape, *b.shape)
    ):
        return hosted.call(np.matmul, a, b, out=out, **options)
    return finished(products.matmul(plain(a), plain(b)), out, "same_kind")


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """The product of arrays: over the last axis of the first and the last but one of the second."""
    a, b = ufuncs.operand(a), ufuncs.operand(b)
    if not isinstance(a, lazy.ndarray) or not isinstance(b, lazy.ndarray) or not a.ndim or not b.ndim:
        return ufuncs.multiply(a, b, out=out)
    if a.ndim <= 2 and b.ndim <= 2 and out is None:
        return matmul(a, b)
    return hosted.call(np.dot, a, b, out=out)


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "wrap") -> Any:
    """Elements at places along an axis. Places out of bounds wrap around, or are clipped."""
    a = array_of(a)
    if isinstance(indices, lazy.ndarray) and indices.dtype.kind in "iu" and a.size and mode != "clip":
        x = manipulation.reshape(plain(a), (-1,)) if axis is None else plain(a)
        k = manipulation.axis_of(0 if axis is None else axis, x.ndim) if x.ndim else 0
        if x.ndim:
            wide = lazy.wrap(elementwise.convert(indices.node(), np.dtype(np.int64)))
            return finished(manipulation.take(x, elementwise.remainder(wide, x.shape[k]), axis=k), out)
    indices = np.asarray(indices) if not isinstance(indices, lazy.ndarray) else layout.host(indices)
    found = np.take(layout.host(a), indices, axis=axis, mode="clip" if mode == "clip" else "wrap")
    return finished(hosted.result(np.asarray(found)), out)


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """Elements within bounds."""
    a_min, a_max = min if a_min is None else a_min, max if a_max is None else a_max
    found = array_of(a)
    if found.dtype.kind in "iu":
        # Bounds that every element is within.
        known = np.iinfo(found.dtype)
        a_min = None if type(a_min) is int and a_min <= known.min else a_min
        a_max = None if type(a_max) is int and a_max >= known.max else a_max
    if a_min is None and a_max is None:
        return finished(found.copy(), out, "same_kind")
    if a_min is not None:
        found = ufuncs.maximum(found, a_min)
    if a_max is not None:
        found = ufuncs.minimum(found, a_max)
    return finished(found, out, "same_kind")


def real(val: Any) -> Any:
    """Real parts; of real numbers the array itself."""
    val = ufuncs.operand(val)
    if not isinstance(val, lazy.ndarray):
        return hosted.result(np.asarray(np.real(val)))
    return val if val.dtype.kind != "c" else wrap(ufuncs.in_order(elementwise.real, plain(val)))


def imag(val: Any) -> Any:
    """Imaginary parts, of real numbers zeros."""
    val = ufuncs.operand(val)
    if not isinstance(val, lazy.ndarray):
        return hosted.result(np.asarray(np.imag(val)))
    if val.dtype.kind == "c":
        return wrap(ufuncs.in_order(elementwise.imag, plain(val)))
    from lancehead.cupy.creation import zeros_like

    return zeros_like(val)


__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "argsort", "clip", "count_nonzero", "cumprod", "cumsum", "dot",
    "imag", "matmul", "mean", "nonzero", "prod", "real", "sort", "std", "sum", "take", "var", "where",
]  # fmt: skip

near_keywords(globals())
