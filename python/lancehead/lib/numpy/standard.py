"""Functions of the array API standard beside NumPy's older names, and blocks of arrays."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of, check_device, check_flag, unmixed
from lancehead.lib.numpy.core_axes import checked_axes, core_axes, in_order, moved_back, moved_last
from lancehead.lib.numpy.creation import array, asarray, dtype_or
from lancehead.lib.numpy.editing import split
from lancehead.lib.numpy.folds import check_out, deliver, plus, scan_axis, times
from lancehead.lib.numpy.joining import concatenate
from lancehead.lib.numpy.layout import check_axis, new_array
from lancehead.lib.numpy.manip import broadcast_shapes, broadcast_to, expand_dims, moveaxis
from lancehead.lib.numpy.products import dot, in_which, vdot
from lancehead.lib.numpy.reductions import as_type, sum_dtype
from lancehead.lib.numpy.sets import unique


def astype(x, dtype, /, *, copy=True, device=None):
    """The array as another dtype.

    >>> np.astype(np.array([1.5, 2.5]), np.int64)
    array([1, 2])
    """
    if device is not None:
        check_device(device)
    if not prim.is_array(x):
        prim.error("Input should be a NumPy array. It is a " + "value of another type.")
    check_flag(copy)
    return x.astype(dtype, copy=copy)


def unstack(x, /, *, axis=0):
    """Views of the parts of an array at each index along an axis, as a list.

    >>> np.unstack(np.array([[1, 2], [3, 4]]))[1]
    array([3, 4])
    """
    if not prim.is_array(x):
        prim.error("np.unstack takes an array, whose dimensions it asks for")
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    moved = moveaxis(x, axis, 0)
    return [moved[i] for i in range(moved.shape[0])]


def dsplit(ary, indices_or_sections):
    """Views of the parts of an array along the third axis.

    >>> np.dsplit(np.arange(4).reshape(1, 2, 2), 2)[1]
    array([[[1],
            [3]]])
    """
    if not prim.is_array(ary) or ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


def block(arrays):
    """One array of nested lists of arrays: the innermost lists are joined along the last axis.

    >>> np.block([[np.eye(2), np.zeros((2, 1))], [np.ones((1, 2)), np.zeros((1, 1))]])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [1., 1., 0.]])
    """
    if prim.is_tuple(arrays):
        raise TypeError(
            "arrays is a tuple. Only lists can be used to arrange blocks, and np.block does not allow "
            "implicit conversion from tuple to ndarray."
        )
    levels = _levels(arrays)
    if len(levels) == 0:
        return array(arrays)
    return _blocks(arrays, levels, _ranks(arrays, levels))


def _levels(x):
    # A tuple as long as lists are nested.
    if prim.is_a(x, "builtins.list"):
        return (0,) + _levels(prim.example(x))
    return (0,) + _levels(unmixed(x)[0]) if isinstance(x, list) else ()


def _ranks(x, levels):
    # A tuple as long as the result has dimensions.
    if prim.is_a(x, "builtins.list"):
        return _ranks(prim.example(x), levels)
    if isinstance(x, list):
        return _ranks_of_all(unmixed(x), levels)
    own = prim.tuple_fill(asarray(x).ndim, 0)
    return own if len(own) > len(levels) else levels


def _ranks_of_all(parts, ranks):
    return _ranks_of_all(parts[1:], _ranks(parts[0], ranks)) if len(parts) > 0 else ranks


def _blocks_of_all(parts, levels, ranks):
    if len(parts) == 0:
        return ()
    return (_blocks(parts[0], levels, ranks),) + _blocks_of_all(parts[1:], levels, ranks)


def _blocks(x, levels, ranks):
    if isinstance(x, list) and not prim.is_a(x, "builtins.list"):
        return concatenate(_blocks_of_all(unmixed(x), levels[1:], ranks), axis=-len(levels))
    if len(levels) == 0:
        if isinstance(x, list):
            raise ValueError("List depths are mismatched.")
        return _of_rank(asarray(x), ranks)
    if len(x) == 0:
        raise ValueError("List at arrays cannot be empty")
    return concatenate([_blocks(part, levels[1:], ranks) for part in x], axis=-len(levels))


def _of_rank(x, ranks):
    return _of_rank(expand_dims(x, 0), ranks) if x.ndim < len(ranks) else x


def unique_values(x, /):
    """The distinct elements, sorted; NaN is not equal to NaN.

    >>> np.unique_values(np.array([3, 1, 3]))
    array([1, 3])
    """
    return unique(x, equal_nan=False)


def unique_counts(x, /):
    """The distinct elements and how often each is there.

    >>> np.unique_counts(np.array([3, 1, 3]))
    UniqueCountsResult(values=array([1, 3]), counts=array([1, 2]))
    """
    values, counts = unique(x, return_counts=True, equal_nan=False)
    return np.lib._arraysetops_impl.UniqueCountsResult(values, counts)


def unique_inverse(x, /):
    """The distinct elements and the place of every element among them.

    >>> np.unique_inverse(np.array([3, 1, 3]))
    UniqueInverseResult(values=array([1, 3]), inverse_indices=array([1, 0, 1]))
    """
    values, inverse = unique(x, return_inverse=True, equal_nan=False)
    return np.lib._arraysetops_impl.UniqueInverseResult(values, inverse)


def unique_all(x, /):
    """The distinct elements, where each is first, the place of every element among them, and how often each is there.

    >>> np.unique_all(np.array([3, 1, 3])).indices
    array([1, 0])
    """
    values, index, inverse, counts = unique(
        x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    return np.lib._arraysetops_impl.UniqueAllResult(values, index, inverse, counts)


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Running sums along an axis, perhaps from zero on.

    >>> np.cumulative_sum(np.array([1, 2, 3]), include_initial=True)
    array([0, 1, 3, 6])
    """
    a = asarray(x)
    dt = dtype_or(dtype, sum_dtype(prim.dtype_of(a)))
    k = _only_axis(a, axis)
    found = scan_axis(a, k, dt, plus, as_type, dt)
    return deliver(_after(found, k, prim.cast(0, dt)) if include_initial else found, out)


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Running products along an axis, perhaps from one on.

    >>> np.cumulative_prod(np.array([1, 2, 3]))
    array([1, 2, 6])
    """
    a = asarray(x)
    dt = dtype_or(dtype, sum_dtype(prim.dtype_of(a)))
    k = _only_axis(a, axis)
    found = scan_axis(a, k, dt, times, as_type, dt)
    return deliver(_after(found, k, prim.cast(1, dt)) if include_initial else found, out)


def _only_axis(a, axis):
    if a.ndim == 0:
        prim.error("running results are of arrays of at least one dimension")
    if axis is None:
        if a.ndim > 1:
            prim.error("For arrays which have more than one dimension ``axis`` argument is required.")
        return 0
    return check_axis(axis_of(axis), a.ndim)


def _after(found, k, first):
    initial = new_array(prim.tuple_set(found.shape, k, 1), prim.dtype_of(found))
    initial[...] = first
    return concatenate((initial, found), k)


def from_dlpack(x, /, *, device=None, copy=None):
    """The array itself, or a copy of it.

    >>> np.from_dlpack(np.array([1, 2]))
    array([1, 2])
    """
    if not prim.is_array(x):
        prim.error("`from_dlpack` takes an array: convert what is of another library outside of the function")
    if device is not None:
        check_device(device)
    return x if copy is None else np.array(x, copy=copy)


def vecdot(x1, x2, /, out=None, *, axis=None, keepdims=False, casting="same_kind", order="K", dtype=None, axes=None):
    """Dot products of vectors along an axis, the first ones conjugated.

    >>> np.vecdot(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 1.0]))
    array([3., 7.])
    """
    x, y = _operands(x1, x2, dtype, casting, out)
    if axes is not None:
        if axis is not None:
            prim.error("cannot specify both 'axis' and 'axes'")
        entries = checked_axes(axes, False)
        dots = _vecdot(moved_last(x, entries[0], (-1,)), moved_last(y, entries[1], (-1,)))
        if keepdims:
            kept = moveaxis(expand_dims(dots, -1), -1, -1)
            if len(entries) == 3:
                kept = moved_back(kept, entries[2], (-1,))
            return deliver(in_order(kept[()], x, y, order), out)
        if len(entries) == 3:
            core_axes(entries[2], (), dots.ndim)
        return deliver(in_order(dots[()], x, y, order), out)
    k = -1 if axis is None else axis_of(axis)
    dots = _vecdot(moveaxis(x, k, -1), moveaxis(y, k, -1))
    kept = expand_dims(dots, k) if keepdims else dots
    return deliver(in_order(kept[()], x, y, order), out)


def _vecdot(a, b):
    _check_core("vecdot", "(n),(n)->()", a.shape[-1], b.shape[-1])
    outer = broadcast_shapes(a.shape[:-1], b.shape[:-1])
    made = new_array(outer, prim.dtype_of(a))
    wide, other = broadcast_to(a, outer + a.shape[-1:]), broadcast_to(b, outer + b.shape[-1:])
    for index in np.ndindex(outer):
        made[index] = vdot(wide[index], other[index])
    return made


def matvec(x1, x2, /, out=None, *, casting="same_kind", order="K", dtype=None, axes=None):
    """Products of matrices and vectors.

    >>> np.matvec(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 1.0]))
    array([3., 7.])
    """
    x, y = _operands(x1, x2, dtype, casting, out)
    if x.ndim < 2:
        prim.error("`matvec` takes a matrix, an array of at least two dimensions")
    if axes is None:
        return deliver(in_order(_matvec(x, y), x, y, order), out)
    entries = checked_axes(axes, True)
    made = _matvec(moved_last(x, entries[0], (-2, -1)), moved_last(y, entries[1], (-1,)))
    return deliver(in_order(moved_back(made, entries[2], (-1,)), x, y, order), out)


def _matvec(x, y):
    _check_core("matvec", "(m,n),(n)->(m)", x.shape[-1], y.shape[-1])
    outer = broadcast_shapes(x.shape[:-2], y.shape[:-1])
    made = new_array(outer + (x.shape[-2],), prim.dtype_of(x))
    wide, other = broadcast_to(x, outer + x.shape[-2:]), broadcast_to(y, outer + y.shape[-1:])
    for index in np.ndindex(outer):
        made[index] = dot(wide[index], other[index])
    return made


def vecmat(x1, x2, /, out=None, *, casting="same_kind", order="K", dtype=None, axes=None):
    """Products of vectors, which are conjugated, and matrices.

    >>> np.vecmat(np.array([1.0, 1.0]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([4., 6.])
    """
    x, y = _operands(x1, x2, dtype, casting, out)
    if y.ndim < 2:
        prim.error("`vecmat` takes a matrix, an array of at least two dimensions")
    if axes is None:
        return deliver(in_order(_vecmat(x, y), x, y, order), out)
    entries = checked_axes(axes, True)
    made = _vecmat(moved_last(x, entries[0], (-1,)), moved_last(y, entries[1], (-2, -1)))
    return deliver(in_order(moved_back(made, entries[2], (-1,)), x, y, order), out)


def _vecmat(x, y):
    _check_core("vecmat", "(n),(n,m)->(m)", x.shape[-1], y.shape[-2])
    outer = broadcast_shapes(x.shape[:-1], y.shape[:-2])
    made = new_array(outer + (y.shape[-1],), prim.dtype_of(x))
    wide, other = broadcast_to(x, outer + x.shape[-1:]), broadcast_to(y, outer + y.shape[-2:])
    for index in np.ndindex(outer):
        made[index] = dot(wide[index].conj(), other[index])
    return made


def _operands(x1, x2, dtype, casting, out):
    x, y = asarray(x1), asarray(x2)
    if x.ndim == 0 or y.ndim == 0:
        prim.error("products of vectors need arrays of at least one dimension")
    a, b = in_which(x, y, dtype, casting)
    check_out(out, prim.dtype_of(a), casting)
    return a, b


def _check_core(name, signature, n, m):
    if n != m:
        raise ValueError(
            name
            + ": Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            + signature
            + " (size "
            + str(m)
            + " is different from "
            + str(n)
            + ")"
        )
