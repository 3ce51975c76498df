"""Sorting and searching as Numba has them."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.checks import need_array_like, need_integers
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import copy_c, flat, new_array, with_shape
from lancehead.lib.numpy.sorting import before


def _check_partition(a, kth):
    need_array_like(a, "The first argument must be an array-like")
    if prim.is_number(a):
        prim.error("The first argument must be an array-like")
    if asarray(a).ndim == 0:
        prim.error("The first argument must be at least 1-D (found 0-D)")
    if not prim.is_tuple(kth) or len(kth) > 0:
        need_integers(kth, "Partition index must be integer")
    if prim.is_array(kth) and asarray(kth).ndim != 1:
        raise ValueError("kth must be scalar or 1-D")
    n = asarray(a).shape[-1]
    for k in np.ravel(asarray(kth)):
        if k <= -n or k >= n:
            raise ValueError("kth out of bounds")


def partition(a, kth, axis=-1, kind="introselect", order=None):
    """A copy with the element of a rank in its place."""
    if asarray(a).size == 0:
        return copy_c(asarray(a), prim.dtype_of(asarray(a)))
    _check_partition(a, kth)
    return np.partition(a, kth, axis, kind, order)


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """Indices of a partition."""
    if asarray(a).size == 0:
        return copy_c(asarray(a), np.int64)
    _check_partition(a, kth)
    return np.argpartition(a, kth, axis, kind, order)


def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    """A sorted copy."""
    need_array_like(a, 'Argument "a" must be array-like')
    if prim.is_number(a) or asarray(a).ndim == 0:
        prim.error("an array of at least one dimension is sorted")
    return np.sort(a, axis, kind, order, stable=stable)


def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    """Indices that sort."""
    if asarray(a).ndim == 0:
        prim.error("an array of at least one dimension is sorted")
    return np.argsort(a, axis, kind, order, stable=stable)


def _not_after(a, b):
    return not before(b, a)


def _place(v, x, low, high, goes_before):
    while low < high:
        middle = low + ((high - low) >> 1)
        if goes_before(prim.item(v, middle), x):
            low = middle + 1
        else:
            high = middle
    return low, high


def _places(v, keys, goes_before):
    # Each search begins where the last one ended, as those of NumPy do: this tells where arrays are not sorted.
    out = new_array((keys.size,), np.int64)
    low, high = 0, v.size
    for i in range(keys.size):
        x = prim.item(keys, i)
        if i > 0 and goes_before(prim.item(keys, i - 1), x):
            high = v.size
        else:
            low = 0
            high = high + 1 if high < v.size else v.size
        low, high = _place(v, x, low, high, goes_before)
        prim.set_item(out, i, low)
    return out


def searchsorted(a, v, side="left", sorter=None):
    """Where elements go in a sorted line."""
    if not prim.is_str(side):
        prim.error("Invalid value given for 'side'")
    if prim.is_const(side):
        if side != "left" and side != "right":
            prim.error("Invalid value given for 'side'")
    elif side != "left":
        return np.searchsorted(a, v, "right") if side == "right" else np.searchsorted(a, v, side, sorter)
    if sorter is not None:
        return np.searchsorted(a, v, side, sorter)
    line = asarray(a)
    if line.ndim != 1:
        prim.error("a sorted line has one dimension")
    dtype = prim.result_type(prim.dtype_of(line), prim.dtype_of(v if prim.is_scalar(v) else asarray(v)))
    goes_before = before if side == "left" else _not_after
    if prim.is_scalar(v):
        low, _ = _place(asarray(line, dtype), prim.cast(v, dtype), 0, line.size, goes_before)
        return low
    keys = asarray(v)
    found = _places(asarray(line, dtype), flat(copy_c(keys, dtype)), goes_before)
    return with_shape(found, keys.shape)


def trim_zeros(filt, trim="fb"):
    """A line without zeros at its ends."""
    if not prim.is_array(filt):
        prim.error("The first argument must be an array")
    if filt.ndim != 1:
        prim.error("array must be 1D")
    if not prim.is_str(trim):
        prim.error("The second argument must be a string")
    return np.trim_zeros(filt, trim)
