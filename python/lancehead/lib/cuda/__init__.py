"""`cuda.*` in kernels, in the library's dialect. What is primitive is a function of the run-time library, on a CPU as on a GPU."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.cuda.warps import (
    activemask,
    all_sync,
    any_sync,
    ballot_sync,
    eq_sync,
    laneid,
    lanemask_lt,
    match_all_sync,
    match_any_sync,
    shfl_down_sync,
    shfl_sync,
    shfl_up_sync,
    shfl_xor_sync,
    syncwarp,
    warpsize,
)

__all__ = [
    "activemask", "all_sync", "any_sync", "ballot_sync", "eq_sync", "laneid", "lanemask_lt", "match_all_sync", "match_any_sync",
    "shfl_down_sync", "shfl_sync", "shfl_up_sync", "shfl_xor_sync", "syncwarp", "warpsize",
]  # fmt: skip


def threadfence():
    """Others see what was written before not later than what is written after."""
    prim.lh_cuda_fence(1)


def threadfence_block():
    """Others of the block see what was written before not later than what is written after."""
    prim.lh_cuda_fence(0)


def threadfence_system():
    """All see what was written before not later than what is written after."""
    prim.lh_cuda_fence(2)


def nanosleep(ns):
    """Lets other threads go on."""
    prim.lh_cuda_pause(prim.lh_cuda_context(), int(ns))


def popc(x):
    """Number of bits that are set."""
    return prim.popcount(x)


def clz(x):
    """Number of zero bits before the first that is set."""
    return prim.ctlz(x)


def ffs(x):
    """Place of the lowest bit that is set, from 1; 0 if there is none."""
    if x == 0:
        return 0
    return int(prim.cttz(x)) + 1


def brev(x):
    """The bits in reverse order."""
    return prim.bitreverse(x)


def fma(a, b, c):
    """`a * b + c`, rounded once."""
    return prim.fma(a, b, c)


def cbrt(x):
    """Cube root."""
    return prim.cbrt(x)


def selp(condition, a, b):
    """One of two values."""
    return a if condition else b


def _check_hint(array, i):
    dtype = prim.dtype_of(array)
    if not prim.is_int(dtype) and not prim.is_float(dtype):
        prim.error("cache hints require arrays of integer or float type")
    if prim.is_tuple(i):
        if len(i) != array.ndim:
            prim.error("cache hints take one index for each dimension")
    elif array.ndim != 1:
        prim.error("cache hints take one index for each dimension")


def ldca(array, i):
    """An element, kept in all caches."""
    _check_hint(array, i)
    return array[i]


def ldcg(array, i):
    """An element, kept in the cache of all."""
    _check_hint(array, i)
    return array[i]


def ldcs(array, i):
    """An element that is read once."""
    _check_hint(array, i)
    return array[i]


def ldlu(array, i):
    """An element that is read for the last time."""
    _check_hint(array, i)
    return array[i]


def ldcv(array, i):
    """An element, read anew."""
    _check_hint(array, i)
    # Else a loop that waits for it would read it once.
    prim.lh_cuda_fence(1)
    return array[i]


def stcg(array, i, value):
    """Writes an element to the cache of all."""
    _check_hint(array, i)
    array[i] = value


def stcs(array, i, value):
    """Writes an element that is not used again soon."""
    _check_hint(array, i)
    array[i] = value


def stwb(array, i, value):
    """Writes an element to all caches."""
    _check_hint(array, i)
    array[i] = value


def stwt(array, i, value):
    """Writes an element through to memory."""
    _check_hint(array, i)
    array[i] = value
