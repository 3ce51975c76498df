"""Sharpens a photograph: a 3 × 3 filter over all pixels, on all cores (`prange`)."""

import numpy as np
from showing import compare, picture_asked_for, save
from sklearn.datasets import load_sample_image

from lancehead import njit, prange

SHARPEN = np.array([[0.0, -1.0, 0.0], [-1.0, 5.0, -1.0], [0.0, -1.0, 0.0]])
EDGES = np.array([[-1.0, -1.0, -1.0], [-1.0, 8.0, -1.0], [-1.0, -1.0, -1.0]])


@njit(parallel=True)
def filtered(image, weights):
    """Each pixel becomes the weighted sum of its 3 × 3 neighbourhood; the rim stays as it is."""
    out = image.copy()
    for y in prange(1, image.shape[0] - 1):
        for x in range(1, image.shape[1] - 1):
            for colour in range(3):
                total = 0.0
                for dy in range(3):
                    for dx in range(3):
                        total += weights[dy, dx] * image[y + dy - 1, x + dx - 1, colour]
                out[y, x, colour] = min(max(total, 0.0), 255.0)
    return out


def draw(path):
    """The photograph, sharpened, and its edges."""
    from matplotlib.figure import Figure

    photo = load_sample_image("china.jpg")[95:225, 165:360]
    figure = Figure(figsize=(8, 2.1), layout="constrained")
    pictures = {"photograph": photo, "sharpened": filtered(photo, SHARPEN), "edges": filtered(photo, EDGES)}
    for axes, (title, picture) in zip(figure.subplots(1, 3), pictures.items(), strict=True):
        axes.imshow(picture)
        axes.set_title(title, fontsize=10)
        axes.set_axis_off()
    save(figure, path)


if __name__ == "__main__":
    png = picture_asked_for(__doc__)
    photo = load_sample_image("china.jpg")
    contrast = [np.abs(np.diff(p.astype(float), axis=1)).mean() for p in (photo, filtered(photo, SHARPEN))]
    print(f"{photo.shape[1]} × {photo.shape[0]} pixels")
    print(f"mean step from pixel to pixel: {contrast[0]:.1f}, sharpened {contrast[1]:.1f}")
    small = photo[100:160, 200:280]
    compare("80 × 60 pixels", lambda: filtered.py_func(small, SHARPEN), lambda: filtered(small, SHARPEN))
    if png:
        draw(png)
