"""Derivatives of medians without NaN."""

from lancehead.lib import prim
from lancehead.lib.derivatives import writable
from lancehead.lib.numpy.nans import _median_line
from lancehead.lib.numpy.sorting import argsort_line


def _median_line_forward(v, extra):
    """The median, and the places of the element or the two that it is made of, which are -1 if there are none."""
    # A NaN is greater than all numbers.
    order = argsort_line(v)
    n = 0
    for i in range(v.size):
        n += 1 if v[i] == v[i] else 0
    places = (order[(n - 1) // 2], order[n // 2]) if n > 0 else (-1, -1)
    return _median_line(v, extra), places


def _median_line_backward(saved, adjoint, wanted, shadows):
    """Half of the adjoint goes to each of the two elements, which may be one."""
    v = writable(shadows[0])
    if wanted & 1 != 0 and saved[0] >= 0:
        half = prim.cast(adjoint, prim.dtype_of(v)) / prim.cast(2, prim.dtype_of(v))
        v[saved[0]] += half
        v[saved[1]] += half
    return (None,)
