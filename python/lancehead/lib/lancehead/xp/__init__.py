"""`lancehead.xp` in compiled code: primitives with functions of the program on arrays of NumPy."""

from lancehead.lib.lancehead.xp.folds import (
    adjacent_difference,
    exclusive_scan,
    inclusive_scan,
    inner,
    map,
    reduce,
    scan,
    segmented_reduce,
    segmented_scan,
    transform_reduce,
    zipwith,
)
from lancehead.lib.lancehead.xp.neighbours import stencil
from lancehead.lib.lancehead.xp.places import (
    constant,
    counting,
    gather,
    outer,
    permutation,
    reverse,
    scatter,
    strided,
)
from lancehead.lib.lancehead.xp.selections import (
    bincount,
    compact,
    difference,
    histogram,
    intersection,
    k_select,
    merge,
    partition,
    run_length,
    sort_by_key,
    symmetric_difference,
    top_k,
    union,
    unique,
)

__all__ = [
    "adjacent_difference", "bincount", "compact", "constant", "counting", "difference", "exclusive_scan", "gather",
    "histogram", "inclusive_scan", "inner", "intersection", "k_select", "map", "merge", "outer", "partition",
    "permutation", "reduce", "reverse", "run_length", "scan", "scatter", "segmented_reduce", "segmented_scan",
    "sort_by_key", "stencil", "strided", "symmetric_difference", "top_k", "transform", "transform_reduce", "union",
    "unique", "zip", "zipwith",
]  # fmt: skip


def zip(*arrays):
    """Arrays as one whose elements are tuples."""
    return arrays


def transform(f, *arrays):
    """The results of `map`."""
    return map(f, *arrays)
