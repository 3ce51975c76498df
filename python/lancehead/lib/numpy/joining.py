"""Joining, repeating and turning arrays."""

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of, index_of, unmixed, unranged
from lancehead.lib.numpy.casting import check_cast
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import (
    as_ints,
    check_axis,
    contiguous,
    copy_c,
    copy_into,
    flat,
    lanes,
    move,
    new_array,
    with_shape,
)
from lancehead.lib.numpy.manip import atleast_1d, atleast_2d, atleast_3d, each, expand_dims, swapaxes, transpose


def _common_dtype(arrays):
    if prim.is_a(arrays, "builtins.list"):
        return prim.dtype_of(prim.example(arrays))
    dtype = prim.dtype_of(asarray(arrays[0]))
    for a in arrays[1:]:
        dtype = prim.result_type(dtype, prim.dtype_of(asarray(a)))
    return dtype


def _block(out, axis, start, n):
    # The part of an array that begins at `start` along an axis.
    data = prim.ptr_add(prim.data(out), start * out.strides[axis])
    layout = "C" if out.ndim == 1 else "A"
    return prim.array(
        prim.owner(out), data, prim.tuple_set(out.shape, axis, n), out.strides, prim.dtype_of(out), layout
    )


def _store(part, x):
    # Lines of one type are moved as memory.
    if x.ndim == 1 and prim.layout(x) == "C" and prim.dtype_of(x) == prim.dtype_of(part) and not prim.on_gpu():
        move(prim.data(part), prim.data(x), x.size * x.itemsize)
    elif x.ndim == 2 and x.shape[1] == 1:
        copy_into(part[:, 0], x[:, 0])
    else:
        copy_into(part, x)


def _check_joined(x, first, axis, index):
    if x.ndim != first.ndim:
        raise ValueError(
            "all the input arrays must have same number of dimensions, but the array at index 0 has "
            + str(first.ndim)
            + " dimension(s) and the array at index "
            + str(index)
            + " has "
            + str(x.ndim)
            + " dimension(s)"
        )
    for k in range(first.ndim):
        if k != axis and x.shape[k] != first.shape[k]:
            raise ValueError(
                "all the input array dimensions except for the concatenation axis must match exactly, but along "
                "dimension "
                + str(k)
                + ", the array at index 0 has size "
                + str(first.shape[k])
                + " and the array at index "
                + str(index)
                + " has size "
                + str(x.shape[k])
            )


def concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Arrays joined along an axis; of all elements for None.

    >>> np.concatenate((np.array([1, 2]), np.array([3.5])))
    array([1. , 2. , 3.5])
    >>> np.concatenate((np.ones((1, 2)), np.zeros((1, 2))), axis=1)
    array([[1., 1., 0., 0.]])
    """
    if isinstance(arrays, list) and not prim.is_a(arrays, "builtins.list"):
        return concatenate(unmixed(arrays), axis, out, dtype=dtype, casting=casting)
    if out is not None:
        if dtype is not None:
            prim.error("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
        found = concatenate(arrays, axis)
        if not prim.is_array(out) or out.ndim != found.ndim or out.shape != found.shape:
            raise ValueError("Output array is the wrong shape")
        check_cast(prim.dtype_of(found), prim.dtype_of(out), casting)
        out[...] = found
        return out
    if len(arrays) == 0:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        return concatenate(_all_flat(arrays), 0, dtype=dtype, casting=casting)
    first = asarray(arrays[0])
    if first.ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    k = check_axis(axis, first.ndim)
    if first.ndim > 1 and len(_not_fortran(arrays)) == 0:
        return concatenate(_all_turned(arrays), first.ndim - 1 - k, dtype=dtype, casting=casting).T
    total, index = 0, 0
    for a in arrays:
        x = asarray(a)
        _check_joined(x, first, k, index)
        total += x.shape[k]
        index += 1
    made = new_array(prim.tuple_set(first.shape, k, total), _dtype_of_all(arrays, dtype, casting))
    start = 0
    for a in arrays:
        x = asarray(a)
        _store(_block(made, k, start, x.shape[k]), x)
        start += x.shape[k]
    return made


def _not_fortran(arrays):
    # An empty tuple if all arrays are in column-major order: so is what is joined of them.
    if prim.is_a(arrays, "builtins.list") or prim.is_array(arrays):
        return () if prim.layout(asarray(arrays[0])) == "F" else (0,)
    if len(arrays) == 0:
        return ()
    return (() if prim.layout(asarray(arrays[0])) == "F" else (0,)) + _not_fortran(arrays[1:])


def _all_turned(arrays):
    if prim.is_a(arrays, "builtins.list") or prim.is_array(arrays):
        return [a.T for a in arrays]
    return each(transpose, arrays)


def _dtype_of_all(arrays, dtype, casting):
    common = _common_dtype(arrays)
    if dtype is None:
        check_cast(common, common, casting)
        return common
    check_cast(common, prim.as_dtype(dtype), casting)
    return prim.as_dtype(dtype)


concat = concatenate


def _all_flat(arrays):
    return each(_flat_one, arrays)


def _flat_one(a):
    return flat(contiguous(asarray(a)))


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Arrays of one shape joined along a new axis.

    >>> np.stack((np.array([1, 2]), np.array([3, 4])))
    array([[1, 2],
           [3, 4]])
    >>> np.stack((np.array([1, 2]), np.array([3, 4])), axis=1)
    array([[1, 3],
           [2, 4]])
    """
    if isinstance(arrays, list) and not prim.is_a(arrays, "builtins.list"):
        return stack(unmixed(arrays), axis, out, dtype=dtype, casting=casting)
    if out is not None:
        found = stack(arrays, axis)
        if not prim.is_array(out) or out.ndim != found.ndim or out.shape != found.shape:
            raise ValueError("Output array is the wrong shape")
        check_cast(prim.dtype_of(found), prim.dtype_of(out), casting)
        out[...] = found
        return out
    if len(arrays) == 0:
        raise ValueError("need at least one array to stack")
    first = asarray(arrays[0])
    k = check_axis(axis_of(axis), first.ndim + 1)
    made = new_array(prim.tuple_insert(first.shape, k, len(arrays)), _dtype_of_all(arrays, dtype, casting))
    index = 0
    for a in arrays:
        x = asarray(a)
        if x.shape != first.shape:
            raise ValueError("all input arrays must have the same shape")
        _store(_block(made, k, index, 1), expand_dims(x, k))
        index += 1
    return made


def _line(a):
    return atleast_1d(a)


def _rows(a):
    return atleast_2d(a)


def _deep(a):
    return atleast_3d(a)


def vstack(tup, *, dtype=None, casting="same_kind"):
    """Arrays joined as rows.

    >>> np.vstack((np.array([1, 2]), np.array([3, 4])))
    array([[1, 2],
           [3, 4]])
    """
    return concatenate(each(_rows, unmixed(tup)), 0, dtype=dtype, casting=casting)


row_stack = vstack


def hstack(tup, *, dtype=None, casting="same_kind"):
    """Arrays joined along the second axis, or the only one.

    >>> np.hstack((np.array([1, 2]), np.array([3, 4])))
    array([1, 2, 3, 4])
    """
    parts = each(_line, unmixed(tup))
    if len(parts) == 0:
        raise ValueError("need at least one array to concatenate")
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup):
    """Arrays joined along the third axis.

    >>> np.dstack((np.array([1, 2]), np.array([3, 4]))).shape
    (1, 2, 2)
    """
    return concatenate(each(_deep, unmixed(tup)), 2)


def _as_column(a):
    x = atleast_1d(a)
    return expand_dims(x, 1) if x.ndim == 1 else x


def column_stack(tup):
    """Arrays joined as columns.

    >>> np.column_stack((np.array([1, 2]), np.array([3, 4])))
    array([[1, 3],
           [2, 4]])
    """
    return concatenate(each(_as_column, unmixed(tup)), 1)


def append(arr, values, axis=None):
    """An array with values joined at its end.

    >>> np.append(np.array([1, 2]), 3)
    array([1, 2, 3])
    """
    if axis is None:
        return concatenate((flat(contiguous(asarray(arr))), flat(contiguous(asarray(values)))), 0)
    return concatenate((asarray(arr), asarray(values)), axis)


def repeat(a, repeats, axis=None):
    """Elements, each several times.

    >>> np.repeat(np.array([1, 2]), 2)
    array([1, 1, 2, 2])
    >>> np.repeat(np.array([1, 2]), np.array([1, 2]))
    array([1, 2, 2])
    """
    x = asarray(a)
    if x.ndim == 0 and axis is not None:
        check_axis(axis, 1)
    if axis is None or x.ndim == 0:
        return repeat(flat(contiguous(x)), repeats, 0)
    k = check_axis(axis, x.ndim)
    v = lanes(x, k)
    if prim.is_number(repeats):
        repeats = int(repeats)
    if prim.is_array(repeats) and repeats.ndim == 0:
        repeats = repeats.item()
    if not prim.is_number(repeats):
        if len(repeats) != 1 and len(repeats) != v.shape[1]:
            raise ValueError("operands could not be broadcast together: repeats and the axis differ in extent")
    total = 0
    for m in range(v.shape[1]):
        total += _repeats(repeats, m)
    out = new_array((v.shape[0], total, v.shape[2]), prim.dtype_of(x))
    to = 0
    for m in range(v.shape[1]):
        for _ in range(_repeats(repeats, m)):
            for i in range(v.shape[0]):
                for j in range(v.shape[2]):
                    prim.set_item(out, i, to, j, prim.item(v, i, m, j))
            to += 1
    return with_shape(out, prim.tuple_set(x.shape, k, total))


def _repeats(repeats, m):
    n = int(repeats) if prim.is_number(repeats) else index_of(repeats[0 if len(repeats) == 1 else m])
    if n < 0:
        raise ValueError("repeats may not contain negative values.")
    return n


def tile(A, reps):
    """An array several times beside itself.

    >>> np.tile(np.array([1, 2]), 2)
    array([1, 2, 1, 2])
    >>> np.tile(np.array([1, 2]), (2, 1))
    array([[1, 2],
           [1, 2]])
    """
    return _tile(asarray(A), as_ints(reps))


def _tile(x, reps):
    if len(reps) < x.ndim:
        return _tile(x, (1,) + reps)
    if len(reps) > x.ndim:
        return _tile(expand_dims(x, 0), reps)
    out = copy_c(x, prim.dtype_of(x))
    k = 0
    for n in reps:
        if n < 0:
            raise ValueError("negative dimensions are not allowed")
        v = lanes(out, k)
        if v.shape[1] > 0 and n > 9223372036854775807 // v.shape[1]:
            raise ValueError("array is too big")
        bigger = new_array((v.shape[0], v.shape[1] * n, v.shape[2]), prim.dtype_of(x))
        for i in range(v.shape[0]):
            for m in range(bigger.shape[1]):
                for j in range(v.shape[2]):
                    prim.set_item(bigger, i, m, j, prim.item(v, i, m % v.shape[1], j))
        out = with_shape(bigger, prim.tuple_set(out.shape, k, out.shape[k] * n))
        k += 1
    return out


def _flip_axes(x, axes):
    turned = 0
    for k in axes:
        bit = 1 << check_axis(axis_of(k), x.ndim)
        if (turned & bit) != 0:
            raise ValueError("repeated axis")
        turned |= bit
    data, strides = prim.data(x), x.strides
    for k in range(x.ndim):
        if (turned >> k) & 1 != 0:
            if x.size > 0:
                data = prim.ptr_add(data, (x.shape[k] - 1) * strides[k])
            strides = prim.tuple_set(strides, k, -strides[k])
    return prim.array(prim.owner(x), data, x.shape, strides, prim.dtype_of(x), "A")


def flip(m, axis=None):
    """A view with an axis (or all) in reverse order.

    >>> np.flip(np.array([1, 2, 3]))
    array([3, 2, 1])
    """
    x = asarray(m)
    if axis is None:
        if x.ndim == 0:
            return x[()]
        out = flip(x, 0)
        for k in range(1, x.ndim):
            out = flip(out, k)
        return out
    if prim.is_tuple(axis) or prim.is_a(axis, "builtins.list") or prim.is_range(axis):
        return _flip_axes(x, axis)
    k = check_axis(axis_of(axis), x.ndim)
    data = prim.ptr_add(prim.data(x), (x.shape[k] - 1) * x.strides[k])
    if x.size == 0:
        data = prim.data(x)
    return prim.array(prim.owner(x), data, x.shape, prim.tuple_set(x.strides, k, -x.strides[k]), prim.dtype_of(x), "A")


def flipud(m):
    """A view with the rows in reverse order.

    >>> np.flipud(np.array([[1, 2], [3, 4]]))
    array([[3, 4],
           [1, 2]])
    """
    return flip(m, 0)


def fliplr(m):
    """A view with the columns in reverse order.

    >>> np.fliplr(np.array([[1, 2], [3, 4]]))
    array([[2, 1],
           [4, 3]])
    """
    return flip(m, 1)


def rot90(m, k=1, axes=(0, 1)):
    """A matrix turned by quarters of a circle.

    >>> np.rot90(np.array([[1, 2], [3, 4]]))
    array([[2, 4],
           [1, 3]])
    """
    if asarray(m).ndim < 2:
        prim.error("a matrix is turned, or a stack of them")
    x = asarray(m)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    i, j = _turned_axis(axes[0], x.ndim), _turned_axis(axes[1], x.ndim)
    if i == j:
        raise ValueError("Axes must be different.")
    turns = k % 4
    if turns == 0:
        return flip(flip(x, i), i)
    if turns == 1:
        return flip(swapaxes(x, i, j), i)
    if turns == 2:
        return flip(flip(x, i), j)
    return flip(swapaxes(x, i, j), j)


def _turned_axis(axis, ndim):
    i = index_of(axis)
    if i < -ndim or i >= ndim:
        raise ValueError("Axes out of range for array of ndim=" + str(ndim) + ".")
    return i + ndim if i < 0 else i


def _roll_axes(x, shift, axis):
    # As many rounds as shifts and axes have together, when they are broadcast.
    m, n = len(shift), len(axis)
    if m != n and m != 1 and n != 1:
        raise ValueError("shape mismatch: objects cannot be broadcast to a single shape")
    if prim.is_tuple(axis) and x.ndim == 0 and len(axis) == 0:
        prim.error("an array without axes has none to roll along")
    out = contiguous(x) if m > 0 and n > 0 else copy_c(x, prim.dtype_of(x))
    for i in range((n if m == 1 else m) if m > 0 and n > 0 else 0):
        out = roll(out, shift[i if m > 1 else 0], axis[i if n > 1 else 0])
    return out


def _total(shifts):
    if not (prim.is_tuple(shifts) or prim.is_a(shifts, "builtins.list")):
        return index_of(shifts)
    total = 0
    for x in shifts:
        total += index_of(x)
    return total


def roll(a, shift, axis=None):
    """Elements moved along an axis; those that leave come in at the other end.

    Several axes take as many shifts, or share one.

    >>> np.roll(np.array([1, 2, 3]), 1)
    array([3, 1, 2])
    """
    x = asarray(a)
    shift, axis = unranged(shift), unranged(axis)
    if axis is None:
        return with_shape(roll(flat(contiguous(x)), _total(shift), 0), x.shape)
    if prim.is_tuple(axis) or prim.is_a(axis, "builtins.list"):
        return _roll_axes(x, (shift,) if prim.is_int(shift) or prim.is_bool(shift) else shift, axis)
    if prim.is_tuple(shift) or prim.is_a(shift, "builtins.list"):
        return roll(x, _total(shift), axis)
    k = check_axis(axis_of(axis), x.ndim)
    v = lanes(x, k)
    n, inner = v.shape[1], v.shape[2]
    # The elements along the axis and the axes after it are one line, which moves as two contiguous runs.
    lines = with_shape(contiguous(v), (v.shape[0], n * inner))
    out = new_array(lines.shape, prim.dtype_of(x))
    first = index_of(shift) % n * inner if n > 0 else 0
    rest = n * inner - first
    for i in range(lines.shape[0]):
        for j in range(rest):
            prim.set_item(out, i, first + j, prim.item(lines, i, j))
        for j in range(first):
            prim.set_item(out, i, j, prim.item(lines, i, rest + j))
    return with_shape(out, x.shape)
