"""Kernels in Python by the names of `cupyx.jit`, which are those of `lancehead.cuda`.

>>> from lancehead import cupy
>>> from lancehead.cupyx import jit
>>> @jit.rawkernel()
... def twice(x, n):
...     i = jit.grid(1)
...     if i < n:
...         x[i] *= 2
>>> x = cupy.ones(3)
>>> twice((1,), (32,), (x, 3)); x
array([2., 2., 2.])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lancehead import cuda
from lancehead.cuda import (
    atomic,
    blockDim,
    blockIdx,
    grid,
    gridDim,
    gridsize,
    laneid,
    shared,
    shfl_down_sync,
    shfl_sync,
    shfl_up_sync,
    shfl_xor_sync,
    syncthreads,
    syncwarp,
    threadIdx,
    warpsize,
)  # fmt: skip
from lancehead.cupy import arguments
from lancehead.cupy.raw import _extents, _stream
from lancehead.options import public
from lancehead.xp import arrays as lazy


class Kernel:
    """A kernel in Python, started with blocks, threads of a block, and arguments."""

    def __init__(self, function: Callable[..., Any], device: bool) -> None:
        self.kernel = cuda.jit(function, device=True) if device else cuda.jit(function)
        self.__name__, self.__doc__, self.__wrapped__ = function.__name__, function.__doc__, function

    def __call__(self, grid: Any, block: Any, args: Any, shared_mem: int = 0, stream: Any = None) -> None:
        given = [_argument(x) for x in args]
        self.kernel[_extents(grid), _extents(block), _stream(stream), shared_mem](*given)

    def __getitem__(self, launch: Any) -> Callable[..., None]:
        blocks, threads = launch[0], launch[1]
        return lambda *args: self(blocks, threads, args, *launch[3:4], *launch[2:3])


def _argument(x: Any) -> Any:
    # An array with its shape; of one with gaps or another order there is no array of one memory.
    if not isinstance(x, lazy.ndarray):
        return x
    if x._view is None:
        return arguments.memory(x, True)
    found = arguments.pointed(x, None, True)
    s = x._view.shadow
    if not s.flags.c_contiguous:
        raise ValueError("arguments of kernels in Python are arrays in row-major order; write ascontiguousarray(x)")
    return found[: s.size].reshape(s.shape)


def rawkernel(*, mode: str = "cuda", device: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Decorates a kernel, or with `device` a function that kernels call."""
    return lambda f: cuda.jit(f, device=True) if device else Kernel(f, device)


__all__ = [
    "Kernel", "atomic", "blockDim", "blockIdx", "grid", "gridDim", "gridsize", "laneid", "rawkernel", "shared",
    "shfl_down_sync", "shfl_sync", "shfl_up_sync", "shfl_xor_sync", "syncthreads", "syncwarp", "threadIdx", "warpsize",
]  # fmt: skip
public(globals())
