"""A CuPy tutorial's function of two arrays: by array functions, by an elementwise kernel in C, and by `fuse`.

The results are compared with NumPy's. Without a GPU the arrays are on lancehead's CPU device.
"""

import time

import numpy as np

from lancehead import cupy as cp


def saxpy_trig(a, x, y):
    xp = cp.get_array_module(x, y)
    return xp.exp(a * xp.sin(x) + xp.cos(y))


KERNEL = cp.ElementwiseKernel("T a, T x, T y", "T z", "z = exp(a * sin(x) + cos(y))", "saxpy_trig")


@cp.fuse(kernel_name="saxpy_trig_fused")
def fused(a, x, y):
    return cp.exp(a * cp.sin(x) + cp.cos(y))


def milliseconds(f, *arguments):
    """The shortest of a few calls after the first, between two events."""
    f(*arguments).compute()
    times = []
    for _ in range(5):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        begin = time.perf_counter()
        start.record()
        f(*arguments).compute()
        end.record()
        end.synchronize()
        times.append(min(cp.cuda.get_elapsed_time(start, end), 1e3 * (time.perf_counter() - begin)))
    return min(times)


def main():
    n, a = 1_000_000, np.float32(0.5)
    rng = np.random.default_rng(7)
    host = rng.random(n, np.float32), rng.random(n, np.float32)
    expected = saxpy_trig(a, *host)
    x, y = map(cp.asarray, host)
    for name, f in (("array functions", saxpy_trig), ("elementwise kernel", KERNEL), ("fuse", fused)):
        np.testing.assert_allclose(cp.asnumpy(f(a, x, y)), expected, rtol=1e-5)
        print(f"{name}: {milliseconds(f, a, x, y):.2f} ms")


if __name__ == "__main__":
    main()
