"""A CuPy tutorial's function of two arrays, by array functions: the same text is NumPy's and `lancehead.cupy`'s."""

import numpy as np

from lancehead import cupy as cp
from lancehead.demo.program import Program


def saxpy_trig(a, x, y):
    xp = cp.get_array_module(x, y)
    return xp.exp(a * xp.sin(x) + xp.cos(y))


def plain(a, host, device):
    return saxpy_trig(a, *host)


def compiled(a, host, device):
    return cp.asnumpy(saxpy_trig(a, *device))


def inputs(quick):
    rng = np.random.default_rng(7)
    n = 10_000 if quick else 4_000_000
    host = rng.random(n, np.float32), rng.random(n, np.float32)
    # As in the tutorial, the arrays are on the device before the clock starts.
    return np.float32(0.5), host, tuple(cp.asarray(x) for x in host)


PROGRAM = Program(
    name="cupy_saxpy_trig",
    title="saxpy_trig, CuPy's arrays",
    baseline="NumPy",
    inputs=inputs,
    size=lambda a, host, device: f"{host[0].size:,} numbers",
    plain=plain,
    compiled=compiled,
    tolerance=1e-5,
)
