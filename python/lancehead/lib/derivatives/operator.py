"""Derivatives of operators."""

import cmath

from lancehead.lib import prim
from lancehead.lib.derivatives import along, like_signed, times
from lancehead.lib.operator import _complex_pow


def _float_mod_text(a, b):
    """The remainder without `copysign`, whose slope has the sign of a zero."""
    r = prim.frem(a, b)
    if r == 0.0:
        return prim.cast(like_signed(r, b), prim.dtype_of(r))
    if (b < 0.0) != (r < 0.0):
        r += b
    return r


def float_rem_text(a, b):
    """The remainder by its row, whose slope is one also at zero."""
    return prim.frem(a, b)


def _complex_pow_forward(a, b):
    """The power, and what its slopes are made of."""
    found = _complex_pow(a, b)
    return found, (a, b, found)


def _complex_pow_backward(saved, adjoint, wanted, shadows):
    """`b a**(b - 1)` and `a**b log(a)`, also of integral exponents, whose powers are products."""
    a, b, found = saved
    of_base = adjoint * _slope(a, b).conjugate() if wanted & 1 != 0 else None
    of_exponent = adjoint * _slope_of_exponent(a, found).conjugate() if wanted & 2 != 0 else None
    return of_base, of_exponent


def _complex_pow_tangent(wanted, tangents, a, b):
    """The sum of both slopes times the tangents."""
    found = _complex_pow(a, b)
    if wanted == 1:
        return found, times(_slope(a, b), tangents[0])
    if wanted == 2:
        return found, times(_slope_of_exponent(a, found), tangents[1])
    of_base = times(_slope(a, b), along(wanted & 1, tangents[0]))
    return found, of_base + times(_slope_of_exponent(a, found), along(wanted & 2, tangents[1]))


def _slope(a, b):
    one = prim.cast(1, prim.dtype_of(a))
    if b == 0:
        return one - one
    if a == 0 and b.real < 1.0:
        return prim.complex(prim.fdiv(one.real, a.real * a.real), one.imag)
    return b * _complex_pow(a, b - one)


def _slope_of_exponent(a, found):
    # As for real numbers, powers of zero do not depend on the exponent.
    if a == 0:
        return prim.cast(0, prim.dtype_of(a))
    return found * prim.cast(cmath.log(prim.cast(a, complex)), prim.dtype_of(a))
