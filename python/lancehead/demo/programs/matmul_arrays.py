"""Product of two matrices held as arrays, with three loops."""

import numpy as np

from lancehead import njit
from lancehead.demo.program import Program


def plain(a, b):
    rows, inner = a.shape
    columns = b.shape[1]
    c = np.zeros((rows, columns))
    for i in range(rows):
        for k in range(inner):
            for j in range(columns):
                c[i, j] += a[i, k] * b[k, j]
    return c


def inputs(quick):
    n = 30 if quick else 160
    numbers = np.random.default_rng(4)
    return numbers.random((n, n)), numbers.random((n, n))


PROGRAM = Program(
    name="matmul_arrays",
    title="Matrix multiply, arrays",
    baseline="Python",
    inputs=inputs,
    size=lambda a, b: f"{a.shape[0]} × {a.shape[1]} × {b.shape[1]}",
    plain=plain,
    compiled=njit(plain),
    tolerance=1e-14,
)
