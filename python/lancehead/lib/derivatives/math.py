"""Derivatives of functions of `math` that take numbers apart."""

import math

from lancehead.lib import prim
from lancehead.lib.derivatives import along


def frexp_forward(x):
    """Mantissa and exponent, which is constant."""
    both = math.frexp(x)
    return both, both[1]


def frexp_backward(exponent, adjoint, wanted, shadows):
    """That of the mantissa, divided by the power of two."""
    return (math.ldexp(adjoint[0], -exponent),)


def frexp_tangent(wanted, tangents, x):
    """That of the mantissa, divided by the power of two."""
    mantissa, exponent = math.frexp(x)
    slope = math.ldexp(along(wanted & 1, prim.cast(tangents[0], float)), -exponent)
    return (mantissa, exponent), (slope, exponent)
