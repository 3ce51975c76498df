"""The parts of sorting on a device: integers that are ordered as the keys are, and the permutation that sorts them."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from lancehead import cuda
from lancehead.decorators import njit


@njit
def ordered(u, kind):
    """The unsigned integer for the bits of a key: of an integer (0), one with a sign (1), a float (2). The two zeros of
    floats are one key."""
    top = np.uint64(1) << np.uint64(63)
    if kind == 1:
        return u ^ top
    if kind == 2:
        if u == top:
            u = np.uint64(0)
        return u ^ top if u < top else ~u
    return u


@njit
def _wide(keys, first, mask, kind, descending):
    shift = np.uint64(64 - 8 * keys.itemsize)
    out = np.empty(keys.size, mask.dtype)
    for i in range(keys.size):
        u = ordered(np.uint64(keys[i]) << shift, kind) >> shift
        v = (u >> np.uint64(first)) & np.uint64(mask[0])
        out[i] = np.uint64(mask[0]) - v if descending else v
    return out


@njit
def _order(integers):
    return np.argsort(integers, kind="mergesort")


@njit
def _order_of_parts(integers, limits):
    out = np.empty(integers.size, np.int64)
    for p in range(limits.size - 1):
        begin, end = limits[p], limits[p + 1]
        out[begin:end] = begin + np.argsort(integers[begin:end], kind="mergesort")
    return out


def _kind(dtype: np.dtype[Any]) -> int:
    return {"u": 0, "i": 1, "f": 2}[dtype.kind]


def integers(keys: np.ndarray, first: int, mask: Any, descending: bool) -> np.ndarray:
    """The integers of keys of the host."""
    bits = np.ascontiguousarray(keys).view(mask.dtype)
    return _wide(bits, first, np.array([mask]), _kind(keys.dtype), descending)  # type: ignore[no-any-return]


def order(keys: np.ndarray, first: int, mask: Any, descending: bool) -> np.ndarray:
    """The places of the keys in their order."""
    return _order(integers(keys, first, mask, descending))  # type: ignore[no-any-return]


def order_of_parts(keys: np.ndarray, limits: np.ndarray, first: int, mask: Any) -> np.ndarray:
    """The places of the keys in the order of each part."""
    return _order_of_parts(integers(keys, first, mask, False), limits)  # type: ignore[no-any-return]


@functools.cache
def integers_kernel(dtype: np.dtype[Any]) -> Any:
    """A kernel that makes the integers of keys of a type."""
    kind, shift = _kind(dtype), np.uint64(64 - 8 * dtype.itemsize)

    @cuda.jit
    def kernel(bits, first, mask, descending, out):
        i = cuda.grid(1)
        if i < bits.size:
            u = ordered(np.uint64(bits[i]) << shift, kind) >> shift
            v = (u >> np.uint64(first)) & np.uint64(mask)
            out[i] = np.uint64(mask) - v if descending else v

    return kernel


@cuda.jit
def gathered(a, places, out):
    """The elements at places."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[places[i]]


@cuda.jit
def copied(a, out):
    """The elements."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]
