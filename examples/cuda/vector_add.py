"""Vector addition: with a grid that `forall` chooses, and with one of our own and a loop over what it does not
cover."""

import numpy as np

from lancehead import cuda


@cuda.jit
def add(x, y, out):
    """out = x + y; one thread an element."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def add_all(x, y, out):
    """out = x + y, for any grid."""
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = x[i] + y[i]


if __name__ == "__main__":
    n = 100_000
    x, y = cuda.to_device(np.arange(n, dtype=np.float32)), cuda.to_device(np.full(n, 0.5, np.float32))
    out = cuda.device_array_like(x)
    add.forall(n)(x, y, out)
    first = out.copy_to_host()
    add_all[64, 256](x, y, out)
    expected = np.arange(n, dtype=np.float32) + np.float32(0.5)
    assert (first == expected).all() and (out.copy_to_host() == expected).all()
    print("sum:", first.sum(dtype=np.float64))
