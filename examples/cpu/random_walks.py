"""Sends out thousands of random walkers on all cores; the seed decides where they end (`prange`, `np.random`)."""

import numpy as np
from showing import compare, picture_asked_for, save

from lancehead import njit, prange


@njit(parallel=True)
def distances(walkers, steps, seed):
    """How far from its start each walker is after so many steps of length 1 in random directions."""
    np.random.seed(seed)
    out = np.empty(walkers)
    for w in prange(walkers):
        x = y = 0.0
        for _ in range(steps):
            angle = np.random.uniform(0.0, 2.0 * np.pi)
            x += np.cos(angle)
            y += np.sin(angle)
        out[w] = np.hypot(x, y)
    return out


@njit
def paths(walkers, steps, seed):
    """The way of each walker: `steps` places in the plane."""
    np.random.seed(seed)
    out = np.zeros((walkers, steps, 2))
    for w in range(walkers):
        for i in range(1, steps):
            angle = np.random.uniform(0.0, 2.0 * np.pi)
            out[w, i, 0] = out[w, i - 1, 0] + np.cos(angle)
            out[w, i, 1] = out[w, i - 1, 1] + np.sin(angle)
    return out


def draw(path):
    """Some ways, and how far many walkers get beside what theory says."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.4), layout="constrained")
    ways, ends = figure.subplots(1, 2)
    for way in paths(8, 1000, 11):
        ways.plot(way[:, 0], way[:, 1], linewidth=0.8)
    ways.set_aspect("equal", "datalim")
    ways.set_title("8 walkers, 1,000 steps", fontsize=10)
    ends.hist(distances(20_000, 1000, 1), bins=60, density=True, color="#9dbbe0")
    r = np.linspace(0.0, 130.0, 200)
    ends.plot(r, 2.0 * r / 1000 * np.exp(-(r**2) / 1000), color="#c0392b", label="Rayleigh distribution")
    ends.set_title("distance of 20,000 walkers from the start", fontsize=10)
    ends.legend(frameon=False)
    save(figure, path)


if __name__ == "__main__":
    png = picture_asked_for(__doc__)
    far = distances(20_000, 1000, 1)
    print("20,000 walkers after 1,000 steps")
    print(f"root mean square distance: {np.sqrt((far**2).mean()):.2f}, in theory {np.sqrt(1000):.2f}")
    compare("20 walkers", lambda: paths.py_func(20, 1000, 5), lambda: paths(20, 1000, 5), rtol=1e-9)
    if png:
        draw(png)
