"""Follows the Lorenz attractor with a Runge-Kutta solver that takes the equation as an argument (`njit`)."""

import numpy as np
from showing import compare, picture_asked_for, save

from lancehead import njit


@njit
def lorenz(state):
    """The derivative: Lorenz' model of air that is warmed from below."""
    x, y, z = state
    return np.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])


@njit
def rk4(derivative, start, dt, steps):
    """The path from `start`, by the classical Runge-Kutta method: one row per step."""
    path = np.empty((steps + 1, start.size))
    path[0] = start
    for i in range(steps):
        state = path[i]
        k1 = derivative(state)
        k2 = derivative(state + dt / 2 * k1)
        k3 = derivative(state + dt / 2 * k2)
        k4 = derivative(state + dt * k3)
        path[i + 1] = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return path


def draw(path):
    """The attractor from the side, coloured by time."""
    from matplotlib.figure import Figure

    way = rk4(lorenz, np.array([1.0, 1.0, 1.0]), 0.01, 6000)
    figure = Figure(figsize=(5, 3.6), layout="constrained")
    axes = figure.add_subplot()
    axes.scatter(way[:, 0], way[:, 2], c=np.arange(len(way)), cmap="viridis", s=0.6)
    axes.set_xlabel("x: how fast the air turns")
    axes.set_ylabel("z: how the warmth is layered")
    save(figure, path)


if __name__ == "__main__":
    png = picture_asked_for(__doc__)
    start = np.array([1.0, 1.0, 1.0])
    near = start + np.array([1e-8, 0.0, 0.0])
    gap = np.linalg.norm(rk4(lorenz, start, 0.01, 4000) - rk4(lorenz, near, 0.01, 4000), axis=1)
    print(f"two paths start 1e-8 apart; the gap passes 1 at t = {np.argmax(gap > 1.0) * 0.01:.1f}")

    def plain():
        return rk4.py_func(lorenz.py_func, start, 0.01, 1000)

    compare("1,000 steps", plain, lambda: rk4(lorenz, start, 0.01, 1000))
    if png:
        draw(png)
