"""A product of matrices by a kernel in CUDA C, with tiles in shared memory, beside `@`.

Without a GPU the text runs on lancehead's CPU device.
"""

import numpy as np

from lancehead import cupy as cp

TEXT = r"""
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
"""
KERNEL = cp.RawKernel(TEXT, "matmul")


def product(a, b):
    """The product of square matrices of one size."""
    n = len(a)
    c = cp.empty((n, n), dtype=cp.float32)
    blocks = -(-n // 16)
    KERNEL((blocks, blocks), (16, 16), (a, b, c, n))
    return c


def main():
    n = 250
    rng = np.random.default_rng(3)
    a, b = rng.random((n, n), np.float32), rng.random((n, n), np.float32)
    found = product(cp.asarray(a), cp.asarray(b))
    np.testing.assert_allclose(cp.asnumpy(found), a @ b, rtol=1e-5)
    print(f"raw kernel: {n} by {n}")
    print("largest difference from @:", float(abs(found - cp.asarray(a) @ cp.asarray(b)).max()))


if __name__ == "__main__":
    main()
