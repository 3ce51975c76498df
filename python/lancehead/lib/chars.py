"""Texts of fixed length in arrays: NumPy's dtypes `S` and `U`."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.manip import broadcast_shapes, broadcast_to
from lancehead.lib.text import text_of


def text_at(at, n):
    """The text of at most so many code points at an address."""
    return prim.lh_str_from_units(at, n)


def put_text(at, n, x):
    """Stores the text of a value."""
    prim.lh_str_to_units(text_of(x), at, n)


def bytes_at(at, n):
    """The bytes at an address, at most so many."""
    while n > 0 and prim.load(prim.ptr_add(at, n - 1), np.uint8) == 0:
        n -= 1
    out = np.empty(n, np.uint8)
    for i in range(n):
        out[i] = prim.load(prim.ptr_add(at, i), np.uint8)
    return out


def put_bytes(at, n, x):
    """Stores bytes, as many as there is room for."""
    k = min(n, x.size)
    for i in range(k):
        prim.store(prim.ptr_add(at, i), x[i])
    for i in range(k, n):
        prim.store(prim.ptr_add(at, i), prim.cast(0, np.uint8))


def put_ascii(at, n, x):
    """Stores a text as bytes."""
    if not x.isascii():
        raise UnicodeError("'ascii' codec can't encode characters: ordinal not in range(128)")
    k = min(n, len(x))
    for i in range(k):
        prim.store(prim.ptr_add(at, i), prim.cast(ord(x[i]), np.uint8))
    for i in range(k, n):
        prim.store(prim.ptr_add(at, i), prim.cast(0, np.uint8))


def put_bytes_as_text(at, n, x):
    """Stores bytes as a text."""
    for i in range(x.size):
        if x[i] > 127:
            raise UnicodeError("'ascii' codec can't decode a byte: ordinal not in range(128)")
    k = min(n, x.size)
    for i in range(k):
        prim.store(prim.ptr_add(at, 4 * i), prim.cast(x[i], np.uint32))
    for i in range(k, n):
        prim.store(prim.ptr_add(at, 4 * i), prim.cast(0, np.uint32))


def _unit(a):
    return np.uint8 if prim.is_char_bytes(a) else np.uint32


def _packed(a):
    return a if prim.layout(a) == "C" else a.copy()


def _order(p, n, q, m, unit):
    # The order of texts at two addresses: as integers compare to 0. Zeros at the ends do not count.
    size = prim.itemsize(unit)
    for i in range(max(n, m)):
        x = prim.load(prim.ptr_add(p, size * i), unit) if i < n else prim.cast(0, unit)
        y = prim.load(prim.ptr_add(q, size * i), unit) if i < m else prim.cast(0, unit)
        if x != y:
            return -1 if x < y else 1
    return 0


def compared(a, b, less, same, more):
    """A comparison where one operand is an array of texts: what it gives for each order of two elements."""
    if not prim.is_array(a) or not prim.is_chars(a):
        return compared(b, a, more, same, less)
    if prim.is_array(b):
        if a.ndim == b.ndim and a.shape == b.shape:
            return _arrays_compared(_packed(a), _packed(b), less, same, more)
        shape = broadcast_shapes(a.shape, b.shape)
        return _arrays_compared(broadcast_to(a, shape).copy(), broadcast_to(b, shape).copy(), less, same, more)
    if prim.is_str(b):
        return _compared_to_text(_packed(a), b, less, same, more)
    return _compared_to_bytes(_packed(a), _packed(prim.bytes_array(b)), less, same, more)


def _arrays_compared(a, b, less, same, more):
    unit = _unit(a)
    out = np.empty(a.shape, np.bool_)
    where = out.reshape(out.size)
    n, m = a.itemsize // prim.itemsize(unit), b.itemsize // prim.itemsize(unit)
    for i in range(out.size):
        p, q = prim.ptr_add(prim.data(a), i * a.itemsize), prim.ptr_add(prim.data(b), i * b.itemsize)
        c = _order(p, n, q, m, unit)
        where[i] = same if c == 0 else less if c < 0 else more
    return out


def _compared_to_text(a, s, less, same, more):
    out = np.empty(a.shape, np.bool_)
    where = out.reshape(out.size)
    for i in range(out.size):
        c = prim.lh_str_cmp_units(s, prim.ptr_add(prim.data(a), i * a.itemsize), a.itemsize // 4)
        where[i] = same if c == 0 else less if c > 0 else more
    return out


def _compared_to_bytes(a, s, less, same, more):
    out = np.empty(a.shape, np.bool_)
    where = out.reshape(out.size)
    for i in range(out.size):
        c = _order(prim.ptr_add(prim.data(a), i * a.itemsize), a.itemsize, prim.data(s), s.size, np.uint8)
        where[i] = same if c == 0 else less if c < 0 else more
    return out


def sort_order(v, order):
    """Stores the indices that sort a contiguous line of texts, stably."""
    unit = _unit(v)
    width, length = v.itemsize, v.itemsize // prim.itemsize(unit)
    n = v.size
    for i in range(n):
        order[i] = i
    spare = np.empty(n, np.int64)
    run = 1
    while run < n:
        spare[:] = order
        for begin in range(0, n, 2 * run):
            middle, end = min(begin + run, n), min(begin + 2 * run, n)
            left, right = begin, middle
            for at in range(begin, end):
                takes_left = right == end
                if left < middle and right < end:
                    p = prim.ptr_add(prim.data(v), spare[left] * width)
                    q = prim.ptr_add(prim.data(v), spare[right] * width)
                    takes_left = _order(p, length, q, length, unit) <= 0
                if takes_left:
                    order[at] = spare[left]
                    left += 1
                else:
                    order[at] = spare[right]
                    right += 1
        run *= 2


def sort_packed(v):
    """Sorts a contiguous line of texts."""
    order = np.empty(v.size, np.int64)
    sort_order(v, order)
    v[:] = v[order]
