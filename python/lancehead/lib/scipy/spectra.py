"""Eigenvalues, singular values and QR factors of `scipy.linalg`, and what stands on them."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import check_flag, flag_of, index_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.factors import columns_of, general_into, general_of_real_into, qr_columns
from lancehead.lib.numpy.layout import copy_c, copy_into, new_array, new_zeros
from lancehead.lib.numpy.stacks import hermitian, matrices, real_dtype, vectors
from lancehead.lib.scipy.operands import (
    check_batch,
    check_rank,
    check_right,
    check_single,
    checked,
    lapack_dtype,
    lapack_dtype_of,
    rows_of,
    text_of_shape,
)
from lancehead.lib.scipy.triangular import back_substitute, cholesky_in_place


def _matrices_of(a, check_finite, name):
    # A matrix or a stack in the type in which LAPACK computes.
    x = checked(a, check_finite)
    check_rank(x)
    check_batch(x, name)
    return asarray(x, lapack_dtype(prim.dtype_of(x)))


def _check_driver(name):
    if name != "gesdd" and name != "gesvd":
        raise ValueError('lapack_driver must be "gesdd" or "gesvd", not "' + name + '"')


def svd(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    """Singular values of a matrix, or of a stack, largest first, between unitary factors unless `compute_uv` is false.

    The factors are square, or with `full_matrices=False` as narrow as the smaller side.

    >>> scipy.linalg.svd(np.array([[3.0, 0.0], [0.0, -4.0]]))[1]
    array([4., 3.])
    """
    check_flag(overwrite_a)
    x = _matrices_of(a, check_finite, "svd")
    _check_driver(lapack_driver)
    if not compute_uv:
        return np.linalg.svd(x, compute_uv=False)
    found = np.linalg.svd(x, full_matrices=full_matrices)
    return found[0], found[1], found[2]


def svdvals(a, overwrite_a=False, check_finite=True):
    """Singular values of a matrix, or of a stack, largest first.

    >>> scipy.linalg.svdvals(np.array([[3.0, 0.0], [0.0, -4.0]]))
    array([4., 3.])
    """
    check_flag(overwrite_a)
    return np.linalg.svd(_matrices_of(a, check_finite, "svdvals"), compute_uv=False)


def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    """Unitary and upper triangular factor of a matrix, or of a stack.

    With `mode="economic"` they are as narrow as the smaller side; `"r"` gives a tuple of the second one alone, `"raw"`
    the reflectors and their factors, and the second one.

    >>> np.round(np.abs(scipy.linalg.qr(np.array([[3.0, 1.0], [4.0, 2.0]]))[1]), 6)
    array([[5. , 2.2],
           [0. , 0.4]])
    """
    if pivoting:
        prim.error("`qr` has no pivoting here: call it outside of the function and pass the result in")
    check_flag(overwrite_a)
    if lwork is not None:
        index_of(lwork)
    x = _matrices_of(a, check_finite, "qr")
    if mode == "raw":
        return _raw_qr(x)
    if mode == "r":
        r = np.linalg.qr(x, "r")
        out = new_zeros(x.shape, prim.dtype_of(r))
        out[..., : r.shape[r.ndim - 2], :] = r
        return (out,)
    if mode == "economic":
        q, r = np.linalg.qr(x)
        return q, r
    if mode != "full" and mode != "qr":
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic', 'raw']")
    q, r = np.linalg.qr(x, "complete")
    return q, r


def _raw_qr(x):
    check_single(x)
    if prim.in_kernel():
        prim.error("kernels have no `qr` with this mode")
    if prim.is_complex(prim.dtype_of(x)):
        prim.error("the reflectors of complex matrices are not those of LAPACK: use another mode")
    m, n = x.shape
    least = m if m < n else n
    f = columns_of(x, prim.dtype_of(x))
    factors, _ = qr_columns(f, 0)
    r = new_zeros((least, n), prim.dtype_of(x))
    for i in range(least):
        for j in range(i, n):
            prim.set_item(r, i, j, prim.item(f, i, j))
    return (f, factors), r


def _check_square(x, message):
    if x.shape[x.ndim - 1] != x.shape[x.ndim - 2]:
        raise ValueError(message)


def _check_eigh_driver(driver, is_general):
    # The name of the routine makes no difference, but must fit.
    if driver is not None:
        if driver == "gv" or driver == "gvd" or driver == "gvx":
            if not is_general:
                raise ValueError(
                    driver + " requires input b array to be supplied for generalized eigenvalue problems."
                )  # fmt: skip
        elif driver == "ev" or driver == "evd" or driver == "evr" or driver == "evx":
            if is_general:
                raise ValueError(
                    '"' + driver + '" does not accept input b array for standard eigenvalue problems.'
                )  # fmt: skip
        else:
            raise ValueError('"' + driver + '" is unknown.')


def _between(w, by_index, by_value):
    # The first of the wanted eigenvalues, and the one behind the last.
    n = w.shape[w.ndim - 1]
    if by_index is not None:
        if by_value is not None:
            raise ValueError("Either index or value subset can be requested.")
        low, high = index_of(by_index[0]), index_of(by_index[1])
        if low < 0 or low > high or high >= n:
            raise ValueError("Requested eigenvalue indices are not valid.")
        return low, high + 1
    if by_value is None:
        return 0, n
    check_right(w)
    if w.ndim != 1:
        prim.error("eigenvalues of a stack cannot be selected by value")
    if not by_value[0] < by_value[1]:
        raise ValueError("Requested eigenvalue bounds are not valid.")
    first, last = 0, 0
    for i in range(n):
        x = prim.item(w, i)
        first += 1 if x <= by_value[0] else 0
        last += 1 if x <= by_value[1] else 0
    return first, last


def _without_factor(a, f):
    # The matrix between the inverse of a lower factor and that of its adjoint.
    out = copy_c(a, prim.dtype_of(f))
    for again in range(2):
        back_substitute(f, True, False, out, False)
        out = copy_c(out.conj().T, prim.dtype_of(f))
    return out


def _general_problem(x, b, lower, check_finite, kind):
    # Eigenvalues of a matrix relative to a positive definite one, and vectors, by LAPACK's three types of problems.
    y = checked(b, check_finite)
    check_single(x)
    check_single(y)
    _check_square(y, 'expected square "b" matrix')
    if x.shape[0] != y.shape[0]:
        raise ValueError("wrong b dimensions " + text_of_shape(y.shape) + ", should be " + text_of_shape(x.shape))
    if kind < 1 or kind > 3:
        raise ValueError('"type" keyword only accepts 1, 2, and 3.')
    dtype = lapack_dtype_of(x, y)
    # Where the upper triangle is read, the conjugate of the transpose has it as the lower one.
    left, right = asarray(x if lower else x.conj().T, dtype), asarray(y if lower else y.conj().T, dtype)
    f = np.tril(right)
    minor = cholesky_in_place(f, True)
    if minor > 0:
        raise np.linalg.LinAlgError(
            "The leading minor of order " + str(minor) + " of B is not positive definite. The factorization of B could "
            "not be completed and no eigenvalues or eigenvectors were computed."
        )  # fmt: skip
    a = hermitian(left)
    found = np.linalg.eigh(_without_factor(a, f) if kind == 1 else copy_c(np.dot(f.conj().T, np.dot(a, f)), dtype))
    v = copy_c(found[1], dtype)
    if kind == 3:
        return found[0], copy_c(np.dot(f, v), dtype)
    back_substitute(f.T, False, False, v, True)
    return found[0], v


def _eigen(a, b, lower, check_finite, driver, by_index, by_value, kind):
    x = _matrices_of(a, check_finite, "eigh")
    _check_square(x, 'expected square "a" matrix')
    _check_eigh_driver(driver, b is not None)
    if b is None:
        found = np.linalg.eigh(x, "L" if flag_of(lower) else "U")
        w, v = found[0], found[1]
    else:
        w, v = _general_problem(x, b, flag_of(lower), check_finite, index_of(kind))
    low, high = _between(w, by_index, by_value)
    return w[..., low:high], v[..., low:high]


def eigh(
    a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, type=1, check_finite=True,
    subset_by_index=None, subset_by_value=None, driver=None
):  # fmt: skip
    """Eigenvalues of a Hermitian matrix, or of a stack, in rising order, and the eigenvectors as columns; with `b`,
    relative to a positive definite matrix.

    Only one triangle is read. The subset of the eigenvalues is given by the first and the last index, or by two bounds,
    of which the lower one is excluded.

    >>> scipy.linalg.eigh(np.array([[2.0, 0.0], [0.0, 1.0]]))[0]
    array([1., 2.])
    """
    if eigvals_only:
        return eigvalsh(
            a, b, lower=lower, type=type, check_finite=check_finite, subset_by_index=subset_by_index,
            subset_by_value=subset_by_value, driver=driver
        )  # fmt: skip
    return _eigen(a, b, lower, check_finite, driver, subset_by_index, subset_by_value, type)


def eigvalsh(
    a, b=None, *, lower=True, overwrite_a=False, overwrite_b=False, type=1, check_finite=True, subset_by_index=None,
    subset_by_value=None, driver=None
):  # fmt: skip
    """Eigenvalues of a Hermitian matrix, or of a stack, in rising order, as those of `eigh`.

    >>> scipy.linalg.eigvalsh(np.array([[2.0, 0.0], [0.0, 1.0]]))
    array([1., 2.])
    """
    if b is not None:
        return _eigen(a, b, lower, check_finite, driver, subset_by_index, subset_by_value, type)[0]
    x = _matrices_of(a, check_finite, "eigvalsh")
    _check_square(x, 'expected square "a" matrix')
    _check_eigh_driver(driver, False)
    w = np.linalg.eigvalsh(x, "L" if flag_of(lower) else "U")
    low, high = _between(w, subset_by_index, subset_by_value)
    return w[..., low:high]


def _complex_dtype(dtype):
    return prim.result_type(dtype, np.complex64)


def _general(a, b, wants_vectors, check_finite, name):
    if b is not None:
        prim.error("`" + name + "` takes one matrix here, without `b`")
    if prim.in_kernel():
        prim.error("kernels have no eigenvalues; call this function outside of the kernel")
    x = _matrices_of(a, check_finite, name)
    _check_square(x, "expected square matrix")
    n, lead, dtype = x.shape[x.ndim - 1], x.shape[:-2], _complex_dtype(prim.dtype_of(x))
    size = n if wants_vectors else 0
    w, v = new_array(lead + (n,), dtype), new_array(lead + (size, size), dtype)
    xs, ws = matrices(x), vectors(w)
    if wants_vectors:
        vs = matrices(v)
        for k in range(xs.shape[0]):
            _general_into(xs[k], ws[k], vs[k], name)
    else:
        none = new_array((0, 0), dtype)
        for k in range(xs.shape[0]):
            _general_into(xs[k], ws[k], none, name)
    return w, v


def _general_into(a, w, v, name):
    if prim.is_complex(prim.dtype_of(a)):
        general_into(a, w, v, name)
    else:
        general_of_real_into(a, w, v)


def _with_denominators(w):
    # Eigenvalues as quotients of two rows.
    if w.ndim != 1:
        prim.error("homogeneous eigenvalues are of one matrix: call it in a loop over the stack")
    out = new_array((2, w.size), prim.dtype_of(w))
    for i in range(w.size):
        prim.set_item(out, 0, i, prim.item(w, i))
        prim.set_item(out, 1, i, prim.cast(1, prim.dtype_of(w)))
    return out


def eig(
    a, b=None, left=False, right=True, overwrite_a=False, overwrite_b=False, check_finite=True,
    homogeneous_eigvals=False
):  # fmt: skip
    """Eigenvalues of a square matrix, or of a stack, and the eigenvectors as columns, both complex.

    >>> scipy.linalg.eig(np.array([[2.0, 0.0], [0.0, 2.0]]))[0]
    array([2.+0.j, 2.+0.j])
    """
    if left:
        prim.error("`eig` has no left eigenvectors here: take those of the adjoint matrix")
    if not right:
        return eigvals(a, b, check_finite=check_finite, homogeneous_eigvals=homogeneous_eigvals)
    w, v = _general(a, b, True, check_finite, "eig")
    if homogeneous_eigvals:
        return _with_denominators(w), v
    return w, v


def eigvals(a, b=None, overwrite_a=False, check_finite=True, homogeneous_eigvals=False):
    """Eigenvalues of a square matrix, or of a stack, as complex numbers.

    >>> scipy.linalg.eigvals(np.array([[0.0, 1.0], [0.0, 2.0]]))
    array([0.+0.j, 2.+0.j])
    """
    w = _general(a, b, False, check_finite, "eigvals")[0]
    if homogeneous_eigvals:
        return _with_denominators(w)
    return w


def _epsilon(dtype):
    return prim.cast(np.finfo(dtype).eps, np.float64)


def _rank(s, tolerance):
    rank = 0
    for i in range(s.size):
        rank += 1 if prim.cast(prim.item(s, i), np.float64) > tolerance else 0
    return rank


def _largest(s):
    return prim.cast(prim.item(s, 0), np.float64) if s.size > 0 else 0.0


def _pinv_into(out, a, atol, rtol):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    longest = prim.cast(a.shape[0] if a.shape[0] > a.shape[1] else a.shape[1], np.float64)
    relative = longest * _epsilon(prim.dtype_of(s)) if rtol is None else prim.cast(rtol, np.float64)
    absolute = 0.0 if atol is None else prim.cast(atol, np.float64)
    if relative < 0.0 or absolute < 0.0:
        raise ValueError("atol and rtol values must be positive.")
    rank = _rank(s, absolute + _largest(s) * relative)
    for k in range(rank):
        value = prim.cast(prim.item(s, k), prim.dtype_of(out))
        for i in range(u.shape[0]):
            prim.set_item(u, i, k, prim.item(u, i, k) / value)
    copy_into(out, np.dot(u[:, :rank], vh[:rank]).conj().T)
    return rank


def pinv(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    """Pseudoinverse of a matrix, or of a stack; singular values up to `atol` plus `rtol` times the largest are zero.

    >>> scipy.linalg.pinv(np.array([[2.0, 0.0], [0.0, 0.0]]))
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    x = _matrices_of(a, check_finite, "pinv")
    out = new_array(x.shape[:-2] + (x.shape[x.ndim - 1], x.shape[x.ndim - 2]), prim.dtype_of(x))
    xs, outs = matrices(x), matrices(out)
    rank = 0
    for k in range(xs.shape[0] if out.size > 0 else 0):
        rank = _pinv_into(outs[k], xs[k], atol, rtol)
    if return_rank:
        check_single(x)
        return out, rank
    return out


def norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    """Norm of a vector or matrix, or of the lines along an axis or the matrices in two.

    >>> scipy.linalg.norm(np.array([3.0, 4.0]))
    5.0
    """
    return np.linalg.norm(checked(a, check_finite), ord, axis, keepdims)


def lstsq(a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None):
    """Least-squares solution, sums of squared residuals, rank and singular values.

    Singular values below `cond` times the largest one count as zero, by default the precision. There are no residuals
    if the rank is less than the number of columns, or rows are not more than columns; those of a vector are an array of
    one number.

    >>> np.round(scipy.linalg.lstsq(np.array([[1.0], [1.0]]), np.array([1.0, 2.0]))[0], 6)
    array([1.5])
    """
    x, y = checked(a, check_finite), checked(b, check_finite)
    check_right(y)
    check_single(x)
    if y.ndim > 2:
        prim.error("right-hand sides have one or two dimensions")
    if lapack_driver is not None:
        if lapack_driver == "gelsy":
            prim.error("the driver `gelsy` is not supported: use the default")
        if lapack_driver != "gelsd" and lapack_driver != "gelss":
            raise ValueError('LAPACK driver "' + lapack_driver + '" is not found')
    if rows_of(y) != x.shape[0]:
        raise ValueError(
            "Shape mismatch: a and b should have the same number of rows (" + str(x.shape[0]) + " != "
            + str(y.shape[0]) + ")."
        )  # fmt: skip
    dtype = lapack_dtype_of(x, y)
    tolerance = _epsilon(real_dtype(dtype)) if cond is None else prim.cast(cond, np.float64)
    return np.linalg.lstsq(asarray(x, dtype), asarray(y, dtype), tolerance)


def _kept(s, rcond, u, vh):
    # The number of singular values that count.
    m, n = u.shape[0], vh.shape[1]
    longest = prim.cast(m if m > n else n, np.float64)
    relative = longest * _epsilon(prim.dtype_of(s)) if rcond is None else prim.cast(rcond, np.float64)
    return _rank(s, _largest(s) * relative)


def orth(A, rcond=None):
    """Orthonormal basis of the range of a matrix, as columns; singular values up to `rcond` times the largest count as
    zero.

    >>> scipy.linalg.orth(np.array([[2.0, 2.0], [0.0, 0.0]])).shape
    (2, 1)
    """
    check_single(asarray(A))
    u, s, vh = svd(A, full_matrices=False)
    return u[:, : _kept(s, rcond, u, vh)]


def null_space(A, rcond=None, *, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    """Orthonormal basis of the vectors that a matrix makes zero, as columns.

    >>> scipy.linalg.null_space(np.array([[2.0, 2.0], [0.0, 0.0]])).shape
    (2, 1)
    """
    check_single(asarray(A))
    u, s, vh = svd(A, check_finite=check_finite, lapack_driver=lapack_driver)
    return vh[_kept(s, rcond, u, vh) :].T.conj()
