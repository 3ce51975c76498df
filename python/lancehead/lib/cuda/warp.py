"""`cuda.warp` in kernels: values of the threads of a warp combined, running results, and orders.

All threads of a warp call them together; in the last warp of a block there may be fewer than 32. Operators are taken to
be associative, and need not be commutative.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.cuda.exchange import backward, before_of, lanes, plus, taken, thread, typed, zero
from lancehead.lib.lancehead.xp.elements import as_type, strong


def inclusive(value, op, like):
    """Running results of lanes, each with its own value."""
    number, lane, total = lanes(), thread() & 31, value
    for step in (1, 2, 4, 8, 16):
        other = taken(number, total, lane - step)
        if lane >= step:
            total = as_type(op(other, total), like)
    return total


def first_lane(value, op, like):
    """The values of all lanes combined, in the first lane."""
    number, lane, total = lanes(), thread() & 31, value
    for step in (1, 2, 4, 8, 16):
        other = taken(number, total, lane + step)
        if lane % (2 * step) == 0 and lane + step < number:
            total = as_type(op(total, other), like)
    return total


def reduce(value, op):
    """The values of a warp's threads combined, in all of them: neighbours, then neighbouring results, and so on."""
    x, like = typed(value, op)
    return taken(lanes(), first_lane(x, op, like), 0)


def sum(value):
    """The sum of the values of a warp's threads, in all of them."""
    return reduce(value, plus)


def inclusive_scan(value, op):
    """The values of the threads up to and with the own one, combined."""
    x, like = typed(value, op)
    return inclusive(x, op, like)


def exclusive_scan(value, op, init):
    """The initial value and the values of the threads before the own one, combined."""
    x, like = typed(value, op, init)
    total = inclusive(x, op, like)
    before = taken(lanes(), total, (thread() & 31) - 1)
    first = as_type(init, like)
    return first if thread() & 31 == 0 else as_type(op(first, before), like)


def scan(value, op, init=None, exclusive=False):
    """`inclusive_scan`, after an initial value if there is one, or `exclusive_scan`."""
    if prim.is_none(init):
        if exclusive:
            prim.error("exclusive results need an initial value")
        return inclusive_scan(value, op)
    if exclusive:
        return exclusive_scan(value, op, init)
    x, like = typed(value, op, init)
    return as_type(op(as_type(init, like), inclusive(x, op, like)), like)


def inclusive_sum(value):
    """The sum of the values of the threads up to and with the own one."""
    return inclusive_scan(value, plus)


def exclusive_sum(value):
    """The sum of the values of the threads before the own one; 0 in the first."""
    return exclusive_scan(value, plus, zero(value))


def _sorted(key, order):
    # The key at the lane's place in the order, and the lane that has given it. Lanes that are not there are behind all.
    number, lane = lanes(), thread() & 31
    place = np.int32(lane)
    width = 2
    while width <= 32:
        # The first round mirrors, so that all comparisons go the same way.
        flip, step = width - 1, width // 2
        while step > 0:
            other, at = taken(number, key, lane ^ flip), taken(number, place, lane ^ flip)
            if (lane ^ flip) < number:
                is_first = order(other, key) or (at < place and not order(key, other))
                if is_first == (lane < (lane ^ flip)):
                    key, place = other, at
            step //= 2
            flip = step
        width *= 2
    return key, place


def sort(key, value=None, *, before=None):
    """The key at the thread's place in the order of a warp's keys, and its value; equal ones keep their order."""
    found, place = _sorted(strong(key), before_of(before, key))
    if prim.is_none(value):
        return found
    return found, taken(lanes(), strong(value), int(place))


def top_k(value, k):
    """The greatest values of a warp's threads in descending order, and the lanes that have given them.

    Threads from the k-th on get -1 as lane, and their own value.
    """
    x = strong(value)
    found, place = _sorted(x, backward(before_of(None, x)))
    if thread() & 31 < k:
        return found, int(place)
    return x, -1
