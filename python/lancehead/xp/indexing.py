"""Reading and writing parts of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead.xp import dtypes
from lancehead.xp.arrays import ndarray, operator, set_operators, wrap
from lancehead.xp.elementwise import as_node, convert, lifted
from lancehead.xp.graph import Node, leaf, made
from lancehead.xp.regions import compute
from lancehead.xp.rows import Element, How, Row

# Places in row-major order are of arrays of NumPy, which has checked them.
_GATHER = Row("gather", element=Element.AT_PLACE, fills=True)
_SCATTER = Row("scatter", how=How.SCATTERED)

_BASIC = (int, slice, type(None), type(Ellipsis))


def _is_basic(key: Any) -> bool:
    keys = key if isinstance(key, tuple) else (key,)
    return not [k for k in keys if not (type(k) in _BASIC or _is_integer(k) or _is_index(k))]


def _is_integer(k: Any) -> bool:
    # Truth values are masks without axes.
    return isinstance(k, (int, np.integer)) and not isinstance(k, bool)


def _is_index(k: Any) -> bool:
    return isinstance(k, ndarray) and not k.ndim and k.dtype in dtypes.INTEGRAL


def _plain(key: Any) -> Any:
    # Indices of arrays without axes as numbers.
    if type(key) in _BASIC:
        return key
    keys = key if isinstance(key, tuple) else (key,)
    found = tuple(int(k) if _is_index(k) else k for k in keys)
    return found if isinstance(key, tuple) else found[0]


def get(a: ndarray, key: Any) -> ndarray:
    """`a[key]`: a view for integers, slices, None and Ellipsis; else a new array."""
    # Integers, slices and tuples of them have been served: `lazy/views.rs` of the extension module.
    if type(key) is ndarray and key.shape:
        return _gathered(a, key)
    if _is_field(key):
        return a.view(_field, key)
    if _is_basic(key):
        key = _plain(key)
        return a.view(_indexed, key)
    return _gathered(a, key)


def _is_field(key: Any) -> bool:
    return isinstance(key, str) or (isinstance(key, list) and bool(key) and all(isinstance(k, str) for k in key))


def _field(shadow: np.ndarray, key: Any) -> np.ndarray:
    if shadow.dtype.fields is None:
        raise IndexError(f"elements of {shadow.dtype} have no fields; {key!r} names one")
    found: np.ndarray = shadow[key]
    dtypes.as_dtype(found.dtype)
    return found


def _indexed(shadow: np.ndarray, key: Any) -> np.ndarray:
    # With an Ellipsis the result is a view also where it has no axes.
    keys = key if isinstance(key, tuple) else (key,)
    return shadow[(*keys, ...)] if Ellipsis not in keys else shadow[keys]


def _concrete(key: Any) -> Any:
    # Masks decide the shape, so their values are needed now.
    keys = key if isinstance(key, tuple) else (key,)
    wanted = [k.node() for k in keys if isinstance(k, ndarray)]
    compute(*wanted)
    found = tuple(k.numpy() if isinstance(k, ndarray) else k for k in keys)
    return found if isinstance(key, tuple) else found[0]


def _places(a: ndarray, key: Any) -> np.ndarray:
    # Places of elements in row-major order.
    if isinstance(key, np.ndarray) and key.dtype == np.bool_ and key.shape == a.shape:
        return key.reshape(-1).nonzero()[0]
    found: np.ndarray = np.arange(a.size).reshape(a.shape)[key]
    return found


def _gathered(a: ndarray, key: Any) -> ndarray:
    if type(key) is ndarray and key.dtype is dtypes.int64 and a.ndim:
        return operator("gather")(a, key)
    if type(key) is ndarray and key.dtype is dtypes.bool:
        places = _places(a, key.numpy())
    elif isinstance(key, (ndarray, np.ndarray)) and key.dtype in dtypes.INTEGRAL and a.ndim:
        return operator("gather")(a, lifted(key))
    else:
        places = _places(a, _concrete(key))
    nodes = (as_node(a), as_node_of(places))
    return wrap(made(_GATHER, _take_flat, nodes, places.shape, a.dtype, is_costly=True))


def as_node_of(value: np.ndarray) -> Node:
    """A node of an array of NumPy."""
    return leaf(value if value.flags.c_contiguous else np.ascontiguousarray(value).reshape(value.shape))


def _take_flat(a: str, places: str) -> str:
    return f"np.take({a}, {places})"


def _fit(shape: tuple[int, ...], part: tuple[int, ...]) -> None:
    if shape and shape != part and np.broadcast_shapes(shape, part) != part:
        raise ValueError(f"values of shape {shape} do not go into a part of shape {part}")


def put(a: ndarray, key: Any, value: Any) -> None:
    """`a[key] = value`, with the type of the array."""
    if _is_field(key):
        put(get(a, key), ..., value)
        return
    node = _value(value, a.dtype)
    if node.dtype != a.dtype and not np.can_cast(node.dtype, a.dtype, "same_kind"):
        raise TypeError(f"values of {node.dtype} do not go into an array of {a.dtype}")
    node = convert(node, a.dtype)
    if _is_basic(key):
        part = get(a, key)
        _fit(node.shape, part.shape)
        part.write(node)
        return
    places = _places(a, _concrete(key))
    _fit(node.shape, places.shape)
    nodes = (a.node(), as_node_of(places), node)
    facts: Any = {"static": (a.ndim,), "is_fresh": a.ndim > 0, "here": _put_flat_here if a.ndim else None}
    a.write(made(_SCATTER, _put_flat, nodes, a.shape, a.dtype, is_costly=True, **facts))


def _value(value: Any, dtype: np.dtype[Any]) -> Node:
    # A tuple is a record where records are stored.
    if isinstance(value, ndarray):
        return value.node()
    if dtype.fields is not None and isinstance(value, (tuple, list)):
        return leaf(np.array(value, dtype))
    return as_node(value, None if dtype.fields is not None else dtype)


def _put_flat(a: str, places: str, x: str, ndim: int) -> str:
    return f"scattered({a}, {places}, {x})"


def _put_flat_here(a: str, places: str, x: str, ndim: int) -> str:
    return f"scattered_here({a}, {places}, {x})"


set_operators(get=get, put=put)
