"""Stacks of matrices: arrays whose last two axes are those of matrices."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.layout import contiguous, count, new_array, with_shape


def magnitude(x):
    """The absolute value by which LAPACK chooses pivots: of a complex number the sum of those of its parts."""
    return prim.fabs(x.real) + prim.fabs(x.imag) if prim.is_complex(x) else prim.fabs(x)


def swap_rows(a, i, j):
    """Exchanges two rows of a matrix."""
    for k in range(a.shape[1]):
        x = prim.item(a, i, k)
        prim.set_item(a, i, k, prim.item(a, j, k))
        prim.set_item(a, j, k, x)


def is_triangle(a, lower):
    """Whether the elements on the other side of the diagonal are zero."""
    zero = prim.cast(0, prim.dtype_of(a))
    for i in range(a.shape[0]):
        for j in range(i):
            if prim.item(a, j if lower else i, i if lower else j) != zero:
                return False
    return True


def check_matrices(x):
    """Refuses arrays that hold no matrices."""
    if x.ndim < 2:
        prim.error("a matrix is needed: an array of at least two dimensions")


def matrices(x):
    """A stack as row-major matrices in one dimension: a view if possible."""
    check_matrices(x)
    c = contiguous(x)
    return with_shape(c, (count(x.shape[:-2]), x.shape[-2], x.shape[-1]))


def vectors(x):
    """A stack of vectors in two dimensions: a view if possible."""
    return with_shape(contiguous(x), (count(x.shape[:-1]), x.shape[-1]))


def check_square(x):
    """Refuses matrices that are not square."""
    check_matrices(x)
    if x.shape[-1] != x.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


def linalg_dtype(dtype):
    """The type in which linear algebra is done; TypeError for half precision, as in NumPy."""
    if prim.is_float(dtype) and prim.itemsize(dtype) == 2:
        raise TypeError("array type float16 is unsupported in linalg")
    if prim.is_float(dtype) or prim.is_complex(dtype):
        return dtype
    if not (prim.is_int(dtype) or prim.is_bool(dtype)):
        prim.error("linear algebra takes numbers")
    return np.float64


def real_dtype(dtype):
    """The type of absolute values of inexact numbers."""
    return prim.real_dtype(dtype) if prim.is_complex(dtype) else dtype


def conj(x):
    """The conjugate of a number, of any type."""
    return x.conjugate() if prim.is_complex(x) else x


def hermitian(a):
    """The Hermitian matrices of which these have the lower triangles."""
    check_square(a)
    m = matrices(a)
    out = new_array(m.shape, prim.dtype_of(m))
    for k in range(m.shape[0]):
        for i in range(m.shape[1]):
            for j in range(i + 1):
                x = prim.item(m, k, i, j)
                if prim.is_complex(x):
                    y = prim.complex(x.real, x.imag if i > j else x.imag - x.imag)
                    prim.set_item(out, k, i, j, y)
                    prim.set_item(out, k, j, i, y.conjugate())
                else:
                    prim.set_item(out, k, i, j, x)
                    prim.set_item(out, k, j, i, x)
    return with_shape(out, a.shape)


def is_empty_matrix(x):
    """Whether matrices have no elements."""
    return x.size == 0 and x.shape[-1] * x.shape[-2] == 0
