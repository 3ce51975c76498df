"""Scalar kernels of NumPy's ufuncs that are not rows of the operation table; the compiler maps them over arrays."""

import math

import numpy as np

from lancehead.lib import prim

# Of real numbers the rows of the table are meant; these are what is left, complex ones.
from lancehead.lib.cmath import acos as arccos
from lancehead.lib.cmath import acosh as arccosh
from lancehead.lib.cmath import asin as arcsin
from lancehead.lib.cmath import asinh as arcsinh
from lancehead.lib.cmath import atan as arctan
from lancehead.lib.cmath import atanh as arctanh
from lancehead.lib.cmath import cos as cos
from lancehead.lib.cmath import cosh as cosh
from lancehead.lib.cmath import exp as exp
from lancehead.lib.cmath import natural_log as log
from lancehead.lib.cmath import sin as sin
from lancehead.lib.cmath import sinh as sinh
from lancehead.lib.cmath import sqrt as sqrt
from lancehead.lib.cmath import tan as tan
from lancehead.lib.cmath import tanh as tanh
from lancehead.lib.conversions import magnitude
from lancehead.lib.numpy._divisors import gcd as gcd
from lancehead.lib.numpy._divisors import lcm as lcm
from lancehead.lib.operator import float_rem


def _float_of(x):
    # The type in which NumPy computes an elementary function of a real number, but for float16 of narrow integers.
    if prim.is_complex(x):
        prim.error("the function is of real numbers")
    if prim.is_float(x):
        return prim.dtype_of(x)
    if prim.is_weak(x):
        return float
    if prim.is_bool(x) or (prim.is_int(x) and prim.itemsize(prim.dtype_of(x)) <= 2):
        return np.float32
    return np.float64


def _float_of_both(x, y):
    # A float takes an integer in as operators do; of two integers each is made a float by itself.
    both = prim.result_type(x, y)
    if prim.is_float(both):
        return both
    return prim.result_type(_float_of(x), _float_of(y))


def true_divide(x, y):
    """Quotient.

    >>> np.true_divide(np.array([1, 2]), 4)
    array([0.25, 0.5 ])
    """
    return x / y


def divide(x, y):
    """Quotient.

    >>> np.divide(1.0, 4.0)
    np.float64(0.25)
    """
    return x / y


def floor_divide(x, y):
    """Floor of the quotient.

    >>> np.floor_divide(np.array([7, -7]), 2)
    array([ 3, -4])
    """
    if prim.is_bool(x) and prim.is_bool(y):
        return prim.cast(x & y, np.int8)
    return x // y


def mod(x, y):
    """Remainder with the sign of the divisor.

    >>> np.mod(np.array([7, -7]), 3)
    array([1, 2])
    """
    if prim.is_bool(x) and prim.is_bool(y):
        return prim.cast(0, np.int8)
    return x % y


def remainder(x, y):
    """Remainder with the sign of the divisor.

    >>> np.remainder(5.5, -2.0)
    np.float64(-0.5)
    """
    return x % y


def fmod(x, y):
    """Remainder with the sign of the dividend.

    >>> np.fmod(np.array([7, -7]), 3)
    array([ 1, -1])
    """
    dtype = prim.result_type(x, y)
    if prim.is_bool(dtype):
        return fmod(prim.cast(x, np.int8), prim.cast(y, np.int8))
    if prim.is_complex(dtype):
        prim.error("the function is of real numbers")
    a, b = prim.cast(x, dtype), prim.cast(y, dtype)
    if prim.is_int(dtype):
        if b == 0 or (prim.is_signed(dtype) and b + 1 == 0):
            return a - a
        return prim.srem(a, b)
    return float_rem(a, b)


def divmod(x, y):
    """Floor of the quotient and the remainder.

    >>> np.divmod(7.5, 2.0)
    (np.float64(3.0), np.float64(1.5))
    """
    return floor_divide(x, y), mod(x, y)


def power(x, y):
    """Power.

    >>> np.power(np.array([2.0, 3.0]), 2)
    array([4., 9.])
    """
    return x**y


def float_power(x, y):
    """Power, at least in double precision.

    >>> np.float_power(2, -1)
    np.float64(0.5)
    """
    if prim.is_complex(x) or prim.is_complex(y):
        return prim.cast(x, np.complex128) ** prim.cast(y, np.complex128)
    return prim.cast(x, np.float64) ** prim.cast(y, np.float64)


def positive(x):
    """The number itself."""
    if prim.is_bool(x):
        prim.error("positive of truth values is not defined")
    return x


def _magnitude(x):
    if prim.is_complex(x):
        return prim.hypot(x.real, x.imag)
    if prim.is_bool(x) or (prim.is_int(x) and not prim.is_signed(x)):
        return x
    if prim.checks_overflow():
        if prim.is_int(x):
            return magnitude(x)
    return prim.abs(x)


def absolute(x):
    """Absolute value.

    >>> np.absolute(3 + 4j)
    np.float64(5.0)
    """
    return _magnitude(x)


def abs(x):
    """Absolute value.

    >>> np.abs(np.array([-1, 2]))
    array([1, 2])
    """
    return _magnitude(x)


def sign(x):
    """-1, 0 or 1.

    >>> np.sign(np.array([-2.5, 0.0, 3.0]))
    array([-1.,  0.,  1.])
    """
    if prim.is_bool(x):
        prim.error("truth values have no sign")
    if prim.is_complex(x):
        return _direction(x)
    zero = prim.cast(0, prim.dtype_of(x))
    one = prim.cast(1, prim.dtype_of(x))
    if x > zero:
        return one
    if x < zero:
        return -one
    return x if x != x else zero


def _direction(x):
    # The point of the unit circle; of one infinite part its sign, as NumPy has it.
    size = prim.hypot(x.real, x.imag)
    zero = prim.cast(0, prim.real_dtype(x))
    one = prim.cast(1, prim.real_dtype(x))
    if size == zero:
        return prim.complex(zero, zero)
    if math.isinf(size) and not (math.isinf(x.real) and math.isinf(x.imag)):
        if math.isinf(x.real):
            return prim.complex(math.copysign(one, x.real), zero)
        return prim.complex(zero, math.copysign(one, x.imag))
    return prim.complex(x.real / size, x.imag / size)


def square(x):
    """Product with itself.

    >>> np.square(np.array([1, -3]))
    array([1, 9])
    """
    if prim.is_bool(x):
        return prim.cast(x, np.int8)
    return x * x


def reciprocal(x):
    """One over the number.

    >>> np.reciprocal(4.0)
    np.float64(0.25)
    """
    if prim.is_bool(x):
        return prim.cast(x, np.int8)
    one = prim.cast(1, prim.dtype_of(x))
    if prim.is_int(x):
        return prim.sdiv(one, x) if x != 0 else x
    if prim.is_complex(x):
        return _complex_reciprocal(x.real, x.imag)
    return one / x


def _complex_reciprocal(a, b):
    one = prim.cast(1, prim.dtype_of(a))
    if prim.fabs(b) <= prim.fabs(a):
        ratio = prim.fdiv(b, a)
        scale = a + b * ratio
        return prim.complex(prim.fdiv(one, scale), prim.fdiv(-ratio, scale))
    ratio = prim.fdiv(a, b)
    scale = a * ratio + b
    return prim.complex(prim.fdiv(ratio, scale), prim.fdiv(-one, scale))


def conjugate(x):
    """The conjugate.

    >>> np.conjugate(1 + 2j)
    np.complex128(1-2j)
    """
    if prim.is_complex(x):
        return prim.complex(x.real, -x.imag)
    if prim.is_bool(x):
        return prim.cast(x, np.int8)
    return x


def conj(x):
    """The conjugate.

    >>> np.conj(np.array([1 + 2j]))
    array([1.-2.j])
    """
    return conjugate(x)


def deg2rad(x):
    """Degrees in radians.

    >>> np.deg2rad(180.0)
    np.float64(3.141592653589793)
    """
    dtype = _float_of(x)
    return prim.cast(x, dtype) * prim.cast(0.017453292519943295, dtype)


def rad2deg(x):
    """Radians in degrees.

    >>> np.rad2deg(np.pi)
    np.float64(180.0)
    """
    dtype = _float_of(x)
    return prim.cast(x, dtype) * prim.cast(57.29577951308232, dtype)


radians = deg2rad
degrees = rad2deg


def logaddexp(x, y):
    """Logarithm of the sum of exponentials.

    >>> np.logaddexp(0.0, 0.0)
    np.float64(0.6931471805599453)
    """
    dtype = _float_of_both(x, y)
    a, b = prim.cast(x, dtype), prim.cast(y, dtype)
    d = a - b
    if d > 0.0:
        return a + prim.log1p(prim.exp(-d))
    if d <= 0.0:
        return b + prim.log1p(prim.exp(d))
    # Equal infinities have no difference.
    return a if a == b else d


def logaddexp2(x, y):
    """Logarithm to base 2 of the sum of powers of 2.

    >>> np.logaddexp2(1.0, 1.0)
    np.float64(2.0)
    """
    dtype = _float_of_both(x, y)
    a, b = prim.cast(x, dtype), prim.cast(y, dtype)
    scale = prim.cast(1.4426950408889634, dtype)
    d = a - b
    if d > 0.0:
        return a + scale * prim.log1p(prim.exp2(-d))
    if d <= 0.0:
        return b + scale * prim.log1p(prim.exp2(d))
    return a if a == b else d


def _real_less(a, b):
    # No number that is NaN in part comes before another.
    return a.real < b.real and a.imag == a.imag and b.imag == b.imag


def _complex_less(a, b):
    return _real_less(a, b) or (a.real == b.real and a.imag < b.imag)


def _complex_less_equal(a, b):
    return _real_less(a, b) or (a.real == b.real and a.imag <= b.imag)


def less(x, y):
    """Whether one is less than the other; complex numbers by their real parts, then the imaginary ones.

    >>> np.less(np.array([1 + 2j, 3j]), 1 + 1j)
    array([False,  True])
    """
    return _complex_less(x, y)


def greater(x, y):
    """Whether one is greater than the other; complex numbers by their real parts, then the imaginary ones.

    >>> np.greater(np.array([1 + 2j, 3j]), 1 + 1j)
    array([ True, False])
    """
    return _complex_less(y, x)


def less_equal(x, y):
    """Whether one is less than or equal to the other; complex numbers by their real parts, then the imaginary ones.

    >>> np.less_equal(np.array([1 + 1j, 3j]), 1 + 1j)
    array([ True,  True])
    """
    return _complex_less_equal(x, y)


def greater_equal(x, y):
    """Whether one is greater than or equal to the other; complex numbers by their real parts, then the imaginary ones.

    >>> np.greater_equal(np.array([1 + 1j, 3j]), 1 + 1j)
    array([ True, False])
    """
    return _complex_less_equal(y, x)


def negative(x):
    """Negation.

    >>> np.negative(np.array([1.0, -2.0]))
    array([-1.,  2.])
    """
    if prim.is_bool(x):
        prim.error(x, "negative of truth values is not defined; use `np.logical_not`")
    return -x


def invert(x):
    """Bitwise complement.

    >>> np.invert(np.array([1, -2]))
    array([-2,  1])
    """
    if prim.is_bool(x):
        return not x
    return ~x


def bitwise_not(x):
    """Bitwise complement.

    >>> np.bitwise_not(np.array([True, False]))
    array([False,  True])
    """
    return invert(x)


def exp2(x):
    """Two to a power; of complex numbers, since the others are a row.

    >>> np.exp2(np.array([3 + 0j]))
    array([8.+0.j])
    """
    # Part by part: one that is no number leaves the other as it is.
    scale = prim.cast(math.log(2.0), x.real.dtype)
    return exp(prim.complex(x.real * scale, x.imag * scale))


def log2(x):
    """Logarithm to base two, of complex numbers.

    >>> np.log2(np.array([8 + 0j]))
    array([3.+0.j])
    """
    # Part by part: an infinite one leaves the other as it is.
    natural, scale = log(x), prim.cast(1.0 / math.log(2.0), x.real.dtype)
    return prim.complex(natural.real * scale, natural.imag * scale)


def log10(x):
    """Logarithm to base ten, of complex numbers.

    >>> np.log10(np.array([1000 + 0j]))
    array([3.+0.j])
    """
    # A product, where `cmath.log10` has a quotient: this makes 3 of 1000.
    natural = log(x)
    scale = prim.cast(0.4342944819032518, prim.real_dtype(natural))
    return prim.complex(natural.real * scale, natural.imag * scale)


def expm1(x):
    """`exp(x) - 1` without cancellation, of complex numbers.

    >>> np.expm1(np.array([0j]))
    array([0.+0.j])
    """
    half = math.sin(0.5 * x.imag)
    return prim.complex(math.expm1(x.real) * math.cos(x.imag) - 2.0 * half * half, math.exp(x.real) * math.sin(x.imag))


def log1p(x):
    """`log(1 + x)`, of complex numbers.

    >>> np.log1p(np.array([0j]))
    array([0.+0.j])
    """
    square = x.real * (2.0 + x.real) + x.imag * x.imag
    # Of great numbers, the square overflows and the one does not count.
    size = 0.5 * math.log1p(square) if square < 1e15 else math.log(prim.hypot(1.0 + x.real, x.imag))
    return prim.complex(size, math.atan2(x.imag, 1.0 + x.real))


def rint(x):
    """The nearest whole number, of the parts of complex numbers.

    >>> np.rint(np.array([1.6 - 2.2j]))
    array([2.-2.j])
    """
    return prim.complex(np.rint(x.real), np.rint(x.imag))


@prim.means("extreme")
def maximum(x, y):
    """The greater; NaN if either is.

    >>> np.maximum(np.array([1, 5]), 3)
    array([3, 5])
    """
    dtype = prim.result_type(x, y)
    a, b = prim.cast(x, dtype), prim.cast(y, dtype)
    if prim.is_bool(a):
        return a | b
    if prim.is_complex(a):
        return b if a == a and (_complex_less(a, b) or b != b) else a
    return prim.maximum(a, b)


@prim.means("extreme")
def minimum(x, y):
    """The lesser; NaN if either is.

    >>> np.minimum(np.array([1, 5]), 3)
    array([1, 3])
    """
    dtype = prim.result_type(x, y)
    a, b = prim.cast(x, dtype), prim.cast(y, dtype)
    if prim.is_bool(a):
        return a & b
    if prim.is_complex(a):
        return b if a == a and (_complex_less(b, a) or b != b) else a
    return prim.minimum(a, b)


@prim.means("extreme")
def fmax(x, y):
    """The greater; of a number and NaN, the number.

    >>> np.fmax(np.nan, 1.0)
    np.float64(1.0)
    """
    dtype = prim.result_type(x, y)
    a, b = prim.cast(x, dtype), prim.cast(y, dtype)
    if prim.is_complex(a):
        return b if b == b and (a != a or _complex_less(a, b)) else a
    return b if a != a or (b == b and b > a) else a


@prim.means("extreme")
def fmin(x, y):
    """The lesser; of a number and NaN, the number.

    >>> np.fmin(np.nan, 1.0)
    np.float64(1.0)
    """
    dtype = prim.result_type(x, y)
    a, b = prim.cast(x, dtype), prim.cast(y, dtype)
    if prim.is_complex(a):
        return b if b == b and (a != a or _complex_less(b, a)) else a
    return b if a != a or (b == b and b < a) else a


def isnan(x):
    """Whether a number is NaN.

    >>> np.isnan(np.array([1, 2]))
    array([False, False])
    """
    if prim.is_complex(x):
        return prim.isnan(x.real) or prim.isnan(x.imag)
    return prim.isnan(x) if prim.is_float(x) else False


def isinf(x):
    """Whether a number is infinite.

    >>> np.isinf(np.array([1, 2]))
    array([False, False])
    """
    if prim.is_complex(x):
        return prim.isinf(x.real) or prim.isinf(x.imag)
    return prim.isinf(x) if prim.is_float(x) else False


def isfinite(x):
    """Whether a number is neither infinite nor NaN.

    >>> np.isfinite(np.array([1, 2]))
    array([ True,  True])
    """
    if prim.is_complex(x):
        return prim.isfinite(x.real) and prim.isfinite(x.imag)
    return prim.isfinite(x) if prim.is_float(x) else True


def isreal(x):
    """Whether the imaginary part is zero.

    >>> np.isreal(np.array([1j, 1]))
    array([False,  True])
    """
    return x.imag == 0


def iscomplex(x):
    """Whether the imaginary part is not zero.

    >>> np.iscomplex(np.array([1j, 1]))
    array([ True, False])
    """
    return x.imag != 0


def signbit(x):
    """Whether a number is negative, or negative zero.

    >>> np.signbit(np.array([-1, 2]))
    array([ True, False])
    """
    return prim.signbit(prim.cast(x, _float_of(x)))


@prim.means("extreme")
def logical_and(x, y):
    """Whether both are true.

    >>> np.logical_and(np.array([0, 1]), 2)
    array([False,  True])
    """
    return bool(x) and bool(y)


@prim.means("extreme")
def logical_or(x, y):
    """Whether one is true.

    >>> np.logical_or(np.array([0, 1]), 0)
    array([False,  True])
    """
    return bool(x) or bool(y)


def logical_xor(x, y):
    """Whether exactly one is true.

    >>> np.logical_xor(np.array([0, 1]), 1)
    array([ True, False])
    """
    return bool(x) != bool(y)


def logical_not(x):
    """Whether the number is zero.

    >>> np.logical_not(np.array([0, 1]))
    array([ True, False])
    """
    return not bool(x)


def heaviside(x, h0):
    """The step function, with its value at zero.

    >>> np.heaviside(np.array([-1.0, 0.0, 2.0]), 0.5)
    array([0. , 0.5, 1. ])
    """
    dtype = _float_of_both(x, h0)
    a = prim.cast(x, dtype)
    if a == 0.0:
        return prim.cast(h0, dtype)
    if a > 0.0:
        return prim.cast(1, dtype)
    return prim.cast(0, dtype) if a < 0.0 else a


def sinc(x):
    """`sin(pi x) / (pi x)`.

    >>> np.sinc(0.5)
    np.float64(0.6366197723675814)
    """
    if prim.is_complex(x):
        z = x if x != prim.cast(0, prim.dtype_of(x)) else prim.cast(1e-20, prim.dtype_of(x))
        y = z * prim.cast(3.141592653589793, prim.real_dtype(x))
        return sin(y) / y
    dtype = prim.dtype_of(x) if prim.is_float(x) else _float_of(prim.cast(x, np.float64))
    a = prim.cast(x, dtype)
    tiny = prim.cast(1e-20 if prim.itemsize(dtype) > 2 else 1e-4, dtype)
    y = prim.cast(3.141592653589793, dtype) * (a if a != 0.0 else tiny)
    return prim.sin(y) / y


def left_shift(x, y):
    """Shift to the left.

    >>> np.left_shift(1, 3)
    np.int64(8)
    """
    return x << y


def right_shift(x, y):
    """Shift to the right.

    >>> np.right_shift(-8, 1)
    np.int64(-4)
    """
    return x >> y


def bitwise_count(x):
    """Number of bits that are set in the absolute value.

    >>> np.bitwise_count(np.array([0, 5, -7]))
    array([0, 2, 3], dtype=uint8)
    """
    if not (prim.is_int(x) or prim.is_bool(x)):
        prim.error("bits are counted of integers and truth values")
    if prim.is_bool(x):
        return prim.cast(x, np.uint8)
    if prim.is_signed(x):
        # The least integer is its own negation, and its only bit is the sign.
        return prim.cast(prim.popcount(prim.abs(x)), np.uint8)
    return prim.cast(prim.popcount(x), np.uint8)


def _float_as_narrow(x):
    # As `_float_of`, but `float16` where NumPy has it: these functions are about the type's own precision.
    if prim.is_bool(x) or (prim.is_int(x) and not prim.is_weak(x) and prim.itemsize(prim.dtype_of(x)) == 1):
        return np.float16
    return _float_of(x)


def _next_half(a, up):
    # The neighbour of a finite number of `float16`, which is a `float64` here.
    if a == 0.0:
        return 5.960464477539063e-08 if up else -5.960464477539063e-08
    m, e = math.frexp(a)
    if prim.fabs(m) == 0.5 and (a < 0.0) == up:
        # Towards zero the distance halves at a power of two.
        e -= 1
    unit = math.ldexp(1.0, prim.maximum(e - 11, -24))
    return a + unit if up else a - unit


def nextafter(x, y):
    """The next float after the first operand towards the second.

    >>> np.nextafter(1.0, 2.0)
    np.float64(1.0000000000000002)
    """
    both = prim.result_type(x, y)
    dtype = both if prim.is_float(both) else prim.result_type(_float_as_narrow(x), _float_as_narrow(y))
    a, b = prim.cast(x, dtype), prim.cast(y, dtype)
    if prim.itemsize(dtype) > 2:
        return prim.nextafter(a, b)
    if a != a or b != b or a == b:
        return b if a == b else a + b
    if prim.isinf(a):
        return prim.cast(65504.0 if a > b else -65504.0, dtype)
    return prim.cast(_next_half(prim.cast(a, np.float64), a < b), dtype)


def spacing(x):
    """Distance to the next number away from zero.

    >>> np.spacing(1.0)
    np.float64(2.220446049250313e-16)
    """
    dtype = _float_as_narrow(x)
    a = prim.cast(x, dtype)
    if prim.itemsize(dtype) == 2:
        # NumPy's distance of `float16` is that to the next greater number.
        if not prim.isfinite(a):
            return a - a
        return prim.cast(_next_half(prim.cast(a, np.float64), True), dtype) - a
    return prim.nextafter(a, prim.copysign(prim.cast(np.inf, dtype), a)) - a


def ldexp(x, i):
    """`x * 2**i`.

    >>> np.ldexp(0.75, 3)
    np.float64(6.0)
    """
    if not (prim.is_int(i) or prim.is_bool(i)):
        prim.error("the exponent is an integer")
    if prim.is_int(i) and not prim.is_signed(i) and prim.itemsize(prim.dtype_of(i)) == 8:
        prim.error("the exponent is an integer with a sign, or of fewer bits")
    # No float is as great or as small as the ends.
    exponent = prim.maximum(prim.minimum(prim.cast(i, np.int64), 100000), -100000)
    return prim.cast(prim.ldexp(prim.cast(x, np.float64), prim.cast(exponent, np.int32)), _float_of(x))


def modf(x):
    """Fractional and integral part.

    >>> np.modf(-2.5)
    (np.float64(-0.5), np.float64(-2.0))
    """
    a = prim.cast(x, _float_of(x))
    whole = prim.trunc(a)
    if prim.isinf(a):
        return prim.copysign(a - a if a != a else prim.cast(0, prim.dtype_of(a)), a), a
    return prim.copysign(a - whole, a), whole


def frexp(x):
    """Mantissa of magnitude 0.5 to 1, and exponent.

    >>> np.frexp(6.0)
    (np.float64(0.75), np.int32(3))
    """
    a = prim.cast(x, _float_of(x))
    mantissa, exponent = math.frexp(prim.cast(a, np.float64))
    return prim.cast(mantissa, prim.dtype_of(a)), prim.cast(exponent, np.int32)
