"""The conversions that `casting=` allows."""

from lancehead.lib import prim


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


def _check_kind(source, target):
    if prim.is_complex(source) and not prim.is_complex(target):
        prim.error("a complex number is not cast to a real one by this rule")
    if prim.is_float(source) and (prim.is_int(target) or prim.is_bool(target)):
        prim.error("a float is not cast to an integer by this rule")
    if prim.is_int(source) and prim.is_bool(target):
        prim.error("an integer is not cast to a truth value by this rule")
    if prim.is_int(source) and prim.is_int(target) and prim.is_signed(source) and not prim.is_signed(target):
        prim.error("an integer with a sign is not cast to one without by this rule")
