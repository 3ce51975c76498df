"""Compile time against the size of a branchy body: seconds, memory and the exponent of growth.

    python benches/growth.py --module numba,lancehead

Each size is compiled in a process of its own, after a small function that warms the compiler up.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import resource
import subprocess
import sys
import time

SIZES = (25, 50, 100, 200, 400, 800)


def source(statements: int) -> str:
    """A function with this many branches, each of which reads what the one before has written."""
    lines = ["def f(x, y):", "    a, b = x, y"]
    for i in range(statements):
        lines += [
            f"    if a > {i}.5 * b:",
            f"        a = a - b * {i % 7}.25",
            "    else:",
            f"        b = b + a * 0.{i % 9 + 1}",
        ]
    return "\n".join([*lines, "    return a + b", ""])


def child(module: str, statements: int) -> None:
    """Compiles one function and prints what it took."""
    njit = importlib.import_module(module).njit
    njit(function(2))(1.0, 2.0)
    compiled, plain = njit(function(statements)), function(statements)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = time.perf_counter(), time.process_time()
    answer = compiled(1.5, 0.25)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    expected = plain(1.5, 0.25)
    if not (answer == expected or math.isclose(answer, expected, rel_tol=1e-12) or answer != answer):
        raise SystemExit(f"{module} gave {answer} for {statements} statements, Python {expected}")
    print(json.dumps({"wall": wall, "cpu": cpu, "mebibytes": grown / 1024}))


def function(statements: int):
    """The function itself."""
    space: dict = {}
    exec(compile(source(statements), f"<growth {statements}>", "exec"), space)
    return space["f"]


def measure(module: str, statements: int, repeats: int) -> dict[str, float]:
    """The least of several processes."""
    runs = []
    for _ in range(repeats):
        command = [sys.executable, __file__, "--child", module, str(statements)]
        runs.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    return {key: min(run[key] for run in runs) for key in runs[0]}


def exponent(times: list[float]) -> float:
    """Slope of the line through the logarithms."""
    xs, ys = [math.log(n) for n in SIZES], [math.log(t) for t in times]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", default="lancehead")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child[0], int(options.child[1]))
        return
    for module in options.module.split(","):
        results = [measure(module, n, options.repeats) for n in SIZES]
        for n, result in zip(SIZES, results):
            print(
                f"{module:<12} n = {n:>4}  {result['cpu'] * 1e3:>9.1f} ms CPU  {result['wall'] * 1e3:>9.1f} ms  "
                f"{result['mebibytes']:>7.1f} MiB"
            )
        print(f"{module:<12} exponent {exponent([result['cpu'] for result in results]):.2f}")


if __name__ == "__main__":
    main()
