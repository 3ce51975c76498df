"""Integers of any width between two bounds."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.casting import name_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.generators.drawing import shape_for, spread
from lancehead.lib.numpy.layout import as_shape, count, new_array, with_shape

_LEAST = -9223372036854775808
_MOST = 9223372036854775807


def _least(dtype):
    # The least integer of a type.
    if not prim.is_signed(dtype):
        return 0
    return _LEAST if prim.itemsize(dtype) == 8 else -(1 << (8 * prim.itemsize(dtype) - 1))


def _most(dtype):
    # The greatest, but for 64 bits without a sign.
    if prim.is_bool(dtype):
        return 1
    bits = 8 * prim.itemsize(dtype) - (1 if prim.is_signed(dtype) else 0)
    return _MOST if bits >= 63 else (1 << bits) - 1


def _is_wide(dtype):
    return not prim.is_bool(dtype) and not prim.is_signed(dtype) and prim.itemsize(dtype) == 8


def _width(dtype):
    return 1 if prim.is_bool(dtype) else 8 * prim.itemsize(dtype)


def _refuse_bounds(is_zero, endpoint):
    if is_zero:
        raise ValueError("high < 0" if endpoint else "high <= 0")
    raise ValueError("low > high" if endpoint else "low >= high")


def _wide(x):
    # The bits of a bound of 64 bits without a sign.
    return prim.cast(prim.cast(x, np.uint64), np.int64)


def _is_beyond(x):
    # Whether an integer without a sign is beyond those with one.
    return prim.is_int(x) and not prim.is_signed(x) and prim.cast(x, np.uint64) > np.uint64(_MOST)


def _check(low, high, endpoint, dtype):
    """The last integer, whose bits are those of 64 bits without a sign where the type is."""
    if _is_wide(dtype):
        if low < 0:
            raise ValueError("low is out of bounds for uint64")
        first, last = prim.cast(low, np.uint64), prim.cast(high, np.uint64)
        if high < 0 or first > last or not endpoint and first == last:
            _refuse_bounds(first == 0, endpoint)
        return prim.cast(last if endpoint else last - np.uint64(1), np.int64)
    if low < _least(dtype) or _is_beyond(low):
        raise ValueError("low is out of bounds for " + name_of(dtype))
    is_beyond = _is_beyond(high)
    if is_beyond:
        # 2**63 is the first integer behind those of 64 bits.
        if endpoint or prim.itemsize(dtype) < 8 or prim.cast(high, np.uint64) > np.uint64(9223372036854775808):
            raise ValueError("high is out of bounds for " + name_of(dtype))
        return _MOST
    last = int(high)
    if not endpoint:
        if last == _LEAST:
            _refuse_bounds(int(low) == 0, endpoint)
        last -= 1
    if last > _most(dtype):
        raise ValueError("high is out of bounds for " + name_of(dtype))
    if last < int(low):
        _refuse_bounds(int(low) == 0, endpoint)
    return last


def integers(rng, low, high, size, dtype, endpoint):
    """See `Generator.integers`."""
    t = prim.as_dtype(dtype)
    if not prim.is_int(t) and not prim.is_bool(t):
        prim.error("`integers` gives integers and truth values only")
    if high is None:
        return integers(rng, 0, low, size, t, endpoint)
    if size is not None and count(as_shape(size)) == 0:
        return new_array(as_shape(size), t)
    if prim.is_number(low) and prim.is_number(high):
        first, end = _whole(low), _whole(high)
        last = _check(first, end, endpoint, t)
        start = _wide(first) if _is_wide(t) else int(first)
        if size is None:
            drawn = prim.lh_rng_up_to(rng._bits, rng._kind, last - start, _width(t))
            return prim.cast(start + drawn, t)
        out = new_array(as_shape(size), t)
        _fill(rng, out, start, last - start, t)
        return out
    return _each(rng, asarray(low), asarray(high), size, t, endpoint)


def _whole(x):
    return int(x) if prim.is_float(x) or prim.is_bool(x) else x


def _fill(rng, out, start, most, dtype):
    size = prim.itemsize(dtype)
    # Narrow integers share words, and a call discards the rest of its last word: one call draws them all.
    piece = 1048576 if size >= 4 else out.size
    done = 0
    while done < out.size:
        prim.lh_interrupted()
        n = piece if out.size - done > piece else out.size - done
        to = prim.ptr_add(prim.data(out), done * size)
        prim.lh_rng_integers(rng._bits, rng._kind, to, n, start, most, _width(dtype))
        done += n


def _each(rng, low, high, size, dtype, endpoint):
    shape = shape_for(size, np.broadcast_shapes(low.shape, high.shape))
    out = new_array(shape, dtype)
    v = with_shape(out, (out.size,))
    x, y = spread(low, shape, prim.dtype_of(low)), spread(high, shape, prim.dtype_of(high))
    starts, limits = new_array((v.size,), np.int64), new_array((v.size,), np.int64)
    _check_all(x, y, endpoint, dtype)
    for i in range(v.size):
        first, end = _whole(prim.item(x, i)), _whole(prim.item(y, i))
        last = _check(first, end, endpoint, dtype)
        start = _wide(first) if _is_wide(dtype) else int(first)
        prim.set_item(starts, i, start)
        prim.set_item(limits, i, last - start)
    prim.lh_rng_integers_each(rng._bits, rng._kind, prim.data(starts), prim.data(limits), v.size, _width(dtype))
    for i in range(v.size):
        prim.set_item(v, i, prim.cast(prim.item(starts, i), dtype))
    if size is None and out.ndim == 0:
        return out[()]
    return out


def _check_all(low, high, endpoint, dtype):
    # NumPy's message for several bounds depends on whether all lower ones are 0.
    is_zero = True
    is_wrong = False
    for i in range(low.size):
        first, end = _whole(prim.item(low, i)), _whole(prim.item(high, i))
        is_zero = is_zero and first == 0
        is_wrong = is_wrong or first > end or first == end and not endpoint
    if is_wrong and not _is_wide(dtype):
        _refuse_bounds(is_zero, endpoint)
