"""Histogram of the brightness of a photograph, counted in shared memory first."""

import numpy as np
from sklearn.datasets import load_sample_image

from lancehead import cuda


@cuda.jit
def histogram(data, counts):
    """counts[b] += the number of bytes b."""
    own = cuda.shared.array(256, np.int32)
    t = cuda.threadIdx.x
    own[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
        cuda.atomic.add(own, data[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(counts, t, own[t])


if __name__ == "__main__":
    brightness = load_sample_image("flower.jpg").mean(axis=2).astype(np.uint8).ravel()
    counts = np.zeros(256, np.int32)
    histogram[8, 256](brightness, counts)
    assert (counts == np.bincount(brightness, minlength=256)).all()
    for b in range(0, 256, 16):
        share = counts[b : b + 16].sum() / brightness.size
        print(f"{b:3}-{b + 15:3} {'#' * round(100 * share)}")
