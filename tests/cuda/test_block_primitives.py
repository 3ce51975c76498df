"""`cuda.block` and `cuda.warp`: against plain Python, under the race checker, and as PTX that is lifted."""

from __future__ import annotations

import functools
import inspect
import itertools
from typing import Any

import numpy as np
import pytest

import assemble
from both_ways import both
from corpus import Kernel
from lancehead import cuda
from lancehead.errors import TypingError

#: One thread, parts of warps, several warps, all threads, two and three axes.
BLOCKS = (1, 2, 31, 32, 33, 100, 1024, (8, 5), (5, 4, 3))
KINDS = ("block", "warp")


def op(a: Any, b: Any) -> Any:
    """Associative, but not commutative: pairs (a // 1000, a % 1000) of a linear map modulo 97."""
    return (a // 1000 * (b // 1000)) % 97 * 1000 + (a % 1000 * (b // 1000) + b % 1000) % 97


def threads(block: Any) -> int:
    return int(np.prod(block))


def own() -> int:
    return (
        cuda.threadIdx.x
        + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        + cuda.blockIdx.x * (cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z)
    )


def of_blocks(x, reduced, inclusive, after, exclusive, ordered, places):
    i = own()
    reduced[i] = cuda.block.reduce(x[i], op)
    inclusive[i] = cuda.block.inclusive_scan(x[i], op)
    after[i] = cuda.block.scan(x[i], op, 5001)
    exclusive[i] = cuda.block.exclusive_scan(x[i], op, 5001)
    ordered[i], places[i] = cuda.block.sort(x[i] % 10, cuda.threadIdx.x)


def of_warps(x, reduced, inclusive, after, exclusive, ordered, places):
    i = own()
    reduced[i] = cuda.warp.reduce(x[i], op)
    inclusive[i] = cuda.warp.inclusive_scan(x[i], op)
    after[i] = cuda.warp.scan(x[i], op, 5001)
    exclusive[i] = cuda.warp.exclusive_scan(x[i], op, 5001)
    ordered[i], places[i] = cuda.warp.sort(x[i] % 10, cuda.threadIdx.x)


KERNELS = {"block": cuda.jit(of_blocks), "warp": cuda.jit(of_warps)}
CHECKED = {"block": cuda.jit(of_blocks, debug=True, opt=False), "warp": cuda.jit(of_warps, debug=True, opt=False)}


def groups(kind: str, block: Any, grid: int) -> list[slice]:
    """The threads that call together."""
    n = threads(block)
    starts = itertools.chain.from_iterable(range(b * n, (b + 1) * n, n if kind == "block" else 32) for b in range(grid))
    return [slice(s, min(s + (n if kind == "block" else 32), (s // n + 1) * n)) for s in starts]


def check(kind: str, kernel: Any, block: Any, grid: int = 2) -> None:
    n = threads(block) * grid
    x = np.random.default_rng(n).integers(0, 97, (n, 2)) @ np.array([1000, 1])
    out = [np.zeros(n, np.int64) for _ in range(6)]
    kernel[grid, block](x, *out)
    numbers = np.indices(block[::-1] if isinstance(block, tuple) else (block,))[-1].reshape(-1)
    for s in groups(kind, block, grid):
        part, first = x[s], s.start % threads(block)
        np.testing.assert_array_equal(out[0][s], functools.reduce(op, part.tolist()))
        np.testing.assert_array_equal(out[1][s], list(itertools.accumulate(part.tolist(), op)))
        after = list(itertools.accumulate(part.tolist(), op, initial=5001))
        np.testing.assert_array_equal(out[2][s], after[1:])
        np.testing.assert_array_equal(out[3][s], after[:-1])
        order = np.argsort(part % 10, kind="stable")
        np.testing.assert_array_equal(out[4][s], (part % 10)[order])
        np.testing.assert_array_equal(out[5][s], numbers[first : first + part.size][order])


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_threads_in_their_order(kind: str) -> None:
    for block in BLOCKS:
        check(kind, KERNELS[kind], block)


@pytest.mark.parametrize("kind", KINDS)
def test_checked_kernels_have_no_races(kind: str) -> None:
    for block in (1, 33, 70, (8, 5)):
        check(kind, CHECKED[kind], block, 1)


def in_order(x: np.ndarray, add: Any) -> Any:
    """The stated order: neighbours of a warp, then neighbouring results; warps from left to right."""
    totals = []
    for s in range(0, x.size, 32):
        part = list(x[s : s + 32])
        while len(part) > 1:
            part = [add(*part[k : k + 2]) if k + 1 < len(part) else part[k] for k in range(0, len(part), 2)]
        totals.append(part[0])
    return functools.reduce(add, totals)


@pytest.mark.parametrize("dtype", ("bool", "int8", "uint64", "float16", "float32", "float64", "complex64"))
def test_types_and_the_order_of_floats(dtype: str) -> None:
    @cuda.jit
    def kernel(x, out, sums, keys, top, threads_of_top):
        i = cuda.threadIdx.x
        out[i] = cuda.block.reduce(x[i], lambda a, b: a + b)
        sums[i] = cuda.block.inclusive_sum(x[i])
        keys[i] = cuda.block.sort(x[i])
        top[i], threads_of_top[i] = cuda.block.top_k(x[i], 3)

    n = 77
    rng = np.random.default_rng(0)
    x = rng.normal(size=n).astype(dtype) if np.dtype(dtype).kind in "fc" else rng.integers(0, 3, n).astype(dtype)
    if np.dtype(dtype).kind == "c":
        x += (1j * rng.normal(size=n)).astype(dtype)
    # Truth values are those of Python, whose sums are integers.
    wide = np.int64 if dtype == "bool" else x.dtype
    out, sums, keys, top, places = (np.zeros(n, t) for t in (wide, wide, x.dtype, x.dtype, np.int64))
    if np.dtype(dtype).kind in "fc":
        with_nan = x.copy()
        with_nan[[3, 50]] = np.nan
        kernel[1, n](with_nan, out, sums, keys, top, places)
        np.testing.assert_array_equal(keys, np.sort(with_nan))
        assert places[:2].tolist() == [3, 50]
    kernel[1, n](x, out, sums, keys, top, places)
    x = x.astype(wide)
    np.testing.assert_array_equal(out, in_order(x, lambda a, b: a + b))
    np.testing.assert_allclose(sums, np.cumsum(x), atol=1e2 * np.finfo(wide).eps if x.dtype.kind in "fc" else 0)
    order = np.argsort(-x.astype(int) if x.dtype.kind in "iu" else -x, kind="stable")[:3]
    np.testing.assert_array_equal(top[:3].astype(wide), x[order])
    assert places[:3].tolist() == order.tolist()
    assert (places[3:] == -1).all()


@cuda.jit
def of_tuples(x, best, at, count, mean, squares, keys, values):
    i = cuda.threadIdx.x
    best[i], at[i] = cuda.block.reduce((x[i], i), lambda a, b: b if b[0] > a[0] else a)
    count[i], mean[i], squares[i] = cuda.block.scan((1.0, x[i], 0.0), welford)
    key, (values[i], _) = cuda.block.sort((x[i] > 0, x[i]), (i, x[i]), before=lambda a, b: a[0] < b[0])
    keys[i] = key[0]
    w, _ = cuda.warp.reduce((x[i], i), lambda a, b: b if b[0] > a[0] else a)
    if w > best[i]:
        best[i] = w


@cuda.jit(device=True)
def welford(a, b):
    n = a[0] + b[0]
    d = b[1] - a[1]
    return n, a[1] + d * b[0] / n, a[2] + b[2] + d * d * a[0] * b[0] / n


def test_tuples() -> None:
    n = 150
    x = np.random.default_rng(1).normal(size=n)
    best, at, count, mean, squares, values = (np.zeros(n) for _ in range(6))
    keys = np.zeros(n, bool)
    of_tuples[1, n](x, best, at, count, mean, squares, keys, values)
    assert (best == x.max()).all() and (at == x.argmax()).all()
    np.testing.assert_allclose(mean, np.cumsum(x) / np.arange(1, n + 1))
    np.testing.assert_allclose(squares[-1] / n, x.var())
    np.testing.assert_array_equal(keys, np.sort(x > 0))
    np.testing.assert_array_equal(values, np.argsort(x > 0, kind="stable"))


def test_results_in_branches_loops_and_several_calls() -> None:
    @cuda.jit
    def kernel(x, out, n):
        i = cuda.threadIdx.x
        total = 0.0
        # Blocks that take part are whole.
        if cuda.blockIdx.x > 0:
            for k in range(n):
                total += cuda.block.sum(x[k, i]) * cuda.block.reduce(x[k, i], max)
        out[cuda.blockIdx.x, i] = total

    x, out = np.random.default_rng(0).integers(0, 9, (3, 40)).astype(float), np.zeros((2, 40))
    kernel[2, 40](x, out, 3)
    assert (out[0] == 0).all() and (out[1] == sum(r.sum() * r.max() for r in x)).all()


def gpu_block(x, reduced, scanned, ordered, places):
    i = cuda.grid(1)
    reduced[i] = cuda.block.reduce(x[i], lambda a, b: a + b)
    scanned[i] = cuda.block.exclusive_scan(x[i], lambda a, b: a + b, np.float32(0.5))
    ordered[i], places[i] = cuda.block.sort(x[i], i)


def gpu_warp(x, reduced, scanned, ordered, places):
    i = cuda.grid(1)
    reduced[i] = cuda.warp.reduce(x[i], lambda a, b: a + b)
    scanned[i] = cuda.warp.exclusive_scan(x[i], lambda a, b: a + b, np.float32(0.5))
    ordered[i], places[i] = cuda.warp.sort(x[i], i)


def gpu_tuples(x, reduced, scanned, ordered, places):
    i = cuda.grid(1)
    reduced[i], places[i] = cuda.block.reduce((x[i], i), lambda a, b: b if b[0] > a[0] else a)
    scanned[i], _ = cuda.warp.scan((x[i], 1), lambda a, b: (a[0] + b[0], a[1] + b[1]))
    ordered[i], _ = cuda.block.top_k(x[i], 5)


@pytest.mark.parametrize("function", (gpu_block, gpu_warp, gpu_tuples))
def test_ptx_gives_the_same_bits(function: Any) -> None:
    signature = "void(float32[::1], float32[::1], float32[::1], float32[::1], int64[::1])"
    for block in (70, 64):
        n = 2 * block

        def make(rng: np.random.Generator, n: int = n) -> tuple[Any, ...]:
            out = (np.zeros(n, np.float32) for _ in range(3))
            return (rng.normal(size=n).astype(np.float32), *out, np.zeros(n, np.int64))

        for direct, lifted in both(Kernel(function, signature, 2, block, make)):
            np.testing.assert_array_equal(direct, lifted)
    ptx = cuda.compile_ptx(function, signature, cc=(7, 5))[0]
    if assemble.tool("ptxas"):
        assert assemble.assemble(ptx, "sm_75").instructions


def test_errors() -> None:
    def exclusive(x):
        cuda.block.scan(x[0], max, exclusive=True)

    def of_text(x):
        cuda.block.reduce("text", max)

    def mixed(x):
        cuda.block.reduce((x[0], 1), lambda a, b: a[0])

    for wrong in (exclusive, of_text, mixed):
        with pytest.raises(TypingError):
            cuda.jit(wrong)[1, 32](np.ones(1))
    with pytest.raises(RuntimeError, match="cuda.block.reduce has a meaning in kernels only"):
        cuda.block.reduce(1, max)


def test_names_have_help_and_completion() -> None:
    for whole in (cuda.block, cuda.warp):
        assert set(dir(whole)) >= {"reduce", "sum", "scan", "exclusive_scan", "sort", "top_k"}
        assert ">>>" in (whole.__doc__ or "")
        for name in dir(whole):
            assert ">>>" in getattr(whole, name).__doc__
        assert list(inspect.signature(whole.reduce).parameters) == ["value", "op"]
        with pytest.raises(AttributeError):
            whole.nothing
