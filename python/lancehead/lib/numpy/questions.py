"""Questions about values and memory, bits as numbers, and texts of numbers."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of, index_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.folds import check_out, deliver
from lancehead.lib.numpy.layout import (
    check_axis,
    ends,
    flat,
    is_c_contiguous,
    lanes,
    new_array,
    with_shape,
)
from lancehead.lib.numpy.manip import broadcast_shapes
from lancehead.lib.numpy.sorting import place_in_line, sort_line


def _positive_infinity(x):
    return prim.isinf(x) and not prim.signbit(x) if prim.is_float(x) else False


def _negative_infinity(x):
    return prim.isinf(x) and prim.signbit(x) if prim.is_float(x) else False


def _tested(f, x, out):
    if prim.is_complex(prim.dtype_of(x if prim.is_scalar(x) else asarray(x))):
        prim.error("This operation is not supported for complex values because it would be ambiguous.")
    found = f(x) if prim.is_scalar(x) else prim.map(f, asarray(x))
    check_out(out, np.bool_, "same_kind")
    return deliver(found, out)


def isposinf(x, out=None):
    """Whether numbers are positive infinity.

    >>> np.isposinf(np.array([-np.inf, 0.0, np.inf]))
    array([False, False,  True])
    """
    return _tested(_positive_infinity, x, out)


def isneginf(x, out=None):
    """Whether numbers are negative infinity.

    >>> np.isneginf(np.array([-np.inf, 0.0, np.inf]))
    array([ True, False, False])
    """
    return _tested(_negative_infinity, x, out)


def real_if_close(a, tol=100):
    """The array, if it is of real numbers.

    >>> np.real_if_close(np.array([1.5, 2.0]))
    array([1.5, 2. ])
    """
    x = asarray(a)
    if prim.is_complex(prim.dtype_of(x)):
        prim.error(
            "whether the result is real depends on values: take `a.real`, or test `np.all(np.abs(a.imag) < tol)`"
        )
    return x


def asarray_chkfinite(a, dtype=None, order=None):
    """The array itself, converted where needed; infinities and NaN are an error.

    >>> np.asarray_chkfinite([1, 2])
    array([1, 2])
    """
    x = asarray(a, dtype, "K" if order is None else order)
    own = prim.dtype_of(x)
    if prim.is_float(own) or prim.is_complex(own):
        if not np.all(np.isfinite(x)):
            raise ValueError("array must not contain infs or NaNs")
    return x


def array_equiv(a1, a2):
    """Whether all elements are equal, after broadcasting.

    >>> np.array_equiv(np.array([1, 2]), np.array([[1, 2], [1, 2]]))
    True
    """
    x, y = asarray(a1), asarray(a2)
    try:
        broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return False
    return np.all(np.equal(x, y))


def may_share_memory(a, b, /, max_work=0):
    """Whether the memory between the first and last elements of two arrays overlaps.

    >>> a = np.zeros(4)
    >>> np.may_share_memory(a[::2], a[1::2])
    True
    """
    index_of(max_work)
    x, y = asarray(a), asarray(b)
    return _near(x, y) if max_work == 0 else shares_memory(x, y)


def _near(x, y):
    low, high = ends(x)
    first, last = ends(y)
    return x.size > 0 and y.size > 0 and low < last and first < high


def shares_memory(a, b, /, max_work=None):
    """Whether an element of one array lies in the memory of an element of the other.

    >>> a = np.zeros(4)
    >>> np.shares_memory(a[::2], a[1::2])
    False
    """
    if max_work is not None:
        index_of(max_work)
    x, y = asarray(a), asarray(b)
    if not _near(x, y):
        return False
    if is_c_contiguous(x) and is_c_contiguous(y):
        return True
    # The addresses of one array in order; each of the other is looked for among them.
    places = _addresses(x)
    sort_line(places)
    others = _addresses(y)
    for k in range(others.size):
        at = prim.item(others, k)
        i = place_in_line(places, at - x.itemsize, True)
        if i < places.size and prim.item(places, i) < at + y.itemsize:
            return True
    return False


def _addresses(a):
    out = new_array((a.size,), np.int64)
    start = prim.lh_ptr_addr(prim.data(a))
    k = 0
    for index in np.ndindex(a.shape):
        at = start
        for i, stride in zip(index, a.strides):
            at += i * stride
        prim.set_item(out, k, prim.cast(at, np.int64))
        k += 1
    return out


def _is_big(bitorder):
    if not prim.is_str(bitorder):
        prim.error("`bitorder` is 'big' or 'little'")
    if bitorder != "big" and bitorder != "little":
        raise ValueError("'order' must be either 'little' or 'big'")
    return bitorder == "big"


def packbits(a, /, axis=None, bitorder="big"):
    """Truth values as the bits of bytes.

    >>> np.packbits(np.array([True, False, True]))
    array([160], dtype=uint8)
    """
    x = asarray(a)
    if not (prim.is_bool(prim.dtype_of(x)) or prim.is_int(prim.dtype_of(x))):
        prim.error("Expected an input array of integer or boolean data type")
    big = _is_big(bitorder)
    if axis is not None and x.ndim == 0:
        check_axis(axis_of(axis), 1)
    if axis is None or x.ndim == 0:
        return packbits(flat(x), 0, bitorder) if x.ndim != 1 else _packed(x, 0, big)
    return _packed(x, check_axis(axis_of(axis), x.ndim), big)


def _packed(x, k, big):
    v = lanes(x, k)
    n = v.shape[1]
    out = new_array((v.shape[0], (n + 7) // 8, v.shape[2]), np.uint8)
    zero = prim.cast(0, prim.dtype_of(x))
    for i in range(v.shape[0]):
        for m in range(out.shape[1]):
            for j in range(v.shape[2]):
                bits = 0
                for b in range(8):
                    at = 8 * m + b
                    if at < n and prim.item(v, i, at, j) != zero:
                        bits |= 128 >> b if big else 1 << b
                prim.set_item(out, i, m, j, prim.cast(bits, np.uint8))
    return with_shape(out, prim.tuple_set(x.shape, k, out.shape[1]))


def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    """The bits of bytes, one number each.

    >>> np.unpackbits(np.array([3], dtype=np.uint8))
    array([0, 0, 0, 0, 0, 0, 1, 1], dtype=uint8)
    """
    x = asarray(a)
    if prim.dtype_of(x) != np.uint8:
        prim.error("Expected an input array of unsigned byte data type")
    big = _is_big(bitorder)
    if axis is None:
        line = flat(x)
        return _unpacked(line, 0, _bit_count(count, line.size), big)
    k = check_axis(axis_of(axis), x.ndim)
    return _unpacked(x, k, _bit_count(count, x.shape[k]), big)


def _bit_count(count, n):
    if count is None:
        return 8 * n
    wanted = index_of(count)
    if wanted >= 0:
        return wanted
    if 8 * n + wanted < 0:
        raise ValueError("-count larger than number of elements")
    return 8 * n + wanted


def _unpacked(x, k, n, big):
    v = lanes(x, k)
    out = new_array((v.shape[0], n, v.shape[2]), np.uint8)
    for i in range(v.shape[0]):
        for m in range(n):
            byte, b = m // 8, m % 8
            for j in range(v.shape[2]):
                bits = prim.cast(prim.item(v, i, byte, j), int) if byte < v.shape[1] else 0
                prim.set_item(out, i, m, j, prim.cast((bits >> (7 - b if big else b)) & 1, np.uint8))
    return with_shape(out, prim.tuple_set(x.shape, k, n))


def base_repr(number, base=2, padding=0):
    """Text of an integer in a number system.

    >>> np.base_repr(-6, 5)
    '-11'
    """
    n, b, zeros = int(number), index_of(base), index_of(padding)
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if b > 36:
        raise ValueError("Bases greater than 36 not handled in base_repr.")
    if b < 2:
        raise ValueError("Bases less than 2 not handled in base_repr.")
    text = ""
    rest = n
    while rest != 0:
        # Without the absolute value, which the least integer does not have.
        digit = rest % b if n > 0 else -(rest % -b)
        text = digits[digit] + text
        rest = (rest - digit) // b if n > 0 else (rest + digit) // b
    text = "0" * zeros + text
    if len(text) == 0 or (n == 0 and zeros > 0):
        text = "0" * (zeros if zeros > 0 else 1)
    return "-" + text if n < 0 else text


def binary_repr(num, width=None):
    """Binary text of an integer; of a negative one in so many bits, its complement of two.

    >>> np.binary_repr(-3, width=5)
    '11101'
    """
    n = index_of(num)
    if width is None:
        return ("-" if n < 0 else "") + bin(n).split("b")[1]
    wide = index_of(width)
    text = bin(n).split("b")[1]
    if n >= 0:
        _check_width(wide, len(text))
        return text.zfill(wide)
    power = len(text) - 1 if n == -(1 << (len(text) - 1)) else len(text)
    _check_width(wide, power + 1)
    out = ""
    for k in range(power + 1):
        out = ("1" if (n >> k) & 1 else "0") + out
    return "1" * (wide - len(out)) + out


def _check_width(width, needed):
    if width < needed:
        raise ValueError("Insufficient bit width=" + str(width) + " provided for binwidth=" + str(needed))
