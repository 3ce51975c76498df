"""New arrays."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import check_device, check_flag, index_of, unmixed, unranged
from lancehead.lib.numpy.casting import fitting
from lancehead.lib.numpy.layout import (
    as_ints,
    as_shape,
    c_strides,
    check_axis,
    contiguous,
    converted,
    copy_c,
    copy_into,
    count,
    f_strides,
    is_c_contiguous,
    new_array,
    new_fortran,
    new_zeros,
    with_shape,
)
from lancehead.lib.times import arange as times_between


def dtype_or(dtype, default):
    """The dtype that an argument names, or the default for None."""
    if dtype is None:
        return default
    return prim.as_dtype(dtype)


def empty(shape, dtype=None, order="C", *, device=None):
    """An array of undefined contents.

    >>> np.empty((2, 3)).shape
    (2, 3)
    """
    if device is not None:
        check_device(device)
    if prim.order(order, "C", "CF") == "F":
        return new_fortran(as_shape(shape), dtype_or(dtype, np.float64))
    return new_array(as_shape(shape), dtype_or(dtype, np.float64))


def zeros(shape, dtype=None, order="C", *, device=None):
    """An array of zeros.

    >>> np.zeros((2, 2), np.int64)
    array([[0, 0],
           [0, 0]])
    """
    if device is not None:
        check_device(device)
    if prim.order(order, "C", "CF") == "F":
        out = empty(shape, dtype, "F")
        out[...] = 0
        return out
    return new_zeros(as_shape(shape), dtype_or(dtype, np.float64))


def ones(shape, dtype=None, order="C", *, device=None):
    """An array of ones.

    >>> np.ones(3)
    array([1., 1., 1.])
    """
    if device is not None:
        check_device(device)
    out = empty(shape, dtype, order)
    copy_into(out, 1)
    return out


def full(shape, fill_value, dtype=None, order="C", *, device=None):
    """An array filled with a value.

    >>> np.full(3, 7)
    array([7, 7, 7])
    """
    if device is not None:
        check_device(device)
    if prim.is_a(fill_value, "builtins.list") or prim.is_tuple(fill_value):
        return full(shape, asarray(fill_value), dtype, order)
    if prim.is_str(fill_value) or prim.is_bytes(fill_value):
        texts = empty(shape, _dtype_for(fill_value, dtype), order)
        texts[...] = fill_value
        return texts
    out = empty(shape, dtype_or(dtype, prim.dtype_of(fill_value)), order)
    copy_into(out, _filling(fill_value, out))
    return out


INHOMOGENEOUS = "setting an array element with a sequence. The requested array has an inhomogeneous shape."


def _filling(value, out):
    # Floats are cast here, integers are not.
    return fitting(value, prim.dtype_of(out)) if prim.is_int(value) and prim.is_weak(value) else value


def _dtype_for(text, dtype):
    if dtype is None and prim.is_str(text):
        return dtype_of_text(text)
    return _dtype_of_texts(dtype)


def _empty_as(a, dtype, order):
    dt = dtype_or(dtype, prim.dtype_of(a))
    o = prim.order(order, "K")
    if o == "F" or (o != "C" and prim.layout(a) == "F"):
        return new_fortran(a.shape, dt)
    return new_array(a.shape, dt)


def empty_like(prototype, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """An array of undefined contents with the shape and dtype of another.

    >>> np.empty_like(np.zeros((2, 3))).shape
    (2, 3)
    """
    if device is not None:
        check_device(device)
    check_flag(subok)
    x = asarray(prototype)
    if shape is None:
        return _empty_as(x, dtype, order)
    if prim.order(order, "K") == "F":
        return empty(shape, dtype_or(dtype, prim.dtype_of(x)), "F")
    return empty(shape, dtype_or(dtype, prim.dtype_of(x)))


def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """An array of zeros with the shape and dtype of another.

    >>> np.zeros_like(np.array([1.5, 2.5]))
    array([0., 0.])
    """
    if device is not None:
        check_device(device)
    check_flag(subok)
    x = asarray(a)
    o = prim.order(order, "K")
    if shape is None and o != "F" and (o == "C" or prim.layout(x) != "F"):
        return new_zeros(x.shape, dtype_or(dtype, prim.dtype_of(x)))
    out = empty_like(x, dtype, order, subok, shape)
    copy_into(out, 0)
    return out


def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """An array of ones with the shape and dtype of another.

    >>> np.ones_like(np.array([1.5, 2.5]))
    array([1., 1.])
    """
    if device is not None:
        check_device(device)
    out = empty_like(a, dtype, order, subok, shape)
    copy_into(out, 1)
    return out


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """An array filled with a value, with the shape and dtype of another.

    >>> np.full_like(np.array([1.5, 2.5]), 3)
    array([3., 3.])
    """
    if device is not None:
        check_device(device)
    if prim.is_a(fill_value, "builtins.list") or prim.is_tuple(fill_value):
        return full_like(a, asarray(fill_value), dtype, order, subok, shape)
    out = empty_like(a, dtype, order, subok, shape)
    copy_into(out, _filling(fill_value, out))
    return out


def arange(start, stop=None, step=None, dtype=None, *, device=None):
    """Evenly spaced numbers of a half-open interval.

    >>> np.arange(3)
    array([0, 1, 2])
    >>> np.arange(1, 2, 0.25)
    array([1.  , 1.25, 1.5 , 1.75])
    """
    if device is not None:
        check_device(device)
    if (
        prim.is_time(start)
        or prim.is_time(stop)
        or prim.is_time(step)
        or (dtype is not None and prim.is_time(dtype_or(dtype, None)))
    ):
        return times_between(start, stop, step, dtype)
    if stop is None:
        return _arange(0, start, step, dtype)
    return _arange(start, stop, step, dtype)


def _arange(start, stop, step, dtype):
    if step is None:
        return _arange(start, stop, 1, dtype)
    common = prim.result_type(np.int64, prim.dtype_of(start), prim.dtype_of(stop), prim.dtype_of(step))
    dt = dtype_or(dtype, common)
    first = prim.cast(start, common)
    delta = prim.cast(step, common)
    if prim.is_complex(common) and not prim.is_complex(dt):
        prim.error("complex numbers are not made real ones here")
    n = _arange_length(first, prim.cast(stop, common), delta)
    if prim.is_bool(dt):
        if n > 2:
            raise TypeError("arange() is only supported for booleans when the result has at most length 2.")
    out = new_array((n,), dt)
    begin = prim.cast(first, dt)
    stride = prim.cast(first + delta, dt) - begin
    for i in range(n):
        prim.set_item(out, i, begin + prim.cast(i, dt) * stride)
    return out


def _arange_length(start, stop, step):
    if step == 0:
        raise ZeroDivisionError("division by zero")
    if prim.is_int(start):
        if step > 0:
            return int((stop - start - 1) // step + 1) if stop > start else 0
        return int((start - stop - 1) // -step + 1) if stop < start else 0
    if prim.is_complex(start):
        # As NumPy: the shorter of what the parts of the quotient ask for.
        whole = (stop - start) / step
        n = prim.minimum(prim.ceil(whole.real), prim.ceil(whole.imag))
    else:
        n = prim.ceil(prim.fdiv(stop - start, step))
    if not prim.fabs(n) <= 9.2e18:
        raise ValueError("Maximum allowed size exceeded")
    return prim.cast(n, int) if n > 0.0 else 0


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """Evenly spaced numbers of an interval.

    >>> np.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    >>> np.linspace(0, 1, 4, endpoint=False)
    array([0.  , 0.25, 0.5 , 0.75])
    """
    if device is not None:
        check_device(device)
    n = index_of(num)
    if n < 0:
        raise ValueError("Number of samples must be non-negative.")
    if not (prim.is_scalar(start) and prim.is_scalar(stop)):
        found, steps = _linspace_between(operand(start), operand(stop), n, endpoint, dtype)
        found = np.moveaxis(found, 0, axis)
        return (found, steps) if retstep else found
    if axis != 0:
        check_axis(index_of(axis), 1)
    common = _type_between(start, stop)
    first = prim.cast(start, common)
    last = prim.cast(stop, common)
    div = n - 1 if endpoint else n
    out = new_array((n,), dtype_or(dtype, common))
    whole = last - first
    step = whole / prim.cast(div, common) if div > 0 else whole * np.nan
    unit = step if div > 0 else prim.cast(0, common) * whole
    if step == 0 and whole != 0:
        # A step that vanishes is not multiplied.
        for i in range(n):
            at = prim.cast(i, common) / prim.cast(div, common) * whole
            prim.set_item(out, i, _number_of_line(first + at, prim.dtype_of(out)))
    else:
        for i in range(n):
            prim.set_item(out, i, _number_of_line(first + prim.cast(i, common) * unit, prim.dtype_of(out)))
    if endpoint and n > 1:
        prim.set_item(out, n - 1, _number_of_line(last, prim.dtype_of(out)))
    if retstep:
        return out, step
    return out


def _number_of_line(x, dtype):
    return prim.cast(prim.floor(x) if prim.is_int(dtype) else x, dtype)


def _type_between(start, stop):
    # The type of floats or complex numbers that both ends have in common.
    dtype = prim.result_type(start, stop)
    return dtype if prim.is_float(dtype) or prim.is_complex(dtype) else np.float64


def _linspace_between(start, stop, n, endpoint, dtype):
    # Arrays of evenly spaced numbers along a new first axis, and the steps.
    common = _type_between(start, stop)
    wide = np.broadcast_arrays(asarray(start, common), asarray(stop, common))
    first, last = wide[0], wide[1]
    whole = last - first
    div = n - 1 if endpoint else n
    steps = whole / prim.cast(div, common) if div > 0 else whole * np.nan
    out = new_array((n,) + first.shape, dtype_or(dtype, common))
    # Steps that vanish are not multiplied.
    vanishes = np.any(steps == 0)
    for i in range(n):
        if vanishes and div > 0:
            x = first + prim.cast(i, common) / prim.cast(div, common) * whole
        else:
            x = first + prim.cast(i, common) * steps if div > 0 else first + prim.cast(0, common) * whole
        if endpoint and i > 0 and i == n - 1:
            x = last + prim.cast(0, common)
        if prim.is_int(prim.dtype_of(out)):
            out[i] = np.floor(x)
        else:
            out[i] = x
    return out, steps


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Powers of a base with evenly spaced exponents.

    >>> np.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    if prim.is_scalar(base):
        powers = base ** linspace(start, stop, num, endpoint, axis=axis)
    else:
        shape = np.broadcast_shapes(np.shape(start), np.shape(stop), np.shape(base))
        exponents = linspace(np.broadcast_to(start, shape), stop, num, endpoint, axis=axis)
        powers = np.power(np.expand_dims(np.broadcast_to(base, shape), axis), exponents)
    return powers if dtype is None else powers.astype(dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Numbers evenly spaced on a logarithmic scale.

    >>> np.geomspace(1, 8, 4)
    array([1., 2., 4., 8.])
    """
    turns = prim.is_complex(dtype_or(dtype, prim.result_type(start, stop)))
    if turns or not (prim.is_scalar(start) and prim.is_scalar(stop)):
        found = _geometric(asarray(start), asarray(stop), num, endpoint, turns)
        made = np.moveaxis(found, 0, axis)
        return made if dtype is None else made.astype(dtype)
    low, high = float(start), float(stop)
    if low == 0.0 or high == 0.0:
        raise ValueError("Geometric sequence cannot include zero")
    sign = -1.0 if low < 0.0 and high < 0.0 else 1.0
    a, b = prim.log10(low * sign), prim.log10(high * sign)
    out = logspace(a, b, num, endpoint)
    n = out.size
    for i in range(n):
        x = prim.item(out, i)
        if i == 0:
            x = low * sign
        elif endpoint and i == n - 1:
            x = high * sign
        prim.set_item(out, i, x * sign)
    return out if dtype is None else out.astype(dtype)


def _geometric(start, stop, num, endpoint, turns):
    # Along a new first axis; signs and directions are those of the start.
    dtype = np.complex128 if turns else np.float64
    first, last = asarray(start, dtype), asarray(stop, dtype)
    if np.any(first == 0) or np.any(last == 0):
        raise ValueError("Geometric sequence cannot include zero")
    sign = np.sign(first)
    out = logspace(np.log10(first / sign), np.log10(last / sign), num, endpoint)
    if len(out) > 0:
        out[0] = first / sign
    if len(out) > 1 and endpoint:
        out[-1] = last / sign
    out *= sign
    return out


def copy(a, order="K"):
    """A copy.

    >>> np.copy(np.array([1, 2]))
    array([1, 2])
    """
    x = asarray(a)
    out = _empty_as(x, None, order)
    copy_into(out, x)
    return out


def array(object, dtype=None, *, copy=True, order="K", ndmin=False):
    """An array of numbers, nested sequences, or a copy of an array.

    >>> np.array([1, 2.5])
    array([1. , 2.5])
    >>> np.array([[1, 2], [3, 4]], dtype=np.float64)
    array([[1., 2.],
           [3., 4.]])
    >>> np.array(((1, 2), (3, 4)))
    array([[1, 2],
           [3, 4]])
    """
    made = _array(unmixed(object), dtype, copy, order)
    if prim.is_bool(ndmin):
        return _of_rank(made, 1) if ndmin else made
    return _of_rank(made, ndmin)


def _of_rank(x, ndmin):
    # Axes of extent one in front. The rank is part of the type, so that the number is known while compiling.
    zeros = prim.tuple_fill(ndmin, 0)
    if len(zeros) > 64:
        prim.error("`ndmin` is at most 64")
    if len(zeros) <= x.ndim:
        return x
    strides = zeros[x.ndim :] + x.strides
    shape = prim.tuple_fill(len(zeros) - x.ndim, 1) + x.shape
    if prim.layout(x) == "C":
        return with_shape(x, shape)
    return prim.array(prim.owner(x), prim.data(x), shape, strides, prim.dtype_of(x), "A")


def _dtype_of_texts(dtype):
    if dtype is None:
        prim.error('how long texts are is no part of their type: give the dtype, as in `dtype="U5"`')
    made = dtype_or(dtype, None)
    if not prim.is_chars(made):
        prim.error("texts are stored in arrays of dtype `U` or `S` only")
    return made


#: Names of dtypes by the number of characters, less one.
_OF_TEXTS = (
    "U1", "U2", "U3", "U4", "U5", "U6", "U7", "U8", "U9", "U10", "U11", "U12", "U13", "U14", "U15", "U16",
    "U17", "U18", "U19", "U20", "U21", "U22", "U23", "U24", "U25", "U26", "U27", "U28", "U29", "U30", "U31",
    "U32"
)  # fmt: skip


def dtype_of_text(x):
    """The dtype that a text which is known while compiling has: one of as many characters."""
    if not prim.is_const(x):
        prim.error('how long a text is, is no part of its type: give the dtype, as in `dtype="U5"`')
    if len(x) > 32:
        prim.error('a text of more than 32 characters needs its dtype, as in `dtype="U40"`')
    return prim.as_dtype(_OF_TEXTS[len(x) - 1 if len(x) > 0 else 0])


def text_operand(x):
    """A text that is known while compiling as an array without dimensions; anything else as it is."""
    if not prim.is_str(x):
        return x
    out = empty((), dtype_of_text(x))
    out[()] = x
    return out


def _texts(object, dtype):
    texts = new_array((len(object),), _dtype_of_texts(dtype))
    for i, x in enumerate(object):
        texts[i] = x
    return texts


def _records(x, dtype):
    # An array of records, which the items of nested lists are: tuples or records.
    out = new_array(_extents_of_lists(x), dtype)
    items = prim.array(prim.owner(out), prim.data(out), (out.size,), (out.itemsize,), dtype, "C")
    _fill_records(items, 0, x, out.shape)
    return out


def _extents_of_lists(x):
    if prim.is_a(x, "builtins.list", "tuples.tuple"):
        if len(x) == 0:
            return prim.tuple_fill(len(_no_lists(x)), 0)
        return (len(x),) + _extents_of_lists(prim.items_get(x, 0))
    return ()


def _no_lists(x):
    return (0,) + _no_lists(prim.example(x)) if prim.is_a(x, "builtins.list", "tuples.tuple") else ()


def _fill_records(items, at, x, shape):
    # Stores tuples in row-major order and returns where the next go.
    if prim.is_a(x, "builtins.list", "tuples.tuple"):
        if len(x) != shape[0]:
            raise ValueError(INHOMOGENEOUS)
        for item in x:
            at = _fill_records(items, at, item, shape[1:])
        return at
    items[at] = x
    return at + 1


def _array(object, dtype, copy, order):
    if prim.is_range(object):
        return _array(unranged(object), dtype, copy, order)
    if dtype is not None:
        if (
            not prim.is_array(object)
            and prim.is_record(prim.as_dtype(dtype))
            and not prim.is_chars(prim.as_dtype(dtype))
        ):
            return _records(object, prim.as_dtype(dtype))
    if prim.is_a(object, "builtins.list", "tuples.tuple"):
        if prim.is_str(prim.items_nothing(object)) or prim.is_bytes(prim.items_nothing(object)):
            return _texts(object, dtype)
    if prim.is_tuple(object) and len(object) > 0:
        if prim.is_str(object[0]) or prim.is_bytes(object[0]):
            return _texts(object, dtype)
    if prim.is_str(copy):
        prim.error("`copy` is True, False or None")
    if copy is None:
        return asarray(object, dtype, order)
    if not copy:
        return _uncopied(object, dtype, order)
    o = prim.order(order, "K")
    if prim.is_array(object):
        if o != "F" and (o == "C" or prim.layout(object) != "F"):
            return copy_c(object, dtype_or(dtype, prim.dtype_of(object)))
        out = _empty_as(object, dtype, o)
        copy_into(out, object)
        return out
    leaf = _leaf(object)
    dt = dtype_or(dtype, leaf)
    if prim.is_complex(leaf) and not (prim.is_complex(dt) or prim.is_bool(dt)):
        prim.error("complex numbers are not made real ones here: use `np.real`")
    shape = _nested_shape(object)
    if o == "F":
        c = new_array(shape, dt)
        _fill(c, object)
        return asfortranarray(c) if c.ndim > 1 else c
    c = new_array(shape, dt)
    _fill(c, object)
    return c


def _uncopied(a, dtype, order):
    # The array itself, or an error where NumPy has to make another one.
    if not prim.is_array(a):
        prim.error("an array cannot be made of this without a copy")
    if dtype_or(dtype, prim.dtype_of(a)) != prim.dtype_of(a):
        prim.error("an array of another dtype cannot be made without a copy")
    o = prim.order(order, "K")
    if a.ndim > 1 and (o == "C" or o == "F") and prim.layout(a) != o:
        prim.error("an array of another order cannot be made without a copy")
    return a


def _leaf(x):
    # The dtype of the numbers inside nested sequences.
    if prim.is_a(x, "builtins.list", "tuples.tuple"):
        return _leaf(prim.example(x))
    if prim.is_tuple(x):
        if len(x) == 0:
            return np.float64
        dtype = _leaf(x[0])
        for item in x[1:]:
            dtype = prim.result_type(dtype, _leaf(item))
        return dtype
    return prim.dtype_of(x)


def _no_extents(x):
    # As many zeros as the value has dimensions; the value itself is not looked at.
    if prim.is_a(x, "builtins.list", "tuples.tuple"):
        return (0,) + _no_extents(prim.example(x))
    if prim.is_tuple(x):
        return (0,) + _no_extents(x[0]) if len(x) > 0 else (0,)
    if prim.is_array(x):
        return prim.tuple_fill(x.ndim, 0)
    return ()


def _nested_shape(x):
    if prim.is_array(x):
        return x.shape
    if prim.is_a(x, "builtins.list", "tuples.tuple"):
        if len(x) == 0:
            return _no_extents(x)
        return (len(x),) + _nested_shape(prim.items_get(x, 0))
    if prim.is_tuple(x):
        return (len(x),) + _nested_shape(x[0]) if len(x) > 0 else (0,)
    return ()


def _fill(out, x):
    items = prim.array(prim.owner(out), prim.data(out), (out.size,), (out.itemsize,), prim.dtype_of(out), "C")
    _fill_level(items, 0, x, out.shape)


def _fill_level(items, at, x, shape):
    # Stores the numbers of a value in row-major order and returns where the next go.
    if prim.is_array(x):
        if x.shape != shape:
            raise ValueError(INHOMOGENEOUS)
        part = prim.array(
            prim.owner(items),
            prim.ptr_add(prim.data(items), at * items.itemsize),
            shape,
            c_strides(shape, items.itemsize),
            prim.dtype_of(items),
            "C",
        )
        copy_into(part, x)
        return at + count(shape)
    is_sequence = prim.is_a(x, "builtins.list", "tuples.tuple") or prim.is_tuple(x)
    if is_sequence != (len(shape) > 0):
        raise ValueError(INHOMOGENEOUS)
    if is_sequence:
        if len(x) != shape[0]:
            raise ValueError(INHOMOGENEOUS)
        for item in x:
            at = _fill_level(items, at, item, shape[1:])
        return at
    dtype = prim.dtype_of(items)
    prim.set_item(items, at, fitting(x, dtype) if prim.is_number(x) else converted(x, dtype))
    return at + 1


def frombuffer(buffer, dtype=float, count=-1, offset=0):
    """The bytes of memory as elements of a type, without copying.

    >>> np.frombuffer(np.array([1, 2], dtype=np.int64), dtype=np.int32)
    array([1, 0, 2, 0], dtype=int32)
    """
    t = prim.as_dtype(dtype)
    if prim.is_scalar(buffer):
        prim.error("`frombuffer` takes memory, such as an array: a number has none")
    if not is_c_contiguous(buffer):
        raise ValueError("ndarray is not C-contiguous")
    size = buffer.size * buffer.itemsize
    start, n = index_of(offset), index_of(count)
    if start < 0 or start > size:
        raise ValueError("offset must be non-negative and no greater than buffer length (" + str(size) + ")")
    if n < 0:
        if (size - start) % prim.itemsize(t) != 0:
            raise ValueError("buffer size must be a multiple of element size")
        n = (size - start) // prim.itemsize(t)
    elif n * prim.itemsize(t) > size - start:
        raise ValueError("buffer is smaller than requested size")
    data = prim.ptr_add(prim.data(buffer), start)
    out = prim.array(prim.owner(buffer), data, (n,), (prim.itemsize(t),), t, "C")
    return prim.readonly(out) if prim.is_readonly(buffer) else out


def over_buffer(shape, dtype, buffer, offset, strides, order):
    """An array over the memory of another one."""
    if not prim.is_array(buffer):
        prim.error("`buffer=` is memory, such as an array")
    if not is_c_contiguous(buffer):
        raise ValueError("ndarray is not C-contiguous")
    left, itemsize = buffer.size * buffer.itemsize - offset, prim.itemsize(dtype)
    if strides is None:
        if offset < 0 or left < count(shape) * itemsize:
            raise TypeError("buffer is too small for requested array")
        steps = f_strides(shape, itemsize) if order == "F" else c_strides(shape, itemsize)
    else:
        steps, low, high = as_ints(strides), 0, itemsize
        if len(steps) != len(shape):
            raise ValueError("strides, if given, must be the same length as shape")
        for n, step in zip(shape, steps):
            low, high = low + min(0, (n - 1) * step), high + max(0, (n - 1) * step)
        if count(shape) > 0 and (offset + low < 0 or high > left):
            raise ValueError("strides is incompatible with shape of requested array and size of buffer")
    out = prim.array(prim.owner(buffer), prim.ptr_add(prim.data(buffer), offset), shape, steps, dtype, "A")
    return prim.readonly(out) if prim.is_readonly(buffer) else out


def asarray(a, dtype=None, order="K", *, device=None, copy=None):
    """The array itself, converted where needed.

    >>> np.asarray([1, 2])
    array([1, 2])
    """
    if device is not None:
        check_device(device)
    if copy is not None:
        return array(a, dtype, copy=copy, order=order)
    if not prim.is_array(a):
        return array(a, dtype, order=order)
    dt, o = dtype_or(dtype, prim.dtype_of(a)), prim.order(order, "K")
    if dt != prim.dtype_of(a):
        return array(a, dt, order=order)
    if o == "C" and prim.layout(a) != "C":
        return contiguous(a)
    if o == "F" and a.ndim > 0 and prim.layout(a) != "F":
        return asfortranarray(a)
    return a


def operand(x):
    """An operand of an elementwise function: lists and tuples are arrays, numbers stay numbers."""
    return asarray(x) if isinstance(x, (tuple, list)) else x


def line_of(a):
    """The array of one dimension that an argument is; others are refused while compiling."""
    x = asarray(a)
    if x.ndim != 1:
        prim.error("an array of one dimension is needed")
    return x


def asanyarray(a, dtype=None, order="K", *, device=None, copy=None):
    """The array itself, converted where needed."""
    if device is not None:
        check_device(device)
    return asarray(a, dtype, order, copy=copy)


def ascontiguousarray(a, dtype=None):
    """The array in row-major order, at least one-dimensional.

    >>> np.ascontiguousarray(np.eye(2).T)
    array([[1., 0.],
           [0., 1.]])
    """
    x = asarray(a, dtype)
    if x.ndim == 0:
        return contiguous(x.reshape(1))
    return contiguous(x)


def asfortranarray(a, dtype=None):
    """The array in column-major order.

    >>> np.asfortranarray(np.array([[1, 2], [3, 4]]))
    array([[1, 2],
           [3, 4]])
    """
    x = asarray(a, dtype)
    if x.ndim == 0:
        return contiguous(x.reshape(1))
    if x.ndim == 1:
        return contiguous(x)
    if prim.layout(x) == "F":
        return x
    return contiguous(x.T).T
