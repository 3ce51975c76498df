"""The cost of index checks: kernels with `boundscheck=True` and `False` in one process, and the geometric mean.

Usage:

    python benches/checks.py --module lancehead
    python benches/checks.py --harness ../shared/bench      # and the kernels of that harness that index arrays
"""

from __future__ import annotations

import argparse
import functools
import importlib
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import figures
import numpy as np


def sum2d(a):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j]
    return total


def axpy(a, x, y):
    for i in range(x.shape[0]):
        y[i] = a * x[i] + y[i]


def stencil(u, v):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def matmul(a, b, c):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def gather(a, indices, out):
    for i in range(len(indices)):
        out[i] = a[indices[i]]


def histogram(values, counts):
    for i in range(len(values)):
        counts[values[i]] += 1


def prefix(a, out):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i]
        out[i] = total


def reverse(a):
    n = a.shape[0]
    for i in range(n // 2):
        a[i], a[n - 1 - i] = a[n - 1 - i], a[i]


def own_kernels() -> list[tuple]:
    """Functions with their arguments."""
    numbers = np.random.default_rng(0)
    square, line = numbers.random((500, 500)), numbers.random(20_000)
    return [
        (sum2d, square),
        (axpy, 0.5, line, line.copy()),
        (stencil, square, square.copy()),
        (matmul, square[:100, :100].copy(), square[:100, :100].copy(), np.zeros((100, 100))),
        (gather, line, numbers.integers(0, len(line), 20_000), np.zeros(20_000)),
        (histogram, numbers.integers(0, 256, 20_000), np.zeros(256, np.int64)),
        (prefix, line, np.zeros_like(line)),
        (reverse, line.copy()),
    ]


def best(function, arguments, seconds: float = 0.08) -> float:
    """The shortest of many calls."""
    function(*arguments)
    shortest, end = math.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        function(*arguments)
        shortest = min(shortest, time.perf_counter() - start)
    return shortest


class WithOption:
    """A module with Numba's interface whose `njit` has an option."""

    def __init__(self, module: Any, **option: bool) -> None:
        self._module, self._option = module, option

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def njit(self, *functions: Any, **options: Any) -> Any:
        make = functools.partial(self._module.njit, **options, **self._option)
        return make()(*functions) if functions else make()


def code(function: Any) -> str | None:
    """The assembly, where the module tells."""
    return "".join(function.inspect_asm().values()) if hasattr(function, "inspect_asm") else None


def kernels(module: Any, harness: str | None) -> Iterator[tuple]:
    """Names, the function with checks and without, and arguments."""
    checked, unchecked = WithOption(module, boundscheck=True), WithOption(module, boundscheck=False)
    for function, *arguments in own_kernels():
        yield function.__name__, checked.njit(function), unchecked.njit(function), arguments
    if harness is None:
        return
    sys.path.insert(0, harness)
    for name, kernel in importlib.import_module("kernels").KERNELS.items():
        try:
            pair, arguments = [kernel.build(m) for m in (checked, unchecked)], kernel.args()
            wrong = [kernel.check(f(*arguments), arguments) for f in pair]
        except Exception as error:
            print(f"{name:<17} left out: {type(error).__name__}")
            continue
        if any(wrong):
            raise SystemExit(f"{name}: {wrong}")
        # Where nothing is indexed the code is the same.
        if code(pair[0]) is None or code(pair[0]) != code(pair[1]):
            yield name, *pair, arguments


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", default="lancehead")
    parser.add_argument("--harness", type=Path, help="folder of the side-by-side harness")
    figures.add_json(parser)
    given = parser.parse_args()
    result = figures.Result("checks", "benches/run.sh checks", 1)
    heads = [("checked", "us", 2), ("unchecked", "us", 2), ("checked over unchecked", "", 3)]
    table, slowest = result.table("kernels", "kernel", *heads), result.table("slowest", "kernel", heads[2])
    ratios = []
    for name, *pair, arguments in kernels(importlib.import_module(given.module), given.harness and str(given.harness)):
        times = [min(all_) for all_ in zip(*([best(f, arguments) for f in pair] for _ in range(10)))]
        ratios.append(times[0] / times[1])
        print(
            f"{name:<17} {times[0] * 1e6:>9.2f} us checked  {times[1] * 1e6:>9.2f} us unchecked  {ratios[-1]:.3f}",
            flush=True,
        )
        table.add(f"`{name}`", *(round(t * 1e6, 2) for t in times), round(ratios[-1], 3))
    for row in sorted((row for row in table.rows if row[3] > 1.02), key=lambda row: -row[3]):
        slowest.add(row[0], row[3])
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean of {len(ratios)}: {mean:.3f}")
    result.summary = {"kernels": len(ratios), "mean": round(mean, 3)}
    result.write(given.json)


if __name__ == "__main__":
    main()
