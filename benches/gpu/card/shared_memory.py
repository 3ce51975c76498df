"""Dynamic shared memory up to the limit, and blocks of 1024 threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import corpus
from guarded import Skipped, Task
from lancehead import cuda
from lancehead.cuda.cudadrv.driver import CudaAPIError

SIZES = {"49152_bytes": 48 << 10, "49_KiB": 49 << 10, "100_KiB": 100 << 10, "227_KiB": 227 << 10}


@cuda.jit
def reverse(a):
    """A block reverses what its shared memory holds."""
    s, i = cuda.shared.array(0, np.int32), cuda.threadIdx.x
    for k in range(i, a.size, cuda.blockDim.x):
        s[k] = a[k]
    cuda.syncthreads()
    for k in range(i, a.size, cuda.blockDim.x):
        a[k] = s[a.size - 1 - k]


def _reversed(size: int) -> None:
    there = cuda.to_device(np.arange(size // 4, dtype=np.int32))
    reverse[1, 256, 0, size](there)
    np.testing.assert_array_equal(there.copy_to_host(), np.arange(size // 4)[::-1])


def dynamic(size: int) -> Callable[[], None]:
    """A check of a size."""

    def check() -> None:
        if size > (most := cuda.get_current_device().MAX_SHARED_MEMORY_PER_BLOCK_OPTIN):
            raise Skipped(f"blocks have at most {most} bytes")
        _reversed(size)

    return check


def beyond_the_limit() -> None:
    """More than a block can have is refused, and what comes next works."""
    most = cuda.get_current_device().MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    there = cuda.to_device(np.arange(64, dtype=np.int32))
    refused = False
    try:
        reverse[1, 256, 0, most + 1024](there)
        cuda.synchronize()
    except CudaAPIError as error:
        assert error.code == 1, error
        refused = True
    assert refused, f"{most + 1024} bytes were given"
    _reversed(1024)


def many_threads() -> None:
    """The longest kernels of the corpus in blocks of 1024 threads."""
    known = corpus.make(cuda)
    for name in ("math_f64", "black_scholes", "math_f32", "mandelbrot"):
        k = known[name]
        results = []
        for block in (128, 1024):
            given = [
                cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in k.arguments(np.random.default_rng(1))
            ]
            cuda.jit(k.function)[8, block](*given)
            results.append([a.copy_to_host().tobytes() for a in given if cuda.is_cuda_array(a)])
        assert results[0] == results[1], name


def launch_bounds() -> None:
    """A kernel that is made for blocks of 1024 threads, of which two fit, has registers for them."""
    k = corpus.make(cuda)["math_f64"]
    kernel = cuda.jit(k.function, launch_bounds=(1024, 2))
    kernel[8, 1024](*k.arguments(np.random.default_rng(1)))
    (facts,) = kernel.overloads.values()
    assert facts.regs_per_thread <= 32, facts.regs_per_thread


def checks() -> Iterator[Task]:
    """Of this step."""
    for name, size in SIZES.items():
        yield Task(f"dynamic_{name}", dynamic(size))
    for check in (beyond_the_limit, many_threads, launch_bounds):
        yield Task(check.__name__, check)
