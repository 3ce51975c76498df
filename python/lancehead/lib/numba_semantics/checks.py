"""Numba's checks of the arguments of functions of `numpy`, which it makes while it types a call."""

from lancehead.lib import prim
from lancehead.lib.numpy.creation import asarray


def need(is_so, message):
    """Refuses a call unless an answer, which is known while compiling, is true."""
    if not is_so:
        prim.error(message)


def check(is_so, message):
    """Raises an error where the program runs, unless an answer is true."""
    if not is_so:
        raise ValueError(message)


def need_array_like(x, message):
    """Refuses what Numba makes no array of: arrays, numbers, lists and tuples are taken, and constant texts."""
    if prim.is_none(x) or prim.is_optional(x) or prim.is_dict(x) or prim.is_set(x) or prim.is_bytes(x):
        prim.error(message)
    if prim.is_slice(x) or prim.is_dtype(x) or prim.is_func(x) or (prim.is_str(x) and not prim.is_const(x)):
        prim.error(message)


def need_integers(x, message):
    """Refuses what is neither an integer nor an array or a sequence of integers; an empty tuple is one."""
    if prim.is_tuple(x) and len(x) == 0:
        return
    if prim.is_none(x) or prim.is_str(x) or not prim.is_int(prim.dtype_of(x if prim.is_number(x) else asarray(x))):
        prim.error(message)


def need_literal(x):
    """Asks the caller for a constant, of which a call is typed by the value."""
    if not prim.is_const(x):
        prim.tuple_fill(x, 0)


def axis_in(name, argument, ndim, axis):
    """An axis from the start, or Numba's error."""
    k = int(axis)
    if k < -ndim or k >= ndim:
        raise ValueError(name + ": Argument " + argument + " out of bounds for dimensions of the array")
    return k + ndim if k < 0 else k
