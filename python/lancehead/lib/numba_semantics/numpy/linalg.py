"""`numpy.linalg` as Numba has it: results in column-major order, as LAPACK leaves them, and its texts of errors."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.linalg import cholesky as numpys_cholesky
from lancehead.lib.numpy.linalg import cond as numpys_cond
from lancehead.lib.numpy.linalg import det as numpys_det
from lancehead.lib.numpy.linalg import eig as numpys_eig
from lancehead.lib.numpy.linalg import eigh as numpys_eigh
from lancehead.lib.numpy.linalg import eigvals as numpys_eigvals
from lancehead.lib.numpy.linalg import eigvalsh as numpys_eigvalsh
from lancehead.lib.numpy.linalg import inv as numpys_inv
from lancehead.lib.numpy.linalg import lstsq as numpys_lstsq
from lancehead.lib.numpy.linalg import matrix_power as numpys_power
from lancehead.lib.numpy.linalg import matrix_rank as numpys_rank
from lancehead.lib.numpy.linalg import norm as numpys_norm
from lancehead.lib.numpy.linalg import pinv as numpys_pinv
from lancehead.lib.numpy.linalg import qr as numpys_qr
from lancehead.lib.numpy.linalg import slogdet as numpys_slogdet
from lancehead.lib.numpy.linalg import solve as numpys_solve
from lancehead.lib.numpy.linalg import svd as numpys_svd


def _matrix(a, name):
    # The dimensions and elements that Numba takes.
    x = asarray(a)
    if x.ndim != 2:
        prim.error("np.linalg." + name + "() only supported on 2-D arrays")
    if not (prim.is_float(prim.dtype_of(x)) or prim.is_complex(prim.dtype_of(x))):
        prim.error("np.linalg." + name + "() only supported on float and complex arrays")
    return x


def _finite(x):
    if not np.isfinite(x).all():
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs.")
    return x


def _square(x):
    if x.shape[0] != x.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square.")
    return x


def _filled(x):
    if x.size == 0:
        raise np.linalg.LinAlgError("Arrays cannot be empty")
    return x


def _columns(x):
    return np.asfortranarray(x) if x.ndim == 2 else x


def _right_side(b, name):
    # What stands beside a matrix: a vector or a matrix.
    y = asarray(b)
    if y.ndim != 1 and y.ndim != 2:
        prim.error("np.linalg." + name + "() only supported on 1 and 2-D arrays")
    return y


def inv(a):
    """The inverse of a matrix."""
    x = _finite(_square(_matrix(a, "inv")))
    try:
        return _columns(numpys_inv(x))
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError("Matrix is singular to machine precision.")


def solve(a, b):
    """The solution of a system of linear equations."""
    x, y = _finite(_square(_matrix(a, "solve"))), _finite(_right_side(b, "solve"))
    if x.shape[0] != y.shape[0]:
        raise np.linalg.LinAlgError("Incompatible array sizes, system is not dimensionally valid.")
    try:
        return _columns(numpys_solve(x, y))
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError("Matrix is singular to machine precision.")


def cholesky(a, /, *, upper=False):
    """The triangular factor of a positive definite matrix."""
    x = _square(_matrix(a, "cholesky"))
    try:
        return numpys_cholesky(x, upper=upper)
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError("Matrix is not positive definite.")


def det(a):
    """The determinant of a matrix."""
    return numpys_det(_finite(_square(_matrix(a, "det"))))


def slogdet(a):
    """Sign and logarithm of a determinant."""
    return numpys_slogdet(_finite(_square(_matrix(a, "slogdet"))))


def matrix_power(a, n):
    """A whole power of a square matrix."""
    x = _matrix(a, "matrix_power")
    if x.shape[0] != x.shape[1]:
        raise ValueError("input must be a square array")
    return numpys_power(x, n)


def pinv(a, rcond=1e-15):
    """The pseudo-inverse of a matrix."""
    return _columns(numpys_pinv(_finite(_matrix(a, "pinv")), rcond))


def qr(a):
    """An orthogonal and a triangular factor."""
    q, r = numpys_qr(_finite(_filled(_matrix(a, "qr"))))
    return _columns(q), _columns(r)


def eig(a):
    """Eigenvalues and eigenvectors of a matrix."""
    x = _finite(_square(_matrix(a, "eig")))
    try:
        values, vectors = numpys_eig(x)
    except ValueError:
        raise ValueError("eig() argument must not cause a domain change.")
    return values, _columns(vectors)


def eigvals(a):
    """Eigenvalues of a matrix."""
    x = _finite(_square(_matrix(a, "eigvals")))
    try:
        return numpys_eigvals(x)
    except ValueError:
        raise ValueError("eigvals() argument must not cause a domain change.")


def eigh(a):
    """Eigenvalues and eigenvectors of a Hermitian matrix."""
    values, vectors = numpys_eigh(_finite(_square(_matrix(a, "eigh"))))
    return values, _columns(vectors)


def eigvalsh(a):
    """Eigenvalues of a Hermitian matrix."""
    return numpys_eigvalsh(_finite(_square(_matrix(a, "eigvalsh"))))


def svd(a, full_matrices=True):
    """Singular values and vectors of a matrix."""
    u, s, vh = numpys_svd(_finite(_filled(_matrix(a, "svd"))), full_matrices)
    return _columns(u), s, _columns(vh)


def lstsq(a, b, rcond=-1.0):
    """The least squares solution of a system of linear equations."""
    x, y = _finite(_filled(_matrix(a, "lstsq"))), _finite(_filled(_right_side(b, "lstsq")))
    if x.shape[0] != y.shape[0]:
        raise np.linalg.LinAlgError("Incompatible array sizes, system is not dimensionally valid.")
    return numpys_lstsq(x, y, rcond)


def cond(x, p=None):
    """The condition number of a matrix."""
    return numpys_cond(_finite(_filled(_matrix(x, "cond"))), p)


def matrix_rank(A, tol=None):
    """The rank of a matrix."""
    return numpys_rank(_finite(_filled(_right_side(A, "matrix_rank"))), tol)


def norm(x, ord=None):
    """The norm of a vector or a matrix."""
    y = _right_side(x, "norm")
    if not (prim.is_float(prim.dtype_of(y)) or prim.is_complex(prim.dtype_of(y))):
        prim.error("np.linalg.norm() only supported on float and complex arrays")
    if y.size == 0:
        return prim.cast(0, prim.dtype_of(np.abs(y)))
    if y.ndim == 2 and prim.is_number(ord):
        if ord == 2 or ord == -2:
            return numpys_norm(_finite(y), ord)
    return numpys_norm(y, ord)
