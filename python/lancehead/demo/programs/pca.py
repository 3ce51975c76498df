"""Principal components of scanned digits: eigenvectors of the covariance of their pixels."""

import numpy as np
from sklearn.datasets import load_digits

from lancehead import njit
from lancehead.demo.program import Program


def plain(images, count):
    centred = images - images.mean(axis=0)
    covariance = centred.T @ centred / (len(images) - 1)
    values, vectors = np.linalg.eigh(covariance)
    # Of the two directions of an axis, the one whose largest part is positive.
    axes = vectors[:, ::-1][:, :count].T.copy()
    largest = np.argmax(np.abs(axes), axis=1)
    for i in range(count):
        axes[i] *= np.sign(axes[i, largest[i]])
    return values[::-1][:count] / values.sum(), axes, centred @ axes.T


def inputs(quick):
    images = load_digits().data
    return images[:300] if quick else images, 10


PROGRAM = Program(
    name="pca",
    title="PCA by eigh",
    baseline="NumPy",
    inputs=inputs,
    size=lambda images, count: f"scanned digits, {images.shape[0]:,} × {images.shape[1]}",
    plain=plain,
    compiled=njit(plain),
    tolerance=1e-12,
)
