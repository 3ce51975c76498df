"""Least time of a call, in a table's row: for peers that run in environments of their own."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

ROUNDS, LEAST = 9, 0.02


def f32(n: int) -> np.ndarray:
    """Floats from 0 to 1, the same each time."""
    return np.random.default_rng(1).random(n).astype(np.float32)


def row(name: str, call: Callable[[], Any], units: int, same: bool) -> None:
    """Times a call and prints nanoseconds a unit."""
    call()
    start = time.perf_counter()
    call()
    times = max(1, int(LEAST / max(1e-9, time.perf_counter() - start)))
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(times):
            call()
        best = min(best, (time.perf_counter() - start) / times)
    print(f"| {name}{'' if same else ' WRONG'} | {best / units * 1e9:.3f} |", flush=True)
