"""Methods of ufuncs in compiled code: `reduce`, `accumulate`, `reduceat`, `at` and `outer`."""

import numpy as np

from lancehead.lib import prim


def reduce(u, array, axis=0, dtype=None, out=None, keepdims=False, initial=None):
    """The ufunc between the elements along axes, from first to last."""
    a = np.asarray(array)
    if prim.is_none(axis):
        result = _one_axis(u, a.reshape(a.size), 0, dtype, initial)
    elif prim.is_tuple(axis):
        result = _axes(u, a, _checked(axis, a.ndim), dtype, initial)
    else:
        result = _one_axis(u, a, _checked((axis,), a.ndim)[0], dtype, initial)
    if keepdims:
        prim.error(a, "keepdims of a ufunc's reduce is not supported in compiled code")
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
        return a.copy()
    last = axes[0]
    for k in axes:
        last = max(last, k)
    if len(axes) == 1:
        return _one_axis(u, a, last, dtype, initial)
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
    start = _start(u, a, n, initial)
    if len(shape) == 0:
        return _line(u, a, prim.data(a), n, stride, dtype, start)
    out = np.empty(shape, _result_type(u, a, dtype, start))
    for index in np.ndindex(shape):
        out[index] = _line(u, a, _moved(prim.data(a), index, steps), n, stride, dtype, start)
    return out


def _start(u, a, n, initial):
    # What a line begins with; `None` stands for its first element.
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
        total = prim.cast(prim.load(p, own), wanted)
        i = 1
    else:
        total = prim.cast(start, wanted)
        i = 0
    while i < n:
        total = prim.cast(u(total, prim.cast(prim.load(prim.ptr_add(p, i * stride), own), wanted)), wanted)
        i += 1
    return total


def _moved(p, index, strides):
    for i, stride in zip(index, strides):
        p = prim.ptr_add(p, i * stride)
    return p


def accumulate(u, array, axis=0, dtype=None, out=None):
    """Every partial result of the ufunc along an axis."""
    a = np.asarray(array)
    k = _checked((axis,), a.ndim)[0]
    x = prim.example(a.reshape(a.size))
    made = _output(out, a.shape, _type_of(u, x, dtype))
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
        total = prim.cast(prim.load(p, prim.dtype_of(a)), wanted)
        prim.store(q, total)
        for i in range(1, n):
            x = prim.cast(prim.load(prim.ptr_add(p, i * stride), prim.dtype_of(a)), wanted)
            total = prim.cast(u(total, x), wanted)
            prim.store(prim.ptr_add(q, i * step), total)


def reduceat(u, array, indices, axis=0, dtype=None, out=None):
    """Reductions of the parts from each index to before the next one."""
    a = np.asarray(array)
    at = np.asarray(indices)
    if at.ndim != 1:
        prim.error(at, "indices of reduceat have at most 1 dimension")
    k = _checked((axis,), a.ndim)[0]
    n = a.shape[k]
    for i in at:
        if i < 0 or i >= n:
            raise IndexError(f"index {i} out-of-bounds in reduceat [0, {n})")
    x = prim.example(a.reshape(a.size))
    shape = prim.tuple_set(a.shape, k, at.size)
    # In place, what is read later must not be written before.
    made = np.empty(shape, _type_of(u, x, dtype) if prim.is_none(out) else prim.dtype_of(out))
    for index in np.ndindex(prim.tuple_drop(a.shape, k)):
        p = _moved(prim.data(a), index, prim.tuple_drop(a.strides, k))
        q = _moved(prim.data(made), index, prim.tuple_drop(made.strides, k))
        for j in range(at.size):
            stop = at[j + 1] if j + 1 < at.size else n
            count = max(stop - at[j], 1)
            _part(u, a, prim.ptr_add(p, at[j] * a.strides[k]), a.strides[k], made, prim.ptr_add(q, j * made.strides[k]), count)
    if prim.is_none(out):
        return made
    if out.shape != shape:
        raise ValueError("the shape of out is not that of the result")
    out[...] = made
    return out


def _part(u, a, p, stride, made, q, n):
    wanted = prim.dtype_of(made)
    total = prim.cast(prim.load(p, prim.dtype_of(a)), wanted)
    for i in range(1, n):
        total = prim.cast(u(total, prim.cast(prim.load(prim.ptr_add(p, i * stride), prim.dtype_of(a)), wanted)), wanted)
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
    else:
        _at_one(u, a, places, operands)


def _at_one(u, a, place, operands):
    p = prim.data(a)
    for k in range(a.ndim):
        n = a.shape[a.ndim - 1 - k]
        p = prim.ptr_add(p, place % n * a.strides[a.ndim - 1 - k])
        place = place // n
    dtype = prim.dtype_of(a)
    prim.store(p, prim.cast(u(prim.load(p, dtype), *operands), dtype))


def outer(u, a, b):
    """The ufunc for every pair of elements of two arrays."""
    x = np.asarray(a)
    y = np.asarray(b)
    shape = x.shape
    for _ in y.shape:
        shape = (*shape, 1)
    return u(x.copy().reshape(shape), y)
