"""Lightens the shadows of a photograph with a curve for one value, which becomes a ufunc (`vectorize`)."""

import math

import numpy as np
from showing import compare, picture_asked_for, save
from sklearn.datasets import load_sample_image

from lancehead import vectorize


def toned(value, exposure):
    """A byte of sRGB as light, with more exposure, as a byte of sRGB."""
    light = (value / 255.0 + 0.055) / 1.055
    light = light**2.4 if value > 10 else value / 255.0 / 12.92
    light = 1.0 - math.exp(-exposure * light)
    out = 1.055 * light ** (1.0 / 2.4) - 0.055 if light > 0.0031308 else 12.92 * light
    return int(255.0 * out + 0.5)


tone = vectorize(["uint8(uint8, float64)"])(toned)


def draw(path):
    """The photograph as it is and with two exposures."""
    from matplotlib.figure import Figure

    photo = load_sample_image("china.jpg")[40:300:2, 60:410:2]
    figure = Figure(figsize=(9, 2.5), layout="constrained")
    pictures = {"photograph": photo, "exposure 1.5": tone(photo, 1.5), "exposure 4": tone(photo, 4.0)}
    for axes, (title, picture) in zip(figure.subplots(1, 3), pictures.items(), strict=True):
        axes.imshow(picture)
        axes.set_title(title, fontsize=10)
        axes.set_axis_off()
    save(figure, path)


if __name__ == "__main__":
    png = picture_asked_for(__doc__)
    photo = load_sample_image("china.jpg")
    # Like NumPy's own ufuncs it broadcasts: one exposure per row makes a gradient.
    gradient = tone(photo, np.linspace(0.5, 6.0, photo.shape[0])[:, None, None])
    print(f"mean brightness {photo.mean():.1f}, with exposure 4 {tone(photo, 4.0).mean():.1f}")
    print(f"exposure from 0.5 at the top to 6 at the bottom: {gradient.mean():.1f}")
    small = photo[:60, :80]

    def plain():
        return [toned(int(value), 4.0) for value in small.ravel()]

    compare("80 × 60 pixels", plain, lambda: tone(small, 4.0).ravel())
    if png:
        draw(png)
