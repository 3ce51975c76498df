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


def zip(*arrays):
    """Arrays as one whose elements are tuples."""
    return arrays


def transform(f, *arrays):
    """The results of `map`."""
    return map(f, *arrays)
