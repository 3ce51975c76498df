"""Factorisations on the CPU device, compiled: by faer where the library has it, and Householder's reflections in the
form that LAPACK stores."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np

from lancehead.decorators import njit


@njit(error_model="numpy")
def cholesky(a, is_upper):
    """The factor of a positive definite matrix of which one triangle is stored, in place. Returns 0, or the number of
    the first leading minor that is not positive."""
    n = a.shape[0]
    for j in range(n):
        for i in range(j, n):
            total = np.conj(a[j, i]) if is_upper else a[i, j]
            for k in range(j):
                if is_upper:
                    total -= np.conj(a[k, i]) * a[k, j]
                else:
                    total -= a[i, k] * np.conj(a[j, k])
            if i == j:
                if not total.real > 0:
                    return j + 1
                a[j, j] = a.dtype.type(np.sqrt(total.real))
            elif is_upper:
                a[j, i] = np.conj(total / np.conj(a[j, j]))
            else:
                a[i, j] = total / a[j, j]
    return 0


@njit(error_model="numpy")
def lu(a, pivots):
    """The factors of a matrix with rows exchanged for the greatest pivots, in place. Returns 0, or the number of the
    first pivot that is 0."""
    m, n = a.shape
    info = 0
    for j in range(min(m, n)):
        best = j
        for i in range(j + 1, m):
            if abs(a[i, j].real) + abs(a[i, j].imag) > abs(a[best, j].real) + abs(a[best, j].imag):
                best = i
        pivots[j] = best + 1
        if a[best, j] == 0:
            if info == 0:
                info = j + 1
            continue
        if best != j:
            for k in range(n):
                a[j, k], a[best, k] = a[best, k], a[j, k]
        for i in range(j + 1, m):
            a[i, j] /= a[j, j]
        for k in range(j + 1, n):
            v = a[j, k]
            for i in range(j + 1, m):
                a[i, k] -= a[i, j] * v
    return info


@njit(error_model="numpy")
def exchange(pivots, b, backwards):
    """Exchanges the rows that a factorisation has exchanged."""
    n = pivots.size
    for t in range(n):
        i = n - 1 - t if backwards else t
        j = pivots[i] - 1
        if j != i:
            for k in range(b.shape[1]):
                b[i, k], b[j, k] = b[j, k], b[i, k]


@njit(error_model="numpy")
def reflections(a, tau):
    """The factors of A = Q R, in place: R and below it the vectors of the reflections whose product is Q."""
    m, n = a.shape
    for j in range(min(m, n)):
        size = abs(a.dtype.type(0))
        for i in range(j + 1, m):
            size = np.hypot(size, abs(a[i, j]))
        head = a[j, j]
        if size == 0 and head.imag == 0:
            tau[j] = 0
            continue
        norm = np.hypot(abs(head), size)
        beta = -norm if head.real >= 0 else norm
        tau[j] = (beta - head) / beta
        for i in range(j + 1, m):
            a[i, j] /= head - beta
        a[j, j] = beta
        for k in range(j + 1, n):
            _reflect(a, j, np.conj(tau[j]), a, k)


@njit(error_model="numpy")
def _reflect(vectors, j, tau, c, k):
    """Applies a reflection to a column: its vector has 1 at the diagonal, which is not stored."""
    total = c[j, k]
    for i in range(j + 1, vectors.shape[0]):
        total += np.conj(vectors[i, j]) * c[i, k]
    total *= tau
    c[j, k] -= total
    for i in range(j + 1, vectors.shape[0]):
        c[i, k] -= vectors[i, j] * total


@njit(error_model="numpy")
def apply_reflections(vectors, tau, adjoint, c):
    """C = Q C, or Q^H C."""
    count = tau.size
    for t in range(count):
        j = t if adjoint else count - 1 - t
        for k in range(c.shape[1]):
            _reflect(vectors, j, np.conj(tau[j]) if adjoint else tau[j], c, k)


@njit
def cholesky_factor(a):
    """The lower factor by faer; raises if there is none."""
    return np.linalg.cholesky(a)


@njit
def singular_values(a, full):
    """U, S and V^H."""
    return np.linalg.svd(a, full_matrices=full)


@njit
def eigenvalues(a):
    """Eigenvalues of a Hermitian matrix in ascending order, and vectors as columns."""
    return np.linalg.eigh(a)
