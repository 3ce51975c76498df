"""Factorisations on the CPU device, compiled, and Householder's reflections in the form that LAPACK stores."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np

from lancehead.decorators import njit
from lancehead.lib.scipy.triangular import factor


@njit(error_model="numpy")
def lu(a):
    """The factors of a matrix by rows, in place. Returns where each row comes from."""
    return factor(a)


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
    """The lower factor; raises if there is none."""
    return np.linalg.cholesky(a)


@njit
def singular_values(a, full):
    """U, S and V^H."""
    return np.linalg.svd(a, full_matrices=full)


@njit
def eigenvalues(a):
    """Eigenvalues of a Hermitian matrix in ascending order, and vectors as columns."""
    return np.linalg.eigh(a)
