"""Sorting and searching as Numba has them."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.checks import check, need, need_array_like, need_integers
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import copy_c, flat, new_array, with_shape
from lancehead.lib.numpy.sorting import before


def _check_partition(a, kth):
    need_array_like(a, "The first argument must be an array-like")
    need(not prim.is_number(a), "The first argument must be an array-like")
    need(asarray(a).ndim > 0, "The first argument must be at least 1-D (found 0-D)")
    need_integers(kth, "Partition index must be integer")
    if prim.is_array(kth) and asarray(kth).ndim != 1:
        raise ValueError("kth must be scalar or 1-D")
    n = asarray(a).shape[-1]
    for k in np.ravel(asarray(kth)):
        check(-n < k < n, "kth out of bounds")


def partition(a, kth, axis=-1, kind="introselect", order=None):
    if asarray(a).size == 0:
        return copy_c(asarray(a), prim.dtype_of(asarray(a)))
    _check_partition(a, kth)
    return np.partition(a, kth, axis, kind, order)


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    if asarray(a).size == 0:
        return copy_c(asarray(a), np.int64)
    _check_partition(a, kth)
    return np.argpartition(a, kth, axis, kind, order)


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
    need(prim.is_str(side), "Invalid value given for 'side'")
    if prim.is_const(side):
        need(side == "left" or side == "right", "Invalid value given for 'side'")
    if sorter is not None or not prim.is_const(side):
        return np.searchsorted(a, v, side, sorter)
    line = asarray(a)
    need(line.ndim == 1, "a sorted line has one dimension")
    dtype = prim.result_type(prim.dtype_of(line), prim.dtype_of(v if prim.is_scalar(v) else asarray(v)))
    goes_before = before if side == "left" else _not_after
    if prim.is_scalar(v):
        low, _ = _place(asarray(line, dtype), prim.cast(v, dtype), 0, line.size, goes_before)
        return low
    keys = asarray(v)
    found = _places(asarray(line, dtype), flat(copy_c(keys, dtype)), goes_before)
    return with_shape(found, keys.shape)


def trim_zeros(filt, trim="fb"):
    need(prim.is_array(filt), "The first argument must be an array")
    need(filt.ndim == 1, "array must be 1D")
    need(prim.is_str(trim), "The second argument must be a string")
    return np.trim_zeros(filt, trim)
