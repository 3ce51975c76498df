"""Kernels of `cpu_device.py` in Taichi, on one core."""

import numpy as np
import taichi as ti
from timing import f32, row

ti.init(arch=ti.cpu, cpu_max_num_threads=1, log_level=ti.ERROR)
A1 = ti.types.ndarray(dtype=ti.f32, ndim=1)
I1 = ti.types.ndarray(dtype=ti.i32, ndim=1)


@ti.kernel
def add(a: A1, b: A1, out: A1):
    for i in range(out.shape[0]):
        out[i] = a[i] + b[i]


@ti.kernel
def mandelbrot(out: I1, width: ti.i32, most: ti.i32):
    for i in range(out.shape[0]):
        cr = ti.cast(i % width, ti.f32) * 3.0 / width - 2.0
        ci = ti.cast(i // width, ti.f32) * 2.0 / width - 1.0
        zr, zi, n = 0.0, 0.0, 0
        while n < most and zr * zr + zi * zi < 4.0:
            zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
            n += 1
        out[i] = n


@ti.kernel
def n_body(x: A1, y: A1, z: A1, m: A1, ax: A1):
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[0]):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            r2 = dx * dx + dy * dy + dz * dz + 0.01
            total += m[j] * dx / (r2 * ti.sqrt(r2))
        ax[i] = total


@ti.kernel
def heat(u: A1, out: A1, k: ti.f32):
    n = u.shape[0]
    for i in range(n):
        if i == 0:
            out[i] = u[i]
        elif i == n - 1:
            out[i] = u[i] * k
        else:
            out[i] = u[i] + k * (u[i - 1] - 2.0 * u[i] + u[i + 1])


@ti.kernel
def histogram(a: I1, out: I1):
    for i in range(a.shape[0]):
        out[a[i] & 255] += 1


def main() -> None:
    """Writes the table."""
    n = 1 << 16
    a, b, out = f32(n), f32(n), np.zeros(n, np.float32)
    add(a, b, out)
    row("vector add, 65536", lambda: add(a, b, out), n, bool((out == a + b).all()))
    steps = np.zeros(256 * 256, np.int32)
    mandelbrot(steps, 256, 100)
    row("mandelbrot, per step", lambda: mandelbrot(steps, 256, 100), int(steps.sum()), True)
    x, y, z, m = f32(4096).reshape(4, 1024)
    ax = np.zeros(1024, np.float32)
    row("n-body, per pair", lambda: n_body(x, y, z, m, ax), 1024 * 1024, True)
    row("heat, three-way branch", lambda: heat(a, out, 0.25), n, True)
    values, bins = np.random.default_rng(1).integers(0, 256, 1 << 18).astype(np.int32), np.zeros(256, np.int32)
    histogram(values, bins)
    row("shared histogram", lambda: histogram(values, bins), 1 << 18, bool((bins == np.bincount(values)).all()))


main()
