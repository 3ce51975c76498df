"""Products of vectors and matrices."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.casting import check_cast
from lancehead.lib.numpy.core_axes import checked_axes, in_order, moved_back, moved_last
from lancehead.lib.numpy.creation import asarray, dtype_or
from lancehead.lib.numpy.folds import check_out, deliver
from lancehead.lib.numpy.layout import contiguous, count, flat, new_array, new_zeros, row, with_shape
from lancehead.lib.numpy.manip import _shape_text
from lancehead.lib.numpy.stacks import matrices


def _mismatch(a, b, i, j):
    raise ValueError(
        "shapes "
        + _shape_text(a.shape)
        + " and "
        + _shape_text(b.shape)
        + " not aligned: "
        + str(a.shape[i])
        + " (dim "
        + str(i)
        + ") != "
        + str(b.shape[j])
        + " (dim "
        + str(j)
        + ")"
    )


def _product(a, b, i, dtype):
    return _times(prim.cast(prim.item(a, i), dtype), prim.cast(prim.item(b, i), dtype))


def _product_line(a, b, dtype):
    # In any order, except where the CPU device and a GPU are to have the same.
    is_free = prim.is_float(dtype) and not prim.in_kernel()
    if prim.is_complex(dtype) and not prim.in_kernel():
        return _complex_line(a, b, dtype, False)
    if is_free and prim.itemsize(dtype) < 8 and (prim.layout(a) == "A" or prim.layout(b) == "A"):
        # One chain of sums loses what is small beside them.
        return prim.cast(_product_line(a, b, np.float64), dtype)
    total = prim.cast(0, dtype)
    for i in range(a.size):
        x = _product(a, b, i, dtype)
        total = prim.add_any_order(total, x) if is_free else _add(total, x)
    return total


def _complex_line(a, b, dtype, conjugates):
    # Sums of the parts in any order: those of the products are two chains each.
    real = imag = prim.cast(0, dtype).real
    for i in range(a.size):
        x, y = prim.cast(prim.item(a, i), dtype), prim.cast(prim.item(b, i), dtype)
        turned = -x.imag if conjugates else x.imag
        real = prim.add_any_order(prim.add_any_order(real, x.real * y.real), -turned * y.imag)
        imag = prim.add_any_order(prim.add_any_order(imag, x.real * y.imag), turned * y.real)
    return prim.complex(real, imag)


def _add(x, y):
    return x | y if prim.is_bool(x) else x + y


def _times(x, y):
    return x & y if prim.is_bool(x) and prim.is_bool(y) else x * y


def _matrix_vector(a, b, dtype):
    if prim.layout(a) == "F":
        return _columns_vector(a, b, dtype)
    out = new_array((a.shape[0],), dtype)
    c, d = asarray(a, dtype), asarray(b, dtype)
    first = 0
    if prim.is_float(dtype) and not prim.in_kernel():
        first = a.shape[0] // 4 * 4
        for i in range(0, first, 4):
            _four_rows(c, d, out, i, dtype)
    for i in range(first, a.shape[0]):
        prim.set_item(out, i, _product_line(row(c, i), d, dtype))
    return out


def _four_rows(a, x, out, i, dtype):
    # The vector is read once for all.
    p, q, r, s = row(a, i), row(a, i + 1), row(a, i + 2), row(a, i + 3)
    t = u = v = w = prim.cast(0, dtype)
    for k in range(x.size):
        y = prim.item(x, k)
        t, u = prim.add_any_order(t, prim.item(p, k) * y), prim.add_any_order(u, prim.item(q, k) * y)
        v, w = prim.add_any_order(v, prim.item(r, k) * y), prim.add_any_order(w, prim.item(s, k) * y)
    prim.set_item(out, i, t)
    prim.set_item(out, i + 1, u)
    prim.set_item(out, i + 2, v)
    prim.set_item(out, i + 3, w)


def _columns_vector(a, b, dtype):
    # Columns are scaled and added, four at a time: the inner loop runs along memory.
    out = new_zeros((a.shape[0],), dtype)
    first = a.shape[1] // 4 * 4
    for k in range(0, first, 4):
        w, x = prim.cast(prim.item(b, k), dtype), prim.cast(prim.item(b, k + 1), dtype)
        y, z = prim.cast(prim.item(b, k + 2), dtype), prim.cast(prim.item(b, k + 3), dtype)
        for i in range(a.shape[0]):
            s = _add(prim.item(out, i), _times(prim.cast(prim.item(a, i, k), dtype), w))
            s = _add(s, _times(prim.cast(prim.item(a, i, k + 1), dtype), x))
            s = _add(s, _times(prim.cast(prim.item(a, i, k + 2), dtype), y))
            prim.set_item(out, i, _add(s, _times(prim.cast(prim.item(a, i, k + 3), dtype), z)))
    for k in range(first, a.shape[1]):
        x = prim.cast(prim.item(b, k), dtype)
        for i in range(a.shape[0]):
            prim.set_item(out, i, _add(prim.item(out, i), _times(prim.cast(prim.item(a, i, k), dtype), x)))
    return out


def _matrix_matrix(a, b, dtype):
    if prim.is_float(dtype) and prim.itemsize(dtype) == 2:
        return asarray(_matrix_matrix(a, b, np.float32), dtype)
    if prim.in_kernel() or not (prim.is_float(dtype) or prim.is_complex(dtype)):
        return _plain_product(a, contiguous(b), dtype)
    out = new_array((a.shape[0], b.shape[1]), dtype)
    _large_product(asarray(a, dtype), asarray(b, dtype), out, dtype)
    return out


def _large_product(x, y, out, dtype):
    m, n, k = x.shape[0], y.shape[1], x.shape[1]
    s, t, u = x.strides, y.strides, out.strides
    prim.lh_gemm(dtype, m, n, k, prim.data(x), s[0], s[1], prim.data(y), t[0], t[1], prim.data(out), u[0], u[1])


# Below so many multiplications, a call of the kernel takes longer than these loops.
_SMALL = 1000


def _small_product(x, y, out, dtype):
    # Four columns at a time: their sums are a vector.
    zero, whole = prim.cast(0, dtype), y.shape[1] // 4 * 4
    for i in range(x.shape[0]):
        for j in range(0, whole, 4):
            s = t = u = v = zero
            for k in range(y.shape[0]):
                a = prim.item(x, i, k)
                s, t = s + a * prim.item(y, k, j), t + a * prim.item(y, k, j + 1)
                u, v = u + a * prim.item(y, k, j + 2), v + a * prim.item(y, k, j + 3)
            prim.set_item(out, i, j, s)
            prim.set_item(out, i, j + 1, t)
            prim.set_item(out, i, j + 2, u)
            prim.set_item(out, i, j + 3, v)
        for j in range(whole, y.shape[1]):
            s = zero
            for k in range(y.shape[0]):
                s += prim.item(x, i, k) * prim.item(y, k, j)
            prim.set_item(out, i, j, s)


def _plain_product(a, b, dtype):
    out = new_zeros((a.shape[0], b.shape[1]), dtype)
    for i in range(a.shape[0]):
        for k in range(b.shape[0]):
            x = prim.cast(prim.item(a, i, k), dtype)
            for j in range(b.shape[1]):
                prim.set_item(out, i, j, _add(prim.item(out, i, j), _times(x, prim.cast(prim.item(b, k, j), dtype))))
    return out


def dot(a, b, out=None):
    """Dot product of vectors, product of matrices; of more dimensions, over the last of the first array and the one
    before the last of the second.

    >>> np.dot(np.array([1, 2]), np.array([3, 4]))
    np.int64(11)
    >>> np.dot(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    array([3, 7])
    """
    if out is None:
        return _dot(asarray(a), asarray(b))
    result = _dot(asarray(a), asarray(b))
    if prim.is_array(out):
        if prim.dtype_of(out) != prim.dtype_of(result) or prim.layout(out) != "C":
            prim.error(
                "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
            )
    return deliver(result, out)


def _dot(x, y):
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    j = 0 if y.ndim == 1 else y.ndim - 2
    if x.shape[x.ndim - 1] != y.shape[j]:
        _mismatch(x, y, x.ndim - 1, j)
    if x.ndim > 2 or y.ndim > 2:
        return np.tensordot(x, y, ((x.ndim - 1,), (j,)))
    return _matrix_product(x, y, prim.result_type(prim.dtype_of(x), prim.dtype_of(y)))


def _matrix_product(x, y, dtype):
    if x.ndim == 1 and y.ndim == 1:
        return _product_line(x, y, dtype)
    if y.ndim == 1:
        return _matrix_vector(x, y, dtype)
    if x.ndim == 1:
        return _matrix_vector(y.T, x, dtype)
    return _matrix_matrix(x, y, dtype)


def matmul(a, b, /, out=None, *, casting="same_kind", order="K", dtype=None, axes=None):
    """Matrix product; of more dimensions, of the last two for each of the others.

    >>> np.matmul(np.array([[1, 2], [3, 4]]), np.array([[1, 0], [1, 1]]))
    array([[3, 2],
           [7, 4]])
    >>> np.matmul(np.ones((2, 1, 2)), np.array([1.0, 2.0]))
    array([[3.],
           [3.]])
    """
    if prim.is_user(a) and prim.has_method(a, "__matmul__"):
        return a.__matmul__(b)
    if prim.is_user(b) and prim.has_method(b, "__rmatmul__"):
        return b.__rmatmul__(a)
    if dtype is not None or casting != "same_kind":
        x, y = in_which(asarray(a), asarray(b), dtype, casting)
        return matmul(x, y, out, order=order, axes=axes)
    if axes is not None:
        x, y = asarray(a), asarray(b)
        entries = checked_axes(axes, True)
        product = asarray(_matmul(_with_matrices_last(x, entries[0]), _with_matrices_last(y, entries[1])))
        last = (-2, -1)[(x.ndim < 2) + (y.ndim < 2) :]
        return _given(moved_back(product, entries[2], last)[()], x, y, out, casting, order)
    return _given(_matmul(asarray(a), asarray(b)), asarray(a), asarray(b), out, casting, order)


def _with_matrices_last(x, entry):
    if x.ndim == 1:
        return moved_last(x, entry, (-1,))
    return moved_last(x, entry, (-2, -1))


def _given(made, x, y, out, casting, order):
    product = in_order(made, x, y, order)
    if out is None:
        return product
    check_out(out, prim.dtype_of(product), casting)
    return deliver(product, out)


def in_which(x, y, dtype, casting):
    """Operands as the type in which their product is computed, if the rule allows it."""
    dt = dtype_or(dtype, prim.result_type(prim.dtype_of(x), prim.dtype_of(y)))
    check_cast(prim.dtype_of(x), dt, casting)
    check_cast(prim.dtype_of(y), dt, casting)
    return asarray(x, dt), asarray(y, dt)


def _matmul(x, y):
    if x.ndim == 0 or y.ndim == 0:
        prim.error("`@` needs arrays of at least one dimension")
    dtype = prim.result_type(prim.dtype_of(x), prim.dtype_of(y))
    j = y.ndim - 2 if y.ndim > 1 else 0
    if x.shape[x.ndim - 1] != y.shape[j]:
        raise ValueError(
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            "(n?,k),(k,m?)->(n?,m?) (size " + str(y.shape[j]) + " is different from " + str(x.shape[x.ndim - 1]) + ")"
        )
    if x.ndim <= 2 and y.ndim <= 2:
        return _matrix_product(x, y, dtype)
    if x.ndim == 1:
        products = _stacked(x[None, :], y, dtype)
        return with_shape(products, y.shape[:-2] + (y.shape[-1],))
    if y.ndim == 1:
        products = _stacked(x, y[:, None], dtype)
        return with_shape(products, x.shape[:-1])
    return _stacked(x, y, dtype)


def _stacked(x, y, dtype):
    rows, columns = x.shape[-2], y.shape[-1]
    if y.ndim == 2:
        # One matrix for all: the rows of all are those of one.
        c = contiguous(x)
        lines = with_shape(c, (count(x.shape[:-1]), x.shape[-1]))
        return with_shape(_matrix_matrix(lines, y, dtype), x.shape[:-1] + (columns,))
    if prim.is_float(dtype) and prim.itemsize(dtype) == 2:
        return asarray(_stacked(x, y, np.float32), dtype)
    shape = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    first, second = _stack(asarray(x, dtype), shape), _stack(asarray(y, dtype), shape)
    out = new_array((count(shape), rows, columns), dtype)
    # One matrix goes with all of the other stack.
    i, j = int(first.shape[0] > 1), int(second.shape[0] > 1)
    if prim.in_kernel() or not (prim.is_float(dtype) or prim.is_complex(dtype)):
        for k in range(out.shape[0]):
            out[k] = _plain_product(first[i * k], second[j * k], dtype)
    elif rows * columns * x.shape[-1] < _SMALL:
        for k in range(out.shape[0]):
            _small_product(first[i * k], second[j * k], out[k], dtype)
    else:
        for k in range(out.shape[0]):
            _large_product(first[i * k], second[j * k], out[k], dtype)
    return with_shape(out, shape + (rows, columns))


def _stack(x, shape):
    if x.ndim == 2:
        return with_shape(contiguous(x), (1,) + x.shape)
    # Of one axis, a stack of one matrix need not be spread out.
    return matrices(x if len(shape) == 1 else np.broadcast_to(x, shape + x.shape[-2:]))


def vdot(a, b):
    """Dot product of all elements, the first conjugated.

    >>> np.vdot(np.array([1j, 2]), np.array([1j, 1]))
    np.complex128(3+0j)
    """
    x, y = flat(asarray(a)), flat(asarray(b))
    if x.size != y.size:
        raise ValueError("cannot reshape array")
    if prim.is_complex(prim.dtype_of(x)):
        if prim.in_kernel():
            return dot(x.conj(), y)
        return _complex_line(x, y, prim.result_type(prim.dtype_of(x), prim.dtype_of(y)), True)
    return dot(x, y)


def inner(a, b, /):
    """Products of the last axes.

    >>> np.inner(np.array([1, 2]), np.array([3, 4]))
    np.int64(11)
    """
    x, y = asarray(a), asarray(b)
    if x.ndim > 2 or y.ndim > 2:
        if x.ndim == 0 or y.ndim == 0:
            return x * y
        if x.shape[x.ndim - 1] != y.shape[y.ndim - 1]:
            _mismatch(x, y, x.ndim - 1, y.ndim - 1)
        return np.tensordot(x, y, ((x.ndim - 1,), (y.ndim - 1,)))
    return dot(x, y.T) if y.ndim == 2 and x.ndim > 0 else dot(x, y)


def products(x, y):
    """All products of pairs of two lines."""
    return prim.map(_times, with_shape(x, (x.size, 1)), y)


def kron(a, b):
    """Kronecker product: every element of one array times the whole other one.

    >>> np.kron(np.array([[1, 2]]), np.array([[1], [1]]))
    array([[1, 2],
           [1, 2]])
    """
    x, y = asarray(a), asarray(b)
    if x.ndim == 0 or y.ndim == 0:
        return prim.map(_times, x, y)
    if x.ndim < y.ndim:
        return _kron(x[(None,) * (y.ndim - x.ndim)], y)
    if y.ndim < x.ndim:
        return _kron(x, y[(None,) * (x.ndim - y.ndim)])
    return _kron(x, y)


def _kron(x, y):
    # Axes of both in turn, so that the products lie as in the result.
    ones, zeros = prim.tuple_fill(x.ndim, 1), prim.tuple_fill(x.ndim, 0)
    shape, strides = _in_turn(x.shape, ones), _in_turn(x.strides, zeros)
    first = prim.array(prim.owner(x), prim.data(x), shape, strides, prim.dtype_of(x), "A")
    shape, strides = _in_turn(ones, y.shape), _in_turn(zeros, y.strides)
    second = prim.array(prim.owner(y), prim.data(y), shape, strides, prim.dtype_of(y), "A")
    return with_shape(contiguous(prim.map(_times, first, second)), _times_each(x.shape, y.shape))


def _in_turn(a, b):
    return (a[0], b[0]) + _in_turn(a[1:], b[1:]) if len(a) > 0 else ()


def _times_each(a, b):
    return (a[0] * b[0],) + _times_each(a[1:], b[1:]) if len(a) > 0 else ()
