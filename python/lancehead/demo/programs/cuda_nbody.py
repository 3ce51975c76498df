"""Gravity by a CUDA kernel that shares tiles of bodies among the threads of a block, beside NumPy's arrays of all
pairs."""

import numpy as np

from lancehead import cuda
from lancehead.demo.program import Program

TILE = 64
SOFTENING = np.float32(1e-2)


def plain(position, mass):
    apart = position[None, :, :] - position[:, None, :]
    square = (apart * apart).sum(axis=2) + SOFTENING
    return ((mass[None, :] / (square * np.sqrt(square)))[:, :, None] * apart).sum(axis=1)


@cuda.jit
def kernel(position, mass, acceleration):
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


def compiled(position, mass):
    acceleration = np.empty_like(position)
    kernel[(mass.size + TILE - 1) // TILE, TILE](position, mass, acceleration)
    return acceleration


def inputs(quick):
    rng = np.random.default_rng(1)
    n = 100 if quick else 1500
    return rng.random((n, 3), np.float32), rng.random(n, np.float32)


PROGRAM = Program(
    name="cuda_nbody",
    title="Gravity of n bodies, CUDA kernel on the CPU",
    baseline="NumPy",
    inputs=inputs,
    size=lambda p, m: f"{m.size} bodies",
    plain=plain,
    compiled=compiled,
    tolerance=2e-3,
)
