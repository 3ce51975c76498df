"""A pipeline of 20 operations on lazy arrays."""

import numpy as np

from lancehead import xp


def pipeline(np, x, y):
    """Normalises, squashes, weighs and sums; the namespace is NumPy's or that of lazy arrays."""
    a = (x - np.mean(x)) / np.std(x)
    b = np.exp(-a * a) + 0.5 * np.sin(y)
    c = np.where(b > 0.5, b, np.sqrt(np.abs(b)))
    d = np.clip(c * y + 1.0, 0.0, 2.0)
    e = np.maximum(c, d)
    return np.sum(e * e)


X, Y = np.linspace(0.0, 1.0, 1000), np.linspace(1.0, 3.0, 1000)


def first():
    return float(pipeline(xp, xp.asarray(X), xp.asarray(Y)))


def is_right(found):
    return np.isclose(found, pipeline(np, X, Y))
