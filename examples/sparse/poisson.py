"""Conjugate gradients on a Poisson matrix: heat in a square plate whose border is cold, on a grid of n by n points.

Usage: python poisson.py [n]
"""

import sys
import time

import numpy as np

from lancehead import njit, sparse


def laplacian(n):
    """The matrix of second differences on a grid of n by n points, five entries a row."""
    line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    return sparse.kron(sparse.eye_array(n), line) + sparse.kron(line, sparse.eye_array(n))


@njit(parallel=True, cache=True)
def conjugate_gradients(A, b, tolerance, rounds):
    """The solution of A x = b, and how many rounds it took."""
    x = np.zeros(b.size)
    r = b.copy()
    p = b.copy()
    old = r @ r
    limit = tolerance**2 * old
    for k in range(rounds):
        if old <= limit:
            return x, k
        q = A @ p
        step = old / (p @ q)
        x += step * p
        r -= step * q
        new = r @ r
        p = r + new / old * p
        old = new
    return x, rounds


def main(n=100):
    A = laplacian(n)
    source = np.zeros((n, n))
    source[n // 3, n // 4] = 1.0
    start = time.perf_counter()
    x, rounds = conjugate_gradients(A, source.reshape(-1), 1e-10, 10 * n)
    error = np.abs(A @ x - source.reshape(-1)).max()
    print(f"{A.shape[0]} unknowns, {A.nnz} entries: {rounds} rounds, {time.perf_counter() - start:.2f} s")
    print(f"residual {error:.1e}, hottest point {divmod(int(x.argmax()), n)}")
    return A, x, source


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
