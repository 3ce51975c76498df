"""Monte-Carlo estimate of pi. Both versions draw the same random numbers."""

import numpy as np

from lancehead import njit
from lancehead.demo.program import Program


def plain(n):
    np.random.seed(2024)
    hits = 0
    for _ in range(n):
        x = np.random.random()
        y = np.random.random()
        if x * x + y * y < 1.0:
            hits += 1
    return 4.0 * hits / n


PROGRAM = Program(
    name="pi",
    title="Monte-Carlo pi",
    baseline="Python",
    inputs=lambda quick: (50_000 if quick else 3_000_000,),
    size=lambda n: f"{n:,} points",
    plain=plain,
    compiled=njit(plain),
)
