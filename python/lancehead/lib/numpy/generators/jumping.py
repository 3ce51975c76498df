"""Bit generators that skip numbers: `advance`, `jumped`.

States are copied out and back in, since functions that draw from them count as functions that write nothing. Numbers of
128 bits are pairs of words, the low one first.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.layout import new_array, new_zeros

#: Numbers of the kinds: PCG64, PCG64DXSM, MT19937, Philox, SFC64.
KINDS = PCG64_KIND, PCG64DXSM_KIND, MT19937_KIND, PHILOX_KIND, _ = 1, 2, 3, 4, 5
#: Multipliers of the steps of both PCGs, and how far a jump goes: two to the 128 divided by the golden ratio.
_MULTIPLIER = (0x4385DF649FCCF645, 0x2360ED051FC65DA4)
_CHEAP_MULTIPLIER = (0xDA942042E4DD58B5, 0)
_JUMP = (0xF39CC0605CEDC835, 0x9E3779B97F4A7C15)


def _pair(words):
    return np.uint64(words[0]), np.uint64(words[1])


def _sum(a, b):
    low = a[0] + b[0]
    return low, a[1] + b[1] + np.uint64(low < a[0])


def _product(a, b):
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    x, y, u, v = a[0] & low, a[0] >> half, b[0] & low, b[0] >> half
    middle = (x * u >> half) + (y * u & low) + (x * v & low)
    high = y * v + (y * u >> half) + (x * v >> half) + (middle >> half)
    return a[0] * b[0], high + a[0] * b[1] + a[1] * b[0]


def _wide(n):
    # An integer of 64 bits, which may be negative.
    return prim.cast(n, np.uint64), np.uint64(0xFFFFFFFFFFFFFFFF) if n < 0 else np.uint64(0)


def _address(at, offset):
    # The address that is stored at one.
    return prim.lh_addr_ptr(prim.load(prim.ptr_add(at, offset), np.int64))


def _stored(at, n):
    words = new_array((n,), np.uint64)
    prim.lh_memmove(prim.data(words), at, 8 * n)
    return words


def _store(at, words):
    prim.lh_memmove(at, prim.data(words), 8 * words.size)


def _skip_pcg(state, delta, multiplier):
    # As many steps as `delta` says, by squares.
    lcg = _stored(_address(state, 0), 4)
    factor, plus = _pair((1, 0)), _pair((0, 0))
    power, step = multiplier, (lcg[2], lcg[3])
    low, high = delta
    while low | high != 0:
        if low & np.uint64(1) != 0:
            factor, plus = _product(factor, power), _sum(_product(plus, power), step)
        step = _product(_sum(power, _pair((1, 0))), step)
        power = _product(power, power)
        low, high = (low >> np.uint64(1)) | (high << np.uint64(63)), high >> np.uint64(1)
    lcg[0], lcg[1] = _sum(_product(factor, (lcg[0], lcg[1])), plus)
    _store(_address(state, 0), lcg)
    _store(prim.ptr_add(state, 8), new_zeros((1,), np.uint64))


def _skip_philox(state, delta):
    # The counter goes on, and what was drawn ahead is forgotten.
    counter = _stored(_address(state, 0), 4)
    carry = np.uint64(0)
    for k in range(4):
        before = counter[k] + carry
        carry = np.uint64(before < carry)
        counter[k] = before + delta[k]
        carry += np.uint64(counter[k] < before)
    _store(_address(state, 0), counter)
    rest = new_zeros((6,), np.uint64)
    rest[0] = 4
    _store(prim.ptr_add(state, 16), rest)


def _four(low, high, sign):
    out = new_array((4,), np.uint64)
    out[0], out[1], out[2], out[3] = low, high, sign, sign
    return out


def advance(bits, kind, delta):
    """Skips numbers, or goes back by some."""
    state, (low, high) = _address(bits, 0), _wide(index_of(delta))
    if kind & 7 == PCG64_KIND:
        _skip_pcg(state, (low, high), _pair(_MULTIPLIER))
    elif kind & 7 == PCG64DXSM_KIND:
        _skip_pcg(state, (low, high), _pair(_CHEAP_MULTIPLIER))
    elif kind & 7 == PHILOX_KIND:
        _skip_philox(state, _four(low, high, high))
    else:
        raise AttributeError("this bit generator has no attribute 'advance'")


def jump(bits, kind, other, jumps):
    """Gives a bit generator the state of another one of its kind, so many jumps later."""
    own, state, n = _address(bits, 0), _address(other, 0), _wide(index_of(jumps))
    if kind & 7 == PCG64_KIND or kind & 7 == PCG64DXSM_KIND:
        _store(_address(own, 0), _stored(_address(state, 0), 4))
        is_cheap = kind & 7 == PCG64DXSM_KIND
        _skip_pcg(own, _product(_pair(_JUMP), n), _pair(_CHEAP_MULTIPLIER) if is_cheap else _pair(_MULTIPLIER))
    elif kind & 7 == PHILOX_KIND:
        _store(_address(own, 0), _stored(_address(state, 0), 4))
        _store(_address(own, 8), _stored(_address(state, 8), 2))
        far = _four(np.uint64(0), np.uint64(0), n[1])
        far[2] = n[0]
        _skip_philox(own, far)
    elif kind & 7 == MT19937_KIND:
        raise NotImplementedError("`jumped` of MT19937 needs powers of its polynomial: use `spawn`, or another kind")
    else:
        raise AttributeError("this bit generator has no attribute 'jumped'")


def set_counter(bits, counter):
    """Lets the counter of `Philox` begin at an integer, or at one of four words, the lowest first."""
    words = _four(np.uint64(0), np.uint64(0), np.uint64(0))
    if prim.is_int(counter) or prim.is_bool(counter):
        if counter < 0:
            raise ValueError("counter must be positive and less than 2**256.")
        words[0] = prim.cast(counter, np.uint64)
    else:
        items = np.asarray(counter)
        if not prim.is_int(prim.dtype_of(items)) or items.ndim != 1:
            prim.error("a counter is an integer, or an array of four")
        if items.size != 4:
            raise ValueError("counter must have 4 elements when using array form")
        for k in range(4):
            words[k] = prim.cast(items[k], np.uint64)
    _store(_address(_address(bits, 0), 0), words)
