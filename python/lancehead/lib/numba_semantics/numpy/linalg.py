"""`numpy.linalg` as Numba has it: results in column-major order, as LAPACK leaves them, and its texts of errors."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.creation import asarray


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
    # The right-hand side of a linear system: a vector or a matrix.
    y = asarray(b)
    if y.ndim != 1 and y.ndim != 2:
        prim.error("np.linalg." + name + "() only supported on 1 and 2-D arrays")
    return y


def inv(a):
    x = _finite(_square(_matrix(a, "inv")))
    try:
        return _columns(np.linalg.inv(x))
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError("Matrix is singular to machine precision.")


def solve(a, b):
    x, y = _finite(_square(_matrix(a, "solve"))), _finite(_right_side(b, "solve"))
    if x.shape[0] != y.shape[0]:
        raise np.linalg.LinAlgError("Incompatible array sizes, system is not dimensionally valid.")
    try:
        return _columns(np.linalg.solve(x, y))
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError("Matrix is singular to machine precision.")


def cholesky(a, /, *, upper=False):
    x = _square(_matrix(a, "cholesky"))
    try:
        return np.linalg.cholesky(x, upper=upper)
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError("Matrix is not positive definite.")


def det(a):
    return np.linalg.det(_finite(_square(_matrix(a, "det"))))


def slogdet(a):
    return np.linalg.slogdet(_finite(_square(_matrix(a, "slogdet"))))


def matrix_power(a, n):
    x = _matrix(a, "matrix_power")
    if x.shape[0] != x.shape[1]:
        raise ValueError("input must be a square array")
    return np.linalg.matrix_power(x, n)


def pinv(a, rcond=1e-15):
    return _columns(np.linalg.pinv(_finite(_matrix(a, "pinv")), rcond))


def qr(a):
    q, r = np.linalg.qr(_finite(_filled(_matrix(a, "qr"))))
    return _columns(q), _columns(r)


def eig(a):
    x = _finite(_square(_matrix(a, "eig")))
    try:
        values, vectors = np.linalg.eig(x)
    except ValueError:
        raise ValueError("eig() argument must not cause a domain change.")
    return values, _columns(vectors)


def eigvals(a):
    x = _finite(_square(_matrix(a, "eigvals")))
    try:
        return np.linalg.eigvals(x)
    except ValueError:
        raise ValueError("eigvals() argument must not cause a domain change.")


def eigh(a):
    values, vectors = np.linalg.eigh(_finite(_square(_matrix(a, "eigh"))))
    return values, _columns(vectors)


def eigvalsh(a):
    return np.linalg.eigvalsh(_finite(_square(_matrix(a, "eigvalsh"))))


def svd(a, full_matrices=True):
    u, s, vh = np.linalg.svd(_finite(_filled(_matrix(a, "svd"))), full_matrices)
    return _columns(u), s, _columns(vh)


def lstsq(a, b, rcond=-1.0):
    x, y = _finite(_filled(_matrix(a, "lstsq"))), _finite(_filled(_right_side(b, "lstsq")))
    if x.shape[0] != y.shape[0]:
        raise np.linalg.LinAlgError("Incompatible array sizes, system is not dimensionally valid.")
    return np.linalg.lstsq(x, y, rcond)


def cond(x, p=None):
    return np.linalg.cond(_finite(_filled(_matrix(x, "cond"))), p)


def matrix_rank(A, tol=None):
    return np.linalg.matrix_rank(_finite(_filled(_right_side(A, "matrix_rank"))), tol)


def norm(x, ord=None):
    y = _right_side(x, "norm")
    if not (prim.is_float(prim.dtype_of(y)) or prim.is_complex(prim.dtype_of(y))):
        prim.error("np.linalg.norm() only supported on float and complex arrays")
    if y.size == 0:
        return prim.cast(0, prim.dtype_of(np.abs(y)))
    if y.ndim == 2 and prim.is_number(ord):
        if ord == 2 or ord == -2:
            return np.linalg.norm(_finite(y), ord)
    return np.linalg.norm(y, ord)
