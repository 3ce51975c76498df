"""Conversions with Python's checks."""

import numpy as np

from lancehead.lib import prim


def int_of_float(x):
    """`int(x)` of a float."""
    wide = prim.cast(x, float)
    n = prim.whole_of_f64(wide)
    # Nearly always one test says that all is well.
    if n == -9223372036854775808 and wide != -9223372036854775808.0:
        if wide != wide:
            raise ValueError("cannot convert float NaN to integer")
        if wide - wide != 0.0:
            raise OverflowError("cannot convert float infinity to integer")
        raise OverflowError("the integer does not fit 64 bits")
    return prim.cast(n, int)


def text_of_argument(x):
    """A text argument; anything else is refused while compiling."""
    if not prim.is_str(x):
        prim.error("a string is needed here")
    return x


def index_of(x):
    """An integer argument as `int`; anything else is refused while compiling."""
    if prim.is_optional(x):
        return int(x)
    if prim.is_a(x, "builtins.list") or prim.is_range(x):
        prim.error("an integer or a tuple is needed here: how long a list or a range is, is no part of its type")
    if not (prim.is_int(x) or prim.is_bool(x)):
        if prim.is_float(x):
            prim.error("an integer is needed here, not ", x, ": divide with `//`, or convert with `int`")
        prim.error("an integer is needed here, not ", x)
    return prim.cast(x, int)


def unranged(x):
    """A range as a list; anything else as it is."""
    return list(x) if prim.is_range(x) else x


def integer_of(x):
    """An integer argument as `int`; a truth value is none."""
    if prim.is_bool(x):
        prim.error("an integer is needed here, not a truth value")
    return index_of(x)


def c_int(x):
    """An integer of 32 bits, as NumPy takes it where it passes it on to C."""
    n = index_of(x)
    if n > 2147483647:
        raise OverflowError("signed integer is greater than maximum")
    if n < -2147483648:
        raise OverflowError("signed integer is less than minimum")
    return n


def axis_of(axis):
    """An axis of a function that NumPy writes in Python: a truth value counts as 0 or 1."""
    return index_of(axis) if prim.is_bool(axis) else axis


def flag_of(x):
    """A flag of a function that NumPy writes in Python: its truth, which an array of several elements does not have."""
    return True if x else False


def check_flag(x):
    """Refuses what is no truth value, though it would count as one in a condition."""
    if not (prim.is_bool(x) or prim.is_int(x)) or prim.is_dtype(x):
        prim.error("a truth value is needed here")


def check_device(device):
    """Refuses a `device=` that is not the processor."""
    if not prim.is_str(device):
        prim.error('`device` is "cpu" or nothing')
    if device != "cpu":
        raise ValueError('Device not understood. Only "cpu" is allowed, but received: ' + device)


def unmixed(x):
    """A list display of values of several types as a tuple; anything else as it is."""
    if isinstance(x, list) and not prim.is_a(x, "builtins.list"):
        items = ()
        for item in x:
            items = (*items, item)
        return items
    return x


def fitting(x, like):
    """A number as an integer of the type of another one; OverflowError if it does not fit."""
    dtype = prim.dtype_of(like)
    y = prim.cast(x, dtype)
    if prim.is_float(x):
        if x != x:
            raise ValueError("cannot convert float NaN to integer")
        whole = prim.trunc(prim.cast(x, np.float64))
        bits = 8 * prim.itemsize(dtype) - (1 if prim.is_signed(dtype) else 0)
        end = 2.0 * prim.cast(prim.shl(prim.cast(1, np.uint64), bits - 1), np.float64)
        if whole >= end or whole < (-end if prim.is_signed(dtype) else 0.0):
            raise OverflowError("integer overflow")
    elif prim.cast(y, prim.dtype_of(x)) != x or (y < 0) != (x < 0):
        raise OverflowError("integer overflow")
    return y


def magnitude(x):
    """The absolute value of a signed integer; OverflowError if its type does not hold it."""
    return -x if x < 0 else x
