"""Selecting and storing by masks, numbers of choices and indices along an axis, and functions piece by piece."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of, c_int, index_of, unmixed
from lancehead.lib.numpy.casting import check_cast, fitting
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.folds import check_out, deliver
from lancehead.lib.numpy.indexing import _place, nonzero
from lancehead.lib.numpy.layout import (
    apart_from,
    check_axis,
    contiguous,
    copy_c,
    copy_into,
    flat,
    lanes,
    new_array,
    new_zeros,
    only_one,
    with_shape,
)
from lancehead.lib.numpy.manip import broadcast_shapes, broadcast_to


def ix_(*args):
    """Index arrays of an open mesh: `a[np.ix_(rows, columns)]` is the part of `a` where these rows and columns meet.

    >>> np.array([[1, 2, 3], [4, 5, 6]])[np.ix_([0, 1], [2, 0])]
    array([[3, 1],
           [6, 4]])
    """
    return _open_mesh(args, (), prim.tuple_fill(len(args), 1))


def _open_mesh(args, before, ones):
    if len(args) == 0:
        return ()
    x = asarray(args[0])
    if x.ndim != 1:
        raise ValueError("Cross index must be 1 dimensional")
    line = contiguous(nonzero(x)[0] if prim.is_bool(prim.dtype_of(x)) else x)
    first = with_shape(line, before + (line.size,) + ones[1:])
    return (first,) + _open_mesh(args[1:], before + (1,), ones[1:])


def numbers_in(x, n, mode, message):
    """Numbers in range of `n` as `int64`: those outside of it are an error, wrap around or are clipped."""
    _check_mode(mode)
    if not prim.is_int(prim.dtype_of(x)) and not prim.is_bool(prim.dtype_of(x)):
        prim.error("integers are needed here")
    out = copy_c(x, np.int64)
    v = flat(out)
    if mode == "raise":
        for i in range(v.size):
            k = prim.item(v, i)
            if k < 0 or k >= n:
                raise ValueError(message)
        return out
    wraps = mode == "wrap"
    if n == 0 and v.size > 0:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    for i in range(v.size):
        k = prim.item(v, i)
        if wraps:
            prim.set_item(v, i, k % n)
        else:
            prim.set_item(v, i, 0 if k < 0 else n - 1 if k >= n else k)
    return out


def _check_mode(mode):
    if not prim.is_str(mode):
        prim.error("`mode` is one of 'raise', 'wrap' and 'clip'")
    if mode != "raise" and mode != "wrap" and mode != "clip":
        raise ValueError("clipmode must be one of 'clip', 'raise', or 'wrap' (got '" + mode + "')")


def choose(a, choices, out=None, mode="raise"):
    """Elements of several arrays (or of the rows of one), by the numbers of these.

    >>> np.choose(np.array([1, 0, 1]), (np.array([1, 2, 3]), 10 * np.array([1, 2, 3])))
    array([10,  2, 30])
    """
    if isinstance(choices, list) and not prim.is_a(choices, "builtins.list"):
        return choose(a, unmixed(choices), out, mode)
    x = asarray(a)
    if len(choices) == 0:
        raise ValueError("choose: at least one choice is needed")
    at = numbers_in(x, len(choices), mode, "invalid entry in choice array")
    if prim.is_tuple(choices):
        shape = _joint(x.shape, choices)
        found = new_array(shape, _joint_dtype(choices))
        _choose_each(found, at, choices, 0)
    else:
        rows = asarray(choices)
        shape = broadcast_shapes(x.shape, rows.shape[1:])
        found = new_array(shape, prim.dtype_of(rows))
        wide, number = broadcast_to(_with_rank(rows, found), (len(choices),) + shape), broadcast_to(at, shape)
        for index in np.ndindex(shape):
            found[index] = wide[(number[index],) + index]
    check_out(out, prim.dtype_of(found), "unsafe")
    return deliver(found[()], out)


def _with_rank(rows, found):
    # Rows of fewer dimensions than the result get some of extent one.
    ones = prim.tuple_fill(found.ndim, 1)[rows.ndim - 1 :]
    return with_shape(contiguous(rows), (rows.shape[0],) + ones + rows.shape[1:])


def _joint(shape, choices):
    for choice in choices:
        shape = broadcast_shapes(shape, asarray(choice).shape)
    return shape


def _joint_dtype(choices):
    dtype = prim.dtype_of(choices[0] if prim.is_number(choices[0]) else asarray(choices[0]))
    for choice in choices[1:]:
        dtype = prim.result_type(dtype, prim.dtype_of(choice if prim.is_number(choice) else asarray(choice)))
    return dtype


def _choose_each(out, at, choices, k):
    if len(choices) > 0:
        prim.map_into(out, _chosen, at, k, asarray(choices[0]), out)
        _choose_each(out, at, choices[1:], k + 1)


def _chosen(at, k, choice, old):
    return prim.cast(choice, prim.dtype_of(old)) if at == k else old


def _check_cast_of(x, dtype, casting):
    # A number of Python has the type of the array if it is of a kind that this has.
    if prim.is_number(x) and prim.is_weak(x):
        if prim.is_int(x) and (prim.is_int(dtype) or prim.is_float(dtype) or prim.is_complex(dtype)):
            return
        if prim.is_float(x) and (prim.is_float(dtype) or prim.is_complex(dtype)):
            return
    check_cast(prim.dtype_of(x), dtype, casting)


def copyto(dst, src, casting="same_kind", where=True):
    """Stores values, with broadcasting; where a mask is true.

    >>> a = np.zeros(3)
    >>> np.copyto(a, [1, 2, 3], where=[True, False, True])
    >>> a
    array([1., 0., 3.])
    """
    if not prim.is_array(dst):
        prim.error("values are copied to an array")
    x = src if prim.is_scalar(src) else asarray(src)
    _check_cast_of(x, prim.dtype_of(dst), casting)
    if prim.is_int(x) and prim.is_weak(x):
        return copyto(dst, fitting(x, prim.dtype_of(dst)), "unsafe", where)
    if prim.is_bool(where) and not prim.is_array(where):
        if where:
            dst[...] = x
        return
    mask = apart_from(asarray(where), dst)
    if not prim.is_bool(prim.dtype_of(mask)):
        prim.error("`where` is a mask of truth values")
    _copy_where(dst, _fitting(apart_from(asarray(x), dst), dst), broadcast_to(mask, dst.shape))


def _fitting(x, dst):
    # Leading dimensions of extent one do not count in assignments.
    if x.ndim > dst.ndim:
        return _fitting(only_one(x), dst)
    return x


def _copy_where(dst, x, mask):
    wide = broadcast_to(x, dst.shape)
    if prim.is_record(prim.dtype_of(dst)) or prim.is_time(prim.dtype_of(dst)):
        for index in np.ndindex(dst.shape):
            if mask[index]:
                dst[index] = wide[index]
    else:
        prim.map_into(dst, _masked, mask, wide, dst)


def _masked(wanted, x, old):
    dtype = prim.dtype_of(old)
    if prim.is_complex(x) and not prim.is_complex(dtype):
        new = prim.cast(x != prim.cast(0, prim.dtype_of(x)) if prim.is_bool(dtype) else x.real, dtype)
    else:
        new = prim.cast(x, dtype)
    return new if wanted else old


def _mask_for(a, mask, name):
    m = asarray(mask)
    if m.size != a.size:
        raise ValueError(name + ": mask and data must be the same size")
    return flat(apart_from(m, a))


def _check_safe(values, a):
    # Of lists and numbers an array of the dtype is made.
    if prim.is_array(values):
        check_cast(prim.dtype_of(values), prim.dtype_of(a), "safe")


def _elements(values, a):
    return asarray(values) if prim.is_array(values) else asarray(values, prim.dtype_of(a))


def place(arr, mask, vals):
    """Stores values one after the other where a mask is true; they begin again if there are too few.

    >>> a = np.arange(5)
    >>> np.place(a, a > 1, [7, 8])
    >>> a
    array([0, 1, 7, 8, 7])
    """
    if not prim.is_array(arr):
        raise TypeError("argument 1 must be numpy.ndarray")
    _check_safe(vals, arr)
    m = _mask_for(arr, mask, "place")
    w = flat(apart_from(_elements(vals, arr), arr))
    if prim.layout(arr) == "C" or arr.ndim == 1:
        _place_line(flat(arr), m, w)
    else:
        c = copy_c(arr, prim.dtype_of(arr))
        _place_line(flat(c), m, w)
        copy_into(arr, c)


def _place_line(v, m, w):
    k = 0
    for i in range(v.size):
        if prim.item(m, i):
            if w.size == 0:
                raise ValueError("Cannot insert from an empty array!")
            v[i] = prim.item(w, k)
            k = k + 1 if k + 1 < w.size else 0


def putmask(a, mask, values):
    """Stores the values that stand at the places where a mask is true; they are repeated if they are fewer.

    >>> a = np.arange(5)
    >>> np.putmask(a, a > 1, [10, 20])
    >>> a
    array([ 0,  1, 10, 20, 10])
    """
    if not prim.is_array(a):
        raise TypeError("argument 1 must be numpy.ndarray")
    _check_safe(values, a)
    m = _mask_for(a, mask, "putmask")
    w = flat(apart_from(_elements(values, a), a))
    if prim.layout(a) == "C" or a.ndim == 1:
        _put_masked(flat(a), m, w)
    else:
        c = copy_c(a, prim.dtype_of(a))
        _put_masked(flat(c), m, w)
        copy_into(a, c)


def _put_masked(v, m, w):
    if w.size == 0:
        return
    k = 0
    for i in range(v.size):
        if prim.item(m, i):
            v[i] = prim.item(w, k)
        k = k + 1 if k + 1 < w.size else 0


def put_along_axis(arr, indices, values, axis=-1):
    """Stores values at indices along an axis, for each line its own.

    >>> a = np.array([[10, 30, 20], [60, 40, 50]])
    >>> np.put_along_axis(a, np.array([[1], [0]]), 99, axis=1)
    >>> a
    array([[10, 99, 20],
           [99, 40, 50]])
    """
    if not prim.is_array(arr):
        prim.error("the values are stored in an array")
    i = asarray(indices)
    if not prim.is_int(prim.dtype_of(i)):
        raise IndexError("`indices` must be an integer array")
    if axis is None:
        if i.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr.flat[i] = values
    else:
        if i.ndim != arr.ndim:
            raise ValueError("`indices` and `arr` must have the same number of dimensions")
        k = check_axis(axis_of(axis), arr.ndim)
        _put_lines(arr, apart_from(i, arr), values, k)


def _put_lines(arr, i, values, k):
    shape = _shape_of_lines(arr, i, k)
    at = broadcast_to(i, shape)
    wide = broadcast_to(apart_from(_elements(values, arr), arr), shape)
    n = arr.shape[k]
    for index in np.ndindex(shape):
        _place(at[index], n, k)
    for index in np.ndindex(shape):
        arr[prim.tuple_set(_in_ones(index, arr.shape, k), k, _place(at[index], n, k))] = wide[index]


def _shape_of_lines(arr, i, k):
    # The extent of the indices along the axis, and what both broadcast to along the others.
    try:
        shape = broadcast_shapes(prim.tuple_set(arr.shape, k, 1), prim.tuple_set(i.shape, k, 1))
    except ValueError:
        raise IndexError("shape mismatch: indexing arrays could not be broadcast together with shapes")
    return prim.tuple_set(shape, k, i.shape[k])


def _in_ones(index, shape, k):
    # The index of an element of an array that is repeated along axes of extent one.
    for j in range(len(shape)):
        if j != k and shape[j] == 1:
            index = prim.tuple_set(index, j, 0)
    return index


def fill_diagonal(a, val, wrap=False):
    """Stores a number, or numbers one after the other, on the main diagonal.

    >>> a = np.zeros((2, 3))
    >>> np.fill_diagonal(a, 5)
    >>> a
    array([[5., 0., 0.],
           [0., 5., 0.]])
    """
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    w = apart_from(flat(_elements(val, a)), a)
    if a.ndim == 2:
        _fill_matrix(a, w, True if wrap else False)
        return
    n = a.shape[0]
    for extent in a.shape:
        if extent != n:
            raise ValueError("All dimensions of input must be of equal length")
    _fill_line(_diagonal_of_all(a, n), w)


def _fill_matrix(a, w, wrap):
    rows, columns = a.shape
    k = 0
    for i in range(rows):
        j = i % (columns + 1) if wrap else i
        if j < columns and w.size > 0:
            a[i, j] = prim.item(w, k)
            k = k + 1 if k + 1 < w.size else 0


def _fill_line(v, w):
    k = 0
    for i in range(v.size if w.size > 0 else 0):
        v[i] = prim.item(w, k)
        k = k + 1 if k + 1 < w.size else 0


def _diagonal_of_all(a, n):
    step = 0
    for stride in a.strides:
        step += stride
    return prim.array(prim.owner(a), prim.data(a), (n,), (step,), prim.dtype_of(a), "A")


def diag_indices(n, ndim=2):
    """Indices of the main diagonal of an array of so many dimensions of extent `n`.

    >>> np.diag_indices(2)
    (array([0, 1]), array([0, 1]))
    """
    line = np.arange(n)
    return prim.tuple_fill(ndim, line)


def diag_indices_from(arr):
    """Indices of the main diagonal of an array, whose dimensions have one extent.

    >>> np.diag_indices_from(np.ones((2, 2)))
    (array([0, 1]), array([0, 1]))
    """
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    for extent in arr.shape:
        if extent != arr.shape[0]:
            raise ValueError("All dimensions of input must be of equal length")
    return prim.tuple_fill(arr.ndim, np.arange(arr.shape[0]))


def mask_indices(n, mask_func, k=0):
    """Indices where a function that makes a mask of a matrix, such as `np.triu`, leaves something.

    >>> np.mask_indices(2, np.triu)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    return nonzero(mask_func(np.ones((n, n), np.int64), k) != 0)


def diagonal(a, offset=0, axis1=0, axis2=1):
    """A diagonal, as a view that cannot be written; it becomes the last axis.

    >>> np.diagonal(np.array([[1, 2], [3, 4]]))
    array([1, 4])
    """
    x = asarray(a)
    c_int(offset)
    if x.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    i, j, k = check_axis(axis1, x.ndim), check_axis(axis2, x.ndim), index_of(offset)
    if i == j:
        raise ValueError("axis1 and axis2 cannot be the same")
    down, along = (0, k) if k >= 0 else (-k, 0)
    rows, columns = x.shape[i] - down, x.shape[j] - along
    n = prim.maximum(prim.minimum(rows, columns), 0)
    start = prim.ptr_add(prim.data(x), (down * x.strides[i] + along * x.strides[j]) if n > 0 else 0)
    first, last = (i, j) if i < j else (j, i)
    shape = prim.tuple_drop(prim.tuple_drop(x.shape, last), first) + (n,)
    strides = prim.tuple_drop(prim.tuple_drop(x.strides, last), first) + (x.strides[i] + x.strides[j],)
    return prim.readonly(prim.array(prim.owner(x), start, shape, strides, prim.dtype_of(x), "A"))


def indices(dimensions, dtype=int, sparse=False):
    """Indices of every place of a shape, one array after the other for each dimension.

    >>> np.indices((2, 3))[1]
    array([[0, 1, 2],
           [0, 1, 2]])
    """
    if prim.is_scalar(dimensions):
        prim.error("dimensions are a sequence of lengths, not a number")
    shape = np.broadcast_shapes(dimensions)
    if sparse:
        return _sparse_indices(shape, (), prim.tuple_fill(len(shape), 1), dtype)
    out = new_zeros((len(shape),) + shape, prim.as_dtype(dtype))
    for k in range(len(shape)):
        part = lanes(out[k], k) if len(shape) > 1 else with_shape(out[k], (1, shape[0], 1))
        for i in range(part.shape[0]):
            for m in range(part.shape[1]):
                for j in range(part.shape[2]):
                    prim.set_item(part, i, m, j, prim.cast(m, prim.as_dtype(dtype)))
    return out


def _sparse_indices(shape, before, ones, dtype):
    if len(shape) == 0:
        return ()
    line = np.arange(shape[0]).astype(dtype)
    first = with_shape(line, before + (shape[0],) + ones[1:])
    return (first,) + _sparse_indices(shape[1:], before + (1,), ones[1:], dtype)
