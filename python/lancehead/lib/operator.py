"""Scalar kernels of Python's operators: what they mean on numbers beyond one machine instruction.

Operands arrive promoted to a common type, except those of `pow` and the shifts. `prim.numpy_errors()` chooses NumPy's
results for division by zero instead of Python's exceptions.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of

_abs = abs


def abs(a, /):
    """Absolute value.

    >>> operator.abs(-7)
    7
    """
    return _abs(a)


@prim.means("quotient")
def floordiv(a, b, /):
    """Floor of the quotient.

    >>> operator.floordiv(-7, 2)
    -4
    >>> operator.floordiv(7.5, -2.0)
    -4.0
    >>> operator.floordiv(-0.0, 3.0)
    -0.0
    """
    if prim.is_bool(a):
        return floordiv(int(a), int(b))
    if prim.is_int(a):
        return _int_floordiv(a, b)
    if prim.is_complex(a):
        prim.error("`//` is not defined for complex numbers")
    if b == 0.0:
        if prim.numpy_errors():
            return prim.fdiv(a, b)
        raise ZeroDivisionError("float floor division by zero")
    return _float_floordiv(a, b)


def _int_floordiv(a, b):
    if b == 0:
        if prim.numpy_errors():
            return b
        raise ZeroDivisionError("integer division or modulo by zero")
    if prim.is_signed(a):
        if b == -1:
            return -a  # the machine traps on the least integer by -1
        q = prim.sdiv(a, b)
        r = a - q * b if prim.on_gpu() else prim.srem(a, b)
        if r != 0 and (r < 0) != (b < 0):
            q = q - prim.cast(1, prim.dtype_of(a))
        return q
    return prim.sdiv(a, b)


def _float_floordiv(a, b):
    ratio = prim.fdiv(a, b)
    if _is_small(ratio, b):
        q = prim.floor(ratio)
        r = prim.fma(-q, b, a)
        return q - prim.cast(1, prim.dtype_of(q)) if r != 0.0 and (r < 0.0) != (b < 0.0) else q
    m = prim.frem(a, b)
    q = prim.fdiv(a - m, b)
    if m != 0.0 and (b < 0.0) != (m < 0.0):
        q -= 1.0
    if q == 0.0:
        return prim.copysign(q, ratio)
    f = prim.floor(q)
    if q - f > 0.5:
        f += 1.0
    return f


def _is_small(ratio, b):
    # Of a quotient this small the integral part is exact or one too great, and then fma gives the exact remainder.
    limit = 1048576.0 if prim.itemsize(prim.dtype_of(b)) == 4 else 562949953421312.0
    return prim.fabs(ratio) < limit and prim.isfinite(b)


def mod(a, b, /):
    """Remainder with the sign of the divisor.

    >>> operator.mod(-7, 3)
    2
    >>> operator.mod(5.5, -2.0)
    -0.5
    >>> operator.mod(-6.0, 3.0)
    0.0
    """
    if prim.is_bool(a):
        return mod(int(a), int(b))
    if prim.is_int(a):
        return _int_mod(a, b)
    if prim.is_complex(a):
        prim.error("`%` is not defined for complex numbers")
    if b == 0.0:
        if not prim.numpy_errors():
            raise ZeroDivisionError("float modulo")
    return _float_mod(a, b)


def float_rem(a, b):
    """Remainder of the truncated quotient of floats: it has the sign of the dividend."""
    x, y = prim.fabs(a), prim.fabs(b)
    ratio = prim.fdiv(x, y)
    if not _is_small(ratio, y):
        return prim.frem(a, b)
    r = prim.fma(-prim.floor(ratio), y, x)
    return prim.copysign(r + y if r < 0.0 else r, a)


def _float_mod(a, b):
    ratio = prim.fdiv(a, b)
    r = prim.fma(-prim.floor(ratio), b, a) if _is_small(ratio, b) else prim.frem(a, b)
    if r == 0.0:
        return prim.copysign(r, b)
    if (b < 0.0) != (r < 0.0):
        r += b
    return r


def _int_mod(a, b):
    if b == 0:
        if prim.numpy_errors():
            return b
        raise ZeroDivisionError("integer modulo by zero")
    if prim.is_signed(a):
        if b == -1:
            return a - a
        r = prim.srem(a, b)
        if r != 0 and (r < 0) != (b < 0):
            r = r + b
        return r
    return prim.srem(a, b)


def truediv(a, b, /):
    """Quotient as a float.

    >>> operator.truediv(7, 2)
    3.5
    >>> operator.truediv(1 + 2j, 3 - 1j)
    (0.1+0.7000000000000001j)
    """
    if prim.is_complex(a):
        return _complex_truediv(a, b)
    if prim.is_float(a):
        if b == 0.0:
            if not prim.numpy_errors():
                raise ZeroDivisionError("float division by zero")
        return prim.fdiv(a, b)
    if b == 0:
        if not prim.numpy_errors():
            raise ZeroDivisionError("division by zero")
    if prim.is_weak(a):
        return prim.fdiv(float(a), float(b))
    return prim.fdiv(prim.cast(a, np.float64), prim.cast(b, np.float64))


def _complex_truediv(a, b):
    # Smith's method, as CPython and NumPy have it: no overflow in the squared modulus.
    if prim.fabs(b.real) >= prim.fabs(b.imag):
        if b.real == 0.0:
            if prim.numpy_errors():
                return prim.complex(prim.fdiv(a.real, prim.fabs(b.real)), prim.fdiv(a.imag, prim.fabs(b.real)))
            raise ZeroDivisionError("complex division by zero")
        ratio = prim.fdiv(b.imag, b.real)
        return _over_scale(a.real + a.imag * ratio, a.imag - a.real * ratio, b.real + b.imag * ratio)
    ratio = prim.fdiv(b.real, b.imag)
    return _over_scale(a.real * ratio + a.imag, a.imag * ratio - a.real, b.real * ratio + b.imag)


def _over_scale(real, imag, scale):
    if prim.numpy_errors():
        # NumPy multiplies, so that the quotient by a number whose reciprocal overflows is infinite.
        factor = prim.fdiv(prim.cast(1, prim.dtype_of(scale)), scale)
        return prim.complex(real * factor, imag * factor)
    return prim.complex(prim.fdiv(real, scale), prim.fdiv(imag, scale))


@prim.means("complex_sum")
def add(a, b, /):
    """Sum of complex numbers, or of integers that may overflow.

    >>> operator.add(1 + 2j, 3 - 1j)
    (4+1j)
    """
    if prim.is_int(a):
        return a + b
    return prim.complex(a.real + b.real, a.imag + b.imag)


@prim.means("complex_difference")
def sub(a, b, /):
    """Difference of complex numbers, or of integers that may overflow.

    >>> operator.sub(1 + 2j, 3 - 1j)
    (-2+3j)
    """
    if prim.is_int(a):
        return a - b
    return prim.complex(a.real - b.real, a.imag - b.imag)


@prim.means("complex_product")
def mul(a, b, /):
    """Product of complex numbers, or of integers that may overflow.

    >>> operator.mul(1 + 2j, 3 - 1j)
    (5+5j)
    """
    if prim.is_int(a):
        return a * b
    return prim.complex(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)


def neg(a, /):
    """Negation of a complex number, a truth value, or an integer that may overflow.

    >>> operator.neg(1 + 2j)
    (-1-2j)
    """
    if prim.is_complex(a):
        return prim.complex(-a.real, -a.imag)
    return -int(a) if prim.is_bool(a) else -a


def pos(a, /):
    """The number itself.

    >>> operator.pos(True)
    1
    """
    if prim.is_bool(a):
        return int(a)
    return a


def eq(a, b, /):
    """Whether complex numbers are equal.

    >>> operator.eq(1 + 2j, 1 + 2j)
    True
    """
    return a.real == b.real and a.imag == b.imag


def ne(a, b, /):
    """Whether complex numbers differ.

    >>> operator.ne(1 + 2j, 1 - 2j)
    True
    """
    return a.real != b.real or a.imag != b.imag


def pow(a, b, /):
    """Power.

    >>> operator.pow(3, 4)
    81
    >>> operator.pow(2.0, -1)
    0.5
    >>> operator.pow(1 + 2j, 2)
    (-3+4j)
    """
    if prim.is_bool(a):
        return pow(int(a), b)
    if prim.is_bool(b):
        return pow(a, int(b))
    dtype = prim.result_type(a, b)
    if prim.is_complex(a) or prim.is_complex(b):
        return _complex_pow(prim.cast(a, dtype), prim.cast(b, dtype))
    if prim.is_int(dtype):
        return _int_pow(prim.cast(a, dtype), b)
    return prim.pow(prim.cast(a, dtype), prim.cast(b, dtype))


def _int_pow(a, b):
    if prim.is_signed(b) and b < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    if b == 2:
        return a * a
    n = prim.cast(b, np.uint64)
    one = prim.cast(1, np.uint64)
    result = prim.cast(1, prim.dtype_of(a))
    while n != 0:
        if (n & one) != 0:
            result = result * a
        n = prim.shr(n, one)
        if n != 0:
            a = a * a
    return result


def _complex_pow(a, b):
    one = prim.cast(1, prim.dtype_of(a.real))
    if b.real == 0.0 and b.imag == 0.0:
        return prim.complex(one, one - one)
    if a.real == 0.0 and a.imag == 0.0:
        if b.imag != 0.0 or b.real < 0.0:
            if prim.numpy_errors():
                if b.real > 0.0:
                    return prim.complex(one - one, one - one)
                nan = prim.fdiv(a.real, prim.fabs(a.real))
                return prim.complex(nan, nan)
            raise ZeroDivisionError("0.0 to a negative or complex power")
        return prim.complex(one - one, one - one)
    if b.imag == 0.0 and b.real == prim.floor(b.real) and prim.fabs(b.real) <= 100.0:
        n = prim.cast(b.real, np.int64)
        if n < 0:
            return _complex_truediv(prim.complex(one, one - one), _complex_power(a, -n))
        return _complex_power(a, n)
    size = prim.hypot(a.real, a.imag)
    angle = prim.atan2(a.imag, a.real)
    length = prim.pow(size, b.real)
    phase = angle * b.real
    if b.imag != 0.0:
        length *= prim.exp(-angle * b.imag)
        phase += b.imag * prim.log(size)
    return prim.complex(length * prim.cos(phase), length * prim.sin(phase))


def _complex_power(a, n):
    one = prim.cast(1, prim.dtype_of(a.real))
    result = prim.complex(one, one - one)
    mask = prim.cast(1, np.int64)
    while mask <= n:
        if (n & mask) != 0:
            result = mul(result, a)
        mask = mask + mask
        a = mul(a, a)
    return result


def lshift(a, b, /):
    """Shift to the left.

    >>> operator.lshift(1, 10)
    1024
    """
    if prim.is_bool(a):
        return lshift(int(a), b)
    if prim.is_bool(b):
        return lshift(a, int(b))
    dtype = prim.result_type(a, b)
    if not prim.is_int(dtype):
        prim.error("`<<` needs integers of compatible types")
    x = prim.cast(a, dtype)
    if prim.is_signed(b) and b < 0:
        if prim.numpy_errors():
            return x - x
        raise ValueError("negative shift count")
    if b >= 8 * prim.itemsize(dtype):
        if prim.checks_overflow():
            if x != 0:
                raise OverflowError("integer overflow")
        return x - x
    n = prim.cast(b, dtype)
    shifted = prim.shl(x, n)
    if prim.checks_overflow():
        if prim.shr(shifted, n) != x:
            raise OverflowError("integer overflow")
    return shifted


def rshift(a, b, /):
    """Shift to the right; signed numbers keep their sign.

    >>> operator.rshift(-5, 1)
    -3
    >>> operator.rshift(-5, 70)
    -1
    """
    if prim.is_bool(a):
        return rshift(int(a), b)
    if prim.is_bool(b):
        return rshift(a, int(b))
    dtype = prim.result_type(a, b)
    if not prim.is_int(dtype):
        prim.error("`>>` needs integers of compatible types")
    x = prim.cast(a, dtype)
    width = 8 * prim.itemsize(dtype)
    if prim.is_signed(b) and b < 0:
        if not prim.numpy_errors():
            raise ValueError("negative shift count")
        return _shifted_out(x)
    if b >= width:
        return _shifted_out(x)
    return prim.shr(x, prim.cast(b, dtype))


def _shifted_out(x):
    if prim.is_signed(x):
        return prim.shr(x, prim.cast(8 * prim.itemsize(prim.dtype_of(x)) - 1, prim.dtype_of(x)))
    return x - x


def truth(x, /):
    """Truth of a value.

    >>> operator.truth(0.0)
    False
    """
    return bool(x)


def not_(x, /):
    """Opposite of the truth of a value.

    >>> operator.not_(0)
    True
    """
    return not x


def index(x, /):
    """The integer itself.

    >>> operator.index(3)
    3
    """
    return index_of(x)


def contains(items, x, /):
    """Whether a container has an item.

    >>> operator.contains([1, 2], 2)
    True
    """
    return x in items


def getitem(items, i, /):
    """Item of a container.

    >>> operator.getitem([1, 2], 1)
    2
    """
    return items[i]


def setitem(items, i, x, /):
    """Sets an item of a container."""
    items[i] = x


def delitem(items, i, /):
    """Deletes an item of a container.

    >>> xs = [1, 2, 3]
    >>> operator.delitem(xs, 1)
    >>> xs
    [1, 3]
    """
    del items[i]


def concat(a, b, /):
    """One sequence after another.

    >>> operator.concat([1], [2])
    [1, 2]
    """
    if prim.is_number(a) or prim.is_array(a) or prim.is_array(b):
        prim.error("`concat` takes sequences that are no arrays")
    return a + b


def iconcat(a, b, /):
    """A sequence after another is added to it.

    >>> operator.iconcat([1], [2])
    [1, 2]
    """
    if prim.is_number(a) or prim.is_array(a):
        prim.error("`iconcat` takes sequences that are no arrays")
    a += b
    return a


def countOf(items, x, /):
    """How often a value is among the items.

    >>> operator.countOf([1, 2, 1], 1)
    2
    """
    n = 0
    for item in items:
        if item == x:
            n += 1
    return n


def indexOf(items, x, /):
    """The place of the first item that is equal to a value.

    >>> operator.indexOf([1, 2, 1], 2)
    1
    """
    i = 0
    for item in items:
        if item == x:
            return i
        i += 1
    raise ValueError("sequence.index(x): x not in sequence")


def call(function, /, *args, **kwargs):
    """The result of a function.

    >>> operator.call(max, 1, 2)
    2
    """
    return function(*args, **kwargs)


def itemgetter(item, /, *items):
    """A function that gives an item, or a tuple of items.

    >>> operator.itemgetter(1)("abc")
    'b'
    >>> operator.itemgetter(2, 0)([5, 6, 7])
    (7, 5)
    """

    # The compiler calls the function itself.
    def get(thing):
        return thing[item]

    return get


def attrgetter(attr, /, *attrs):
    """A function that gives an attribute, or a tuple of attributes; their names are constants.

    >>> operator.attrgetter("imag", "real")(1 + 2j)
    (2.0, 1.0)
    """

    # The compiler calls the function itself.
    def get(thing):
        return getattr(thing, attr)

    return get


def methodcaller(name, /, *args, **kwargs):
    """A function that calls a method, whose name is a constant.

    >>> operator.methodcaller("split", ",")("a,b")
    ['a', 'b']
    """

    # The compiler calls the function itself.
    def call(thing):
        return getattr(thing, name)(*args, **kwargs)

    return call
