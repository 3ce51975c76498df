"""Arrays from numbers, and of triangles and diagonals, as Numba has them."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.checks import need_array_like, need_integer, need_integers
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import as_ints
from lancehead.lib.numpy.manip import each


def tri(N, M=None, k=0, dtype=None):
    """Ones at and below a diagonal."""
    need_integer(k, "k must be an integer")
    return np.tri(N, M, k, dtype)


def tril(m, k=0):
    """A matrix without what lies above a diagonal."""
    need_integer(k, "k must be an integer")
    return np.tril(m, k)


def triu(m, k=0):
    """A matrix without what lies below a diagonal."""
    need_integer(k, "k must be an integer")
    return np.triu(m, k)


def _check_triangle(n, k, m):
    need_integer(n, "n must be an integer")
    need_integer(k, "k must be an integer")
    if m is not None:
        need_integer(m, "m must be an integer")


def tril_indices(n, k=0, m=None):
    """Indices of what lies at and below a diagonal."""
    _check_triangle(n, k, m)
    return np.tril_indices(n, k, m)


def triu_indices(n, k=0, m=None):
    """Indices of what lies at and above a diagonal."""
    _check_triangle(n, k, m)
    return np.triu_indices(n, k, m)


def tril_indices_from(arr, k=0):
    """Indices of what lies at and below a diagonal of a matrix."""
    need_integer(k, "k must be an integer")
    return np.tril_indices_from(arr, k)


def triu_indices_from(arr, k=0):
    """Indices of what lies at and above a diagonal of a matrix."""
    need_integer(k, "k must be an integer")
    return np.triu_indices_from(arr, k)


def vander(x, N=None, increasing=False):
    """Powers of numbers in rows."""
    if N is not None:
        need_integer(N, "Second argument N must be None or an integer")
    if prim.is_number(x):
        prim.error("powers are those of an array or a sequence")
    if asarray(x).ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    if N is not None and N < 0:
        raise ValueError("Negative dimensions are not allowed")
    return np.vander(x, N, increasing)


def diag(v, k=0):
    """A diagonal, or a matrix with one."""
    need_array_like(v, 'The argument "v" must be array-like')
    if asarray(v).ndim < 1 or asarray(v).ndim > 2:
        prim.error("Input must be 1- or 2-d.")
    return np.diag(v, k)


def diagflat(v, k=0):
    """A matrix with a diagonal."""
    need_array_like(v, 'The argument "v" must be array-like')
    need_integer(k, 'The argument "k" must be an integer')
    return np.diagflat(v, k)


def indices(dimensions, dtype=int, sparse=False):
    """The indices of the elements of a grid."""
    if not prim.is_tuple(dimensions):
        prim.error('The argument "dimensions" must be a tuple of integers')
    return np.indices(dimensions, dtype, sparse)


def transpose(a, axes=None):
    """A view with the axes in reverse, or in another order."""
    if prim.is_tuple(a):
        prim.error("np.transpose does not accept tuples")
    if axes is not None:
        if not prim.is_tuple(axes) or len(axes) > 0:
            need_integers(axes, "axes are integers")
        for axis in as_ints(axes) if prim.is_tuple(axes) or prim.is_int(axes) else axes:
            if axis < -asarray(a).ndim or axis >= asarray(a).ndim:
                raise ValueError("axis is out of bounds for array of given dimension")
    return np.transpose(a, axes)


def _check_shape(shape):
    if not (prim.is_int(shape) or prim.is_tuple(shape)):
        prim.error("an argument must be either an int or tuple[int]")
    if prim.is_tuple(shape) and len(shape) > 0:
        need_integers(shape, "an argument must be either an int or tuple[int]")
    for n in as_ints(shape):
        if n < 0:
            raise ValueError("negative dimensions are not allowed")


def broadcast_shapes(*args):
    """The shape that arrays of shapes have together."""
    for shape in args:
        _check_shape(shape)
    return np.broadcast_shapes(*args)


def broadcast_arrays(*args):
    """Views of arrays in one shape."""
    for array in args:
        need_array_like(array, "an argument must be array-like")
        if prim.dtype_of(asarray(array)) != prim.dtype_of(asarray(args[0])):
            prim.error("Mismatch of argument types. Numba cannot broadcast arrays with different types.")
    return np.broadcast_arrays(*each(_at_least_one, args))


def _at_least_one(x):
    return asarray(x).reshape(1) if prim.is_number(x) else asarray(x)


def _check_ends(start, stop, num):
    if not prim.is_number(start):
        prim.error('The argument "start" must be a number')
    if not prim.is_number(stop):
        prim.error('The argument "stop" must be a number')
    need_integer(num, 'The argument "num" must be an integer')


def _wide(x):
    # Ends are doubles, or complex numbers of two.
    return prim.cast(x, np.complex128 if prim.is_complex(x) else np.float64)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """Numbers evenly spaced."""
    _check_ends(start, stop, num)
    return np.linspace(_wide(start), _wide(stop), num, endpoint, retstep, dtype, axis, device=device)


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Powers of a base with evenly spaced exponents."""
    _check_ends(start, stop, num)
    return np.logspace(_wide(start), _wide(stop), num, endpoint, base, dtype, axis)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Numbers evenly spaced on a logarithmic scale."""
    _check_ends(start, stop, num)
    return np.geomspace(_wide(start), _wide(stop), num, endpoint, dtype, axis)


def hamming(M):
    """Hamming's window."""
    need_integer(M, "M must be an integer")
    return np.hamming(M)


def hanning(M):
    """Hann's window."""
    need_integer(M, "M must be an integer")
    return np.hanning(M)


def bartlett(M):
    """Bartlett's window."""
    need_integer(M, "M must be an integer")
    return np.bartlett(M)


def blackman(M):
    """Blackman's window."""
    need_integer(M, "M must be an integer")
    return np.blackman(M)


def kaiser(M, beta):
    """Kaiser's window."""
    need_integer(M, "M must be an integer")
    if not prim.is_number(beta) or prim.is_complex(beta) or prim.is_bool(beta):
        prim.error("beta must be an integer or float")
    return np.kaiser(M, beta)
