"""Lets heat spread from the bright parts of a photograph: a rule for one point and its neighbours (`stencil`)."""

import numpy as np
from showing import compare, picture_asked_for, save
from sklearn.datasets import load_sample_image

from lancehead import njit, stencil


@stencil
def spread(t):
    """A point moves towards the mean of its four neighbours."""
    return t[0, 0] + 0.2 * (t[-1, 0] + t[1, 0] + t[0, -1] + t[0, 1] - 4.0 * t[0, 0])


@njit(parallel=True)
def warmed(plate, steps):
    """The plate after so many steps; its rim is kept at 0."""
    for _ in range(steps):
        plate = spread(plate)
    return plate


def plate_from_photo():
    """Temperatures from 0 to 100: the brightness of a photograph of a flower, every fourth pixel."""
    bright = load_sample_image("flower.jpg")[::4, ::4].mean(axis=2)
    return 100.0 * (bright - bright.min()) / np.ptp(bright)


def plain_steps(plate, steps):
    """The same in plain Python, with the loops written out."""
    for _ in range(steps):
        after = np.zeros_like(plate)
        for y in range(1, plate.shape[0] - 1):
            for x in range(1, plate.shape[1] - 1):
                around = plate[y - 1, x] + plate[y + 1, x] + plate[y, x - 1] + plate[y, x + 1]
                after[y, x] = plate[y, x] + 0.2 * (around - 4.0 * plate[y, x])
        plate = after
    return plate


def draw(path):
    """The plate as a heat map, at three times."""
    from matplotlib.figure import Figure

    plate = plate_from_photo()
    figure = Figure(figsize=(9, 2.3), layout="constrained")
    places = figure.subplots(1, 3)
    for axes, steps in zip(places, (0, 50, 400), strict=True):
        shown = axes.imshow(warmed(plate, steps), cmap="inferno", vmin=0, vmax=100)
        axes.set_title(f"after {steps} steps", fontsize=10)
        axes.set_axis_off()
    figure.colorbar(shown, ax=places, label="temperature", shrink=0.8)
    save(figure, path)


if __name__ == "__main__":
    png = picture_asked_for(__doc__)
    plate = plate_from_photo()
    for steps in (0, 50, 400):
        now = warmed(plate, steps)
        print(f"after {steps:3} steps: {now[1:-1, 1:-1].min():5.1f} to {now.max():5.1f} degrees, mean {now.mean():.1f}")
    small = plate[:40, :60]
    compare("5 steps of 60 × 40 points", lambda: plain_steps(small, 5), lambda: warmed(small, 5), rtol=1e-12)
    if png:
        draw(png)
