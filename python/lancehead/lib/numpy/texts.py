"""Arrays and numbers as texts, and arrays of texts."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.creation import array


def array_repr(arr):
    """The text of an array as `repr` has it.

    >>> np.array_repr(np.array([1, 2]))
    'array([1, 2])'
    """
    if not prim.is_array(arr):
        prim.error("`array_repr` takes an array")
    return repr(arr)


def array_str(a):
    """The text of an array as `str` has it.

    >>> np.array_str(np.array([1, 2]))
    '[1 2]'
    """
    if not prim.is_array(a):
        prim.error("`array_str` takes an array")
    return str(a)


def array2string(a):
    """The text of an array as `str` has it.

    >>> np.array2string(np.array([1.5, 2.0]))
    '[1.5 2. ]'
    """
    if not prim.is_array(a) or (a.ndim == 0 and not prim.is_number(a[()])):
        prim.error("`array2string` takes an array")
    return str(a)


def fromstring(string, dtype=float, count=-1, *, sep):
    """An array of the integers or floats of a text.

    >>> np.fromstring("1, 2.5", sep=",")
    array([1. , 2.5])
    """
    t = prim.as_dtype(dtype)
    x = prim.cast(0, t)
    if not (prim.is_bool(x) or prim.is_int(x) or prim.is_float(x)):
        prim.error("`fromstring` reads integers and floats")
    n = index_of(count)
    words = sep.split()
    if len(sep) == 0:
        raise ValueError("The binary mode of fromstring is removed, use frombuffer instead")
    text = string.decode() if prim.is_bytes(string) else string
    found, at = [x for _ in range(0)], _past_spaces(text, 0)
    while at < len(text) and len(found) != n:
        end = _integer_end(text, at, prim.is_signed(x)) if prim.is_int(x) else _float_end(text, at)
        if end == at:
            raise ValueError("string or file could not be read to its end due to unmatched data")
        found.append(_number(text[at:end], t))
        at = _past_spaces(text, end)
        if at == len(text) or len(found) == n:
            break
        is_apart = at > end or len(words) > 0
        for word in words:
            is_apart = is_apart and text[at : at + len(word)] == word
            at = _past_spaces(text, at + len(word))
        if not is_apart:
            raise ValueError("string or file could not be read to its end due to unmatched data")
    if len(found) < n:
        raise ValueError(str(n) + " items requested but only " + str(len(found)) + " read")
    return array(found, t)


def _past_spaces(text, at):
    while at < len(text) and text[at] in " \t\n\r\v\f":
        at += 1
    return at if at < len(text) else len(text)


def _past_digits(text, at):
    while at < len(text) and text[at] in "0123456789":
        at += 1
    return at


def _past_sign(text, at):
    return at + 1 if at < len(text) and text[at] in "+-" else at


def _integer_end(text, at, is_signed):
    # A sign alone is zero, and spaces may follow it.
    first = _past_sign(text, at) if is_signed else at
    return _past_digits(text, _past_spaces(text, first) if first > at else first)


def _float_end(text, at):
    first = _past_sign(text, at)
    word = text[first : first + 8].lower()
    for name in ("infinity", "inf", "nan"):
        if word.startswith(name):
            return first + len(name)
    end = _past_digits(text, first)
    digits = end - first
    if end < len(text) and text[end] == ".":
        digits += _past_digits(text, end + 1) - end - 1
        end = _past_digits(text, end + 1)
    if digits == 0:
        return at
    if end < len(text) and text[end] in "eE":
        power = _past_sign(text, end + 1)
        after = _past_digits(text, power)
        return after if after > power else end
    return end


def _number(text, t):
    if not prim.is_int(prim.cast(0, t)):
        return prim.cast(float(text), t)
    # A number beyond 64 bits is the greatest, of either sign; narrower types take the low bits.
    most = np.uint64(9223372036854775807 if prim.is_signed(prim.cast(0, t)) else 18446744073709551615)
    value, ten = np.uint64(0), np.uint64(10)
    for c in text:
        if c in "0123456789":
            digit = np.uint64(ord(c) - 48)
            if value > (most - digit) // ten:
                return prim.cast(most, t)
            value = value * ten + digit
    return prim.cast(np.uint64(0) - value if text[0] == "-" else value, t)
