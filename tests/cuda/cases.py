"""Kernels that `benches/gpu/run.py` measures: those of the corpus and some more, with arguments of a size.

`cases(cuda, sizes)` makes them with the module given, so that another implementation of the same API runs the same
source. Each stands in `benches/gpu/peers.cu` as CUDA C too.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import corpus
from lancehead import cuda as ours
from lancehead.cuda import nvrtc, toolkit


class Sizes(NamedTuple):
    """Of the arguments."""

    # Several times the L2 cache of any card; longer ones take the host longer to make and to copy than the card to go
    # through.
    array_bytes: int = 1 << 29
    side: int = 8192
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
    """A kernel and what it is launched on, both made when they are asked for; `n` is what the same in CUDA C gets
    beside the arguments."""

    row: str
    name: str
    kernel: Callable[[], Callable[..., None]]
    grid: Any
    block: Any
    arguments: Callable[[], tuple[Any, ...]]
    n: int
    figure: Callable[[float], str]


def _rate(work: float, unit: str) -> Callable[[float], str]:
    return lambda ms: f"{work / ms / 1e6:.4g} {unit}"


def some(rng: np.random.Generator, dtype: Any, *shape: int) -> np.ndarray:
    """Random numbers from 0.5 to 1.5; of many, the first again and again."""
    return np.resize((rng.random(min(int(np.prod(shape)), 1 << 20)) + 0.5).astype(dtype), shape)


def _over(n: int) -> int:
    return -(-n // 256)


def cases(cuda: Any, sizes: Sizes) -> list[Case]:
    """All of them."""
    known = {name: k.function for name, k in corpus.make(cuda).items()}
    return [
        *_streamed(cuda, known, sizes),
        *_planes(cuda, known, sizes),
        *_points(known, sizes),
        *_called(cuda, sizes),
        _random(cuda, sizes),
    ]


def _numbers(dtype: Any, count: int, *shape: int) -> list[np.ndarray]:
    """Arrays of random numbers, and one of the same shape that is poisoned: for results."""
    rng = np.random.default_rng(1)
    return [*(some(rng, dtype, *shape) for _ in range(count)), np.full(shape, np.nan, dtype)]


def _streamed(cuda: Any, known: dict[str, Any], sizes: Sizes) -> Iterator[Case]:
    for dtype in (np.float32, np.float64):
        n, what = sizes.array_bytes // np.dtype(dtype).itemsize, np.dtype(dtype).name
        size = n * np.dtype(dtype).itemsize

        def arguments(inputs: int, *more: Any, dtype: Any = dtype, n: int = n) -> tuple[Any, ...]:
            one, poison = _numbers(dtype, 1, n)
            return (*[one] * inputs, poison, *more)

        yield Case(
            "2",
            f"copy {what}",
            lambda: _copy(cuda),
            _over(n),
            256,
            lambda a=arguments: a(1),
            n,
            _rate(2 * size, "GB/s"),
        )
        yield Case(
            "2",
            f"add {what}",
            lambda: known["vector_add"],
            _over(n),
            256,
            lambda a=arguments: a(2),
            n,
            _rate(3 * size, "GB/s"),
        )
        factor = dtype(3)
        triad = lambda a=arguments, factor=factor: a(2, factor)
        yield Case("2", f"triad {what}", lambda: _triad(cuda), _over(n), 256, triad, n, _rate(3 * size, "GB/s"))


def _planes(cuda: Any, known: dict[str, Any], sizes: Sizes) -> Iterator[Case]:
    n, tiles, m = sizes.side, sizes.side // 16, sizes.matrix
    plane = lambda: tuple(_numbers(np.float32, 1, n, n))
    yield Case(
        "3", "transpose", lambda: known["transpose"], (tiles, tiles), (16, 16), plane, n, _rate(8 * n * n, "GB/s")
    )
    yield Case(
        "11", "heat 2-D", lambda: _heat(cuda), (-(-n // 32), -(-n // 8)), (32, 8), plane, n, _rate(8 * n * n, "GB/s")
    )
    matrices = lambda: tuple(_numbers(np.float32, 2, m, m))
    yield Case(
        "8",
        "matmul_shared",
        lambda: known["matmul_shared"],
        (m // 16, m // 16),
        (16, 16),
        matrices,
        m,
        _rate(2 * m**3, "GFLOP/s"),
    )


def _points(known: dict[str, Any], sizes: Sizes) -> Iterator[Case]:
    n, options, pixels, cells = sizes.bodies, sizes.array_bytes // 4, sizes.picture**2, 256 * sizes.blocks
    bodies = lambda: tuple(_numbers(np.float32, 4, n))
    yield Case("10", "n_body", lambda: known["n_body"], _over(n), 256, bodies, n, _rate(16 * n * n, "GFLOP/s"))
    picture = lambda: (np.full(pixels, -1, np.int32), np.int32(sizes.picture), np.int32(256))
    yield Case(
        "10", "mandelbrot", lambda: known["mandelbrot"], _over(pixels), 256, picture, pixels, _rate(pixels, "Gpixel/s")
    )
    prices = lambda: tuple(_numbers(np.float32, 3, options))
    yield Case(
        "10",
        "black_scholes",
        lambda: known["black_scholes"],
        _over(options),
        256,
        prices,
        options,
        _rate(16 * options, "GB/s"),
    )

    def line() -> tuple[Any, ...]:
        rod = _numbers(np.float32, 1, cells)[0]
        return rod, rod.copy(), np.int32(sizes.steps), np.float32(0.25)

    yield Case(
        "11",
        "heat_steps",
        lambda: known["heat_steps"],
        sizes.blocks,
        256,
        line,
        cells,
        lambda ms: f"{ms * 1e3 / sizes.steps:.2f} us a step",
    )


SCALED = 'extern "C" __device__ int scaled(float *result, float x) { *result = 2.5f * x + 1.0f; return 0; }'


def _called(cuda: Any, sizes: Sizes) -> Iterator[Case]:
    def inlined() -> Any:
        @cuda.jit(device=True)
        def scaled(x):
            return np.float32(2.5) * x + np.float32(1.0)

        return scaled

    def calling(make: Callable[[], Any]) -> Callable[..., None]:
        function = make()

        def through(a, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = function(a[i])

        return through

    n, nvrtc_is_here = sizes.array_bytes // 4, toolkit.library("libnvrtc") is not None
    functions = {"of the dialect": inlined}
    if nvrtc_is_here or toolkit.program("nvcc"):
        functions["in CUDA C"] = lambda: cuda.declare_device("scaled", "float32(float32)", link=cuda.CUSource(SCALED))
    if nvrtc_is_here and toolkit.library("libnvJitLink") is not None:
        functions["in LTO-IR"] = lambda: cuda.declare_device(
            "scaled", "float32(float32)", link=cuda.LTOIR(nvrtc.lto_ir(SCALED))
        )
    for name, make in functions.items():
        arguments = lambda: tuple(_numbers(np.float32, 1, n))
        yield Case(
            "14", f"function {name}", lambda make=make: calling(make), _over(n), 256, arguments, n, _rate(8 * n, "GB/s")
        )


def _random(cuda: Any, sizes: Sizes) -> Case:
    count = 256 * sizes.blocks

    def arguments() -> tuple[Any, ...]:
        # Our states for all, as the same numbers are drawn from the same states.
        states = ours.random.create_xoroshiro128p_states(count, seed=1).copy_to_host()
        return states, np.int32(sizes.samples), np.full(count, -1, np.int32)

    drawn = _rate(2 * sizes.samples * count, "Gnumbers/s")
    return Case("12", "Monte-Carlo pi", lambda: _pi(cuda), sizes.blocks, 256, arguments, count, drawn)


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
            out[i, j] = u[i, j] + np.float32(0.2) * (
                u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - np.float32(4.0) * u[i, j]
            )

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


class Run(NamedTuple):
    """A kernel on small arguments; `given` are the arrays and numbers, the same each time."""

    name: str
    kernel: Callable[[], Callable[..., None]]
    geometry: tuple[Any, ...]
    given: Callable[[], tuple[Any, ...]]

    def results(self) -> list[np.ndarray]:
        """The kernel's results for these arguments on the device that is in use."""
        given = [ours.to_device(np.ascontiguousarray(a)) if isinstance(a, np.ndarray) else a for a in self.given()]
        ours.jit(self.kernel())[self.geometry](*given)
        return [a.copy_to_host() for a in given if ours.is_cuda_array(a)]


# Kernels of the corpus whose results depend on the order in which threads come, and why.
KNOWN = {"corpus float_sum": "floats are added by atomics, in any order"}


def runs() -> list[Run]:
    """All cases, and all kernels of the corpus."""
    made = [Run(c.name, c.kernel, (c.grid, c.block), c.arguments) for c in cases(ours, SMALL)]
    for name, k in corpus.make(ours).items():
        made.append(
            Run(
                f"corpus {name}",
                lambda k=k: k.function,
                (k.grid, k.block, 0, k.shared),
                lambda k=k: k.arguments(np.random.default_rng(1)),
            )
        )
    return made


class CpuDevice:
    """The CPU device's results of all runs: another process computes them on first use and stores them in a folder."""

    def __init__(self, folder: str) -> None:
        self.file = Path(folder) / "cpu.npz"

    @functools.cached_property
    def results(self) -> dict[str, np.ndarray]:
        """By name and number."""
        if not self.file.exists():
            made = self.file.with_name("made.npz")
            command = [sys.executable, __file__, str(made)]
            subprocess.run(command, env={**os.environ, "LANCEHEAD_CUDA_DEVICE": "cpu"}, check=False)
            if not made.exists():
                np.savez(made)
            made.rename(self.file)
        return dict(np.load(self.file))

    def agrees(self, run: Run) -> str:
        """`yes` if a run's results here are, bit for bit, those of the CPU device; why they differ, if that is known;
        or `NO`."""
        there = [self.results[f"{run.name}/{i}"] for i in range(len(run.given())) if f"{run.name}/{i}" in self.results]
        if not there:
            raise RuntimeError("the CPU device has given no results")
        here = run.results()
        if all(a.tobytes() == b.tobytes() for a, b in zip(here, there, strict=True)):
            return "yes"
        close = all(np.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in zip(here, there, strict=True))
        return KNOWN[run.name] if run.name in KNOWN and close else "NO"


def main(path: str, *names: str) -> None:
    """Writes the results of all runs, or of those named, to a file. One that fails is left out."""
    found = {}
    for run in [run for run in runs() if not names or run.name in names]:
        try:
            found.update({f"{run.name}/{i}": a for i, a in enumerate(run.results())})
        except Exception as error:
            print(f"{run.name}: {type(error).__name__}: {error}", file=sys.stderr)
    np.savez(path, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
