"""A 3 x 3 sharpening filter on a photograph that scikit-learn bundles."""

import numpy as np
from sklearn.datasets import load_sample_image

from lancehead import njit
from lancehead.demo.program import Program

SHARPEN = np.array([[0.0, -1.0, 0.0], [-1.0, 5.0, -1.0], [0.0, -1.0, 0.0]])


def plain(photo, kernel):
    height, width, channels = photo.shape
    total = np.zeros((height - 2, width - 2, channels))
    for di in range(3):
        for dj in range(3):
            total += kernel[di, dj] * photo[di : di + height - 2, dj : dj + width - 2]
    return np.clip(total, 0.0, 255.0).astype(np.uint8)


@njit
def compiled(photo, kernel):
    height, width, channels = photo.shape
    # A row is one run of numbers in which the neighbour pixel is `channels` further.
    rows = photo.reshape((height, width * channels))
    out = np.empty((height - 2, width - 2, channels), np.uint8)
    flat = out.reshape((height - 2, (width - 2) * channels))
    for i in range(flat.shape[0]):
        for j in range(flat.shape[1]):
            total = 0.0
            for di in range(3):
                for dj in range(3):
                    total += kernel[di, dj] * rows[i + di, j + dj * channels]
            flat[i, j] = np.uint8(min(max(total, 0.0), 255.0))
    return out


def inputs(quick):
    photo = load_sample_image("china.jpg")
    return photo[:100, :100].copy() if quick else photo, SHARPEN


PROGRAM = Program(
    name="photo_filter",
    title="3 × 3 filter on a photo",
    baseline="NumPy",
    inputs=inputs,
    size=lambda photo, kernel: " × ".join(map(str, photo.shape)),
    plain=plain,
    compiled=compiled,
)
