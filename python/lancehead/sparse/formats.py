"""Matrices from arrays that are known to be sound, and the arrays of a matrix that loops read."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lancehead.lib.sparse import checking
from lancehead.sparse import loops

#: The classes of arrays by their formats; `arrays.py` fills it.
CLASSES: dict[str, Any] = {}
#: Those of formats without loops, which are converted before they compute; `others.py` fills it.
OTHERS: dict[str, Any] = {}
Array = np.ndarray[Any, Any]


class SparseWarning(Warning):
    """The base of warnings about sparse arrays."""


class SparseEfficiencyWarning(SparseWarning):
    """An operation makes a sparse array dense, or takes much longer than another way."""


#: The order of entries in rows or columns as far as it is known: that they are not in order, that they are, that some
#: or no places are there twice then.
UNKNOWN, UNSORTED, SORTED, DOUBLED, CANONICAL = range(5)


class Rows(NamedTuple):
    """The arrays of a matrix in compressed rows, or of the transpose of one in compressed columns."""

    indptr: Array
    indices: Array
    data: Array
    rows: int
    columns: int


class Parts(NamedTuple):
    """The arrays of a matrix in compressed rows or columns and its shape, for kernels on a GPU."""

    data: Any
    indices: Any
    indptr: Any
    shape: tuple[int, ...]


def shape_of(shape: Any, dimensions: Sequence[int] = (2,)) -> tuple[int, ...]:
    """A shape as a tuple of integers.

    Raises:
        TypeError: it has others.
        ValueError: it has negative ones, or too many.
    """
    found = tuple(operator.index(n) for n in (shape if isinstance(shape, Sequence | np.ndarray) else (shape,)))
    if len(found) not in dimensions:
        raise ValueError(f"shape must be a {' or '.join(map(str, dimensions))}-tuple of positive integers")
    if any(n < 0 for n in found):
        raise ValueError("'shape' elements cannot be negative")
    return found


def compressed(format: str, indptr: Array, indices: Array, data: Array, shape: tuple[int, ...]) -> Any:
    """A matrix of arrays that are sound, in compressed rows, columns or rows of blocks."""
    made = object.__new__(CLASSES[format])
    made.data, made.indices, made.indptr, made._shape = data, indices, indptr, shape
    return made


def of_coords(data: Array, coords: tuple[Array, ...], shape: tuple[int, ...]) -> Any:
    """An array of entries with their places, which are in it."""
    made = object.__new__(CLASSES["coo"])
    made.data, made.coords, made._shape = data, coords, shape
    return made


def of_rows(given: Rows, like: Any) -> Any:
    """A matrix in the format and the shape of another one in compressed rows or columns."""
    return compressed(like.format, given.indptr, given.indices, given.data, like._shape)


#: Texts of what is wrong with arrays.
_FAULTS = {
    checking.BACKWARD: "indptr must be a non-decreasing sequence",
    checking.NEGATIVE: "indices must be >= 0",
    checking.LARGE: "indices must be < {}",
}


def extents(a: Any) -> tuple[int, int]:
    """How many rows, columns or rows of blocks are compressed, and how many indices there can be in one."""
    shape = a._shape if len(a._shape) == 2 else (1, *a._shape)
    if a.format == "csc":
        return shape[1], shape[0]
    if a.format == "bsr":
        high, wide = a.data.shape[1:]
        return shape[0] // high, shape[1] // wide
    return shape


def rows_of(a: Any, indices_too: bool = True) -> Rows:
    """The arrays of a matrix for loops, which do not check them; some look at the indices themselves.

    Raises:
        ValueError: they are no matrix.
    """
    rows, columns = extents(a)
    indptr, indices, data = a.indptr, a.indices, a.data
    check(indptr, indices, data, rows, columns, indices_too)
    size = int(indptr[-1])
    if indices.shape[0] != size:
        indices, data = indices[:size], data[:size]
    return Rows(indptr, indices, data, rows, columns)


def check(indptr: Array, indices: Array, data: Array, rows: int, columns: int, indices_too: bool = True) -> None:
    """Raises ValueError if arrays are no matrix of so many rows and columns."""
    if indptr.shape[0] != rows + 1:
        raise ValueError(f"index pointer size {indptr.shape[0]} should be {rows + 1}")
    if indptr[0] != 0:
        raise ValueError("index pointer should start with 0")
    if indices.shape[0] != data.shape[0]:
        raise ValueError("indices and data should have the same size")
    if indptr[-1] > indices.shape[0]:
        raise ValueError("Last value of index pointer should be less than the size of index and data arrays")
    if indices_too:
        bad = loops.fault(indices.shape[0])(indptr, indices, rows, columns)
    else:
        bad = loops.pointer_fault(indptr, indices.shape[0], rows)
    if bad:
        raise ValueError(_FAULTS[bad].format(columns))


def check_coords(coords: tuple[Array, ...], data: Array, shape: tuple[int, ...]) -> None:
    """Raises ValueError if entries have no places in an array of a shape."""
    if any(c.shape != data.shape for c in coords):
        raise ValueError("all index and data arrays must have the same length")
    for axis, (places, n) in enumerate(zip(coords, shape, strict=True)):
        if places.size and loops.index_fault(places.size)(places, places.size, n):
            if places.max() >= n:
                raise ValueError(f"axis {axis} index {places.max()} exceeds matrix dimension {n}")
            raise ValueError(f"negative axis {axis} index: {places.min()}")


def is_foreign(x: Any) -> bool:
    """Whether something is a sparse array or matrix of SciPy, or ours of a format without loops."""
    return (type(x).__module__.startswith("scipy.sparse") and hasattr(x, "tocoo")) or isinstance(
        x, tuple(OTHERS.values())
    )


def is_sparse(x: Any) -> bool:
    """Whether something is a sparse array, ours or SciPy's."""
    return isinstance(x, tuple(CLASSES.values())) or is_foreign(x)
