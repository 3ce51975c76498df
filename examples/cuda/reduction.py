"""Sums: of a block through shared memory, of a warp through shuffles, and `cuda.reduce`."""

import numpy as np

from lancehead import cuda

THREADS = 256


@cuda.jit
def block_sum(values, out):
    """Each block adds its part to out[0]."""
    partial = cuda.shared.array(THREADS, np.float64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    partial[t] = values[i] if i < values.size else 0
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            partial[t] += partial[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(out, 0, partial[0])


@cuda.jit
def warp_sum(values, out):
    """Each warp adds its part to out[0]."""
    i = cuda.grid(1)
    x = values[i] if i < values.size else 0.0
    for shift in (16, 8, 4, 2, 1):
        x += cuda.shfl_down_sync(0xFFFFFFFF, x, shift)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, x)


@cuda.reduce
def total(a, b):
    """a + b"""
    return a + b


if __name__ == "__main__":
    values = np.random.default_rng(1).random(10_000)
    for kernel in (block_sum, warp_sum):
        out = np.zeros(1)
        kernel[(values.size + THREADS - 1) // THREADS, THREADS](values, out)
        assert np.isclose(out[0], values.sum(), rtol=1e-12)
        print(f"{kernel.__name__}: {out[0]:.6f}")
    assert np.isclose(total(values), values.sum(), rtol=1e-12)
    print(f"cuda.reduce: {total(values):.6f}")
