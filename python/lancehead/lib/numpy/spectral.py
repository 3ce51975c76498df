"""Eigenvalues, singular values, and what stands on them."""

from collections import namedtuple

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.decompositions import jacobi
from lancehead.lib.numpy.factors import columns_of, general_into, least_squares, self_adjoint_into, singular_into
from lancehead.lib.numpy.layout import copy_c, copy_into, new_array, new_fortran, with_shape
from lancehead.lib.numpy.stacks import check_matrices, check_square, conj, linalg_dtype, matrices, real_dtype, vectors
from lancehead.lib.numpy.stacks import hermitian as mirrored

EigResult = namedtuple("EigResult", ["eigenvalues", "eigenvectors"])
EighResult = namedtuple("EighResult", ["eigenvalues", "eigenvectors"])
SVDResult = namedtuple("SVDResult", ["U", "S", "Vh"])


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """Singular values of a matrix, or of a stack of them, largest first, between unitary factors unless `compute_uv` is
    false.

    The factors are square, or with `full_matrices=False` as narrow as the smaller side.

    >>> np.linalg.svd(np.array([[3.0, 0.0], [0.0, -4.0]]))[1]
    array([4., 3.])
    """
    x = asarray(a)
    if prim.in_kernel():
        return jacobi(x, full_matrices, compute_uv)
    check_matrices(x)
    dtype = linalg_dtype(prim.dtype_of(x))
    m, n = x.shape[x.ndim - 2], x.shape[x.ndim - 1]
    least = m if m < n else n
    lead = x.shape[:-2]
    # Only the lower triangle of a Hermitian matrix counts.
    xs = matrices(copy_c(mirrored(x) if hermitian else x, dtype))
    s = new_array(lead + (least,), real_dtype(dtype))
    values = vectors(s)
    if not compute_uv:
        for i in range(xs.shape[0]):
            singular_into(xs[i], new_array((m, 0), dtype), values[i], new_array((0, n), dtype))
        return s
    u = new_array(lead + (m, m if full_matrices else least), dtype)
    vh = new_array(lead + (n if full_matrices else least, n), dtype)
    us, vs = matrices(u), matrices(vh)
    for i in range(xs.shape[0]):
        singular_into(xs[i], us[i], values[i], vs[i])
    return SVDResult(u, s, vh)


def svdvals(x, /):
    """Singular values of a matrix, or of a stack of them, largest first.

    >>> np.linalg.svdvals(np.array([[3.0, 0.0], [0.0, -4.0]]))
    array([4., 3.])
    """
    return svd(x, compute_uv=False)


def _is_upper(UPLO):
    if UPLO == "L" or UPLO == "l":
        return False
    if UPLO == "U" or UPLO == "u":
        return True
    raise ValueError("UPLO argument must be 'L' or 'U'")


def eigh(a, UPLO="L"):
    """Eigenvalues of a Hermitian matrix, or of a stack of them, in rising order, and the eigenvectors as columns.

    Only one triangle is read: the lower one, or the upper one.

    >>> np.linalg.eigh(np.array([[2.0, 0.0], [0.0, 1.0]]))[0]
    array([1., 2.])
    """
    w, v = _self_adjoint(asarray(a), _is_upper(UPLO), True)
    return EighResult(w, v)


def eigvalsh(a, UPLO="L"):
    """Eigenvalues of a Hermitian matrix, or of a stack of them, in rising order.

    >>> np.linalg.eigvalsh(np.array([[2.0, 0.0], [0.0, 1.0]]))
    array([1., 2.])
    """
    return _self_adjoint(asarray(a), _is_upper(UPLO), False)[0]


def _self_adjoint(x, upper, wants_vectors):
    if prim.in_kernel():
        prim.error("kernels have no eigenvalues; call this function outside of the kernel")
    check_square(x)
    dtype = linalg_dtype(prim.dtype_of(x))
    n, lead = x.shape[x.ndim - 1], x.shape[:-2]
    w, v = (
        new_array(lead + (n,), real_dtype(dtype)),
        new_array(lead + (n if wants_vectors else 0, n if wants_vectors else 0), dtype),
    )
    xs, ws = matrices(copy_c(x, dtype)), vectors(w)
    if wants_vectors:
        vs = matrices(v)
        for i in range(xs.shape[0]):
            self_adjoint_into(xs[i], upper, ws[i], vs[i])
    else:
        none = new_array((0, 0), dtype)
        for i in range(xs.shape[0]):
            self_adjoint_into(xs[i], upper, ws[i], none)
    return w, v


def eig(a):
    """Eigenvalues of a square matrix, or of a stack of them, and the eigenvectors as columns.

    The type of the result is that of the matrix: a real matrix with complex eigenvalues is an error, as in Numba;
    convert it to complex numbers before.

    >>> np.linalg.eig(np.array([[2.0, 0.0], [0.0, 2.0]]))[0]
    array([2., 2.])
    """
    w, v = _general(asarray(a), True, "eig")
    return EigResult(w, v)


def eigvals(a):
    """Eigenvalues of a square matrix, or of a stack of them, of the type of the matrix, as those of `eig`.

    >>> np.linalg.eigvals(np.array([[2.0, 0.0], [0.0, 2.0]]))
    array([2., 2.])
    """
    return _general(asarray(a), False, "eigvals")[0]


def _general(x, wants_vectors, name):
    if prim.in_kernel():
        prim.error("kernels have no eigenvalues; call this function outside of the kernel")
    check_square(x)
    dtype = linalg_dtype(prim.dtype_of(x))
    n, lead = x.shape[x.ndim - 1], x.shape[:-2]
    w, v = (
        new_array(lead + (n,), dtype),
        new_array(lead + (n if wants_vectors else 0, n if wants_vectors else 0), dtype),
    )
    xs, ws = matrices(copy_c(x, dtype)), vectors(w)
    if wants_vectors:
        vs = matrices(v)
        for i in range(xs.shape[0]):
            general_into(xs[i], ws[i], vs[i], name)
    else:
        none = new_array((0, 0), dtype)
        for i in range(xs.shape[0]):
            general_into(xs[i], ws[i], none, name)
    return w, v


def lstsq(a, b, rcond=None):
    """Least-squares solution, sums of squared residuals, rank and singular values.

    Singular values below `rcond` times the largest one count as zero: by default the precision times the longer side.
    There are no residuals if the rank is less than the number of columns, or rows are not more than columns.

    >>> np.round(np.linalg.lstsq(np.array([[1.0], [1.0]]), np.array([1.0, 2.0]))[0], 6)
    array([1.5])
    """
    x, y = asarray(a), asarray(b)
    if x.ndim != 2:
        prim.error("a matrix is needed: an array of two dimensions")
    if y.ndim != 1 and y.ndim != 2:
        prim.error("right-hand sides have one or two dimensions")
    dtype = linalg_dtype(prim.result_type(linalg_dtype(prim.dtype_of(x)), prim.dtype_of(y)))
    real = real_dtype(dtype)
    m, n = x.shape
    if y.shape[0] != m:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    rights = y[:, None] if y.ndim == 1 else y
    k = rights.shape[1]
    solution, s = new_array((n, k), dtype), new_array((0 if m == 0 else m if m < n else n,), real)
    columns, rank = new_fortran((m if m > n else n, k), dtype), 0
    copy_into(columns[:m], rights)
    if m > 0 and n > 0:
        if not np.all(np.isfinite(x)):
            raise np.linalg.LinAlgError("SVD did not converge in Linear Least Squares")
        tolerance = _tolerance(rcond, m if m > n else n, real)
        rank = least_squares(columns_of(x, dtype), columns, s, tolerance)
        copy_into(solution, columns[:n])
    else:
        copy_into(solution, 0)
    sums = new_array((k if rank == n and m > n else 0,), real)
    for j in range(sums.size):
        total = prim.cast(0, real)
        for i in range(n, m):
            d = prim.item(columns, i, j)
            total += (d * conj(d)).real
        prim.set_item(sums, j, total)
    if y.ndim == 1:
        return with_shape(solution, (n,)), sums, rank, s
    return solution, sums, rank, s


def _tolerance(rcond, longest, real):
    if rcond is None:
        return prim.cast(np.finfo(real).eps, np.float64) * prim.cast(longest, np.float64)
    # LAPACK has the precision for what is no part.
    if rcond < 0 or rcond >= 1:
        return prim.cast(np.finfo(real).eps, np.float64)
    return prim.cast(rcond, np.float64)
