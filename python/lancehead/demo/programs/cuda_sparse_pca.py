"""Sparse principal components by random projection as it was written for NumbaPro: cuRAND, cuBLAS, sorts, streams."""

import math

import numpy as np

from lancehead import cuda
from lancehead.cudalib import cublas, curand, sorting
from lancehead.demo.program import Program
from lancehead.demo.programs import sparse_pca, xp_sparse_pca

BATCH, STREAMS = 1_000, 2


@cuda.jit
def prepare(a, keys, places):
    """keys = -|a| and places = the row of each, column after column."""
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        keys[j * a.shape[0] + i] = -abs(a[i, j])
        places[j * a.shape[0] + i] = i


@cuda.jit
def norms_of(keys, mixes, k, norms):
    """norms[j] = the norm of the k largest entries of column j, divided by that of its mix."""
    j = cuda.grid(1)
    if j < norms.size:
        total = square = 0.0
        for slot in range(k):
            total += keys[j * (keys.size // norms.size) + slot] ** 2
        for d in range(mixes.shape[0]):
            square += mixes[d, j] ** 2
        norms[j] = math.sqrt(total / square)


def generator(seed, stream=0):
    return curand.PRNG(rndtype=curand.PRNG.MRG32K3A, seed=seed, stream=stream)


class Worker:
    """The resources of one stream: a generator, the library's handle, memory."""

    def __init__(self, v, k, seed):
        self.stream = cuda.stream()
        self.prng = generator(seed, self.stream)
        self.blas = cublas.Blas(stream=self.stream)
        self.k, (pixels, directions) = k, v.shape
        self.v = cuda.to_device(np.asfortranarray(v), stream=self.stream)
        self.mixes = cuda.device_array((directions, BATCH), order="F")
        self.a = cuda.device_array((pixels, BATCH), order="F")
        self.keys = cuda.device_array(pixels * BATCH)
        self.places = cuda.device_array(pixels * BATCH, np.uint32)
        self.segments = np.arange(1, BATCH, dtype=np.int32) * pixels
        self.norms = cuda.device_array(BATCH)

    def start(self):
        """Puts a batch of tries into the stream."""
        pixels, directions = self.v.shape
        self.prng.normal(self.mixes.ravel(order="F"), 0.0, 1.0)
        self.blas.gemm("N", "N", pixels, BATCH, directions, 1.0, self.v, self.mixes, 0.0, self.a)
        grid = (-(-pixels // 16), -(-BATCH // 16))
        prepare[grid, (16, 16), self.stream](self.a, self.keys, self.places)
        sorting.segmented_sort(self.keys, self.places, self.segments, self.stream)
        norms_of[-(-BATCH // 128), 128, self.stream](self.keys, self.mixes, self.k, self.norms)

    def best(self):
        """The best norm of the batch, and its pixels."""
        norms = self.norms.copy_to_host(stream=self.stream)
        self.stream.synchronize()
        start = norms.argmax() * self.v.shape[0]
        return norms.max(), np.sort(self.places[start : start + self.k].copy_to_host())


def plain(v, tries, k):
    # The tries are the same: this, too, draws them by cuRAND's generators.
    mixes = np.empty((STREAMS, tries // STREAMS, v.shape[1]))
    for worker in range(STREAMS):
        prng = generator(worker + 1)
        for batch in np.split(mixes[worker], tries // STREAMS // BATCH):
            prng.normal(batch.reshape(-1), 0.0, 1.0)
    return xp_sparse_pca.plain(v, mixes.reshape(-1, v.shape[1]), k)


def compiled(v, tries, k):
    workers = [Worker(v, k, seed) for seed in range(1, STREAMS + 1)]
    best = (-1.0, None)
    for _ in range(tries // STREAMS // BATCH):
        for worker in workers:
            worker.start()
        best = max([best, *(worker.best() for worker in workers)], key=lambda found: found[0])
    return best


def inputs(quick):
    v, _, k = sparse_pca.inputs(quick)
    return v, 2_000 if quick else 20_000, k


PROGRAM = Program(
    name="cuda_sparse_pca",
    title="Sparse PCA, cuRAND and cuBLAS",
    baseline="NumPy",
    inputs=inputs,
    size=lambda v, tries, k: f"{v.shape[0]} × {v.shape[1]}, {tries:,} tries",
    plain=plain,
    compiled=compiled,
    tolerance=1e-12,
    objection=sparse_pca.objection,
)
