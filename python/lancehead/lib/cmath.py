"""Functions of complex numbers, in the precision of their parts. Real arguments count as complex."""

import numpy as np

from lancehead.lib import prim


def _c(z):
    if prim.is_complex(z):
        return z
    return complex(z)


def _like(x, z):
    return prim.cast(x, prim.dtype_of(z.real))


def _check_domain(outside):
    if outside and not prim.numpy_errors():
        raise ValueError("math domain error")


def _infinite(w):
    return prim.isinf(w.real) or prim.isinf(w.imag)


def phase(z, /):
    """Angle of a complex number.

    >>> cmath.phase(1j)
    1.5707963267948966
    """
    w = _c(z)
    return prim.atan2(w.imag, w.real)


def polar(z, /):
    """Modulus and angle.

    >>> cmath.polar(3 + 4j)
    (5.0, 0.9272952180016122)
    """
    w = _c(z)
    return prim.hypot(w.real, w.imag), prim.atan2(w.imag, w.real)


def rect(r, phi, /):
    """Complex number of a modulus and an angle.

    >>> cmath.rect(2.0, 0.0)
    (2+0j)
    """
    size, angle = float(r), float(phi)
    if angle == 0.0:
        return prim.complex(size, 0.0 if size != size else angle * prim.copysign(1.0, size))
    if not prim.isfinite(angle):
        _check_domain(prim.isinf(angle) and size == size and size != 0.0)
        if prim.isinf(size):
            return prim.complex(prim.fabs(size), angle - angle)
        return prim.complex(0.0, 0.0) if size == 0.0 else prim.complex(angle - angle, angle - angle)
    if prim.isinf(size):
        return prim.complex(size * prim.copysign(1.0, prim.cos(angle)), size * prim.copysign(1.0, prim.sin(angle)))
    return prim.complex(size * prim.cos(angle), size * prim.sin(angle))


def isnan(z, /):
    """Whether a part is NaN.

    >>> cmath.isnan(1 + 2j)
    False
    """
    w = _c(z)
    return prim.isnan(w.real) or prim.isnan(w.imag)


def isinf(z, /):
    """Whether a part is infinite.

    >>> cmath.isinf(1 + 2j)
    False
    """
    w = _c(z)
    return prim.isinf(w.real) or prim.isinf(w.imag)


def isfinite(z, /):
    """Whether both parts are finite.

    >>> cmath.isfinite(1 + 2j)
    True
    """
    w = _c(z)
    return prim.isfinite(w.real) and prim.isfinite(w.imag)


def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    """Whether two numbers are near.

    >>> cmath.isclose(1 + 1j, 1 + 1.0000000001j)
    True
    """
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    x, y = _c(a), _c(b)
    if x.real == y.real and x.imag == y.imag:
        return True
    if isinf(x) or isinf(y):
        return False
    distance = prim.hypot(x.real - y.real, x.imag - y.imag)
    size = max(prim.hypot(x.real, x.imag), prim.hypot(y.real, y.imag))
    return distance <= rel_tol * size or distance <= abs_tol


def _scales(size):
    # A factor under which sums of magnitudes neither overflow nor lose digits, and the one of square roots.
    is_double = prim.itemsize(prim.dtype_of(size)) == 8
    one, up = prim.cast(1, prim.dtype_of(size)), 1.8014398509481984e16 if is_double else 16777216.0
    if size < (4.5e-308 if is_double else 2.4e-38):
        return up * one, (7.450580596923828e-09 if is_double else 0.000244140625) * one
    if size > (4.4e307 if is_double else 8.5e37):
        return 0.25 * one, one + one
    return one, one


def sqrt(z, /):
    """Square root.

    >>> cmath.sqrt(-4)
    2j
    """
    w = _c(z)
    a, b = w.real, w.imag
    if a == 0.0 and b == 0.0:
        return prim.complex(a - a, b)
    if prim.isinf(b):
        return prim.complex(prim.fabs(b), b)
    if a != a or (b != b and not prim.isinf(a)):
        return prim.complex(a + b, a + b)
    if prim.isinf(a):
        if a > 0.0:
            return prim.complex(a, prim.copysign(b - b, b))
        return prim.complex(prim.fabs(b - b), prim.copysign(a, b))
    scale, back = _scales(prim.maximum(prim.fabs(a), prim.fabs(b)))
    x, y = prim.fabs(a) * scale, prim.fabs(b) * scale
    s = prim.sqrt((x + prim.hypot(x, y)) * _like(0.5, w))
    # NumPy's parts are equal on the imaginary axis, Python's are quotients.
    d = s if a == 0.0 and prim.numpy_errors() else prim.fdiv(y, s + s)
    s, d = s * back, d * back
    if a >= 0.0:
        return prim.complex(s, prim.copysign(d, b))
    return prim.complex(d, prim.copysign(s, b))


def exp(z, /):
    """e to the power of a number.

    >>> cmath.exp(0)
    (1+0j)
    """
    w = _c(z)
    size = prim.exp(w.real)
    if w.imag == 0.0:
        return prim.complex(size, w.imag)
    if not prim.isfinite(w.imag):
        # The part itself counts, since the exponential of a finite one may overflow.
        is_least = prim.isinf(w.real) and w.real < 0.0
        _check_domain(prim.isinf(w.imag) and w.real == w.real and not is_least)
        return (
            prim.complex(size, size)
            if is_least
            else prim.complex(size if prim.isinf(w.real) else w.imag - w.imag, w.imag - w.imag)
        )
    if size == 0.0 or prim.isinf(w.real):
        return prim.complex(prim.copysign(size, prim.cos(w.imag)), prim.copysign(size, prim.sin(w.imag)))
    return prim.complex(size * prim.cos(w.imag), size * prim.sin(w.imag))


def log(z, /, *base):
    """Logarithm, natural or to a base.

    >>> cmath.log(1)
    0j
    """
    if len(base) == 0:
        return natural_log(z)
    if len(base) > 1:
        prim.error("`log` takes at most two numbers")
    return natural_log(z) / natural_log(base[0])


def natural_log(z):
    """Natural logarithm."""
    w = _c(z)
    _check_domain(w.real == 0.0 and w.imag == 0.0)
    return prim.complex(_log_modulus(w), prim.atan2(w.imag, w.real))


def _log_modulus(w):
    a, b = prim.fabs(w.real), prim.fabs(w.imag)
    size = prim.hypot(a, b)
    if size < _like(1e-37 if prim.itemsize(prim.dtype_of(w)) == 8 else 1e-307, w):
        # Subnormal numbers have few digits.
        return prim.log(prim.hypot(a * _like(1e20, w), b * _like(1e20, w))) - _like(46.051701859880914, w)
    # Near the unit circle the logarithm of the modulus cancels.
    if size > 0.71 and size < 1.73:
        high = a if a > b else b
        low = b if a > b else a
        one = _like(1, w)
        return prim.log1p((high - one) * (high + one) + low * low) * _like(0.5, w)
    if prim.isinf(size) and prim.isfinite(a) and prim.isfinite(b):
        half = _like(0.5, w)
        return prim.log(prim.hypot(a * half, b * half)) + _like(0.6931471805599453, w)
    return prim.log(size)


def log10(z, /):
    """Logarithm to base 10.

    >>> cmath.log10(100)
    (2+0j)
    """
    w = _c(z)
    _check_domain(w.real == 0.0 and w.imag == 0.0)
    scale = _like(2.302585092994046, w)
    return prim.complex(_log_modulus(w) / scale, prim.atan2(w.imag, w.real) / scale)


def sinh(z, /):
    """Hyperbolic sine.

    >>> cmath.sinh(0)
    0j
    """
    w = _c(z)
    a, b = w.real, w.imag
    if b == 0.0:
        return prim.complex(prim.sinh(a), b)
    if not prim.isfinite(b):
        _check_domain(prim.isinf(b) and a == a)
        if prim.isinf(a):
            return prim.complex(prim.fabs(a), b - b)
        return prim.complex(prim.fabs(a), b - b) if a == 0.0 else prim.complex(b - b, b - b)
    if prim.isinf(a):
        one = _like(1, w)
        return prim.complex(a * prim.copysign(one, prim.cos(b)), prim.fabs(a) * prim.copysign(one, prim.sin(b)))
    return prim.complex(prim.cos(b) * prim.sinh(a), prim.sin(b) * prim.cosh(a))


def cosh(z, /):
    """Hyperbolic cosine.

    >>> cmath.cosh(0)
    (1+0j)
    """
    w = _c(z)
    a, b = w.real, w.imag
    one = _like(1, w)
    if b == 0.0:
        return prim.complex(prim.cosh(a), prim.fabs(b) if a != a else b * prim.copysign(one, a))
    if not prim.isfinite(b):
        _check_domain(prim.isinf(b) and a == a)
        if prim.isinf(a):
            return prim.complex(prim.fabs(a), b - b)
        return prim.complex(b - b, prim.fabs(a) if a == 0.0 else b - b)
    if prim.isinf(a):
        return prim.complex(prim.fabs(a) * prim.copysign(one, prim.cos(b)), a * prim.copysign(one, prim.sin(b)))
    return prim.complex(prim.cos(b) * prim.cosh(a), prim.sin(b) * prim.sinh(a))


def tanh(z, /):
    """Hyperbolic tangent.

    >>> cmath.tanh(0)
    0j
    """
    w = _c(z)
    if w.imag == 0.0:
        return prim.complex(prim.tanh(w.real), w.imag)
    if prim.isinf(w.real):
        turn = w.imag + w.imag
        return prim.complex(
            prim.copysign(_like(1, w), w.real),
            prim.copysign(_like(0, w), prim.sin(turn)) if prim.isfinite(w.imag) else _like(0, w),
        )
    if not prim.isfinite(w.imag):
        _check_domain(prim.isinf(w.imag) and w.real == w.real)
        return prim.complex(w.real if w.real == 0.0 else w.imag - w.imag, w.imag - w.imag)
    if prim.fabs(w.real) > 20.0:
        # The quotient of exponentials is one; what is left of the imaginary part is 4 sin cos exp(-2|x|).
        small = _like(4, w) * prim.sin(w.imag) * prim.cos(w.imag) * prim.exp(-(prim.fabs(w.real) + prim.fabs(w.real)))
        return prim.complex(prim.copysign(_like(1, w), w.real), small)
    t = prim.tan(w.imag)
    c = prim.cosh(w.real)
    s = prim.sinh(w.real)
    one = _like(1, w)
    scale = (one / (c * c)) / (one + t * t * (s / c) * (s / c))
    return prim.complex((s / c) * (one + t * t) / (one + t * t * (s / c) * (s / c)), t * scale)


def _times_i(z):
    return prim.complex(-z.imag, z.real)


def _over_i(z):
    return prim.complex(z.imag, -z.real)


def sin(z, /):
    """Sine.

    >>> cmath.sin(0)
    0j
    """
    return _over_i(sinh(_times_i(_c(z))))


def cos(z, /):
    """Cosine.

    >>> cmath.cos(0)
    (1-0j)
    """
    return cosh(_times_i(_c(z)))


def tan(z, /):
    """Tangent.

    >>> cmath.tan(0)
    0j
    """
    return _over_i(tanh(_times_i(_c(z))))


def asinh(z, /):
    """Inverse hyperbolic sine.

    >>> cmath.asinh(0)
    0j
    """
    w = _c(z)
    if _infinite(w):
        return prim.complex(prim.copysign(_like(np.inf, w), w.real), prim.atan2(w.imag, prim.fabs(w.real)))
    if w.real != w.real and w.imag == 0.0:
        return w
    one = _like(1, w)
    s = sqrt(prim.complex(one + w.imag, -w.real))
    t = sqrt(prim.complex(one - w.imag, w.real))
    return prim.complex(
        prim.asinh(s.real * t.imag - t.real * s.imag), prim.atan2(w.imag, s.real * t.real - s.imag * t.imag)
    )


def acosh(z, /):
    """Inverse hyperbolic cosine.

    >>> cmath.acosh(1)
    0j
    """
    w = _c(z)
    if _infinite(w):
        return prim.complex(_like(np.inf, w), prim.atan2(w.imag, w.real))
    if w.real == 0.0 and w.imag != w.imag:
        return prim.complex(w.imag, _like(1.5707963267948966, w))
    one = _like(1, w)
    s = sqrt(prim.complex(w.real - one, w.imag))
    t = sqrt(prim.complex(w.real + one, w.imag))
    angle = prim.atan2(s.imag, t.real)
    return prim.complex(prim.asinh(s.real * t.real + s.imag * t.imag), angle + angle)


def acos(z, /):
    """Arc cosine.

    >>> cmath.acos(1)
    -0j
    """
    w = _c(z)
    if _infinite(w):
        sign = _like(-1, w) if w.imag != w.imag else w.imag
        return prim.complex(prim.atan2(prim.fabs(w.imag), w.real), -prim.copysign(_like(np.inf, w), sign))
    if w.real == 0.0 and w.imag != w.imag:
        return prim.complex(_like(1.5707963267948966, w), w.imag)
    one = _like(1, w)
    s = sqrt(prim.complex(one - w.real, -w.imag))
    t = sqrt(prim.complex(one + w.real, w.imag))
    angle = prim.atan2(s.real, t.real)
    return prim.complex(angle + angle, prim.asinh(t.real * s.imag - t.imag * s.real))


def asin(z, /):
    """Arc sine.

    >>> cmath.asin(0)
    0j
    """
    return _over_i(asinh(_times_i(_c(z))))


def atanh(z, /):
    """Inverse hyperbolic tangent.

    >>> cmath.atanh(0)
    0j
    """
    w = _c(z)
    if _infinite(w):
        angle = w.imag if w.imag != w.imag else prim.copysign(_like(1.5707963267948966, w), w.imag)
        return prim.complex(prim.copysign(_like(0, w), _like(0, w) if w.real != w.real else w.real), angle)
    if w.real == 0.0 and w.imag != w.imag:
        return w
    if w.real < 0.0 or (w.real == 0.0 and prim.signbit(w.real)):
        r = atanh(prim.complex(-w.real, -w.imag))
        return prim.complex(-r.real, -r.imag)
    one = _like(1, w)
    four = _like(4, w)
    b = w.imag
    if w.real == one and b == 0.0:
        if prim.numpy_errors():
            return prim.complex(prim.fdiv(one, prim.fabs(b)), b)
        raise ValueError("math domain error")
    if prim.maximum(w.real, prim.fabs(b)) > (9e18 if prim.itemsize(prim.dtype_of(b)) == 4 else 6e153):
        # Squares overflow, and one is nothing beside the number.
        h = prim.hypot(w.real, b)
        return prim.complex(w.real / h / h, prim.copysign(_like(1.5707963267948966, w), b))
    gap = one - w.real
    size = gap * gap + b * b
    return prim.complex(
        prim.log1p(four * w.real / size) / four,
        -prim.atan2(-(b + b), gap * (one + w.real) - b * b) * _like(0.5, w),
    )


def atan(z, /):
    """Arc tangent.

    >>> cmath.atan(0)
    0j
    """
    return _over_i(atanh(_times_i(_c(z))))
