"""Sets of values, counts and histograms, comparisons of whole arrays."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import check_flag, flag_of, index_of
from lancehead.lib.numpy.creation import asarray, line_of, operand
from lancehead.lib.numpy.distinct import unique_rows
from lancehead.lib.numpy.joining import concatenate
from lancehead.lib.numpy.layout import contiguous, copy_c, flat, new_array, new_zeros
from lancehead.lib.numpy.sorting import argsort, place_in_line, sort_line


def _differ(a, b, same):
    # Whether two elements that follow each other are two; `same` says whether all NaN are one.
    return a != b and (not same or a == a or b == b)


def _sorted_flat(ar):
    x = asarray(ar)
    line = copy_c(flat(contiguous(x)), prim.dtype_of(x))
    sort_line(line)
    return line


def _distinct(line, same):
    # The distinct elements of a sorted line.
    n = line.size
    kept = 0
    for i in range(n):
        if i == 0 or _differ(prim.item(line, i), prim.item(line, i - 1), same):
            prim.set_item(line, kept, prim.item(line, i))
            kept += 1
    return copy_c(line[:kept], prim.dtype_of(line))


def unique(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True
):
    """The distinct elements, sorted; perhaps first indices, places of all elements, and counts.

    >>> np.unique(np.array([3, 1, 3, 2]))
    array([1, 2, 3])
    >>> np.unique(np.array([3, 1, 3]), return_counts=True)
    (array([1, 3]), array([1, 2]))
    >>> np.unique(np.array([[2, 1], [1, 5], [2, 1]]), axis=0)
    array([[1, 5],
           [2, 1]])
    """
    check_flag(sorted)
    same = True if equal_nan else False
    if axis is not None:
        found = unique_rows(asarray(ar), axis)
    else:
        if not return_index and not return_inverse and not return_counts:
            return _distinct(_sorted_flat(ar), same)
        found = _unique_all(asarray(ar), same)
    values, index, inverse, counts = found
    if return_index:
        if return_inverse:
            return (values, index, inverse, counts) if return_counts else (values, index, inverse)
        return (values, index, counts) if return_counts else (values, index)
    if return_inverse:
        return (values, inverse, counts) if return_counts else (values, inverse)
    return (values, counts) if return_counts else values


def _unique_all(x, same):
    v = flat(contiguous(x))
    order = argsort(v)
    n = v.size
    values = new_array((n,), prim.dtype_of(x))
    index, counts = new_array((n,), np.int64), new_zeros((n,), np.int64)
    inverse = new_array(x.shape, np.int64)
    places = flat(inverse)
    kept = 0
    for i in range(n):
        at = prim.item(order, i)
        y = prim.item(v, at)
        if i == 0 or _differ(y, prim.item(values, kept - 1), same):
            prim.set_item(values, kept, y)
            prim.set_item(index, kept, at)
            kept += 1
        prim.set_item(counts, kept - 1, prim.item(counts, kept - 1) + 1)
        prim.set_item(places, at, prim.cast(kept - 1, np.int64))
    dtype = prim.dtype_of(x)
    return copy_c(values[:kept], dtype), copy_c(index[:kept], np.int64), inverse, copy_c(counts[:kept], np.int64)


def _found(line, x):
    # Whether a sorted line has an element.
    i = place_in_line(line, x, False)
    return i < line.size and prim.item(line, i) == x


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """Whether each element is among others.

    >>> np.isin(np.array([1, 2, 3]), np.array([2, 4]))
    array([False,  True, False])
    """
    check_flag(invert)
    if kind is not None:
        if kind != "sort" and kind != "table":
            raise ValueError("Invalid kind: '" + kind + "'. Please use None, 'sort' or 'table'.")
    inverted = True if invert else False
    x, others = asarray(element), asarray(test_elements)
    if prim.is_chars(x) and prim.is_chars(others):
        return _texts_in(x, others, inverted)
    dtype = prim.result_type(prim.dtype_of(x), prim.dtype_of(others))
    line = copy_c(flat(contiguous(others)), dtype)
    sort_line(line)
    out = new_array(x.shape, np.bool_)
    v, w = flat(x), flat(out)
    for i in range(v.size):
        prim.set_item(w, i, _found(line, prim.cast(prim.item(v, i), dtype)) != inverted)
    return out


def _texts_in(x, others, inverted):
    line = _sorted_flat(others)
    out = new_array(x.shape, np.bool_)
    v, w = flat(x), flat(out)
    for i in range(v.size):
        prim.set_item(w, i, _found(line, prim.item(v, i)) != inverted)
    return out


in1d = isin


def union1d(ar1, ar2):
    """The elements of either, sorted.

    >>> np.union1d(np.array([1, 3]), np.array([2, 3]))
    array([1, 2, 3])
    """
    return unique(concatenate((_beside(ar1, ar2), _beside(ar2, ar1)), None))


def _beside(x, other):
    # A Python number beside an array has the type that both have.
    if prim.is_number(x) and prim.is_array(other):
        return asarray(prim.cast(x, prim.result_type(x, prim.dtype_of(other))))
    return x


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """The elements of both, sorted.

    >>> np.intersect1d(np.array([1, 3, 2]), np.array([2, 3]))
    array([2, 3])
    """
    check_flag(assume_unique)
    x, y = flat(contiguous(asarray(ar1))), flat(contiguous(asarray(ar2)))
    dtype = prim.result_type(prim.dtype_of(x), prim.dtype_of(y))
    if not return_indices:
        if assume_unique:
            both = _sorted_flat(concatenate((x, y), None))
            return both[:-1][both[1:] == both[:-1]]
        a = unique(asarray(x, dtype))
        return a[isin(a, y)]
    a, first = unique(asarray(x, dtype), return_index=True)
    b, second = unique(asarray(y, dtype), return_index=True)
    return a[isin(a, b)], first[isin(a, b)], second[isin(b, a)]


def setdiff1d(ar1, ar2, assume_unique=False):
    """The elements of the first only, sorted.

    >>> np.setdiff1d(np.array([1, 3, 2]), np.array([2, 3]))
    array([1])
    """
    # Elements that are distinct stay in their order.
    a = flat(contiguous(asarray(ar1))) if assume_unique else unique(ar1)
    return a[isin(a, ar2, invert=True)]


def setxor1d(ar1, ar2, assume_unique=False):
    """The elements of exactly one, sorted.

    >>> np.setxor1d(np.array([1, 3]), np.array([2, 3]))
    array([1, 2])
    """
    check_flag(assume_unique)
    x, y = flat(contiguous(asarray(ar1))), flat(contiguous(asarray(ar2)))
    line = _sorted_flat(concatenate((x, y) if assume_unique else (unique(x), unique(y)), None))
    alone = new_array((line.size,), np.bool_)
    for i in range(line.size):
        is_first = i == 0 or prim.item(line, i) != prim.item(line, i - 1)
        prim.set_item(alone, i, is_first and (i == line.size - 1 or prim.item(line, i) != prim.item(line, i + 1)))
    return line[alone]


def bincount(x, /, weights=None, minlength=0):
    """Number of occurrences of each non-negative integer, or the sums of their weights.

    >>> np.bincount(np.array([0, 1, 1, 3]))
    array([1, 2, 0, 1])
    >>> np.bincount(np.array([0, 1, 1]), np.array([0.5, 1.0, 2.0]))
    array([0.5, 3. ])
    """
    v = line_of(x)
    if not (prim.is_int(prim.dtype_of(v)) or prim.is_bool(prim.dtype_of(v))):
        prim.error("`bincount` counts integers")
    size = index_of(minlength)
    if size < 0:
        raise ValueError("'minlength' must not be negative")
    least, most = 0, size - 1
    for i in range(v.size):
        k = int(prim.item(v, i))
        least, most = prim.minimum(least, k), prim.maximum(most, k)
    if least < 0:
        raise ValueError("'list' argument must have no negative elements")
    size = most + 1
    if weights is None:
        counts = new_zeros((size,), np.int64)
        for i in range(v.size):
            k = int(prim.item(v, i))
            prim.set_item(counts, k, prim.item(counts, k) + 1)
        return counts
    if prim.is_complex(prim.dtype_of(asarray(weights))):
        prim.error("weights are real numbers")
    w = line_of(asarray(weights, np.float64))
    if w.size != v.size:
        raise ValueError("The weights and list don't have the same length.")
    sums = new_zeros((size,), np.float64)
    for i in range(v.size):
        k = int(prim.item(v, i))
        prim.set_item(sums, k, prim.item(sums, k) + prim.item(w, i))
    return sums


def array_equal(a1, a2, equal_nan=False):
    """Whether shapes and all elements are equal.

    >>> np.array_equal(np.array([1, 2]), np.array([1.0, 2.0]))
    True
    """
    equal = flag_of(equal_nan)
    x, y = asarray(a1), asarray(a2)
    if x.ndim != y.ndim:
        return False
    if x.shape != y.shape:
        return False
    v, w = flat(x), flat(y)
    for i in range(v.size):
        a, b = prim.item(v, i), prim.item(w, i)
        if a != b and not (equal and a != a and b != b):
            return False
    return True


def _near(a, b, rtol, atol, equal_nan):
    # In NumPy's types: that of the second number, of floats at least, is that of the tolerance.
    y = prim.cast(b, prim.result_type(b, 1.0))
    x = prim.cast(a, prim.result_type(a, y))
    z = prim.cast(y, prim.dtype_of(x))
    if x == z:
        return True
    if equal_nan and x != x and y != y:
        return True
    return _is_finite(y) and _magnitude(x - z) <= atol + rtol * _magnitude(y)


def _magnitude(x):
    return prim.hypot(x.real, x.imag) if prim.is_complex(x) else prim.fabs(x)


def _is_finite(x):
    return prim.isfinite(x.real) and prim.isfinite(x.imag) if prim.is_complex(x) else prim.isfinite(x)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether elements are near.

    >>> np.isclose(np.array([1.0, 2.0]), np.array([1.0, 2.1]))
    array([ True, False])
    """
    a, b = operand(a), operand(b)
    if prim.is_scalar(a) and prim.is_scalar(b):
        return _near(a, b, rtol, atol, flag_of(equal_nan))
    return prim.map(_near, a, b, rtol, atol, flag_of(equal_nan))


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are near.

    >>> np.allclose(np.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-9]))
    True
    """
    near = isclose(a, b, rtol, atol, equal_nan)
    if prim.is_array(near):
        return bool(near.all())
    return near
