"""Views in other shapes."""

from lancehead.lib import prim
from lancehead.lib.conversions import axis_of, check_flag, index_of
from lancehead.lib.numpy.creation import array, asarray
from lancehead.lib.numpy.layout import (
    as_ints,
    check_axis,
    contiguous,
    f_strides,
    flat,
    is_c_contiguous,
    with_shape,
)


def _shape_text(shape):
    # NumPy's text of the shape asked for, which begins with the first extent that is known.
    text = ""
    begun = False
    for k in range(len(shape)):
        if shape[k] >= 0 or begun:
            text = text + ("," if begun else "") + ("newaxis" if shape[k] < 0 else str(shape[k]))
            begun = True
    return "(" + text + ("," if begun and len(shape) == 1 else "") + ")"


def _unknown_extent(size, asked):
    # The extent that -1 stands for; 0 if no extent is -1.
    unknown, known = 0, 1
    for k in range(len(asked)):
        if asked[k] < 0:
            unknown += 1
        else:
            known *= asked[k]
    if unknown > 1:
        raise ValueError("can only specify one unknown dimension")
    if (unknown == 0 and known != size) or (unknown == 1 and (known == 0 or size % known != 0)):
        raise ValueError("cannot reshape array of size " + str(size) + " into shape " + _shape_text(asked))
    return 0 if unknown == 0 else size // known


def _known_shape(size, asked):
    # A shape with its one extent of -1 found. Of extents that are written out the caller sees what they are.
    return _with_unknown(asked, _unknown_extent(size, asked))


def _with_unknown(asked, extent):
    if len(asked) == 0:
        return ()
    return (_either(asked[0], extent),) + _with_unknown(asked[1:], extent)


def _either(n, extent):
    # Without a branch, behind which nobody would see an extent that is written out.
    return prim.maximum(n, extent * prim.cast(n < 0, int))


def reshape(a, /, shape, order="C", *, copy=None):
    """The elements in another shape, as a view if possible.

    >>> np.reshape(np.arange(6), (2, -1))
    array([[0, 1, 2],
           [3, 4, 5]])
    """
    x = asarray(a)
    wanted = as_ints(shape)
    o = prim.order(order, "C", "CFA")
    if copy is not None:
        check_flag(copy)
        if copy:
            return reshape(array(x), shape, order)
        if prim.layout(x) != "C" or o == "F":
            prim.error("whether elements are to be copied is not known: take an array in row-major order, or a copy")
    if len(wanted) == 0:
        if x.size != 1:
            raise ValueError("cannot reshape array of size " + str(x.size) + " into shape ()")
        return with_shape(contiguous(x), ())
    found = _known_shape(x.size, wanted)
    if o == "F" or (o == "A" and prim.layout(x) == "F"):
        c = contiguous(x.T)
        dtype = prim.dtype_of(c)
        return prim.array(prim.owner(c), prim.data(c), found, f_strides(found, c.itemsize), dtype, "F")
    return with_shape(contiguous(x), found)


def ravel(a, order="C"):
    """The elements in one dimension, as a view if possible.

    >>> np.ravel(np.array([[1, 2], [3, 4]]))
    array([1, 2, 3, 4])
    """
    x = asarray(a)
    o = prim.order(order, "C")
    if o == "F" or (o != "C" and prim.layout(x) == "F"):
        return flat(transpose(x))
    if o == "C" or prim.layout(x) == "C":
        return flat(contiguous(x))
    if o == "K":
        return flat(contiguous(_in_memory_order(x)))
    return flat(transpose(x)) if is_c_contiguous(transpose(x)) else flat(contiguous(x))


def _in_memory_order(x):
    # The axes from the greatest stride to the least; of equal ones the first goes first.
    shape, strides = x.shape, x.strides
    for k in range(1, x.ndim):
        n, stride = shape[k], strides[k]
        at = k
        while at > 0 and prim.abs(strides[at - 1]) < prim.abs(stride):
            shape = prim.tuple_set(shape, at, shape[at - 1])
            strides = prim.tuple_set(strides, at, strides[at - 1])
            at -= 1
        shape = prim.tuple_set(shape, at, n)
        strides = prim.tuple_set(strides, at, stride)
    return prim.array(prim.owner(x), prim.data(x), shape, strides, prim.dtype_of(x), "A")


def transpose(a, axes=None):
    """A view with the axes in reverse, or in another order.

    >>> np.transpose(np.array([[1, 2], [3, 4]]))
    array([[1, 3],
           [2, 4]])
    >>> np.transpose(np.ones((1, 2, 3)), (1, 0, 2)).shape
    (2, 1, 3)
    """
    x = asarray(a)
    if x.ndim <= 1 and axes is None:
        return x
    dtype = prim.dtype_of(x)
    if axes is None:
        if prim.layout(x) == "C":
            return prim.array(prim.owner(x), prim.data(x), x.shape[::-1], x.strides[::-1], dtype, "F")
        if prim.layout(x) == "F":
            return prim.array(prim.owner(x), prim.data(x), x.shape[::-1], x.strides[::-1], dtype, "C")
        return prim.array(prim.owner(x), prim.data(x), x.shape[::-1], x.strides[::-1], dtype, "A")
    if prim.is_int(axes):
        return transpose(x, (axes,))
    if len(axes) != x.ndim:
        raise ValueError("axes don't match array")
    if not prim.is_tuple(axes):
        # A list: how many items it has is known by now.
        order = prim.tuple_fill(x.ndim, 0)
        for k in range(x.ndim):
            order = prim.tuple_set(order, k, index_of(axes[k]))
        return transpose(x, order)
    seen = 0
    for k in range(len(axes)):
        bit = 1 << check_axis(axes[k], x.ndim)
        if (seen & bit) != 0:
            raise ValueError("repeated axis in transpose")
        seen |= bit
    return prim.array(prim.owner(x), prim.data(x), _picked(x.shape, axes), _picked(x.strides, axes), dtype, "A")


def _picked(items, axes):
    if len(axes) == 0:
        return ()
    return (items[axes[0]],) + _picked(items, axes[1:])


permute_dims = transpose


def swapaxes(a, axis1, axis2):
    """A view with two axes exchanged.

    >>> np.swapaxes(np.ones((1, 2, 3)), 0, 2).shape
    (3, 2, 1)
    """
    x = asarray(a)
    i, j = check_axis(axis_of(axis1), x.ndim), check_axis(axis_of(axis2), x.ndim)
    shape = prim.tuple_set(prim.tuple_set(x.shape, i, x.shape[j]), j, x.shape[i])
    strides = prim.tuple_set(prim.tuple_set(x.strides, i, x.strides[j]), j, x.strides[i])
    return prim.array(prim.owner(x), prim.data(x), shape, strides, prim.dtype_of(x), "A")


def matrix_transpose(x, /):
    """A view with the last two axes exchanged.

    >>> np.matrix_transpose(np.array([[1, 2], [3, 4]]))
    array([[1, 3],
           [2, 4]])
    """
    a = asarray(x)
    if a.ndim < 2:
        raise ValueError("Input array must be at least 2-dimensional, but it is " + str(a.ndim))
    return swapaxes(a, -1, -2)


def moveaxis(a, source, destination):
    """A view with an axis in another place.

    >>> np.moveaxis(np.ones((1, 2, 3)), 0, -1).shape
    (2, 3, 1)
    """
    x = asarray(a)
    if not (prim.is_number(source) and prim.is_number(destination)):
        return transpose(x, _moved_axes(x.shape, _sequence(source), _sequence(destination)))
    i, j = check_axis(axis_of(source), x.ndim), check_axis(axis_of(destination), x.ndim)
    shape = prim.tuple_insert(prim.tuple_drop(x.shape, i), j, x.shape[i])
    strides = prim.tuple_insert(prim.tuple_drop(x.strides, i), j, x.strides[i])
    return prim.array(prim.owner(x), prim.data(x), shape, strides, prim.dtype_of(x), "A")


def _sequence(axes):
    return (axis_of(axes),) if prim.is_number(axes) else axes


def _moved_axes(shape, source, destination):
    # The axes in their new order: those named go where they are sent, the others fill up.
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    ndim = len(shape)
    order = prim.tuple_fill(len(shape), -1)
    used = 0
    for k in range(len(source)):
        i, j = check_axis(source[k], ndim), check_axis(destination[k], ndim)
        if (used >> i) & 1 != 0:
            raise ValueError("repeated axis in `source` argument")
        if order[j] >= 0:
            raise ValueError("repeated axis in `destination` argument")
        order = prim.tuple_set(order, j, i)
        used |= 1 << i
    free = 0
    for j in range(ndim):
        if order[j] < 0:
            while (used >> free) & 1 != 0:
                free += 1
            order = prim.tuple_set(order, j, free)
            free += 1
    return order


def rollaxis(a, axis, start=0):
    """A view with an axis moved before another.

    >>> np.rollaxis(np.ones((1, 2, 3)), 2).shape
    (3, 1, 2)
    """
    i = check_axis(axis_of(axis), a.ndim)
    j = index_of(start) + a.ndim if start < 0 else index_of(start)
    return moveaxis(a, i, j - 1 if i < j else j)


def _expanded(x, axes):
    # Each axis is one of the result; the least goes first, so that the others keep their numbers.
    ndim = x.ndim + len(axes)
    shape, strides = prim.tuple_fill(ndim, 1), prim.tuple_fill(ndim, 0)
    new = 0
    for k in range(len(axes)):
        bit = 1 << check_axis(axes[k], ndim)
        if (new & bit) != 0:
            raise ValueError("repeated axis")
        new |= bit
    at = 0
    for j in range(ndim):
        if (new >> j) & 1 == 0:
            shape = prim.tuple_set(shape, j, x.shape[at])
            strides = prim.tuple_set(strides, j, x.strides[at])
            at += 1
    if prim.layout(x) == "C":
        return with_shape(x, shape)
    return prim.array(prim.owner(x), prim.data(x), shape, strides, prim.dtype_of(x), "A")


def _squeezed(x, axes, done):
    # The greatest axis first, so that the others keep their numbers.
    if len(axes) == 0:
        return x
    last, at = -1, 0
    for k in range(len(axes)):
        i = check_axis(axes[k], x.ndim + done)
        if i == last:
            raise ValueError("duplicate value in 'axis'")
        if i > last:
            last, at = i, k
    return _squeezed(squeeze(x, last), prim.tuple_drop(axes, at), done + 1)


def expand_dims(a, axis):
    """A view with an axis of extent one inserted.

    >>> np.expand_dims(np.array([1, 2]), 1)
    array([[1],
           [2]])
    """
    x = asarray(a)
    if prim.is_tuple(prim.sized(axis)):
        return _expanded(x, axis)
    k = check_axis(axis_of(axis), x.ndim + 1)
    shape = prim.tuple_insert(x.shape, k, 1)
    if prim.layout(x) == "C":
        return with_shape(x, shape)
    return prim.array(prim.owner(x), prim.data(x), shape, prim.tuple_insert(x.strides, k, 0), prim.dtype_of(x), "A")


def squeeze(a, axis=None):
    """A view without an axis of extent one; the axis must be given, since the rank is part of the type.

    >>> np.squeeze(np.ones((2, 1)), 1).shape
    (2,)
    """
    x = asarray(a)
    if axis is None:
        prim.error("`squeeze` needs the axis: without it the rank of the result is not known while compiling")
    if prim.is_tuple(axis):
        return _squeezed(x, axis, 0)
    k = check_axis(axis, x.ndim)
    if x.shape[k] != 1:
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    shape = prim.tuple_drop(x.shape, k)
    if prim.layout(x) == "C":
        return with_shape(x, shape)
    return prim.array(prim.owner(x), prim.data(x), shape, prim.tuple_drop(x.strides, k), prim.dtype_of(x), "A")


def broadcast_to(array, shape):
    """A view in a greater shape, elements repeated without copying.

    >>> np.broadcast_to(np.array([1, 2]), (2, 2))
    array([[1, 2],
           [1, 2]])
    """
    x = asarray(array)
    wanted = as_ints(shape)
    if len(wanted) < x.ndim:
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    for n in wanted:
        if n < 0:
            raise ValueError("all elements of broadcast shape must be non-negative")
    strides = _broadcast_strides(x.shape, x.strides, wanted)
    return prim.readonly(prim.array(prim.owner(x), prim.data(x), wanted, strides, prim.dtype_of(x), "A"))


def _broadcast_strides(shape, strides, wanted):
    if len(wanted) > len(shape):
        return (0,) + _broadcast_strides(shape, strides, wanted[1:])
    if len(wanted) == 0:
        return ()
    if shape[0] != wanted[0] and shape[0] != 1:
        raise ValueError("operands could not be broadcast together with remapped shapes")
    first = strides[0] if shape[0] == wanted[0] else 0
    return (first,) + _broadcast_strides(shape[1:], strides[1:], wanted[1:])


def _at_least_1(a):
    x = asarray(a)
    return with_shape(x, (1,)) if x.ndim == 0 else x


def _at_least_2(a):
    x = _at_least_1(a)
    return expand_dims(x, 0) if x.ndim == 1 else x


def _at_least_3(a):
    x = _at_least_2(a)
    return expand_dims(x, 2) if x.ndim == 2 else x


def each(f, arrays):
    """A function of every array of a tuple or list, or of every part of an array along its first axis."""
    if prim.is_a(arrays, "builtins.list") or prim.is_array(arrays):
        return [f(a) for a in arrays]
    if len(arrays) == 0:
        return ()
    if len(arrays) == 1:
        return (f(arrays[0]),)
    # By halves, so that calls do not nest as deeply as there are arrays.
    half = len(arrays) // 2
    return each(f, arrays[:half]) + each(f, arrays[half:])


def atleast_1d(*arys):
    """The arrays with at least one dimension.

    >>> np.atleast_1d(3)
    array([3])
    """
    return _at_least_1(arys[0]) if len(arys) == 1 else each(_at_least_1, arys)


def atleast_2d(*arys):
    """The arrays with at least two dimensions.

    >>> np.atleast_2d(np.array([1, 2]))
    array([[1, 2]])
    """
    return _at_least_2(arys[0]) if len(arys) == 1 else each(_at_least_2, arys)


def atleast_3d(*arys):
    """The arrays with at least three dimensions.

    >>> np.atleast_3d(np.array([1, 2])).shape
    (1, 2, 1)
    """
    return _at_least_3(arys[0]) if len(arys) == 1 else each(_at_least_3, arys)


def _joint_shape(a, b):
    if len(a) > len(b):
        return (a[0],) + _joint_shape(a[1:], b)
    if len(b) > len(a):
        return (b[0],) + _joint_shape(a, b[1:])
    if len(a) == 0:
        return ()
    if a[0] != b[0] and a[0] != 1 and b[0] != 1:
        raise ValueError("shape mismatch: objects cannot be broadcast to a single shape")
    return (b[0] if a[0] == 1 else a[0],) + _joint_shape(a[1:], b[1:])


def broadcast_shapes(*args):
    """The shape to which shapes broadcast.

    >>> np.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    if len(args) == 0:
        return ()
    shape = _extents(args[0])
    for other in args[1:]:
        shape = _joint_shape(shape, _extents(other))
    return shape


def _extents(shape):
    for n in as_ints(shape):
        if n < 0:
            raise ValueError("negative dimensions are not allowed")
    return as_ints(shape)


def _shape_of_all(arrays):
    shape = asarray(arrays[0]).shape
    for a in arrays[1:]:
        shape = _joint_shape(shape, asarray(a).shape)
    return shape


def _all_broadcast(arrays, shape):
    if len(arrays) == 0:
        return ()
    if len(arrays) == 1:
        return (broadcast_to(asarray(arrays[0]), shape),)
    half = len(arrays) // 2
    return _all_broadcast(arrays[:half], shape) + _all_broadcast(arrays[half:], shape)


def broadcast_arrays(*args):
    """Views of the arrays in one shape.

    >>> np.broadcast_arrays(np.array([1, 2]), np.array([[3]]))
    (array([[1, 2]]), array([[3, 3]]))
    """
    return _all_broadcast(args, _shape_of_all(args)) if len(args) > 0 else ()


def shape(a):
    """The shape.

    >>> np.shape(np.ones((2, 3)))
    (2, 3)
    """
    return asarray(a).shape


def size(a, axis=None):
    """Number of elements, of all or along an axis.

    >>> np.size(np.ones((2, 3)), 1)
    3
    """
    x = asarray(a)
    if axis is None:
        return x.size
    if prim.is_tuple(axis):
        n, seen = 1, 0
        for k in axis:
            at = check_axis(k, x.ndim)
            if (seen >> at) & 1 != 0:
                raise ValueError("duplicate value in 'axis'")
            n, seen = n * x.shape[at], seen | (1 << at)
        return n
    return x.shape[check_axis(axis_of(axis), x.ndim)]


def ndim(a):
    """Number of dimensions.

    >>> np.ndim(np.ones((2, 3)))
    2
    """
    return asarray(a).ndim


def real(val):
    """Real part.

    >>> np.real(np.array([1 + 2j]))
    array([1.])
    """
    return asarray(val).real if isinstance(val, (tuple, list)) else val.real


def imag(val):
    """Imaginary part.

    >>> np.imag(np.array([1 + 2j]))
    array([2.])
    """
    return asarray(val).imag if isinstance(val, (tuple, list)) else val.imag
