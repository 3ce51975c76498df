"""`bytearray`: an object that holds memory, which is replaced by more where it has to grow."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.bytestrings import _made, _of_digits, bytes
from lancehead.lib.coding import encoded
from lancehead.lib.conversions import index_of
from lancehead.lib.lists import repeated


def put_part(self, part, x):
    """`self[part] = x` of a `bytearray`."""
    if not prim.is_slice(part):
        prim.error("an integer or a slice is needed here")
    a = prim.bytes_array(self)
    if prim.is_int(x) or prim.is_str(x):
        prim.error("bytes or numbers are needed here")
    values = _made(x, "byte must be in range(0, 256)")
    start, stop, step = part.indices(a.size)
    count = len(range(start, stop, step))
    if values.size == 0:
        self.__delitem__(part)
        return
    if values.size != count:
        if step != 1:
            number = str(values.size) + " to extended slice of size " + str(count)
            raise ValueError("attempt to assign bytes of size " + number)
        _replace(self, start, max(stop, start), values)
        return
    for i in range(count):
        a[start + i * step] = values[i]


class storage:
    """The object that holds the memory of a `bytearray`: an array, which a greater one replaces where it grows.

    `_room` bytes belong to the memory, of which the array has the first ones. Once something else refers to the memory,
    the size stays as it is (`_is_exported`).
    """

    __parameters__ = ("A",)
    __fields__ = {"_array": "A", "_room": "int", "_is_exported": "bool"}


def stored(a):
    """An object that holds new memory."""
    out = prim.new("bytearrays.storage", a)
    out._array = a
    out._room = a.size
    out._is_exported = False
    return out


def held(own):
    """The memory."""
    return own._array


def exported(own):
    """The memory, for something that refers to it for good."""
    own._is_exported = True
    return own._array


def _resized(self, n):
    # The array, with so many items; those that are new have any value.
    own = prim.storage(self)
    a = own._array
    if n == a.size:
        return a
    if own._is_exported:
        raise BufferError("Existing exports of data: object cannot be re-sized")
    if n > own._room:
        if n > 4611686018427387904:
            raise MemoryError
        room = n + n // 8 + 16
        greater = np.empty(room, np.uint8)
        greater[: a.size] = a
        own._room = room
        own._array = _first(greater, n)
    else:
        own._array = _first(a, n)
    return own._array


def _first(a, n):
    return prim.array(prim.owner(a), prim.data(a), (n,), (1,), np.uint8, "C")


def _replace(self, start, stop, values):
    # Bytes take the place of those from one on to another, which may be fewer or more.
    size = prim.bytes_array(self).size
    more = values.size - (stop - start)
    if more > 0:
        a = _resized(self, size + more)
        for i in range(size - 1, stop - 1, -1):
            a[i + more] = a[i]
    else:
        a = prim.bytes_array(self)
        if more < 0:
            _check_size(self)
            for i in range(stop, size):
                a[i + more] = a[i]
            a = _resized(self, size + more)
    for i in range(values.size):
        a[start + i] = values[i]


def _check_size(self):
    if prim.storage(self)._is_exported:
        raise BufferError("Existing exports of data: object cannot be re-sized")


def _byte(x):
    value = index_of(x)
    if value < 0 or value > 255:
        raise ValueError("byte must be in range(0, 256)")
    return prim.cast(value, np.uint8)


class bytearray(bytes):
    """Methods of `bytearray`."""

    def __new__(source=0, encoding=None, errors="strict"):
        """Memory of a number of zeros, of numbers, of other memory, or of a text in an encoding.

        >>> bytearray([97, 98])
        bytearray(b'ab')
        """
        if encoding is not None:
            return prim.bytearray_of(encoded(source, encoding, errors))
        return prim.bytearray_of(_made(source))

    @staticmethod
    def fromhex(string, /):
        """The bytes with these digits to the base 16.

        >>> bytearray.fromhex("61 62")
        bytearray(b'ab')
        """
        return prim.bytearray_of(_of_digits(string))

    def copy(self):
        """A copy.

        >>> bytearray([97]).copy()
        bytearray(b'a')
        """
        return prim.bytearray_of(prim.bytes_array(self).copy())

    def reverse(self):
        """Reverses the order of the bytes."""
        a = prim.bytes_array(self)
        a[:] = a[::-1].copy()

    def append(self, item, /):
        """Adds a byte at the end."""
        byte = _byte(item)
        n = prim.bytes_array(self).size
        _resized(self, n + 1)[n] = byte

    def extend(self, iterable_of_ints, /):
        """Adds the bytes or numbers of an iterable at the end."""
        if prim.is_str(iterable_of_ints):
            raise TypeError("expected iterable of integers; got: 'str'")
        if prim.is_int(iterable_of_ints):
            prim.error("an integer cannot be iterated over")
        values = _made(iterable_of_ints, "byte must be in range(0, 256)")
        n = prim.bytes_array(self).size
        _resized(self, n + values.size)[n:] = values

    def insert(self, index, item, /):
        """Adds a byte before that with an index."""
        n = prim.bytes_array(self).size
        i = index_of(index)
        if i < 0:
            i = max(i + n, 0)
        i = min(i, n)
        new = np.empty(1, np.uint8)
        new[0] = _byte(item)
        _replace(self, i, i, new)

    def pop(self, index=-1, /):
        """Removes the byte with an index, and returns it."""
        a = prim.bytes_array(self)
        i = index_of(index)
        if a.size == 0:
            raise IndexError("pop from empty bytearray")
        if i < 0:
            i += a.size
        if i < 0 or i >= a.size:
            raise IndexError("pop index out of range")
        x = int(a[i])
        _replace(self, i, i + 1, np.empty(0, np.uint8))
        return x

    def remove(self, value, /):
        """Removes the first byte with a value."""
        byte = _byte(value)
        a = prim.bytes_array(self)
        for i in range(a.size):
            if a[i] == byte:
                _replace(self, i, i + 1, np.empty(0, np.uint8))
                return
        raise ValueError("value not found in bytearray")

    def clear(self):
        """Removes all bytes."""
        _resized(self, 0)

    def __iadd__(self, other):
        if not prim.is_buffer(other):
            prim.error(other, "bytes are needed here")
        self.extend(other)
        return self

    def __imul__(self, n):
        size = prim.bytes_array(self).size
        a = _resized(self, repeated(size, index_of(n)))
        for i in range(size, a.size):
            a[i] = a[i - size]
        return self

    def __delitem__(self, index):
        n = prim.bytes_array(self).size
        if not prim.is_slice(index):
            i = index_of(index)
            if i < 0:
                i += n
            if i < 0 or i >= n:
                raise IndexError("bytearray index out of range")
            _replace(self, i, i + 1, np.empty(0, np.uint8))
            return
        start, stop, step = index.indices(n)
        count = len(range(start, stop, step))
        if count == 0:
            return
        _check_size(self)
        if step < 0:
            start, step = start + (count - 1) * step, -step
        a = prim.bytes_array(self)
        to = start
        for i in range(start, n):
            if (i - start) % step != 0 or (i - start) // step >= count:
                a[to] = a[i]
                to += 1
        _resized(self, n - count)
