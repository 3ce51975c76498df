"""Derivatives of extremes, sums and medians without NaN."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import along, fitted
from lancehead.lib.derivatives.numpy.axes import spread
from lancehead.lib.derivatives.numpy.reductions import along_extremes, are_extreme, to_extremes
from lancehead.lib.derivatives.numpy.sorting import half_of_two, to_two
from lancehead.lib.numpy.layout import copy_c
from lancehead.lib.numpy.nans import _extreme, _median_line, squares_of_numbers, sum_of_numbers
from lancehead.lib.numpy.sorting import argsort_line


def _extreme_forward(x, axis, keepdims, greatest):
    """The extreme, and which elements are equal to it."""
    found = _extreme(x, axis, keepdims, greatest)
    return found, are_extreme(x, found, axis)


def _extreme_backward(saved, adjoint, wanted, shadows):
    """Equal extremes have the same part of the adjoint."""
    return (to_extremes(saved, shadows[1], adjoint)[1],)


def _extreme_tangent(wanted, tangents, x, axis, keepdims, greatest):
    """The mean of the tangents of equal extremes."""
    found, same = _extreme_forward(x, axis, keepdims, greatest)
    return found, fitted(along_extremes(same, axis, keepdims, along(wanted & 1, tangents[0]))[1], found)


def sum_of_numbers_forward(x, axis, keepdims, dtype):
    """The sum, and which elements are not NaN."""
    return sum_of_numbers(x, axis, keepdims, dtype), x == x


def sum_of_numbers_backward(saved, adjoint, wanted, shadows):
    """Each element that is not NaN has the adjoint of its sum."""
    return (np.where(saved, spread(adjoint, saved, shadows[1]), prim.cast(0, prim.dtype_of(adjoint))),)


def squares_of_numbers_forward(x, keepdims, dtype, center):
    """The sum, the elements, and the number."""
    return squares_of_numbers(x, keepdims, dtype, center), (copy_c(x, prim.dtype_of(x)), center)


def squares_of_numbers_backward(saved, adjoint, wanted, shadows):
    """Twice the distance; the opposite of their sum with respect to the number."""
    x, center = saved
    own = np.where(x == x, x - center, prim.cast(0, prim.dtype_of(center))) * (adjoint + adjoint)
    return own, None, None, -np.sum(own)


def _median_line_forward(v, extra):
    """The median, and the places of the element or the two that it is made of, which are -1 if there are none."""
    # A NaN is greater than all numbers.
    order = argsort_line(v)
    n = 0
    for i in range(v.size):
        n += 1 if v[i] == v[i] else 0
    places = (order[(n - 1) // 2], order[n // 2]) if n > 0 else (-1, -1)
    return _median_line(v, extra), places


def _median_line_backward(saved, adjoint, wanted, shadows):
    """Half of the adjoint goes to each of the two elements, which may be one."""
    return to_two(saved, adjoint, wanted, shadows)


def sum_of_numbers_tangent(wanted, tangents, x, axis, keepdims, dtype):
    """The sum of the tangents of elements that are not NaN."""
    own = np.where(x == x, along(wanted & 1, tangents[0]), prim.cast(0, prim.dtype_of(x)))
    return sum_of_numbers(x, axis, keepdims, dtype), sum_of_numbers(own, axis, keepdims, dtype)


def _median_line_tangent(wanted, tangents, v, extra):
    """Half of the tangents of the two elements, which may be one."""
    found, places = _median_line_forward(v, extra)
    return found, half_of_two(along(wanted & 1, tangents[0]), places, found)


def squares_of_numbers_tangent(wanted, tangents, x, keepdims, dtype, center):
    """Twice the products of the distances and their tangents."""
    found = squares_of_numbers(x, keepdims, dtype, center)
    distances = np.where(x == x, x - center, prim.cast(0, prim.dtype_of(center)))
    zero = prim.cast(0, prim.dtype_of(center))
    change = np.where(x == x, along(wanted & 1, tangents[0]) - along(wanted & 8, tangents[3]), zero)
    own = np.sum((np.conj(distances) * change).real)
    return found, fitted(own + own if prim.is_number(found) else np.broadcast_to(own + own, found.shape), found)
