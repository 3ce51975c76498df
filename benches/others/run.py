"""Some 320 functions beside Numba, one process, ratios of least times: `python benches/others/run.py [collections]
[--only names] [--json FILE]`.

The harness's kernels are few and well known; these are many, so that a cliff beside the path that everybody walks is
seen. Results are compared with Numba's. `unchecked` is the ratio with `boundscheck=False`.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))
import figures
import numba
import numpy as np

import lancehead

COLLECTIONS = ("loops", "recipes", "programs", "broadcasts", "library")
ROUNDS = 9
SECONDS_A_ROUND = 0.004


def same(a: Any, b: Any, tolerance: float) -> bool:
    """Whether two results agree, as far as sums in another order do."""
    if isinstance(a, tuple):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b))
    return np.allclose(a, b, rtol=tolerance, equal_nan=True)


def least_times(functions: list[Callable[..., Any]], args: tuple[Any, ...]) -> list[float]:
    """Least seconds of a call of each, taken in turns."""

    def seconds(f: Callable[..., Any], times: int) -> float:
        start = time.perf_counter()
        for _ in range(times):
            f(*args)
        return (time.perf_counter() - start) / times

    times = max(1, int(SECONDS_A_ROUND / max(1e-7, seconds(functions[-1], 1))))
    return [min(row) for row in zip(*([seconds(f, times) for f in functions] for _ in range(ROUNDS)))]


def measure(collection: Any, only: set[str]) -> Iterator[tuple[str, float, float, float]]:
    """Prints a line for each function, and yields its name and seconds: Numba's, ours, and ours without checks."""
    for f, args, options in collection.functions:
        if only and f.__name__ not in only:
            continue
        theirs, ours = numba.njit(**options)(f), lancehead.njit(**options)(f)
        unchecked = lancehead.njit(boundscheck=False, **options)(f)
        is_rough = options.get("fastmath") or any(getattr(a, "dtype", None) == np.float32 for a in args)
        agrees = same(theirs(*args), ours(*args), 1e-3 if is_rough else 1e-6)
        unchecked(*args)
        note = "" if agrees else "  OTHER RESULT"
        a, b, c = least_times([theirs, ours, unchecked], args)
        print(
            f"{f.__name__:16s} Numba {a * 1e6:9.1f} us   lancehead {b * 1e6:9.1f} us   ratio {b / a:5.2f}   unchecked "
            f"{c / a:5.2f}{note}",
            flush=True,
        )
        yield f.__name__, a, b, c


def summarise(result: figures.Result, collections: figures.Table, functions: figures.Table) -> None:
    """Adds the mean of all and those that are slower than Numba by a tenth or more."""
    rows = functions.rows
    mean = figures.geometric_mean(row[3] / row[2] for row in rows)
    collections.add("all", len(rows), mean)
    slower = sorted((row for row in rows if row[5] >= 1.1), key=lambda row: -row[5])
    slowest = result.table("slowest", "function", "time over Numba's")
    for row in slower[:12]:
        slowest.add(f"`{row[1]}`", str(row[5]))
    result.summary = {"functions": len(rows), "mean": mean, "slower by a tenth": len(slower)}


def main() -> None:
    """Measures what the command line names, or everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="*", default=COLLECTIONS, help=f"{', '.join(COLLECTIONS)}; all by default")
    parser.add_argument("--only", default="", help="names, with commas between")
    figures.add_json(parser)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    result = figures.Result("others", "benches/run.sh others", lancehead.get_num_threads())
    collections = result.table("collections", "collection", "functions", ("geometric mean", "", 2))
    times = [("Numba", "us", 1), ("lancehead", "us", 1), ("unchecked", "us", 1)]
    functions = result.table("functions", "collection", "function", *times, ("ratio", "", 2))
    only = set(options.only.split(",")) - {""}
    for name in options.collections:
        found = list(measure(importlib.import_module(name).C, only))
        for function, *seconds in found:
            functions.add(name, function, *(round(t * 1e6, 1) for t in seconds), round(seconds[1] / seconds[0], 2))
        if found:
            mean = figures.geometric_mean(b / a for _, a, b, _ in found)
            collections.add(name, len(found), mean)
            print(f"{name}: geometric mean of {len(found)}: {mean:.2f}\n", flush=True)
    summarise(result, collections, functions)
    result.write(options.json)


if __name__ == "__main__":
    main()
