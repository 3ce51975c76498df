"""The Mandelbrot set by a CUDA kernel, one thread a point, beside NumPy on the whole image at once."""

import numpy as np

from lancehead import cuda
from lancehead.demo.program import Program

LIMIT = 50


def plain(points):
    z = np.zeros_like(points)
    rounds = np.zeros(points.shape, np.int32)
    for _ in range(LIMIT):
        inside = z.real * z.real + z.imag * z.imag <= 4.0
        z[inside] = z[inside] * z[inside] + points[inside]
        rounds += inside
    return rounds


@cuda.jit
def kernel(points, rounds):
    row, column = cuda.grid(2)
    if row < points.shape[0] and column < points.shape[1]:
        c = points[row, column]
        z = 0j
        n = 0
        for _ in range(LIMIT):
            if z.real * z.real + z.imag * z.imag > 4.0:
                break
            z = z * z + c
            n += 1
        rounds[row, column] = n


def compiled(points):
    rounds = np.empty(points.shape, np.int32)
    kernel[((points.shape[0] + 15) // 16, (points.shape[1] + 15) // 16), (16, 16)](points, rounds)
    return rounds


def inputs(quick):
    n = 32 if quick else 500
    # Places whose rounds do not hang on the last bit: a kernel rounds `a * b + c` once.
    real, imaginary = np.linspace(-2.0, 0.6, n), np.linspace(-1.2, 1.2, n)
    points = real + 1j * imaginary[:, None]
    nudged = [plain(points * (1 + e)) for e in (-1e-13, 1e-13)]
    points[nudged[0] != nudged[1]] = 0
    return (points,)


PROGRAM = Program(
    name="cuda_mandelbrot",
    title="Mandelbrot set, CUDA kernel on the CPU",
    baseline="NumPy",
    inputs=inputs,
    size=lambda p: f"{p.shape[0]} × {p.shape[1]}, {LIMIT} rounds",
    plain=plain,
    compiled=compiled,
)
