"""Sparse principal components of the digits by random projection.

The data's leading directions are the columns of V. A random unit vector c mixes them into a = V c; the norm of the k
largest entries of a says how much of the variance k pixels alone explain. The best k pixels of many tries are kept.
"""

import numpy as np
from sklearn.datasets import load_digits

from lancehead import njit
from lancehead.demo.program import Program


def plain(v, tries, k):
    np.random.seed(7)
    best, support = -1.0, np.zeros(k, np.int64)
    for _ in range(tries):
        c = np.random.randn(v.shape[1])
        c /= np.sqrt((c * c).sum())
        a = np.abs(v @ c)
        largest = np.argsort(a)[-k:]
        norm = np.sqrt((a[largest] ** 2).sum())
        if norm > best:
            best, support = norm, np.sort(largest)
    return best, support


@njit
def compiled(v, tries, k):
    np.random.seed(7)
    p, d = v.shape
    c, a = np.empty(d), np.empty(p)
    best, support = -1.0, np.zeros(k, np.int64)
    largest, values = np.zeros(k, np.int64), np.empty(k)
    for _ in range(tries):
        square = 0.0
        for j in range(d):
            c[j] = np.random.randn()
            square += c[j] * c[j]
        scale = 1.0 / np.sqrt(square)
        values[:] = -1.0
        for i in range(p):
            total = 0.0
            for j in range(d):
                total += v[i, j] * c[j]
            a[i] = abs(total * scale)
            if a[i] > values[0]:
                # Insert into the k largest so far, which are in ascending order.
                slot = 0
                while slot + 1 < k and values[slot + 1] < a[i]:
                    values[slot], largest[slot] = values[slot + 1], largest[slot + 1]
                    slot += 1
                values[slot], largest[slot] = a[i], i
        norm = np.sqrt((values * values).sum())
        if norm > best:
            best = norm
            support[:] = largest
    return best, np.sort(support)


def inputs(quick):
    images = load_digits().data
    _, scales, directions = np.linalg.svd(images - images.mean(axis=0), full_matrices=False)
    leading = 8
    v = np.ascontiguousarray((directions[:leading] * scales[:leading, None]).T)
    return v, 2_000 if quick else 50_000, 10


def objection(answer):
    # With its pixels given, the best mix is the leading singular vector of those rows: no random one explains more.
    norm, support = answer
    bound = np.linalg.svd(inputs(True)[0][support], compute_uv=False)[0]
    return "" if 0.8 * bound < norm <= bound * (1 + 1e-12) else f"{norm:.3f} of at most {bound:.3f} is explained"


PROGRAM = Program(
    name="sparse_pca",
    title="Sparse PCA, random projection",
    baseline="NumPy",
    inputs=inputs,
    size=lambda v, tries, k: f"{v.shape[0]} × {v.shape[1]}, {tries:,} tries",
    plain=plain,
    compiled=compiled,
    tolerance=1e-12,
    objection=objection,
)
