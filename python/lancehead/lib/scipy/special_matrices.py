"""Matrices of `scipy.linalg` that a few numbers determine."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import new_array, new_zeros, with_shape
from lancehead.lib.numpy.stacks import conj, matrices, vectors


def _line(x):
    # A number counts as a line of one.
    a = asarray(x)
    return with_shape(a, (1,)) if a.ndim == 0 else a


def _single(a):
    if a.ndim != 1:
        prim.error("this function takes vectors here: call it in a loop over the stack")
    return a


def toeplitz(c, r=None):
    """Matrix with constant diagonals, of its first column and first row; by default the row is the conjugate column.

    >>> scipy.linalg.toeplitz(np.array([1, 2]), np.array([1, 3, 4]))
    array([[1, 3, 4],
           [2, 1, 3]])
    """
    column = _single(_line(c))
    if prim.is_record(prim.dtype_of(column)):
        prim.error("a matrix of numbers is made of numbers")
    row = column if r is None else _single(_line(r))
    out = new_array((column.size, row.size), prim.result_type(prim.dtype_of(column), prim.dtype_of(row)))
    for i in range(column.size):
        for j in range(row.size):
            if i >= j:
                x = prim.item(column, i - j)
                prim.set_item(out, i, j, prim.cast(x, prim.dtype_of(out)))
            else:
                y = prim.item(row, j - i)
                prim.set_item(out, i, j, prim.cast(conj(y) if r is None else y, prim.dtype_of(out)))
    return out


def hankel(c, r=None):
    """Matrix with constant antidiagonals, of its first column and last row, which by default has zeros.

    >>> scipy.linalg.hankel(np.array([1, 2]), np.array([7, 3, 4]))
    array([[1, 2, 3],
           [2, 3, 4]])
    """
    column = _single(asarray(c))
    row = new_zeros(column.shape, prim.dtype_of(column)) if r is None else _single(asarray(r))
    out = new_array((column.size, row.size), prim.result_type(prim.dtype_of(column), prim.dtype_of(row)))
    for i in range(column.size):
        for j in range(row.size):
            if i + j < column.size:
                prim.set_item(out, i, j, prim.cast(prim.item(column, i + j), prim.dtype_of(out)))
            else:
                prim.set_item(out, i, j, prim.cast(prim.item(row, i + j - column.size + 1), prim.dtype_of(out)))
    return out


def circulant(c):
    """Matrix of which each column is the one before, turned by one place; of a stack of first columns, a stack.

    >>> scipy.linalg.circulant(np.array([1, 2, 3]))
    array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]])
    """
    columns = _line(c)
    n = columns.shape[columns.ndim - 1]
    out = new_array(columns.shape[:-1] + (n, n), prim.dtype_of(columns))
    outs, lines = matrices(out), vectors(columns)
    for k in range(outs.shape[0]):
        for i in range(n):
            for j in range(n):
                prim.set_item(outs, k, i, j, prim.item(lines, k, i - j if i >= j else i - j + n))
    return out


def companion(a):
    """Companion matrix of a polynomial, whose coefficients begin with that of the highest power; or a stack of them.

    >>> scipy.linalg.companion(np.array([1, -10, 31, -30]))
    array([[ 10., -31.,  30.],
           [  1.,   0.,   0.],
           [  0.,   1.,   0.]])
    """
    x = _line(a)
    n = x.shape[x.ndim - 1]
    if n < 2:
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    dtype = prim.dtype_of(x)
    real = prim.is_float(dtype) or prim.is_complex(dtype)
    out = new_zeros(x.shape[:-1] + (n - 1, n - 1), dtype if real else np.float64)
    outs, lines = matrices(out), vectors(x)
    own = prim.dtype_of(out)
    for k in range(outs.shape[0]):
        first = prim.item(lines, k, 0)
        if first == prim.cast(0, dtype):
            raise ValueError(
                "The first coefficient(s) of `a` (i.e. elements of `a[..., 0]`) must not be zero."
            )  # fmt: skip
        for j in range(n - 1):
            # Integers are negated in their own type.
            prim.set_item(outs, k, 0, j, prim.cast(-prim.item(lines, k, j + 1), own) / prim.cast(first, own))
        for j in range(n - 2):
            prim.set_item(outs, k, j + 1, j, prim.cast(1, own))
    return out


def hilbert(n):
    """Hilbert matrix: the reciprocals of 1, 2, 3 and so on along antidiagonals.

    >>> scipy.linalg.hilbert(2)
    array([[1.        , 0.5       ],
           [0.5       , 0.33333333]])
    """
    size = index_of(n)
    out = new_array((size if size > 0 else 0, size if size > 0 else 0), np.float64)
    for i in range(size):
        for j in range(size):
            prim.set_item(out, i, j, 1.0 / prim.cast(i + j + 1, np.float64))
    return out


def _block(x):
    a = asarray(x)
    if a.ndim > 2:
        prim.error("`block_diag` takes matrices here: call it in a loop over the stack")
    if a.ndim == 2:
        return a
    return a[None, None] if a.ndim == 0 else a[None]


def _extents(blocks):
    if len(blocks) == 0:
        return 0, 0
    a = _block(blocks[0])
    rows, columns = _extents(blocks[1:])
    return rows + a.shape[0], columns + a.shape[1]


def _type_of_blocks(blocks):
    dtype = prim.dtype_of(asarray(blocks[0]))
    return dtype if len(blocks) == 1 else prim.result_type(dtype, _type_of_blocks(blocks[1:]))


def _fill_blocks(out, blocks, i, j):
    if len(blocks) > 0:
        a = _block(blocks[0])
        out[i : i + a.shape[0], j : j + a.shape[1]] = a
        _fill_blocks(out, blocks[1:], i + a.shape[0], j + a.shape[1])


def block_diag(*arrs):
    """Matrices along the diagonal of a matrix of zeros; a vector counts as a row.

    >>> scipy.linalg.block_diag(np.array([[1, 2]]), np.array([[3], [4]]))
    array([[1, 2, 0],
           [0, 0, 3],
           [0, 0, 4]])
    """
    if len(arrs) == 0:
        return new_array((1, 0), np.float64)
    out = new_zeros(_extents(arrs), _type_of_blocks(arrs))
    _fill_blocks(out, arrs, 0, 0)
    return out
