"""Kernels on a GPU, beside numba-cuda and CuPy where they are installed. Needs no network.

    python benches/gpu/run.py [table.md]

Each row is a line of the check list: time by the clock around many launches after warming up, outputs read back and
compared with the CPU device. Where there is no GPU it says so, and ends with 0.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lancehead import _core, cuda

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "cuda"))
import corpus
import both_ways

ROUNDS = 50
ROWS = {
    "vector_add": "2", "stride_loop": "2", "transpose": "3", "matmul_shared": "8", "n_body": "10", "mandelbrot": "10",
    "black_scholes": "10", "heat": "11", "heat_steps": "11",
}  # fmt: skip


def three(extent: Any) -> list[int]:
    """One to three extents as three."""
    return [*(extent if isinstance(extent, tuple) else (extent,)), 1, 1][:3]


class Ours:
    """Our code through the driver."""

    def __init__(self, gpu: _core.Gpu) -> None:
        self.gpu, self.isa = gpu, gpu.isa

    def prepare(self, k: corpus.Kernel, args: tuple[Any, ...]) -> tuple[Callable[[], None], Callable[[], list[np.ndarray]], float]:
        """A launch, what reads the results, and the milliseconds until the first launch had ended."""
        start = time.perf_counter()
        made = cuda.compile_ptx(k.function, k.signature, cc=self.gpu.capability)[0]
        kernel = self.gpu.kernel(made.encode(), k.function.__name__)
        held, words = [], []
        for a in args:
            own = both_ways.words(a)
            if isinstance(a, np.ndarray):
                memory = self.gpu.allocate(a.nbytes)
                self.gpu.write(memory.address, np.ascontiguousarray(a).view(np.uint8).reshape(-1))
                held.append((memory, a))
                own[0] = memory.address
            words += own
        cooperative = "lh_grid_barrier" in made
        run = lambda: kernel.launch(three(k.grid), three(k.block), k.shared, words, cooperative)  # noqa: E731
        run()
        self.gpu.wait()
        first = (time.perf_counter() - start) * 1e3
        return run, lambda: [self.read(m, a) for m, a in held], first

    def read(self, memory: _core.GpuMemory, like: np.ndarray) -> np.ndarray:
        """An array as it is on the GPU."""
        out = np.empty(like.shape, like.dtype)
        self.gpu.read(memory.address, out.view(np.uint8).reshape(-1))
        return out


def median_us(run: Callable[[], None], wait: Callable[[], Any]) -> float:
    """Microseconds of a launch: the median of rounds of launches that are waited for together."""
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(ROUNDS):
            run()
        wait()
        times.append((time.perf_counter() - start) / ROUNDS * 1e6)
    return sorted(times)[3]


def of_numba(name: str) -> float | None:
    """The same by numba-cuda, if it is installed."""
    if importlib.util.find_spec("numba_cuda") is None:
        return None
    theirs = importlib.import_module("numba.cuda")
    k = corpus.make(theirs)[name]
    kernel = theirs.jit(k.function)
    args = [theirs.to_device(a) if isinstance(a, np.ndarray) else a for a in k.arguments(np.random.default_rng(1))]
    launch = kernel[k.grid, k.block, 0, k.shared]
    launch(*args)
    theirs.synchronize()
    return median_us(lambda: launch(*args), theirs.synchronize)


def main() -> int:
    """Writes the table."""
    try:
        gpu = _core.Gpu(0, os.environ.get("LANCEHEAD_CUDA_DRIVER"))
    except Exception as error:
        print(f"no GPU here: {error}")
        return 0
    # What the results are compared with, `cuda.jit` runs on the CPU device.
    os.environ["LANCEHEAD_CUDA_DEVICE"] = "cpu"
    lines = [f"{gpu.name}, compute capability {gpu.capability[0]}.{gpu.capability[1]}, PTX {gpu.isa / 10}", ""]
    lines += ["| row | kernel | us a launch | numba-cuda | ratio | first launch, ms | as the CPU device |", "|---|---|---|---|---|---|---|"]
    for name, row in ROWS.items():
        k = corpus.make(cuda)[name]
        run, read, first = Ours(gpu).prepare(k, k.arguments(np.random.default_rng(1)))
        direct = k.arguments(np.random.default_rng(1))
        cuda.jit(k.function)[k.grid, k.block, 0, k.shared](*direct)
        wanted = [a for a in direct if isinstance(a, np.ndarray)]
        same = all(np.array_equal(a, b) for a, b in zip(read(), wanted, strict=True))
        ours, theirs = median_us(run, gpu.wait), of_numba(name)
        beside = "- | -" if theirs is None else f"{theirs:.2f} | {theirs / ours:.2f}"
        lines.append(f"| {row} | {name} | {ours:.2f} | {beside} | {first:.1f} | {'yes' if same else 'NO'} |")
    text = "\n".join(lines)
    print(text)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
