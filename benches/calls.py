"""Calls of the array API on arrays of ten elements, with their value, beside the same calls of NumPy.

    python benches/calls.py [--seconds 0.05] [--only sum,where] [--json FILE]

A line for each call: microseconds of NumPy's, of ours without the value, of ours with it, and the last over the first.
Every call is measured in rounds that take turns, and the least of them counts. Then a chain of ten maps and a reduction
over 1,000 elements, a traced function, and first evaluations of new structures.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import figures
import numpy as np

from lancehead import xp

N = 10


def arrays(module: Any) -> dict[str, Any]:
    """The operands, as arrays of a namespace."""
    numbers = np.random.default_rng(1)
    floats = numbers.uniform(0.5, 2.0, N)
    given = {
        "x": floats,
        "y": floats[::-1].copy(),
        "f": floats.astype(np.float32),
        "i": np.arange(N),
        "j": np.arange(N)[::-1].copy(),
        "b": np.arange(N) % 3 == 0,
        "z": floats + 1j,
        "m": floats.reshape(2, 5),
        "n": floats.reshape(5, 2),
    }
    return {name: module.asarray(value) for name, value in given.items()}


#: Calls of a namespace `np` with the operands of `arrays`.
CALLS = [
    "x + y", "x - y", "x * y", "x / y", "x ** y", "x + 1.5", "2.0 * x", "i + j", "i // 3", "f + f", "z * z", "x < y",
    "i == j", "b & b", "-x", "abs(x)", "np.sqrt(x)", "np.exp(x)", "np.sin(x)", "np.isnan(x)", "np.floor(x)",
    "np.maximum(x, y)", "np.clip(x, 0.6, 1.0)", "np.where(b, x, y)", "np.sum(x)", "np.sum(m, axis=0)", "np.mean(x)",
    "np.std(x)", "np.max(x)", "np.prod(i)", "np.any(b)", "np.argmax(x)", "np.cumulative_sum(x)", "np.sort(x)",
    "np.argsort(x)", "x[1:3]", "x[3]", "x[::-1]", "m[:, 1]", "x[b]", "x[i]", "np.take(x, i)", "np.reshape(x, (2, 5))",
    "m.T", "np.concat((x, y))", "np.stack((x, y))", "np.expand_dims(x, axis=0)", "np.broadcast_to(x, (3, 10))",
    "np.astype(x, np.float32)", "np.astype(x, np.float64)", "np.matmul(m, n)", "np.vecdot(x, y)", "np.zeros(10)",
    "np.full(10, 1.5)", "np.arange(10)", "np.flip(x)",
]  # fmt: skip


def functions(call: str, module: Any, with_value: bool) -> Callable[[int], float]:
    """A function that makes a number of calls and returns the seconds that they took."""
    text = f"({call}).compute()" if with_value else call
    names: dict[str, Any] = {"np": module, "clock": time.perf_counter, **arrays(module)}
    exec(f"def run(count):\n s = clock()\n for _ in range(count):\n  {text}\n return clock() - s\n", names)
    run: Callable[[int], float] = names["run"]
    return run


def least(runs: list[Callable[[int], float]], seconds: float) -> list[float]:
    """Microseconds of a call of each: the least of rounds that take turns and are shorter than a turn of the system."""
    counts = []
    for run in runs:
        run(20)
        counts.append(max(1, int(5e-4 / max(run(20) / 20, 1e-8))))
    best = [math.inf] * len(runs)
    for _ in range(max(5, int(seconds / 5e-4))):
        for k, (run, count) in enumerate(zip(runs, counts, strict=True)):
            best[k] = min(best[k], run(count) / count)
    return [t * 1e6 for t in best]


def half(v):
    return v * 0.5 + 1.0


def chain(v):
    for _ in range(10):
        v = xp.map(half, v)
    return v


def measured(f: Callable[[], Any]) -> Callable[[int], float]:
    """A function that measures a number of calls of another one."""

    def run(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            f()
        return time.perf_counter() - start

    return run


def longer(seconds: float, table: figures.Table) -> None:
    """Chains and traced functions."""
    x = xp.asarray(np.linspace(0.0, 1.0, 1000))
    lazily, whole = least(
        [measured(lambda: xp.sum(chain(x))), measured(lambda: xp.sum(chain(x)).compute())], 4 * seconds
    )
    print(f"ten maps and a sum, 1,000 elements: {lazily:.1f} us lazily, {whole:.1f} with the value")
    table.add("ten maps and a sum, 1,000 elements, lazily", f"{lazily:.1f}")
    table.add("the same with the value", f"{whole:.1f}")
    y = xp.asarray(np.linspace(0.0, 1.0, N))
    for count in (1, 10, 50):

        def f(v, count=count):
            for _ in range(count):
                v = v + 1.0
            return v

        traced = xp.trace(f)
        lazily, whole = least([measured(lambda: traced(y)), measured(lambda: traced(y).compute())], seconds)
        print(f"a traced function of {count} nodes: {lazily:.2f} us lazily, {whole:.2f} with the value")
        table.add(f"a traced function of {count} nodes, lazily", f"{lazily:.2f}")
        table.add("the same with the value", f"{whole:.2f}")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--only", default="")
    figures.add_json(parser)
    options = parser.parse_args()
    result = figures.Result("calls", "benches/run.sh calls", 1)
    times = [(name, "us", 2) for name in ("NumPy", "lazily", "with the value")]
    table = result.table("calls", "call", *times, ("over NumPy", "", 2))
    only = [word for word in options.only.split(",") if word]
    print("| call | NumPy, us | lazily | with the value | over NumPy |\n|---|---:|---:|---:|---:|")
    for call in CALLS:
        if only and not any(word in call for word in only):
            continue
        numpy = functions(call, np, False)
        theirs, lazily, ours = least([numpy, functions(call, xp, False), functions(call, xp, True)], options.seconds)
        table.add(f"`{call}`", *(round(t, 2) for t in (theirs, lazily, ours)), round(ours / theirs, 2))
        print(f"| `{call}` | {theirs:.2f} | {lazily:.2f} | {ours:.2f} | {ours / theirs:.2f} |", flush=True)
    ratios = [row[4] for row in table.rows]
    mean, below = figures.geometric_mean(ratios), sum(ratio < 3 for ratio in ratios)
    print(f"geometric mean {mean:.2f}, {len(ratios) - below} of {len(ratios)} above 3")
    result.summary = {"calls": len(ratios), "mean": mean, "below 3": below}
    if not only:
        longer(options.seconds, result.table("longer", "case", "us"))
    result.write(options.json)


if __name__ == "__main__":
    main()
