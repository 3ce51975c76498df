"""Functions of kernels that return arrays in local memory, which ends with the call, are refused."""

from __future__ import annotations

import numpy as np
import pytest

from lancehead import cuda
from lancehead.errors import TypingError


@cuda.jit(device=True)
def itself(v):
    return v


@cuda.jit(device=True)
def plain(a, b):
    v = cuda.local.array(2, np.float64)
    v[0], v[1] = a, b
    return v


@cuda.jit(device=True)
def part(a, b):
    v = cuda.local.array((2, 3), np.float64)
    v[:] = a + b
    return v[1, ::2]


@cuda.jit(device=True)
def in_a_tuple(a, b):
    v = cuda.local.array(2, np.float64)
    v[0], v[1] = a, b
    return a, (v, b)


@cuda.jit(device=True)
def by_another(a, b):
    v = cuda.local.array(2, np.float64)
    v[0], v[1] = a, b
    return itself(itself(v))


@cuda.jit(device=True)
def one_of_two(a, b):
    v = cuda.local.array(2, np.float64)
    w = cuda.local.array(2, np.float64)
    v[0], v[1], w[0], w[1] = a, b, b, a
    return v if a > b else w


@cuda.jit(device=True)
def in_a_loop(a, b):
    v = cuda.local.array(2, np.float64)
    w = v
    for k in range(3):
        v[k % 2] = a
        w = v[::-1]
    return w


@cuda.jit(device=True, inline=True)
def inlined(a, b):
    v = cuda.local.array(2, np.float64)
    v[0], v[1] = a, b
    return v.reshape(2, 1)


@pytest.mark.parametrize("f", [plain, part, in_a_tuple, by_another, one_of_two, in_a_loop, inlined])
def test_local_memory_that_is_returned(f):
    @cuda.jit
    def kernel(out):
        f(cuda.threadIdx.x, 10.0)
        out[0] = 1

    with pytest.raises(TypingError, match=r"returns memory of `cuda.local.array`") as raised:
        kernel[1, 3](np.zeros(3))
    assert "test_cuda_local_results.py" in str(raised.value)
