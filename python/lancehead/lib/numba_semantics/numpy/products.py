"""Products of vectors and matrices as Numba has them: which arrays they take, and their texts of errors."""

from lancehead.lib import prim
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.matrices import outer as numpys_outer
from lancehead.lib.numpy.products import dot as numpys_dot
from lancehead.lib.numpy.products import kron as numpys_kron
from lancehead.lib.numpy.products import matmul as numpys_matmul
from lancehead.lib.numpy.products import vdot as numpys_vdot
from lancehead.lib.numpy.vectors import trace as numpys_trace


def _check(a, b, text, name):
    # Which arrays Numba multiplies.
    x, y = asarray(a), asarray(b)
    if x.ndim > 0 and y.ndim > 0 and prim.dtype_of(x) != prim.dtype_of(y):
        prim.error(name + " arguments must all have the same dtype")
    if 1 <= x.ndim <= 2 and 1 <= y.ndim <= 2:
        if x.shape[-1] != y.shape[y.ndim - 2 if y.ndim == 2 else 0]:
            raise ValueError("incompatible array sizes for " + text)


def dot(a, b, out=None):
    """Product of vectors and matrices."""
    _check(a, b, "np.dot(a, b)", "np.dot()")
    return numpys_dot(a, b, out)


def matmul(a, b, /, out=None):
    """Product of vectors and matrices."""
    _check(a, b, "'@'", "'@'")
    return numpys_matmul(a, b, out)


def vdot(a, b):
    """Product of vectors, the first conjugated."""
    _check(a, b, "np.vdot(a, b)", "np.vdot()")
    return numpys_vdot(a, b)


def _check_flat(a, name):
    if prim.is_array(a):
        if a.ndim > 2:
            prim.error("np.linalg." + name + "() only supported on 1 and 2-D arrays")


def kron(a, b):
    """Kronecker product of vectors and matrices."""
    _check_flat(a, "kron")
    _check_flat(b, "kron")
    if prim.layout(asarray(a)) == "A" or prim.layout(asarray(b)) == "A":
        prim.error("np.linalg.kron() only supports 'C' or 'F' layout of arrays")
    return numpys_kron(a, b)


def outer(a, b, out=None):
    """All products of pairs of elements of vectors and matrices."""
    _check_flat(a, "outer")
    _check_flat(b, "outer")
    return numpys_outer(a, b, out)


def trace(a, offset=0):
    """Sum of a diagonal of a matrix."""
    if asarray(a).ndim != 2:
        prim.error("np.trace() only supported on 2-D arrays")
    return numpys_trace(a, offset)
