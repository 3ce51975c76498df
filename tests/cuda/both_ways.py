"""A kernel on the CPU device, and the same kernel as PTX that is lifted and runs on the CPU device."""

from __future__ import annotations

from typing import Any

import numpy as np

from corpus import Kernel
from lancehead import _core, cuda


def words(value: Any) -> list[int]:
    """The words that a kernel receives for an argument: the parts of an array without its owner, or a number's bits."""
    if isinstance(value, np.ndarray):
        return [value.ctypes.data, *value.shape, *(s & (2**64 - 1) for s in value.strides)]
    raw = np.asarray(value).tobytes()
    return [int.from_bytes(raw, "little")]


def run_lifted(ptx: str, k: Kernel, args: tuple[Any, ...]) -> None:
    """Runs PTX on the CPU device."""
    three = lambda v: [*(v if isinstance(v, tuple) else (v,)), 1, 1][:3]
    _core.PtxKernel(ptx).launch(three(k.grid), three(k.block), k.shared, [w for a in args for w in words(a)])


def both(k: Kernel, seed: int = 1) -> list[tuple[np.ndarray, np.ndarray]]:
    """Arrays after both ways of running a kernel."""
    direct, lifted = (k.arguments(np.random.default_rng(seed)) for _ in range(2))
    cuda.jit(k.function)[k.grid, k.block, 0, k.shared](*direct)
    run_lifted(cuda.compile_ptx(k.function, k.signature, cc=(9, 0))[0], k, lifted)
    return [(a, b) for a, b in zip(direct, lifted, strict=True) if isinstance(a, np.ndarray)]
