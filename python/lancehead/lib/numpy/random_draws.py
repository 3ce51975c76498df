"""How distributions are drawn: parameters that are numbers or arrays, their checks, sizes."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import as_shape, flat, new_array


def words_for(n):
    """The 32-bit words from which NumPy takes `n` bytes; it divides towards zero, and takes one for no bytes."""
    return (n - 1) // 4 + 1 if n > 0 else 1 - (1 - n) // 4


def real(x):
    """A parameter as a `float`, or an array of these."""
    if prim.is_number(x):
        return float(x)
    if prim.is_complex(prim.dtype_of(asarray(x))):
        prim.error("parameters of distributions are real")
    a = asarray(x, np.float64)
    return prim.item(a.reshape((1,)), 0) if a.ndim == 0 else a


def whole(x):
    """A parameter as an `int`, or an array of these; floats are truncated, but not in arrays."""
    if prim.is_number(x):
        return int(x)
    a = asarray(x)
    if not (prim.is_int(prim.dtype_of(a)) or prim.is_bool(prim.dtype_of(a))):
        prim.error("parameters of integers are arrays of integers")
    b = asarray(a, np.int64)
    return prim.item(b.reshape((1,)), 0) if b.ndim == 0 else b


def _refuse_if(x, is_bad, number_message, array_message):
    if prim.is_number(x):
        if is_bad(x):
            raise ValueError(number_message)
    else:
        v = x.ravel()
        for i in range(v.size):
            if is_bad(prim.item(v, i)):
                raise ValueError(array_message)


def _is_negative(x):
    return x == x and prim.signbit(x)


def _is_not_positive(x):
    return x <= 0.0


def _is_no_part(x):
    return not (x >= 0.0 and x <= 1.0)


def _is_no_proper_part(x):
    return not (x >= 0.0 and x < 1.0)


def _is_no_chance(x):
    return not (x > 0.0 and x <= 1.0)


def _is_not_above_one(x):
    return not x > 1.0


def _is_below_zero(n):
    return n < 0


def _is_below_one(n):
    return n < 1


def _is_no_rate(x):
    return not x >= 0.0


def not_negative(x, name):
    """Numbers that are not below zero, where negative zero is; others are refused."""
    y = real(x)
    _refuse_if(y, _is_negative, name + " < 0", name + " < 0")
    return y


def positive(x, name):
    """Numbers above zero; others are refused."""
    y = real(x)
    _refuse_if(y, _is_not_positive, name + " <= 0", name + " <= 0")
    return y


def part(x):
    """Probabilities; others are refused."""
    y = real(x)
    _refuse_if(y, _is_no_part, "p < 0, p > 1 or p is NaN", "p < 0, p > 1 or p contains NaNs")
    return y


def proper_part(x):
    """Probabilities below one; others are refused."""
    y = real(x)
    _refuse_if(y, _is_no_proper_part, "p < 0, p >= 1 or p is NaN", "p < 0, p >= 1 or p contains NaNs")
    return y


def chance(x):
    """Probabilities above zero; others are refused."""
    message = "p <= 0, p > 1 or p contains NaNs"
    y = real(x)
    _refuse_if(y, _is_no_chance, message, message)
    return y


def above_one(x):
    """Numbers above one; others are refused."""
    y = real(x)
    _refuse_if(y, _is_not_above_one, "a <= 1 or a is NaN", "a <= 1 or a contains NaNs")
    return y


def rate(x):
    """Means of counts; others are refused."""
    y = real(x)
    _refuse_if(y, _is_no_rate, "lam < 0 or lam is NaN", "lam < 0 or lam contains NaNs")
    return y


def not_below_zero(n, name):
    """Integers that are not negative; others are refused."""
    k = whole(n)
    _refuse_if(k, _is_below_zero, name + " < 0", name + " < 0")
    return k


def at_least_one(n, name):
    """Integers that are one or more; others are refused."""
    k = whole(n)
    _refuse_if(k, _is_below_one, name + " < 1 or " + name + " is NaN", name + " < 1 or " + name + " contains NaNs")
    return k


def check_finite(x):
    """Refuses ranges that are not finite."""
    if prim.is_number(x):
        if not prim.isfinite(x):
            raise OverflowError("Range exceeds valid bounds")
    elif not np.all(np.isfinite(x)):
        raise OverflowError("Range exceeds valid bounds")


def is_negative(x):
    """Whether a number, or one of several, is below zero."""
    if prim.is_number(x):
        return x < 0
    return np.any(x < 0)


def is_zero(x):
    """Whether a number, or one of several, is zero."""
    if prim.is_number(x):
        return x == 0
    return np.any(x == 0)


def _shape(x):
    return () if x is None or prim.is_number(x) else x.shape


def _line(x, shape):
    # The parameter of each number in turn.
    return x if x is None or prim.is_number(x) else np.broadcast_to(x, shape).ravel()


def _of(x, i):
    return x if x is None or prim.is_number(x) else prim.item(x, i)


def _text(shape):
    out = ""
    for n in shape:
        out = out + (", " if out != "" else "") + str(n)
    return "(" + out + (",)" if len(shape) == 1 else ")")


def drawn(f, dtype, size, a, b, c):
    """Numbers of a distribution with up to three parameters, which are numbers, arrays or None."""
    shape = np.broadcast_shapes(_shape(a), _shape(b), _shape(c))
    if len(shape) == 0:
        if size is None:
            return f(a, b, c)
        return _filled(f, dtype, as_shape(size), a, b, c)
    if size is None:
        return _filled_by_arrays(f, dtype, shape, a, b, c)
    asked = as_shape(size)
    joint = np.broadcast_shapes(asked, shape)
    if len(joint) != len(asked):
        raise ValueError("Output size " + _text(asked) + " is not compatible with broadcast dimensions of inputs "
            + _text(joint) + ".")  # fmt: skip
    if joint != asked:
        raise ValueError("Output size " + _text(asked) + " is not compatible with broadcast dimensions of inputs "
            + _text(joint) + ".")  # fmt: skip
    return _filled_by_arrays(f, dtype, asked, a, b, c)


def _filled(f, dtype, shape, a, b, c):
    out = new_array(shape, dtype)
    v = flat(out)
    for i in range(v.size):
        prim.set_item(v, i, prim.cast(f(a, b, c), dtype))
    return out


def _filled_by_arrays(f, dtype, shape, a, b, c):
    out = new_array(shape, dtype)
    v = flat(out)
    x, y, z = _line(a, shape), _line(b, shape), _line(c, shape)
    for i in range(v.size):
        prim.set_item(v, i, prim.cast(f(_of(x, i), _of(y, i), _of(z, i)), dtype))
    return out


def rows(size, n):
    """The shape of lines of `n` numbers, as many as a size says."""
    if size is None:
        return (index_of(n),)
    return as_shape(size) + (index_of(n),)
