"""Functions of singular values: condition number, rank, pseudoinverse."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import flag_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import new_array, with_shape
from lancehead.lib.numpy.reductions import mean_dtype
from lancehead.lib.numpy.spectral import svdvals
from lancehead.lib.numpy.stacks import check_square, hermitian, is_empty_matrix, matrices, real_dtype


def _epsilon(dtype):
    return prim.cast(1.1920928955078125e-07 if prim.itemsize(dtype) == 4 else 2.220446049250313e-16, dtype)


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """Number of singular values above a tolerance, of a matrix or of each in a stack.

    >>> np.linalg.matrix_rank(np.array([[1.0, 2.0], [2.0, 4.0]]))
    np.int64(1)
    >>> np.linalg.matrix_rank(np.array([0.0, 0.0]))
    0
    """
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    a = asarray(A)
    if a.ndim < 2:
        return 0 if np.all(a == 0) else 1
    s = svdvals(_symmetric(a)) if flag_of(hermitian) else svdvals(a)
    if tol is not None:
        return np.count_nonzero(s > _beside(tol), axis=-1)
    top = np.max(s, axis=-1, keepdims=True, initial=0)
    if rtol is not None:
        return np.count_nonzero(s > top * _beside(rtol), axis=-1)
    most = a.shape[-1] if a.shape[-1] > a.shape[-2] else a.shape[-2]
    return np.count_nonzero(s > top * (prim.cast(most, prim.dtype_of(s)) * _epsilon(prim.dtype_of(s))), axis=-1)


def _symmetric(a):
    return hermitian(a)


def _beside(tolerance):
    # One tolerance for each matrix: an axis for its values.
    if prim.is_number(tolerance):
        return tolerance
    t = asarray(tolerance)
    return t[..., None]


def cond(x, p=None):
    """Condition number by a norm, of a matrix or of each in a stack; the ratio of singular values for None.

    >>> np.linalg.cond(np.array([[2.0, 0.0], [0.0, 0.5]]))
    np.float64(4.0)
    >>> np.linalg.cond(np.array([[2.0, 0.0], [0.0, 0.5]]), 1)
    np.float64(4.0)
    """
    a = asarray(x)
    if a.ndim < 2:
        prim.error("a matrix is needed: an array of at least two dimensions")
    if is_empty_matrix(a):
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    m = matrices(a)
    out = new_array((m.shape[0],), real_dtype(mean_dtype(prim.dtype_of(a))))
    for k in range(m.shape[0]):
        r = _condition(m[k], p, prim.dtype_of(out))
        if r != r and not np.any(np.isnan(m[k])):
            r = prim.cast(np.inf, prim.dtype_of(out))
        prim.set_item(out, k, r)
    if a.ndim == 2:
        return prim.item(out, 0)
    return with_shape(out, a.shape[:-2])


def _condition(a, p, dtype):
    if p is None:
        return _ratio(np.linalg.svd(a, compute_uv=False), False, dtype)
    if not prim.is_str(p):
        order = prim.cast(p, np.float64)
        if prim.fabs(order) == 2.0:
            return _ratio(np.linalg.svd(a, compute_uv=False), order < 0.0, dtype)
    check_square(a)
    # As NumPy, also single precision is inverted in double.
    wide = asarray(a, prim.result_type(np.float64, prim.dtype_of(a)))
    size = prim.cast(np.linalg.norm(a, p), np.float64)
    return prim.cast(size * prim.cast(_inverse_norm(wide, p), np.float64), dtype)


def _inverse_norm(a, p):
    # Of a singular matrix NaN, so that the condition is infinite.
    try:
        return np.linalg.norm(np.linalg.inv(a), p)
    except np.linalg.LinAlgError:
        return prim.cast(np.nan, np.float64)


def _ratio(s, least_first, dtype):
    first, last = prim.item(s, 0), prim.item(s, s.size - 1)
    return prim.cast(prim.fdiv(last, first) if least_first else prim.fdiv(first, last), dtype)


def pinv(a, rcond=None, hermitian=False, *, rtol="rcond"):
    """Pseudoinverse of a matrix, or of each in a stack; singular values up to a tolerance count as zero.

    >>> np.linalg.pinv(np.array([[2.0, 0.0], [0.0, 0.0]]))
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    if rcond is not None and not prim.is_str(rtol):
        raise ValueError("`rtol` and `rcond` can't be both set.")
    x = asarray(a)
    m = matrices(_symmetric(x) if flag_of(hermitian) else x)
    dtype = mean_dtype(prim.dtype_of(x))
    out = new_array((m.shape[0], m.shape[2], m.shape[1]), dtype)
    if out.size > 0:
        shape = x.shape[:-2]
        _fill_pinv(out, m, _tolerances(rcond, rtol, m, dtype, shape))
    return with_shape(out, x.shape[:-2] + (m.shape[2], m.shape[1]))


def _tolerances(rcond, rtol, m, dtype, shape):
    # A factor of the largest singular value for each matrix.
    if rcond is not None:
        return _for_each(rcond, shape)
    if prim.is_str(rtol):
        return _for_each(1e-15, shape)
    if rtol is None:
        if not (prim.is_float(prim.dtype_of(m)) or prim.is_complex(prim.dtype_of(m))):
            prim.error("`rtol=None` takes matrices of floats: convert them, `a.astype(np.float64)`")
        most = m.shape[1] if m.shape[1] > m.shape[2] else m.shape[2]
        return _for_each(float(most) * float(_epsilon(real_dtype(dtype))), shape)
    return _for_each(rtol, shape)


def _for_each(factor, shape):
    return np.broadcast_to(asarray(factor, np.float64), shape).ravel()


def _fill_pinv(out, m, factors):
    for k in range(m.shape[0]):
        u, s, vt = np.linalg.svd(m[k].conj(), full_matrices=False)
        cutoff = prim.item(factors, k) * prim.cast(prim.item(s, 0), np.float64)
        for i in range(s.size):
            large = prim.cast(prim.item(s, i), np.float64) > cutoff
            y = prim.fdiv(prim.cast(1, prim.dtype_of(s)), prim.item(s, i)) if large else prim.cast(0, prim.dtype_of(s))
            prim.set_item(s, i, y)
        out[k] = np.dot(vt.T, s[:, None] * u.T)
