"""The Mandelbrot set, drawn in characters: one thread a point."""

import numpy as np

from lancehead import cuda


@cuda.jit(device=True)
def escape(c, limit):
    """Rounds until z*z + c leaves the circle of radius 2, at most `limit`."""
    z = 0j
    for n in range(limit):
        if z.real * z.real + z.imag * z.imag > 4.0:
            return n
        z = z * z + c
    return limit


@cuda.jit
def mandelbrot(left, top, step, image, limit):
    """image[row, column] = rounds at the point left + column * step, top - row * step."""
    column, row = cuda.grid(2)
    if row < image.shape[0] and column < image.shape[1]:
        image[row, column] = escape(complex(left + column * step, top - row * step), limit)


if __name__ == "__main__":
    height, width, limit, step = 640, 768, 100, 1 / 256
    image = np.zeros((height, width), np.int32)
    mandelbrot[(width // 16, height // 16), (16, 16)](-2.25, 1.25, step, image, limit)
    points = (-2.25 + np.arange(width) * step) + 1j * (1.25 - np.arange(height) * step)[:, None]
    z, inside = np.zeros_like(points), np.ones(points.shape, bool)
    for _ in range(limit):
        inside &= np.abs(z) <= 2.0
        z[inside] = z[inside] ** 2 + points[inside]
    # Kernels contract products and sums, as on a card: points near the edge may leave a round sooner or later.
    assert ((image == limit) != inside).mean() < 1e-4
    for row in image[::32, ::10]:
        print("".join(" .:-=+*#%@"[min(n, 99) // 10] for n in row).rstrip())
