"""Factors of one matrix on the host, by the run-time library (`lh-runtime/src/dense.rs`), which wants columns that lie
one after the other."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.layout import copy_into, new_array, new_fortran
from lancehead.lib.numpy.stacks import conj, real_dtype


def columns_of(a, dtype):
    """A copy of a matrix whose columns lie one after the other."""
    out = new_fortran(a.shape, dtype)
    copy_into(out, a)
    return out


def conjugate_in_place(a):
    """Conjugates complex numbers."""
    if prim.is_complex(prim.dtype_of(a)):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                prim.set_item(a, i, j, conj(prim.item(a, i, j)))


def check(status, message):
    """Raises what the run-time library says."""
    if status == -1:
        raise np.linalg.LinAlgError(message)
    if status == -2:
        raise MemoryError("there is no memory for a workspace")
    if status < 0:
        raise RuntimeError("the library of linear algebra gave up")


def lu(f):
    """Factors columns in place: where each row comes from, and the number of exchanges."""
    m, n = f.shape
    rows = new_array((m,), np.int64)
    exchanges = prim.lh_lu(prim.dtype_of(f), m, n, prim.data(f), prim.data(rows))
    check(exchanges, "")
    return rows, exchanges


def is_singular(f):
    """Whether there is a zero on the diagonal of a factor."""
    for i in range(f.shape[0]):
        if prim.item(f, i, i) == prim.cast(0, prim.dtype_of(f)):
            return True
    return False


def solve_columns(f, rows, b):
    """Solves with factors; the right-hand sides are columns, and become the solutions."""
    n, k = b.shape
    check(prim.lh_lu_solve(prim.dtype_of(f), n, k, prim.data(f), prim.data(rows), prim.data(b)), "")


def solve_triangle(f, lower, unit, b):
    """Solves with a triangle; the right-hand sides are columns, and become the solutions."""
    n, k = b.shape
    left, ones = 1 if lower else 0, 1 if unit else 0
    check(prim.lh_triangle(prim.dtype_of(f), n, k, prim.data(f), left, ones, prim.data(b)), "")


def cholesky_columns(f):
    """Makes the lower factor of columns, with zeros above it."""
    n = f.shape[0]
    check(prim.lh_cholesky(prim.dtype_of(f), n, prim.data(f)), "Matrix is not positive definite")
    for j in range(1, n):
        for i in range(j):
            prim.set_item(f, i, j, prim.cast(0, prim.dtype_of(f)))


def qr_columns(f, k):
    """Factors columns in place into R and reflectors; the factors of these, and `k` columns of Q."""
    m, n = f.shape
    dtype = prim.dtype_of(f)
    tau, q = new_array((m if m < n else n,), dtype), new_fortran((m, k), dtype)
    check(prim.lh_qr(dtype, m, n, prim.data(f), prim.data(tau), k, prim.data(q)), "")
    return tau, q


def _largest(f):
    # The largest absolute value of a part, or infinity if there is an infinity or a NaN.
    largest = 0.0
    for j in range(f.shape[1]):
        for i in range(f.shape[0]):
            x = prim.item(f, i, j)
            size = prim.cast(prim.maximum(prim.fabs(x.real), prim.fabs(x.imag)), np.float64)
            largest = size if not size <= largest else largest
    return largest if largest < np.inf else np.inf


def _scaled(f):
    # Divides numbers whose squares have no form by the factor that is returned.
    largest = _largest(f)
    dtype = prim.dtype_of(f)
    far = 1e100 if prim.itemsize(real_dtype(dtype)) == 8 else 1e12
    if largest == np.inf or largest == 0.0 or (largest < far and largest > 1.0 / far):
        return 1.0 if largest < np.inf else np.inf
    for j in range(f.shape[1]):
        for i in range(f.shape[0]):
            prim.set_item(f, i, j, prim.item(f, i, j) / prim.cast(largest, dtype))
    return largest


def _multiply(values, factor):
    if factor != 1.0:
        for i in range(values.size):
            prim.set_item(values, i, prim.item(values, i) * prim.cast(factor, prim.dtype_of(values)))


def singular_into(a, u, s, vh):
    """Puts singular values and vectors of a matrix into row-major arrays; without columns there are no vectors."""
    m, n = a.shape
    dtype = prim.dtype_of(u)
    f, left = columns_of(a, dtype), new_fortran(u.shape, dtype)
    factor = _scaled(f)
    if factor == np.inf:
        raise np.linalg.LinAlgError("SVD did not converge")
    # The right vectors as columns lie in memory as rows of their transpose do.
    status = prim.lh_svd(
        dtype, m, n, prim.data(f), prim.data(s), u.shape[1], prim.data(left), vh.shape[0], prim.data(vh)
    )
    check(status, "SVD did not converge")
    _multiply(s, factor)
    copy_into(u, left)
    conjugate_in_place(vh)


def least_squares(f, b, s, tolerance):
    """Solves in the first rows of `b`, which has as many as the longer side, and the rank; `f` is destroyed.

    With full rank and more rows than columns, the squares of the further rows are the residuals.
    """
    m, n = f.shape
    factor = _scaled(f)
    if factor == np.inf:
        raise np.linalg.LinAlgError("SVD did not converge in Linear Least Squares")
    dtype = prim.dtype_of(f)
    status = prim.lh_lstsq(dtype, m, n, prim.data(f), b.shape[1], prim.data(b), prim.data(s), tolerance)
    check(status, "SVD did not converge in Linear Least Squares")
    _multiply(s, factor)
    if factor != 1.0:
        for j in range(b.shape[1]):
            for i in range(n):
                prim.set_item(b, i, j, prim.item(b, i, j) / prim.cast(factor, dtype))
    return status


def self_adjoint_into(a, upper, w, v):
    """Puts eigenvalues and vectors of a matrix into arrays by one of its triangles; `v` without rows for none."""
    n = a.shape[0]
    dtype = prim.dtype_of(v)
    f, vectors = columns_of(a.T if upper else a, dtype), new_fortran(v.shape, dtype)
    if upper:
        conjugate_in_place(f)
    # The diagonal counts as real.
    for i in range(n if prim.is_complex(dtype) else 0):
        prim.set_item(f, i, i, prim.cast(prim.item(f, i, i).real, dtype))
    factor = _scaled(f)
    if factor == np.inf:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    wanted = 1 if v.shape[0] == n else 0
    status = prim.lh_eigh(dtype, n, prim.data(f), prim.data(w), wanted, prim.data(vectors))
    check(status, "Eigenvalues did not converge")
    _multiply(w, factor)
    copy_into(v, vectors)


def general_into(a, w, v, name):
    """Puts eigenvalues and vectors of a matrix into arrays; `v` without rows for none."""
    dtype = prim.dtype_of(v)
    imaginary, vectors = new_array((a.shape[0],), dtype), new_fortran(v.shape, dtype)
    factor = _general(a, w, imaginary, vectors)
    if not prim.is_complex(dtype):
        for i in range(w.size):
            if prim.item(imaginary, i) != 0.0:
                raise ValueError(name + "() argument must not cause a domain change.")
    _multiply(w, factor)
    for j in range(v.shape[1]):
        _normalise(vectors, j)
    copy_into(v, vectors)


def _general(a, w, imaginary, vectors):
    # Fills the arrays by the run-time library; the factor of all eigenvalues.
    n = a.shape[0]
    dtype = prim.dtype_of(vectors)
    f = columns_of(a, dtype)
    factor = _scaled(f)
    if factor == np.inf:
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs")
    wanted = 1 if vectors.shape[0] == n else 0
    status = prim.lh_eig(dtype, n, prim.data(f), prim.data(w), prim.data(imaginary), wanted, prim.data(vectors))
    check(status, "Eigenvalues did not converge")
    return factor


def general_of_real_into(a, w, v):
    """Puts eigenvalues and vectors of a real matrix into arrays of complex numbers; `v` without rows for none."""
    n, dtype = a.shape[0], prim.dtype_of(a)
    real, imaginary, packed = new_array((n,), dtype), new_array((n,), dtype), new_fortran(v.shape, dtype)
    factor = prim.cast(_general(a, real, imaginary, packed), dtype)
    vectors = new_fortran(v.shape, prim.dtype_of(v))
    copy_into(vectors, packed)
    for j in range(n):
        im = prim.item(imaginary, j)
        prim.set_item(w, j, prim.complex(prim.item(real, j) * factor, im * factor))
        if im > 0.0:
            # Of a conjugate pair there are the real parts and the imaginary ones.
            for i in range(v.shape[0]):
                x = prim.complex(prim.item(packed, i, j), prim.item(packed, i, j + 1))
                prim.set_item(vectors, i, j, x)
                prim.set_item(vectors, i, j + 1, x.conjugate())
    for j in range(v.shape[1]):
        _normalise(vectors, j)
    copy_into(v, vectors)


def _normalise(v, j):
    # LAPACK's convention: the length is one and, of complex vectors, the largest number is real.
    n = v.shape[0]
    best, largest, total = 0, -1.0, 0.0
    for i in range(n):
        x = prim.cast(prim.item(v, i, j), np.complex128)
        square = x.real * x.real + x.imag * x.imag
        total += square
        if square > largest:
            best, largest = i, square
    if not total > 0.0:
        return
    dtype = prim.dtype_of(v)
    turn = prim.cast(1.0 / prim.sqrt(total), dtype)
    if prim.is_complex(dtype):
        turn *= conj(prim.item(v, best, j)) / prim.cast(prim.sqrt(largest), dtype)
    for i in range(n):
        prim.set_item(v, i, j, prim.item(v, i, j) * turn)
