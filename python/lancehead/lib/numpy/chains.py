"""Products of several matrices, powers, and systems of equations over several axes."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.folds import deliver
from lancehead.lib.numpy.layout import contiguous, copy_c, count, new_array, new_zeros, with_shape
from lancehead.lib.numpy.stacks import check_square, matrices


def multi_dot(arrays, *, out=None):
    """Product of two or more matrices, in the order that takes the fewest operations; the first and the last may be
    vectors.

    >>> np.linalg.multi_dot((np.array([[1, 2], [3, 4]]), np.array([[1, 0], [1, 1]]), np.array([1, 2])))
    array([ 7, 15])
    """
    n = len(arrays)
    if n < 2:
        raise ValueError("Expecting at least two arrays.")
    if prim.is_tuple(arrays):
        first, last = asarray(arrays[0]), asarray(arrays[len(arrays) - 1])
        dtype = _common(arrays)
        if len(arrays) == 2:
            return deliver(np.dot(first, last), out)
        parts = [_matrix(first, dtype, True)]
        _append(parts, arrays[1:-1], dtype)
        parts.append(_matrix(last, dtype, False))
        return deliver(_without(_chain(parts), first, last), out)
    if prim.example(arrays).ndim != 2:
        prim.error("the items of a list are matrices: give a tuple of arrays of several ranks")
    same = [_matrix(a, prim.dtype_of(a), True) for a in arrays]
    return deliver(_chain(same), out)


def _common(arrays):
    dtype = prim.dtype_of(asarray(arrays[0]))
    for a in arrays[1:]:
        dtype = prim.result_type(dtype, prim.dtype_of(asarray(a)))
    return dtype


def _append(parts, arrays, dtype):
    for a in arrays:
        x = asarray(a)
        if x.ndim != 2:
            prim.error("only the first and the last of several arrays may be vectors; the others are matrices")
        parts.append(_matrix(x, dtype, True))


def _matrix(a, dtype, as_row):
    x = contiguous(asarray(a, dtype))
    if x.ndim == 2:
        return x
    if x.ndim != 1:
        prim.error("the first and the last of several arrays are vectors or matrices")
    return with_shape(x, (1, x.size) if as_row else (x.size, 1))


def _without(product, first, last):
    # The axes that vectors have been given are taken away again.
    if first.ndim == 1 and last.ndim == 1:
        return product[0, 0]
    if first.ndim == 1 or last.ndim == 1:
        return with_shape(product, (product.size,))
    return product


def _chain(parts):
    if len(parts) == 2:
        return np.dot(parts[0], parts[1])
    if len(parts) == 3:
        a0, b0 = parts[0].shape
        c0, c1 = parts[2].shape
        if a0 * c0 * (b0 + c1) < b0 * c1 * (a0 + c0):
            return np.dot(np.dot(parts[0], parts[1]), parts[2])
        return np.dot(parts[0], np.dot(parts[1], parts[2]))
    return _ordered(parts, _split_places(parts), 0, len(parts) - 1)


def _ordered(parts, places, i, j):
    if i == j:
        return parts[i]
    k = prim.item(places, i, j)
    return np.dot(_ordered(parts, places, i, k), _ordered(parts, places, k + 1, j))


def _split_places(parts):
    # Where to split the product from `i` to `j`: the order with the fewest operations, by dynamic programming.
    n = len(parts)
    p = new_array((n + 1,), np.float64)
    for i in range(n):
        prim.set_item(p, i, float(parts[i].shape[0]))
    prim.set_item(p, n, float(parts[n - 1].shape[1]))
    cost, places = new_zeros((n, n), np.float64), new_zeros((n, n), np.int64)
    for width in range(1, n):
        for i in range(n - width):
            j = i + width
            prim.set_item(cost, i, j, np.inf)
            for k in range(i, j):
                q = prim.item(cost, i, k) + prim.item(cost, k + 1, j)
                q += prim.item(p, i) * prim.item(p, k + 1) * prim.item(p, j + 1)
                if q < prim.item(cost, i, j):
                    prim.set_item(cost, i, j, q)
                    prim.set_item(places, i, j, k)
    return places


def matrix_power(a, n):
    """Power of a square matrix, or of each in a stack; negative ones are powers of the inverse.

    >>> np.linalg.matrix_power(np.array([[1, 1], [1, 0]]), 5)
    array([[8, 5],
           [5, 3]])
    >>> np.linalg.matrix_power(np.array([[2.0, 0.0], [0.0, 4.0]]), -1)
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    x = asarray(a)
    check_square(x)
    exponent = index_of(n)
    m = matrices(x)
    out = new_array(m.shape, prim.dtype_of(x))
    for k in range(m.shape[0]):
        out[k] = _power(_base(m[k], exponent < 0), exponent if exponent >= 0 else -exponent)
    return with_shape(out, x.shape)


def _base(a, inverted):
    if prim.is_float(prim.dtype_of(a)) or prim.is_complex(prim.dtype_of(a)):
        return contiguous(np.linalg.inv(a)) if inverted else copy_c(a, prim.dtype_of(a))
    if inverted:
        raise ValueError("negative powers are of floats: convert the matrix, `a.astype(np.float64)`")
    return copy_c(a, prim.dtype_of(a))


def _power(base, left):
    if left == 3:
        # As NumPy, whose last bits depend on the order.
        return contiguous(np.dot(np.dot(base, base), base))
    out = copy_c(np.eye(base.shape[0], dtype=prim.dtype_of(base)), prim.dtype_of(base))
    is_one = True
    while left > 0:
        if (left & 1) == 1:
            out = base if is_one else contiguous(np.dot(out, base))
            is_one = False
        left = left >> 1
        if left > 0:
            base = contiguous(np.dot(base, base))
    return out


def _moved_last(ndim, axes, order):
    # The axes in order, those given behind all others.
    for k in axes:
        at = -1
        for i in range(len(order)):
            if order[i] == k:
                at = i
        if at < 0:
            raise ValueError("list.remove(x): x not in list")
        order = prim.tuple_insert(prim.tuple_drop(order, at), ndim - 1, index_of(k))
    return order


def _numbered(shape):
    for k in range(len(shape)):
        shape = prim.tuple_set(shape, k, k)
    return shape


def tensorsolve(a, b, axes=None):
    """The tensor of which the product with another, over all its axes, is given.

    >>> np.linalg.tensorsolve(np.array([[[2.0, 0.0]], [[0.0, 4.0]]]).reshape(2, 1, 2), np.array([[2.0], [4.0]]))
    array([1., 1.])
    """
    x, y = asarray(a), asarray(b)
    if axes is not None:
        t = np.transpose(x, _moved_last(x.ndim, axes, _numbered(x.shape)))
        return _tensorsolve(t, y)
    return _tensorsolve(x, y)


def _tensorsolve(x, y):
    shape = x.shape[y.ndim - x.ndim :] if x.ndim > y.ndim else x.shape
    size = count(shape)
    if x.size != size * size:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    solution = np.linalg.solve(with_shape(contiguous(x), (size, size)), np.ravel(y))
    return with_shape(contiguous(solution), shape)


def tensorinv(a, ind=2):
    """The inverse of a tensor as a matrix whose rows are its first axes, `ind` of them.

    >>> np.linalg.tensorinv(np.array([[2.0, 0.0], [0.0, 4.0]]), 1)
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    x = asarray(a)
    if x.ndim == 0:
        prim.error("`tensorinv` takes arrays of at least one dimension")
    n = index_of(ind)
    if n <= 0:
        raise ValueError("Invalid ind argument.")
    columns, shape = 1, x.shape
    turned = n if n < x.ndim else x.ndim
    for k in range(x.ndim):
        if k >= turned:
            columns *= x.shape[k]
        shape = prim.tuple_set(shape, k, x.shape[(k + turned) % x.ndim])
    inverse = np.linalg.inv(x.reshape((columns, -1)))
    return with_shape(contiguous(inverse), shape)
