"""Loops with several indices that are cut to their low bits read the elements that they name."""

from __future__ import annotations

import numpy as np
import pytest

from lancehead import cuda, njit


def masks(a, b, out, k):
    for i in range(len(out)):
        out[i] = a[i & 3] + b[(i + k) & 127]


def remainders(a, b, out, k):
    for i in range(len(out)):
        out[i] = a[4 * i + i % 4] + b[(i + k) % 128]


def bytes_of(a, b, out, k):
    for i in range(len(out)):
        out[i] = a[np.uint8(i + k)] + b[i & 15]


def three(a, b, out, k):
    for i in range(len(out)):
        out[i] = a[i & 1] + b[(i - k) & 31] - a[(i * 3) & 255]


@pytest.mark.parametrize("options", [{}, {"boundscheck": False}, {"fastmath": True}], ids=str)
@pytest.mark.parametrize("function", [masks, remainders, bytes_of, three], ids=lambda f: f.__name__)
def test_no_counter_is_taken_not_to_wrap(function, options):
    compiled, random = njit(**options)(function), np.random.default_rng(1)
    for dtype in (np.int64, np.float32):
        a, b = random.integers(0, 1000, (2, 500)).astype(dtype)
        for n in (0, 1, 5, 8, 16, 31, 32, 33, 64, 100):
            for k in (0, 1, 64, 90, 104, 127):
                got, want = np.zeros(n, dtype), np.zeros(n, dtype)
                compiled(a, b, got, k)
                with np.errstate(all="ignore"):
                    function(a, b, want, k)
                np.testing.assert_array_equal(got, want)


def shuffled(out, buffer):
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 64 + t
    own = cuda.local.array(4, np.int64)
    for j in range(4):
        own[j] = t * 100 + j
    h, d = np.float32(t), 1
    while d < 32:
        h = h * np.float32(0.5) + cuda.shfl_down_sync(0xFFFFFFFF, h, d)
        d *= 2
    out[i] = int(buffer[(i + 104) % 128]) + own[t & 3]


def test_lanes_read_their_own_memory():
    out, t = np.zeros(128, np.int64), np.arange(128) % 64
    cuda.jit(shuffled)[2, 64](out, np.zeros(128, np.int64))
    np.testing.assert_array_equal(out, t * 100 + t % 4)
