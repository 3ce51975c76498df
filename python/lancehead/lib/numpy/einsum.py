"""Sums of products over axes. Subscripts are read while compiling, into axes (`lh-infer/src/calls/einsum.rs`)."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.casting import check_cast
from lancehead.lib.numpy.creation import array, asarray
from lancehead.lib.numpy.folds import check_out, deliver
from lancehead.lib.numpy.layout import as_ints, check_axis, contiguous, count, new_array, with_shape
from lancehead.lib.numpy.manip import _picked, each, transpose
from lancehead.lib.numpy.products import _matrix_product
from lancehead.lib.numpy.reductions import sum


def einsum(subscripts, /, *operands, out=None, dtype=None, casting="safe", optimize=False):
    """Sums of products of the operands' elements, over the axes that the subscripts do not name in the result.

    Operands are multiplied from the first to the last, two at a time, as products of matrices where axes are summed.
    The subscripts must be constants. A result of one operand without sums is a view.

    >>> np.einsum("ij,jk->ik", np.array([[1, 2], [3, 4]]), np.array([[1, 0], [1, 1]]))
    array([[3, 2],
           [7, 4]])
    >>> np.einsum("ii", np.array([[1, 2], [3, 4]]))
    np.int64(5)
    """
    arrays = each(asarray, operands)
    if dtype is not None:
        for x in arrays:
            check_cast(prim.dtype_of(x), prim.as_dtype(dtype), casting)
        arrays = _converted(arrays, prim.as_dtype(dtype))
    own, steps, order = prim.einsum(subscripts, arrays)
    product = _product(_prepared(arrays[0], own[0]), arrays[1:], own[1:], steps)
    if out is not None:
        check_out(out, prim.dtype_of(product), casting)
        return deliver(transpose(product, order) if product.ndim > 0 else product, out)
    if product.ndim == 0:
        return product[()]
    return transpose(product, order)


def einsum_path(subscripts, /, *operands, optimize="greedy"):
    """The order in which to contract operands, for `optimize=` of NumPy's `einsum`, and a report of what that costs.

    The path is a tuple of the items that NumPy's list has. The subscripts must be constants, and so must be whether
    `optimize` is false. Where NumPy would contract more than two operands at once after `"greedy"` or `"optimal"`, as
    it does if results between were larger than the operands and the result, there is a `NotImplementedError`.

    >>> np.einsum_path("ij,jk,kl", np.ones((2, 2)), np.ones((2, 5)), np.ones((5, 2)))[0][1]
    (1, 2)
    """
    arrays = each(asarray, operands)
    letters, all_kept = prim.einsum_letters(subscripts, arrays)
    # One more, so that there is always memory.
    extents = array(_all_extents(arrays) + (1,), np.int64)
    how = optimize._items if prim.is_a(optimize, "lists.mixed_list") else prim.sized(optimize)
    if prim.is_tuple(how):
        if len(how) == 2 and prim.is_str(how[0]) and (prim.is_int(how[1]) or prim.is_float(how[1])):
            if how[0] == "einsum_path":
                raise TypeError("the contractions of a path are tuples of integers")
            return _searched(arrays, letters, all_kept, extents, how[0], _as_limit(how[1]))
        if len(how) > 0 and prim.is_str(how[0]):
            if how[0] == "einsum_path":
                return _as_given(letters, extents, how[1:])
        raise TypeError("Did not understand the path: it begins with 'einsum_path', or is a name and a limit")
    if prim.is_str(how):
        return _searched(arrays, letters, all_kept, extents, how, _OF_LARGEST)
    if how is None:
        return _as_given(letters, extents, (_numbered(arrays, 0),))
    if not prim.is_bool(how):
        prim.error("`optimize` is a truth value, a name, a name and a limit, or `'einsum_path'` and tuples")
    if how:
        return _searched(arrays, letters, all_kept, extents, "greedy", _OF_LARGEST)
    return _as_given(letters, extents, (_numbered(arrays, 0),))


#: The limit that is the size of the largest operand or of the result.
_OF_LARGEST = -9223372036854775808


def _searched(arrays, letters, all_kept, extents, name, limit):
    if len(arrays) <= 2 or all_kept:
        return _as_given(letters, extents, (_numbered(arrays, 0),))
    if name != "greedy" and name != "optimal":
        raise KeyError("Path name %s not found", name)
    pairs = prim.tuple_drop(arrays, 0)
    path = new_array((2 * len(pairs),), np.int64)
    number = 1 if name == "greedy" else 2
    size = extents.size - 1
    report = prim.lh_contractions(letters, prim.data(extents), size, number, limit, prim.data(path), path.size)
    return ("einsum_path",) + _pairs(path, pairs, 0), report


def _all_extents(arrays):
    return arrays[0].shape + _all_extents(arrays[1:]) if len(arrays) > 0 else ()


def _as_limit(limit):
    if limit != limit:
        raise ValueError("cannot convert float NaN to integer")
    if limit - limit != 0:
        raise OverflowError("cannot convert float infinity to integer")
    return 2**63 - 1 if limit >= 2.0**62 else max(int(limit), -1)


def _as_given(letters, extents, path):
    places = array(_flat(path) + (0,), np.int64)
    size = extents.size - 1
    report = prim.lh_contractions(letters, prim.data(extents), size, 0, 0, prim.data(places), places.size - 1)
    return ("einsum_path",) + path, report


def _flat(path):
    # Each contraction behind the number of its operands.
    return (len(path[0]),) + as_ints(path[0]) + _flat(path[1:]) if len(path) > 0 else ()


def _pairs(path, operands, at):
    return ((path[at], path[at + 1]),) + _pairs(path, operands[1:], at + 2) if len(operands) > 0 else ()


def _converted(arrays, dtype):
    return (asarray(arrays[0], dtype),) + _converted(arrays[1:], dtype) if len(arrays) > 0 else ()


def _product(x, arrays, own, steps):
    if len(steps) == 0:
        return x
    y = _prepared(arrays[0], own[0])
    return _product(contracted(x, y, steps[0]), arrays[1:], own[1:], steps[1:])


def _prepared(x, own):
    # An axis for each label, and the sums over those that occur nowhere else.
    groups, summed = own
    shape = _shared_extents(x.shape, groups)
    view = prim.array(prim.owner(x), prim.data(x), shape, _strides(x, groups), prim.dtype_of(x), "A")
    return _summed(view, summed)


def _shared_extents(shape, groups):
    if len(groups) == 0:
        return ()
    return (_shared_extent(shape, groups[0]),) + _shared_extents(shape, groups[1:])


def _shared_extent(shape, axes):
    n = shape[axes[0]]
    for axis in axes:
        if shape[axis] != n:
            raise ValueError(
                "dimensions in single operand for collapsing index don't match (" + str(n) + " != "
                + str(shape[axis]) + ")"
            )  # fmt: skip
    return n


def _strides(x, groups):
    if len(groups) == 0:
        return ()
    stride = 0
    for axis in groups[0]:
        stride += x.strides[axis]
    return (stride,) + _strides(x, groups[1:])


def _summed(x, summed):
    if len(summed) == 0:
        return x
    return _summed(asarray(sum(x, axis=-1, dtype=prim.dtype_of(x))), summed[1:])


def contracted(x, y, step):
    """The product of two arrays, summed over axes.

    A step says the axes of the first that both have, its own and those that are summed, and of the second those that
    both have, that are summed, and its own. The result has the axes of both, and then their own.
    """
    both_x, own_x, sum_x, both_y, sum_y, own_y = step
    dtype = prim.result_type(prim.dtype_of(x), prim.dtype_of(y))
    both = _extents(x, both_x, y, both_y)
    summed = _extents(x, sum_x, y, sum_y)
    rows, columns = _picked(x.shape, own_x), _picked(y.shape, own_y)
    left = _view(x, both_x + own_x + sum_x, both + rows + summed)
    right = _view(y, both_y + sum_y + own_y, both + summed + columns)
    shape = both + rows + columns
    if len(sum_x) == 0:
        out = new_array(shape, dtype)
        _multiply(out, _line(left, (count(both), count(rows))), _line(right, (count(both), count(columns))))
        return out
    m, n, k = count(rows), count(columns), count(summed)
    if len(both_x) == 0:
        return with_shape(contiguous(_matrix_product(_line(left, (m, k)), _line(right, (k, n)), dtype)), shape)
    stacks = new_array((count(both), m, n), dtype)
    first, second = _line(left, (count(both), m, k)), _line(right, (count(both), k, n))
    for i in range(stacks.shape[0]):
        stacks[i] = _matrix_product(first[i], second[i], dtype)
    return with_shape(stacks, shape)


def _multiply(out, x, y):
    line = with_shape(out, (x.shape[0], x.shape[1], y.shape[1]))
    for i in range(line.shape[0]):
        for j in range(line.shape[1]):
            for k in range(line.shape[2]):
                prim.set_item(line, i, j, k, prim.item(x, i, j) * prim.item(y, i, k))


def _line(x, shape):
    return with_shape(contiguous(x), shape)


def _extents(x, axes_x, y, axes_y):
    if len(axes_x) == 0:
        return ()
    m, n = x.shape[axes_x[0]], y.shape[axes_y[0]]
    if m != n and m != 1 and n != 1:
        raise ValueError(
            "operands could not be broadcast together: an axis has " + str(m) + " and " + str(n) + " items"
        )
    return (n if m == 1 else m,) + _extents(x, axes_x[1:], y, axes_y[1:])


def _view(x, axes, shape):
    strides = _broadcast(_picked(x.shape, axes), _picked(x.strides, axes), shape)
    return prim.array(prim.owner(x), prim.data(x), shape, strides, prim.dtype_of(x), "A")


def _broadcast(shape, strides, wanted):
    if len(shape) == 0:
        return ()
    first = strides[0] if shape[0] == wanted[0] else 0
    return (first,) + _broadcast(shape[1:], strides[1:], wanted[1:])


def tensordot(a, b, axes=2):
    """Sum of products over the last axes of one array and the first of another, or over pairs of axes.

    The number of axes must be a constant.

    >>> np.tensordot(np.array([[1, 2], [3, 4]]), np.array([[1, 0], [1, 1]]), 1)
    array([[3, 2],
           [7, 4]])
    >>> np.tensordot(np.array([[1, 2], [3, 4]]), np.array([1, 2]), axes=((0,), (0,)))
    array([ 7, 10])
    """
    x, y = asarray(a), asarray(b)
    if prim.is_int(axes):
        if axes < 0:
            return tensordot(x, y, 0)
        summed = prim.tuple_fill(axes, 0)
        sum_x, sum_y = _numbered(summed, x.ndim - axes), _numbered(summed, 0)
    else:
        if prim.is_a(axes[0], "builtins.list"):
            prim.sized(axes)
        sum_x, sum_y = _checked(as_ints(axes[0]), x.ndim), _checked(as_ints(axes[1]), y.ndim)
    if len(sum_x) != len(sum_y) or _picked(x.shape, sum_x) != _picked(y.shape, sum_y):
        raise ValueError("shape-mismatch for sum")
    own_x, own_y = _others(_numbered(x.shape, 0), sum_x), _others(_numbered(y.shape, 0), sum_y)
    product = contracted(x, y, ((), own_x, sum_x, (), sum_y, own_y))
    return product[()] if product.ndim == 0 else product


def _numbered(items, first):
    if len(items) == 0:
        return ()
    return (first,) + _numbered(items[1:], first + 1)


def _checked(axes, ndim):
    if len(axes) == 0:
        return ()
    return (check_axis(axes[0], ndim),) + _checked(axes[1:], ndim)


def _others(axes, without):
    # Of the axes in order, those that are left when each of the given ones has been taken out.
    if len(without) == 0:
        return axes
    at = 0
    for k in range(len(axes)):
        if axes[k] == without[0]:
            at = k
    return _others(prim.tuple_drop(axes, at), without[1:])
