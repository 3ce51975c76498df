"""Functions of complex numbers, in the precision of their parts. Real arguments count as complex."""

from lancehead.lib import prim


def _c(z):
    if prim.is_complex(z):
        return z
    return complex(z)


def _like(x, z):
    return prim.cast(x, prim.dtype_of(z.real))


def phase(z):
    """Angle of a complex number.

    >>> cmath.phase(1j)
    1.5707963267948966
    """
    w = _c(z)
    return prim.atan2(w.imag, w.real)


def polar(z):
    """Modulus and angle.

    >>> cmath.polar(3 + 4j)
    (5.0, 0.9272952180016122)
    """
    w = _c(z)
    return prim.hypot(w.real, w.imag), prim.atan2(w.imag, w.real)


def rect(r, phi):
    """Complex number of a modulus and an angle.

    >>> cmath.rect(2.0, 0.0)
    (2+0j)
    """
    return prim.complex(float(r) * prim.cos(float(phi)), float(r) * prim.sin(float(phi)))


def isnan(z):
    """Whether a part is NaN.

    >>> cmath.isnan(1 + 2j)
    False
    """
    w = _c(z)
    return prim.isnan(w.real) or prim.isnan(w.imag)


def isinf(z):
    """Whether a part is infinite.

    >>> cmath.isinf(1 + 2j)
    False
    """
    w = _c(z)
    return prim.isinf(w.real) or prim.isinf(w.imag)


def isfinite(z):
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
    x, y = _c(a), _c(b)
    if x.real == y.real and x.imag == y.imag:
        return True
    if isinf(x) or isinf(y):
        return False
    distance = prim.hypot(x.real - y.real, x.imag - y.imag)
    size = max(prim.hypot(x.real, x.imag), prim.hypot(y.real, y.imag))
    return distance <= rel_tol * size or distance <= abs_tol


def sqrt(z):
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
            return prim.complex(a, b - b)
        return prim.complex(prim.fabs(b - b), prim.copysign(a, b))
    half = _like(0.5, w)
    # Halved first, so that the sum below cannot overflow.
    big = prim.fabs(a) > 1e150 or prim.fabs(b) > 1e150
    x = prim.fabs(a) * _like(0.25, w) if big else prim.fabs(a)
    y = prim.fabs(b) * _like(0.25, w) if big else prim.fabs(b)
    s = prim.sqrt((x + prim.hypot(x, y)) * half)
    if big:
        s = s + s
    d = prim.fabs(b) / (s + s)
    if a >= 0.0:
        return prim.complex(s, prim.copysign(d, b))
    return prim.complex(d, prim.copysign(s, b))


def exp(z):
    """e to the power of a number.

    >>> cmath.exp(0)
    (1+0j)
    """
    w = _c(z)
    size = prim.exp(w.real)
    if w.imag == 0.0:
        return prim.complex(size, w.imag)
    if size == 0.0:
        return prim.complex(prim.copysign(size, prim.cos(w.imag)), prim.copysign(size, prim.sin(w.imag)))
    return prim.complex(size * prim.cos(w.imag), size * prim.sin(w.imag))


def log(z, base=None):
    """Logarithm, natural or to a base.

    >>> cmath.log(1)
    0j
    """
    w = _c(z)
    if w.real == 0.0 and w.imag == 0.0 and not prim.numpy_errors():
        raise ValueError("math domain error")
    value = prim.complex(_log_modulus(w), prim.atan2(w.imag, w.real))
    if base is None:
        return value
    return value / log(base)


def _log_modulus(w):
    a, b = prim.fabs(w.real), prim.fabs(w.imag)
    size = prim.hypot(a, b)
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


def log10(z):
    """Logarithm to base 10.

    >>> cmath.log10(100)
    (2+0j)
    """
    w = _c(z)
    scale = _like(2.302585092994046, w)
    return prim.complex(_log_modulus(w) / scale, prim.atan2(w.imag, w.real) / scale)


def sinh(z):
    """Hyperbolic sine.

    >>> cmath.sinh(0)
    0j
    """
    w = _c(z)
    return prim.complex(prim.cos(w.imag) * prim.sinh(w.real), prim.sin(w.imag) * prim.cosh(w.real))


def cosh(z):
    """Hyperbolic cosine.

    >>> cmath.cosh(0)
    (1+0j)
    """
    w = _c(z)
    return prim.complex(prim.cos(w.imag) * prim.cosh(w.real), prim.sin(w.imag) * prim.sinh(w.real))


def tanh(z):
    """Hyperbolic tangent.

    >>> cmath.tanh(0)
    0j
    """
    w = _c(z)
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


def sin(z):
    """Sine.

    >>> cmath.sin(0)
    0j
    """
    return _over_i(sinh(_times_i(_c(z))))


def cos(z):
    """Cosine.

    >>> cmath.cos(0)
    (1-0j)
    """
    return cosh(_times_i(_c(z)))


def tan(z):
    """Tangent.

    >>> cmath.tan(0)
    0j
    """
    return _over_i(tanh(_times_i(_c(z))))


def asinh(z):
    """Inverse hyperbolic sine.

    >>> cmath.asinh(0)
    0j
    """
    w = _c(z)
    one = _like(1, w)
    s = sqrt(prim.complex(one + w.imag, -w.real))
    t = sqrt(prim.complex(one - w.imag, w.real))
    return prim.complex(prim.asinh(s.real * t.imag - t.real * s.imag), prim.atan2(w.imag, s.real * t.real - s.imag * t.imag))


def acosh(z):
    """Inverse hyperbolic cosine.

    >>> cmath.acosh(1)
    0j
    """
    w = _c(z)
    one = _like(1, w)
    s = sqrt(prim.complex(w.real - one, w.imag))
    t = sqrt(prim.complex(w.real + one, w.imag))
    angle = prim.atan2(s.imag, t.real)
    return prim.complex(prim.asinh(s.real * t.real + s.imag * t.imag), angle + angle)


def acos(z):
    """Arc cosine.

    >>> cmath.acos(1)
    -0j
    """
    w = _c(z)
    one = _like(1, w)
    s = sqrt(prim.complex(one - w.real, -w.imag))
    t = sqrt(prim.complex(one + w.real, w.imag))
    angle = prim.atan2(s.real, t.real)
    return prim.complex(angle + angle, prim.asinh(t.real * s.imag - t.imag * s.real))


def asin(z):
    """Arc sine.

    >>> cmath.asin(0)
    0j
    """
    return _over_i(asinh(_times_i(_c(z))))


def atanh(z):
    """Inverse hyperbolic tangent.

    >>> cmath.atanh(0)
    0j
    """
    w = _c(z)
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
    gap = one - w.real
    size = gap * gap + b * b
    return prim.complex(
        prim.log1p(four * w.real / size) / four,
        -prim.atan2(-(b + b), gap * (one + w.real) - b * b) * _like(0.5, w),
    )


def atan(z):
    """Arc tangent.

    >>> cmath.atan(0)
    0j
    """
    return _over_i(atanh(_times_i(_c(z))))
