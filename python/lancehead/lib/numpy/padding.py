"""`numpy.pad`: margins around an array, one axis after the other."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.choices import round
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.editing import _part
from lancehead.lib.numpy.layout import contiguous, copy_into, new_array


def pad(
    array, pad_width, mode="constant", *, constant_values=None, end_values=None, stat_length=None, reflect_type=None
):
    """An array with a margin around it.

    >>> np.pad(np.array([1, 2]), 1)
    array([0, 1, 2, 0])
    >>> np.pad(np.array([1, 2, 3]), (1, 2), mode="edge")
    array([1, 1, 2, 3, 3, 3])
    >>> np.pad(np.array([1, 2, 3]), (2, 1), "reflect", reflect_type="odd")
    array([-1,  0,  1,  2,  3,  4])
    """
    if not prim.is_str(mode):
        prim.error("the mode of `pad` is a string")
    _check_keywords(mode, constant_values, end_values, stat_length, reflect_type)
    x = asarray(array)
    widths = _widths(pad_width, x)
    if mode != "constant" and mode != "empty":
        _check_extents(x, widths)
    out = x
    if x.ndim == 0:
        np.broadcast_to(widths, (0, 2))
    for k in range(x.ndim):
        before, after = _pair(widths, k, x)
        grown = _grown(contiguous(out), k, before, after)
        n = x.shape[k]
        if n > 0 or mode == "constant":
            _fill(grown, k, before, n, mode, constant_values, end_values, stat_length, reflect_type, x)
        out = grown
    if x.ndim == 0:
        return out.copy()
    return np.asfortranarray(out) if prim.layout(x) == "F" and x.ndim > 1 else out


def _check_keywords(mode, constant_values, end_values, stat_length, reflect_type):
    is_statistic = mode == "maximum" or mode == "minimum" or mode == "mean" or mode == "median"
    is_mirror = mode == "reflect" or mode == "symmetric"
    is_other = mode == "constant" or mode == "linear_ramp" or mode == "edge" or mode == "wrap" or mode == "empty"
    if not (is_statistic or is_mirror or is_other):
        raise ValueError("mode '" + mode + "' is not supported")
    odd = constant_values is not None and mode != "constant" or end_values is not None and mode != "linear_ramp"
    if odd or stat_length is not None and not is_statistic or reflect_type is not None and not is_mirror:
        raise ValueError("unsupported keyword arguments for mode '" + mode + "'")


def _widths(pad_width, x):
    if prim.is_dict(pad_width):
        table = np.zeros((x.ndim, 2), np.int64)
        for k in pad_width:
            table[k] = pad_width[k]
    else:
        table = asarray(pad_width)
    if not (prim.is_int(prim.dtype_of(table)) and prim.is_signed(prim.dtype_of(table))):
        prim.error("`pad_width` must be of integral type")
    if table.size == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    if np.any(table < 0):
        raise ValueError("index can't contain negative values")
    return table


def _pair(table, k, x):
    # The pair for an axis: one number for all, one pair for all axes, or a table that broadcasts to a pair per axis.
    if table.ndim > 2:
        prim.error("`pad` takes a number, a pair, or a pair for each axis")
    if table.size == 1:
        return table.ravel()[0], table.ravel()[0]
    if table.size == 2 and table.shape[0] == (2 if table.ndim == 1 else 1):
        return table.ravel()[0], table.ravel()[1]
    wide = np.broadcast_to(table, (x.ndim, 2))
    return wide[k, 0], wide[k, 1]


def _check_extents(x, widths):
    for k in range(x.ndim):
        before, after = _pair(widths, k, x)
        if x.shape[k] == 0 and (before > 0 or after > 0):
            raise ValueError("can't extend empty axis " + str(k) + " using modes other than 'constant' or 'empty'")


def _grown(x, k, before, after):
    # A new array with room on both sides of an axis.
    n = x.shape[k]
    out = new_array(prim.tuple_set(x.shape, k, int(n + before + after)), prim.dtype_of(x))
    copy_into(_part(out, k, before, before + n), x)
    return out


def _fill(out, k, before, n, mode, constant_values, end_values, stat_length, reflect_type, x):
    end = before + n
    left, right = _part(out, k, 0, before), _part(out, k, end, out.shape[k])
    if mode == "constant":
        low, high = _ends(0 if constant_values is None else constant_values, k, x)
        copy_into(left, low)
        copy_into(right, high)
    elif mode == "linear_ramp":
        low, high = _ends(0 if end_values is None else end_values, k, x)
        dtype = prim.dtype_of(out)
        first, last = np.take(out, before, k), np.take(out, end - 1, k)
        copy_into(left, np.linspace(low, first, before, endpoint=False, dtype=dtype, axis=k))
        falling = np.linspace(high, last, out.shape[k] - end, endpoint=False, dtype=dtype, axis=k)
        copy_into(right, np.flip(falling, k))
    elif mode == "maximum" or mode == "minimum" or mode == "mean" or mode == "median":
        first, last = (n, n) if stat_length is None else _pair(asarray(stat_length), k, x)
        first, last = min(int(first), n), min(int(last), n)
        if first < 0 or last < 0:
            raise ValueError("index can't contain negative values")
        _store(left, _statistic(_part(out, k, before, before + first), k, mode))
        _store(right, _statistic(_part(out, k, end - last, end), k, mode))
    elif mode == "reflect" or mode == "symmetric":
        is_odd = False if reflect_type is None else reflect_type == "odd"
        _fill_mirrored(out, k, before, n, n == 1 or mode == "symmetric", is_odd and n > 1)
    elif mode == "edge" or mode == "wrap":
        for i in range(before):
            at = before if mode == "edge" else before + (i - before) % n
            copy_into(_part(out, k, i, i + 1), _part(out, k, at, at + 1))
        for i in range(end, out.shape[k]):
            at = end - 1 if mode == "edge" else before + (i - before) % n
            copy_into(_part(out, k, i, i + 1), _part(out, k, at, at + 1))


def _ends(values, k, x):
    # The values outside of the array on both sides of an axis.
    if prim.is_tuple(values) or prim.is_array(values) or prim.is_a(values, "builtins.list"):
        return _pair(asarray(values), k, x)
    return values, values


def _statistic(part, k, mode):
    if mode == "mean":
        return np.mean(part, k, keepdims=True)
    if mode == "median":
        return np.median(part, k, keepdims=True)
    if part.shape[k] == 0:
        raise ValueError("stat_length of 0 yields no value for padding")
    return np.max(part, k, keepdims=True) if mode == "maximum" else np.min(part, k, keepdims=True)


def _store(margin, statistic):
    # Means of integers are rounded.
    if prim.is_int(prim.dtype_of(margin)):
        copy_into(margin, round(statistic))
    else:
        copy_into(margin, statistic)


def _fill_mirrored(out, k, before, n, with_edge, is_odd):
    # Mirrors stand at the ends, then as far away again; beyond one, differences from it change their sign if `is_odd`.
    step, end = n if with_edge else n - 1, before + n
    for j in range(1, before + 1):
        edge = before - (j - 1) // step * step
        _mirror(out, k, before - j, 2 * edge - (before - j) - (1 if with_edge else 0), edge, is_odd)
    for j in range(1, out.shape[k] - end + 1):
        edge = end - 1 + (j - 1) // step * step
        _mirror(out, k, end - 1 + j, 2 * edge - (end - 1 + j) + (1 if with_edge else 0), edge, is_odd)


def _mirror(out, k, to, source, edge, is_odd):
    part = _part(out, k, source, source + 1)
    if is_odd:
        copy_into(_part(out, k, to, to + 1), 2 * _part(out, k, edge, edge + 1) - part)
    else:
        copy_into(_part(out, k, to, to + 1), part)
