"""Derivatives of functions of `math` that take numbers apart."""

import math

from lancehead.lib import prim
from lancehead.lib.derivatives import along, like_signed, times
from lancehead.lib.scipy.kernels import digamma


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


def modf_text(x, /):
    """Both parts without `copysign`, whose slope has the sign of a zero."""
    v = float(x)
    if v - v != 0.0:
        return (v if v != v else prim.copysign(0.0, v)), v
    whole = prim.trunc(v)
    return like_signed(v - whole, v), whole


def gamma_forward(x):
    """The gamma function, twice, and the argument."""
    found = math.gamma(x)
    return found, (float(x), found)


def gamma_backward(saved, adjoint, wanted, shadows):
    """`gamma(x) digamma(x)`."""
    x, found = saved
    return (adjoint * (found * digamma(x)),)


def gamma_tangent(wanted, tangents, x):
    """`gamma(x) digamma(x)`."""
    found = math.gamma(x)
    tangent = times(found * digamma(float(x)), along(wanted & 1, prim.cast(tangents[0], float)))
    return found, prim.cast(tangent, prim.dtype_of(found))


def lgamma_forward(x):
    """The logarithm, and the argument."""
    return math.lgamma(x), float(x)


def lgamma_backward(saved, adjoint, wanted, shadows):
    """`digamma(x)`."""
    return (adjoint * digamma(saved),)


def lgamma_tangent(wanted, tangents, x):
    """`digamma(x)`."""
    found = math.lgamma(x)
    tangent = times(digamma(float(x)), along(wanted & 1, prim.cast(tangents[0], float)))
    return found, prim.cast(tangent, prim.dtype_of(found))
