"""Counts the colours of a photograph, and asks the compiler what it made of the loop (`explain`)."""

import numpy as np
from showing import compare, picture_asked_for, save
from sklearn.datasets import load_sample_image

from lancehead import njit


@njit
def histogram(pixels):
    """counts[colour, value]: how many pixels have that much red, green or blue."""
    counts = np.zeros((3, 256), np.int64)
    for y in range(pixels.shape[0]):
        for x in range(pixels.shape[1]):
            for colour in range(3):
                counts[colour, pixels[y, x, colour]] += 1
    return counts


@njit
def share_above(pixels, value):
    """The share of bytes that are above a value."""
    count = 0
    for byte in pixels:
        if byte > value:
            count += 1
    return count / len(pixels)


def draw(path):
    """One curve per colour."""
    from matplotlib.figure import Figure

    counts = histogram(load_sample_image("flower.jpg"))
    figure = Figure(figsize=(6, 2.8), layout="constrained")
    axes = figure.add_subplot()
    for row, colour in zip(counts, ("#c0392b", "#27894e", "#2f6fb7"), strict=True):
        axes.fill_between(range(256), row, color=colour, alpha=0.35)
        axes.plot(row, color=colour, linewidth=1.0)
    axes.set_yscale("symlog", linthresh=100)
    axes.set_xlabel("value of the byte")
    axes.set_ylabel("pixels")
    save(figure, path)


if __name__ == "__main__":
    png = picture_asked_for(__doc__)
    photo = load_sample_image("flower.jpg")
    for name, row in zip(("red", "green", "blue"), histogram(photo), strict=True):
        print(f"{name:5}: most often {row.argmax():3}, median {np.searchsorted(row.cumsum(), row.sum() / 2):3}")
    print(f"{share_above(photo.ravel(), 200):.1%} of the bytes are above 200")
    # The middle part of the report: the source, with what became of it.
    print(str(share_above.explain()).split("\n\n")[1])
    small = photo[:60, :80]
    compare("80 × 60 pixels", lambda: histogram.py_func(small), lambda: histogram(small))
    if png:
        draw(png)
