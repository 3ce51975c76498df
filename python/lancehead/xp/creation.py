"""Functions that make arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead.caches import Cache
from lancehead.options import near_keywords
from lancehead.xp import dtypes
from lancehead.xp.arrays import from_numpy, ndarray, wrap
from lancehead.xp.devices import CPU, as_device, imported, shared, uploaded
from lancehead.xp.elementwise import as_node, chosen, convert
from lancehead.xp.graph import Node, Op, leaf, made
from lancehead.xp.graph import number as number_node
from lancehead.xp.manipulation import broadcast_arrays
from lancehead.xp.rows import Element, Kind, Row


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> ndarray:
    """An array of a number, nested sequences, an array of ours or of NumPy, or what has `__dlpack__` or a buffer.

    Raises TypeError for types that are not of the standard, ValueError for `copy=False` where that is impossible.
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(obj, ndarray):
        if device is not None and as_device(device) is not obj.device:
            if copy is False:
                raise ValueError("an array on another device is a copy")
            obj, copy = obj.to_device(device), None
        if wanted is not None and wanted != obj.dtype:
            if copy is False:
                raise ValueError("another data type needs a copy")
            return wrap(convert(obj.node(), wanted))
        return wrap(obj.node()) if copy else obj
    if hasattr(obj, "__cuda_array_interface__"):
        return _shared(obj, wanted, device, copy)
    where = as_device(device)
    if copy is False and where.number is not None:
        raise ValueError(f"arrays of the host are copied to {where}")
    if copy is False and not isinstance(obj, np.ndarray):
        raise ValueError("arrays of Python's objects are copies")
    value = np.asarray(_plain(obj))
    if wanted is None:
        value = value.astype(dtypes.as_dtype(value.dtype), copy=False)
    if wanted is not None:
        if wanted in dtypes.INTEGRAL and value.dtype not in (dtypes.bool, *dtypes.INTEGRAL):
            value = value.astype(wanted)
        else:
            value = np.asarray(_plain(obj), dtype=wanted)
    if copy is False:
        if not value.flags.c_contiguous or (isinstance(obj, np.ndarray) and value.dtype != obj.dtype):
            raise ValueError("the memory is not in row-major order or of another type, so that a copy is needed")
        return from_numpy(value, where)
    # The program may change its array before the value is asked for.
    return from_numpy(np.array(value, order="C", copy=isinstance(obj, np.ndarray) or None), where)


def _shared(obj: Any, dtype: Any, device: Any, copy: bool | None) -> ndarray:
    # An array of the memory of a device array, which is copied unless that is refused: its owner may change it.
    there, where = shared(obj)
    if copy is False and not there.is_c_contiguous():
        raise ValueError("the memory is not in row-major order, so that a copy is needed")
    if copy is not False:
        # Memory with gaps is put in order by way of the host.
        there = uploaded(there if there.is_c_contiguous() else np.ascontiguousarray(there.copy_to_host()), where)
    found = wrap(leaf(there, where))
    return asarray(found, dtype=dtype, device=device, copy=copy if copy is False else None)


def _plain(obj: Any) -> Any:
    if isinstance(obj, ndarray):
        return obj.numpy()
    if isinstance(obj, (list, tuple)):
        return [_plain(x) for x in obj]
    if hasattr(obj, "__dlpack__") and not isinstance(obj, np.ndarray):
        return np.from_dlpack(obj)
    return obj


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> ndarray:
    """An array of an object with `__dlpack__`, on its device unless another one is given."""
    if isinstance(x, ndarray):
        return asarray(x, device=device, copy=copy)
    if x.__dlpack_device__()[0] != np.empty(0).__dlpack_device__()[0]:
        return asarray(imported(x), device=device)
    return from_numpy(np.array(np.from_dlpack(x), order="C"), as_device(device))


def as_shape(shape: Any) -> tuple[int, ...]:
    """A shape as a tuple; ValueError for negative extents."""
    if type(shape) is int and shape >= 0:
        return (shape,)
    found = tuple(int(n.__index__()) for n in shape) if hasattr(shape, "__iter__") else (int(shape.__index__()),)
    if any(n < 0 for n in found):
        raise ValueError("negative dimensions are not allowed")
    return found


_FULL = Row("full", Kind.CONSTANT, element=Element.CONSTANT, is_portable=True)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> ndarray:
    """An array of one value."""
    where = as_device(device)
    if isinstance(fill_value, ndarray):
        fill_value = fill_value.numpy()[()]
    if type(fill_value) in _NUMBERS and dtype is not None:
        wanted = dtypes.as_dtype(dtype)
        number = number_node(fill_value, wanted).value
    else:
        wanted = dtypes.default(fill_value) if dtype is None else dtypes.as_dtype(dtype)
        number = np.asarray(fill_value, dtype=wanted)[()]
    extents = as_shape(shape)
    known = _KNOWN.get(wanted)
    if known is not None and where is CPU:
        return wrap(Node(known, (), extents, wanted, (extents, number), None, where))
    static, dynamic = (dtypes.text(wanted),), (extents, number)
    node = made(_FULL, _full, (), extents, wanted, static=static, dynamic=dynamic, is_fresh=True, device=where)
    node.op.alone = _filled
    if wanted in dtypes.ALL:
        _KNOWN[wanted] = node.op
    return wrap(node)


#: Operations by types of elements.
_KNOWN: Cache[np.dtype[Any], Op] = Cache(64)

_NUMBERS = frozenset((bool, int, float))


def _filled(shape: tuple[int, ...], number: Any) -> np.ndarray:
    # The value of the operation, which needs no compiled code.
    out = np.empty(shape, number.dtype)
    out.fill(number)
    return out


def _full(shape: str, x: str, dtype: str) -> str:
    return f"np.full({shape}, {x}, {dtype})"


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> ndarray:
    """An array of zeros, `float64` without a type."""
    return full(shape, 0, dtype=dtypes.float64 if dtype is None else dtype, device=device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> ndarray:
    """An array of ones, `float64` without a type."""
    return full(shape, 1, dtype=dtypes.float64 if dtype is None else dtype, device=device)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> ndarray:
    """An array whose values do not matter; they are zeros."""
    return zeros(shape, dtype=dtype, device=device)


def _like(x: ndarray, dtype: Any) -> Any:
    return x.dtype if dtype is None else dtype


def zeros_like(x: ndarray, /, *, dtype: Any = None, device: Any = None) -> ndarray:
    """Zeros in the shape and type of an array."""
    return zeros(x.shape, dtype=_like(x, dtype), device=device or x.device)


def ones_like(x: ndarray, /, *, dtype: Any = None, device: Any = None) -> ndarray:
    """Ones in the shape and type of an array."""
    return ones(x.shape, dtype=_like(x, dtype), device=device or x.device)


def empty_like(x: ndarray, /, *, dtype: Any = None, device: Any = None) -> ndarray:
    """Zeros in the shape and type of an array."""
    return zeros_like(x, dtype=dtype, device=device)


def full_like(x: ndarray, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> ndarray:
    """One value in the shape and type of an array."""
    return full(x.shape, fill_value, dtype=_like(x, dtype), device=device or x.device)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> ndarray:
    """Numbers from `start` to before `stop`; ZeroDivisionError for a step of zero."""
    where = as_device(device)
    if stop is None:
        start, stop = 0, start
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    # Extents are computed as NumPy computes them, and the numbers with them: few programs make long ranges.
    return from_numpy(np.arange(start, stop, step, dtype=wanted), where)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> ndarray:
    """So many numbers at equal distances."""
    where = as_device(device)
    wanted = dtypes.complex128 if isinstance(start, complex) or isinstance(stop, complex) else dtypes.float64
    line = np.linspace(start, stop, num, endpoint=endpoint, dtype=wanted if dtype is None else dtype)
    return from_numpy(line, where)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> ndarray:
    """Ones on a diagonal, else zeros."""
    where = as_device(device)
    wanted = dtypes.float64 if dtype is None else dtypes.as_dtype(dtype)
    return from_numpy(np.eye(n_rows, n_cols, k=k, dtype=wanted), where)


def meshgrid(*arrays: ndarray, indexing: str = "xy") -> list[ndarray]:
    """Coordinates of a grid of lines: an array with all axes for each; ValueError for other types or lines."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing is 'xy' or 'ij', not {indexing!r}")
    n, lines = len(arrays), []
    for i, x in enumerate(arrays):
        axis = 1 - i if indexing == "xy" and n > 1 and i < 2 else i
        key = [None] * n
        key[axis] = slice(None)  # type: ignore[call-overload]
        line = x if x.ndim else x[None]
        lines.append(line[tuple(key)])
    return [wrap(x.node()) for x in broadcast_arrays(*lines)] if lines else []


def _triangle(which: str, x: ndarray, k: int) -> ndarray:
    if x.ndim < 2:
        raise ValueError(f"{which} is of arrays with at least two axes, not {x.ndim}")
    rows, columns = x.shape[-2:]
    mask = getattr(np, which)(np.ones((rows, columns), np.bool_), k)
    return chosen(leaf(mask), as_node(x), leaf(np.zeros((), x.dtype)), x.shape)


def tril(x: ndarray, /, *, k: int = 0) -> ndarray:
    """Elements on and below a diagonal, else zeros."""
    return _triangle("tril", x, k)


def triu(x: ndarray, /, *, k: int = 0) -> ndarray:
    """Elements on and above a diagonal, else zeros."""
    return _triangle("triu", x, k)


__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid",
    "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip

near_keywords(globals())
