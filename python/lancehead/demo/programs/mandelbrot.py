"""The Mandelbrot set: iterations until escape for every pixel."""

import numpy as np

from lancehead import njit
from lancehead.demo.program import Program


def plain(width, height, limit):
    image = np.zeros((height, width), np.int32)
    for row in range(height):
        y = -1.25 + 2.5 * row / height
        for column in range(width):
            c = complex(-2.0 + 2.75 * column / width, y)
            z = 0j
            count = 0
            while count < limit and z.real * z.real + z.imag * z.imag <= 4.0:
                z = z * z + c
                count += 1
            image[row, column] = count
    return image


PROGRAM = Program(
    name="mandelbrot",
    title="Mandelbrot",
    baseline="Python",
    inputs=lambda quick: (60, 40, 60) if quick else (300, 200, 200),
    size=lambda width, height, limit: f"{width} × {height}, {limit} iterations",
    plain=plain,
    compiled=njit(plain),
)
