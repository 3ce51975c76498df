"""Derivatives of functions of complex numbers, by their slopes.

Their text cannot be differentiated: it has cases for numbers on the axes, where it does not look at the other part.
"""

import cmath

from lancehead.lib import prim
from lancehead.lib.cmath import _c, _like, natural_log
from lancehead.lib.copying import copied
from lancehead.lib.derivatives import along, times


def _inverse(x):
    # Of zero it is NaN, without an exception.
    size = prim.hypot(x.real, x.imag)
    if prim.isinf(size):
        return prim.complex(_like(0, x), _like(0, x))
    real, imag = prim.fdiv(x.real, size), prim.fdiv(x.imag, size)
    return prim.complex(prim.fdiv(real, size), -prim.fdiv(imag, size))


def _times_i(x):
    return prim.complex(-x.imag, x.real)


def _back(saved, adjoint, wanted, shadows):
    """The adjoint times the conjugate of the slope, which was saved."""
    return (adjoint * saved.conjugate(),)


#: In copies of `_tangent` that of a function.
_forward = None


def _tangent(wanted, tangents, z):
    """The slope times the tangent."""
    found, slope = _forward(z)
    return found, times(slope, prim.cast(along(wanted & 1, tangents[0]), prim.dtype_of(found)))


def _of_both_roots(w):
    # `sqrt(1 - w) sqrt(1 + w)`, which is on its branch cuts where the arc functions are.
    one = _like(1, w)
    return cmath.sqrt(prim.complex(one - w.real, -w.imag)) * cmath.sqrt(prim.complex(one + w.real, w.imag))


def _of_both(w):
    one = _like(1, w)
    return prim.complex(one - w.real, -w.imag) * prim.complex(one + w.real, w.imag)


def sqrt_forward(z):
    """The result, and the slope: `1 / (2 sqrt(z))`."""
    found = cmath.sqrt(z)
    return found, _inverse(found + found)


def exp_forward(z):
    """The result, and the slope: the exponential."""
    found = cmath.exp(z)
    return found, found


def natural_log_forward(z):
    """The result, and the slope: `1 / z`."""
    found = natural_log(z)
    return found, _inverse(_c(z))


def log10_forward(z):
    """The result, and the slope: `1 / (z log(10))`."""
    found = cmath.log10(z)
    return found, _inverse(_c(z)) * _like(0.4342944819032518, found)


def sinh_forward(z):
    """The result, and the slope: `cosh(z)`."""
    found = cmath.sinh(z)
    return found, cmath.cosh(z)


def cosh_forward(z):
    """The result, and the slope: `sinh(z)`."""
    found = cmath.cosh(z)
    return found, cmath.sinh(z)


def tanh_forward(z):
    """The result, and the slope: `1 - tanh(z)**2`."""
    found = cmath.tanh(z)
    return found, _of_both(found)


def sin_forward(z):
    """The result, and the slope: `cos(z)`."""
    found = cmath.sin(z)
    return found, cmath.cos(z)


def cos_forward(z):
    """The result, and the slope: `-sin(z)`."""
    found = cmath.cos(z)
    return found, -cmath.sin(z)


def tan_forward(z):
    """The result, and the slope: `1 + tan(z)**2`."""
    found = cmath.tan(z)
    return found, _of_both(_times_i(found))


def asinh_forward(z):
    """The result, and the slope: `1 / sqrt(1 + z**2)`."""
    found = cmath.asinh(z)
    return found, _inverse(_of_both_roots(_times_i(_c(z))))


def acosh_forward(z):
    """The result, and the slope `1 / (sqrt(z - 1) sqrt(z + 1))`."""
    found, w = cmath.acosh(z), _c(z)
    one = _like(1, w)
    low, high = prim.complex(w.real - one, w.imag), prim.complex(w.real + one, w.imag)
    return found, _inverse(cmath.sqrt(low) * cmath.sqrt(high))


def acos_forward(z):
    """The result, and the slope: `-1 / sqrt(1 - z**2)`."""
    found = cmath.acos(z)
    return found, -_inverse(_of_both_roots(_c(z)))


def asin_forward(z):
    """The result, and the slope: `1 / sqrt(1 - z**2)`."""
    found = cmath.asin(z)
    return found, _inverse(_of_both_roots(_c(z)))


def atanh_forward(z):
    """The result, and the slope: `1 / (1 - z**2)`."""
    found = cmath.atanh(z)
    return found, _inverse(_of_both(_c(z)))


def atan_forward(z):
    """The result, and the slope: `1 / (1 + z**2)`."""
    found = cmath.atan(z)
    return found, _inverse(_of_both(_times_i(_c(z))))


def rect_forward(r, phi):
    """The number, and its derivatives by modulus and angle."""
    turn = prim.complex(prim.cos(float(phi)), prim.sin(float(phi)))
    return cmath.rect(r, phi), (turn, _times_i(turn) * float(r))


def rect_backward(saved, adjoint, wanted, shadows):
    """The real parts of the adjoint times the conjugates of both."""
    by_size, by_angle = saved
    return (adjoint * by_size.conjugate()).real, (adjoint * by_angle.conjugate()).real


def rect_tangent(wanted, tangents, r, phi):
    """The sum of both times the tangents."""
    found, (by_size, by_angle) = rect_forward(r, phi)
    own = by_size * prim.cast(along(wanted & 1, tangents[0]), float)
    return found, own + by_angle * prim.cast(along(wanted & 2, tangents[1]), float)


for _name in "sqrt exp natural_log log10 sinh cosh tanh sin cos tan asinh acosh acos asin atanh atan".split():
    _own = {"__name__": __name__, "_forward": globals()[f"{_name}_forward"]}
    globals()[f"{_name}_tangent"] = copied(_tangent, f"{_name}_tangent", _own)
    globals()[f"{_name}_backward"] = _back
