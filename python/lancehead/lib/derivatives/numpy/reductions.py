"""Derivatives of sums, products, extremes and variances."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import along, fitted
from lancehead.lib.derivatives.numpy.axes import conj, no_out, of_table, spread, spread_kept, summed_to
from lancehead.lib.numpy.axes import table_of
from lancehead.lib.numpy.layout import copy_c, new_array, with_shape
from lancehead.lib.numpy.masks import masked
from lancehead.lib.numpy.reductions import _extreme_of_all, _mean, _variance, prod


def sum_forward(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The sum; nothing else is needed."""
    no_out(out)
    if prim.is_number(where):
        if not where:
            prim.error("a sum of no elements has no derivative")
    return np.sum(a, axis, dtype, out, keepdims, initial, where), None


def sum_backward(saved, adjoint, wanted, shadows):
    """Each element has the adjoint of its sum."""
    a, axis, where = np.asarray(shadows[0]), shadows[1], shadows[6]
    given = spread(adjoint, a, axis)
    own = np.where(where, given, prim.cast(0, prim.dtype_of(given))) if prim.is_array(where) else given
    if shadows[5] is None:
        return (own,)
    return (own, None, None, None, None, np.sum(adjoint))


def sum_tangent(wanted, tangents, a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The sum of the tangents."""
    no_out(out)
    value = np.sum(a, axis, dtype, None, keepdims, initial, where)
    t = along(wanted & 1, tangents[0])
    if initial is None:
        return value, np.sum(t, axis, dtype, None, keepdims, None, where)
    return value, np.sum(t, axis, dtype, None, keepdims, along(wanted & 32, tangents[5]), where)


def prod_forward(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The product, the elements that it is made of, and the first factor with the product of the others."""
    no_out(out)
    if prim.is_number(where):
        if not where:
            prim.error("a product of no elements has no derivative")
    x = np.asarray(a)
    one = prim.cast(1, prim.dtype_of(x))
    factors = masked(x, where, one) if prim.is_array(where) else copy_c(x, prim.dtype_of(x))
    found = prod(a, axis, dtype, out, keepdims, initial, where)
    if initial is None:
        return found, (factors, None, None)
    return found, (factors, initial, prod(factors, axis, dtype, None, keepdims))


def prod_backward(saved, adjoint, wanted, shadows):
    """The product of the other elements, which also holds where elements are zero."""
    factors, initial, others = saved
    axis, where = shadows[1], shadows[6]
    table, _ = table_of(factors, axis)
    scaled = adjoint if initial is None else adjoint * conj(initial)
    given = with_shape(np.ascontiguousarray(scaled), (table.shape[0],))
    own = new_array(table.shape, prim.dtype_of(given))
    for i in range(table.shape[0]):
        _others(table[i], own[i], given[i])
    placed = of_table(own, factors, axis)
    kept = np.where(where, placed, prim.cast(0, prim.dtype_of(placed))) if prim.is_array(where) else placed
    if initial is None:
        return (kept,)
    return (kept, None, None, None, None, np.sum(adjoint * conj(others)))


def _others(x, own, g):
    # Products of what precedes an element, and then of what follows it.
    before = prim.cast(1, prim.dtype_of(x))
    for k in range(x.size):
        own[k] = prim.cast(before, prim.dtype_of(own))
        before = before * x[k]
    after = prim.cast(1, prim.dtype_of(x))
    for k in range(x.size - 1, -1, -1):
        own[k] = g * conj(own[k] * prim.cast(after, prim.dtype_of(own)))
        after = after * x[k]


def _extreme_of_all_forward(x, axis, keepdims, step, message, initial):
    """The extreme, and which elements are equal to it."""
    found = _extreme_of_all(x, axis, keepdims, step, message, initial)
    return found, are_extreme(x, found, axis)


def are_extreme(x, found, axis):
    """A mask of the elements that are equal to the extreme."""
    return prim.map(_is_same, x, spread(found, x, axis))


def _is_same(x, y):
    return x == y or (x != x and y != y)


def _extreme_of_all_backward(saved, adjoint, wanted, shadows):
    """Equal extremes have the same part of the adjoint. That of `initial` counts as one of them."""
    axis, initial = shadows[1], shadows[5]
    n, own = to_extremes(saved, axis, adjoint)
    if initial is None:
        return (own,)
    rest = np.where(n == 0, spread_kept(adjoint, saved, axis), prim.cast(0, prim.dtype_of(own)))
    return (own, None, None, None, None, np.sum(rest))


def to_extremes(is_extreme, axis, adjoint):
    """The numbers of equal extremes, and the parts of the adjoint that they have."""
    n = _counted(is_extreme, axis)
    shares = spread_kept(adjoint, is_extreme, axis) / np.maximum(n, 1)
    return n, np.where(is_extreme, shares, prim.cast(0, prim.dtype_of(shares)))


def _counted(is_extreme, axis):
    return np.sum(is_extreme, axis, np.int64, None, True)


def _variance_forward(x, axis, keepdims, dt, real, lost, mean):
    """The variance, and the distances from the mean."""
    middle = _mean(x, axis, dt, None, True) if mean is None else np.asarray(mean)
    distances = x - middle
    found = _variance(x, axis, keepdims, dt, real, lost, mean)
    return found, (distances, lost, np.copy(found) if prim.is_array(found) else found)


def _variance_backward(saved, adjoint, wanted, shadows):
    """Twice the distance over the number of degrees of freedom; that number and a given mean have derivatives, too."""
    distances, lost, found = saved
    axis, mean = shadows[1], shadows[6]
    n = _extent(distances, axis, prim.dtype_of(lost)) - lost
    own = distances * (spread_kept(adjoint, distances, axis) * (prim.cast(2, prim.dtype_of(n)) / n))
    of_lost = np.sum(adjoint * found) / n
    return own, None, None, None, None, of_lost, None if mean is None else _of_mean(own, mean)


def _extent(x, axis, dtype):
    # The number of elements that become one.
    table, _ = table_of(x, axis)
    return prim.cast(table.shape[1], dtype)


def _of_mean(own, mean):
    if prim.is_array(mean):
        return -summed_to(own, mean.shape)
    return -np.sum(own)


def cumsum_forward(a, axis=None, dtype=None, out=None):
    """The running sums; nothing else is needed."""
    no_out(out)
    return np.cumsum(a, axis, dtype, out), None


def cumsum_backward(saved, adjoint, wanted, shadows):
    """Running sums from the end."""
    a, axis = np.asarray(shadows[0]), shadows[1]
    if axis is None:
        return (np.cumsum(adjoint[::-1])[::-1].reshape(a.shape),)
    return (np.flip(np.cumsum(np.flip(adjoint, axis), axis), axis),)


def cumsum_tangent(wanted, tangents, a, axis=None, dtype=None, out=None):
    """The running sums of the tangents."""
    no_out(out)
    found = np.cumsum(a, axis, dtype)
    return found, fitted(np.cumsum(along(wanted & 1, tangents[0]), axis, dtype), found)


def _extreme_of_all_tangent(wanted, tangents, x, axis, keepdims, step, message, initial):
    """The mean of the tangents of equal extremes. That of `initial` counts as one of them."""
    found, same = _extreme_of_all_forward(x, axis, keepdims, step, message, initial)
    n, own = along_extremes(same, axis, keepdims, along(wanted & 1, tangents[0]))
    if initial is None:
        return found, fitted(own, found)
    return found, fitted(own + np.where(n == 0, along(wanted & 32, tangents[5]), 0), found)


def along_extremes(same, axis, keepdims, t):
    """The numbers of equal extremes, and the means of their tangents."""
    n = np.sum(same, axis, np.int64, None, keepdims)
    total = np.sum(np.where(same, t, prim.cast(0, prim.dtype_of(t))), axis, None, None, keepdims)
    return n, total / np.maximum(n, 1)


def _variance_tangent(wanted, tangents, x, axis, keepdims, dt, real, lost, mean):
    """Twice the mean of the products of distances and tangents, which a given mean and degrees of freedom have, too."""
    found, (distances, _, _) = _variance_forward(x, axis, keepdims, dt, real, lost, mean)
    n = _extent(distances, axis, real) - lost
    t = along(wanted & 1, tangents[0])
    # Distances from the mean have the sum zero: that of the tangent of the mean.
    change = t if mean is None else t - np.asarray(along(wanted & 64, tangents[6]))
    own = np.sum((np.conj(distances) * change).real, axis, real, None, keepdims) * (prim.cast(2, real) / n)
    return found, fitted(own + found * (along(wanted & 32, tangents[5]) / n), found)
