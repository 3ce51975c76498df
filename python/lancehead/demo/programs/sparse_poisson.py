"""Conjugate gradients on a Poisson matrix: heat in a square plate whose border is cold."""

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from threadpoolctl import threadpool_limits

from lancehead import njit, sparse
from lancehead.demo.program import Program


def plain(matrix, source):
    # Threads of BLAS, which wait for one another in products of short vectors, cost more than they give.
    with threadpool_limits(1):
        solution, failed = scipy.sparse.linalg.cg(matrix, source, rtol=1e-10)
    return np.zeros(0) if failed else solution


@njit(parallel=True)
def conjugate_gradients(A, b, tolerance):
    x = np.zeros(b.size)
    r = b.copy()
    p = b.copy()
    old = r @ r
    limit = tolerance**2 * old
    while old > limit:
        q = A @ p
        step = old / (p @ q)
        x += step * p
        r -= step * q
        new = r @ r
        p = r + new / old * p
        old = new
    return x


def compiled(matrix, source):
    return conjugate_gradients(sparse.csr_array(matrix), source, 1e-10)


def laplacian(n):
    """The matrix of second differences on a grid of n by n points, five entries a row."""
    line = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    return scipy.sparse.csr_array(scipy.sparse.kronsum(line, line))


def inputs(quick):
    n = 30 if quick else 200
    source = np.zeros((n, n))
    source[n // 3, n // 4] = 1.0
    return laplacian(n), source.reshape(-1)


def objection(answer):
    # Heat leaves the plate at its border only, and as much as the source gives, which is 1.
    n = int(np.sqrt(answer.size))
    plate = answer.reshape(n, n)
    flow = plate[0].sum() + plate[-1].sum() + plate[:, 0].sum() + plate[:, -1].sum()
    return "" if abs(flow - 1.0) < 1e-8 else f"{flow:.9f} of the heat flows out"


PROGRAM = Program(
    name="sparse_poisson",
    title="Conjugate gradients, CSR",
    baseline="SciPy",
    inputs=inputs,
    size=lambda matrix, source: f"{matrix.shape[0]:,} unknowns, {matrix.nnz:,} entries",
    plain=plain,
    compiled=compiled,
    tolerance=1e-7,
    objection=objection,
)
