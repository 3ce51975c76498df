"""`bytes` and other memory, as arrays of their items."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.layout import new_zeros


def new(n):
    """Memory for so many bytes, and up to the next eight."""
    return new_zeros(((n + 7) // 8 * 8,), np.uint8)[:n]


def put_word(a, i, word):
    """Stores eight bytes, some of which may lie behind the last."""
    prim.store(prim.ptr_add(prim.data(a), 8 * i), prim.cast(word, np.int64))


def equal(a, b):
    """Whether two are as long and have equal items."""
    if a.shape != b.shape:
        return False
    if prim.layout(a) != "C" or prim.layout(b) != "C" or a.ndim != 1:
        for x, y in zip(a.flat, b.flat):
            if x != y:
                return False
        return True
    # Blocks without an exit are compared by vectors.
    n = a.size
    for begin in range(0, n, 256):
        differ = False
        for i in range(begin, min(begin + 256, n)):
            differ |= a[i] != b[i]
        if differ:
            return False
    return True


def before(a, b):
    """Whether one comes before another in lexicographic order."""
    n = a.size if a.size < b.size else b.size
    for i in range(n):
        if a[i] != b[i]:
            return a[i] < b[i]
    return a.size < b.size


def after(a, b):
    """Whether one comes after another in lexicographic order."""
    return before(b, a)


def contains(a, part):
    """Whether the items of one occur in another, one after the other."""
    for i in range(a.size - part.size + 1):
        k = 0
        while k < part.size and a[i + k] == part[k]:
            k += 1
        if k == part.size:
            return True
    return False


def joined(a, b):
    """The items of both."""
    out = np.empty(a.size + b.size, np.uint8)
    out[: a.size] = a
    out[a.size :] = b
    return out


def item_value(x, dtype, message):
    """A number as an item, or an error if it does not fit."""
    if prim.is_int(dtype):
        if prim.is_float(x) or prim.is_complex(x):
            prim.error(x, "an integer is needed here")
        if x < prim.min_of(dtype) or x > prim.max_of(dtype):
            if message is None:
                raise OverflowError("the integer does not fit an item of the array")
            raise ValueError(message)
    return prim.cast(x, dtype)
