"""`cuda.*` in kernels, in the library's dialect. Primitives are functions of the run-time library, on a CPU as on a
GPU.
"""

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
    "activemask", "all_sync", "any_sync", "ballot_sync", "eq_sync", "laneid", "lanemask_lt", "match_all_sync",
    "match_any_sync", "shfl_down_sync", "shfl_sync", "shfl_up_sync", "shfl_xor_sync", "syncwarp", "warpsize",
]  # fmt: skip


def threadfence():
    """A memory fence for the device: earlier writes become visible before later ones."""
    prim.lh_cuda_fence(1)


def threadfence_block():
    """A memory fence for the block: earlier writes become visible before later ones."""
    prim.lh_cuda_fence(0)


def threadfence_system():
    """A memory fence for the system, the host included: earlier writes become visible before later ones."""
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


def _over(memory):
    # The memory that a C pointer leads to is an array whose extent nobody knows.
    if prim.is_array(memory):
        return memory
    item = prim.pointee(memory, None)
    return prim.array(prim.no_owner(), prim.address(memory), (1 << 40,), (item.itemsize,), item, "C")


def _load(memory, i, how):
    """An element: on a GPU by an instruction with a cache operator, which is done each time; elsewhere memory is read
    anew."""
    array = _over(memory)
    _check_hint(array, i)
    if not prim.on_gpu():
        # Threads may wait for what others write, by the two that read what all see.
        if how == "cg" or how == "cv":
            prim.lh_cuda_fence(1)
        else:
            prim.lh_cuda_fence(3)
        return array[i]
    dtype, operator = prim.dtype_of(array), prim.cache_operator(how)
    at = prim.element_pointer(array, i)
    if prim.itemsize(dtype) == 1:
        return prim.cast(prim.lh_cuda_ld_i8(at, operator), dtype)
    if prim.itemsize(dtype) == 2:
        half = prim.lh_cuda_ld_i16(at, operator)
        return prim.f16_of_bits(half) if prim.is_float(dtype) else prim.cast(half, dtype)
    if prim.itemsize(dtype) == 4:
        word = prim.lh_cuda_ld_i32(at, operator)
        return prim.f32_of_bits(word) if prim.is_float(dtype) else prim.cast(word, dtype)
    long = prim.lh_cuda_ld_i64(at, operator)
    return prim.f64_of_bits(long) if prim.is_float(dtype) else prim.cast(long, dtype)


def _store(memory, i, value, how):
    """Writes an element: on a GPU by an instruction with a cache operator."""
    array = _over(memory)
    _check_hint(array, i)
    if not prim.on_gpu():
        array[i] = value
        return
    dtype, operator = prim.dtype_of(array), prim.cache_operator(how)
    at = prim.writable_element_pointer(array, i)
    x = prim.cast(value, dtype)
    if prim.itemsize(dtype) == 1:
        prim.lh_cuda_st_i8(at, prim.cast(x, np.int8), operator)
    elif prim.itemsize(dtype) == 2:
        prim.lh_cuda_st_i16(at, prim.bits_of_f16(x) if prim.is_float(dtype) else prim.cast(x, np.int16), operator)
    elif prim.itemsize(dtype) == 4:
        prim.lh_cuda_st_i32(at, prim.bits_of_f32(x) if prim.is_float(dtype) else prim.cast(x, np.int32), operator)
    else:
        prim.lh_cuda_st_i64(at, prim.bits_of_f64(x) if prim.is_float(dtype) else prim.cast(x, np.int64), operator)


def ldca(array, i):
    """An element, kept in all caches."""
    return _load(array, i, "ca")


def ldcg(array, i):
    """An element, kept in the cache of all."""
    return _load(array, i, "cg")


def ldcs(array, i):
    """An element that is read once."""
    return _load(array, i, "cs")


def ldlu(array, i):
    """An element that is read for the last time."""
    return _load(array, i, "lu")


def ldcv(array, i):
    """An element, read anew."""
    return _load(array, i, "cv")


def stwb(array, i, value):
    """Writes an element to all caches."""
    _store(array, i, value, "wb")


def stcg(array, i, value):
    """Writes an element to the cache of all."""
    _store(array, i, value, "cg")


def stcs(array, i, value):
    """Writes an element that is not used again soon."""
    _store(array, i, value, "cs")


def stwt(array, i, value):
    """Writes an element through to memory."""
    _store(array, i, value, "wt")
