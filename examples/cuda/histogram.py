"""Histogram of the bytes of a file, counted in shared memory first."""

import sys
from pathlib import Path

import numpy as np

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
    data = np.frombuffer(Path(sys.argv[1] if len(sys.argv) > 1 else __file__).read_bytes(), np.uint8).copy()
    counts = np.zeros(256, np.int32)
    histogram[8, 256](data, counts)
    assert (counts == np.bincount(data, minlength=256)).all()
    print("most frequent byte:", repr(chr(counts.argmax())), counts.max())
