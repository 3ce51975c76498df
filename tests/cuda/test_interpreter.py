"""Barriers, operations of warps, atomics and local memory: compiled kernels and lifted PTX against the interpreter."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from both_ways import run_lifted
from corpus import Kernel, make
from interpreter import Deadlock, interpret
from lancehead import cuda
from lancehead.cuda.errors import CudaCheckError

FULL = 0xFFFFFFFF
#: Shapes of blocks, with and without a last warp that is not whole.
SHAPES = (1, 7, 32, 33, 64, 96, 100, 256, (8, 4), (16, 6), (4, 4, 4), (5, 3, 2))


def agree(
    kernel: Callable[..., None],
    signature: str,
    grid: Any,
    block: Any,
    args: Callable[[], tuple[Any, ...]],
    exact: bool = True,
) -> None:
    """Runs a kernel in the interpreter, in two orders, compiled, and as lifted PTX."""
    want, other, direct, lifted = (args() for _ in range(4))
    interpret(kernel, grid, block, want, seed=1)
    interpret(kernel, grid, block, other, seed=2)
    cuda.jit(kernel)[grid, block](*direct)
    run_lifted(
        cuda.compile_ptx(kernel, signature, cc=(9, 0))[0], Kernel(kernel, signature, grid, block, lambda _: ()), lifted
    )
    for got in (other, direct, lifted):
        for x, y in zip(got, want, strict=True):
            assert np.array_equal(x, y) if exact else np.allclose(x, y, rtol=1e-5)


def threads(shape: Any) -> int:
    """Threads of a block."""
    return int(np.prod(shape))


def numbers(n: int, most: int = 1000) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    """Random numbers, and zeros."""
    return lambda: (np.random.default_rng(n).integers(0, most, n), np.zeros(n, np.int64))


BOTH = "void(int64[::1], int64[::1])"


@pytest.mark.parametrize("shape", SHAPES)
def test_barriers_that_answer(shape: Any) -> None:
    def k(a, out):
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        i = cuda.blockIdx.x * cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z + t
        some = int(cuda.syncthreads_or(a[i] > 990))
        many = int(cuda.syncthreads_count(a[i] % 2 == 0))
        every = int(cuda.syncthreads_and(a[i] > some))
        v = 0
        for _ in range(a[i] % 5):
            v += many
        out[i] = v * 100 + some * 10 + every

    agree(k, BOTH, 2, shape, numbers(2 * threads(shape)))


@pytest.mark.parametrize("shape", SHAPES)
def test_counts_after_a_loop_of_different_lengths(shape: Any) -> None:
    def k(a, out):
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        v = 7
        for _ in range(t % 5):
            v += a[t]
        out[t] = v * 1000 + int(cuda.syncthreads_count(a[t] > 300))

    agree(k, BOTH, 1, shape, numbers(threads(shape)))


@pytest.mark.parametrize("shape", SHAPES)
def test_votes_and_matches(shape: Any) -> None:
    def k(a, out):
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        bits = cuda.ballot_sync(FULL, a[t] > 4)
        same = cuda.match_any_sync(FULL, a[t])
        lanes, alike = cuda.match_all_sync(FULL, a[t] // 8)
        v = (
            int(cuda.all_sync(FULL, a[t] > 0))
            + 2 * int(cuda.any_sync(FULL, a[t] > 8))
            + 4 * int(cuda.eq_sync(FULL, a[t] > 5))
        )
        out[t] = (bits ^ (same << 3)) + lanes + int(alike) * 7 + v

    agree(k, BOTH, 1, shape, numbers(threads(shape), 10))


@pytest.mark.parametrize("shape", [s for s in SHAPES if threads(s) % 32 == 0])
@pytest.mark.parametrize("seed", range(3))
def test_shuffles(shape: Any, seed: int) -> None:
    rng = random.Random(seed)
    up, down, other, source = (rng.randrange(1, 32) for _ in range(4))

    def k(a, out):
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        v = cuda.shfl_up_sync(FULL, int(a[t]), up)
        v += 3 * cuda.shfl_down_sync(FULL, v, down)
        v += 5 * cuda.shfl_xor_sync(FULL, v, other)
        v += 7 * cuda.shfl_sync(FULL, v, (t * source + 3) % 32)
        if t % 2 == 0:
            v += cuda.shfl_sync(0x55555555, v, 2 * (source // 2))
        else:
            v -= cuda.shfl_xor_sync(0xAAAAAAAA, v, 2)
        out[t] = v

    agree(k, BOTH, 1, shape, numbers(threads(shape)))


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_atomics_in_any_order(dtype: str) -> None:
    def k(a, out):
        i = cuda.grid(1)
        cuda.atomic.add(out, a[i] % 4, a[i])
        cuda.atomic.sub(out, 4 + a[i] % 4, a[i])
        cuda.atomic.max(out, 8 + a[i] % 4, a[i])
        cuda.atomic.min(out, 12 + a[i] % 4, a[i])
        cuda.atomic.and_(out, 16 + a[i] % 4, a[i])
        cuda.atomic.or_(out, 20 + a[i] % 4, a[i])
        cuda.atomic.xor(out, 24 + a[i] % 4, a[i])

    args = lambda: (np.random.default_rng(1).integers(0, 2**20, 192).astype(dtype), np.arange(28).astype(dtype))
    agree(k, f"void({dtype}[::1], {dtype}[::1])", 2, 96, args)


@pytest.mark.parametrize("shape", SHAPES)
def test_arrays_of_threads_and_values_that_are_passed_on(shape: Any) -> None:
    def k(a, out):
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        own = cuda.local.array(4, np.int64)
        for j in range(4):
            own[j] = t + j
        last = 77
        for j in range(a[t] % 6):
            last = j * 2
        out[t] = own[a[0] & 3] * 1000 + last

    agree(k, BOTH, 1, shape, numbers(threads(shape)))


@pytest.mark.parametrize("shape", SHAPES)
def test_arrays_of_threads_without_branches(shape: Any) -> None:
    def k(a, out):
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        own = cuda.local.array(4, np.int64)
        for j in range(4):
            own[j] = a[t] + j
        out[t] = own[a[0] & 3]

    agree(k, BOTH, 1, shape, numbers(threads(shape)))


@pytest.mark.parametrize("shape", [32, 96, (16, 6)])
def test_barriers_in_functions_and_grids_that_wait(shape: Any) -> None:
    n = threads(shape)

    def k(a, out):
        t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
        i, size = cuda.blockIdx.x * n + t, 3 * n
        grid = cuda.cg.this_grid()
        s = cuda.shared.array(n, np.int64)
        v = int(a[i])
        for round_ in range(4):
            s[t] = v
            cuda.syncthreads()
            v = (v + s[(t * 5 + round_) % n]) & 0xFFFF
            cuda.syncthreads()
            out[i] = v
            grid.sync()
            v = (v ^ out[(i + n) % size]) + int(cuda.syncthreads_count(v % 3 == 0))
            grid.sync()
        out[i] = v

    agree(k, BOTH, 3, shape, numbers(3 * n))


CORPUS = make(cuda)
EXACT = (
    "increment_2d",
    "vector_add",
    "transpose",
    "histogram",
    "warp_sum",
    "warp_scan_f64",
    "block_sum",
    "stride_loop",
    "float_sum",
)


@pytest.mark.parametrize("name", EXACT)
def test_kernels_of_the_corpus(name: str) -> None:
    k = CORPUS[name]
    want, direct = (k.arguments(np.random.default_rng(1)) for _ in range(2))
    interpret(k.function, k.grid, k.block, want, k.shared)
    cuda.jit(k.function)[k.grid, k.block, 0, k.shared](*direct)
    for x, y in zip(direct, want, strict=True):
        assert np.allclose(x, y, rtol=1e-5, atol=1e-5)


def test_threads_that_wait_for_ever() -> None:
    def k(out):
        if cuda.threadIdx.x < 16:
            cuda.syncthreads()
        else:
            cuda.ballot_sync(FULL, True)

    with pytest.raises(Deadlock):
        interpret(k, 1, 32, (np.zeros(1),))
    with pytest.raises(CudaCheckError, match="wait for each other"):
        cuda.jit(k, debug=True, opt=False)[1, 32](np.zeros(1))
