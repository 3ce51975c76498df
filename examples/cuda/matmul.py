"""Matrix product: each thread on its own, and with tiles in shared memory."""

import numpy as np

from lancehead import cuda

TILE = 16


@cuda.jit
def naive(a, b, c):
    """c = a @ b; a thread reads a row and a column."""
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


@cuda.jit
def matmul(a, b, c):
    """c = a @ b; a block computes a tile of c."""
    tile_a = cuda.shared.array((TILE, TILE), np.float32)
    tile_b = cuda.shared.array((TILE, TILE), np.float32)
    column, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        tile_a[y, x] = a[row, start + x] if row < a.shape[0] and start + x < a.shape[1] else 0
        tile_b[y, x] = b[start + y, column] if column < b.shape[1] and start + y < b.shape[0] else 0
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    a, b = rng.random((200, 300), dtype=np.float32), rng.random((300, 250), dtype=np.float32)
    c = np.zeros((200, 250), np.float32)
    matmul[(16, 13), (TILE, TILE)](a, b, c)
    difference = np.abs(c - a @ b).max()
    assert difference < 1e-3
    slow = np.zeros_like(c)
    naive[(16, 13), (TILE, TILE)](a, b, slow)
    assert (slow == c).all()
    print("largest difference from NumPy:", difference)
