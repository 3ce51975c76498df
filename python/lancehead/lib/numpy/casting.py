"""The conversions that `casting=` allows."""

from lancehead.lib import prim
from lancehead.lib.conversions import int_of_float
from lancehead.lib.scalars import out_of_bounds


def check_rule(casting):
    """Refuses a text that is no rule of ufuncs, as NumPy does whatever the operands are."""
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError(f"casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe' (got {casting!r})")


def check_cast(source, target, casting):
    """Refuses a conversion between two dtypes that the rule does not allow."""
    if not prim.is_str(casting):
        prim.error("`casting` is a string")
    if casting == "unsafe":
        return
    if casting == "same_kind" or casting == "same_value":
        _check_kind(source, target)
    elif casting == "safe":
        if prim.result_type(source, target) != target:
            prim.error("the conversion is not safe: an element may not fit")
    elif casting == "no" or casting == "equiv":
        if source != target:
            prim.error("the conversion is to another dtype")
    else:
        prim.error("`casting` is one of 'no', 'equiv', 'safe', 'same_kind' and 'unsafe'")


def name_of(dtype):
    """NumPy's name of a type of integers or truth values."""
    if prim.is_bool(dtype):
        return "bool"
    return ("int" if prim.is_signed(dtype) else "uint") + str(8 * prim.itemsize(dtype))


def fitting(x, dtype):
    """A number as a type of elements; a Python number that a type of integers does not hold raises."""
    if prim.is_int(dtype) and prim.is_weak(x) and not prim.in_kernel():
        if prim.is_int(x):
            _check_bounds(x, dtype)
        elif prim.is_float(x) and not _is_count(x, dtype):
            _check_bounds(int_of_float(x), dtype)
    if prim.is_bool(dtype) and prim.is_complex(x):
        return x != 0
    if prim.is_complex(x) and not prim.is_complex(dtype):
        prim.error("a complex number is not made a real one here: use its `real`")
    return prim.cast(x, dtype)


def _is_count(x, dtype):
    # Of 64 bits without a sign, which Python's integers of compiled code do not hold.
    return not prim.is_signed(dtype) and prim.itemsize(dtype) == 8 and -1.0 < x < 18446744073709551616.0


def _check_bounds(x, dtype):
    bits = 8 * prim.itemsize(dtype)
    if prim.is_signed(dtype):
        if bits < 64:
            if x < -(1 << (bits - 1)) or x >= 1 << (bits - 1):
                out_of_bounds(x, name_of(dtype))
    elif x < 0 or (bits < 64 and x >= 1 << bits):
        out_of_bounds(x, name_of(dtype))


def _check_kind(source, target):
    if prim.is_complex(source) and not prim.is_complex(target):
        prim.error("a complex number is not cast to a real one by this rule")
    if prim.is_float(source) and (prim.is_int(target) or prim.is_bool(target)):
        prim.error("a float is not cast to an integer by this rule")
    if prim.is_int(source) and prim.is_bool(target):
        prim.error("an integer is not cast to a truth value by this rule")
    if prim.is_int(source) and prim.is_int(target) and prim.is_signed(source) and not prim.is_signed(target):
        prim.error("an integer with a sign is not cast to one without by this rule")
