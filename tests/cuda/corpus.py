"""Kernels that are compiled for GPUs in tests: each for some argument types, with arguments to run it on.

`make(cuda)` builds them with the module given, so that another implementation of the same API can be measured beside
ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

TILE = 16
WIDER = TILE + 1
N = 1000
WEIGHTS = np.array([0.0625, 0.25, 0.375, 0.25, 0.0625], np.float32)


@dataclass(frozen=True)
class Kernel:
    """A kernel with a signature, the geometry of a launch, and what makes its arguments."""

    function: Callable[..., None]
    signature: str
    grid: Any
    block: Any
    arguments: Callable[[np.random.Generator], tuple[Any, ...]]
    shared: int = 0


def f32(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Floats from -1 to 1."""
    return (rng.random(shape) * 2 - 1).astype(np.float32)


def make(cuda: Any) -> dict[str, Kernel]:
    """The kernels by name."""
    kernels = [k for part in PARTS for k in part(cuda)]
    return {k.function.__name__: k for k in kernels}


def _elementwise(cuda: Any) -> list[Kernel]:
    def vector_add(a, b, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a[i] + b[i]

    def saxpy(a, x, y):
        i = cuda.grid(1)
        if i < y.size:
            y[i] = a * x[i] + y[i]

    def stride_loop(a, out):
        for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
            out[i] = a[i] * np.float32(2.0) + np.float32(1.0)

    def increment_2d(a):
        x, y = cuda.grid(2)
        if x < a.shape[0] and y < a.shape[1]:
            a[x, y] += np.float32(1.0)

    one = lambda rng: (f32(rng, N), f32(rng, N), np.zeros(N, np.float32))
    square = lambda rng: (f32(rng, 40, 50),)
    return [
        Kernel(vector_add, "void(float32[::1], float32[::1], float32[::1])", 8, 128, one),
        Kernel(saxpy, "void(float32, float32[::1], float32[::1])", 8, 128,
               lambda rng: (np.float32(1.5), f32(rng, N), f32(rng, N))),
        Kernel(stride_loop, "void(float32[::1], float32[::1])", 2, 64,
               lambda rng: (f32(rng, N), np.zeros(N, np.float32))),
        Kernel(increment_2d, "void(float32[:, ::1])", (3, 7), (16, 8), square),
    ]  # fmt: skip


def _views(cuda: Any) -> list[Kernel]:
    def strided_copy(a, out):
        i, j = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = a[i, j]

    def complex_product(a, b, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a[i] * b[i]

    def integers(a, b, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = (a[i] ^ b[i]) + (a[i] << np.int32(3)) - (b[i] >> np.int32(2)) * (a[i] & np.int32(255))

    def blur(a, out):
        i = cuda.grid(1)
        if i >= 2 and i < a.size - 2:
            total = np.float32(0.0)
            for k in range(5):
                total += WEIGHTS[k] * a[i + k - 2]
            out[i] = total

    return [
        Kernel(
            strided_copy, "void(float64[:, :], float64[:, :])", (3, 7), (16, 8),
            lambda rng: (rng.random((50, 40)).T, np.zeros((40, 50))[:, ::1]),
        ),
        Kernel(
            complex_product, "void(complex64[::1], complex64[::1], complex64[::1])", 8, 128,
            lambda rng: (f32(rng, N) + 1j * f32(rng, N), f32(rng, N) - 1j * f32(rng, N), np.zeros(N, np.complex64)),
        ),
        Kernel(
            integers, "void(int32[::1], int32[::1], int32[::1])", 8, 128,
            lambda rng: (*rng.integers(-(2**31), 2**31, (2, N)).astype(np.int32), np.zeros(N, np.int32)),
        ),
        Kernel(blur, "void(float32[::1], float32[::1])", 8, 128, lambda rng: (f32(rng, N), np.zeros(N, np.float32))),
    ]  # fmt: skip


def _shared(cuda: Any) -> list[Kernel]:
    def matmul_naive(a, b, c):
        i, j = cuda.grid(2)
        if i < c.shape[0] and j < c.shape[1]:
            total = np.float32(0.0)
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total

    def matmul_shared(a, b, c):
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

    def block_sum(a, out):
        shared = cuda.shared.array(256, np.float32)
        t, i = cuda.threadIdx.x, cuda.grid(1)
        shared[t] = a[i] if i < a.size else np.float32(0.0)
        cuda.syncthreads()
        k = 128
        while k > 0:
            if t < k:
                shared[t] += shared[t + k]
            cuda.syncthreads()
            k //= 2
        if t == 0:
            out[cuda.blockIdx.x] = shared[0]

    square = lambda rng: (f32(rng, 32, 48), f32(rng, 48, 32), np.zeros((32, 32), np.float32))
    return [
        Kernel(matmul_naive, "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])", (2, 2), (16, 16), square),
        Kernel(matmul_shared, "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])", (2, 2), (16, 16), square),
        Kernel(block_sum, "void(float32[::1], float32[::1])", 4, 256,
               lambda rng: (f32(rng, N), np.zeros(4, np.float32))),
    ]  # fmt: skip


def _exchanges(cuda: Any) -> list[Kernel]:
    def dynamic_reverse(a):
        shared = cuda.shared.array(0, np.float32)
        t = cuda.threadIdx.x
        shared[t] = a[t]
        cuda.syncthreads()
        a[t] = shared[a.size - 1 - t]

    def transpose(a, out):
        tile = cuda.shared.array((TILE, WIDER), np.float32)
        x, y = cuda.grid(2)
        if x < a.shape[1] and y < a.shape[0]:
            tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[y, x]
        cuda.syncthreads()
        x = cuda.blockIdx.y * TILE + cuda.threadIdx.x
        y = cuda.blockIdx.x * TILE + cuda.threadIdx.y
        if x < out.shape[1] and y < out.shape[0]:
            out[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]

    def histogram(a, out):
        bins = cuda.shared.array(64, np.int32)
        t = cuda.threadIdx.x
        if t < 64:
            bins[t] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
            cuda.atomic.add(bins, a[i] & 63, 1)
        cuda.syncthreads()
        if t < 64:
            cuda.atomic.add(out, t, bins[t])

    def counted_barrier(a, out):
        t = cuda.threadIdx.x
        n = cuda.syncthreads_count(int(a[t] > 0))
        if t == 0:
            out[0] = n

    return [
        Kernel(dynamic_reverse, "void(float32[::1])", 1, 100, lambda rng: (f32(rng, 100),), shared=400),
        Kernel(
            transpose, "void(float32[:, ::1], float32[:, ::1])", (4, 3), (16, 16),
            lambda rng: (f32(rng, 40, 50), np.zeros((50, 40), np.float32)),
        ),
        Kernel(
            histogram, "void(int32[::1], int32[::1])", 3, 128,
            lambda rng: (rng.integers(0, 1000, N).astype(np.int32), np.zeros(64, np.int32)),
        ),
        Kernel(counted_barrier, "void(float32[::1], int32[::1])", 1, 128,
               lambda rng: (f32(rng, 128), np.zeros(1, np.int32))),
    ]  # fmt: skip


def _warps(cuda: Any) -> list[Kernel]:
    def warp_sum(a, out):
        i = cuda.grid(1)
        v = a[i]
        k = 16
        while k > 0:
            v += cuda.shfl_down_sync(0xFFFFFFFF, v, k)
            k //= 2
        if cuda.laneid == 0:
            out[i // 32] = v

    def warp_scan_f64(a, out):
        i = cuda.grid(1)
        lane = cuda.threadIdx.x % 32
        v = a[i]
        k = 1
        while k < 32:
            w = cuda.shfl_up_sync(0xFFFFFFFF, v, k)
            if lane >= k:
                v += w
            k *= 2
        out[i] = v

    def votes(a, out):
        i = cuda.grid(1)
        p = a[i] > 0
        n = cuda.popc(cuda.ballot_sync(0xFFFFFFFF, p))
        if cuda.all_sync(0xFFFFFFFF, p):
            n += 100
        if cuda.any_sync(0xFFFFFFFF, p):
            n += 1000
        out[i] = n + cuda.shfl_xor_sync(0xFFFFFFFF, cuda.threadIdx.x, 1)

    return [
        Kernel(
            warp_sum, "void(float32[::1], float32[::1])", 2, 64, lambda rng: (f32(rng, 128), np.zeros(4, np.float32))
        ),
        Kernel(warp_scan_f64, "void(float64[::1], float64[::1])", 2, 64, lambda rng: (rng.random(128), np.zeros(128))),
        Kernel(votes, "void(float32[::1], int32[::1])", 2, 64, lambda rng: (f32(rng, 128), np.zeros(128, np.int32))),
    ]


def _iterative(cuda: Any) -> list[Kernel]:
    def mandelbrot(out, width, most):
        i = cuda.grid(1)
        if i < out.size:
            cr = np.float32(i % width) * np.float32(3.0) / np.float32(width) - np.float32(2.0)
            ci = np.float32(i // width) * np.float32(2.0) / np.float32(width) - np.float32(1.0)
            zr, zi = np.float32(0.0), np.float32(0.0)
            n = 0
            while n < most and zr * zr + zi * zi < np.float32(4.0):
                t = zr * zr - zi * zi + cr
                zi = np.float32(2.0) * zr * zi + ci
                zr = t
                n += 1
            out[i] = n

    def n_body(x, y, z, m, ax):
        i = cuda.grid(1)
        if i < x.size:
            total = np.float32(0.0)
            for j in range(x.size):
                dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                r2 = dx * dx + dy * dy + dz * dz + np.float32(0.01)
                total += m[j] * dx / (r2 * math.sqrt(r2))
            ax[i] = total

    return [
        Kernel(mandelbrot, "void(int32[::1], int32, int32)", 8, 128,
               lambda rng: (np.zeros(N, np.int32), np.int32(40), np.int32(100))),
        Kernel(
            n_body, "void(float32[::1], float32[::1], float32[::1], float32[::1], float32[::1])", 2, 64,
            lambda rng: (*f32(rng, 4, 100), np.zeros(100, np.float32)),
        ),
    ]  # fmt: skip


def _stencils(cuda: Any) -> list[Kernel]:
    def heat(u, out, k):
        i = cuda.grid(1)
        n = u.size
        if i < n:
            if i == 0 or i == n - 1:
                out[i] = u[i]
            else:
                out[i] = u[i] + k * (u[i - 1] - np.float32(2.0) * u[i] + u[i + 1])

    def heat_steps(u, v, steps, k):
        i = cuda.grid(1)
        g = cuda.cg.this_grid()
        n = u.size
        for s in range(steps):
            if s % 2 == 0:
                if i > 0 and i < n - 1:
                    v[i] = u[i] + k * (u[i - 1] - np.float32(2.0) * u[i] + u[i + 1])
            elif i > 0 and i < n - 1:
                u[i] = v[i] + k * (v[i - 1] - np.float32(2.0) * v[i] + v[i + 1])
            g.sync()

    def bitonic_local(a):
        local = cuda.local.array(8, np.float32)
        i = cuda.grid(1)
        for j in range(8):
            local[j] = a[i * 8 + j]
        for j in range(1, 8):
            v, k = local[j], j
            while k > 0 and local[k - 1] > v:
                local[k] = local[k - 1]
                k -= 1
            local[k] = v
        for j in range(8):
            a[i * 8 + j] = local[j]

    return [
        Kernel(
            heat, "void(float32[::1], float32[::1], float32)", 8, 128,
            lambda rng: (f32(rng, N), np.zeros(N, np.float32), np.float32(0.25)),
        ),
        Kernel(
            heat_steps, "void(float32[::1], float32[::1], int32, float32)", 2, 64,
            lambda rng: (f32(rng, 128), np.zeros(128, np.float32), np.int32(6), np.float32(0.25)),
        ),
        Kernel(bitonic_local, "void(float32[::1])", 1, 16, lambda rng: (f32(rng, 128),)),
    ]  # fmt: skip


def _atomics(cuda: Any) -> list[Kernel]:
    def atomics_i32(a, out):
        v = a[cuda.grid(1)]
        cuda.atomic.add(out, 0, v)
        cuda.atomic.sub(out, 1, v)
        cuda.atomic.max(out, 2, v)
        cuda.atomic.min(out, 3, v)
        cuda.atomic.and_(out, 4, v)
        cuda.atomic.or_(out, 5, v)
        cuda.atomic.xor(out, 6, v)

    def atomics_u32(a, out):
        v = a[cuda.grid(1)]
        cuda.atomic.add(out, 0, v)
        cuda.atomic.max(out, 1, v)
        cuda.atomic.min(out, 2, v)
        cuda.atomic.inc(out, 3, np.uint32(50))
        cuda.atomic.dec(out, 4, np.uint32(50))

    def atomics_64(a, b, out, floats):
        i = cuda.grid(1)
        cuda.atomic.add(out, 0, a[i])
        cuda.atomic.max(out, 1, a[i])
        cuda.atomic.min(out, 2, a[i])
        cuda.atomic.xor(out, 3, a[i])
        cuda.atomic.max(floats, 0, b[i])
        cuda.atomic.min(floats, 1, b[i])
        cuda.atomic.nanmax(floats, 2, b[i])

    return [
        Kernel(
            atomics_i32, "void(int32[::1], int32[::1])", 2, 64,
            lambda rng: (rng.integers(-1000, 1000, 128).astype(np.int32), np.zeros(7, np.int32)),
        ),
        Kernel(
            atomics_u32, "void(uint32[::1], uint32[::1])", 2, 64,
            lambda rng: (rng.integers(0, 1000, 128).astype(np.uint32), np.full(5, 7, np.uint32)),
        ),
        Kernel(
            atomics_64, "void(int64[::1], float64[::1], int64[::1], float64[::1])", 2, 64,
            lambda rng: (rng.integers(-1000, 1000, 128), rng.random(128), np.zeros(4, np.int64),
                         np.array([0.5, 0.5, np.nan])),
        ),
    ]  # fmt: skip


def _atomics_of_floats(cuda: Any) -> list[Kernel]:
    def atomics_f32(a, out):
        i = cuda.grid(1)
        cuda.atomic.max(out, 0, a[i])
        cuda.atomic.min(out, 1, a[i])
        cuda.atomic.nanmin(out, 2, a[i])

    def float_sum(a, out):
        cuda.atomic.add(out, 0, a[cuda.grid(1)])

    def ticket(out, order):
        old = cuda.atomic.cas(order, cuda.grid(1) % 8, 0, 1)
        if old == 0:
            cuda.atomic.add(out, 0, 1)

    return [
        Kernel(
            atomics_f32, "void(float32[::1], float32[::1])", 2, 64,
            lambda rng: (f32(rng, 128), np.array([0, 0, np.nan], np.float32)),
        ),
        Kernel(float_sum, "void(float32[::1], float32[::1])", 1, 64,
               lambda rng: (f32(rng, 64), np.zeros(1, np.float32))),
        Kernel(ticket, "void(int32[::1], int32[::1])", 1, 64,
               lambda rng: (np.zeros(1, np.int32), np.zeros(8, np.int32))),
    ]  # fmt: skip


def _math(cuda: Any) -> list[Kernel]:
    def math_f32(a, out):
        i = cuda.grid(1)
        if i < a.size:
            x = a[i]
            out[i] = math.exp(x) + math.sin(x) * math.cos(x) + math.log(x * x + np.float32(1.0)) + math.tanh(x)

    def math_f64(a, out):
        i = cuda.grid(1)
        if i < a.size:
            x = a[i]
            out[i] = math.exp(x) + math.sin(x) * math.sqrt(x * x) + math.log(x * x + 1.0) + math.pow(abs(x), 1.5)

    def black_scholes(s, k, t, call):
        i = cuda.grid(1)
        if i < s.size:
            r, v = np.float32(0.02), np.float32(0.3)
            root = v * math.sqrt(t[i])
            d1 = (math.log(s[i] / k[i]) + (r + np.float32(0.5) * v * v) * t[i]) / root
            d2 = d1 - root
            half, inv = np.float32(0.5), np.float32(0.70710678)
            n1, n2 = half * math.erfc(-d1 * inv), half * math.erfc(-d2 * inv)
            call[i] = s[i] * n1 - k[i] * math.exp(-r * t[i]) * n2

    def bits(a, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = (
                cuda.popc(a[i])
                + cuda.clz(a[i])
                + cuda.ffs(a[i])
                + np.int32(cuda.brev(np.uint32(a[i])) & np.uint32(255))
            )

    positive = lambda rng, n: (rng.random(n) + 0.5).astype(np.float32)
    return [
        Kernel(math_f32, "void(float32[::1], float32[::1])", 8, 128,
               lambda rng: (f32(rng, N), np.zeros(N, np.float32))),
        Kernel(math_f64, "void(float64[::1], float64[::1])", 8, 128, lambda rng: (rng.random(N) * 4 - 2, np.zeros(N))),
        Kernel(
            black_scholes, "void(float32[::1], float32[::1], float32[::1], float32[::1])", 8, 128,
            lambda rng: (positive(rng, N), positive(rng, N), positive(rng, N), np.zeros(N, np.float32)),
        ),
        Kernel(
            bits, "void(int32[::1], int32[::1])", 8, 128,
            lambda rng: (rng.integers(-(2**31), 2**31, N).astype(np.int32), np.zeros(N, np.int32)),
        ),
    ]  # fmt: skip


PARTS = (_elementwise, _views, _shared, _exchanges, _warps, _iterative, _stencils, _atomics, _atomics_of_floats, _math)
