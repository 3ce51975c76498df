"""How arrays lie in memory: new arrays, strides, flat views and lanes. Everything else in NumPy's library stands on
it."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import fitting, integer_of
from lancehead.lib.records import assign as assign_records
from lancehead.lib.times import element as time_element


def count(shape):
    """Number of elements of a shape."""
    if len(shape) == 0:
        return 1
    if len(shape) == 1:
        return shape[0]
    if len(shape) == 2:
        return shape[0] * shape[1]
    return shape[0] * count(shape[1:])


def c_strides(shape, itemsize):
    """Strides in bytes of a row-major array."""
    if len(shape) == 0:
        return ()
    if len(shape) == 1:
        return (itemsize,)
    if len(shape) == 2:
        return (shape[1] * itemsize, itemsize)
    inner = c_strides(shape[1:], itemsize)
    return (shape[1] * inner[0],) + inner


def f_strides(shape, itemsize):
    """Strides in bytes of a column-major array."""
    return c_strides(shape[::-1], itemsize)[::-1]


def as_shape(shape):
    """A shape given as an integer or a tuple, as a tuple of `int`."""
    if not prim.is_tuple(prim.sized(shape)):
        return (_extent(shape),)
    if len(shape) == 0:
        return ()
    if len(shape) == 1:
        return (_extent(shape[0]),)
    if len(shape) == 2:
        return (_extent(shape[0]), _extent(shape[1]))
    return (_extent(shape[0]),) + as_shape(shape[1:])


def _extent(n):
    # The check is a function of its own, so that this one is inlined and the extent is known where an array is made.
    extent = integer_of(n)
    _ask_extent(extent)
    return extent


def _ask_extent(extent):
    if extent < 0:
        raise ValueError("negative dimensions not allowed")


def as_ints(items):
    """A tuple of integers of any types, or one integer, as a tuple of `int`."""
    if not prim.is_tuple(prim.sized(items)):
        return (integer_of(items),)
    if len(items) == 0:
        return ()
    return (integer_of(items[0]),) + as_ints(items[1:])


def _nbytes(shape, itemsize):
    # Number of bytes of an array, which must fit 63 bits.
    if len(shape) == 0:
        return itemsize
    inner = itemsize if len(shape) == 1 else _nbytes(shape[1:], itemsize)
    if prim.mul_ovf(shape[0], inner):
        raise ValueError("array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.")
    return shape[0] * inner


def new_array(shape, dtype):
    """A row-major array of a shape (a tuple of `int`) with undefined contents."""
    owner, data = prim.alloc(_nbytes(shape, prim.itemsize(dtype)))
    return prim.array(owner, data, shape, c_strides(shape, prim.itemsize(dtype)), dtype, "C")


def new_fortran(shape, dtype):
    """A column-major array of a shape with undefined contents."""
    owner, data = prim.alloc(_nbytes(shape, prim.itemsize(dtype)))
    return prim.array(owner, data, shape, f_strides(shape, prim.itemsize(dtype)), dtype, "F")


def new_zeros(shape, dtype):
    """A row-major array of zeros."""
    if prim.on_gpu():
        out = new_array(shape, dtype)
        copy_into(out, 0)
        return out
    owner, data = prim.calloc(_nbytes(shape, prim.itemsize(dtype)))
    return prim.array(owner, data, shape, c_strides(shape, prim.itemsize(dtype)), dtype, "C")


def with_shape(a, shape):
    """A row-major array's elements in another shape of as many."""
    dtype = prim.dtype_of(a)
    return prim.array(prim.owner(a), prim.data(a), shape, c_strides(shape, prim.itemsize(dtype)), dtype, "C")


def same(x):
    """The element itself; the kernel of copies."""
    return x


def real_of(x):
    """The real part; the kernel of copies from complex to real."""
    return x.real


def truth_of(x):
    """Whether a complex number is not zero; the kernel of copies from complex numbers to truth values."""
    return x != prim.cast(0, prim.dtype_of(x))


@prim.means("fill")
def copy_into(dst, src):
    """Stores a number or a broadcast array, converted."""
    if prim.is_dtype(src) or prim.is_range(src):
        prim.error("an array cannot be filled with a value of this type")
    if prim.is_record(prim.dtype_of(dst)):
        assign_records(dst, src)
    elif prim.is_complex(prim.dtype_of(src)) and prim.is_bool(prim.dtype_of(dst)):
        prim.map_into(dst, truth_of, src)
    elif prim.is_complex(prim.dtype_of(src)) and not prim.is_complex(prim.dtype_of(dst)):
        prim.map_into(dst, real_of, src)
    else:
        prim.map_into(dst, same, src)


#: Bytes that are moved between two looks at whether Ctrl-C was pressed: some milliseconds.
PIECE = 1 << 24


def move(to, source, size):
    """Copies bytes to memory that they are not in."""
    if size <= PIECE:
        prim.lh_memmove(to, source, size)
    else:
        _move_pieces(to, source, size)


def _move_pieces(to, source, size):
    done = 0
    while done < size:
        prim.lh_interrupted()
        n = PIECE if size - done > PIECE else size - done
        prim.lh_memmove(prim.ptr_add(to, done), prim.ptr_add(source, done), n)
        done += n


def copy_c(a, dtype):
    """A new row-major array of the elements, converted."""
    out = new_array(a.shape, dtype)
    if prim.layout(a) == "C" and prim.dtype_of(a) == dtype and not prim.on_gpu():
        move(prim.data(out), prim.data(a), a.size * a.itemsize)
    elif prim.layout(a) == "C" and a.ndim > 0:
        v, w = with_shape(a, (a.size,)), with_shape(out, (a.size,))
        for i in range(v.size):
            prim.set_item(w, i, converted(prim.item(v, i), dtype))
    else:
        copy_into(out, a)
    return out


def converted(x, dtype):
    """A number or time as another type: of a complex number its truth or, among other real types, its real part."""
    if prim.is_time(x):
        return time_element(x, dtype)
    if prim.is_complex(x) and prim.is_bool(dtype):
        return truth_of(x)
    if prim.is_complex(x) and not prim.is_complex(dtype):
        return prim.cast(x.real, dtype)
    if prim.checks_overflow():
        if prim.is_int(dtype):
            if prim.is_int(x) or prim.is_float(x):
                return fitting(x, prim.cast(0, dtype))
    return prim.cast(x, dtype)


def is_same(a, b):
    """Whether two arrays have the same elements in the same place: `a is b`."""
    return (
        prim.lh_ptr_addr(prim.data(a)) == prim.lh_ptr_addr(prim.data(b))
        and a.shape == b.shape
        and a.strides == b.strides
    )


def only_one(a):
    """The only item along the first axis, whose extent must be one: assignment ignores leading axes of extent one."""
    if a.shape[0] != 1:
        raise ValueError("could not broadcast input array into a shape of fewer dimensions")
    return a[0]


def is_c_contiguous(a):
    """Whether the elements lie in row-major order without gaps."""
    return prim.layout(a) == "C" or _are_packed(a.shape, a.strides, a.itemsize) or a.size == 0


def overlaps_itself(a):
    """Whether elements may have memory in common: a stride is smaller than the extent of what lies inside it."""
    if prim.layout(a) != "A":
        return False
    for d, (n, stride) in enumerate(zip(a.shape, a.strides)):
        inside = a.itemsize
        for k, (m, step) in enumerate(zip(a.shape, a.strides)):
            if k != d and abs(step) <= abs(stride):
                inside += (m - 1) * abs(step)
        if n > 1 and abs(stride) < inside:
            return True
    return False


def _are_packed(shape, strides, itemsize):
    if len(shape) == 0:
        return True
    if shape[-1] != 1 and strides[-1] != itemsize:
        return False
    return _are_packed(shape[:-1], strides[:-1], itemsize * shape[-1])


def contiguous(a):
    """The array if it is row-major, else a copy that is."""
    if prim.layout(a) == "C":
        return a
    if is_c_contiguous(a):
        dtype = prim.dtype_of(a)
        return prim.array(prim.owner(a), prim.data(a), a.shape, c_strides(a.shape, a.itemsize), dtype, "C")
    return copy_c(a, prim.dtype_of(a))


def ends(a):
    # Addresses of the first byte of an array and behind the last.
    low = prim.lh_ptr_addr(prim.data(a))
    high = low + a.itemsize
    for k in range(a.ndim):
        far = (a.shape[k] - 1) * a.strides[k]
        if far < 0:
            low += far
        else:
            high += far
    return low, high


def apart_from(a, target):
    """The array, or a copy if it may share memory with another one, which is about to be written."""
    low, high = ends(a)
    first, last = ends(target)
    if high <= first or last <= low:
        return a
    return copy_c(a, prim.dtype_of(a))


def flat(a):
    """The elements in row-major order as one dimension, as a view if possible; one dimension stays as it is."""
    if a.ndim == 1:
        return a
    c = contiguous(a)
    return with_shape(c, (c.size,))


def flat_any(a):
    """The elements in any order as one dimension, as a view if possible."""
    if prim.layout(a) == "F":
        return flat(a.T)
    return flat(a)


def row(a, i):
    """Row of a two-dimensional array."""
    dtype = prim.dtype_of(a)
    layout = "C" if prim.layout(a) == "C" else "A"
    data = prim.ptr_add(prim.data(a), i * a.strides[0])
    return prim.array(prim.owner(a), data, (a.shape[1],), (a.strides[1],), dtype, layout)


def check_axis(axis, ndim):
    """An axis counted from the front, or AxisError."""
    k = integer_of(axis)
    if k < -ndim or k >= ndim:
        raise np.exceptions.AxisError(k, ndim)
    return k + ndim if k < 0 else k


def text_of_axis(axis, ndim):
    """The text of an AxisError."""
    return f"axis {axis} is out of bounds for array of dimension {ndim}"


def lanes(a, axis):
    """A three-dimensional view or copy: before the axis, along it, after it. The axis is not negative."""
    dtype = prim.dtype_of(a)
    if a.ndim == 1:
        layout = "C" if prim.layout(a) == "C" else "A"
        strides = (a.size * a.itemsize, a.strides[0], a.itemsize)
        return prim.array(prim.owner(a), prim.data(a), (1, a.size, 1), strides, dtype, layout)
    if a.ndim == 2 and prim.layout(a) != "C":
        if axis == 0:
            shape, strides = (1, a.shape[0], a.shape[1]), (0, a.strides[0], a.strides[1])
        else:
            shape, strides = (a.shape[0], a.shape[1], 1), (a.strides[0], a.strides[1], 0)
        return prim.array(prim.owner(a), prim.data(a), shape, strides, dtype, "A")
    c = contiguous(a)
    shape = c.shape
    if a.ndim == 2:
        if axis == 0:
            return with_shape(c, (1, shape[0], shape[1]))
        return with_shape(c, (shape[0], shape[1], 1))
    outer, inner = 1, 1
    for k in range(axis):
        outer *= shape[k]
    for k in range(axis + 1, a.ndim):
        inner *= shape[k]
    return with_shape(c, (outer, shape[axis], inner))


def lane(v, i, j):
    """One line of `lanes`: first and last index fixed."""
    dtype = prim.dtype_of(v)
    data = prim.ptr_add(prim.data(v), i * v.strides[0] + j * v.strides[2])
    return prim.array(prim.owner(v), data, (v.shape[1],), (v.strides[1],), dtype, "A")


def packed_lane(v, i):
    """The line of row-major `lanes` whose last extent is one: contiguous."""
    dtype = prim.dtype_of(v)
    layout = "C" if prim.layout(v) == "C" else "A"
    data = prim.ptr_add(prim.data(v), i * v.strides[0])
    return prim.array(prim.owner(v), data, (v.shape[1],), (v.strides[1],), dtype, layout)


def lanes_out(a, axis, dtype):
    """A new row-major array of the same shape, and its lanes."""
    out = new_array(a.shape, dtype)
    return out, lanes(out, axis)
