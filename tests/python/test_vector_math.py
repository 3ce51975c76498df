"""Loops over elementary functions use vectors as wide as the processor has them."""

import math

import numpy as np
import pytest

from lancehead import njit


def widest():
    with open("/proc/cpuinfo") as file:
        return "zmm" if " avx512f " in file.read() else "ymm"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tan", "tanh", "erf", "atan"])
def test_vectors_are_wide(name, dtype):
    f = getattr(math, name)

    @njit
    def run(x, out):
        for i in range(x.shape[0]):
            out[i] = f(x[i])

    x = np.linspace(0.1, 2, 1000, dtype=dtype)
    out = np.empty_like(x)
    run(x, out)
    assert widest() in "".join(run.inspect_asm().values())
    np.testing.assert_allclose(out, [f(v) for v in x.tolist()], rtol=4 * np.finfo(dtype).eps)
