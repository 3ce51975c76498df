"""Derivatives of limits to an interval: of equal numbers, each has a half, as with `np.maximum`."""

from lancehead.lib import prim
from lancehead.lib.numpy.choices import larger, smaller


def _at_least_text(x, low):
    """The greater one."""
    dtype = prim.result_type(x, low)
    a, b = prim.cast(x, dtype), prim.cast(low, dtype)
    return larger(a, b) if prim.is_complex(dtype) else prim.maximum(a, b)


def _at_most_text(x, high):
    """The lesser one."""
    dtype = prim.result_type(x, high)
    a, b = prim.cast(x, dtype), prim.cast(high, dtype)
    return smaller(a, b) if prim.is_complex(dtype) else prim.minimum(a, b)
