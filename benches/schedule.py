"""The blocks of parallel loops that lancehead chooses beside the best size by hand: twelve loops, even and uneven.

    python benches/schedule.py [--rounds 200] [--only NAME] [--json FILE]

Sizes by hand are the iterations divided by 2, 4, 8, 16, 64 and 256 (`set_parallel_chunksize`). All sizes, one thread
and, where it is installed, Numba take turns; times are the least of all rounds. For 64 threads there is a model, which
the tests of `lh-runtime` compute (`tests/all/pool_schedule.rs`).
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable
from typing import Any

import figures
import numpy as np

import lancehead
from lancehead import parallel_chunksize, prange, set_num_threads

THREADS = 2
PARTS = (2, 4, 8, 16, 64, 256)


def stencil(u: np.ndarray, v: np.ndarray) -> None:
    for i in prange(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = 0.2 * (u[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def updates(x: np.ndarray, y: np.ndarray) -> None:
    for _ in range(10):
        for i in prange(x.size):
            x[i] = 0.5 * x[i] + y[i]


def numbers(x: np.ndarray, y: np.ndarray) -> None:
    for i in prange(x.size):
        y[i] = 2.0 * x[i] + 1.0


def boltzmann(f: np.ndarray, g: np.ndarray) -> None:
    rows, columns = f.shape[1], f.shape[2]
    for i in prange(1, rows - 1):
        for j in range(1, columns - 1):
            density = 0.0
            for k in range(9):
                density += f[k, i - (k // 3 - 1), j - (k % 3 - 1)]
            for k in range(9):
                g[k, i, j] = 0.9 * f[k, i - (k // 3 - 1), j - (k % 3 - 1)] + 0.1 / 9 * density


def squares(x: np.ndarray) -> float:
    s = 0.0
    for i in prange(x.size):
        s += x[i] * x[i]
    return s


def triangle(a: np.ndarray, out: np.ndarray) -> None:
    for i in prange(a.shape[0]):
        s = 0.0
        for j in range(i):
            s += a[i, j]
        out[i] = s


def reversed_triangle(a: np.ndarray, out: np.ndarray) -> None:
    for i in prange(a.shape[0]):
        s = 0.0
        for j in range(i, a.shape[0]):
            s += a[i, j]
        out[i] = s


def mandelbrot(out: np.ndarray) -> None:
    rows, columns = out.shape
    for i in prange(rows):
        for j in range(columns):
            c = complex(-2.2 + 3.0 * j / columns, -1.5 + 3.0 * i / rows)
            z, n = 0j, 0
            while n < 200 and z.real * z.real + z.imag * z.imag < 4.0:
                z = z * z + c
                n += 1
            out[i, j] = n


def sparse_product(start: np.ndarray, column: np.ndarray, value: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    for i in prange(y.size):
        s = 0.0
        for k in range(start[i], start[i + 1]):
            s += value[k] * x[column[k]]
        y[i] = s


def bodies(place: np.ndarray, force: np.ndarray) -> None:
    n = place.shape[0]
    for i in prange(n):
        fx, fy = 0.0, 0.0
        for j in range(n):
            x, y = place[j, 0] - place[i, 0], place[j, 1] - place[i, 1]
            near = 1.0 / (x * x + y * y + 0.01)
            fx += x * near
            fy += y * near
        force[i, 0] = fx
        force[i, 1] = fy


def loops() -> dict[str, tuple[Callable[..., Any], int, tuple[np.ndarray, ...]]]:
    """Functions by name, with the iterations of the parallel loop and arguments."""
    draw = np.random.default_rng(1)

    def pair(*shape: int) -> tuple[np.ndarray, np.ndarray]:
        return draw.random(shape), draw.random(shape)

    lengths = np.minimum(draw.zipf(1.6, 20_000), 3_000)
    # The longest rows are the last ones.
    lengths.sort()
    start = np.concatenate([[0], np.cumsum(lengths)])
    entries = int(start[-1])
    matrix = (start, draw.integers(0, 20_000, entries), draw.random(entries), draw.random(20_000), np.zeros(20_000))
    return {
        "stencil, 256": (stencil, 254, pair(256, 256)),
        "stencil, 512": (stencil, 510, pair(512, 512)),
        "stencil, 1,024": (stencil, 1022, pair(1024, 1024)),
        "ten updates of 200,000 numbers": (updates, 200_000, pair(200_000)),
        "50,000 numbers": (numbers, 50_000, pair(50_000)),
        "lattice Boltzmann, 128": (boltzmann, 126, pair(9, 128, 128)),
        "squares of a million numbers": (squares, 1_000_000, (draw.random(1_000_000),)),
        "triangle, 1,000": (triangle, 1_000, (draw.random((1_000, 1_000)), np.zeros(1_000))),
        "triangle from its long end, 1,000": (reversed_triangle, 1_000, (draw.random((1_000, 1_000)), np.zeros(1_000))),
        "Mandelbrot, 200 rows": (mandelbrot, 200, (np.zeros((200, 200), np.int64),)),
        "sparse product, long rows last": (sparse_product, 20_000, matrix),
        "500 bodies": (bodies, 500, pair(500, 2)),
    }


def measure(calls: dict[Any, Callable[[], object]], rounds: int) -> dict[Any, float]:
    """Least microseconds of calls that take turns: each is made several times in a row, as programs do."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            for _ in range(4):
                start = time.perf_counter()
                call()
                best[name] = min(best[name], (time.perf_counter() - start) * 1e6)
    return best


def sized(f: Callable[..., Any], arguments: tuple[np.ndarray, ...], size: int, threads: int) -> Callable[[], object]:
    def call() -> object:
        set_num_threads(threads)
        with parallel_chunksize(size):
            return f(*arguments)

    return call


def compiled(f: Callable[..., Any], module: Any) -> Any:
    """The function as a package compiles it: its own `prange` is the loop."""
    scope = {**f.__globals__, "prange": module.prange}
    return module.njit(parallel=True)(type(f)(f.__code__, scope, f.__name__))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--only", default="", help="loops whose names have this text")
    figures.add_json(parser)
    given = parser.parse_args()
    result = figures.Result("schedule", "benches/run.sh schedule", THREADS)
    columns = ("default, us", "best by hand, us", "its parts", "default / by hand", "one thread, us", "Numba, us")
    table = result.table("loops", "loop", *columns)
    numba: Any = importlib.import_module("numba") if importlib.util.find_spec("numba") else None
    for name, (f, n, arguments) in loops().items():
        if given.only not in name:
            continue
        ours = compiled(f, lancehead)
        calls = {parts: sized(ours, arguments, -(-n // parts), THREADS) for parts in PARTS if parts <= n}
        calls |= {"default": sized(ours, arguments, 0, THREADS), "one": sized(ours, arguments, 0, 1)}
        if numba:
            theirs = compiled(f, numba)
            calls["Numba"] = lambda theirs=theirs, arguments=arguments: theirs(*arguments)
        for call in calls.values():
            call()
        times = measure(calls, given.rounds)
        parts = min((p for p in PARTS if p in times), key=times.__getitem__)
        ratio = times["default"] / times[parts]
        cells = [times["default"], times[parts], parts, ratio, times["one"], times.get("Numba", float("nan"))]
        print(f"{name}: {', '.join(f'{c} {x:.4g}' for c, x in zip(columns, cells, strict=True))}", flush=True)
        digits = (1, 1, 0, 2, 1, 1)
        table.add(name, *(round(x, d) if x == x else x for x, d in zip(cells, digits, strict=True)))
    result.write(given.json)


if __name__ == "__main__":
    main()
