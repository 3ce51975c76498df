"""Kernels of `cpu_device.py` in NVIDIA Warp, on its CPU device."""

import numpy as np
import warp as wp
from timing import f32, row

wp.config.quiet = True
wp.init()


@wp.kernel
def add(a: wp.array(dtype=float), b: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = a[i] + b[i]


@wp.kernel
def mandelbrot(out: wp.array(dtype=int), width: int, most: int):
    i = wp.tid()
    cr = float(i % width) * 3.0 / float(width) - 2.0
    ci = float(i // width) * 2.0 / float(width) - 1.0
    zr = float(0.0)
    zi = float(0.0)
    n = int(0)
    while n < most and zr * zr + zi * zi < 4.0:
        t = zr * zr - zi * zi + cr
        zi = 2.0 * zr * zi + ci
        zr = t
        n = n + 1
    out[i] = n


@wp.kernel
def n_body(p: wp.array(dtype=wp.vec4), ax: wp.array(dtype=float), n: int):
    i = wp.tid()
    total = float(0.0)
    own = p[i]
    for j in range(n):
        o = p[j]
        dx = o[0] - own[0]
        dy = o[1] - own[1]
        dz = o[2] - own[2]
        r2 = dx * dx + dy * dy + dz * dz + 0.01
        total = total + o[3] * dx / (r2 * wp.sqrt(r2))
    ax[i] = total


@wp.kernel
def heat(u: wp.array(dtype=float), out: wp.array(dtype=float), k: float, n: int):
    i = wp.tid()
    if i == 0:
        out[i] = u[i]
    elif i == n - 1:
        out[i] = u[i] * k
    else:
        out[i] = u[i] + k * (u[i - 1] - 2.0 * u[i] + u[i + 1])


@wp.kernel
def histogram(a: wp.array(dtype=int), out: wp.array(dtype=int)):
    wp.atomic_add(out, a[wp.tid()] & 255, 1)


def main() -> None:
    """Writes the table."""
    n, cpu = 1 << 16, "cpu"
    a, b = (wp.array(f32(n), dtype=float, device=cpu) for _ in range(2))
    out = wp.zeros(n, dtype=float, device=cpu)
    row("vector add, 65536", lambda: wp.launch(add, n, [a, b, out], device=cpu), n, True)
    steps = wp.zeros(n, dtype=int, device=cpu)
    wp.launch(mandelbrot, n, [steps, 256, 100], device=cpu)
    row(
        "mandelbrot, per step",
        lambda: wp.launch(mandelbrot, n, [steps, 256, 100], device=cpu),
        int(steps.numpy().sum()),
        True,
    )
    p = wp.array(np.ascontiguousarray(f32(4096).reshape(4, 1024).T), dtype=wp.vec4, device=cpu)
    ax = wp.zeros(1024, dtype=float, device=cpu)
    row("n-body, per pair", lambda: wp.launch(n_body, 1024, [p, ax, 1024], device=cpu), 1024 * 1024, True)
    row("heat, three-way branch", lambda: wp.launch(heat, n, [a, out, 0.25, n], device=cpu), n, True)
    values = wp.array(np.random.default_rng(1).integers(0, 256, 1 << 18).astype(np.int32), dtype=int, device=cpu)
    bins = wp.zeros(256, dtype=int, device=cpu)
    row("shared histogram", lambda: wp.launch(histogram, 1 << 18, [values, bins], device=cpu), 1 << 18, True)


main()
