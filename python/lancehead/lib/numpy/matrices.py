"""Matrices of a given form: identity, diagonals, triangles."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import check_device, flag_of, index_of, integer_of
from lancehead.lib.numpy.creation import asarray, line_of, zeros
from lancehead.lib.numpy.folds import deliver
from lancehead.lib.numpy.layout import contiguous, flat, new_array
from lancehead.lib.numpy.products import products


def eye(N, M=None, k=0, dtype=None, order="C", *, device=None):
    """Ones on a diagonal.

    >>> np.eye(2)
    array([[1., 0.],
           [0., 1.]])
    >>> np.eye(2, 3, k=1, dtype=np.int64)
    array([[0, 1, 0],
           [0, 0, 1]])
    """
    if device is not None:
        check_device(device)
    rows = integer_of(N)
    cols = rows if M is None else integer_of(M)
    out = zeros((rows, cols), dtype, order)
    shift = index_of(k)
    for i in range(rows):
        if i + shift >= 0 and i + shift < cols:
            prim.set_item(out, i, i + shift, prim.cast(1, prim.dtype_of(out)))
    return out


def identity(n, dtype=None):
    """The identity matrix.

    >>> np.identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return eye(integer_of(n), None, 0, dtype)


def tri(N, M=None, k=0, dtype=None):
    """Ones on and below a diagonal.

    >>> np.tri(2, 3)
    array([[1., 0., 0.],
           [1., 1., 0.]])
    """
    rows = max(index_of(N), 0)
    cols = rows if M is None else max(index_of(M), 0)
    out = zeros((rows, cols), dtype)
    for i in range(rows):
        for j in range(_columns_below(i, index_of(k), cols)):
            prim.set_item(out, i, j, prim.cast(1, prim.dtype_of(out)))
    return out


def diag(v, k=0):
    """A diagonal of a matrix, or a matrix with this diagonal.

    >>> np.diag(np.array([1, 2]))
    array([[1, 0],
           [0, 2]])
    >>> np.diag(np.array([[1, 2], [3, 4]]))
    array([1, 4])
    """
    x = asarray(v)
    if x.ndim == 2:
        return x.diagonal(k)
    if x.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    shift = index_of(k)
    down = -shift if shift < 0 else 0
    n = x.size + (shift if shift > 0 else -shift)
    out = zeros((n, n), prim.dtype_of(x))
    for i in range(x.size):
        prim.set_item(out, i + down, i + down + shift, prim.item(x, i))
    return out


def diagflat(v, k=0):
    """A matrix with these numbers on a diagonal.

    >>> np.diagflat(np.array([[1, 2]]))
    array([[1, 0],
           [0, 2]])
    """
    return diag(asarray(v).ravel(), k)


def triu(m, k=0):
    """The part on and above a diagonal.

    >>> np.triu(np.ones((2, 2)))
    array([[1., 1.],
           [0., 1.]])
    """
    return _triangle(m, index_of(k), True)


def tril(m, k=0):
    """The part on and below a diagonal.

    >>> np.tril(np.ones((2, 2)))
    array([[1., 0.],
           [1., 1.]])
    """
    return _triangle(m, index_of(k), False)


def _triangle(m, k, upper):
    x = asarray(m)
    if x.ndim == 1:
        return _triangle(np.broadcast_to(x, (x.size, x.size)), k, upper)
    if x.ndim > 2:
        parts = zeros(x.shape, prim.dtype_of(x))
        for i in range(x.shape[0]):
            parts[i] = _triangle(x[i], k, upper)
        return parts
    if x.ndim == 0:
        prim.error("triangles are taken of one dimension or more")
    out = zeros(x.shape, prim.dtype_of(x))
    rows, cols = x.shape
    for i in range(rows):
        middle = i + k if upper else i + k + 1
        middle = max(min(middle, cols), 0)
        for j in range(middle if upper else 0, cols if upper else middle):
            prim.set_item(out, i, j, prim.item(x, i, j))
    return out


def vander(x, N=None, increasing=False):
    """Powers of numbers, a row for each.

    >>> np.vander(np.array([1, 2, 3]), 2)
    array([[1, 1],
           [2, 1],
           [3, 1]])
    """
    v, is_increasing = line_of(x), flag_of(increasing)
    cols = v.size if N is None else index_of(N)
    out = new_array((v.size, cols), prim.result_type(np.int64, prim.dtype_of(v)))
    for i in range(v.size):
        power = prim.cast(1, prim.dtype_of(out))
        for j in range(cols):
            prim.set_item(out, i, j if is_increasing else cols - 1 - j, power)
            power = power * prim.cast(prim.item(v, i), prim.dtype_of(out))
    return out


def tril_indices(n, k=0, m=None):
    """Indices of the part on and below a diagonal.

    >>> np.tril_indices(2)
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    rows = max(index_of(n), 0)
    cols = rows if m is None else max(index_of(m), 0)
    shift = index_of(k)
    count = 0
    for i in range(rows):
        count += _columns_below(i, shift, cols)
    at_row, at_column = new_array((count,), np.int64), new_array((count,), np.int64)
    first = 0
    for i in range(rows):
        width = _columns_below(i, shift, cols)
        for j in range(width):
            prim.set_item(at_row, first + j, i)
            prim.set_item(at_column, first + j, j)
        first += width
    return at_row, at_column


def _columns_below(row, shift, cols):
    # How many elements of a row are on and below a diagonal.
    return max(min(row + shift + 1, cols), 0)


def triu_indices(n, k=0, m=None):
    """Indices of the part on and above a diagonal.

    >>> np.triu_indices(2)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    rows = max(index_of(n), 0)
    cols = rows if m is None else max(index_of(m), 0)
    shift = index_of(k) - 1
    count = 0
    for i in range(rows):
        count += cols - _columns_below(i, shift, cols)
    at_row, at_column = new_array((count,), np.int64), new_array((count,), np.int64)
    first = 0
    for i in range(rows):
        left = _columns_below(i, shift, cols)
        for j in range(cols - left):
            prim.set_item(at_row, first + j, i)
            prim.set_item(at_column, first + j, left + j)
        first += cols - left
    return at_row, at_column


def tril_indices_from(arr, k=0):
    """Indices of the part of a matrix on and below a diagonal."""
    if arr.ndim != 2:
        prim.error("input array must be 2-d")
    return tril_indices(arr.shape[0], k, arr.shape[1])


def triu_indices_from(arr, k=0):
    """Indices of the part of a matrix on and above a diagonal."""
    if arr.ndim != 2:
        prim.error("input array must be 2-d")
    return triu_indices(arr.shape[0], k, arr.shape[1])


def outer(a, b, out=None):
    """All products of pairs of elements.

    >>> np.outer(np.array([1, 2]), np.array([3, 4]))
    array([[3, 4],
           [6, 8]])
    """
    return deliver(products(flat(contiguous(asarray(a))), flat(contiguous(asarray(b)))), out)
