"""`numpy.linalg` as Numba has it: results in column-major order, as LAPACK leaves them, and its texts of errors."""

import numpy as np

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
from lancehead.lib.numpy.linalg import pinv as numpys_pinv
from lancehead.lib.numpy.linalg import qr as numpys_qr
from lancehead.lib.numpy.linalg import slogdet as numpys_slogdet
from lancehead.lib.numpy.linalg import solve as numpys_solve
from lancehead.lib.numpy.linalg import svd as numpys_svd


def _finite(a):
    x = asarray(a)
    if not np.isfinite(x).all():
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs.")
    return x


def _square(a):
    x = asarray(a)
    if x.ndim >= 2:
        if x.shape[-1] != x.shape[-2]:
            raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square.")
    return x


def _filled(a):
    x = asarray(a)
    if x.size == 0:
        raise np.linalg.LinAlgError("Arrays cannot be empty")
    return x


def _columns(x):
    return np.asfortranarray(x) if x.ndim == 2 else x


def inv(a):
    """The inverse of a matrix."""
    x = _finite(_square(a))
    try:
        return _columns(numpys_inv(x))
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError("Matrix is singular to machine precision.")


def solve(a, b):
    """The solution of a system of linear equations."""
    x, y = _finite(_square(a)), _finite(b)
    if x.ndim == 2 and y.ndim <= 2:
        if x.shape[0] != y.shape[0]:
            raise np.linalg.LinAlgError("Incompatible array sizes, system is not dimensionally valid.")
    try:
        return _columns(numpys_solve(x, y))
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError("Matrix is singular to machine precision.")


def cholesky(a, /, *, upper=False):
    """The triangular factor of a positive definite matrix."""
    x = _square(a)
    try:
        return numpys_cholesky(x, upper=upper)
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError("Matrix is not positive definite.")


def det(a):
    """The determinant of a matrix."""
    return numpys_det(_finite(_square(a)))


def slogdet(a):
    """Sign and logarithm of a determinant."""
    return numpys_slogdet(_finite(_square(a)))


def matrix_power(a, n):
    """A whole power of a square matrix."""
    x = asarray(a)
    if x.ndim == 2:
        if x.shape[0] != x.shape[1]:
            raise ValueError("input must be a square array")
    return numpys_power(x, n)


def pinv(a, rcond=1e-15):
    """The pseudo-inverse of a matrix."""
    return _columns(numpys_pinv(_finite(a), rcond))


def qr(a):
    """An orthogonal and a triangular factor."""
    q, r = numpys_qr(_finite(_filled(a)))
    return _columns(q), _columns(r)


def eig(a):
    """Eigenvalues and eigenvectors of a matrix."""
    values, vectors = numpys_eig(_finite(_square(a)))
    return values, _columns(vectors)


def eigvals(a):
    """Eigenvalues of a matrix."""
    return numpys_eigvals(_finite(_square(a)))


def eigh(a):
    """Eigenvalues and eigenvectors of a Hermitian matrix."""
    values, vectors = numpys_eigh(_finite(_square(a)))
    return values, _columns(vectors)


def eigvalsh(a):
    """Eigenvalues of a Hermitian matrix."""
    return numpys_eigvalsh(_finite(_square(a)))


def svd(a, full_matrices=True):
    """Singular values and vectors of a matrix."""
    u, s, vh = numpys_svd(_finite(_filled(a)), full_matrices)
    return _columns(u), s, _columns(vh)


def lstsq(a, b, rcond=-1.0):
    """The least squares solution of a system of linear equations."""
    x, y = _finite(_filled(a)), _finite(_filled(b))
    if x.shape[0] != y.shape[0]:
        raise np.linalg.LinAlgError("Incompatible array sizes, system is not dimensionally valid.")
    return numpys_lstsq(x, y, rcond)


def cond(x, p=None):
    """The condition number of a matrix."""
    return numpys_cond(_finite(_filled(x)), p)


def matrix_rank(A, tol=None):
    """The rank of a matrix."""
    return numpys_rank(_finite(_filled(A)), tol)
