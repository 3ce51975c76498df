"""Functions that make arrays, on the current device."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from lancehead.cupy import hosted, layout, ufuncs
from lancehead.cupy.hosted import wrap
from lancehead.options import near_keywords
from lancehead.xp import arrays as lazy
from lancehead.xp import creation as base
from lancehead.xp import dtypes

_ORDERS = {"C": "C", "c": "C", "F": "F", "f": "F", "A": "A", "a": "A", "K": "K", "k": "K", None: "C"}


def as_order(order: Any, default: str = "C") -> str:
    """An order of memory by its letter; TypeError for others."""
    if order is None:
        return default
    if order not in _ORDERS:
        raise ValueError(f"order not understood: {order!r}")
    return _ORDERS[order]


def array(
    object: Any, dtype: Any = None, copy: Any = True, order: Any = "K", subok: bool = False, ndmin: int = 0,
    *, blocking: bool = False,
) -> Any:  # fmt: skip
    """An array of an array, of nested sequences of numbers or arrays, or of what has memory on a device."""
    order = as_order(order, "K")
    if isinstance(object, lazy.ndarray):
        found = _of_array(object, dtype, copy, order)
    elif hasattr(object, "__cuda_array_interface__"):
        found = _of_array(ufuncs.operand(object), dtype, copy, order)
    else:
        value = _value(object, dtype)
        if not value.dtype.isnative:
            value = value.astype(value.dtype.newbyteorder("="))
        if value.dtype.kind not in "biufcmMSUV" or value.dtype.hasobject:
            raise ValueError(f"Unsupported dtype {value.dtype}")
        layout_order: Any = "K" if isinstance(object, np.ndarray) and order in "KA" else order if order in "CF" else "C"
        if layout_order == "K" and not (value.flags.c_contiguous or value.flags.f_contiguous):
            layout_order = "C" if order == "A" else "K"
        found = wrap(layout.placed(np.array(value, order=layout_order, copy=True)))
    if found.ndim < ndmin:
        found = found.reshape((1,) * (ndmin - found.ndim) + found.shape)
    return found


def _of_array(x: Any, dtype: Any, copy: Any, order: str) -> Any:
    wanted = x.dtype if dtype is None else np.dtype(dtype)
    axes = layout.dense_order(x, order) if order != "K" or copy else tuple(range(x.ndim))
    is_there = order == "K" or layout.shadow(x).transpose(axes).flags.c_contiguous
    if not copy and wanted == x.dtype and is_there:
        return x if isinstance(x, hosted.ARRAY[0]) else wrap(lazy.ndarray(x._node, x._view))
    own = wrap(lazy.ndarray(x._node, x._view))
    return own.astype(wanted, order=order)


def _value(object: Any, dtype: Any) -> np.ndarray:
    if isinstance(object, (list, tuple)):
        object = hosted_values(object)
    if hasattr(object, "__dlpack__") and not isinstance(object, (np.ndarray, np.generic)):
        object = np.from_dlpack(object)
    with np.errstate(all="ignore"):
        return np.asarray(object, dtype)


def hosted_values(x: Any) -> Any:
    """Nested sequences with arrays of NumPy in place of those of the device."""
    if isinstance(x, lazy.ndarray):
        return layout.host(x)
    return [hosted_values(v) for v in x] if isinstance(x, (list, tuple)) else x


def asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, blocking: bool = False) -> Any:
    """The array itself where it is one of the type and order, else a new one."""
    return array(a, dtype, copy=bool(copy), order=as_order(order, "K"))


def asanyarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, blocking: bool = False) -> Any:
    """As `asarray`."""
    return asarray(a, dtype, order, copy=copy)


def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    """The array in row-major order without gaps, of at least one dimension."""
    return array(a, dtype, copy=False, order="C", ndmin=1)


def asfortranarray(a: Any, dtype: Any = None) -> Any:
    """The array in column-major order without gaps."""
    return array(a, dtype, copy=False, order="F", ndmin=1)


def copy(a: Any, order: Any = "K") -> Any:
    """A copy in an order of memory."""
    if not isinstance(a, lazy.ndarray):
        a = array(a)
    return a.copy(order=as_order(order, "K"))


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> np.ndarray:
    """An array of NumPy of an array of the device, or of anything that NumPy takes."""
    if isinstance(a, hosted.ARRAY[0]):
        found: np.ndarray = a.get(stream=stream, order=order, out=out)
        return found
    if isinstance(a, lazy.ndarray):
        a = a.numpy()
    elif hasattr(a, "__cuda_array_interface__"):
        a = array(a).get()
    value = np.asarray(a, order=order)  # type: ignore[call-overload]
    if out is None:
        return value  # type: ignore[no-any-return]
    out[...] = value
    return out  # type: ignore[no-any-return]


def _full(shape: Any, value: Any, dtype: Any, order: Any) -> Any:
    order = as_order(order)
    if shape is None:
        raise TypeError("Use () not None as shape argument to describe zero-dim array")
    extents = base.as_shape(tuple(shape) if hasattr(shape, "__iter__") else shape)
    wanted = np.dtype(float if dtype is None else dtype)
    if wanted.hasobject or not wanted.itemsize and wanted.kind == "V" or wanted.subdtype:
        raise ValueError(f"Unsupported dtype {wanted}")
    if not wanted.isnative:
        raise ValueError(f"Unsupported dtype {wanted}: arrays have the byte-order of the machine")
    if wanted.kind not in "biufc":
        return wrap(layout.placed(np.full(extents, value, wanted)))
    if order == "F" and len(extents) > 1:
        return wrap(base.full(extents[::-1], value, dtype=wanted, device=layout.device())).T
    return wrap(base.full(extents, value, dtype=wanted, device=layout.device()))


def empty(shape: Any, dtype: Any = float, order: Any = "C") -> Any:
    """An array whose values do not matter; they are zeros."""
    return _full(shape, 0, dtype, order)


def zeros(shape: Any, dtype: Any = float, order: Any = "C") -> Any:
    """An array of zeros."""
    return _full(shape, 0, dtype, order)


def ones(shape: Any, dtype: Any = float, order: Any = "C") -> Any:
    """An array of ones."""
    return _full(shape, 1, dtype, order)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C") -> Any:
    """An array of one value, or of values that broadcast."""
    if isinstance(fill_value, (lazy.ndarray, np.ndarray, list, tuple)):
        values = array(fill_value)
        found = _full(shape, 0, values.dtype if dtype is None else dtype, order)
        found[...] = values
        return found
    wanted = np.dtype(np.asarray(fill_value).dtype if dtype is None else dtype)
    with np.errstate(all="ignore"):
        number = np.asarray(fill_value).astype(wanted)[()] if wanted.kind in "biufc" else fill_value
    return _full(shape, number, wanted, order)


def _like(a: Any, dtype: Any, order: Any, shape: Any, value: Any, subok: Any = None) -> Any:
    if not isinstance(a, lazy.ndarray):
        raise TypeError(f"an array of the device is needed, not {type(a).__name__}")
    if subok is not None:
        raise TypeError("subok is not served: there are no subclasses")
    order = as_order(order, "K")
    wanted = a.dtype if dtype is None else dtype
    extents = a.shape if shape is None else base.as_shape(tuple(shape) if hasattr(shape, "__iter__") else shape)
    if shape is not None and len(extents) != a.ndim:
        flags = layout.shadow(a).flags
        is_f = order == "F" or (order == "A" and flags.f_contiguous and not flags.c_contiguous)
        return full(extents, value, wanted, "F" if is_f else "C")
    axes = layout.dense_order(a, order)
    found = full(tuple(extents[k] for k in axes), value, wanted)
    return wrap(layout.transposed(found, layout.inverse(axes)))


def empty_like(prototype: Any, dtype: Any = None, order: Any = "K", subok: Any = None, shape: Any = None) -> Any:
    """An array of the shape, type and order of another one; its values do not matter."""
    return _like(prototype, dtype, order, shape, 0, subok)


def zeros_like(a: Any, dtype: Any = None, order: Any = "K", subok: Any = None, shape: Any = None) -> Any:
    """Zeros in the shape, type and order of an array."""
    return _like(a, dtype, order, shape, 0, subok)


def ones_like(a: Any, dtype: Any = None, order: Any = "K", subok: Any = None, shape: Any = None) -> Any:
    """Ones in the shape, type and order of an array."""
    return _like(a, dtype, order, shape, 1, subok)


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: Any = None, shape: Any = None
) -> Any:
    """One value in the shape, type and order of an array."""
    if isinstance(fill_value, (lazy.ndarray, np.ndarray, list, tuple)):
        found = _like(a, dtype, order, shape, 0, subok)
        found[...] = fill_value
        return found
    return _like(a, dtype, order, shape, fill_value, subok)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """Numbers from one to before another one, in steps."""
    given = [hosted.given(x) if isinstance(x, lazy.ndarray) else x for x in (start, stop, step)]
    start, stop, step = given
    if stop is None:
        start, stop = 0, start
    if step is None:
        step = 1
    is_int = all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in (start, stop, step))
    wanted = None if dtype is None else np.dtype(dtype)
    if is_int and step and wanted in (None, *dtypes.INTEGRAL) and all(isinstance(v, int) for v in (start, stop, step)):
        found = wrap(base.arange(start, stop, step, device=layout.device()))
        return found if wanted is None else found.astype(wanted)
    return hosted.call(np.arange, start, stop, step, dtype=wanted)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float, order: Any = "C") -> Any:
    """Ones on a diagonal."""
    return hosted.call(np.eye, N, M, k, dtype=dtype, order=as_order(order))


def identity(n: int, dtype: Any = float) -> Any:
    """The matrix with ones on the diagonal."""
    return eye(n, dtype=dtype)


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0
) -> Any:
    """Numbers at equal distances."""
    found = hosted.call(np.linspace, start, stop, operator.index(num), endpoint, retstep, dtype, axis)
    if retstep:
        step = found[1]
        return found[0], step.item() if isinstance(step, lazy.ndarray) and not step.ndim else step
    return found


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """Coordinates of a grid."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    ndim = len(xi)
    lines = []
    for i, x in enumerate(xi):
        if not isinstance(x, lazy.ndarray):
            raise TypeError("arguments of meshgrid are arrays of the device")
        place = {0: 1, 1: 0}.get(i, i) if indexing == "xy" and ndim > 1 else i
        lines.append(x.ravel().reshape((1,) * place + (-1,) + (1,) * (ndim - place - 1)))
    if not sparse:
        shape = np.broadcast_shapes(*[x.shape for x in lines])
        lines = [x.view_as(lambda s: np.broadcast_to(s, shape)) for x in lines]
    return tuple(x.copy() for x in lines) if copy else tuple(lines)


def diag(v: Any, k: int = 0) -> Any:
    """A diagonal, or the matrix that has one."""
    if isinstance(v, lazy.ndarray) and v.ndim == 2:
        return wrap(v).diagonal(k)
    return hosted.call(np.diag, v if isinstance(v, lazy.ndarray) else array(v), k)


def from_dlpack(array_: Any, *, device: Any = None, copy: Any = None) -> Any:
    """An array of an object with DLPack's methods."""
    return wrap(lazy.ndarray(base.from_dlpack(array_, device=str(layout.device()))._node, None))


__all__ = [
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "asnumpy", "copy", "diag",
    "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "identity", "linspace", "meshgrid", "ones",
    "ones_like", "zeros", "zeros_like",
]  # fmt: skip

near_keywords(globals())
