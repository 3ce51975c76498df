"""Methods of ufuncs in compiled code: `reduce`, `accumulate`, `reduceat`, `at` and `outer`."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.casting import check_cast, fitting
from lancehead.lib.numpy.folds import check_no_axis
from lancehead.lib.numpy.layout import converted, count
from lancehead.lib.numpy.reductions import sum_dtype


def reduce(u, array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The ufunc between the elements along axes, from first to last; only those that `where` tells."""
    # NumPy's own have better orders than from first to last.
    if u is np.add:
        return np.sum(array, axis, dtype, out, keepdims, initial, where)
    a = np.asarray(array)
    if u is np.multiply:
        to = prim.dtype_of(a) if prim.is_none(dtype) else np.dtype(dtype)
        # Products of floats and of complex numbers that begin with another number than one depend on the order.
        is_any_order = not prim.is_complex(to) and not (prim.is_float(to) and prim.is_scalar(where))
        if is_any_order or prim.is_scalar(where) and prim.is_none(initial):
            return np.prod(array, axis, dtype, out, keepdims, initial, where)
    _check_loop(u, a, dtype)
    axes = _axes_of(axis, a.shape)
    if not prim.is_scalar(where):
        result = _masked(u, a, axes, dtype, initial, where)
    elif where:
        result = _whole(u, a, axis, axes, dtype, initial)
    else:
        result = _masked(u, a, axes, dtype, initial, where)
    if keepdims:
        return _delivered(np.asarray(result).reshape(_ones(a.shape, axes)), out)
    return _delivered(result, out)


def _check_loop(u, a, dtype):
    # The results of comparisons are operands of the next ones, which have to be of one type.
    if prim.is_none(dtype) and not prim.is_bool(prim.dtype_of(a)):
        for odd in (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal):
            if u is odd:
                prim.error("comparisons reduce truth values only")


def _summed(u, a, dtype):
    # NumPy's own sums and products of integers have at least 64 bits.
    if prim.is_none(dtype) and (u is np.add or u is np.multiply):
        return sum_dtype(prim.dtype_of(a))
    return dtype


def _axes_of(axis, shape):
    if len(shape) == 0 and not prim.is_none(axis) and not prim.is_tuple(axis):
        check_no_axis(axis)
        return ()
    if prim.is_none(axis):
        axes = ()
        for k, _ in enumerate(shape):
            axes = (*axes, k)
        return axes
    if prim.is_tuple(axis):
        return _checked(axis, len(shape))
    return _checked((axis,), len(shape))


def _whole(u, a, axis, axes, dtype, initial):
    if prim.is_none(axis) or a.ndim == 0:
        if a.ndim > 1:
            _check_order(u)
        return _one_axis(u, a.reshape(a.size), 0, dtype, initial)
    if len(axes) == 1:
        return _one_axis(u, a, axes[0], dtype, initial)
    if len(axes) > 1:
        _check_order(u)
    return _axes(u, a, axes, dtype, initial)


def _check_order(u):
    # Of NumPy's ufuncs, those that may not go over several axes in any order.
    for odd in (np.subtract, np.divide, np.floor_divide, np.remainder, np.fmod, np.power, np.float_power, np.arctan2):
        if u is odd:
            raise ValueError("the reduction operation is not reorderable, so at most one axis may be specified")
    for odd in (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal):
        if u is odd:
            raise ValueError("the reduction operation is not reorderable, so at most one axis may be specified")
    for odd in (np.copysign, np.nextafter, np.heaviside, np.left_shift, np.right_shift, np.lcm):
        if u is odd:
            raise ValueError("the reduction operation is not reorderable, so at most one axis may be specified")


def _ones(shape, axes):
    # The shape with one element along each axis.
    for k in axes:
        shape = prim.tuple_set(shape, k, 1)
    return shape


def _without(shape, axes):
    # The shape without the axes, the last one of which goes first.
    if len(axes) == 0:
        return shape
    last = axes[0]
    for k in axes:
        last = max(last, k)
    rest = ()
    for k in axes[1:]:
        rest = (*rest, axes[0] if k == last else k)
    return _without(prim.tuple_drop(shape, last), rest)


def _masked(u, a, axes, dtype, initial, where):
    if prim.is_none(initial) and prim.is_none(prim.ufunc_identity(u)):
        raise ValueError(
            "reduction operation does not have an identity, so to use a where mask one has to specify 'initial'"
        )
    start = prim.ufunc_identity(u) if prim.is_none(initial) else initial
    mask = np.broadcast_to(_mask(where), a.shape)
    found = _result_type(u, a, dtype, start)
    total = np.full(_ones(a.shape, axes), fitting(start, found), found)
    for index in np.ndindex(a.shape):
        if mask[index]:
            at = index
            for k in axes:
                at = prim.tuple_set(at, k, 0)
            total[at] = u(total[at], converted(a[index], prim.dtype_of(total)))
    if len(axes) == a.ndim:
        return total.reshape(total.size)[0]
    return total.reshape(_without(a.shape, axes))


def _mask(where):
    # Numbers are masks to NumPy, too.
    return np.asarray(where != 0 if prim.is_number(where) else where)


def _delivered(result, out):
    if prim.is_none(out):
        return result
    if np.shape(result) != out.shape:
        raise ValueError("out of a reduction has the wrong shape")
    out[...] = result
    return out


def _checked(axis, ndim):
    # Axes counted from the front.
    axes = ()
    for k in axis:
        if k < -ndim or k >= ndim:
            raise ValueError("Invalid axis: an axis is out of bounds")
        k = k + ndim if k < 0 else k
        for other in axes:
            if k == other:
                raise ValueError("duplicate value in 'axis'")
        axes = (*axes, k)
    return axes


def _axes(u, a, axes, dtype, initial):
    # The last axis first, so that the others keep their numbers.
    if len(axes) == 0:
        if prim.is_none(initial):
            return a.copy()
        made = np.empty(a.shape, _result_type(u, a, dtype, initial))
        made[...] = u(initial, a)
        return made
    last = axes[0]
    for k in axes:
        last = max(last, k)
    if len(axes) == 1:
        return _one_axis(u, a, last, dtype, initial)
    if not prim.is_none(initial):
        # All elements of a result come after the initial value: as one axis.
        ends = ()
        for i, _ in enumerate(axes):
            ends = (*ends, a.ndim - len(axes) + i)
        lines = np.moveaxis(a, axes, ends)
        kept = lines.shape[: a.ndim - len(axes)]
        return _one_axis(u, lines.reshape((*kept, count(lines.shape[len(kept) :]))), len(kept), dtype, initial)
    rest = ()
    for k in axes[1:]:
        # The greatest one goes; the first one takes its place.
        rest = (*rest, axes[0] if k == last else k)
    return _axes(u, _one_axis(u, a, last, dtype, None), rest, dtype, initial)


def _one_axis(u, a, axis, dtype, initial):
    n = a.shape[axis]
    stride = a.strides[axis]
    shape = prim.tuple_drop(a.shape, axis)
    steps = prim.tuple_drop(a.strides, axis)
    start = _start(u, a, n, None if prim.is_none(initial) else fitting(initial, _result_type(u, a, dtype, initial)))
    if len(shape) == 0:
        return _line(u, a, prim.data(a), n, stride, dtype, start)
    out = np.empty(shape, _result_type(u, a, dtype, start))
    for index in np.ndindex(shape):
        out[index] = _line(u, a, _moved(prim.data(a), index, steps), n, stride, dtype, start)
    return out


def _start(u, a, n, initial):
    # The initial value of a line; `None` stands for its first element.
    if not prim.is_none(initial):
        return initial
    if not prim.is_none(prim.ufunc_identity(u)):
        return prim.ufunc_identity(u)
    if n == 0:
        raise ValueError("zero-size array to reduction operation which has no identity")
    return None


def _result_type(u, a, dtype, start):
    if not prim.is_none(dtype):
        return dtype
    x = prim.example(a.reshape(a.size))
    return prim.dtype_of(u(x, x))


def _line(u, a, p, n, stride, dtype, start):
    own = prim.dtype_of(a)
    wanted = _result_type(u, a, dtype, start)
    if prim.is_none(start):
        total = converted(prim.load(p, own), wanted)
        i = 1
    else:
        total = prim.cast(start, wanted)
        i = 0
    while i < n:
        total = prim.cast(u(total, converted(prim.load(prim.ptr_add(p, i * stride), own), wanted)), wanted)
        i += 1
    return total


def _moved(p, index, strides):
    for i, stride in zip(index, strides):
        p = prim.ptr_add(p, i * stride)
    return p


def accumulate(u, array, axis=0, dtype=None, out=None):
    """Every partial result of the ufunc along an axis."""
    a = np.asarray(array)
    if a.ndim == 0:
        raise TypeError("cannot accumulate on a scalar")
    _check_loop(u, a, dtype)
    k = _checked((axis,), a.ndim)[0]
    x = prim.example(a.reshape(a.size))
    made = _output(out, a.shape, _type_of(u, x, _summed(u, a, dtype)))
    n = a.shape[k]
    for index in np.ndindex(prim.tuple_drop(a.shape, k)):
        p = _moved(prim.data(a), index, prim.tuple_drop(a.strides, k))
        q = _moved(prim.data(made), index, prim.tuple_drop(made.strides, k))
        _running(u, a, p, a.strides[k], made, q, made.strides[k], n)
    return made


def _type_of(u, x, dtype):
    if not prim.is_none(dtype):
        return dtype
    return prim.dtype_of(u(x, x))


def _output(out, shape, dtype):
    if prim.is_none(out):
        return np.empty(shape, dtype)
    if out.shape != shape:
        raise ValueError("the shape of out is not that of the result")
    return out


def _running(u, a, p, stride, made, q, step, n):
    wanted = prim.dtype_of(made)
    if n > 0:
        total = converted(prim.load(p, prim.dtype_of(a)), wanted)
        prim.store(q, total)
        for i in range(1, n):
            x = converted(prim.load(prim.ptr_add(p, i * stride), prim.dtype_of(a)), wanted)
            total = prim.cast(u(total, x), wanted)
            prim.store(prim.ptr_add(q, i * step), total)


def reduceat(u, array, indices, axis=0, dtype=None, out=None):
    """Reductions of the parts from each index to before the next one."""
    a = np.asarray(array)
    at = np.asarray(indices)
    if at.ndim != 1:
        prim.error(at, "indices of reduceat have at most 1 dimension")
    if a.ndim == 0:
        raise TypeError("cannot reduceat on a scalar")
    _check_loop(u, a, dtype)
    k = _checked((axis,), a.ndim)[0]
    n = a.shape[k]
    for i in at:
        if i < 0 or i >= n:
            raise IndexError(f"index {i} out-of-bounds in reduceat [0, {n})")
    x = prim.example(a.reshape(a.size))
    shape = prim.tuple_set(a.shape, k, at.size)
    # In place, what is read later must not be written before.
    made = np.empty(shape, _type_of(u, x, _summed(u, a, dtype)) if prim.is_none(out) else prim.dtype_of(out))
    for index in np.ndindex(prim.tuple_drop(a.shape, k)):
        p = _moved(prim.data(a), index, prim.tuple_drop(a.strides, k))
        q = _moved(prim.data(made), index, prim.tuple_drop(made.strides, k))
        for j in range(at.size):
            stop = at[j + 1] if j + 1 < at.size else n
            count = max(stop - at[j], 1)
            _part(
                u,
                a,
                prim.ptr_add(p, at[j] * a.strides[k]),
                a.strides[k],
                made,
                prim.ptr_add(q, j * made.strides[k]),
                count,
            )
    if prim.is_none(out):
        return made
    if out.shape != shape:
        raise ValueError("the shape of out is not that of the result")
    out[...] = made
    return out


def _part(u, a, p, stride, made, q, n):
    wanted = prim.dtype_of(made)
    total = converted(prim.load(p, prim.dtype_of(a)), wanted)
    for i in range(1, n):
        x = converted(prim.load(prim.ptr_add(p, i * stride), prim.dtype_of(a)), wanted)
        total = prim.cast(u(total, x), wanted)
    prim.store(q, total)


def at(u, a, indices, *operands):
    """The ufunc in place at indices, once for every time that an element is named."""
    places = np.arange(a.size).reshape(a.shape)[indices]
    if prim.is_array(places):
        flat = places.reshape(places.size)
        if len(operands) == 0:
            for place in flat:
                _at_one(u, a, place, ())
        else:
            b = np.broadcast_to(np.asarray(operands[0]), places.shape)
            for k, index in enumerate(np.ndindex(places.shape)):
                _at_one(u, a, flat[k], (b[index],))
    elif len(operands) == 0:
        _at_one(u, a, places, ())
    else:
        # The operand is an array to NumPy: a number has a type of its own here.
        _at_one(u, a, places, (np.broadcast_to(np.asarray(operands[0]), (1,))[0],))


def _at_one(u, a, place, operands):
    p = prim.data(a)
    for k in range(a.ndim):
        n = a.shape[a.ndim - 1 - k]
        p = prim.ptr_add(p, place % n * a.strides[a.ndim - 1 - k])
        place = place // n
    dtype = prim.dtype_of(a)
    prim.store(p, prim.cast(u(prim.load(p, dtype), *operands), dtype))


def outer(u, a, b, out=None):
    """The ufunc for every pair of elements of two arrays."""
    x = np.asarray(a)
    y = np.asarray(b)
    shape = x.shape
    for _ in y.shape:
        shape = (*shape, 1)
    if prim.is_none(out):
        return u(x.copy().reshape(shape), y)
    return u(x.copy().reshape(shape), y, out=out)


def masked(u, ins, out, where):
    """A call of a ufunc for those elements that `where` tells; others of the result are what they were."""
    shape = np.shape(where)
    arrays = ()
    for x in ins:
        # The output may lie over the inputs in any way.
        a = np.asarray(x) if prim.is_none(out) else np.asarray(x).copy()
        shape = np.broadcast_shapes(shape, a.shape)
        arrays = (*arrays, a)
    if prim.is_none(out):
        examples = ()
        for a in arrays:
            examples = (*examples, prim.example(a.reshape(a.size)))
        made = np.empty(shape, prim.dtype_of(u(*examples)))
    else:
        if np.broadcast_shapes(shape, out.shape) != out.shape:
            raise ValueError("the shape of out is not that of the result")
        made = out
    _where_set(u, made, np.broadcast_to(where, made.shape), arrays)
    return made


def _where_set(u, made, mask, arrays):
    wide = ()
    for a in arrays:
        wide = (*wide, np.broadcast_to(a, made.shape))
    for index in np.ndindex(made.shape):
        if mask[index]:
            xs = ()
            for a in wide:
                xs = (*xs, a[index])
            made[index] = prim.cast(u(*xs), prim.dtype_of(made))


def as_operand(x, dtype, casting):
    """An operand of a ufunc as the type in which it is to compute."""
    wanted = prim.as_dtype(dtype)
    if prim.is_scalar(x):
        # A Python integer is of whatever type of numbers is wanted.
        if not (prim.is_weak(x) and prim.is_int(x)) or prim.is_bool(wanted):
            check_cast(prim.dtype_of(x), wanted, casting)
        return prim.cast(x, wanted)
    a = np.asarray(x)
    check_cast(prim.dtype_of(a), wanted, casting)
    return np.asarray(a, wanted)


def stored(result, out, where, dtype, casting):
    """The result of a ufunc in its output, where a mask is true; elsewhere that is what it was."""
    if not prim.is_none(dtype):
        if prim.dtype_of(result) != prim.as_dtype(dtype):
            prim.error("the ufunc has no loop of this dtype")
    if not prim.is_none(out):
        if not prim.is_array(out):
            prim.error("return arrays must be of ArrayType")
        check_cast(prim.dtype_of(result), prim.dtype_of(out), casting)
        if prim.is_number(result):
            result = prim.cast(result, prim.strong(prim.dtype_of(result)))
    if prim.is_scalar(where):
        if where:
            return _stored_whole(result, out)
    mask = _mask(where)
    shape = np.broadcast_shapes(np.shape(result), mask.shape)
    if prim.is_none(out):
        made = np.empty(shape, prim.dtype_of(result))
        np.copyto(made, result, where=mask)
        return made[()]
    _check_output(out, shape)
    np.copyto(out, result, casting="unsafe", where=mask)
    return out


def ordered(result, order, out, operands):
    """A new result of a ufunc as it lies in memory by `order=`; an output lies where it lies."""
    if not prim.is_str(order):
        prim.error("`order=` is a text")
    o = prim.order(order, "K")
    if o == "K" or not prim.is_none(out) or not prim.is_array(result):
        return result
    if o == "F":
        return np.asarray(result, order="F")
    if o == "C":
        return np.asarray(result, order="C")
    by_rows, by_columns = np.asarray(result, order="C"), np.asarray(result, order="F")
    made = by_columns if _are_by_columns(operands) else by_rows
    return prim.array(prim.owner(made), prim.data(made), made.shape, made.strides, prim.dtype_of(made), "A")


def _are_by_columns(operands):
    # Numbers lie in either order.
    if len(operands) == 0:
        return True
    if prim.is_array(operands[0]):
        if not operands[0].flags.f_contiguous:
            return False
    return _are_by_columns(operands[1:])


def _stored_whole(result, out):
    if prim.is_none(out):
        return result
    _check_output(out, np.shape(result))
    out[...] = result
    return out


def _check_output(out, shape):
    if len(shape) > out.ndim:
        prim.error("`out` has fewer dimensions than the result")
    try:
        fits = np.broadcast_shapes(out.shape, shape) == out.shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError("non-broadcastable output operand: its shape does not match the broadcast shape")
