"""Sparse principal components of the digits by random projection: array code beside a loop, with the same answers.

The columns of V are the data's leading directions. A random unit vector c mixes them into a = V c; the norm of the k
largest entries of a says how much of the variance k pixels alone explain. The best k pixels of many tries are kept.

    python examples/xp/sparse_pca.py [DEVICE]
"""

import sys
import time

import numpy as np
from sklearn.datasets import load_digits

from lancehead import xp

K, DIRECTIONS, TRIES = 10, 8, 50_000


def loop(v, mixes):
    """One try after the other."""
    best, support = -1.0, None
    for c in mixes:
        a = np.abs(v @ c) / np.sqrt((c * c).sum())
        largest = np.argsort(a)[-K:]
        norm = np.sqrt((a[largest] ** 2).sum())
        if norm > best:
            best, support = norm, np.sort(largest)
    return best, support


def batched(v, mixes):
    """All tries at once."""
    a = xp.abs(mixes @ v.T)
    largest = xp.sort(a, axis=1)[:, -K:]
    norms = xp.linalg.vector_norm(largest, axis=1) / xp.linalg.vector_norm(mixes, axis=1)
    best = xp.argmax(norms)
    return float(norms[best]), np.sort(xp.top_k(a[best], K).indices.numpy())


def leading():
    """The leading directions of the digits, scaled by how much they explain, and the greatest scale."""
    images = load_digits().data
    _, scales, directions = np.linalg.svd(images - images.mean(axis=0), full_matrices=False)
    return np.ascontiguousarray((directions[:DIRECTIONS] * scales[:DIRECTIONS, None]).T), scales[0]


def main(device=None):
    where = {} if device is None else {"device": device}
    v, scale = leading()
    mixes = xp.random.default_rng(7).standard_normal((TRIES, DIRECTIONS))
    given = xp.asarray(v, **where), xp.asarray(mixes.numpy(), **where)
    batched(*given)  # compiles
    start = time.perf_counter()
    norm, support = batched(*given)
    between = time.perf_counter()
    expected, pixels = loop(v, mixes.numpy())
    end = time.perf_counter()
    assert abs(norm - expected) <= 1e-12 * expected and (support == pixels).all()
    print(f"{K} of {v.shape[0]} pixels explain {norm / scale:.3f} of the first component's scale: {support}")
    print(f"loop {1e3 * (end - between):.0f} ms, arrays {1e3 * (between - start):.0f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:2])
