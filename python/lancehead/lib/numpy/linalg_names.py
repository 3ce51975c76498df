"""Functions of `numpy.linalg` that `numpy` has under the same names, with other parameters."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of, integer_of
from lancehead.lib.numpy.creation import asarray, line_of
from lancehead.lib.numpy.layout import contiguous
from lancehead.lib.numpy.products import products


def matmul(x1, x2, /):
    """Matrix product; of more dimensions, of the last two for each of the others.

    >>> np.linalg.matmul(np.array([[1, 2], [3, 4]]), np.array([[1, 0], [1, 1]]))
    array([[3, 2],
           [7, 4]])
    """
    return np.matmul(x1, x2)


def outer(x1, x2, /):
    """All products of pairs of two vectors.

    >>> np.linalg.outer(np.array([1, 2]), np.array([3, 4]))
    array([[3, 4],
           [6, 8]])
    """
    return products(contiguous(line_of(x1)), contiguous(line_of(x2)))


def cross(x1, x2, /, *, axis=-1):
    """Cross products of vectors of three components along an axis.

    >>> np.linalg.cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
    array([0, 0, 1])
    """
    x, y = asarray(x1), asarray(x2)
    if x.ndim == 0 or y.ndim == 0:
        prim.error("`cross` takes arrays of at least one dimension")
    k = integer_of(axis)
    if k < -x.ndim or k >= x.ndim or k < -y.ndim or k >= y.ndim:
        raise IndexError("tuple index out of range")
    p, q = x.shape[k if k >= 0 else k + x.ndim], y.shape[k if k >= 0 else k + y.ndim]
    if p != 3 or q != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are " + str(p) + " and " + str(q)
            + " dimensional instead."
        )  # fmt: skip
    return np.cross(x, y, axis=k)


def vecdot(x1, x2, /, *, axis=-1):
    """Dot products of vectors along an axis, those of the first operand conjugated.

    >>> np.linalg.vecdot(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    array([3, 7])
    """
    return np.vecdot(x1, x2, axis=index_of(axis))


def tensordot(x1, x2, /, *, axes=2):
    """Sum of products over the last axes of one array and the first of another, or over pairs of axes.

    >>> np.linalg.tensordot(np.array([[1, 2], [3, 4]]), np.array([[1, 0], [1, 1]]), axes=1)
    array([[3, 2],
           [7, 4]])
    """
    return np.tensordot(x1, x2, axes)


def diagonal(x, /, *, offset=0):
    """A diagonal of a matrix, or of each in a stack, as a view.

    >>> np.linalg.diagonal(np.array([[[1, 2], [3, 4]]]))
    array([[1, 4]])
    """
    return np.diagonal(x, offset, -2, -1)


def trace(x, /, *, offset=0, dtype=None):
    """Sum of a diagonal of a matrix, or of each in a stack.

    >>> np.linalg.trace(np.array([[[1, 2], [3, 4]]]))
    array([5])
    """
    return np.trace(x, offset, -2, -1, dtype)
