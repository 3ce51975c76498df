"""Python's builtin functions. `builtins.py` gathers them with the methods of the builtin types."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of, int_of_float, magnitude
from lancehead.lib.lists import sorted_list
from lancehead.lib.text import text_ascii, text_format, text_of, text_repr
from lancehead.lib.times import ufunc_absolute as time_absolute


def min(*args, key=None, default=None):
    """Least of the arguments, or of the items of one argument.

    >>> min(3, 1, 2)
    1
    >>> min(2.5, 1.5)
    1.5
    >>> min([3, 1, 2])
    1
    >>> min([3, -4, 2], key=abs)
    2
    """
    if len(args) == 1:
        return _extreme(args[0], _less, key, default, "min() arg is an empty sequence")
    if len(args) == 0:
        prim.error("min expected at least 1 argument, got 0")
    best = args[0]
    if key is None:
        for x in args[1:]:
            best = x if x < best else best
    else:
        best_key = key(best)
        for x in args[1:]:
            k = key(x)
            best, best_key = (x, k) if k < best_key else (best, best_key)
    return best


def max(*args, key=None, default=None):
    """Greatest of the arguments, or of the items of one argument.

    >>> max(3, 1, 2)
    3
    >>> max((1, 2, 2))
    2
    """
    if len(args) == 1:
        return _extreme(args[0], _greater, key, default, "max() arg is an empty sequence")
    if len(args) == 0:
        prim.error("max expected at least 1 argument, got 0")
    best = args[0]
    if key is None:
        for x in args[1:]:
            best = x if x > best else best
    else:
        best_key = key(best)
        for x in args[1:]:
            k = key(x)
            best, best_key = (x, k) if k > best_key else (best, best_key)
    return best


def _less(a, b):
    return a < b


def _greater(a, b):
    return a > b


def _extreme(items, before, key, default, message):
    if prim.is_tuple(items):
        return _extreme_of_tuple(items, before, key, default, message)
    if len(items) == 0:
        if default is None:
            raise ValueError(message)
        return default
    best = items[0]
    if key is None:
        for x in items:
            best = x if before(x, best) else best
    else:
        best_key = key(best)
        for x in items:
            k = key(x)
            if before(k, best_key):
                best = x
                best_key = k
    return best


def _extreme_of_tuple(items, before, key, default, message):
    if len(items) == 0:
        if default is None:
            raise ValueError(message)
        return default
    best = items[0]
    if key is None:
        for x in items[1:]:
            best = x if before(x, best) else best
    else:
        best_key = key(best)
        for x in items[1:]:
            k = key(x)
            best, best_key = (x, k) if before(k, best_key) else (best, best_key)
    return best


def abs(x, /):
    """Absolute value.

    >>> abs(-3)
    3
    >>> abs(3 + 4j)
    5.0
    >>> abs(True)
    1
    """
    if prim.is_array(x):
        if prim.checks_overflow():
            if prim.is_int(prim.dtype_of(x)) and prim.is_signed(prim.dtype_of(x)):
                return prim.map(magnitude, x)
        return np.abs(x)
    if prim.is_time(x):
        return time_absolute(x)
    if prim.is_bool(x):
        return int(x)
    if prim.is_complex(x):
        return prim.hypot(x.real, x.imag)
    if prim.is_int(x) and not prim.is_signed(x):
        return x
    return prim.abs(x)


def divmod(a, b, /):
    """Floor of the quotient and the remainder.

    >>> divmod(-7, 3)
    (-3, 2)
    >>> divmod(7.5, 2)
    (3.0, 1.5)
    """
    return (a // b, a % b)


def pow(base, exp, mod=None):
    """Power, perhaps of residues.

    >>> pow(2, 10)
    1024
    >>> pow(3, 200, 50)
    1
    """
    if mod is None:
        return base**exp
    if not (prim.is_int(base) and prim.is_int(exp) and prim.is_int(mod)):
        prim.error("residues are of powers of integers")
    if exp < 0:
        raise ValueError("pow() 2nd argument cannot be negative when 3rd argument specified")
    if mod == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    result = 1 % mod
    base = base % mod
    while exp > 0:
        if (exp & 1) != 0:
            result = result * base % mod
        base = base * base % mod
        exp >>= 1
    return result


def sum(iterable, /, start=0):
    """Sum of the items.

    >>> sum([1, 2, 3])
    6
    >>> sum((0.5, 1))
    1.5
    """
    if prim.is_str(start):
        prim.error("`sum` adds no strings: use `''.join(...)`")
    total = start
    for x in iterable:
        if prim.is_array(x) and prim.is_number(start):
            prim.error("`sum` adds arrays to a number: use `a.sum(axis=0)`, or begin with an array: `sum(rows, zeros)`")
        total = total + x
    return total


def any(iterable, /):
    """Whether an item is true.

    >>> any([0, 0.0 > 1.0, 2])
    True
    """
    for x in iterable:
        if x:
            return True
    return False


def all(iterable, /):
    """Whether every item is true.

    >>> all([1, 2, 0])
    False
    """
    for x in iterable:
        if not x:
            return False
    return True


def round(number, ndigits=None):
    """The nearest number of so many decimal digits; of two equally near, the even one.

    >>> round(2.5)
    2
    >>> round(2.675, 2)
    2.67
    >>> round(1250, -2)
    1200
    >>> round(-0.5)
    0
    """
    if not (ndigits is None or prim.is_int(ndigits) or prim.is_bool(ndigits) or prim.is_optional(ndigits)):
        prim.error("`round` takes a number of digits that is an integer")
    if prim.is_bool(number):
        return round(int(number), ndigits)
    if prim.is_int(number):
        if ndigits is None:
            # An `int` has 63 bits and a sign: what may need the 64th keeps its type.
            return int(number) if prim.is_signed(number) or prim.itemsize(prim.dtype_of(number)) < 8 else number
        return _round_int(number, ndigits)
    if not prim.is_float(number):
        prim.error("`round` takes a real number")
    if ndigits is None:
        return int_of_float(prim.rint(number))
    return prim.cast(_round_float(float(number), ndigits), prim.dtype_of(number))


def _round_int(x, ndigits):
    if ndigits >= 0:
        return x
    if prim.itemsize(prim.dtype_of(x)) < 8:
        # The unit may not fit the type, as in NumPy the result may not.
        return prim.cast(_round_int(prim.cast(x, np.int64), ndigits), prim.dtype_of(x))
    if ndigits < -18:
        return x - x
    unit = prim.cast(10 ** (-ndigits), prim.dtype_of(x))
    r = x % unit
    low = x - r
    twice = r + r
    if twice > unit or (twice == unit and low // unit % 2 != 0):
        return low + unit
    return low


def _round_float(x, ndigits):
    # Of x times or over a power of ten only a tie can round the wrong way, and there fma gives the error's sign.
    if x - x != 0.0 or ndigits > 323:
        return x
    if ndigits < -308:
        return x * 0.0
    if ndigits > 22:
        return prim.lh_str_to_f64(prim.lh_str_format_f64(x, "." + text_of(ndigits) + "f"))
    up = ndigits >= 0
    unit = 10.0 ** (ndigits if up else -ndigits)
    y = x * unit if up else prim.fdiv(x, unit)
    if prim.fabs(y) >= 9007199254740992.0:
        return x
    r = prim.rint(y)
    error = prim.fma(x, unit, -y) if up else prim.fma(-y, unit, x)
    if prim.fabs(y - prim.trunc(y)) == 0.5:
        if error > 0.0:
            r = prim.ceil(y)
        elif error < 0.0:
            r = prim.floor(y)
    elif prim.fabs(error) == (0.5 if up else 0.5 * unit) and prim.frem(y, 2.0) != 0.0:
        # Beyond 2**52 the tie is in the error, and the even neighbour is further off.
        r = y + prim.copysign(1.0, error)
    return prim.copysign(prim.fdiv(r, unit) if up else r * unit, x)


def sorted(iterable, /, *, key=None, reverse=False):
    """A sorted list of the items.

    >>> sorted([3, 1, 2])
    [1, 2, 3]
    >>> sorted((3, 1, 2), reverse=True)
    [3, 2, 1]
    >>> sorted([3, 1, 2], key=lambda x: -x)
    [3, 2, 1]
    """
    items = list(iterable) if prim.is_str(iterable) else [x for x in iterable]
    sorted_list(items, key, reverse)
    return items


def _checked_int(x):
    # An integer as 64 bits: of those without a sign the highest one counts as it is.
    return prim.cast(x, np.int64) if prim.is_int(x) else index_of(x)


def ord(c, /):
    """Code point of a character.

    >>> ord("a")
    97
    """
    return prim.lh_str_ord(c)


def chr(i, /):
    """Character of a code point.

    >>> chr(97)
    'a'
    """
    return prim.lh_str_chr(_checked_int(i))


def repr(x, /):
    """Text of a value as Python source.

    >>> repr("a")
    "'a'"
    """
    return text_repr(x)


def ascii(x, /):
    """Text of a value as Python source, in ASCII.

    >>> ascii("é")
    "'\\\\xe9'"
    """
    return text_ascii(x)


def format(value, spec="", /):
    """Text of a value by a format.

    >>> format(2.5, ".2f")
    '2.50'
    """
    return text_format(value, spec)


def bin(x, /):
    """Binary text of an integer.

    >>> bin(-10)
    '-0b1010'
    """
    return prim.lh_str_from_bits(_checked_int(x), 1)


def hex(x, /):
    """Hexadecimal text of an integer.

    >>> hex(255)
    '0xff'
    """
    return prim.lh_str_from_bits(_checked_int(x), 4)


def oct(x, /):
    """Octal text of an integer.

    >>> oct(8)
    '0o10'
    """
    return prim.lh_str_from_bits(_checked_int(x), 3)


def enumerated(items, start):
    """The items of an iterator with their numbers."""
    while True:
        prim.generator_mark()
        for x in items:
            yield start, x
            start += 1
            break
        else:
            prim.generator_pause()


def enumerated_once(items, start):
    """The items of an iterable with their numbers, for a single loop."""
    for x in items:
        yield start, x
        start += 1


def zipped_once(*parts):
    """Items of several iterables side by side, for a single loop."""
    for row in zip(*parts):
        yield row


def mapped_once(function, *parts):
    """Results of a function of items side by side, for a single loop."""
    for row in zip(*parts):
        yield function(*row)


def filtered_once(function, items):
    """The items for which a function is true, for a single loop."""
    for x in items:
        if x if function is None else function(x):
            yield x


def zipped(*parts):
    """Items of several iterators side by side.

    As in Python, the one that ends is asked again when the next row is.
    """
    while True:
        prim.generator_mark()
        for row in zip(*parts):
            yield row
            break
        else:
            prim.generator_pause()


def each(items):
    """The items, one after the other: what `iter` gives.

    >>> next(iter([1, 2]))
    1
    """
    for x in items:
        yield x


def indices(shape):
    """The indices of an array of a shape: an iterator of `np.ndindex`."""
    for at in np.ndindex(shape):
        yield at


def numbered(a):
    """The elements of an array with their indices: an iterator of `np.ndenumerate`."""
    for pair in np.ndenumerate(a):
        yield pair


def elements(a):
    """The elements of an array in row-major order: an iterator of `a.flat`."""
    for x in a.flat:
        yield x


def entries(table, token):
    """The entries of a table, which knows by the token whether it has changed."""
    at = 0
    while True:
        prim.generator_mark()
        if at < 0:
            return
        at = table.__place__(at, token)
        if at >= 0:
            yield table.__item__(at)
            at += 1


def entries_from_end(table, token):
    """The same from the last one on."""
    at = table.__end__()
    while True:
        prim.generator_mark()
        if at < 0:
            return
        at = table.__before__(at, token)
        if at >= 0:
            yield table.__item__(at)


def backwards(items):
    """The items of a sequence from the last one on."""
    for x in reversed(items):
        yield x


def from_end(items):
    """The items from the last one on of a sequence that may lose some of them."""
    return _from_end(items, len(items))


def _from_end(items, at):
    while 0 < at <= len(items):
        at -= 1
        yield items[at]


def map(function, iterable, /, *iterables):
    """Results of a function of every item, or of the items of several iterables side by side.

    >>> sum(map(lambda x: x + 1, [1, 2]))
    5
    """
    while True:
        prim.generator_mark()
        for row in zip(iterable, *iterables):
            yield function(*row)
            break
        else:
            prim.generator_pause()


def filter(function, items, /):
    """The items for which a function is true.

    >>> sum(filter(lambda x: x > 1, [1, 2, 3]))
    5
    """
    if prim.is_differentiated():
        return [x for x in items if (x if function is None else function(x))]
    return _filtered(function, iter(items))


def _filtered(function, items):
    while True:
        prim.generator_mark()
        for x in items:
            if function is None:
                if x:
                    yield x
                    break
            elif function(x):
                yield x
                break
        else:
            prim.generator_pause()
