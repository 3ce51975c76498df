"""Functions of shapes and joins. Views of NumPy are views here."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead.cupy import hosted, layout, ufuncs
from lancehead.cupy.creation import array, as_order
from lancehead.cupy.hosted import wrap
from lancehead.cupy.reductions import array_of, finished
from lancehead.options import near_keywords
from lancehead.xp import arrays as lazy
from lancehead.xp import manipulation


def _view(x: Any, change: Callable[[np.ndarray], np.ndarray]) -> Any:
    return wrap(lazy.ndarray.view(array_of(x), change))


def reshape(a: Any, shape: Any, order: Any = "C", *, copy: Any = None) -> Any:
    """The elements in another shape of as many, as a view where that is possible."""
    a = array_of(a)
    if order not in ("C", "F", "A", "c", "f", "a", None):
        raise ValueError(f"order {order!r} is not permitted for arguments")
    if copy is not None and not isinstance(copy, (bool, np.bool_)):
        raise ValueError(f"copy is a truth value or None, strings are not allowed: {copy!r}")
    letter = as_order(order)
    shape = tuple(int(n) for n in shape) if hasattr(shape, "__iter__") else (int(shape),)
    if letter == "A":
        flags = layout.shadow(a).flags
        letter = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
    if copy:
        a = a.copy()
    if letter == "F":
        return _view(_of_order_c(_view(a, np.transpose), _extents(a, shape)[::-1], copy), np.transpose)
    return _of_order_c(a, _extents(a, shape), copy)


def _extents(a: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    if shape.count(-1) > 1:
        raise ValueError("can only specify one unknown dimension")
    if -1 in shape:
        rest = math.prod(n for n in shape if n != -1)
        if rest == 0 or a.size % rest:
            raise ValueError(f"cannot reshape array of size {a.size} into shape {shape}")
        shape = tuple(a.size // rest if n == -1 else n for n in shape)
    if math.prod(shape) != a.size or min(shape, default=0) < 0:
        raise ValueError(f"cannot reshape array of size {a.size} into shape {shape}")
    return shape


def _of_order_c(a: Any, shape: tuple[int, ...], copy: Any = None) -> Any:
    try:
        return _view(a, lambda s: s.reshape(shape, copy=False))
    except ValueError:
        if copy is False:
            raise ValueError("Unable to avoid creating a copy while reshaping.") from None
        own = lazy.wrap(a.node())
        return _view(own, lambda s: s.reshape(shape))


def ravel(a: Any, order: str = "C") -> Any:
    """The elements in one dimension, as a view where that is possible."""
    a = array_of(a)
    if order is not None and order not in tuple("CFAKcfak"):
        raise TypeError(f"order not understood: {order!r}")
    letter = as_order(order)
    if letter == "K" and 0 in layout.shadow(a).strides:
        return hosted.result(np.ravel(layout.host(a), "K"))
    if letter == "K":
        return reshape(_view(a, lambda s: s.transpose(layout.dense_order(a, "K"))), (-1,) if a.size else (0,))
    found = reshape(a, (-1,) if a.size else (0,), letter)
    # A view with gaps or repetitions is not handed out.
    return found if layout.shadow(found).flags.c_contiguous else found.copy()


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """The array repeated to a shape, as a view."""
    return _view(array, lambda s: np.broadcast_to(s, shape))


def broadcast_arrays(*args: Any) -> tuple[Any, ...]:
    """Arrays repeated to their common shape."""
    given = [ufuncs.operand(x) for x in args]
    given = [x if isinstance(x, lazy.ndarray) else array(x) for x in given]
    shape = np.broadcast_shapes(*[x.shape for x in given])
    return tuple(broadcast_to(x, shape) for x in given)


class broadcast:
    """The shape and the arrays of a broadcast."""

    def __init__(self, *arrays: Any) -> None:
        given = [x for x in arrays if isinstance(x, lazy.ndarray)]
        self.shape = np.broadcast_shapes(*[x.shape for x in given])
        self.values = tuple(broadcast_to(x, self.shape) if isinstance(x, lazy.ndarray) else x for x in arrays)
        self.nd = self.ndim = len(self.shape)
        self.size = math.prod(self.shape)


def transpose(a: Any, axes: Any = None) -> Any:
    """The axes in another order, as a view."""
    return _view(a, lambda s: s.transpose(axes))


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged, as a view."""
    return _view(a, lambda s: np.swapaxes(s, axis1, axis2))


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Axes moved to other places, as a view."""
    return _view(a, lambda s: np.moveaxis(s, source, destination))


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """An axis moved before another one, as a view."""
    return _view(a, lambda s: np.rollaxis(s, axis, start))


def matrix_transpose(x: Any) -> Any:
    """The last two axes exchanged, as a view."""
    return _view(x, np.matrix_transpose)


def squeeze(a: Any, axis: Any = None) -> Any:
    """Without axes of extent 1, as a view."""
    return _view(a, lambda s: np.squeeze(s, axis))


def expand_dims(a: Any, axis: Any) -> Any:
    """With new axes, as a view."""
    return _view(a, lambda s: np.expand_dims(s, axis))


def flip(a: Any, axis: Any = None) -> Any:
    """Backward along axes, as a view."""
    return _view(a, lambda s: np.flip(s, axis))


def fliplr(a: Any) -> Any:
    """Backward along the second axis, as a view."""
    return _view(a, np.fliplr)


def flipud(a: Any) -> Any:
    """Backward along the first axis, as a view."""
    return _view(a, np.flipud)


def rot90(a: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Turned by right angles in the plane of two axes."""
    return _view(a, lambda s: np.rot90(s, k, axes))


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Diagonals, as a view."""
    return _view(a, lambda s: np.diagonal(s, offset, axis1, axis2))


def _at_least(n: int, arrays: tuple[Any, ...]) -> Any:
    own: Callable[..., Any] = getattr(np, f"atleast_{n}d")
    given = [x if isinstance(x, lazy.ndarray) else array(x) for x in arrays]
    found = tuple(x if x.ndim >= n else _view(x, lambda s: own(s)) for x in given)
    return found[0] if len(found) == 1 else list(found)


def atleast_1d(*arys: Any) -> Any:
    """Arrays with at least one axis."""
    return _at_least(1, arys)


def atleast_2d(*arys: Any) -> Any:
    """Arrays with at least two axes."""
    return _at_least(2, arys)


def atleast_3d(*arys: Any) -> Any:
    """Arrays with at least three axes."""
    return _at_least(3, arys)


def _parts(a: Any, split: Callable[..., Any], *given: Any) -> list[Any]:
    a = array_of(a)
    pieces = split(layout.shadow(a), *given)
    return [_view(a, lambda s, i=i: split(s, *given)[i]) for i in range(len(pieces))]  # type: ignore[misc]


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Parts along an axis, as views."""
    return _parts(ary, np.array_split, hosted.given(indices_or_sections), axis)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Equal parts along an axis, as views."""
    return _parts(ary, np.split, hosted.given(indices_or_sections), axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Parts along the second axis, of one axis along that."""
    return _parts(ary, np.hsplit, hosted.given(indices_or_sections))


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Parts along the first axis."""
    return _parts(ary, np.vsplit, hosted.given(indices_or_sections))


def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Parts along the third axis."""
    return _parts(ary, np.dsplit, hosted.given(indices_or_sections))


def concatenate(tup: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays one after the other along an axis; in one dimension for None."""
    arrays = [array_of(x) for x in tup]
    if not arrays:
        raise ValueError("Cannot concatenate from empty tuple")
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    given = {x.dtype for x in arrays}
    wanted = np.result_type(*given) if dtype is None else np.dtype(dtype)
    kinds = {d.kind for d in (*given, wanted)}
    for x in arrays:
        if dtype is not None and not np.can_cast(x.dtype, wanted, casting):  # type: ignore[arg-type]
            raise TypeError(f"Cannot cast array data from {x.dtype!r} to {wanted!r} according to the rule '{casting}'")
    if not kinds <= set("biufc") or min(x.ndim for x in arrays) == 0 or any(x._view is not None for x in arrays):
        values = [layout.host(x) for x in arrays]
        with np.errstate(all="ignore"):
            found = np.concatenate(values, axis, dtype=wanted, casting=casting)  # type: ignore[call-overload]
        return finished(hosted.result(found), out, casting)
    parts = [ufuncs.converted(x, wanted) for x in arrays]
    return finished(manipulation.concat([lazy.wrap(x.node()) for x in parts], axis=axis), out, casting)


def _arrays(tup: Any) -> list[Any]:
    if isinstance(tup, lazy.ndarray):
        raise TypeError("arrays to stack are a sequence")
    return list(tup)


def stack(tup: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays of one shape along a new axis."""
    arrays = [array_of(x) for x in tup]
    if not arrays:
        raise ValueError("need at least one array to stack")
    if len({x.shape for x in arrays}) > 1:
        raise ValueError("all input arrays must have the same shape")
    return concatenate([expand_dims(x, axis) for x in arrays], manipulation.axis_of(axis, arrays[0].ndim + 1), out,
                       dtype=dtype, casting=casting)  # fmt: skip


def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays side by side."""
    arrays = [atleast_1d(x) for x in _arrays(tup)]
    axis = 0 if arrays and arrays[0].ndim == 1 else 1
    return concatenate(arrays, axis, dtype=dtype, casting=casting)


def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays one below the other."""
    return concatenate([atleast_2d(x) for x in _arrays(tup)], 0, dtype=dtype, casting=casting)


def row_stack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """As `vstack`, by an old name."""
    warnings.warn("`row_stack` alias is deprecated. Use `vstack` directly.", DeprecationWarning, stacklevel=2)
    return vstack(tup, dtype=dtype, casting=casting)


def dstack(tup: Any) -> Any:
    """Arrays along the third axis."""
    return concatenate([atleast_3d(x) for x in _arrays(tup)], 2)


def column_stack(tup: Any) -> Any:
    """Lines as the columns of a matrix."""
    found = []
    for x in _arrays(tup):
        if not isinstance(x, lazy.ndarray):
            raise TypeError("Only cupy arrays can be column stacked")
        if x.ndim > 2:
            raise ValueError(f"Only 0, 1, or 2 dimensional arrays can be column stacked, not {x.ndim}")
        found.append(x if x.ndim == 2 else reshape(x, (x.size, 1)))
    return concatenate(found, 1)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Elements moved along axes, those that leave one end to the other."""
    return hosted.call(np.roll, a, shift, axis)


def resize(a: Any, new_shape: Any) -> Any:
    """The elements repeated to a shape."""
    return hosted.call(np.resize, a, new_shape)


__all__ = [
    "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast", "broadcast_arrays", "broadcast_to",
    "column_stack", "concatenate", "diagonal", "dsplit", "dstack", "expand_dims", "flip", "fliplr", "flipud", "hsplit",
    "hstack", "matrix_transpose", "moveaxis", "ravel", "reshape", "resize", "roll", "rollaxis", "rot90", "split",
    "row_stack", "squeeze", "stack", "swapaxes", "transpose", "vsplit", "vstack",
]  # fmt: skip

near_keywords(globals())
