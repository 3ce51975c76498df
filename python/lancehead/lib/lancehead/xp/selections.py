"""Selections, orders and counts of elements, as `lancehead.xp.selections` describes them."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of
from lancehead.lib.numpy.layout import check_axis, contiguous, count, flat, with_shape
from lancehead.lib.numpy.manip import moveaxis
from lancehead.lib.primitives.merging import combined, merged
from lancehead.lib.primitives.results import (
    HistogramResult,
    PartitionResult,
    RunLengthResult,
    SortByKeyResult,
    TopKResult,
)
from lancehead.lib.primitives.selecting import (
    chosen,
    chosen_elements,
    float_before,
    pair_before,
    parted,
    parted_elements,
    plain_before,
    runs,
    smallest,
    smallest_of_rows,
    top_rows,
)


def _before(x):
    # The order of an array's type.
    if prim.is_complex(prim.dtype_of(x)):
        return pair_before
    if prim.is_float(prim.dtype_of(x)):
        return float_before
    return plain_before


def _numbers(x):
    # An array whose elements have an order by numbers: truth values have none.
    a = np.asarray(x)
    if not prim.is_number(prim.cast(0, prim.dtype_of(a))):
        prim.error("selections are of numbers and truth values")
    return a


def _ordered(a):
    # Truth values as numbers, which have an order.
    return a.view(np.uint8) if prim.is_bool(prim.dtype_of(a)) else a


def _line(a):
    return flat(contiguous(a))


def _check_mask(a, mask):
    if not prim.is_bool(prim.dtype_of(mask)):
        prim.error("a mask is of truth values")
    if mask.ndim > a.ndim or mask.ndim == 0:
        prim.error("a mask has the shape of an array's first axes")
    if mask.shape != a.shape[: mask.ndim]:
        raise ValueError("a mask does not fit the shape of the array")


def _mask_line(mask):
    return _line(mask)


def compact(x, mask):
    """`x[mask]`: the elements, or rows, where a mask of the shape of the first axes is true, in their order."""
    a, chosen_by = np.asarray(x), np.asarray(mask)
    _check_mask(a, chosen_by)
    if a.ndim == chosen_by.ndim:
        return chosen_elements(_line(a), _line(chosen_by))
    rest = a.shape[chosen_by.ndim :]
    out = chosen(with_shape(contiguous(a), (chosen_by.size, count(rest))), _line(chosen_by))
    return with_shape(out, (out.shape[0],) + rest)


def partition(x, mask):
    """The elements, or rows, where a mask is true, then the others, in their order, and the number of the first."""
    a, chosen_by = np.asarray(x), np.asarray(mask)
    _check_mask(a, chosen_by)
    if a.ndim == chosen_by.ndim:
        values, number = parted_elements(_line(a), _line(chosen_by))
        return PartitionResult(values, number)
    rest = a.shape[chosen_by.ndim :]
    rows, number = parted(with_shape(contiguous(a), (chosen_by.size, count(rest))), _line(chosen_by))
    return PartitionResult(with_shape(rows, (chosen_by.size,) + rest), number)


def sort_by_key(keys, values, *, axis=None):
    """Keys sorted, equal ones in their order, and the elements or rows of `values` in the same order."""
    by, x = _numbers(keys), np.asarray(values)
    if prim.is_none(axis):
        if by.ndim != 1 or x.ndim == 0:
            prim.error("without an axis, keys are a line, and values have an axis")
        if by.shape[0] != x.shape[0]:
            raise ValueError(str(by.shape[0]) + " keys do not fit " + str(x.shape[0]) + " values")
        order = np.argsort(by, kind="stable")
        return SortByKeyResult(np.take(by, order), np.take(x, order, axis=0))
    if by.ndim != x.ndim:
        prim.error("with an axis, keys and values have one shape")
    if by.shape != x.shape:
        raise ValueError("with an axis, keys and values have one shape")
    order = np.argsort(by, axis=axis, kind="stable")
    return SortByKeyResult(np.take_along_axis(by, order, axis), np.take_along_axis(x, order, axis))


def _rows(a, k):
    # The lines along an axis as rows of a matrix.
    moved = contiguous(moveaxis(a, k, -1))
    return with_shape(moved, (count(moved.shape[:-1]), moved.shape[-1]))


def top_k(x, k, axis=-1):
    """The k greatest elements along an axis, in descending order, and their places; of equal ones those first."""
    a = _numbers(x)
    if a.ndim == 0:
        raise np.exceptions.AxisError(axis, 0)
    at = check_axis(axis_of(axis), a.ndim)
    n = a.shape[at]
    if k < 0 or k > n:
        raise ValueError("there are no " + str(k) + " greatest of " + str(n) + " elements")
    rows = _ordered(_rows(a, at))
    values, places = top_rows(_before(rows), rows, int(k))
    shape = prim.tuple_drop(a.shape, at) + (int(k),)
    if prim.is_bool(prim.dtype_of(a)):
        return TopKResult(_back(values.view(np.bool_), shape, at), _back(places, shape, at))
    return TopKResult(_back(values, shape, at), _back(places, shape, at))


def _back(out, shape, at):
    shaped = with_shape(out, shape)
    return shaped if len(shape) == 1 else contiguous(moveaxis(shaped, -1, at))


def k_select(x, k, *, axis=None):
    """The k-th smallest of all elements, or of each line along an axis; the least is the first."""
    a = _numbers(x)
    if prim.is_none(axis):
        _check_rank(k, a.size)
        line = _ordered(_line(a))
        return prim.cast(smallest(_before(line), line, int(k) - 1), prim.dtype_of(a))
    at = check_axis(axis_of(axis), a.ndim)
    _check_rank(k, a.shape[at])
    rows = _ordered(_rows(a, at))
    out = smallest_of_rows(_before(rows), rows, int(k) - 1)
    shape = prim.tuple_drop(a.shape, at)
    return with_shape(out.view(np.bool_) if prim.is_bool(prim.dtype_of(a)) else out, shape)[()]


def _check_rank(k, n):
    if k < 1 or k > n:
        raise ValueError("there is no " + str(k) + "-th smallest of " + str(n) + " elements")


def unique(x):
    """Different elements, sorted, in one dimension; all NaN are one."""
    line = np.sort(_line(_numbers(x)))
    return runs(_before(line), line)[0]


def run_length(x):
    """Runs of equal elements in row-major order: for each its element and its length; all NaN are equal."""
    line = _line(_numbers(x))
    values, lengths = runs(_before(line), line)
    return RunLengthResult(values, lengths)


def histogram(x, bins=10, range=None, *, weights=None, density=False):
    """How many elements are in each of so many bins of a range, or between edges, and the edges."""
    line = _ordered(_line(_numbers(x)))
    if prim.is_complex(prim.dtype_of(line)):
        prim.error("histogram does not take complex numbers, which have no bins")
    counts, edges = np.histogram(line, bins, range, density, weights)
    return HistogramResult(counts, edges)


def bincount(x, weights=None, minlength=0):
    """How often each of the integers 0, 1, 2 and so on is in a line, as `numpy.bincount`."""
    return np.bincount(x, weights, minlength)


def _pair(a, b):
    # Two arrays of one type, as lines.
    one, other = _numbers(a), _numbers(b)
    dtype = prim.result_type(prim.dtype_of(one), prim.dtype_of(other))
    return _line(one.astype(dtype)), _line(other.astype(dtype))


def merge(a, b):
    """Two sorted lines as one sorted line; of equal elements those of `a` are first. The type is their common one."""
    one, other = _numbers(a), _numbers(b)
    if one.ndim != 1 or other.ndim != 1:
        prim.error("lines are merged, not arrays of other shapes")
    left, right = _pair(one, other)
    return merged(_before(left), left, right)


def _set_operation(a, b, is_sorted, keep):
    one, other = _pair(a, b)
    if not is_sorted:
        one, other = np.sort(one), np.sort(other)
    return combined(_before(one), one, other, keep)


def union(a, b, *, is_sorted=False):
    """Different elements of either array, sorted, in one dimension and the common type; all NaN are one."""
    return _set_operation(a, b, is_sorted, (True, True, True))


def intersection(a, b, *, is_sorted=False):
    """Different elements of both arrays, as `union` gives its results."""
    return _set_operation(a, b, is_sorted, (False, True, False))


def difference(a, b, *, is_sorted=False):
    """Different elements of `a` that are not in `b`, as `union` gives its results."""
    return _set_operation(a, b, is_sorted, (True, False, False))


def symmetric_difference(a, b, *, is_sorted=False):
    """Different elements of one of the arrays only, as `union` gives its results."""
    return _set_operation(a, b, is_sorted, (True, False, True))
