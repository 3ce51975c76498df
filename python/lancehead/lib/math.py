"""Functions of `math` that are not rows of the operation table. Arguments outside a domain give NaN unless said."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of, int_of_float
from lancehead.lib.operator import float_rem


def floor(x, /):
    """Greatest integer that is not greater.

    >>> math.floor(-2.5)
    -3
    """
    if prim.is_float(x):
        return int_of_float(prim.floor(x))
    return int(x)


def ceil(x, /):
    """Least integer that is not less.

    >>> math.ceil(-2.5)
    -2
    """
    if prim.is_float(x):
        return int_of_float(prim.ceil(x))
    return int(x)


def trunc(x, /):
    """Integral part.

    >>> math.trunc(-2.5)
    -2
    """
    if prim.is_array(x):
        prim.error("an array has no integral part here: use `np.trunc`")
    if prim.is_float(x):
        return int_of_float(prim.trunc(x))
    return int(x)


def fabs(x, /):
    """Absolute value as a float.

    >>> math.fabs(-2)
    2.0
    """
    return prim.fabs(float(x))


def degrees(x, /):
    """Radians in degrees.

    >>> math.degrees(math.pi)
    180.0
    """
    return float(x) * (180.0 / 3.141592653589793)


def radians(x, /):
    """Degrees in radians.

    >>> math.radians(180)
    3.141592653589793
    """
    return float(x) * (3.141592653589793 / 180.0)


def gcd(*args):
    """Greatest common divisor.

    >>> math.gcd(12, -18)
    6
    """
    result = 0
    for x in args:
        result = _gcd(result, index_of(x))
    return result


def _gcd(a, b):
    while b != 0:
        a, b = b, prim.srem(a, b)
    return prim.abs(a)


def lcm(*args):
    """Least common multiple.

    >>> math.lcm(4, 6)
    12
    """
    result = 1
    for x in args:
        n = index_of(x)
        if n == 0:
            return 0
        result = prim.abs(result // _gcd(result, n) * n)
    return result


def factorial(n, /):
    """Product of 1 to n. Beyond 20 it does not fit 64 bits.

    >>> math.factorial(5)
    120
    """
    count = index_of(n)
    if count < 0:
        raise ValueError("factorial() not defined for negative values")
    if count > 20:
        raise OverflowError("factorial() result does not fit 64 bits")
    result = 1
    for i in range(2, count + 1):
        result *= i
    return result


def comb(n, k, /):
    """Number of ways to choose k of n.

    >>> math.comb(10, 3)
    120
    """
    whole, part = index_of(n), index_of(k)
    if whole < 0:
        raise ValueError("n must be a non-negative integer")
    if part < 0:
        raise ValueError("k must be a non-negative integer")
    if part > whole:
        return 0
    part = min(part, whole - part)
    result = 1
    for i in range(1, part + 1):
        # The factor that divides the result is taken out first, so that what fits does not overflow on the way.
        g = _gcd(result, i)
        result = result // g * ((whole - part + i) // (i // g))
    return result


def perm(n, k=None, /):
    """Number of ways to choose k of n in order.

    >>> math.perm(5, 2)
    20
    """
    if k is None:
        return factorial(n)
    whole, part = index_of(n), index_of(k)
    if whole < 0:
        raise ValueError("n must be a non-negative integer")
    if part < 0:
        raise ValueError("k must be a non-negative integer")
    if part > whole:
        return 0
    result = 1
    for i in range(whole - part + 1, whole + 1):
        result *= i
    return result


def isqrt(n, /):
    """Integral part of the square root.

    >>> math.isqrt(99)
    9
    """
    x = index_of(n)
    if x < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    r = int(prim.sqrt(float(x)))
    while r > 3037000499 or r * r > x:
        r -= 1
    while r < 3037000499 and (r + 1) * (r + 1) <= x:
        r += 1
    return r


def log(x, /, *base):
    """Logarithm, natural or to a base.

    >>> math.log(8, 2)
    3.0
    """
    if len(base) == 0:
        return prim.log(float(x))
    if len(base) > 1:
        prim.error("`log` takes at most two numbers")
    return prim.log(float(x)) / prim.log(float(base[0]))


def pow(x, y, /):
    """Power of floats.

    >>> math.pow(2, 0.5)
    1.4142135623730951
    """
    return prim.pow(float(x), float(y))


def gamma(x, /):
    """Gamma function.

    >>> math.gamma(5)
    24.0
    """
    return prim.tgamma(x if prim.is_float(x) else float(x))


def lgamma(x, /):
    """Logarithm of the absolute value of the gamma function.

    >>> math.lgamma(1)
    0.0
    """
    return prim.lgamma(x if prim.is_float(x) else float(x))


def frexp(x, /):
    """Mantissa of magnitude 0.5 to 1, and exponent.

    >>> math.frexp(6.0)
    (0.75, 3)
    """
    v = float(x)
    if v == 0.0 or v - v != 0.0:
        return v, 0
    shift = 0
    if prim.fabs(v) < 2.2250738585072014e-308:
        v *= 18014398509481984.0  # 2**54: subnormal numbers have no exponent of their own
        shift = -54
    bits = prim.bits_of_f64(v)
    exponent = ((bits >> 52) & 2047) - 1022
    mantissa = prim.f64_of_bits((bits & -9218868437227405313) | 4602678819172646912)
    return prim.cast(mantissa, float), prim.cast(exponent, int) + shift


def ldexp(x, i, /):
    """`x * 2**i`.

    >>> math.ldexp(0.75, 3)
    6.0
    """
    n = min(max(index_of(i), -5000), 5000)
    v = prim.cast(prim.ldexp(float(x), prim.cast(n, np.int32)), float)
    if v - v != 0.0 and x - x == 0.0:
        raise OverflowError("math range error")
    return v


def modf(x, /):
    """Fractional and integral part.

    >>> math.modf(-2.5)
    (-0.5, -2.0)
    """
    v = float(x)
    if v - v != 0.0:
        return (v if v != v else prim.copysign(0.0, v)), v
    whole = prim.trunc(v)
    return prim.copysign(v - whole, v), whole


def fmod(x, y, /):
    """Remainder of the truncated quotient: it has the sign of x.

    >>> math.fmod(-7.5, 2)
    -1.5
    """
    dtype = prim.result_type(x, y) if prim.is_float(x) or prim.is_float(y) else np.float64
    if prim.is_complex(x) or prim.is_complex(y):
        prim.error("must be real number, not complex")
    return float_rem(prim.cast(x, dtype), prim.cast(y, dtype))


def remainder(x, y, /):
    """Difference from the nearest multiple of y; of two equally near, the even one.

    >>> math.remainder(7.5, 2)
    -0.5
    """
    a, b = float(x), float(y)
    if a != a or b != b:
        return a + b
    if a - a != 0.0 or b == 0.0:
        if prim.numpy_errors():
            return np.nan
        raise ValueError("math domain error")
    if b - b != 0.0:
        return a
    size = prim.fabs(b)
    m = prim.frem(prim.fabs(a), size)
    c = size - m
    if m < c:
        r = m
    elif m > c:
        r = -c
    else:
        r = m - 2.0 * prim.frem(0.5 * (prim.fabs(a) - m), size)
    return prim.copysign(1.0, a) * r


def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    """Whether two numbers are near.

    >>> math.isclose(1.0, 1.0 + 1e-10)
    True
    """
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    x, y = float(a), float(b)
    if x == y:
        return True
    if prim.isinf(x) or prim.isinf(y):
        return False
    diff = prim.fabs(x - y)
    return diff <= prim.fabs(rel_tol * y) or diff <= prim.fabs(rel_tol * x) or diff <= abs_tol


def isnan(x, /):
    """Whether a number is NaN.

    >>> math.isnan(3)
    False
    """
    v = float(x)
    return v != v


def isinf(x, /):
    """Whether a number is infinite.

    >>> math.isinf(3)
    False
    """
    return prim.isinf(float(x))


def isfinite(x, /):
    """Whether a number is neither infinite nor NaN.

    >>> math.isfinite(3)
    True
    """
    return prim.isfinite(float(x))


def ulp(x, /):
    """Value of the last bit.

    >>> math.ulp(1.0)
    2.220446049250313e-16
    """
    v = prim.fabs(float(x))
    if v != v or prim.isinf(v):
        return v
    if v == 1.7976931348623157e308:
        return v - prim.nextafter(v, 0.0)
    return prim.nextafter(v, np.inf) - v


def dist(p, q, /):
    """Distance of two points.

    >>> math.dist((0.0, 3.0), (4.0, 0.0))
    5.0
    """
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    biggest = 0.0
    for a, b in zip(p, q):
        biggest = _larger_size(biggest, float(a) - float(b))
    if biggest == 0.0 or biggest - biggest != 0.0:
        return biggest
    total = 0.0
    for a, b in zip(p, q):
        part = (float(a) - float(b)) / biggest
        total += part * part
    return biggest * prim.sqrt(total)


def fsum(seq, /):
    """Sum of floats without loss of low bits.

    >>> math.fsum([0.1] * 10)
    1.0
    """
    partials = [0.0]
    partials.clear()
    for item in seq:
        x = float(item)
        kept = 0
        for j in range(len(partials)):
            y = partials[j]
            if prim.fabs(x) < prim.fabs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low != 0.0:
                partials[kept] = low
                kept += 1
            x = high
        del partials[kept:]
        partials.append(x)
    return _rounded_sum(partials)


def _rounded_sum(partials):
    # The partials do not overlap and grow; half-way cases look at the sign of the next.
    n = len(partials)
    if n == 0:
        return 0.0
    n -= 1
    high, low = partials[n], 0.0
    while n > 0:
        n -= 1
        x, y = high, partials[n]
        high = x + y
        low = y - (high - x)
        if low != 0.0:
            break
    if n > 0 and ((low < 0.0 and partials[n - 1] < 0.0) or (low > 0.0 and partials[n - 1] > 0.0)):
        twice = low * 2.0
        x = high + twice
        if twice == x - high:
            return x
    return high


def prod(seq, /, *, start=1):
    """Product of the items.

    >>> math.prod([2, 3, 4])
    24
    """
    total = start
    for x in seq:
        total = total * x
    return total


def sumprod(p, q, /):
    """Sum of the products of pairs.

    >>> math.fsum([1.0 * 4, 2.0 * 5])
    14.0
    """
    if len(p) != len(q):
        raise ValueError("Inputs are not the same length")
    total = 0
    for a, b in zip(p, q):
        total = total + a * b
    return total


def _larger_size(biggest, x):
    # An infinity is larger than a NaN, which is larger than all numbers.
    size = prim.fabs(x)
    if prim.isinf(biggest) or prim.isinf(size):
        return np.inf
    return size if size > biggest or size != size else biggest


def hypot(*args):
    """Euclidean norm of the coordinates.

    >>> math.hypot(2.0, 3.0, 6.0)
    7.0
    """
    if len(args) == 2:
        return prim.hypot(float(args[0]), float(args[1]))
    biggest = 0.0
    for x in args:
        biggest = _larger_size(biggest, float(x))
    if biggest == 0.0 or biggest - biggest != 0.0:
        return biggest
    total = 0.0
    for x in args:
        part = float(x) / biggest
        total += part * part
    return biggest * prim.sqrt(total)
