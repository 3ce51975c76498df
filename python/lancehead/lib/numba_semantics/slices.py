"""Parts of slices, which are numbers in Numba: a missing one is the end of all numbers in the slice's direction."""

import numpy as np

from lancehead.lib import prim

_MOST = 2**63 - 1
_LEAST = -(2**63)


def start(s):
    """Where the slice begins."""
    first = s.start
    if first is None:
        return prim.cast(0 if step(s) > 0 else _MOST, np.int64)
    return prim.cast(first, np.int64) if prim.is_int(first) else first


def stop(s):
    """Before which place it ends."""
    last = s.stop
    if last is None:
        return prim.cast(_MOST if step(s) > 0 else _LEAST, np.int64)
    return prim.cast(last, np.int64) if prim.is_int(last) else last


def step(s):
    """How far places are from each other."""
    distance = s.step
    if distance is None:
        return prim.cast(1, np.int64)
    return prim.cast(distance, np.int64) if prim.is_int(distance) else distance
