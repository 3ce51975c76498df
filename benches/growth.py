"""Compile time against the size of a body: of branches, and of statements on slices. Seconds, memory and the exponent
of growth.

    python benches/growth.py --module numba,lancehead [--json FILE]

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

import figures


def branches(statements: int) -> str:
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


def slices(statements: int) -> str:
    """A function with this many statements on slices, as in finite differences: inner points and edges."""
    lines = ["def f(u, v):", "    w = u.copy()"]
    for i in range(statements):
        to, a, b = ("u", "v", "w") if i % 2 else ("v", "w", "u")
        column = ("1:-1, 1:-1", "1:-1, -1", "1:-1, 0")[i % 3]
        left = ("1:-1, :-2", "1:-1, -2", "1:-1, -1")[i % 3]
        lines += [
            f"    {to}[{column}] = {a}[{column}] - {a}[{column}] * 0.{i % 8 + 1} * ({a}[{column}] - {a}[{left}]) \\",
            f"        + 0.01 * ({b}[{column}] - {b}[{left}]) - 0.{i % 5 + 1} * {b}[{column}]",
        ]
    return "\n".join([*lines, "    return u.sum() + v.sum()", ""])


def grids() -> tuple:
    """Arguments of the statements on slices."""
    import numpy as np

    return np.linspace(0, 1, 1681).reshape(41, 41), np.linspace(1, 2, 1681).reshape(41, 41)


# By name: the text of a function of a size, its arguments, the sizes.
PROGRAMS = {
    "branches": (branches, lambda: (1.5, 0.25), (25, 50, 100, 200, 400, 800)),
    "slices": (slices, grids, (5, 10, 20, 40, 80)),
}


def child(module: str, program: str, statements: int) -> None:
    """Compiles one function and prints what it took."""
    njit = importlib.import_module(module).njit
    text, arguments, _ = PROGRAMS[program]
    njit(function(text(2)))(*arguments())
    compiled, plain = njit(function(text(statements))), function(text(statements))
    ours, theirs = arguments(), arguments()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = time.perf_counter(), time.process_time()
    answer = compiled(*ours)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    expected = plain(*theirs)
    if not (answer == expected or math.isclose(answer, expected, rel_tol=1e-12) or answer != answer):
        raise SystemExit(f"{module} gave {answer} for {statements} statements, Python {expected}")
    print(json.dumps({"wall": wall, "cpu": cpu, "mebibytes": grown / 1024}))


def function(text: str):
    """The function of a text."""
    space: dict = {}
    exec(compile(text, "<growth>", "exec"), space)
    return space["f"]


def measure(module: str, program: str, statements: int, repeats: int) -> dict[str, float]:
    """The least of several processes."""
    runs = []
    for _ in range(repeats):
        command = [sys.executable, __file__, "--child", module, program, str(statements)]
        runs.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    return {key: min(run[key] for run in runs) for key in runs[0]}


def exponent(sizes: tuple[int, ...], times: list[float]) -> float:
    """Slope of the line through the logarithms."""
    xs, ys = [math.log(n) for n in sizes], [math.log(t) for t in times]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", default="lancehead")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    figures.add_json(parser)
    options = parser.parse_args()
    if options.child:
        child(*options.child[:2], int(options.child[2]))
        return
    result, modules = figures.Result("growth", "benches/run.sh growth", 1), options.module.split(",")
    for program in options.programs.split(","):
        sizes = PROGRAMS[program][2]
        heads = [head for m in modules for head in ((m, "ms CPU", 1), (f"{m}, memory", "MiB", 1))]
        table, cells = result.table(program, "statements", *heads), []
        for module in modules:
            runs = [measure(module, program, n, options.repeats) for n in sizes]
            for n, run in zip(sizes, runs):
                print(
                    f"{program:<9} {module:<12} n = {n:>4}  {run['cpu'] * 1e3:>9.1f} ms CPU  "
                    f"{run['wall'] * 1e3:>9.1f} ms  {run['mebibytes']:>7.1f} MiB"
                )
            grown = exponent(sizes, [run["cpu"] for run in runs])
            print(f"{program:<9} {module:<12} exponent {grown:.2f}")
            cells.append([(round(run["cpu"] * 1e3, 1), round(run["mebibytes"], 1)) for run in runs])
            result.summary[f"{program} {module}"] = round(grown, 2)
        for n, *pairs in zip(sizes, *cells):
            table.add(n, *(value for pair in pairs for value in pair))
    result.write(options.json)


if __name__ == "__main__":
    main()
