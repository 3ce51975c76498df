"""Bodies under their own gravity: positions come tile by tile through shared memory."""

import numpy as np

from lancehead import cuda

TILE = 64
SOFTENING = np.float32(1e-3)


@cuda.jit
def accelerate(position, mass, acceleration):
    """acceleration[i] = sum over j of mass[j] * (position[j] - position[i]) / (distance**2 + SOFTENING) ** 1.5

    Shapes: position (n, 3), mass (n,), acceleration (n, 3), all float32.
    """
    tile = cuda.shared.array((TILE, 4), np.float32)
    i, t, n = cuda.grid(1), cuda.threadIdx.x, mass.size
    mine = min(i, n - 1)
    x, y, z = position[mine, 0], position[mine, 1], position[mine, 2]
    ax = ay = az = np.float32(0)
    for start in range(0, n, TILE):
        other = start + t
        if other < n:
            tile[t, 0], tile[t, 1], tile[t, 2] = position[other, 0], position[other, 1], position[other, 2]
            tile[t, 3] = mass[other]
        cuda.syncthreads()
        for j in range(min(TILE, n - start)):
            dx, dy, dz = tile[j, 0] - x, tile[j, 1] - y, tile[j, 2] - z
            square = dx * dx + dy * dy + dz * dz + SOFTENING
            pull = tile[j, 3] / (square * np.sqrt(square))
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        cuda.syncthreads()
    if i < n:
        acceleration[i, 0], acceleration[i, 1], acceleration[i, 2] = ax, ay, az


if __name__ == "__main__":
    n = 1000
    rng = np.random.default_rng(1)
    position = rng.standard_normal((n, 3)).astype(np.float32)
    mass = rng.random(n, dtype=np.float32)
    acceleration = np.zeros_like(position)
    accelerate.forall(n, tpb=TILE)(position, mass, acceleration)
    apart = position[None].astype(np.float64) - position[:, None]
    square = (apart**2).sum(axis=2) + SOFTENING
    expected = (mass[None, :, None] * apart / square[..., None] ** 1.5).sum(axis=1)
    difference = np.abs(acceleration - expected).max() / np.abs(expected).max()
    assert difference < 1e-5
    print(f"largest relative difference from NumPy in double precision: {difference:.1e}")
