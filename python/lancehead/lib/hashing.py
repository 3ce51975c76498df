"""`hash` of numbers, texts and tuples, as CPython on 64-bit machines computes it."""

import math

import numpy as np

from lancehead.lib import prim


def hash(object):
    """The hash of a number, a text or a tuple of such.

    >>> hash(12)
    12
    >>> hash(0.5)
    1152921504606846976
    >>> hash((1, 2.5))
    396935360214441795
    """
    if prim.is_optional(object):
        prim.error(object, "the hash of None is not known in compiled code")
    if prim.is_str(object):
        return prim.lh_str_hash(object)
    if prim.is_tuple(object):
        return hash_of_items(object)
    if prim.is_bytes(object) or prim.has_method(object, "__hash__"):
        return object.__hash__()
    if not prim.is_number(object):
        prim.error(object, "only numbers, texts and tuples of them have a hash in compiled code")
    if prim.is_bool(object):
        return int(object)
    if prim.is_int(object):
        return _hash_of_int(object)
    if prim.is_complex(object):
        return _valid(_hash_of_float(float(object.real)) + 1000003 * _hash_of_float(float(object.imag)))
    return _hash_of_float(float(object))


def _valid(h):
    # -1 means an error to CPython.
    return -2 if h == -1 else h


def _hash_of_int(x):
    # The residue of the magnitude by the Mersenne prime 2**61 - 1, with the sign.
    if not prim.is_signed(x):
        return int(prim.cast(x, np.uint64) % np.uint64(2305843009213693951))
    v = int(x)
    if v == -9223372036854775808:
        return -4
    r = (v if v >= 0 else -v) % 2305843009213693951
    return _valid(r if v >= 0 else -r)


def _hash_of_float(v):
    if v - v != 0.0:
        if v != v:
            return 0
        return 314159 if v > 0.0 else -314159
    m, e = math.frexp(v)
    negative = m < 0.0
    if negative:
        m = -m
    # 28 bits at a time; after each time what is there is rotated among 61 bits.
    x = 0
    while m != 0.0:
        x = ((x << 28) & 2305843009213693951) | (x >> 33)
        m *= 268435456.0
        e -= 28
        y = int(m)
        m -= y
        x += y
        if x >= 2305843009213693951:
            x -= 2305843009213693951
    turn = e % 61
    x = ((x << turn) & 2305843009213693951) | (x >> (61 - turn))
    return _valid(-x if negative else x)


def hash_of_items(items):
    """The hash of a tuple of items."""
    h = prim.cast(2870177450012600261, np.uint64)
    for item in items:
        lane = prim.cast(hash(item), np.uint64)
        h += lane * np.uint64(14029467366897019727)
        h = (h << np.uint64(31)) | (h >> np.uint64(33))
        h *= np.uint64(11400714785074694791)
    h += np.uint64(len(items)) ^ np.uint64(2870177450013471926)
    v = prim.cast(h, np.int64)
    return int(1546275796 if v == -1 else v)
