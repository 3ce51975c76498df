"""Divides each row of a matrix by its Euclidean norm: one block a row, whose threads add up through shared memory."""

import math

import numpy as np

from lancehead import cuda

THREADS = 128


@cuda.jit
def normalize(rows):
    """Every row gets length 1; rows of zeros stay."""
    partial = cuda.shared.array(THREADS, np.float64)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    total = 0.0
    for j in range(t, rows.shape[1], THREADS):
        total += rows[row, j] * rows[row, j]
    partial[t] = total
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            partial[t] += partial[t + half]
        cuda.syncthreads()
        half //= 2
    norm = math.sqrt(partial[0])
    if norm > 0.0:
        for j in range(t, rows.shape[1], THREADS):
            rows[row, j] /= norm


if __name__ == "__main__":
    rows = np.random.default_rng(1).standard_normal((300, 1000))
    rows[7] = 0.0
    expected = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    normalize[rows.shape[0], THREADS](rows)
    difference = np.abs(rows - expected).max()
    assert difference < 1e-15
    print("largest difference from NumPy:", difference)
