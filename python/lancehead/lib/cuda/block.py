"""`cuda.block` in kernels: values of the threads of a block combined, running results, and orders.

All threads of a block call them together, as a barrier. Operators are taken to be associative, and need not be
commutative. In each warp neighbours are combined, then neighbouring results, and so on; the results of the warps are
combined from left to right. Shared memory is for the greatest block, and is used again by the next call.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.cuda.exchange import (
    THREADS,
    WARPS,
    backward,
    before_of,
    lanes,
    plus,
    shared,
    sync,
    taken,
    thread,
    threads,
    typed,
    zero,
)
from lancehead.lib.cuda.warp import first_lane, inclusive
from lancehead.lib.lancehead.xp.elements import as_type, strong
from lancehead.lib.primitives.lines import get, put


def reduce(value, op):
    """The values of a block's threads combined, in all of them."""
    x, like = typed(value, op)
    total = first_lane(x, op, like)
    parts = shared(WARPS, like, 1)
    # A call before may still read them.
    sync()
    if thread() & 31 == 0:
        put(parts, thread() >> 5, total)
    sync()
    out = get(parts, 0)
    for w in range(1, (threads() + 31) >> 5):
        out = as_type(op(out, get(parts, w)), like)
    return out


def sum(value):
    """The sum of the values of a block's threads, in all of them."""
    return reduce(value, plus)


def _prefix(total, parts, op, like, first, has_first):
    # The results of the warps before, after an initial value if there is one; of none, the first warp's own.
    sync()
    if thread() & 31 == 31 or thread() == threads() - 1:
        put(parts, thread() >> 5, total)
    sync()
    warp = thread() >> 5
    before = get(parts, 0)
    if has_first:
        before = first if warp == 0 else as_type(op(first, before), like)
    for w in range(1, warp):
        before = as_type(op(before, get(parts, w)), like)
    return before


def inclusive_scan(value, op):
    """The values of the threads up to and with the own one, combined."""
    x, like = typed(value, op)
    total = inclusive(x, op, like)
    before = _prefix(total, shared(WARPS, like, 1), op, like, total, False)
    return as_type(op(before, total), like) if thread() >= 32 else total


def exclusive_scan(value, op, init):
    """The initial value and the values of the threads before the own one, combined."""
    x, like = typed(value, op, init)
    total = inclusive(x, op, like)
    before = _prefix(total, shared(WARPS, like, 1), op, like, as_type(init, like), True)
    own = taken(lanes(), total, (thread() & 31) - 1)
    return before if thread() & 31 == 0 else as_type(op(before, own), like)


def scan(value, op, init=None, exclusive=False):
    """`inclusive_scan`, after an initial value if there is one, or `exclusive_scan`."""
    if prim.is_none(init):
        if exclusive:
            prim.error("exclusive results need an initial value")
        return inclusive_scan(value, op)
    if exclusive:
        return exclusive_scan(value, op, init)
    x, like = typed(value, op, init)
    total = inclusive(x, op, like)
    before = _prefix(total, shared(WARPS, like, 1), op, like, as_type(init, like), True)
    return as_type(op(before, total), like)


def inclusive_sum(value):
    """The sum of the values of the threads up to and with the own one."""
    return inclusive_scan(value, plus)


def exclusive_sum(value):
    """The sum of the values of the threads before the own one; 0 in the first."""
    return exclusive_scan(value, plus, zero(value))


def _sorted(key, order):
    # The keys in shared memory, in order, and the threads that have given them.
    number, own = threads(), thread()
    keys, places = shared(THREADS, key, 2), shared(THREADS, np.int32(0), 8)
    sync()
    put(keys, own, key)
    places[own] = np.int32(own)
    width = 2
    while width < 2 * number:
        # The first round mirrors, so that all comparisons go the same way and missing threads are behind all.
        flip, step = width - 1, width // 2
        while step > 0:
            sync()
            other = own ^ flip
            if own < other and other < number:
                a, b = get(keys, own), get(keys, other)
                i, j = places[own], places[other]
                if order(b, a) or (j < i and not order(a, b)):
                    put(keys, own, b)
                    put(keys, other, a)
                    places[own], places[other] = j, i
            step //= 2
            flip = step
        width *= 2
    sync()
    return keys, places


def sort(key, value=None, *, before=None):
    """The key at the thread's place in the order of a block's keys, and its value; equal ones keep their order."""
    keys, places = _sorted(strong(key), before_of(before, key))
    found = get(keys, thread())
    if prim.is_none(value):
        return found
    values = shared(THREADS, strong(value), 9)
    put(values, thread(), strong(value))
    sync()
    return found, get(values, int(places[thread()]))


def top_k(value, k):
    """The greatest values of a block's threads in descending order, and the threads that have given them.

    Threads from the k-th on get -1 as thread, and their own value.
    """
    x = strong(value)
    keys, places = _sorted(x, backward(before_of(None, x)))
    if thread() < k:
        return get(keys, thread()), int(places[thread()])
    return x, -1
