"""Arrays of records: parts of their memory, and what functions of the program make of their elements.

A field is a view whose elements lie at any byte of the records' memory. Regions see it as an array of the field's type
over that memory; a record that a function gets refers to the memory, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lancehead.caches import Cache
from lancehead.decorators import njit, prange
from lancehead.lib import prim
from lancehead.lib.primitives.lines import put
from lancehead.xp.graph import Node, add_to_library, name_of, op
from lancehead.xp.rows import Kind, Row

_VIEW = Row("view", Kind.VIEW)

#: One object for equal types, so that equal texts name them.
_TYPES: Cache[np.dtype[Any], np.dtype[Any]] = Cache(1024)


def is_record(dtype: np.dtype[Any]) -> bool:
    """Whether elements have fields."""
    return dtype.fields is not None


def is_whole(memory: np.dtype[Any], dtype: np.dtype[Any]) -> bool:
    """Whether elements of a type are items or fields of records, and no choice of several fields."""
    if dtype.fields is None or dtype == memory:
        return True
    return any(is_whole(f[0].base, dtype) for f in (memory.fields or {}).values() if f[0].base.fields is not None)


def named(dtype: np.dtype[Any]) -> str:
    """The name of a type in texts of regions."""
    return name_of(_TYPES.added(dtype, dtype))


@njit
def part_of(a, first, shape, strides, dtype):  # type: ignore[no-untyped-def]
    """A view of an array's memory in row-major order: first byte, extents, strides in bytes, type."""
    return prim.array(prim.owner(a), prim.ptr_add(prim.data(a), first), shape, strides, dtype, "A")


@njit
def part_stored(a, x, first, shape, strides, dtype):  # type: ignore[no-untyped-def]
    """A copy of an array with a value in a part of it."""
    out = a.copy()
    part_of(out, first, shape, strides, dtype)[...] = x
    return out


@njit
def part_stored_here(a, x, first, shape, strides, dtype):  # type: ignore[no-untyped-def]
    """The array with a value in a part of it."""
    out = np.ascontiguousarray(a).reshape(a.shape)
    part_of(out, first, shape, strides, dtype)[...] = x
    return out


@njit(parallel=True, boundscheck=False)
def records_mapped(at, n, dtype, *lines):  # type: ignore[no-untyped-def]
    """The results of a function of a place and lines, for so many places."""
    out = np.empty(n, dtype)
    for i in prange(n):
        put(out, i, at(i, *lines))
    return out


add_to_library(
    part_of=part_of, part_stored=part_stored, part_stored_here=part_stored_here, records_mapped=records_mapped
)


def _part(a: str, first: str, shape: str, strides: str, dtype: str) -> str:
    return f"part_of(np.ascontiguousarray({a}), {first}, {shape}, {strides}, {dtype})"


def _stored(a: str, x: str, first: str, shape: str, strides: str, dtype: str) -> str:
    return f"part_stored({a}, {x}, {first}, {shape}, {strides}, {dtype})"


def _stored_here(a: str, x: str, first: str, shape: str, strides: str, dtype: str) -> str:
    return f"part_stored_here({a}, {x}, {first}, {shape}, {strides}, {dtype})"


def part(memory: Node, shadow: np.ndarray, first: int) -> Node:
    """The node of a part of an array of records, which begins at a byte, as it is now."""
    of = op(_VIEW, _part, (named(shadow.dtype),))
    return Node(of, (memory,), shadow.shape, shadow.dtype, (first, shadow.shape, shadow.strides))


def store(memory: Node, value: Node, shadow: np.ndarray, first: int) -> Node:
    """The node of an array of records with a value in a part of it."""
    static = (named(shadow.dtype),)
    of = op("store", _stored, static, is_costly=True, is_fresh=bool(memory.shape), here=_stored_here)
    return Node(of, (memory, value), memory.shape, memory.dtype, (first, shadow.shape, shadow.strides))


def _mapped(*given: str) -> str:
    *lines, n, shape, at, dtype = given
    flat = ", ".join(f"np.ascontiguousarray({x}).reshape(-1)" for x in lines)
    return f"records_mapped({at}, {n}, {dtype}, {flat}).reshape({shape})"


def mapped(at: Any, lines: Sequence[Node], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Node:
    """The node of a function's results for records; `at` gives that of a place in row-major order."""
    static = (name_of(at), named(dtype))
    of = op("map_records", _mapped, static, count=len(lines), is_costly=True, is_fresh=bool(shape))
    return Node(of, tuple(lines), shape, dtype, (math.prod(shape), shape))


__all__ = ["is_record", "mapped", "named", "part", "store"]
