"""Items of arrays as code generators reach them: names of `numba.np.arrayobj`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lancehead import types
from lancehead.lowlevel import cgutils, proxies
from lancehead.lowlevel.values import Composed, lowered

get_item_pointer, get_item_pointer2 = cgutils.get_item_pointer, cgutils.get_item_pointer2
fix_integer_index = cgutils.fix_integer_index


def make_array(array_type: Any) -> Callable[..., Any]:
    """A class whose instances have the parts of an array as attributes."""
    return lambda context, builder, value=None, ref=None: proxies.proxy(array_type, context, builder, value, ref)


def normalize_index(context: Any, builder: Any, idxty: Any, idx: Any) -> tuple[Any, Any]:
    """An index of 64 bits with its type."""
    if getattr(idxty, "kind", "") in ("Integer", "IntegerLiteral"):
        return types.intp, context.cast(builder, idx, idxty, types.intp)
    return idxty, idx


def normalize_indices(context: Any, builder: Any, index_types: Any, indices: Any) -> tuple[Any, Any]:
    """The same of several."""
    if not len(indices):
        return index_types, indices
    found = [normalize_index(context, builder, t, i) for t, i in zip(index_types, indices, strict=True)]
    return tuple(t for t, _ in found), tuple(i for _, i in found)


def basic_indexing(
    context: Any, builder: Any, aryty: Any, ary: Any, index_types: Any, indices: Any, boundscheck: Any = None
) -> tuple[Any, list[Any], list[Any]]:
    """The address of the item at integer indices; there are no further dimensions."""
    if len(indices) != aryty.ndim or any(getattr(t, "kind", "") != "Integer" for t in index_types):
        raise NotImplementedError("an index that is not an integer for each dimension")
    return get_item_pointer(context, builder, aryty, ary, indices, wraparound=True), [], []


def load_item(context: Any, builder: Any, arrayty: Any, ptr: Any) -> Any:
    """The item at an address."""
    return builder.load(ptr)


def store_item(context: Any, builder: Any, arrayty: Any, val: Any, ptr: Any) -> None:
    """Sets the item at an address."""
    builder.store(val, ptr)


def _empty_nd_impl(context: Any, builder: Any, arrtype: Any, shapes: Any) -> Any:
    """The parts of a new array of an extent in each dimension."""
    r = builder.recorder
    extents = "".join(r.value(s).text + ", " for s in shapes)
    order = f", order={arrtype.layout!r}" if arrtype.layout == "F" else ""
    dtype = r.constant(types.as_dtype(arrtype.dtype).type)
    made = r.let(f"{r.constant(np.empty)}(({extents}), {dtype}{order})", Composed(arrtype), owned=True)
    return proxies.ArrayProxy(arrtype, builder, made)


class Indexing(NamedTuple):
    """The types of an indexing operation: the index, the result, and whether the indexing is advanced."""

    index: Any
    result: Any
    advanced: bool


def get_array_index_type(ary: Any, idx: Any) -> Indexing | None:
    """The types of an indexing operation on an array; None if the index is not supported."""
    parts: list[Any] = list(getattr(idx, "types", [idx]))
    integers = sum(isinstance(p, types.Integer) for p in parts)
    if any(not isinstance(p, (types.Integer, types.SliceType)) for p in parts) or len(parts) > ary.ndim:
        return None
    left = ary.ndim - integers
    if left == 0:
        return Indexing(idx, ary.dtype, False)
    layout = ary.layout if len(parts) == integers and ary.layout == "C" else "A"
    return Indexing(idx, ary.copy(ndim=left, layout=layout), False)


populate_array = proxies.populate_array

__all__ = ["lowered"]


def parse_dtype(dtype: Any) -> Any:
    """The type of elements that a class of numbers, a dtype or a literal text stands for; None if it stands for none.

    >>> parse_dtype(types.Literal("f4")), parse_dtype(types.NumberClass(types.int64))
    (float32, int64)
    """
    kind = getattr(dtype, "kind", "")
    if kind == "StringLiteral":
        return types.from_dtype(np.dtype(dtype.literal_value))
    return dtype.dtype if kind == "NumberClass" else None
