"""Derivatives of sorting and selection: adjoints go back to the places that elements came from."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import along, fitted, is_inexact, writable
from lancehead.lib.numpy.layout import check_axis, copy_c, flat, new_zeros
from lancehead.lib.numpy.sorting import (
    _median_line,
    argpartition,
    argsort,
    argsort_line,
    partition,
    put_any_rank,
    put_rank,
    searchsorted,
    sort,
    sort_any,
)


def sort_forward(a, axis=-1, kind=None, order=None, *, stable=None):
    """The sorted copy, and the permutation."""
    x = np.asarray(a)
    return sort(a, axis, kind, order, stable=stable), argsort(x, axis)


def sort_backward(saved, adjoint, wanted, shadows):
    """The adjoints in the order from before."""
    return (_back(saved, adjoint, shadows[0], shadows[1]),)


def _back(order, adjoint, a, axis):
    out = new_zeros(a.shape, prim.dtype_of(adjoint))
    if axis is None or a.ndim == 1:
        line = flat(out)
        for i in range(order.size):
            line[order[i]] = adjoint[i]
    else:
        np.put_along_axis(out, order, adjoint, axis)
    return out


def sort_line_text(v):
    """Sorts a line in place."""
    if is_inexact(v):
        v[...] = sort(v)
    else:
        sort_any(v)


def put_rank_text(v, k):
    """Partitions a line in place."""
    if is_inexact(v):
        v[...] = partition(v, k)
    else:
        put_any_rank(v, k)


def partition_forward(a, kth, axis=-1, kind="introselect", order=None):
    """A partition, and the permutation."""
    x = np.asarray(a)
    if axis is None:
        places = argpartition(x, kth, None, kind, order)
        return flat(x)[places], places
    if x.ndim > 1 and prim.layout(x) == "F":
        turned = x.ndim - 1 - check_axis(axis, x.ndim)
        places = argpartition(x.T, kth, turned, kind, order)
        return np.take_along_axis(x.T, places, turned).T, places.T
    places = argpartition(x, kth, axis, kind, order)
    return np.take_along_axis(x, places, axis), places


def partition_backward(saved, adjoint, wanted, shadows):
    """The adjoints in the order from before."""
    return (_back(saved, adjoint, shadows[0], shadows[2]),)


def argsort_forward(a, axis=-1, kind=None, order=None, *, stable=None):
    """The permutation, which has no derivative."""
    return argsort(a, axis, kind, order, stable=stable), None


def argsort_backward(saved, adjoint, wanted, shadows):
    """Nothing: indices are constant."""
    return ()


def argsort_line_forward(v):
    """The permutation, which has no derivative."""
    return argsort_line(v), None


def argsort_line_backward(saved, adjoint, wanted, shadows):
    """Nothing: indices are constant."""
    return ()


def argpartition_forward(a, kth, axis=-1, kind="introselect", order=None):
    """The permutation, which has no derivative."""
    return argpartition(a, kth, axis, kind, order), None


def argpartition_backward(saved, adjoint, wanted, shadows):
    """Nothing: indices are constant."""
    return ()


def searchsorted_forward(a, v, side="left", sorter=None):
    """Places, which have no derivative."""
    return searchsorted(a, v, side, sorter), None


def searchsorted_backward(saved, adjoint, wanted, shadows):
    """Nothing: places are constant."""
    return ()


def _median_line_forward(v, extra):
    """The median, and the places of the element or the two that it is made of."""
    found, n = _median_line(v, extra), v.size
    if n == 0 or found != found:
        return found, _places(v, prim.cast(np.nan, np.float64), prim.cast(np.nan, np.float64), True)
    line = copy_c(v, prim.dtype_of(v))
    k = n // 2
    put_rank(line, k)
    high = line[k]
    if n % 2 == 1:
        return found, _places(v, high, high, True)
    low = line[0]
    for i in range(1, k):
        low = line[i] if line[i] > low else low
    return found, _places(v, low, high, False)


def _places(v, low, high, is_one):
    # The first element that is the one number (or NaN), and the first other one that is the other; -1 for none.
    p, q = -1, -1
    for i in range(v.size):
        x = v[i]
        if p < 0 and (x == low or (low != low and x != x)):
            p = i
        elif q < 0 and x == high:
            q = i
    return p, p if is_one or q < 0 else q


def places_between(v, k):
    """The places of the elements of rank `k` and of the one after it, or of the last one again; of NaN if there is
    one."""
    line = copy_c(v, prim.dtype_of(v))
    put_rank(line, k)
    low = line[k]
    high = line[k + 1 if k + 1 < v.size else k]
    for i in range(k, v.size):
        if line[i] != line[i]:
            return _places(v, line[i], line[i], True)
        if i > k and line[i] < high:
            high = line[i]
    return _places(v, low, high, k + 1 >= v.size)


def _median_line_backward(saved, adjoint, wanted, shadows):
    """Half of the adjoint goes to each of the two elements, which may be one."""
    return to_two(saved, adjoint, wanted, shadows)


def to_two(places, adjoint, wanted, shadows):
    """Gives halves of the adjoint of a mean of two elements to these; to none if there are none."""
    v = writable(shadows[0])
    if wanted & 1 != 0 and places[0] >= 0:
        half = prim.cast(adjoint, prim.dtype_of(v)) / prim.cast(2, prim.dtype_of(v))
        v[places[0]] += half
        v[places[1]] += half
    return (None,)


def sort_tangent(wanted, tangents, a, axis=-1, kind=None, order=None, *, stable=None):
    """The tangents in the order of the elements."""
    found = sort(a, axis, kind, order, stable=stable)
    return found, _moved(along(wanted & 1, tangents[0]), argsort(np.asarray(a), axis), axis, found)


def _moved(t, places, axis, found):
    x = np.asarray(t)
    if axis is None or x.ndim == 1:
        return fitted(flat(x)[places], found)
    return fitted(np.take_along_axis(x, places, axis), found)


def partition_tangent(wanted, tangents, a, kth, axis=-1, kind="introselect", order=None):
    """The tangents in the order of the elements."""
    found, places = partition_forward(a, kth, axis, kind, order)
    return found, _moved(along(wanted & 1, tangents[0]), places, axis, found)


def argsort_tangent(wanted, tangents, a, axis=-1, kind=None, order=None, *, stable=None):
    """The permutation, which has no tangent."""
    found = argsort(a, axis, kind, order, stable=stable)
    return found, found


def argsort_line_tangent(wanted, tangents, v):
    """The permutation, which has no tangent."""
    found = argsort_line(v)
    return found, found


def argpartition_tangent(wanted, tangents, a, kth, axis=-1, kind="introselect", order=None):
    """The permutation, which has no tangent."""
    found = argpartition(a, kth, axis, kind, order)
    return found, found


def searchsorted_tangent(wanted, tangents, a, v, side="left", sorter=None):
    """Places, which have no tangent."""
    found = searchsorted(a, v, side, sorter)
    return found, found


def _median_line_tangent(wanted, tangents, v, extra):
    """Half of the tangents of the two elements, which may be one."""
    found, places = _median_line_forward(v, extra)
    return found, half_of_two(along(wanted & 1, tangents[0]), places, found)


def half_of_two(t, places, found):
    """The mean of two elements of a tangent; zero if there are none."""
    if places[0] < 0:
        return prim.cast(0, prim.dtype_of(found))
    return prim.cast((t[places[0]] + t[places[1]]) / prim.cast(2, prim.dtype_of(t)), prim.dtype_of(found))
