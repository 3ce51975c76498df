"""k-means of scanned digits: distances as one product of matrices, centres as another.

python examples/xp/kmeans.py [DEVICE]
"""

import sys

import numpy as np
from sklearn.datasets import load_digits

from lancehead import xp


@xp.trace
def improved(images, squares, centres):
    """The centres of the images that are nearest to each centre, and for each image the number of its centre."""
    distances = squares - 2.0 * (images @ centres.T) + xp.sum(centres * centres, axis=1)
    labels = xp.argmin(distances, axis=1)
    belongs = xp.astype(labels[:, None] == xp.counting(centres.shape[0]), xp.float64)
    counts = xp.sum(belongs, axis=0)[:, None]
    return xp.where(counts > 0.0, (belongs.T @ images) / xp.maximum(counts, 1.0), centres), labels


def kmeans(images, count, rounds, seed):
    """Centres and labels, from random images on, until nothing changes."""
    squares = xp.sum(images * images, axis=1, keepdims=True)
    start = np.random.default_rng(seed).choice(images.shape[0], count, replace=False)
    centres, labels = images[xp.asarray(start)], None
    for _ in range(rounds):
        before = labels
        centres, labels = improved(images, squares, centres)
        if before is not None and bool(xp.all(before == labels)):
            break
    return centres, labels


def main(device=None):
    where = {} if device is None else {"device": device}
    digits = load_digits()
    images = xp.asarray(digits.data, **where)
    centres, labels = kmeans(images, 10, 300, 3)
    distances = ((digits.data[:, None] - np.asarray(centres)) ** 2).sum(axis=2)
    assert (np.asarray(labels) == distances.argmin(axis=1)).all()
    print("cluster  images  mostly  share")
    for k in range(10):
        of = np.bincount(digits.target[np.asarray(labels) == k], minlength=10)
        print(f"{k:7}  {of.sum():6}  {of.argmax():6}  {of.max() / of.sum():5.0%}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
