"""Methods of Python's numbers, tuples, ranges and slices."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.coding import bytes_of_integer, integer_of_bytes
from lancehead.lib.conversions import index_of
from lancehead.lib.conversions import int_of_float as int_of_float
from lancehead.lib.lists import slice_bounds, slice_length


def int_of(x):
    """A truth value as an integer, an integer as it is."""
    return index_of(x) if prim.is_bool(x) else x


def out_of_bounds(x, name):
    """Raises, since a Python integer meets a number of a type that does not hold it."""
    raise OverflowError(f"Python integer {x} out of bounds for {name}")


def shifted_left(x, count):
    """A shift to the left as processors do it and Numba has it: by the lower bits of the count, whatever the others."""
    n = count & (8 * prim.itemsize(prim.dtype_of(x)) - 1)
    y = prim.shl(x, n)
    if prim.checks_overflow():
        if prim.shr(y, n) != x:
            raise OverflowError("integer overflow")
    return y


def shifted_right(x, count):
    """A shift to the right by the lower bits of the count."""
    return prim.shr(x, count & (8 * prim.itemsize(prim.dtype_of(x)) - 1))


def _magnitude(x):
    """The absolute value as 64 bits, all of which count where there is no sign."""
    return prim.abs(prim.cast(x, np.int64)) if prim.is_signed(x) else prim.cast(x, np.int64)


class int:
    """Methods of `int`."""

    def bit_length(self):
        """Number of bits of the absolute value.

        >>> (37).bit_length()
        6
        """
        return 64 - index_of(prim.ctlz(_magnitude(self)))

    def bit_count(self):
        """Number of ones in the absolute value.

        >>> (13).bit_count()
        3
        """
        return index_of(prim.popcount(_magnitude(self)))

    def to_bytes(self, length=1, byteorder="big", *, signed=False):
        """The bytes of the number.

        >>> (258).to_bytes(2, "big")
        b'\\x01\\x02'
        """
        return prim.bytes_of(bytes_of_integer(int_of(self), index_of(length), byteorder, signed))

    @staticmethod
    def from_bytes(bytes, byteorder="big", *, signed=False):
        """The number of bytes.

        >>> int.from_bytes(b"\\x01\\x02", "big")
        258
        """
        if prim.is_buffer(bytes):
            return integer_of_bytes(prim.bytes_array(bytes), byteorder, signed)
        if prim.is_array(bytes):
            return integer_of_bytes(prim.bytes_array(bytes.tobytes()), byteorder, signed)
        return integer_of_bytes([index_of(x) for x in bytes], byteorder, signed)

    def conjugate(self):
        """The number itself.

        >>> (3).conjugate()
        3
        """
        return int_of(self)

    @property
    def numerator(self):
        """The number itself.

        >>> (3).numerator
        3
        """
        return int_of(self)

    @property
    def denominator(self):
        """One.

        >>> (3).denominator
        1
        """
        return 1

    def is_integer(self):
        """True."""
        return True


def ratio_of(x):
    """Two integers of 64 bits whose quotient is a number."""
    if x - x != 0.0:
        if x != x:
            raise ValueError("cannot convert NaN to integer ratio")
        raise OverflowError("cannot convert Infinity to integer ratio")
    below = 1
    while prim.floor(x) != x:
        if below >= 1 << 62:
            raise OverflowError("the denominator does not fit 64 bits")
        x, below = x * 2.0, below * 2
    if prim.abs(x) >= 9223372036854775808.0:
        raise OverflowError("the numerator does not fit 64 bits")
    return prim.cast(x, np.int64) + 0, below


class float:
    """Methods of `float`."""

    def as_integer_ratio(self):
        """Two integers without a common divisor whose quotient is the number.

        >>> (0.75).as_integer_ratio()
        (3, 4)
        """
        return ratio_of(self)

    def is_integer(self):
        """Whether the number is integral.

        >>> (2.0).is_integer()
        True
        """
        return self - self == 0.0 and prim.floor(self) == self

    def conjugate(self):
        """The number itself.

        >>> (2.5).conjugate()
        2.5
        """
        return self


class complex:
    """Methods of `complex`."""

    def conjugate(self):
        """The conjugate.

        >>> (1 + 2j).conjugate()
        (1-2j)
        """
        return prim.complex(self.real, -self.imag)


class tuple:
    """Methods and comparisons of `tuple`."""

    def index(self, x, /):
        """Index of the first item that equals a value.

        >>> (1, 3, 5).index(3)
        1
        """
        i = 0
        for item in self:
            if item == x:
                return i
            i += 1
        raise ValueError("tuple.index(x): x not in tuple")

    def count(self, x, /):
        """Number of items that equal a value.

        >>> (1, 3, 1).count(1)
        2
        """
        found = 0
        for item in self:
            if item == x:
                found += 1
        return found

    def __contains__(self, x):
        """Whether an item equals a value.

        >>> 3 in (1, 3, 5)
        True
        """
        for item in self:
            if item == x:
                return True
        return False

    def __eq__(self, other):
        """Whether all items are equal.

        >>> (1, 2.0) == (1.0, 2)
        True
        """
        if len(self) != len(other):
            return False
        for a, b in zip(self, other):
            if not (a == b):
                return False
        return True

    def __lt__(self, other):
        """Whether it comes before another tuple.

        >>> (1, 2) < (1, 3)
        True
        """
        for a, b in zip(self, other):
            if a != b:
                return a < b
        return len(self) < len(other)

    def __gt__(self, other):
        """Whether it comes after another tuple.

        >>> (1, 2) > (1, 3)
        False
        """
        return other < self

    def __le__(self, other):
        """Whether it does not come after another tuple.

        >>> (1, 2) <= (1, 2)
        True
        """
        return not other < self

    def __ge__(self, other):
        """Whether it does not come before another tuple.

        >>> (1, 2) >= (1, 2)
        True
        """
        return not self < other


class slice:
    """Methods of `slice`."""

    def indices(self, n, /):
        """Start, stop and step over so many items.

        >>> slice(None, None, -1).indices(5)
        (4, -1, -1)
        """
        if index_of(n) < 0:
            raise ValueError("length should not be negative")
        return slice_bounds(self, index_of(n))


_range = range


class range:
    """Methods of `range`."""

    def __contains__(self, x):
        """Whether a number is in the range.

        >>> 4 in range(0, 10, 2)
        True
        """
        if prim.is_complex(x):
            return x.imag == 0.0 and x.real in self
        if prim.is_array(x):
            prim.error("what is looked for in a range is a number")
        if not prim.is_number(x):
            for i in self:
                if i == x:
                    return True
            return False
        if self.step > 0:
            return self.start <= x and x < self.stop and (x - self.start) % self.step == 0
        return self.stop < x and x <= self.start and (self.start - x) % -self.step == 0

    def __getitem__(self, i):
        """A number by its position, or the range of those at a slice's.

        >>> range(3, 10, 2)[1]
        5
        >>> range(3, 10, 2)[1:]
        range(5, 11, 2)
        """
        n = slice_length(self.start, self.stop, self.step)
        if prim.is_slice(i):
            start, stop, step = slice_bounds(i, n)
            return _range(self.start + start * self.step, self.start + stop * self.step, self.step * step)
        i = index_of(i)
        k = i + n if i < 0 else i
        if k < 0 or k >= n:
            raise IndexError("range object index out of range")
        return self.start + k * self.step

    def __eq__(self, other):
        """Whether two ranges have the same numbers.

        >>> range(0, 3, 2) == range(0, 4, 2)
        True
        """
        if not prim.is_range(other):
            return False
        n = slice_length(self.start, self.stop, self.step)
        if n != slice_length(other.start, other.stop, other.step):
            return False
        return n == 0 or (self.start == other.start and (n == 1 or self.step == other.step))

    def __ne__(self, other):
        """Whether two ranges have different numbers.

        >>> range(3) != range(4)
        True
        """
        return not self == other

    def index(self, x, /):
        """Position of a number.

        >>> range(3, 10, 2).index(5)
        1
        """
        if x not in self:
            raise ValueError("value is not in range")
        return (x - self.start) // self.step

    def count(self, x, /):
        """1 for a number in the range, else 0.

        >>> range(3).count(1)
        1
        """
        return 1 if x in self else 0
