"""The trace of tanh, added to the whole array."""

import numpy as np

from lancehead import njit
from lancehead.demo.program import Program


def plain(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


def inputs(quick):
    n = 100 if quick else 1000
    return (np.random.default_rng(1).random((n, n)),)


PROGRAM = Program(
    name="go_fast",
    title="Trace of tanh + broadcast add",
    baseline="NumPy",
    inputs=inputs,
    size=lambda a: f"{a.shape[0]} × {a.shape[1]}",
    plain=plain,
    compiled=njit(plain),
    tolerance=1e-13,
)
