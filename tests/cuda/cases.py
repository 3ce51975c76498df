"""Kernels that `benches/gpu/run.py` measures: those of the corpus and some more, with arguments of a size.

`cases(cuda, sizes)` makes them with the module given, so that another implementation of the same API runs the same source.
Each stands in `benches/gpu/peers.cu` as CUDA C too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import corpus
import numpy as np

from lancehead import cuda as ours


class Sizes(NamedTuple):
    """Of the arguments."""

    array_bytes: int = 1 << 30
    side: int = 16384
    matrix: int = 4096
    bodies: int = 65536
    picture: int = 8192
    blocks: int = 264
    steps: int = 1000
    samples: int = 4096

    def within(self, memory: int) -> Sizes:
        """Of which the largest case, four arrays, is a quarter of the memory: other libraries have theirs beside it."""
        shrunk = self
        while 4 * max(shrunk.array_bytes, 4 * shrunk.side**2) > memory // 4:
            shrunk = shrunk._replace(array_bytes=shrunk.array_bytes // 2, side=shrunk.side // 2)
        return shrunk


SMALL = Sizes(1 << 13, 64, 32, 64, 16, 2, 10, 16)


class Case(NamedTuple):
    """A kernel and what it is launched on; `n` is what the same in CUDA C gets beside the arguments."""

    row: str
    name: str
    kernel: Callable[..., None]
    grid: Any
    block: Any
    args: tuple[Any, ...]
    n: int
    figure: Callable[[float], str]


def _rate(work: float, unit: str) -> Callable[[float], str]:
    return lambda ms: f"{work / ms / 1e6:.4g} {unit}"


def some(rng: np.random.Generator, dtype: Any, *shape: int) -> np.ndarray:
    """Random numbers from 0.5 to 1.5; of many, the first again and again."""
    return np.resize((rng.random(min(int(np.prod(shape)), 1 << 20)) + 0.5).astype(dtype), shape)


def _over(n: int) -> int:
    return -(-n // 256)


def cases(cuda: Any, sizes: Sizes, states: Any = None) -> Iterator[Case]:
    """All of them, one after the other: the arguments of each can be freed before the next."""
    rng, known = np.random.default_rng(1), {name: k.function for name, k in corpus.make(cuda).items()}
    for dtype in (np.float32, np.float64):
        n, what = sizes.array_bytes // np.dtype(dtype).itemsize, np.dtype(dtype).name
        one, poison = some(rng, dtype, n), np.full(n, np.nan, dtype)
        yield Case("2", f"copy {what}", _copy(cuda), _over(n), 256, (one, poison), n, _rate(2 * one.nbytes, "GB/s"))
        yield Case("2", f"add {what}", known["vector_add"], _over(n), 256, (one, one, poison), n, _rate(3 * one.nbytes, "GB/s"))
        yield Case("2", f"triad {what}", _triad(cuda), _over(n), 256, (one, one, poison, dtype(3)), n, _rate(3 * one.nbytes, "GB/s"))
    yield from _planes(cuda, known, sizes, rng)
    yield from _points(cuda, known, sizes, rng)
    yield from _called(cuda, sizes, rng)
    if states is not None:
        out = np.full(256 * sizes.blocks, -1, np.int32)
        drawn = 2 * sizes.samples * out.size
        yield Case("12", "Monte-Carlo pi", _pi(cuda), sizes.blocks, 256, (states, np.int32(sizes.samples), out), out.size, _rate(drawn, "Gnumbers/s"))


def _planes(cuda: Any, known: dict[str, Any], sizes: Sizes, rng: np.random.Generator) -> Iterator[Case]:
    n, tiles = sizes.side, sizes.side // 16
    plane, poison = some(rng, np.float32, n, n), np.full((n, n), np.nan, np.float32)
    yield Case("3", "transpose", known["transpose"], (tiles, tiles), (16, 16), (plane, poison), n, _rate(8 * n * n, "GB/s"))
    yield Case("11", "heat 2-D", _heat(cuda), (-(-n // 32), -(-n // 8)), (32, 8), (plane, poison), n, _rate(8 * n * n, "GB/s"))
    n, tiles = sizes.matrix, sizes.matrix // 16
    a, b, poison = some(rng, np.float32, n, n), some(rng, np.float32, n, n), np.full((n, n), np.nan, np.float32)
    yield Case("8", "matmul_shared", known["matmul_shared"], (tiles, tiles), (16, 16), (a, b, poison), n, _rate(2 * n**3, "GFLOP/s"))


def _points(cuda: Any, known: dict[str, Any], sizes: Sizes, rng: np.random.Generator) -> Iterator[Case]:
    n, options, pixels, cells = sizes.bodies, sizes.array_bytes // 4, sizes.picture**2, 256 * sizes.blocks
    bodies = (*(some(rng, np.float32, n) for _ in range(4)), np.full(n, np.nan, np.float32))
    yield Case("10", "n_body", known["n_body"], _over(n), 256, bodies, n, _rate(16 * n * n, "GFLOP/s"))
    picture = (np.full(pixels, -1, np.int32), np.int32(sizes.picture), np.int32(256))
    yield Case("10", "mandelbrot", known["mandelbrot"], _over(pixels), 256, picture, pixels, _rate(pixels, "Gpixel/s"))
    prices = (*(some(rng, np.float32, options) for _ in range(3)), np.full(options, np.nan, np.float32))
    yield Case("10", "black_scholes", known["black_scholes"], _over(options), 256, prices, options, _rate(16 * options, "GB/s"))
    rod = some(rng, np.float32, cells)
    line = (rod, rod.copy(), np.int32(sizes.steps), np.float32(0.25))
    yield Case("11", "heat_steps", known["heat_steps"], sizes.blocks, 256, line, cells, lambda ms: f"{ms * 1e3 / sizes.steps:.2f} us a step")


SCALED = 'extern "C" __device__ int scaled(float *result, float x) { *result = 2.5f * x + 1.0f; return 0; }'


def _called(cuda: Any, sizes: Sizes, rng: np.random.Generator) -> Iterator[Case]:
    @cuda.jit(device=True)
    def inlined(x):
        return np.float32(2.5) * x + np.float32(1.0)

    def calling(function: Any) -> Callable[..., None]:
        def through(a, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = function(a[i])

        return through

    functions = {"of the dialect": inlined, "in CUDA C": cuda.declare_device("scaled", "float32(float32)", link=cuda.CUSource(SCALED))}
    if "lancehead" in cuda.__name__:
        from lancehead.cuda import nvrtc, toolkit

        if toolkit.library("libnvrtc") and toolkit.library("libnvJitLink"):
            functions["in LTO-IR"] = cuda.declare_device("scaled", "float32(float32)", link=cuda.LTOIR(nvrtc.lto_ir(SCALED)))
    n = sizes.array_bytes // 4
    a = some(rng, np.float32, n)
    for name, function in functions.items():
        yield Case("14", f"function {name}", calling(function), _over(n), 256, (a, np.full(n, np.nan, np.float32)), n, _rate(8 * n, "GB/s"))


def _copy(cuda: Any) -> Callable[..., None]:
    def copy(a, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a[i]

    return copy


def _triad(cuda: Any) -> Callable[..., None]:
    def triad(a, b, out, factor):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a[i] + factor * b[i]

    return triad


def _heat(cuda: Any) -> Callable[..., None]:
    def heat_2d(u, out):
        j, i = cuda.grid(2)
        if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
            out[i, j] = u[i, j] + np.float32(0.2) * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - np.float32(4.0) * u[i, j])

    return heat_2d


def _pi(cuda: Any) -> Callable[..., None]:
    uniform = cuda.random.xoroshiro128p_uniform_float32

    def monte_carlo(states, samples, out):
        i = cuda.grid(1)
        inside = np.int32(0)
        for _ in range(samples):
            x, y = uniform(states, i), uniform(states, i)
            if x * x + y * y <= np.float32(1.0):
                inside += np.int32(1)
        out[i] = inside

    return monte_carlo


def all_cases(api: Any, sizes: Sizes) -> Iterator[Case]:
    """Of an API, with states of random generators that are the same for all."""
    return cases(api, sizes, ours.random.create_xoroshiro128p_states(256 * sizes.blocks, seed=1).copy_to_host())


def results() -> dict[str, list[np.ndarray]]:
    """What all kernels make of small arguments, those of the corpus too, on the device that is in use."""
    found = {}
    runs = [(c.name, c.kernel, (c.grid, c.block), c.args) for c in all_cases(ours, SMALL)]
    for name, k in corpus.make(ours).items():
        runs.append((f"corpus {name}", k.function, (k.grid, k.block, 0, k.shared), k.arguments(np.random.default_rng(1))))
    for name, function, geometry, args in runs:
        given = [ours.to_device(np.ascontiguousarray(a)) if isinstance(a, np.ndarray) else a for a in args]
        ours.jit(function)[geometry](*given)
        found[name] = [a.copy_to_host() for a in given if ours.is_cuda_array(a)]
    return found


def as_the_cpu_device() -> dict[str, bool]:
    """Whether the results of each kernel are, bit for bit, those of the CPU device, which another process has."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, f"{folder}/found.npz"]
        subprocess.run(command, env={**os.environ, "LANCEHEAD_CUDA_DEVICE": "cpu"}, check=True)
        wanted = dict(np.load(f"{folder}/found.npz"))
    here = results()
    return {name: all(a.tobytes() == wanted[f"{name}/{i}"].tobytes() for i, a in enumerate(arrays)) for name, arrays in here.items()}


if __name__ == "__main__":
    np.savez(sys.argv[1], **{f"{name}/{i}": a for name, arrays in results().items() for i, a in enumerate(arrays)})
