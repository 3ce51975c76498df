"""Heat in a rod: all threads of the grid wait for each other after each step. The solution of a point source is a
Gaussian."""

import math

import numpy as np

from lancehead import cuda


@cuda.jit
def spread(now, after, steps, k):
    """Steps of the explicit scheme; `now` has the result if their number is even."""
    i = cuda.grid(1)
    everyone = cuda.cg.this_grid()
    for _ in range(steps):
        if i == 0 or i == now.size - 1:
            after[i] = now[i]
        elif i < now.size:
            after[i] = now[i] + k * (now[i - 1] - 2 * now[i] + now[i + 1])
        everyone.sync()
        now, after = after, now


if __name__ == "__main__":
    n, steps, k = 1024, 1000, 0.25
    now, after = np.zeros(n), np.zeros(n)
    now[n // 2] = 1.0
    spread[n // 256, 256](now, after, steps, k)
    x = np.arange(n) - n // 2
    exact = np.exp(-(x**2) / (4 * k * steps)) / math.sqrt(4 * math.pi * k * steps)
    difference = np.abs(now - exact).max()
    assert difference < 1e-3 * exact.max()
    print("largest difference from the Gaussian:", difference)
