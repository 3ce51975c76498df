"""Kernels on the CPU device, on one core, beside the same work as an `@njit` loop and as vectors of 32 lanes written by
hand.

    python benches/gpu/cpu_device.py [name ...] [--json FILE]

Least time of rounds that take turns, so that all see the same machine. The hand-written version is `gangs.c`, which the
C compiler, if there is one, compiles for this machine; the launch is to come within 1.5 of it.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))
import figures
import numpy as np

import lancehead
from lancehead import cuda, njit

ROUNDS, LEAST = 40, 0.004
TILE = 16
COMPILERS = ("clang-22", "clang", "cc")


@dataclass(frozen=True)
class Row:
    """A kernel's launch, the same work as a loop and by hand, which is told how often, and units of work of each."""

    name: str
    launch: Callable[[], Any]
    loop: Callable[[], Any]
    by_hand: Callable[[int], Any] | None
    units: int
    same: Callable[[], bool]


@cache
def compiler() -> str | None:
    """The C compiler that there is."""
    return next(filter(None, map(shutil.which, COMPILERS)), None)


@cache
def library(cc: str) -> ctypes.CDLL:
    """`gangs.c`, for this machine."""
    with tempfile.TemporaryDirectory() as folder:
        made, text = Path(folder, "gangs.so"), Path(__file__).with_name("gangs.c")
        flags = ["-O3", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-shared", "-fPIC"]
        subprocess.run([cc, *flags, text, "-o", made], check=True)
        return ctypes.CDLL(str(made))


def gangs(name: str, *args: np.ndarray | int) -> Callable[[int], Any] | None:
    """A kernel of `gangs.c` with its arguments; None where it cannot be had."""
    cc = compiler()
    if cc is None:
        return None
    words = np.array([a.ctypes.data if isinstance(a, np.ndarray) else a for a in args], np.int64)
    kernel, repeat = getattr(library(cc), name), library(cc).repeat
    # The arguments stay as long as what is called with them.
    return lambda times, kept=args: repeat(kernel, ctypes.c_void_p(words.ctypes.data), ctypes.c_long(times))


def agree(by_hand: Callable[[int], Any] | None, out: np.ndarray, own: np.ndarray) -> bool:
    """Whether what is written by hand finds the same as the kernel, to the last bit but where sums are in another
    order."""
    if by_hand is None:
        return True
    by_hand(1)
    return bool(np.allclose(out, own, rtol=1e-5))


def zeros(shape: int | tuple[int, int], dtype: Any = np.float32) -> np.ndarray:
    """An array that begins on a cache line, as all that are compared do."""
    size = int(np.prod(shape))
    room = np.zeros(size + 16, dtype)
    skip = -room.ctypes.data % 64 // room.itemsize
    return room[skip : skip + size].reshape(shape)


def f32(n: int) -> np.ndarray:
    """Floats from 0 to 1, the same each time."""
    out = zeros(n)
    out[:] = np.random.default_rng(1).random(n)
    return out


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
    a, b, out, want = f32(n), f32(n), zeros(n), zeros(n)
    launch, own = add_kernel[(n + 255) // 256, 256], zeros(n)
    by_hand = gangs("add", a, b, own, n, 256)
    same = lambda: bool((out == want).all()) and agree(by_hand, out, own)  # noqa: E731
    return Row(f"vector add, {n}", lambda: launch(a, b, out), lambda: add_loop(a, b, want), by_hand, n, same)


@cuda.jit
def stride_kernel(a, b, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = a[i] + b[i]


def stride(n: int = 1 << 20, threads: int = 256) -> Row:
    """The same by fewer threads than there are items, of arrays beyond the caches."""
    a, b, out, want = f32(n), f32(n), zeros(n), zeros(n)
    launch, own = stride_kernel[16, threads], zeros(n)
    by_hand = gangs("stride", a, b, own, n, 16, threads)
    same = lambda: bool((out == want).all()) and agree(by_hand, out, own)  # noqa: E731
    return Row(
        f"grid-stride add, {threads} threads", lambda: launch(a, b, out), lambda: add_loop(a, b, want), by_hand, n, same
    )


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
    a, b = f32(n * n).reshape(n, n), zeros((n, n))
    b[:] = a.T
    c, want, own = (zeros((n, n)) for _ in range(3))
    launch = matmul_kernel[(n // TILE, n // TILE), (TILE, TILE)]
    by_hand = gangs("matmul", a, b, own, n)
    same = lambda: bool(np.allclose(c, want, rtol=1e-4)) and agree(by_hand, c, own)  # noqa: E731
    return Row("matmul 256, shared", lambda: launch(a, b, c), lambda: matmul_loop(a, b, want), by_hand, n**3, same)


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
    a, (out, want, own) = f32(n), (zeros(n // 256) for _ in range(3))
    launch = block_sum_kernel[n // 256, 256]
    by_hand = gangs("block_sum", a, own, n // 256)
    same = lambda: bool(np.allclose(out, want, rtol=1e-4)) and agree(by_hand, out, own)  # noqa: E731
    return Row("block reduction", lambda: launch(a, out), lambda: block_sum_loop(a, want), by_hand, n, same)


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
    a, (out, want, own) = f32(n), (zeros(n // 32) for _ in range(3))
    launch = warp_sum_kernel[n // 256, 256]
    by_hand = gangs("warp_sum", a, own, n // 32)
    same = lambda: bool(np.allclose(out, want, rtol=1e-4)) and agree(by_hand, out, own)  # noqa: E731
    return Row("warp-shuffle reduction", lambda: launch(a, out), lambda: warp_sum_loop(a, want), by_hand, n, same)


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
    out, want, own = (zeros(width * width, np.int32) for _ in range(3))
    launch = mandelbrot_kernel[width, width]
    by_hand = gangs("mandelbrot", own, width, most)
    loop = lambda: mandelbrot_loop(want, np.int32(width), np.int32(most))  # noqa: E731
    loop()

    def same() -> bool:
        # The last bit of a product and sum joined moves a few points at the border.
        agree(by_hand, out, own)
        return all(bool((out == o).mean() > 0.99) for o in (want, own if by_hand else out))

    return Row(
        "mandelbrot, per step",
        lambda: launch(out, np.int32(width), np.int32(most)),
        loop,
        by_hand,
        int(want.sum()),
        same,
    )


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
    ax, want, own = (zeros(n) for _ in range(3))
    launch = n_body_kernel[n // 128, 128]
    by_hand = gangs("n_body", x, y, z, m, own, n)
    same = lambda: bool(np.allclose(ax, want, rtol=1e-3, atol=1e-2)) and agree(by_hand, ax, own)  # noqa: E731
    return Row(
        "n-body, per pair", lambda: launch(x, y, z, m, ax), lambda: n_body_loop(x, y, z, m, want), by_hand, n * n, same
    )


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
    u, (out, want, own), k = f32(n), (zeros(n) for _ in range(3)), np.float32(0.25)
    launch = heat_kernel[(n + 255) // 256, 256]
    by_hand = gangs("heat", u, own, np.array([k]), n)
    same = lambda: bool(np.allclose(out, want, rtol=1e-5)) and agree(by_hand, out, own)  # noqa: E731
    return Row("heat, three-way branch", lambda: launch(u, out, k), lambda: heat_loop(u, want, k), by_hand, n, same)


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
    k, (u, want, own), (v, also, by) = np.float32(0.25), (f32(n) for _ in range(3)), (zeros(n) for _ in range(3))
    launch = heat_steps_kernel[n // 256, 256]
    by_hand = gangs("heat_steps", own, by, np.array([k]), n, steps)

    def same() -> bool:
        u[:], want[:], own[:] = f32(n), f32(n), f32(n)
        launch(u, v, k, steps)
        heat_steps_loop(want, also, k, steps)
        return bool(np.allclose(u, want, rtol=1e-5)) and agree(by_hand, u, own)

    return Row(
        "heat, waiting for the grid",
        lambda: launch(u, v, k, steps),
        lambda: heat_steps_loop(want, also, k, steps),
        by_hand,
        n * steps,
        same,
    )


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
    out, want, own = (zeros(256, np.int32) for _ in range(3))
    launch = histogram_kernel[16, 256]
    by_hand = gangs("histogram", a, own, n, 16)

    def same() -> bool:
        out[:], want[:], own[:] = 0, 0, 0
        launch(a, out)
        histogram_loop(a, want)
        return bool((out == want).all()) and agree(by_hand, out, own)

    return Row("shared histogram", lambda: launch(a, out), lambda: histogram_loop(a, want), by_hand, n, same)


def seconds(f: Callable[[], Any], times: int) -> float:
    """Seconds of a call, over several in a row."""
    start = time.perf_counter()
    for _ in range(times):
        f()
    return (time.perf_counter() - start) / times


def times(f: Callable[[], Any]) -> int:
    """Calls in a row that take long enough to be timed."""
    return max(1, int(LEAST / max(1e-9, seconds(f, 1))))


def measure(row: Row) -> list[float]:
    """Nanoseconds for a unit of the launch, of the loop and by hand, if that can be had."""
    ways: list[tuple[Callable[[int], Any], int]] = []
    for f in (row.launch, row.loop):
        f()
        ways.append((lambda n, f=f: [f() for _ in range(n)], times(f)))
    if row.by_hand:
        row.by_hand(1)
        ways.append((row.by_hand, times(lambda: row.by_hand(1))))
    rounds = [[seconds(lambda: f(n), 1) / n for f, n in ways] for _ in range(ROUNDS)]
    return [min(r) / row.units * 1e9 for r in zip(*rounds, strict=True)]


ROWS = {
    "vector_add": vector_add, "vector_add_small": lambda: vector_add(4096),
    "stride": stride, "stride_partial": lambda: stride(threads=100), "matmul": matmul, "block_sum": block_sum,
    "warp_sum": warp_sum, "mandelbrot": mandelbrot, "n_body": n_body, "heat": heat, "heat_steps": heat_steps,
    "histogram": histogram,
}  # fmt: skip


def main() -> None:
    """Writes the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(ROWS))
    figures.add_json(parser)
    given = parser.parse_args()
    result = figures.Result("cpu-device", "python benches/gpu/cpu_device.py", 1)
    times = [("launch", "ns a unit", 3), ("loop", "ns a unit", 3), ("launch / loop", "", 2)]
    table = result.table("kernels", "kernel", *times, ("by hand", "ns a unit", 3), ("launch / by hand", "", 2))
    lancehead.set_num_threads(1)
    title = "gangs by hand, ns" if compiler() else "gangs by hand: no C compiler found"
    print(
        f"| kernel, ns a unit | launch | njit loop | launch / loop | {title} | launch / by hand |",
        "|---|---|---|---|---|---|",
        sep="\n",
    )
    for name in given.names:
        row = ROWS[name]()
        ours, loop, *hand = measure(row)
        wrong = "" if row.same() else " WRONG"
        last = f"{hand[0]:.3f} | {ours / hand[0]:.2f}" if hand else " | "
        print(f"| {row.name}{wrong} | {ours:.3f} | {loop:.3f} | {ours / loop:.2f} | {last} |", flush=True)
        by_hand = hand[0] if hand else math.nan
        numbers = (ours, loop, ours / loop, by_hand, ours / by_hand)
        table.add(f"{row.name}{wrong}", *(round(number, 4) for number in numbers))
    one, nothing = add_kernel[1, 32], zeros(32)
    one(nothing, nothing, nothing)
    least = min(seconds(lambda: one(nothing, nothing, nothing), 1000) for _ in range(ROUNDS))
    print(f"\nlaunch of one block: {least * 1e6:.2f} us")
    result.summary["launch of a block"] = f"{least * 1e6:.2f} us"
    result.write(given.json)


if __name__ == "__main__":
    main()
