"""Distinct parts of arrays along an axis."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of
from lancehead.lib.numpy.layout import check_axis, contiguous, copy_c, count, new_array, new_zeros, with_shape
from lancehead.lib.numpy.manip import moveaxis
from lancehead.lib.numpy.sorting import argsort_line


def unique_rows(x, axis):
    """The distinct parts along an axis, in order of their elements, first indices, places of all parts, and counts."""
    k = check_axis(axis_of(axis), x.ndim)
    moved = contiguous(moveaxis(x, k, 0))
    n = x.shape[k]
    table = with_shape(moved, (n, count(moved.shape[1:])))
    order = _order_of_rows(table)
    index, counts = new_array((n,), np.int64), new_zeros((n,), np.int64)
    inverse = new_array((n,), np.int64)
    kept = 0
    for i in range(n):
        at = prim.item(order, i)
        if i == 0 or not _are_equal(table, at, prim.item(order, i - 1)):
            prim.set_item(index, kept, at)
            kept += 1
        prim.set_item(counts, kept - 1, prim.item(counts, kept - 1) + 1)
        prim.set_item(inverse, at, prim.cast(kept - 1, np.int64))
    rows = new_array((kept,) + moved.shape[1:], prim.dtype_of(x))
    for i in range(kept):
        rows[i] = moved[prim.item(index, i)]
    return moveaxis(rows, 0, k), copy_c(index[:kept], np.int64), inverse, copy_c(counts[:kept], np.int64)


def _order_of_rows(table):
    # The last column first: the sort is stable.
    n = table.shape[0]
    order, line = new_array((n,), np.int64), new_array((n,), prim.dtype_of(table))
    for i in range(n):
        prim.set_item(order, i, prim.cast(i, np.int64))
    for j in range(table.shape[1] - 1, -1, -1):
        for i in range(n):
            prim.set_item(line, i, prim.item(table, prim.item(order, i), j))
        found = argsort_line(line)
        for i in range(n):
            prim.set_item(found, i, prim.item(order, prim.item(found, i)))
        order = found
    return order


def _are_equal(table, a, b):
    for j in range(table.shape[1]):
        if prim.item(table, a, j) != prim.item(table, b, j):
            return False
    return True
