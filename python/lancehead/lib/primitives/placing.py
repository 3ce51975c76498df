"""Loops that read and write elements at places."""

import numpy as np

from lancehead import prange
from lancehead.lib import prim


def check_places(places, n):
    """Raises IndexError for the first place that is out of bounds."""
    bad = 0
    for place in places:
        # Those from -n to before n, by one comparison.
        bad += np.uint64(place + n) >= np.uint64(2 * n)
    if bad:
        for place in places:
            if place < -n or place >= n:
                raise IndexError(f"index {place} is out of bounds for axis 0 with size {n}")


def put_rows(op, x, places, values):
    """A copy of rows, into which values are combined at places, one after the other."""
    out = x.copy()
    n = x.shape[0]
    check_places(places, n)
    for i in range(places.size):
        place = places[i]
        for j in range(x.shape[1]):
            out[place, j] = op(out[place, j], values[i, j])
    return out


def put_elements(op, x, places, values):
    """A copy of a line, into which values are combined at places, one after the other."""
    out = x.copy()
    check_places(places, x.size)
    for i in range(places.size):
        out[places[i]] = op(out[places[i]], values[i])
    return out


def take_rows(x, places):
    """Rows, or elements of a line, at places."""
    out = np.empty(places.shape + x.shape[1:], x.dtype)
    n = x.shape[0]
    check_places(places, n)
    if x.ndim == 1:
        for i in prange(places.size):
            place = prim.item(places, i)
            out[i] = prim.item(x, place + n if place < 0 else place)
    else:
        for i in prange(places.size):
            out[i] = x[places[i]]
    return out
