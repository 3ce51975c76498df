"""Functions of the neighbours of each element, as `lancehead.xp.primitives` describes them."""

import numpy as np

from lancehead import prange
from lancehead.lib import prim
from lancehead.lib.lancehead.xp.elements import as_type, lines_like, result_of, shaped
from lancehead.lib.numpy.layout import contiguous, count, flat
from lancehead.lib.primitives.lines import put


def stencil(f, x, where, boundary="nearest", *, value=0):
    """The results of a function of the neighbours of each element: those within a radius, or at offsets."""
    a = np.asarray(x)
    offsets = _offsets(where, a.shape)
    before, after = _reach(offsets, a.shape, -1), _reach(offsets, a.shape, 1)
    shape = _valid(a.shape, before, after) if boundary == "valid" else a.shape
    item = prim.cast(0, prim.dtype_of(a))
    like = result_of(f, prim.tuple_fill(len(offsets), item))
    out = lines_like(count(shape), like)
    if count(shape) > 0:
        whole = _extended(a, before, after, boundary, value)
        line, strides = flat(whole), _strides(whole.shape)
        places = _places(offsets, before, strides)
        n = shape[-1]
        for row in prange(count(shape[:-1])):
            start = _row(row, shape[:-1], strides[:-1])
            for j in range(n):
                put(out, row * n + j, as_type(f(*_elements(line, places, start + j)), like))
    return shaped(out, shape)


def _extended(a, before, after, boundary, value):
    if boundary == "valid":
        return contiguous(a)
    widths = _pairs(before, after)
    if boundary == "nearest":
        return np.pad(a, widths, "edge")
    elif boundary == "wrap":
        return np.pad(a, widths, "wrap")
    elif boundary == "reflect":
        return np.pad(a, widths, "symmetric")
    elif boundary == "mirror":
        return np.pad(a, widths, "reflect")
    elif boundary == "constant":
        return np.pad(a, widths, "constant", constant_values=value)
    else:
        prim.error("boundary is 'constant', 'valid', 'nearest', 'wrap', 'reflect' or 'mirror'")


def _offsets(where, shape):
    # The offsets of all neighbours, each a tuple with a number for each axis.
    if prim.is_number(where):
        if where < 0:
            raise ValueError("a radius is not negative")
        return _product(prim.tuple_fill(len(shape), _around(prim.literally(where))))
    if prim.is_a(where, "builtins.list"):
        return _all_offsets(prim.sized(where), shape)
    if len(where) == 0:
        prim.error("offsets are one or more")
    if prim.is_tuple(where[0]):
        return _all_offsets(where, shape)
    if len(shape) == 1:
        if len(where) > 1:
            return _all_offsets(where, shape)
    prim.error("in compiled code neighbours are given by one radius for all axes, or by a list of offsets")


def _all_offsets(given, shape):
    if len(given) == 0:
        return ()
    if prim.is_tuple(given[0]):
        if len(given[0]) != len(shape):
            prim.error("an offset has a number for each axis")
        return (given[0], *_all_offsets(given[1:], shape))
    if len(shape) != 1:
        prim.error("an offset has a number for each axis")
    return ((given[0],), *_all_offsets(given[1:], shape))


def _around(radius):
    # The numbers from -radius to radius.
    return _counted(prim.tuple_fill(2 * prim.literally(radius) + 1, 0), -radius)


def _counted(given, first):
    if len(given) == 0:
        return ()
    return (first, *_counted(given[1:], first + 1))


def _product(ranges):
    # In row-major order.
    if len(ranges) == 0:
        return ((),)
    return _with_firsts(ranges[0], _product(ranges[1:]))


def _with_firsts(firsts, rest):
    if len(firsts) == 0:
        return ()
    return _with_first(firsts[0], rest) + _with_firsts(firsts[1:], rest)


def _with_first(first, rest):
    if len(rest) == 0:
        return ()
    return ((first, *rest[0]), *_with_first(first, rest[1:]))


def _reach(offsets, shape, sign):
    # For each axis how far the offsets go in a direction.
    out = prim.tuple_fill(len(shape), 0)
    for offset in offsets:
        for k in range(len(shape)):
            out = prim.tuple_set(out, k, max(out[k], sign * offset[k]))
    return out


def _valid(shape, before, after):
    if len(shape) == 0:
        return ()
    return (max(shape[0] - before[0] - after[0], 0), *_valid(shape[1:], before[1:], after[1:]))


def _pairs(before, after):
    if len(before) == 0:
        return ()
    return ((before[0], after[0]), *_pairs(before[1:], after[1:]))


def _strides(shape):
    # In elements.
    if len(shape) == 0:
        return ()
    return (count(shape[1:]), *_strides(shape[1:]))


def _places(offsets, before, strides):
    # Of the neighbours of the first element, in the line of all.
    if len(offsets) == 0:
        return ()
    at = 0
    for k in range(len(strides)):
        at += (before[k] + offsets[0][k]) * strides[k]
    return (at, *_places(offsets[1:], before, strides))


def _row(row, shape, strides):
    # Where a row begins, by its number.
    if len(shape) == 0:
        return 0
    return row % shape[-1] * strides[-1] + _row(row // shape[-1], shape[:-1], strides[:-1])


def _elements(line, places, at):
    if len(places) == 0:
        return ()
    return (prim.item(line, places[0] + at), *_elements(line, places[1:], at))
