"""Blurs a photograph: a block loads its tile and a border around it into shared memory, then averages from there."""

import numpy as np
from sklearn.datasets import load_sample_image

from lancehead import cuda

TILE = 16
RADIUS = 2
WIDE = TILE + 2 * RADIUS


@cuda.jit
def blur(photo, out):
    """out[i, j, c] = mean of the (2 * RADIUS + 1)**2 pixels around photo[i, j, c]; the edge repeats outside."""
    tile = cuda.shared.array((WIDE, WIDE), np.int32)
    height, width, channels = photo.shape
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * TILE - RADIUS, cuda.blockIdx.x * TILE - RADIUS
    row, column = cuda.blockIdx.y * TILE + y, cuda.blockIdx.x * TILE + x
    for channel in range(channels):
        for i in range(y, WIDE, TILE):
            for j in range(x, WIDE, TILE):
                from_row = min(max(top + i, 0), height - 1)
                from_column = min(max(left + j, 0), width - 1)
                tile[i, j] = photo[from_row, from_column, channel]
        cuda.syncthreads()
        total = 0
        for i in range(2 * RADIUS + 1):
            for j in range(2 * RADIUS + 1):
                total += tile[y + i, x + j]
        if row < height and column < width:
            out[row, column, channel] = total // (2 * RADIUS + 1) ** 2
        cuda.syncthreads()


if __name__ == "__main__":
    photo = load_sample_image("china.jpg")
    out = np.zeros_like(photo)
    blocks = (-(-photo.shape[1] // TILE), -(-photo.shape[0] // TILE))
    blur[blocks, (TILE, TILE)](photo, out)
    padded = np.pad(photo, ((RADIUS, RADIUS), (RADIUS, RADIUS), (0, 0)), mode="edge").astype(np.int64)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2 * RADIUS + 1, 2 * RADIUS + 1), axis=(0, 1))
    assert (out == windows.sum(axis=(-2, -1)) // (2 * RADIUS + 1) ** 2).all()
    roughness = [np.abs(np.diff(p.astype(int), axis=1)).mean() for p in (photo, out)]
    print("mean step between neighbours: {:.2f} before, {:.2f} after".format(*roughness))
