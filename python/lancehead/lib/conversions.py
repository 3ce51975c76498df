"""Conversions with Python's checks."""

from lancehead.lib import prim


def int_of_float(x):
    """`int(x)` of a float."""
    # One test, which NaN does not pass either.
    if not prim.fabs(x) < 9223372036854775808.0:
        if x != x:
            raise ValueError("cannot convert float NaN to integer")
        if x - x != 0.0:
            raise OverflowError("cannot convert float infinity to integer")
        if x != -9223372036854775808.0:
            raise OverflowError("the integer does not fit 64 bits")
    return prim.cast(x, int)


def index_of(x):
    """An integer argument as `int`; anything else is refused while compiling."""
    if prim.is_optional(x):
        return int(x)
    if not (prim.is_int(x) or prim.is_bool(x)):
        prim.error("an integer is needed here")
    return prim.cast(x, int)
