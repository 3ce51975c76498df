"""Sorts and products on the CPU device, which has the memory of the host: its loops instead of kernels.

The results have the bits of the kernels of `device_texts.py`: equal elements keep their order, with the signs of zeros
and the bits of NaN, and products are added from left to right, each rounded together with its sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead.decorators import njit, prange
from lancehead.lib.primitives import counters, merging, ordering, selecting
from lancehead.lib.primitives.lines import element, put
from lancehead.xp import dtypes
from lancehead.xp.devices import over_host

#: Rows and columns of a block of a product, which stays in the cache.
_ROWS, _COLUMNS = 64, 256

_order = njit(error_model="numpy", boundscheck=False)(ordering.stable_order)
_before = njit(selecting.plain_before)
_numbers_of = njit(boundscheck=False)(merging.numbers_of)
_first_not_before = njit(boundscheck=False)(merging.first_not_before)
_first_after = njit(boundscheck=False)(merging.first_after)
_fused = njit(counters.fused)


# A line's places are its own.
@njit(parallel={"unsafe": True}, boundscheck=False)
def _orders(order, keys, rows, n, m, is_descending):  # type: ignore[no-untyped-def]
    for r in prange(rows):
        base = r // m * n * m + r % m
        line = np.empty(n, keys.dtype)
        for i in range(n):
            put(line, n - 1 - i if is_descending else i, element(keys, base + i * m))
        found = _order(line)
        for i in range(n):
            put(order, r * n + i, n - 1 - element(found, n - 1 - i) if is_descending else element(found, i))


@njit(boundscheck=False)
def _line_of(keys, base, n, m):  # type: ignore[no-untyped-def]
    line = np.empty(n, keys.dtype)
    for i in range(n):
        put(line, i, element(keys, base + i * m))
    return line


@njit(parallel={"unsafe": True}, boundscheck=False)
def _sorts(out, keys, rows, n, m):  # type: ignore[no-untyped-def]
    for r in prange(rows):
        base = r // m * n * m + r % m
        found = np.sort(_line_of(keys, base, n, m))
        for i in range(n):
            put(out, base + i * m, element(found, i))


@njit(parallel={"unsafe": True}, boundscheck=False)
def _sorts_of_floats(out, keys, rows, n, m):  # type: ignore[no-untyped-def]
    for r in prange(rows):
        base = r // m * n * m + r % m
        line = _line_of(keys, base, n, m)
        found = np.sort(line)
        # Zeros of both signs are equal, and so are all NaN, whatever their bits: these keep their order.
        count, zero = _numbers_of(found), keys.dtype.type(0.0)
        nan, at = count, _first_not_before(_before, found, 0, count, zero)
        if count < n or _first_after(_before, found, count, zero) > at + 1:
            for i in range(n):
                v = element(line, i)
                if v == zero:
                    put(found, at, v)
                    at += 1
                elif v != v:
                    put(found, nan, v)
                    nan += 1
        for i in range(n):
            put(out, base + i * m, element(found, i))


def is_here() -> bool:
    """Whether the device is the CPU device, on which kernels take longer."""
    from lancehead.cuda.gpu import current_gpu

    return current_gpu() is None


def order_lines(order: Any, keys: Any, rows: int, n: int, m: int, is_descending: bool) -> None:
    """The places of the elements of lines in their order, as `device_texts.sort` has lines."""
    _orders(over_host(order), over_host(keys), rows, n, m, is_descending)


def sort_lines(out: Any, keys: Any, rows: int, n: int, m: int) -> None:
    """The elements of lines of real numbers in their order."""
    (_sorts_of_floats if keys.dtype.kind == "f" else _sorts)(over_host(out), over_host(keys), rows, n, m)


@njit
def _added(x, y, z):  # type: ignore[no-untyped-def]
    return x * y + z


@njit
def _rows_times(fused, out, a, b, to, row, other, inner, columns, first, last, left, right):  # type: ignore[no-untyped-def]
    # Rows `first` to `last` and columns `left` to `right` of a product; eight rows of the second factor at a time.
    zero = out.dtype.type(0)
    for i in range(first, last):
        for j in range(left, right):
            put(out, to + i * columns + j, zero)
    whole = inner // 8 * 8
    for k in range(0, whole, 8):
        for i in range(first, last):
            x, y, z = row + i * inner + k, other + k * columns, to + i * columns
            a0, a1, a2, a3 = element(a, x), element(a, x + 1), element(a, x + 2), element(a, x + 3)
            a4, a5, a6, a7 = element(a, x + 4), element(a, x + 5), element(a, x + 6), element(a, x + 7)
            for j in range(left, right):
                total = fused(a0, element(b, y + j), element(out, z + j))
                total = fused(a1, element(b, y + columns + j), total)
                total = fused(a2, element(b, y + 2 * columns + j), total)
                total = fused(a3, element(b, y + 3 * columns + j), total)
                total = fused(a4, element(b, y + 4 * columns + j), total)
                total = fused(a5, element(b, y + 5 * columns + j), total)
                total = fused(a6, element(b, y + 6 * columns + j), total)
                put(out, z + j, fused(a7, element(b, y + 7 * columns + j), total))
    for k in range(whole, inner):
        for i in range(first, last):
            x, y, z = element(a, row + i * inner + k), other + k * columns, to + i * columns
            for j in range(left, right):
                put(out, z + j, fused(x, element(b, y + j), element(out, z + j)))


@njit(parallel={"unsafe": True}, boundscheck=False)
def _products(fused, out, a, b, firsts, others, rows, inner, columns):  # type: ignore[no-untyped-def]
    down, across = (rows + _ROWS - 1) // _ROWS, (columns + _COLUMNS - 1) // _COLUMNS
    for t in prange(firsts.size * down * across):
        q, block = t // (down * across), t % (down * across)
        i, j = block // across * _ROWS, block % across * _COLUMNS
        _rows_times(
            fused, out, a, b, q * rows * columns, firsts[q], others[q], inner, columns,
            i, min(i + _ROWS, rows), j, min(j + _COLUMNS, columns),
        )  # fmt: skip


def has_products(dtype: np.dtype[Any]) -> bool:
    """Whether products of a type are computed here."""
    return dtype.kind in "iu" or dtype in (dtypes.float32, dtypes.float64)


def multiply(out: Any, a: Any, b: Any, firsts: Any, others: Any, rows: int, inner: int, columns: int) -> None:
    """Products of matrices, which begin at places of the factors, one after the other."""
    fused = _fused if out.dtype.kind == "f" else _added
    _products(fused, over_host(out), over_host(a), over_host(b), firsts, others, rows, inner, columns)


__all__ = ["has_products", "is_here", "multiply", "order_lines", "sort_lines"]
