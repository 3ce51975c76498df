"""Product of two matrices held as lists of lists."""

import random

from lancehead import njit
from lancehead.demo.program import Program


def plain(a, b):
    rows, inner, columns = len(a), len(b), len(b[0])
    c = [[0.0] * columns for _ in range(rows)]
    for i in range(rows):
        for j in range(columns):
            total = 0.0
            for k in range(inner):
                total += a[i][k] * b[k][j]
            c[i][j] = total
    return c


def inputs(quick):
    n = 40 if quick else 200
    numbers = random.Random(3)
    return tuple([[numbers.random() for _ in range(n)] for _ in range(n)] for _ in range(2))


PROGRAM = Program(
    name="matmul_lists",
    title="Matrix multiply, nested lists",
    baseline="Python",
    inputs=inputs,
    size=lambda a, b: f"{len(a)} × {len(b)} × {len(b[0])}",
    plain=plain,
    compiled=njit(plain),
)
