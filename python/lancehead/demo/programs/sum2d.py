"""Sum over a two-dimensional array, element by element."""

import numpy as np

from lancehead import njit
from lancehead.demo.program import Program


def plain(a):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j]
    return total


def inputs(quick):
    n = 200 if quick else 2000
    return (np.random.default_rng(0).random((n, n)),)


PROGRAM = Program(
    name="sum2d",
    title="Sum over a 2-D array",
    baseline="Python",
    inputs=inputs,
    size=lambda a: f"{a.shape[0]} × {a.shape[1]}",
    plain=plain,
    compiled=njit(plain),
)
