"""Functions of compiled code applied to lines, pieces and places of arrays."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of, index_of, unmixed
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import check_axis, copy_c, new_array, new_zeros
from lancehead.lib.numpy.manip import broadcast_to, expand_dims, moveaxis, transpose
from lancehead.lib.numpy.selection import indices


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """A function of every line along an axis: numbers, or arrays that stand where the axis was.

    >>> np.apply_along_axis(np.sort, 1, np.array([[2, 1], [4, 3]]))
    array([[1, 2],
           [3, 4]])
    """
    x = asarray(arr)
    k = check_axis(axis_of(axis), x.ndim)
    lines = moveaxis(x, k, -1)
    outer = prim.tuple_drop(x.shape, k)
    for n in outer:
        if n == 0:
            raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    first = asarray(func1d(_line(lines, prim.tuple_fill(x.ndim - 1, 0)), *args, **kwargs))
    made = new_array(outer + first.shape, prim.dtype_of(first))
    at_first = True
    for index in np.ndindex(outer):
        if at_first:
            made[index] = first
            at_first = False
        else:
            made[index] = func1d(_line(lines, index), *args, **kwargs)
    return transpose(made, _places(made, x.ndim - 1, k))[()]


def _line(lines, index):
    # The line at an index of all axes but the last.
    data = prim.data(lines)
    for i, stride in zip(index, lines.strides):
        data = prim.ptr_add(data, i * stride)
    shape, strides = (lines.shape[-1],), (lines.strides[-1],)
    out = prim.array(prim.owner(lines), data, shape, strides, prim.dtype_of(lines), "A")
    return prim.readonly(out) if prim.is_readonly(lines) else out


def _places(made, outer, k):
    # The axes of the results, which are the last ones, at the place of the axis that was taken away.
    order = prim.tuple_fill(made.ndim, 0)
    inner = made.ndim - outer
    for j in range(made.ndim):
        order = prim.tuple_set(order, j, j if j < k else j - k + outer if j < k + inner else j - inner)
    return order


def apply_over_axes(func, a, axes):
    """A function of an array and an axis, one axis after the other; the rank stays.

    >>> np.apply_over_axes(np.sum, np.arange(24).reshape(2, 3, 4), (0, 2))
    array([[[ 60],
            [ 92],
            [124]]])
    """
    x = asarray(a)
    return _over(func, x, axes if prim.is_tuple(prim.sized(axes)) else (axes,))


def _over(func, x, axes):
    if len(axes) == 0:
        return x
    k = index_of(axes[0])
    k = k + x.ndim if k < 0 else k
    found = asarray(func(x, k))
    if found.ndim + 1 == x.ndim:
        return _over(func, expand_dims(found, k), axes[1:])
    if found.ndim != x.ndim:
        raise ValueError("function is not returning an array of the correct shape")
    return _over(func, found, axes[1:])


def piecewise(x, condlist, funclist, *args, **kw):
    """Functions (or numbers) where conditions are true; one more is for where none is.

    >>> np.piecewise(np.array([-2.0, 3.0]), [np.array([True, False])], (lambda v: -v, 7))
    array([2., 7.])
    """
    v = asarray(x)
    pieces = unmixed(funclist)
    conditions = _conditions(condlist, v)
    n = len(conditions)
    if n != len(pieces) and n != len(pieces) - 1:
        raise ValueError(
            "with " + str(n) + " condition(s), either " + str(n) + " or " + str(n + 1) + " functions are expected"
        )
    out = new_zeros(v.shape, prim.dtype_of(v))
    if prim.is_tuple(pieces):
        _set_pieces(out, v, conditions, pieces, 0, args, kw)
    else:
        for k in range(len(pieces)):
            _set_piece(out, v, _mask(conditions, k), pieces[k], args, kw)
    return out


def _conditions(condlist, v):
    # A table of truth values, a row for each condition.
    if prim.is_number(condlist):
        return _table((condlist,), v)
    if prim.is_array(condlist):
        if condlist.ndim == v.ndim and v.ndim > 0:
            return _table((condlist,), v)
    elif v.ndim > 0 and prim.is_number(condlist[0]):
        return _table((condlist,), v)
    return _table(condlist, v)


def _table(rows, v):
    table = new_array((len(rows),) + v.shape, np.bool_)
    k = 0
    for row in rows:
        table[k] = broadcast_to(asarray(row, np.bool_), v.shape)
        k += 1
    return table


def _set_pieces(out, v, conditions, pieces, k, args, kw):
    if len(pieces) > 0:
        _set_piece(out, v, _mask(conditions, k), pieces[0], args, kw)
        _set_pieces(out, v, conditions, pieces[1:], k + 1, args, kw)


def _mask(conditions, k):
    # Where the last function is for what no condition is true of.
    return asarray(conditions[k] if k < len(conditions) else ~np.any(conditions, axis=0))


def _set_piece(out, v, mask, piece, args, kw):
    if prim.is_number(piece) or prim.is_array(piece):
        out[mask] = piece
    else:
        chosen = v[mask]
        if chosen.size > 0:
            out[mask] = piece(chosen, *args, **kw)


def fromfunction(function, shape, *, dtype=float, **kwargs):
    """A function of the indices of a shape, one array for each dimension.

    >>> np.fromfunction(lambda i, j: i + j, (2, 2), dtype=int)
    array([[0, 1],
           [1, 2]])
    """
    table = indices(shape, dtype)
    return function(*_planes(table, prim.tuple_fill(table.ndim - 1, 0), 0), **kwargs)


def _planes(table, left, k):
    if len(left) == 0:
        return ()
    return (table[k],) + _planes(table, left[1:], k + 1)


def fromiter(iter, dtype, count=-1):
    """An array of the items of an iterable.

    >>> np.fromiter((x * x for x in range(4)), int)
    array([0, 1, 4, 9])
    """
    wanted = index_of(count)
    out = new_array((wanted if wanted > 0 else 16,), prim.as_dtype(dtype))
    n = 0
    if wanted != 0:
        for x in iter:
            if n == out.size:
                longer = new_array((2 * n,), prim.as_dtype(dtype))
                longer[:n] = out
                out = longer
            out[n] = x
            n += 1
            if n == wanted:
                break
    if n < wanted:
        raise ValueError("iterator too short: Expected " + str(wanted) + " but iterator had only " + str(n) + " items.")
    return out if n == out.size else copy_c(out[:n], prim.as_dtype(dtype))
