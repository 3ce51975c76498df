"""Adds one to every element of a matrix: a grid of two dimensions whose edge is larger than the matrix."""

import math

import numpy as np

from lancehead import cuda


@cuda.jit
def increment(matrix):
    """matrix += 1"""
    x, y = cuda.grid(2)
    if x < matrix.shape[0] and y < matrix.shape[1]:
        matrix[x, y] += 1


if __name__ == "__main__":
    matrix = np.arange(100 * 70).reshape(100, 70)
    before = matrix.copy()
    threads = (16, 16)
    blocks = tuple(math.ceil(extent / t) for extent, t in zip(matrix.shape, threads))
    increment[blocks, threads](matrix)
    assert (matrix == before + 1).all()
    print("blocks:", blocks, "first row begins", matrix[0, :5])
