"""Philox4x32-10 of Salmon et al.: random words of a counter and a key."""

import numpy as np

from lancehead.lib import prim


def _wide(x):
    return prim.cast(x, np.uint64)


def _word(x):
    return prim.cast(x, np.uint32)


def fused(x, y, z):
    """The product of two numbers and the sum with a third, rounded once, which kernels do with any."""
    return prim.fma(x, y, z)


def philox4x32(c0, c1, c2, c3, k0, k1):
    """The four words of a counter of four words and a key of two, after ten rounds."""
    for _ in range(10):
        a, b = _wide(c0) * _wide(0xD2511F53), _wide(c2) * _wide(0xCD9E8D57)
        c0, c1 = _word(b >> _wide(32)) ^ c1 ^ k0, _word(b)
        c2, c3 = _word(a >> _wide(32)) ^ c3 ^ k1, _word(a)
        k0, k1 = _word(k0 + _word(0x9E3779B9)), _word(k1 + _word(0xBB67AE85))
    return c0, c1, c2, c3


def words(block, attempt, call, key):
    """The words of a block, of an attempt in a call."""
    j, c = _wide(block), _wide(call) | (_wide(attempt) << _wide(48))
    c0, c1, c2, c3 = _word(j), _word(j >> _wide(32)), _word(c), _word(c >> _wide(32))
    return philox4x32(c0, c1, c2, c3, _word(key), _word(key >> _wide(32)))
