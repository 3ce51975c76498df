"""Kernels on the CPU device, on one core, beside the same work as an `@njit` loop.

    python benches/gpu/cpu_device.py [name ...]

Least time of rounds that take turns, so that both see the same machine. The last column is what hand-written vectors of 32
lanes took on another machine, as a multiple of its plain loop: what the device is to come near.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import lancehead
from lancehead import cuda, njit

ROUNDS, LEAST = 9, 0.004
TILE = 16


@dataclass(frozen=True)
class Row:
    """A kernel's launch, the same work as a loop, units of work of each, and vectors by hand over a plain loop."""

    name: str
    launch: Callable[[], Any]
    loop: Callable[[], Any]
    units: int
    by_hand: float
    same: Callable[[], bool]


def f32(n: int) -> np.ndarray:
    """Floats from 0 to 1, the same each time."""
    return np.random.default_rng(1).random(n).astype(np.float32)


@cuda.jit
def add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@njit
def add_loop(a, b, out):
    for i in range(out.size):
        out[i] = a[i] + b[i]


def vector_add(n: int = 1 << 16) -> Row:
    """Streams two arrays into a third."""
    a, b, out, want = f32(n), f32(n), np.zeros(n, np.float32), np.zeros(n, np.float32)
    launch = add_kernel[(n + 255) // 256, 256]
    same = lambda: bool((out == want).all())  # noqa: E731
    return Row(f"vector add, {n}", lambda: launch(a, b, out), lambda: add_loop(a, b, want), n, 0.105 / 0.107, same)


@cuda.jit
def stride_kernel(a, b, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = a[i] + b[i]


def stride(n: int = 1 << 20, threads: int = 256) -> Row:
    """The same by fewer threads than there are items, of arrays beyond the caches."""
    a, b, out, want = f32(n), f32(n), np.zeros(n, np.float32), np.zeros(n, np.float32)
    launch = stride_kernel[16, threads]
    same = lambda: bool((out == want).all())  # noqa: E731
    return Row(f"grid-stride add, {threads} threads", lambda: launch(a, b, out), lambda: add_loop(a, b, want), n, 0.105 / 0.107, same)


@cuda.jit
def matmul_kernel(a, b, c):
    sa = cuda.shared.array((TILE, TILE), np.float32)
    sb = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0.0)
    for i in range(a.shape[1] // TILE):
        sa[ty, tx] = a[y, tx + i * TILE]
        sb[ty, tx] = b[ty + i * TILE, x]
        cuda.syncthreads()
        for k in range(TILE):
            total += sa[ty, k] * sb[k, tx]
        cuda.syncthreads()
    c[y, x] = total


@njit
def matmul_loop(a, b, c):
    for y in range(c.shape[0]):
        c[y] = 0
        for k in range(a.shape[1]):
            for x in range(c.shape[1]):
                c[y, x] += a[y, k] * b[k, x]


def matmul(n: int = 256) -> Row:
    """Product of matrices by tiles in shared memory."""
    a, b = f32(n * n).reshape(n, n), f32(n * n).reshape(n, n).T.copy()
    c, want = np.zeros((n, n), np.float32), np.zeros((n, n), np.float32)
    launch = matmul_kernel[(n // TILE, n // TILE), (TILE, TILE)]
    same = lambda: bool(np.allclose(c, want, rtol=1e-4))  # noqa: E731
    return Row("matmul 256, shared", lambda: launch(a, b, c), lambda: matmul_loop(a, b, want), n**3, 0.0123 / 0.043, same)


@cuda.jit
def block_sum_kernel(a, out):
    shared = cuda.shared.array(256, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    shared[t] = a[i]
    cuda.syncthreads()
    k = 128
    while k > 0:
        if t < k:
            shared[t] += shared[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        out[cuda.blockIdx.x] = shared[0]


@njit(fastmath={"reassoc"})
def block_sum_loop(a, out):
    for b in range(out.size):
        total = np.float32(0.0)
        for i in range(256):
            total += a[b * 256 + i]
        out[b] = total


def block_sum(n: int = 1 << 18) -> Row:
    """Sums of 256 numbers with nine barriers."""
    a, out, want = f32(n), np.zeros(n // 256, np.float32), np.zeros(n // 256, np.float32)
    launch = block_sum_kernel[n // 256, 256]
    same = lambda: bool(np.allclose(out, want, rtol=1e-4))  # noqa: E731
    return Row("block reduction", lambda: launch(a, out), lambda: block_sum_loop(a, want), n, 0.21 / 0.13, same)


@cuda.jit
def warp_sum_kernel(a, out):
    i = cuda.grid(1)
    v = a[i]
    k = 16
    while k > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, k)
        k //= 2
    if cuda.laneid == 0:
        out[i // 32] = v


@njit(fastmath={"reassoc"})
def warp_sum_loop(a, out):
    for w in range(out.size):
        total = np.float32(0.0)
        for i in range(32):
            total += a[w * 32 + i]
        out[w] = total


def warp_sum(n: int = 1 << 16) -> Row:
    """Sums of 32 numbers by shuffles."""
    a, out, want = f32(n), np.zeros(n // 32, np.float32), np.zeros(n // 32, np.float32)
    launch = warp_sum_kernel[n // 256, 256]
    same = lambda: bool(np.allclose(out, want, rtol=1e-4))  # noqa: E731
    return Row("warp-shuffle reduction", lambda: launch(a, out), lambda: warp_sum_loop(a, want), n, 0.034 / 0.036, same)


@cuda.jit
def mandelbrot_kernel(out, width, most):
    i = cuda.grid(1)
    if i < out.size:
        cr = np.float32(i % width) * np.float32(3.0) / np.float32(width) - np.float32(2.0)
        ci = np.float32(i // width) * np.float32(2.0) / np.float32(width) - np.float32(1.0)
        zr, zi = np.float32(0.0), np.float32(0.0)
        n = 0
        while n < most and zr * zr + zi * zi < np.float32(4.0):
            zr, zi = zr * zr - zi * zi + cr, np.float32(2.0) * zr * zi + ci
            n += 1
        out[i] = n


@njit
def mandelbrot_loop(out, width, most):
    for i in range(out.size):
        cr = np.float32(i % width) * np.float32(3.0) / np.float32(width) - np.float32(2.0)
        ci = np.float32(i // width) * np.float32(2.0) / np.float32(width) - np.float32(1.0)
        zr, zi = np.float32(0.0), np.float32(0.0)
        n = 0
        while n < most and zr * zr + zi * zi < np.float32(4.0):
            zr, zi = zr * zr - zi * zi + cr, np.float32(2.0) * zr * zi + ci
            n += 1
        out[i] = n


def mandelbrot(width: int = 256, most: int = 100) -> Row:
    """A loop whose length differs from thread to thread."""
    out, want = np.zeros(width * width, np.int32), np.zeros(width * width, np.int32)
    launch = mandelbrot_kernel[width, width]
    loop = lambda: mandelbrot_loop(want, np.int32(width), np.int32(most))  # noqa: E731
    loop()
    # The last bit of a product and sum joined moves a few points at the border.
    same = lambda: bool((out == want).mean() > 0.99)  # noqa: E731
    return Row("mandelbrot, per step", lambda: launch(out, np.int32(width), np.int32(most)), loop, int(want.sum()), 0.26 / 4.1, same)


@cuda.jit
def n_body_kernel(x, y, z, m, ax):
    s = cuda.shared.array((4, 128), np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    total = np.float32(0.0)
    for tile in range(x.size // 128):
        j = tile * 128 + t
        s[0, t], s[1, t], s[2, t], s[3, t] = x[j], y[j], z[j], m[j]
        cuda.syncthreads()
        for k in range(128):
            dx, dy, dz = s[0, k] - x[i], s[1, k] - y[i], s[2, k] - z[i]
            r2 = dx * dx + dy * dy + dz * dz + np.float32(0.01)
            total += s[3, k] * dx / (r2 * np.sqrt(r2))
        cuda.syncthreads()
    ax[i] = total


@njit
def n_body_loop(x, y, z, m, ax):
    for i in range(x.size):
        total = np.float32(0.0)
        for j in range(x.size):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            r2 = dx * dx + dy * dy + dz * dz + np.float32(0.01)
            total += m[j] * dx / (r2 * np.sqrt(r2))
        ax[i] = total


def n_body(n: int = 1024) -> Row:
    """Forces between all pairs by tiles in shared memory."""
    x, y, z, m = f32(4 * n).reshape(4, n)
    ax, want = np.zeros(n, np.float32), np.zeros(n, np.float32)
    launch = n_body_kernel[n // 128, 128]
    same = lambda: bool(np.allclose(ax, want, rtol=1e-3, atol=1e-2))  # noqa: E731
    return Row("n-body, per pair", lambda: launch(x, y, z, m, ax), lambda: n_body_loop(x, y, z, m, want), n * n, 0.136 / 2.6, same)


@cuda.jit
def heat_kernel(u, out, k):
    i = cuda.grid(1)
    n = u.size
    if i < n:
        if i == 0:
            out[i] = u[i]
        elif i == n - 1:
            out[i] = u[i] * k
        else:
            out[i] = u[i] + k * (u[i - 1] - np.float32(2.0) * u[i] + u[i + 1])


@njit
def heat_loop(u, out, k):
    n = u.size
    out[0] = u[0]
    out[n - 1] = u[n - 1] * k
    for i in range(1, n - 1):
        out[i] = u[i] + k * (u[i - 1] - np.float32(2.0) * u[i] + u[i + 1])


def heat(n: int = 1 << 16) -> Row:
    """A branch with three ways."""
    u, out, want, k = f32(n), np.zeros(n, np.float32), np.zeros(n, np.float32), np.float32(0.25)
    launch = heat_kernel[(n + 255) // 256, 256]
    same = lambda: bool(np.allclose(out, want, rtol=1e-5))  # noqa: E731
    return Row("heat, three-way branch", lambda: launch(u, out, k), lambda: heat_loop(u, want, k), n, 0.086 / 0.064, same)


@cuda.jit
def heat_steps_kernel(u, v, k, steps):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for s in range(steps):
        if s % 2 == 0:
            a, b = u, v
        else:
            a, b = v, u
        if i == 0 or i == u.size - 1:
            b[i] = a[i]
        else:
            b[i] = a[i] + k * (a[i - 1] - np.float32(2.0) * a[i] + a[i + 1])
        grid.sync()


@njit
def heat_steps_loop(u, v, k, steps):
    for s in range(steps):
        a, b = (u, v) if s % 2 == 0 else (v, u)
        b[0], b[u.size - 1] = a[0], a[u.size - 1]
        for i in range(1, u.size - 1):
            b[i] = a[i] + k * (a[i - 1] - np.float32(2.0) * a[i] + a[i + 1])


def heat_steps(n: int = 4096, steps: int = 100) -> Row:
    """Steps of a grid that waits for all its blocks."""
    u, want, k = f32(n), f32(n), np.float32(0.25)
    v, also = np.zeros(n, np.float32), np.zeros(n, np.float32)
    launch = heat_steps_kernel[n // 256, 256]

    def same() -> bool:
        u[:], want[:] = f32(n), f32(n)
        launch(u, v, k, steps)
        heat_steps_loop(want, also, k, steps)
        return bool(np.allclose(u, want, rtol=1e-5))

    return Row("heat, waiting for the grid", lambda: launch(u, v, k, steps), lambda: heat_steps_loop(want, also, k, steps), n * steps, 0.088 / 0.064, same)


@cuda.jit
def histogram_kernel(a, out):
    bins = cuda.shared.array(256, np.int32)
    t = cuda.threadIdx.x
    bins[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, a[i] & 255, 1)
    cuda.syncthreads()
    cuda.atomic.add(out, t, bins[t])


@njit
def histogram_loop(a, out):
    for i in range(a.size):
        out[a[i] & 255] += 1


def histogram(n: int = 1 << 18) -> Row:
    """Counts in shared memory."""
    a = np.random.default_rng(1).integers(0, 256, n).astype(np.int32)
    out, want = np.zeros(256, np.int32), np.zeros(256, np.int32)
    launch = histogram_kernel[16, 256]

    def same() -> bool:
        out[:], want[:] = 0, 0
        launch(a, out)
        histogram_loop(a, want)
        return bool((out == want).all())

    return Row("shared histogram", lambda: launch(a, out), lambda: histogram_loop(a, want), n, 0.29 / 0.20, same)


def seconds(f: Callable[[], Any], times: int) -> float:
    """Seconds of a call, over several in a row."""
    start = time.perf_counter()
    for _ in range(times):
        f()
    return (time.perf_counter() - start) / times


def times(f: Callable[[], Any]) -> int:
    """Calls in a row that take long enough to be timed."""
    return max(1, int(LEAST / max(1e-9, seconds(f, 1))))


def measure(row: Row) -> tuple[float, float]:
    """Nanoseconds for a unit of the launch and of the loop."""
    row.launch(), row.loop()
    a, b = times(row.launch), times(row.loop)
    rounds = [(seconds(row.launch, a), seconds(row.loop, b)) for _ in range(ROUNDS)]
    return min(r[0] for r in rounds) / row.units * 1e9, min(r[1] for r in rounds) / row.units * 1e9


ROWS = {
    "vector_add": vector_add, "vector_add_small": lambda: vector_add(4096),
    "stride": stride, "stride_partial": lambda: stride(threads=100), "matmul": matmul, "block_sum": block_sum,
    "warp_sum": warp_sum, "mandelbrot": mandelbrot, "n_body": n_body, "heat": heat, "heat_steps": heat_steps, "histogram": histogram,
}  # fmt: skip


def main() -> None:
    """Writes the table."""
    lancehead.set_num_threads(1)
    print("| kernel, ns a unit | launch | njit loop | ratio | by hand |", "|---|---|---|---|---|", sep="\n")
    for name in sys.argv[1:] or ROWS:
        row = ROWS[name]()
        ours, loop = measure(row)
        wrong = "" if row.same() else " WRONG"
        print(f"| {row.name}{wrong} | {ours:.3f} | {loop:.3f} | {ours / loop:.2f} | {row.by_hand:.2f} |", flush=True)
    one, nothing = add_kernel[1, 32], np.zeros(32, np.float32)
    one(nothing, nothing, nothing)
    print(f"\nlaunch of one block: {min(seconds(lambda: one(nothing, nothing, nothing), 1000) for _ in range(ROUNDS)) * 1e6:.2f} us")


if __name__ == "__main__":
    main()
