"""Groups scanned digits with k-means, by a function of one image that NumPy applies to all (`guvectorize`)."""

import numpy as np
from showing import compare, picture_asked_for, save
from sklearn.datasets import load_digits

from lancehead import guvectorize


def nearest_centre(image, centres, label):
    """label[0] = the number of the centre that is nearest to the image."""
    best = np.inf
    for k in range(centres.shape[0]):
        distance = 0.0
        for i in range(image.shape[0]):
            distance += (image[i] - centres[k, i]) ** 2
        if distance < best:
            best = distance
            label[0] = k


nearest = guvectorize(["void(float64[:], float64[:, :], int64[:])"], "(d),(k,d)->()")(nearest_centre)


def kmeans(images, groups, rounds=50, seed=0):
    """Centres of the groups, and the group of each image, by Lloyd's algorithm."""
    start = np.random.default_rng(seed).choice(len(images), groups, replace=False)
    centres = images[start]
    labels = np.full(len(images), -1)
    for _ in range(rounds):
        before, labels = labels, nearest(images, centres)
        if (labels == before).all():
            break
        for k in np.unique(labels):
            centres[k] = images[labels == k].mean(axis=0)
    return centres, labels


def draw(path):
    """The mean image of each group."""
    from matplotlib.figure import Figure

    digits = load_digits()
    centres, labels = kmeans(digits.data, 10, seed=3)
    figure = Figure(figsize=(7, 1.3), layout="constrained")
    order = np.argsort([np.bincount(digits.target[labels == k]).argmax() for k in range(10)], kind="stable")
    for axes, k in zip(figure.subplots(1, 10), order, strict=True):
        axes.imshow(centres[k].reshape(8, 8), cmap="gray_r")
        axes.set_title(f"{(labels == k).sum()}", fontsize=9)
        axes.set_axis_off()
    save(figure, path)


if __name__ == "__main__":
    png = picture_asked_for(__doc__)
    digits = load_digits()
    centres, labels = kmeans(digits.data, 10, seed=3)
    right = sum(np.bincount(digits.target[labels == k]).max() for k in range(10) if (labels == k).any())
    print(f"{len(labels):,} images in 10 groups; {right / len(labels):.0%} are in a group that is mostly their digit")
    some = digits.data[:100]

    def plain():
        out = np.empty((len(some), 1), np.int64)
        for image, label in zip(some, out, strict=True):
            nearest_centre(image, centres, label)
        return out[:, 0]

    compare("100 images", plain, lambda: nearest(some, centres))
    if png:
        draw(png)
