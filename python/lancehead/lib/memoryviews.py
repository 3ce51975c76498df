"""Methods of `memoryview`: an array over the memory of something else."""

import numpy as np

from lancehead.lib import prim


def put_view(a, part, values):
    """`self[part] = values` of a `memoryview`."""
    to = a[part]
    if to.shape != values.shape:
        raise ValueError("memoryview assignment: lvalue and rvalue have different structures")
    to[...] = values.copy()


class memoryview:
    """Methods of `memoryview`."""

    def __new__(object):
        """A view of the memory of bytes or of an array.

        >>> memoryview(b"abc")[1]
        98
        """
        if not (prim.is_buffer(object) or prim.is_array(object)):
            prim.error("a memoryview is made of bytes or of an array")
        return prim.memoryview_of(object)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        pass

    def release(self):
        """Nothing: the memory is free when nobody refers to it any more.

        >>> memoryview(b"ab").release()
        """

    def tobytes(self):
        """The bytes of the items.

        >>> memoryview(b"abc")[::2].tobytes()
        b'ac'
        """
        return prim.bytes_of(np.frombuffer(prim.bytes_array(self).copy(), np.uint8))

    def hex(self, sep=..., bytes_per_sep=1):
        """The digits of the bytes to the base 16, in groups if there is a separator.

        >>> memoryview(b"ab").hex()
        '6162'
        """
        return self.tobytes().hex(sep, bytes_per_sep)

    def toreadonly(self):
        """A view that nothing can be written to.

        >>> memoryview(b"ab").toreadonly().readonly
        True
        """
        return prim.memoryview_of(prim.readonly(prim.bytes_array(self)))

    def cast(self, format, shape=None):
        """A view of the same memory as items of another format, in as many dimensions as the shape has.

        >>> memoryview(b"abcd").cast("H").tolist()
        [25185, 25699]
        >>> memoryview(b"abcd").cast("B", (2, 2)).tolist()
        [[97, 98], [99, 100]]
        """
        items = self._cast(format)
        if shape is None:
            return prim.memoryview_of(items)
        if not prim.is_tuple(shape):
            prim.error("the shape of a memoryview is a tuple, or a list of constants")
        if prim.bytes_array(self).ndim != 1:
            raise TypeError("memoryview: cast must be 1D -> ND or ND -> 1D")
        count = 1
        for n in shape:
            if n <= 0:
                raise ValueError("memoryview.cast(): elements of shape must be integers > 0")
            count *= n
        if count != items.size:
            raise TypeError("memoryview: product(shape) * itemsize != buffer size")
        return prim.memoryview_of(items.reshape(shape))

    def _cast(self, format):
        a = prim.bytes_array(self)
        if a.ndim > 1:
            if prim.layout(a) != "C":
                raise TypeError("memoryview: casts are restricted to C-contiguous views")
            a = a.reshape(a.size)
        dtype = _dtype_of_format(format)
        own = prim.dtype_of(a)
        if not (_is_byte(own) or _is_byte(dtype)):
            raise TypeError("memoryview: cannot cast between two non-byte formats")
        if a.size > 1 and a.strides[0] != prim.itemsize(own):
            raise TypeError("memoryview: casts are restricted to C-contiguous views")
        if a.size * prim.itemsize(own) % prim.itemsize(dtype) != 0:
            raise TypeError("memoryview: length is not a multiple of itemsize")
        return a.view(dtype)


def _is_byte(dtype):
    return prim.is_int(dtype) and prim.itemsize(dtype) == 1


def _dtype_of_format(format):
    # The format is known while compiling, so that one branch is left.
    if format == "B":
        return np.uint8
    if format == "b":
        return np.int8
    if format == "H":
        return np.uint16
    if format == "h":
        return np.int16
    if format == "I":
        return np.uint32
    if format == "i":
        return np.int32
    if format == "L" or format == "Q" or format == "N":
        return np.uint64
    if format == "l" or format == "q" or format == "n":
        return np.int64
    if format == "f":
        return np.float32
    if format == "d":
        return np.float64
    if format == "?":
        return np.bool_
    prim.error("a memoryview is cast to a format of numbers that is known while compiling: `m.cast('I')`")
