"""What index checks cost: kernels with `boundscheck=True` and `False` in one process, and the geometric mean.

    python benches/checks.py --module lancehead
"""

from __future__ import annotations

import argparse
import importlib
import math
import time

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


def kernels() -> list[tuple]:
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


def best(function, arguments, seconds: float = 0.3) -> float:
    """The shortest of many calls."""
    function(*arguments)
    shortest, end = math.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        function(*arguments)
        shortest = min(shortest, time.perf_counter() - start)
    return shortest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", default="lancehead")
    njit = importlib.import_module(parser.parse_args().module).njit
    ratios = []
    for function, *arguments in kernels():
        checked, unchecked = njit(boundscheck=True)(function), njit(boundscheck=False)(function)
        times = [min(pair) for pair in zip(*((best(checked, arguments), best(unchecked, arguments)) for _ in range(3)))]
        ratios.append(times[0] / times[1])
        print(f"{function.__name__:<10} {times[0] * 1e6:>9.2f} us checked  {times[1] * 1e6:>9.2f} us unchecked  {ratios[-1]:.3f}")
    print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}")


if __name__ == "__main__":
    main()
