"""The one-dimensional heat equation with explicit time steps."""

import numpy as np

from lancehead import njit
from lancehead.demo.program import Program


def plain(u, steps, rate):
    for _ in range(steps):
        u[1:-1] = u[1:-1] + rate * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


@njit
def compiled(u, steps, rate):
    new = u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            new[i] = u[i] + rate * (u[i + 1] - 2.0 * u[i] + u[i - 1])
        u, new = new, u
    return u


def inputs(quick):
    points, steps = (200, 500) if quick else (1000, 40_000)
    u = np.zeros(points)
    u[0], u[points // 2] = 100.0, 500.0
    return u, steps, 0.25


PROGRAM = Program(
    name="heat",
    title="1-D heat equation",
    baseline="NumPy",
    inputs=inputs,
    size=lambda u, steps, rate: f"{len(u)} points, {steps:,} steps",
    plain=plain,
    compiled=compiled,
    tolerance=1e-12,
)
