"""Functions of shapes, joins of arrays, and elements at places."""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from lancehead.options import near_keywords
from lancehead.xp import dtypes
from lancehead.xp.arrays import from_numpy, ndarray, wrap
from lancehead.xp.devices import by_kernels
from lancehead.xp.elementwise import as_node, convert, minimum
from lancehead.xp.graph import Node, leaf, made
from lancehead.xp.rows import Element, Row

RESHAPE = Row("reshape", element=Element.RESHAPED, is_portable=True)
_CONCAT = Row("concat", element=Element.JOINED, is_portable=True, fills=True)
#: On devices it is a join of views.
_STACK = Row("stack", fills=True)
TAKE = Row("take", element=Element.ALONG, is_portable=True, takes_places=True, fills=True)
TAKE_ALONG_AXIS = Row("take_along_axis", element=Element.IN_LINE, takes_places=True)


def axis_of(axis: int, ndim: int) -> int:
    """An axis counted from the front; AxisError for one that is not there, TypeError for what is no integer."""
    if not -ndim <= (k := index(axis)) < ndim:
        raise np.exceptions.AxisError(k, ndim)
    return k % ndim


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes counted from the front, all for None; ValueError for repeated ones."""
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, int):
        return (axis_of(axis, ndim),)
    found = tuple([axis_of(k, ndim) for k in (axis if isinstance(axis, (tuple, list)) else (axis,))])
    if len(set(found)) < len(found):
        raise ValueError(f"an axis is given twice in {axis}")
    return found


def astype(x: ndarray, dtype: Any, /, *, copy: bool = True, device: Any = None) -> ndarray:
    """The array as another type; itself with `copy=False` if it has that."""
    if device is not None:
        x = x.to_device(device)
    wanted = dtypes.as_dtype(dtype)
    if wanted == x.dtype and not copy:
        return x
    if x.dtype in dtypes.COMPLEX and wanted not in dtypes.COMPLEX:
        raise TypeError(f"complex numbers do not become {wanted}; write real(x)")
    return wrap(convert(x.node(), wanted))


def broadcast_to(x: ndarray, /, shape: tuple[int, ...]) -> ndarray:
    """The array repeated to a shape, as a view; ValueError if it does not fit."""
    return wrap(x.view(np.broadcast_to, shape).node())


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which arrays of several shapes broadcast; ValueError if they do not."""
    return np.broadcast_shapes(*shapes)


def broadcast_arrays(*arrays: ndarray) -> list[ndarray]:
    """Arrays repeated to their common shape."""
    shape = np.broadcast_shapes(*(x.shape for x in arrays))
    return [broadcast_to(x, shape) for x in arrays]


def _common(arrays: Any) -> tuple[list[Node], np.dtype[Any]]:
    found = list(arrays)
    if not found:
        raise ValueError("at least one array is needed")
    nodes = [as_node(x) for x in found]
    dtype = nodes[0].dtype
    for n in nodes:
        if n.dtype is not dtype:
            break
    else:
        return nodes, dtype
    dtype = dtypes.result_type(*found)
    return [convert(n, dtype) for n in nodes], dtype


def concat(arrays: Any, /, *, axis: int | None = 0) -> ndarray:
    """Arrays one after the other along an axis; in one dimension for None. ValueError if their shapes do not fit."""
    if axis is None:
        arrays, axis = [reshape(x, (-1,)) for x in arrays], 0
    nodes, dtype = _common(arrays)
    first, extent = nodes[0].shape, 0
    k = axis_of(axis, len(first))
    before, after = first[:k], first[k + 1 :]
    for n in nodes:
        s = n.shape
        if len(s) != len(first) or s[:k] != before or s[k + 1 :] != after:
            shapes = ", ".join(str(n.shape) for n in nodes)
            raise ValueError(f"arrays of the shapes {shapes} do not fit along axis {axis}")
        extent += s[k]
    return wrap(made(_CONCAT, _joined, nodes, (*before, extent, *after), dtype, static=(k,), is_fresh=True))


def _joined(*given: Any) -> str:
    *names, axis = given
    return f"np.concatenate(({', '.join(names)},), {axis})"


def stack(arrays: Any, /, *, axis: int = 0) -> ndarray:
    """Arrays of one shape along a new axis; ValueError for several shapes."""
    found = list(arrays)
    if len({x.shape for x in found}) != 1:
        raise ValueError("arrays that are stacked have one shape")
    shape = found[0].shape
    if shape and not by_kernels(*found):
        k = axis_of(axis, len(shape) + 1)
        nodes, dtype = _common(found)
        if dtype.kind in "biufc":
            shape = (*shape[:k], len(nodes), *shape[k:])
            return wrap(made(_STACK, _stacked, nodes, shape, dtype, static=(k,), is_fresh=True))
    return concat([expand_dims(x, axis=axis) for x in found], axis=axis_of(axis, found[0].ndim + 1))


def _stacked(*given: Any) -> str:
    *names, axis = given
    return f"np.stack(({', '.join(names)},), {axis})"


def unstack(x: ndarray, /, *, axis: int = 0) -> tuple[ndarray, ...]:
    """The arrays along an axis."""
    k = axis_of(axis, x.ndim)
    return tuple(x[(slice(None),) * k + (i,)] for i in range(x.shape[k]))


def expand_dims(x: ndarray, /, axis: int = 0) -> ndarray:
    """A new axis."""
    k = axis_of(axis, x.ndim + 1)
    return x.view(np.ndarray.__getitem__, (*(_WHOLE,) * k, None, ...))


def squeeze(x: ndarray, /, axis: Any) -> ndarray:
    """Without axes, whose extents are 1; ValueError for others."""
    axes = axes_of(axis, x.ndim)
    if any(x.shape[k] != 1 for k in axes):
        raise ValueError(f"an axis of {axis} has not the extent 1: the shape is {x.shape}")
    return x.view(np.ndarray.squeeze, axes)


def permute_dims(x: ndarray, /, axes: tuple[int, ...]) -> ndarray:
    """Axes in another order, as a view."""
    if sorted(axes_of(tuple(axes), x.ndim)) != list(range(x.ndim)):
        raise ValueError(f"{axes} is no order of {x.ndim} axes")
    return x.view(np.ndarray.transpose, axes)


def matrix_transpose(x: ndarray, /) -> ndarray:
    """The last two axes exchanged."""
    return x.mT


def moveaxis(x: ndarray, source: Any, destination: Any, /) -> ndarray:
    """Axes moved to other places."""
    return x.view(np.moveaxis, source, destination)


def flip(x: ndarray, /, *, axis: Any = None) -> ndarray:
    """Backward along axes, all for None."""
    if axis is None:
        key: Any = (_BACKWARD,) * x.ndim
    else:
        axes = axes_of(axis, x.ndim)
        key = tuple([_BACKWARD if k in axes else _WHOLE for k in range(x.ndim)])
    return wrap(x[key].node()) if _BACKWARD in key else wrap(x.node())


_BACKWARD, _WHOLE = slice(None, None, -1), slice(None)


def reshape(x: ndarray, /, shape: Any, *, copy: bool | None = None) -> ndarray:
    """The elements in another shape of as many, as a view where that is possible; ValueError if it does not fit."""
    if copy is None:
        try:
            return x.view(_in_shape, shape)
        except (TypeError, ValueError):
            # The code below raises the error, or copies the elements.
            pass
    wanted = tuple([int(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,))])
    if min(wanted, default=0) < -1 or wanted.count(-1) > 1:
        raise ValueError(f"{shape} is no shape")
    if -1 in wanted:
        rest = math.prod(n for n in wanted if n != -1)
        if rest == 0 or x.size % rest:
            raise ValueError(f"an array of shape {x.shape} has no shape {shape}")
        wanted = tuple(x.size // rest if n == -1 else n for n in wanted)
    if math.prod(wanted) != x.size:
        raise ValueError(f"an array of shape {x.shape} has no shape {shape}")
    if not copy:
        try:
            return x.view(_in_shape, wanted)
        except ValueError:
            if copy is False:
                raise
    return wrap(made(RESHAPE, _reshaped, (as_node(x),), wanted, x.dtype, dynamic=(wanted,), is_fresh=True))


def _in_shape(s: np.ndarray, shape: Any) -> np.ndarray:
    return s.reshape(shape, copy=False)


def _reshaped(a: str, shape: str) -> str:
    return f"np.reshape(np.asarray({a}), {shape}).copy()"


def roll(x: ndarray, /, shift: Any, *, axis: Any = None) -> ndarray:
    """Elements moved along axes, those that leave one end to the other."""
    if axis is None:
        return reshape(roll(reshape(x, (-1,)), shift, axis=0), x.shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(axes)
    if len(shifts) != len(axes):
        raise ValueError("there must be as many shifts as axes")
    out = x
    for n, k in zip(shifts, (axis_of(k, x.ndim) for k in axes), strict=True):
        extent = x.shape[k]
        first = -n % extent if extent else 0
        before = (slice(None),) * k
        out = concat([out[(*before, slice(first, None))], out[(*before, slice(0, first))]], axis=k)
    return wrap(out.node())


def repeat(x: ndarray, repeats: Any, /, *, axis: int | None = None) -> ndarray:
    """Each element so many times along an axis, in one dimension for None."""
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    k = axis_of(axis, x.ndim)
    counts = repeats.numpy() if isinstance(repeats, ndarray) else np.asarray(repeats)
    places = np.repeat(np.arange(x.shape[k]), counts)
    return take(x, from_numpy(places), axis=k)


def places_in(indices: ndarray, n: int) -> Node:
    """The node of places along an axis of an extent, as integers that `int64` holds; TypeError for others."""
    node = as_node(indices)
    if node.dtype is dtypes.int64:
        return node
    if node.dtype not in dtypes.INTEGRAL:
        raise TypeError(f"indices are integers, not {indices.dtype}")
    if node.dtype == dtypes.uint64:
        # Those that int64 does not hold are out of bounds, too.
        return convert(as_node(minimum(indices, wrap(leaf(np.asarray(n, dtypes.uint64))))), dtypes.int64)
    return node


def take(x: ndarray, indices: ndarray, /, *, axis: int | None = None) -> ndarray:
    """Elements at places along an axis. TypeError unless these are integers, IndexError for one that is not there."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"an axis is needed for an array with {x.ndim} axes")
        axis = 0
    k = axis_of(axis, x.ndim)
    nodes = (as_node(x), places_in(indices, x.shape[k]))
    before = nodes[0].shape
    shape = (*before[:k], *indices.shape, *before[k + 1 :])
    return wrap(made(TAKE, _taken, nodes, shape, x.dtype, static=(k,), is_costly=True))


def _taken(a: str, i: str, axis: int) -> str:
    return f"np.take({a}, {i}, axis={axis})"


def take_along_axis(x: ndarray, indices: ndarray, /, *, axis: int = -1) -> ndarray:
    """Elements at the places of each line along an axis."""
    k = axis_of(axis, x.ndim)
    outer = np.broadcast_shapes(_without(x.shape, k), _without(indices.shape, k))
    a = broadcast_to(x, (*outer[:k], x.shape[k], *outer[k:]))
    i = broadcast_to(indices, (*outer[:k], indices.shape[k], *outer[k:]))
    nodes = (as_node(a), convert(places_in(i, x.shape[k]), dtypes.int64))
    node = made(TAKE_ALONG_AXIS, _along, nodes, i.shape, x.dtype, static=(k,), is_costly=True)
    return wrap(node)


def _without(shape: tuple[int, ...], k: int) -> tuple[int, ...]:
    return (*shape[:k], *shape[k + 1 :])


def _along(a: str, i: str, axis: int) -> str:
    return f"np.take_along_axis({a}, {i}, {axis})"


def tile(x: ndarray, repetitions: tuple[int, ...], /) -> ndarray:
    """The array repeated along axes."""
    n = max(x.ndim, len(repetitions))
    times = (1,) * (n - len(repetitions)) + tuple(repetitions)
    shape = (1,) * (n - x.ndim) + x.shape
    key = tuple(k for extent in shape for k in (None, slice(None)))
    grid = broadcast_to(reshape(x, shape)[key], tuple(m for pair in zip(times, shape, strict=True) for m in pair))
    return reshape(grid, tuple(t * s for t, s in zip(times, shape, strict=True)))


__all__ = [
    "astype", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip",
    "matrix_transpose", "moveaxis", "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "take",
    "take_along_axis", "tile", "unstack",
]  # fmt: skip

near_keywords(globals())
