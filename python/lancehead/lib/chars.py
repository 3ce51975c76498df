"""Texts of fixed length in arrays: NumPy's dtypes `S` and `U`."""

import numpy as np

from lancehead.lib import prim
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
