"""Some 320 functions beside Numba, one process, ratios of least times: `python benches/others/run.py [collections]
[--only names]`.

The harness's kernels are few and well known; these are many, so that a cliff beside the path that everybody walks is
seen. Results are compared with Numba's. `unchecked` is the ratio with `boundscheck=False`.
"""

from __future__ import annotations

import argparse
import importlib
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

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


def measure(collection: Any, only: set[str]) -> Iterator[float]:
    """Prints a line for each function, and yields its ratio."""
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
        yield b / a


def main() -> None:
    """Measures what the command line names, or everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="*", default=COLLECTIONS, help=f"{', '.join(COLLECTIONS)}; all by default")
    parser.add_argument("--only", default="", help="names, with commas between")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    only = set(options.only.split(",")) - {""}
    for name in options.collections:
        ratios = list(measure(importlib.import_module(name).C, only))
        if ratios:
            print(f"{name}: geometric mean of {len(ratios)}: {np.exp(np.mean(np.log(ratios))):.2f}\n", flush=True)


if __name__ == "__main__":
    main()
