"""Derivatives of operators."""

from lancehead.lib import prim


def _float_pow_text(a, b):
    """The power by its row also where the exponent is two or a half: products and roots do not depend on that."""
    if not prim.numpy_errors():
        if a == 0.0 and b < 0.0:
            raise ZeroDivisionError("0.0 cannot be raised to a negative power")
    return prim.pow(a, b)
