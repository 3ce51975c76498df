"""Reading and writing parts of arrays. Places out of bounds wrap around, as a device does not tell errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead.cupy import hosted, layout, ufuncs
from lancehead.options import near_keywords
from lancehead.xp import arrays as lazy
from lancehead.xp import elementwise
from lancehead.xp import indexing as basic
from lancehead.xp.graph import made


def _checked(key: Any) -> Any:
    # Lists of arrays and of numbers are indices like arrays.
    keys = key if isinstance(key, tuple) else (key,)
    found = []
    for k in keys:
        if isinstance(k, list):
            k = np.asarray(_listed(k))
            k = k.astype(np.intp) if not k.size and k.dtype.kind == "f" else k
        elif isinstance(k, np.ndarray) and type(k) is np.ndarray:
            k = np.asarray(k)
        elif isinstance(k, (bool, np.bool_)):
            k = np.asarray(k)
        elif isinstance(k, slice):
            k = slice(*[int(v) if isinstance(v, lazy.ndarray) else v for v in (k.start, k.stop, k.step)])
        elif hasattr(k, "__index__") and not isinstance(k, (int, np.integer, lazy.ndarray, np.ndarray)):
            k = k.__index__()
        elif not isinstance(k, (int, np.integer, type(None), type(Ellipsis), lazy.ndarray, np.ndarray)):
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays "
                "are valid indices"
            )
        found.append(k)
    return tuple(found) if isinstance(key, tuple) else found[0]


def _listed(x: Any) -> Any:
    # Nested lists with arrays of NumPy in place of those of the device.
    return (
        [_listed(v) for v in x]
        if isinstance(x, (list, tuple))
        else layout.host(x)
        if isinstance(x, lazy.ndarray)
        else x
    )


def _is_advanced(keys: tuple[Any, ...]) -> bool:
    return any(isinstance(k, (np.ndarray, lazy.ndarray)) for k in keys)


def get(a: Any, key: Any) -> Any:
    """`a[key]`: a view for integers, slices, None and Ellipsis; else a new array."""
    if type(key) is int or type(key) is slice:
        return hosted.wrap(basic.get(a, key))
    if isinstance(key, str) or (isinstance(key, list) and key and isinstance(key[0], str)):
        return hosted.result(np.array(layout.host(a)[key]))
    key = _checked(key)
    keys = key if isinstance(key, tuple) else (key,)
    if not _is_advanced(keys):
        return hosted.wrap(basic.get(a, key))
    if isinstance(key, lazy.ndarray) and key.dtype.kind in "iu" and a.ndim and a.shape[0]:
        places = elementwise.remainder(_wide(key), a.shape[0])
        return hosted.wrap(basic.get(a, places))
    found_at = _places(a, keys)
    nodes = (elementwise.as_node(a), basic.as_node_of(found_at))
    found = made("gather", basic._take_flat, nodes, found_at.shape, a.dtype, is_costly=True)
    return hosted.wrap(lazy.wrap(found))


def _wide(places: Any) -> Any:
    return lazy.wrap(elementwise.convert(places.node(), np.dtype(np.int64)))


def _places(a: Any, keys: tuple[Any, ...]) -> np.ndarray:
    # Places of elements in row-major order.
    values = [layout.host(k) if isinstance(k, lazy.ndarray) else k for k in keys]
    used = sum(
        k.ndim if isinstance(k, np.ndarray) and k.dtype == np.bool_ else 1
        for k in values
        if k is not None and k is not Ellipsis
    )
    if used > a.ndim:
        raise IndexError(f"too many indices for array: array is {a.ndim}-dimensional, but {used} were indexed")
    axis = 0
    found: list[Any] = []
    for k in values:
        if k is None:
            found.append(k)
            continue
        if k is Ellipsis:
            axis += a.ndim - used
        elif isinstance(k, np.ndarray) and k.dtype == np.bool_:
            shape = a.shape[axis : axis + k.ndim]
            # Of those without elements NumPy takes some, below.
            if k.shape != shape and k.size:
                raise IndexError(f"boolean index of shape {k.shape} did not match the extents {shape}")
            axis += k.ndim
        else:
            if isinstance(k, np.ndarray):
                if k.dtype.kind not in "iu":
                    raise IndexError("arrays used as indices must be of integer (or boolean) type")
                extent = a.shape[axis]
                k = k.astype(np.int64) % extent if extent else k.astype(np.int64)
            axis += 1
        found.append(k)
    if a.size and all(isinstance(k, np.ndarray) and k.dtype == np.bool_ for k in found) and len(found) == 1:
        if found[0].shape == a.shape:
            return np.flatnonzero(found[0])
    places: np.ndarray = np.arange(a.size).reshape(a.shape)[tuple(found)]
    return np.asarray(places)


def _value(a: Any, value: Any) -> Any:
    # A value as an array of the type of another one.
    if isinstance(value, np.ndarray) and value.ndim:
        if value.dtype == object:
            raise ValueError("Unsupported dtype object")
        value = layout.placed(value)
    elif isinstance(value, (list, tuple)):
        value = layout.placed(np.asarray(_listed(value), a.dtype))
    if isinstance(value, lazy.ndarray):
        return ufuncs.converted(value, a.dtype)
    if isinstance(value, (np.generic, np.ndarray)) or a.dtype.kind not in "biufc":
        with np.errstate(all="ignore"):
            return lazy.from_numpy(np.asarray(value).astype(a.dtype), layout.device())
    if not isinstance(value, (bool, int, float, complex)):
        if not hasattr(value, "__cuda_array_interface__"):
            raise ValueError(f"Unsupported type {type(value)}")
        return ufuncs.converted(ufuncs.operand(value), a.dtype)
    return lazy.from_numpy(np.array(value, a.dtype), layout.device())


def put(a: Any, key: Any, value: Any) -> None:
    """`a[key] = value`, with the type of the array."""
    if isinstance(key, str):
        there = np.array(layout.host(a))
        there[key] = hosted.given(value)
        a.write(layout.placed(there).node())
        return
    if isinstance(value, (list, tuple)) and isinstance(key, (slice, type(Ellipsis))) is False:
        value = layout.placed(np.asarray(_listed(value)))
    found = _value(a, value)
    key = _checked(key)
    keys = key if isinstance(key, tuple) else (key,)
    if not _is_advanced(keys):
        part = basic.get(a, key)
        node = _fitting(found, part.shape).node()
        part.write(node)
        return
    if len(keys) == 1 and isinstance(keys[0], lazy.ndarray) and keys[0].dtype == np.bool_ and not found.ndim:
        if keys[0].shape == a.shape and a.ndim:
            a.write(elementwise.where(keys[0], found, lazy.wrap(a.node())).node())
            return
    places = _places(a, keys)
    node = _fitting(found, places.shape).node()
    nodes = (a.node(), basic.as_node_of(places), node)
    here = basic._put_flat_here if a.ndim else None
    facts: Any = {"static": (len(a.shape),), "is_costly": True, "is_fresh": a.ndim > 0, "here": here}
    a.write(made("scatter", basic._put_flat, nodes, a.shape, a.dtype, **facts))


def _fitting(value: Any, shape: tuple[int, ...]) -> Any:
    # A value without leading axes of extent 1 that the part does not have.
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = basic.get(value, 0)
    if value.shape != shape and value.shape:
        try:
            fits = np.broadcast_shapes(value.shape, shape) == shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"could not broadcast input array from shape {value.shape} into shape {shape}")
    return value


def scatter(a: Any, key: Any, value: Any, name: str) -> None:
    """Combines elements at places, which may be there several times, with values by a function of elements."""
    there = np.array(layout.host(a))
    key = _checked(key)
    keys = key if isinstance(key, tuple) else (key,)
    with np.errstate(all="ignore"):
        if _is_advanced(keys):
            places = _places(a, keys)
            flat = np.ascontiguousarray(there).reshape(-1)
            getattr(np, name).at(flat, places, layout.host(_fitting(_value(a, value), places.shape)))
            there = flat.reshape(there.shape)
        else:
            part = there[key]
            there[key] = getattr(np, name)(part, layout.host(_value(a, value)))
    a.write(layout.placed(there).node())


class flatiter:
    """The elements of an array one after the other in row-major order."""

    def __init__(self, a: Any) -> None:
        self.base, self._place = a, 0

    def __len__(self) -> int:
        return int(self.base.size)

    def __iter__(self) -> flatiter:
        return self

    def __next__(self) -> Any:
        if self._place >= self.base.size:
            raise StopIteration
        self._place += 1
        return self[self._place - 1]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (int, np.integer)):
            n = self.base.size
            if not -n <= key < n:
                raise IndexError(f"index {key} is out of bounds for size {n}")
        found = self.base.ravel()[_flat_key(key)]
        return found.copy() if found.ndim else found

    def __setitem__(self, key: Any, value: Any) -> None:
        flat = self.base.ravel().copy()
        key = _flat_key(key)
        part = flat[key]
        if isinstance(value, lazy.ndarray) and value.ndim and part.size:
            times = -(-part.size // value.size)
            value = layout.NAMESPACE[0].tile(value.ravel(), times)[: part.size].reshape(part.shape)
        flat[key] = value
        self.base[...] = flat.reshape(self.base.shape)

    def copy(self) -> Any:
        """The elements as an array."""
        return self.base.flatten()


def _flat_key(key: Any) -> Any:
    if isinstance(key, bool) or not isinstance(key, (int, np.integer, slice, type(Ellipsis))):
        raise IndexError("unsupported iterator index")
    return key


__all__ = ["flatiter", "get", "put", "scatter"]

near_keywords(globals())
