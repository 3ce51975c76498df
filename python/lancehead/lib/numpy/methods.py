"""Methods and attributes of arrays and NumPy scalars."""

from collections import namedtuple

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import check_flag, index_of
from lancehead.lib.numpy.casting import check_cast, fitting
from lancehead.lib.numpy.choices import clip, round
from lancehead.lib.numpy.creation import array, asarray, empty, over_buffer
from lancehead.lib.numpy.folds import check_no_axis
from lancehead.lib.numpy.indexing import compress, nonzero, put, take
from lancehead.lib.numpy.joining import repeat
from lancehead.lib.numpy.layout import (
    as_shape,
    converted,
    copy_c,
    copy_into,
    flat,
    is_c_contiguous,
    new_array,
    new_fortran,
)
from lancehead.lib.numpy.manip import ravel, reshape, squeeze, swapaxes, transpose
from lancehead.lib.numpy.mixed import (
    getitem_at,
    getitem_tuple,
    getitem_where,
    setitem_at,
    setitem_flat,
    setitem_tuple,
    setitem_where,
)
from lancehead.lib.numpy.products import dot
from lancehead.lib.numpy.reductions import (
    all,
    any,
    argmax,
    argmin,
    cumprod,
    cumsum,
    max,
    mean,
    min,
    prod,
    ptp,
    std,
    sum,
    var,
)
from lancehead.lib.numpy.selection import choose, diagonal
from lancehead.lib.numpy.sorting import (
    argpartition,
    argsort,
    check_kind,
    check_selection,
    partition_in_place,
    searchsorted,
    sort_in_place,
)
from lancehead.lib.numpy.vectors import trace
from lancehead.lib.scalars import ratio_of
from lancehead.lib.times import stored as stored_time
from lancehead.lib.times import target as target_of_times


def _part(a, imaginary):
    dtype = prim.real_dtype(prim.dtype_of(a))
    data = prim.ptr_add(prim.data(a), prim.itemsize(dtype) if imaginary else 0)
    return prim.array(prim.owner(a), data, a.shape, a.strides, dtype, "C" if a.ndim == 0 else "A")


def _as_index(index):
    # Integers alone: ellipses and slices make no one element.
    if len(index) == 0:
        return ()
    return (index_of(index[0]),) + _as_index(index[1:])


def _element(a, index):
    if len(index) != a.ndim:
        prim.error("incorrect number of indices for array")
    return a[index]


def _index_in(a, k, n):
    i = index_of(k)
    if i < -n or i >= n:
        raise IndexError("index " + str(i) + " is out of bounds for size " + str(n))
    return i + n if i < 0 else i


def python_number(x):
    """A NumPy scalar as a Python number."""
    if prim.is_bool(x):
        return bool(x)
    if prim.is_int(x):
        # An `int` has 63 bits and a sign: what may need the 64th keeps its type.
        return int(x) if prim.is_signed(x) or prim.itemsize(prim.dtype_of(x)) < 8 else x
    if prim.is_float(x):
        return float(x)
    if prim.is_time(x):
        return x
    return complex(x)


def only_item(a):
    """The element of an array that has one."""
    if a.size != 1:
        raise TypeError("only length-1 arrays can be converted to Python scalars")
    return prim.load(prim.data(a), prim.dtype_of(a))


def truth_of(a):
    """Truth of an array of one element.

    >>> 1 if np.array([2]) else 0
    1
    """
    if a.size == 0:
        raise ValueError(
            "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty."
        )
    if a.size > 1:
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
    return True if prim.load(prim.data(a), prim.dtype_of(a)) else False


#: The value of `a.flags`.
Flags = namedtuple(
    "Flags", ["c_contiguous", "f_contiguous", "writeable", "contiguous", "fortran", "forc", "farray", "aligned", "fnc"]
)


def conjugate(x):
    """The conjugate of a number."""
    if prim.is_complex(x):
        return prim.complex(x.real, -x.imag)
    return x


class ndarray:
    """Methods and attributes of arrays."""

    def __new__(shape, dtype=float, buffer=None, offset=0, strides=None, order=None):
        """A new array whose elements are anything, or one over the memory of a buffer.

        >>> np.ndarray((2,), np.int32, np.array([1, 2, 3], np.int32), 4)
        array([2, 3], dtype=int32)
        """
        extents = as_shape(shape)
        if buffer is None:
            if strides is not None:
                prim.error("`strides=` of a new array is for the memory of a `buffer=`")
            return empty(extents, dtype, prim.order(order, "C"))
        return over_buffer(extents, prim.as_dtype(dtype), buffer, index_of(offset), strides, prim.order(order, "C"))

    getitem_mask = getitem_where
    getitem_take = getitem_at
    getitem_tuple = getitem_tuple
    setitem_flat = setitem_flat
    setitem_mask = setitem_where
    setitem_take = setitem_at
    setitem_tuple = setitem_tuple

    # Functions with the parameters of methods.
    all = all
    any = any
    argmax = argmax
    argmin = argmin
    argpartition = argpartition
    argsort = argsort
    choose = choose
    cumprod = cumprod
    cumsum = cumsum
    diagonal = diagonal
    dot = dot
    max = max
    mean = mean
    min = min
    nonzero = nonzero
    prod = prod
    ptp = ptp
    ravel = ravel
    repeat = repeat
    round = round
    searchsorted = searchsorted
    squeeze = squeeze
    sum = sum
    take = take
    trace = trace

    @property
    def T(self):
        """The array with its axes in reverse."""
        return transpose(self)

    @property
    def mT(self):
        """The array with its last two axes exchanged."""
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return swapaxes(self, -1, -2)

    @property
    def data(self):
        """The memory."""
        return memoryview(self)

    @property
    def device(self):
        """Where the memory is."""
        return "cpu"

    def to_device(self, device, /, *, stream=None):
        """The array itself, for `"cpu"`."""
        if stream is not None:
            raise ValueError("The stream argument in to_device() is not supported")
        if device != "cpu":
            raise ValueError("Unsupported device: " + device + ". Only 'cpu' is accepted.")
        return self

    def getfield(self, dtype, offset=0):
        """A part of each element as another type, as a view."""
        t, at = prim.as_dtype(dtype), index_of(offset)
        size = prim.itemsize(t)
        if at < 0:
            raise ValueError("offset is negative")
        if size > self.itemsize:
            raise ValueError("new type is larger than original type")
        if at > self.itemsize - size:
            raise ValueError("new type plus offset is larger than original type")
        if at % size != 0 and not prim.is_complex(prim.cast(0, t)):
            raise ValueError("a field begins at a multiple of its size")
        out = prim.array(prim.owner(self), prim.ptr_add(prim.data(self), at), self.shape, self.strides, t, "A")
        return prim.readonly(out) if prim.is_readonly(self) else out

    def setfield(self, val, /, dtype, offset=0):
        """Stores a part of each element as another type."""
        field = self.getfield(dtype, offset)
        field[...] = val

    @property
    def flat(self):
        """The elements in one dimension."""
        return flat(self)

    @property
    def flags(self):
        """How the elements lie in memory."""
        c, f = is_c_contiguous(self), is_c_contiguous(transpose(self))
        writeable = not prim.is_readonly(self)
        return Flags(c, f, writeable, c, f and not c, c or f, writeable and f and not c, True, f and not c)

    @property
    def real(self):
        """Real parts, as a view."""
        if prim.is_complex(prim.dtype_of(self)):
            return _part(self, False)
        return self

    @property
    def imag(self):
        """Imaginary parts, as a view; zeros that are read-only for real numbers."""
        if prim.is_complex(prim.dtype_of(self)):
            return _part(self, True)
        out = new_array(self.shape, prim.dtype_of(self))
        copy_into(out, 0)
        return prim.readonly(out)

    def var(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None):
        """Variance."""
        return var(self, axis, dtype, out, ddof, keepdims, where=where, mean=mean)

    def std(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None):
        """Standard deviation."""
        return std(self, axis, dtype, out, ddof, keepdims, where=where, mean=mean)

    def sort(self, axis=-1, kind=None, order=None, *, stable=None):
        """Sorts in place."""
        check_kind(kind, order, stable)
        sort_in_place(self, axis)

    def partition(self, kth, axis=-1, kind="introselect", order=None):
        """Puts the element of a rank in its place."""
        check_selection(kind, order)
        partition_in_place(self, kth, axis)

    def reshape(self, *shape, order="C", copy=None):
        """The elements in another shape."""
        if len(shape) == 0:
            prim.error("`reshape` takes a shape")
        if len(shape) == 1:
            return reshape(self, shape[0], order, copy=copy)
        return reshape(self, shape, order, copy=copy)

    def flatten(self, order="C"):
        """A copy of the elements in one dimension."""
        o = prim.order(order, "C")
        if o == "F":
            return flat(copy_c(transpose(self), prim.dtype_of(self)))
        if o == "C" or prim.layout(self) == "C":
            return flat(copy_c(self, prim.dtype_of(self)))
        line = ravel(self, o)
        return copy_c(line, prim.dtype_of(line))

    def transpose(self, *axes):
        """A view with the axes in another order."""
        if len(axes) == 0:
            return transpose(self)
        if len(axes) == 1:
            return transpose(self, axes[0])
        return transpose(self, axes)

    def swapaxes(self, axis1, axis2, /):
        """A view with two axes exchanged."""
        return swapaxes(self, axis1, axis2)

    def copy(self, order="C"):
        """A copy."""
        o = prim.order(order, "C")
        if o == "F" or (o != "C" and prim.layout(self) == "F"):
            out = new_fortran(self.shape, prim.dtype_of(self))
            copy_into(out, self)
            return out
        return copy_c(self, prim.dtype_of(self))

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """A converted copy."""
        check_flag(subok)
        wanted = target_of_times(prim.dtype_of(self), prim.as_dtype(dtype))
        check_cast(prim.dtype_of(self), wanted, casting)
        if not copy:
            return asarray(self, wanted, order)
        return array(self, wanted, order=order)

    def view(self, dtype=None):
        """The same memory, perhaps as another type of elements."""
        if dtype is None:
            out = prim.array(
                prim.owner(self), prim.data(self), self.shape, self.strides, prim.dtype_of(self), prim.layout(self)
            )
        else:
            out = _reinterpreted(self, prim.as_dtype(dtype))
        return prim.readonly(out) if prim.is_readonly(self) else out

    def fill(self, value, /):
        """Sets all elements."""
        if prim.is_array(value):
            if value.ndim > 0:
                prim.error("all elements are set to one number")
        if prim.is_chars(self):
            self[...] = value
            return
        if prim.is_array(value):
            pass
        elif not prim.is_scalar(value):
            prim.error("all elements are set to one number")
        elif prim.is_complex(value):
            dtype = prim.dtype_of(self)
            if not (prim.is_complex(dtype) or prim.is_bool(dtype)):
                prim.error("a complex number is not made a real one here: use its `real`")
        if prim.is_time(value) and not prim.is_array(value):
            copy_into(self, stored_time(value, prim.dtype_of(self)))
        elif prim.is_number(value) and prim.is_weak(value):
            copy_into(self, fitting(value, prim.dtype_of(self)))
        else:
            copy_into(self, value)

    def conj(self):
        """Conjugates."""
        return prim.map(conjugate, self)

    def conjugate(self):
        """Conjugates."""
        return prim.map(conjugate, self)

    def put(self, indices, values, mode="raise"):
        """Stores values at indices over all elements."""
        put(self, indices, values, mode)

    def compress(self, condition, axis=None, out=None):
        """Elements where a condition is true."""
        return compress(condition, self, axis, out)

    def tobytes(self, order="C"):
        """The memory of the elements, in row-major or column-major order, as bytes."""
        o = prim.order(order, "C")
        x = transpose(self) if o == "F" or (o != "C" and prim.layout(self) == "F") else self
        line = flat(copy_c(x, prim.dtype_of(x)))
        return prim.bytes_of(_bytes(line))

    def byteswap(self, inplace=False):
        """The elements with their bytes in reverse order."""
        c = copy_c(self, prim.dtype_of(self))
        if prim.is_char_bytes(self):
            return self if inplace else c
        size = self.itemsize // 2 if prim.is_complex(prim.dtype_of(self)) else self.itemsize
        _swap_bytes(_bytes(flat(c)), size)
        if inplace:
            self[...] = c
            return self
        return c

    def clip(self, min=None, max=None, out=None):
        """Elements limited to an interval."""
        return clip(self, min, max, out)

    def item(self, *index):
        """An element as a Python number."""
        if len(index) == 0:
            if self.size != 1:
                raise ValueError("can only convert an array of size 1 to a Python scalar")
            return python_number(prim.load(prim.data(self), prim.dtype_of(self)))
        if len(index) == 1 and self.ndim != 1 and not prim.is_tuple(index[0]):
            f = flat(self)
            return python_number(prim.item(f, _index_in(f, index[0], f.size)))
        if len(index) == 1 and prim.is_tuple(index[0]):
            return python_number(_element(self, _as_index(index[0])))
        return python_number(_element(self, _as_index(index)))

    def tolist(self):
        """Nested lists of Python numbers, or texts."""
        if self.ndim == 1 and prim.is_chars(self):
            return [prim.item(self, i) for i in range(self.shape[0])]
        if self.ndim == 0:
            return python_number(self[()])
        if self.ndim == 1:
            return [python_number(prim.item(self, i)) for i in range(self.shape[0])]
        return [self[i].tolist() for i in range(self.shape[0])]

    def __contains__(self, x):
        """Whether an element equals a number."""
        if prim.is_dtype(x) or not (prim.is_scalar(x) or prim.is_none(x) or prim.is_str(x)):
            prim.error("what is looked for in an array is a number")
        for y in flat(self):
            if y == x:
                return True
        return False


def _reinterpreted(a, dtype):
    old, new = a.itemsize, prim.itemsize(dtype)
    if old == new:
        return prim.array(prim.owner(a), prim.data(a), a.shape, a.strides, dtype, prim.layout(a))
    if a.ndim == 0 or prim.layout(a) == "F":
        prim.error("a view as elements of another size needs the last axis contiguous")
    last = a.shape[a.ndim - 1] * old
    if a.strides[a.ndim - 1] != old:
        raise ValueError("To change to a dtype of a different size, the last axis must be contiguous")
    if last % new != 0:
        raise ValueError(
            "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis "
            "of the array."
        )
    shape = prim.tuple_set(a.shape, a.ndim - 1, last // new)
    strides = prim.tuple_set(a.strides, a.ndim - 1, new)
    return prim.array(prim.owner(a), prim.data(a), shape, strides, dtype, prim.layout(a))


def _bytes(line):
    # The memory of a row-major line, as numbers of eight bits.
    size = line.size * line.itemsize
    return prim.array(prim.owner(line), prim.data(line), (size,), (1,), np.uint8, "C")


def _swap_bytes(v, size):
    for start in range(0, v.size, size):
        for i in range(size // 2):
            a, b = prim.item(v, start + i), prim.item(v, start + size - 1 - i)
            prim.set_item(v, start + i, b)
            prim.set_item(v, start + size - 1 - i, a)


class generic:
    """Methods and attributes of NumPy scalars."""

    all = all
    any = any
    argmax = argmax
    argmin = argmin
    cumprod = cumprod
    cumsum = cumsum
    max = max
    mean = mean
    min = min
    prod = prod
    ravel = ravel
    repeat = repeat
    round = round
    sum = sum
    take = take

    @property
    def T(self):
        """The number itself."""
        return self

    def item(self):
        """The number as a Python number."""
        return python_number(self)

    def conj(self):
        """The conjugate."""
        return conjugate(self)

    def conjugate(self):
        """The conjugate."""
        return conjugate(self)

    def astype(self, dtype):
        """The number as another type."""
        return converted(self, prim.as_dtype(dtype))

    def copy(self):
        """The number itself."""
        return self

    def squeeze(self, axis=None):
        """The number itself."""
        if prim.is_int(axis):
            check_no_axis(axis)
        return self

    @property
    def strides(self):
        """No strides."""
        return ()

    @property
    def device(self):
        """Where the number is: `cpu`."""
        return "cpu"

    @property
    def flat(self):
        """The number, as the elements of an array."""
        return array(self).ravel()

    def argsort(self, axis=-1, kind=None, order=None, *, stable=None):
        """Zero in an array."""
        if axis is not None:
            check_no_axis(axis)
        return array(self).ravel().argsort(-1, kind, order, stable=stable)

    def compress(self, condition, axis=None, out=None):
        """The number in an array, or nothing."""
        return array(self).ravel().compress(condition, axis, out)

    def as_integer_ratio(self):
        """Two integers whose quotient is the number."""
        if not prim.is_float(self):
            prim.error("a number that is no float has no `as_integer_ratio`")
        return ratio_of(float(self))

    def var(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None):
        """Zero, or NaN for an infinity, NaN or no degrees of freedom."""
        return array(self).var(axis, dtype, out, ddof, keepdims, where=where, mean=mean)

    def std(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None):
        """Zero, or NaN for an infinity, NaN or no degrees of freedom."""
        return array(self).std(axis, dtype, out, ddof, keepdims, where=where, mean=mean)

    def clip(self, min=None, max=None, out=None):
        """The number limited to an interval."""
        return clip(self, min, max, out)

    def flatten(self, order="C"):
        """The number in an array."""
        return array(self).flatten(order)

    def transpose(self, *axes):
        """The number itself."""
        return self

    def tolist(self):
        """The number as a Python number."""
        return python_number(self)

    def tobytes(self, order="C"):
        """The memory of the number, as bytes."""
        return array(self).tobytes()

    def byteswap(self):
        """The number with its bytes in reverse order."""
        return array(self).byteswap()[()]

    def is_integer(self):
        """Whether the number is integral."""
        if prim.is_float(self):
            return self - self == 0.0 and prim.floor(self) == self
        return True

    def reshape(self, *shape):
        """The number as an array."""
        return array(self).reshape(*shape)

    def view(self, dtype):
        """The same bits as another type."""
        if dtype is None:
            prim.error("the type of a number's bits is given")
        return array(self).view(dtype)[()]
