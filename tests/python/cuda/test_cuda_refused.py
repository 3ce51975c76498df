"""Names of the host in kernels, and local memory that would outlive its function: diagnostics at the program's line."""

from __future__ import annotations

import types

import numpy as np
import pytest

from lancehead import cuda
from lancehead.cuda import names
from lancehead.cuda.vector_types import __all__ as VECTORS
from lancehead.errors import TypingError

#: Names that the host uses: functions and classes beside the names of kernels, types and vectors.
HOST = [
    name
    for name in cuda.__all__
    if isinstance(getattr(cuda, name), type | types.FunctionType)
    and getattr(cuda, name).__module__.startswith("lancehead.cuda")
    and not hasattr(names, name)
    and name not in VECTORS
]


def test_names_are_found():
    assert {"device_array", "synchronize", "stream", "to_device", "select_device", "pinned", "jit", "Event"} <= {*HOST}


@pytest.mark.parametrize("name", HOST)
def test_names_of_the_host_in_kernels(name):
    for given in ("", "x", "x, 3"):
        text = f"def helper(x):\n    return cuda.{name}({given})\ndef kernel(x):\n    x[0] = 1\n    helper(x)\n"
        found = {"cuda": cuda}
        exec(compile(text, "program.py", "exec"), found)
        with pytest.raises(TypingError) as raised:
            cuda.jit(found["kernel"])[1, 1](np.zeros(3))
        assert f"cuda.{name}`" in str(raised.value)
        assert "--> program.py:2" in str(raised.value)
        assert "python/lancehead" not in str(raised.value)


def test_local_memory_in_generators():
    @cuda.jit(device=True)
    def items(a):
        v = cuda.local.array(2, np.float64)
        v[0] = a
        yield v[0]

    @cuda.jit
    def kernel(out):
        for x in items(3.0):
            out[0] += x

    with pytest.raises(TypingError, match=r"`cuda.local.array` in a generator"):
        kernel[1, 1](np.zeros(1))


def test_memory_of_others_is_returned():
    # Local memory of the caller, shared memory, parameters, and new numbers.
    @cuda.jit(device=True)
    def filled(v, a, b):
        own = cuda.local.array(2, np.float64)
        own[0], own[1] = a, b
        v[0], v[1] = own[1], own[0]
        return v

    @cuda.jit(device=True)
    def shared(a):
        s = cuda.shared.array(32, np.float64)
        s[cuda.threadIdx.x] = a
        cuda.syncthreads()
        return s

    @cuda.jit(device=True)
    def numbers(a, b):
        own = cuda.local.array(2, np.float64)
        own[0], own[1] = a, b
        return own[0], own[1], own.sum()

    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        v = cuda.local.array(2, np.float64)
        w = filled(v, i, 10.0)
        s = shared(i)
        a, b, c = numbers(w[0], w[1])
        out[i] = a + 10 * b + c + s[(i + 1) % 3]

    out = np.zeros(3)
    kernel[1, 3](out)
    np.testing.assert_array_equal(out, [10 + 10 * i + 10 + i + (i + 1) % 3 for i in range(3)])
