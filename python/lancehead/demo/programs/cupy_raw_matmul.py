"""A product of matrices by a kernel in CUDA C with tiles in shared memory, beside sums of products by NumPy."""

import numpy as np

from lancehead import cupy as cp
from lancehead.demo.program import Program

KERNEL = cp.RawKernel(
    r"""
#define TILE 16

extern "C" __global__
void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float rows[TILE][TILE];
    __shared__ float columns[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < n; start += TILE) {
        int k = start + threadIdx.x, m = start + threadIdx.y;
        rows[threadIdx.y][threadIdx.x] = row < n && k < n ? a[row * n + k] : 0.0f;
        columns[threadIdx.y][threadIdx.x] = m < n && column < n ? b[m * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) {
            sum += rows[threadIdx.y][i] * columns[i][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}
""",
    "matmul",
)


def plain(a, b):
    return np.einsum("ik,kj->ij", a, b)


def compiled(a, b):
    n = len(a)
    c = cp.empty((n, n), dtype=cp.float32)
    blocks = -(-n // 16)
    KERNEL((blocks, blocks), (16, 16), (cp.asarray(a), cp.asarray(b), c, n))
    return cp.asnumpy(c)


def inputs(quick):
    rng = np.random.default_rng(3)
    n = 50 if quick else 800
    return rng.random((n, n), np.float32), rng.random((n, n), np.float32)


PROGRAM = Program(
    name="cupy_raw_matmul",
    title="Matrix product, CuPy's RawKernel",
    baseline="NumPy",
    inputs=inputs,
    size=lambda a, b: f"{len(a)} × {len(a)}, without BLAS",
    plain=plain,
    compiled=compiled,
    tolerance=1e-5,
)
