"""Sparse principal components by random projection: arrays of `lancehead.xp`, all tries at once, beside a loop."""

import numpy as np

from lancehead import xp
from lancehead.demo.program import Program
from lancehead.demo.programs import sparse_pca


def plain(v, mixes, k):
    best, support = -1.0, np.zeros(k, np.int64)
    for c in mixes:
        a = np.abs(v @ c) / np.sqrt((c * c).sum())
        largest = np.argsort(a)[-k:]
        norm = np.sqrt((a[largest] ** 2).sum())
        if norm > best:
            best, support = norm, np.sort(largest)
    return best, support


def compiled(v, mixes, k):
    v, mixes = xp.asarray(v), xp.asarray(mixes)
    a = xp.abs(mixes @ v.T)
    largest = xp.sort(a, axis=1)[:, -k:]
    norms = xp.linalg.vector_norm(largest, axis=1) / xp.linalg.vector_norm(mixes, axis=1)
    best = xp.argmax(norms)
    return float(norms[best]), np.sort(xp.top_k(a[best], k).indices.numpy())


def inputs(quick):
    v, tries, k = sparse_pca.inputs(quick)
    return v, xp.random.default_rng(7).standard_normal((tries, v.shape[1])).numpy(), k


PROGRAM = Program(
    name="xp_sparse_pca",
    title="Sparse PCA, lazy arrays",
    baseline="NumPy",
    inputs=inputs,
    size=lambda v, mixes, k: f"{v.shape[0]} × {v.shape[1]}, {len(mixes):,} tries",
    plain=plain,
    compiled=compiled,
    tolerance=1e-12,
)
