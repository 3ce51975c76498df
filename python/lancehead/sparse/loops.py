"""The compiled loops of `lancehead.lib.sparse`. Nothing is compiled before it is called; the cache keeps it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lancehead.decorators import njit
from lancehead.lib.sparse import (
    arithmetic,
    checking,
    converting,
    graphs,
    joining,
    ordering,
    places,
    products,
    ranks,
    reducing,
    slicing,
)

#: Numbers that loops read and write from which on threads share them.
SHARED = 1 << 16
CANONICAL = converting.CANONICAL


def serial(function: Callable[..., Any]) -> Any:
    """A loop for one thread."""
    return njit(function, error_model="numpy", cache=True)


def shared(function: Callable[..., Any]) -> Any:
    """A loop whose blocks threads share; they write to places of their own, which no proof finds."""
    return njit(function, error_model="numpy", cache=True, parallel={"unsafe": True})


class Sized:
    """A loop for one thread and for several."""

    __slots__ = ("many", "one")

    def __init__(self, one: Callable[..., Any], many: Callable[..., Any] | None = None) -> None:
        self.one, self.many = serial(one), shared(many or one)

    def __call__(self, size: int) -> Any:
        """The one for so many numbers."""
        return self.many if size >= SHARED else self.one


fault, index_fault = Sized(checking.fault), Sized(checking.index_fault)
pointer_fault = serial(checking.pointer_fault)
is_sorted, is_canonical = Sized(checking.is_sorted), Sized(checking.is_canonical)

rows_by_vector = Sized(products.rows_by_vector, products.rows_by_vector_shared)
columns_by_vector, places_by_vector = serial(products.columns_by_vector), serial(products.places_by_vector)
rows_by_matrix, columns_by_matrix = Sized(products.rows_by_matrix), serial(products.columns_by_matrix)
blocks_by_matrix = Sized(products.blocks_by_matrix)
bound, product, gathered = serial(products.bound), Sized(products.product), Sized(products.gathered)

rows_of_entries, compressed = serial(converting.rows_of_entries), Sized(converting.compressed)
transposed, into_dense = Sized(converting.transposed), Sized(converting.into_dense)
places_into_dense = serial(converting.places_into_dense)
count_nonzero, from_dense = Sized(converting.count_nonzero), Sized(converting.from_dense)
count_blocks, into_blocks = serial(converting.count_blocks), serial(converting.into_blocks)
from_blocks = serial(converting.from_blocks)

sort_rows, join_equal = Sized(ordering.sort_rows), serial(ordering.join_equal)
drop_zeros, drop_zero_blocks = serial(ordering.drop_zeros), serial(ordering.drop_zero_blocks)

united, met, in_parts = serial(joining.united), serial(joining.met), Sized(joining.in_parts)

size_of_rows, take_rows = serial(slicing.size_of_rows), Sized(slicing.take_rows)
size_of_range, take_range = serial(slicing.size_of_range), serial(slicing.take_range)
size_of_columns, take_columns = serial(slicing.size_of_columns), serial(slicing.take_columns)
are_rows, diagonal = serial(slicing.are_rows), serial(slicing.diagonal)
element, elements = serial(slicing.element), Sized(slicing.elements)
places_of, lower_bounds = serial(slicing.places_of), serial(slicing.lower_bounds)
scale_rows, scale_columns = Sized(slicing.scale_rows), Sized(slicing.scale_columns)

plus, minus, times = serial(arithmetic.plus), serial(arithmetic.minus), serial(arithmetic.times)
greater, less = serial(arithmetic.greater), serial(arithmetic.less)
ne, lt, gt = serial(arithmetic.ne), serial(arithmetic.lt), serial(arithmetic.gt)
mapped = serial(arithmetic.mapped)
summed = serial(places.summed)

along_rows, along_columns = Sized(reducing.along_rows), serial(reducing.along_columns)
counts_of_columns, extremes = serial(reducing.counts_of_columns), Sized(reducing.extremes)

breadth_first, breadth_first_both = serial(graphs.breadth_first), serial(graphs.breadth_first_both)
depth_first, nearest, relaxed = serial(graphs.depth_first), serial(graphs.nearest), serial(graphs.relaxed)
nearest_of_each, all_pairs = Sized(graphs.nearest_of_each), Sized(graphs.all_pairs)
components, strong_components = serial(graphs.components), serial(graphs.strong_components)
spanning_forest, triangles = serial(graphs.spanning_forest), Sized(graphs.triangles)
page_ranks = Sized(ranks.page_ranks)
