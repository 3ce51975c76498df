"""The classes of sparse arrays, by the names and with the constructors of `scipy.sparse`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lancehead.sparse import conversions, dtypes
from lancehead.sparse.base import SparseArray
from lancehead.sparse.formats import (
    CANONICAL,
    CLASSES,
    DOUBLED,
    SORTED,
    UNKNOWN,
    UNSORTED,
    Array,
    Parts,
    check,
    check_coords,
    extents,
    is_foreign,
    shape_of,
)


def _is_shape(x: Any) -> bool:
    return isinstance(x, tuple) and len(x) in (1, 2) and all(isinstance(n, int | np.integer) for n in x)


class _Compressed(SparseArray):
    """An array in compressed rows or columns.

    The first argument is a dense array, a sparse one, a shape, `(data, (row, column))` or `(data, indices, indptr)`.
    """

    indices: Any
    indptr: Any
    _dimensions: tuple[int, ...] = (2,)
    #: The order of the entries as far as it is known: a number, so that compiled code finds it out once, too.
    _order: Any = UNKNOWN

    @property
    def _sorted(self) -> bool | None:
        return None if self._order == UNKNOWN else bool(self._order >= SORTED)

    @_sorted.setter
    def _sorted(self, value: bool | None) -> None:
        known = SORTED if value else UNKNOWN if value is None else UNSORTED
        self._order = max(self._order, SORTED) if value else known

    @property
    def _canonical(self) -> bool | None:
        return None if self._order in (UNKNOWN, SORTED) else self._order == CANONICAL

    @_canonical.setter
    def _canonical(self, value: bool | None) -> None:
        if value:
            self._order = CANONICAL
        elif self._order >= SORTED:
            self._order = SORTED if value is None else DOUBLED

    def _init(self, arg1: Any, shape: Any, dtype: Any, copy: bool) -> None:
        if isinstance(arg1, tuple(CLASSES.values())) or is_foreign(arg1):
            made = conversions.sparse(arg1).asformat(self.format)
            made = made.copy() if copy else made
        elif _is_shape(arg1):
            made = self._empty(shape_of(arg1, self._dimensions), dtype)
        elif isinstance(arg1, tuple) and len(arg1) == 2:
            made = CLASSES["coo"](arg1, shape=shape, dtype=dtype).asformat(self.format)
        elif isinstance(arg1, tuple) and len(arg1) == 3:
            self._of_parts(*arg1, shape, dtype, copy)
            return
        elif isinstance(arg1, tuple) and len(arg1) != 1:
            raise ValueError(f"unrecognized {self.format}_array constructor input: {arg1}")
        else:
            made = self._from_dense(arg1, dtype)
        if dtype is not None:
            made = made.astype(dtype, copy=False)
        if shape is not None and shape_of(shape, self._dimensions) != made._shape:
            rows = shape_of(shape, self._dimensions)
            raise ValueError(f"index pointer size {made.indptr.shape[0]} should be {self._sizes(rows)[0] + 1}")
        self.data, self.indices, self.indptr, self._shape = made.data, made.indices, made.indptr, made._shape
        self._sorted, self._canonical = made._sorted, made._canonical

    def _from_dense(self, x: Any, dtype: Any) -> Any:
        dense = np.asarray(x)
        if dense.ndim == 0:
            raise ValueError("lancehead sparse array classes do not support instantiation from a scalar")
        if dense.ndim not in self._dimensions:
            text = "support 1D input. Use 2D" if dense.ndim == 1 else f"yet support {dense.ndim}D."
            raise ValueError(f"{self.format.upper()} arrays don't {text}")
        kind = dtypes.supported(dense.dtype if dtype is None else dtype)
        made = conversions.from_dense(dense.astype(kind, copy=False), self.format)
        made._sorted = made._canonical = True
        return made

    def _of_dense(self, x: Array) -> Any:
        cls: Any = type(self)
        return cls(x)

    def _sizes(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        shape = shape if len(shape) == 2 else (1, *shape)
        return shape if self.format == "csr" else shape[::-1]

    def _empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        kind = dtypes.index_dtype(largest=max(shape))
        made = object.__new__(type(self))
        made.data = np.zeros(0, dtypes.supported(np.float64 if dtype is None else dtype))
        made.indices, made.indptr = np.zeros(0, kind), np.zeros(self._sizes(shape)[0] + 1, kind)
        made._shape = shape
        return made

    def _of_parts(self, data: Any, indices: Any, indptr: Any, shape: Any, dtype: Any, copy: bool) -> None:
        given = np.asarray(indices), np.asarray(indptr)
        largest = 0 if shape is None else max(shape_of(shape, self._dimensions))
        kind = dtypes.index_dtype(given, largest)
        self.data = dtypes.values(data, dtype, copy)
        self.indices, self.indptr = (dtypes.indices(x, kind, copy) for x in given)
        if not self.data.ndim == self.indices.ndim == self.indptr.ndim == 1:
            raise ValueError("data, indices, and indptr should be 1-D")
        if shape is None:
            if self.indices.size == 0 or self.indptr.size == 0:
                raise ValueError("unable to infer matrix dimensions")
            found = (self.indptr.size - 1, int(self.indices.max()) + 1)
            self._shape = found if self.format == "csr" else found[::-1]
        else:
            self._shape = shape_of(shape, self._dimensions)
        self.check_format()

    @property
    def parts(self) -> Parts:
        """The arrays and the shape as a named tuple, for kernels."""
        return Parts(self.data, self.indices, self.indptr, self._shape)

    def check_format(self, full_check: bool = True) -> None:
        """Raises ValueError if the arrays are no sparse array."""
        check(self.indptr, self.indices, self.data, *extents(self))

    def prune(self) -> None:
        """Removes what the arrays have beyond their last entry."""
        size = int(self.indptr[-1])
        self.indices, self.data = self.indices[:size].copy(), self.data[:size].copy()


@dataclass(init=False, eq=False, repr=False)
class csr_array(_Compressed):
    """A sparse array in compressed rows, of one or two dimensions.

    >>> csr_array([[0, 2], [3, 0]]) @ np.array([10, 1])
    array([ 2, 30])

    The first argument is a dense array, a sparse one, a shape, `(data, (row, column))` or `(data, indices, indptr)`.

    Raises:
        ValueError: arrays are no matrix: of different lengths, with indices that are not there.
    """

    data: Any
    indices: Any
    indptr: Any
    _shape: Any
    _order: Any = UNKNOWN

    format = "csr"
    _dimensions = (1, 2)

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> None:
        self._init(arg1, shape, dtype, copy)


@dataclass(init=False, eq=False, repr=False)
class csc_array(_Compressed):
    """A sparse matrix in compressed columns; otherwise as `csr_array`."""

    data: Any
    indices: Any
    indptr: Any
    _shape: Any
    _order: Any = UNKNOWN

    format = "csc"

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> None:
        self._init(arg1, shape, dtype, copy)


@dataclass(init=False, eq=False, repr=False)
class bsr_array(_Compressed):
    """A sparse matrix of dense blocks of one size in compressed rows: `data` has a block for each index.

    >>> bsr_array(np.ones((4, 6)), blocksize=(2, 3)).blocksize
    (2, 3)
    """

    data: Any
    indices: Any
    indptr: Any
    _shape: Any

    format = "bsr"

    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, blocksize: Any = None
    ) -> None:
        if isinstance(arg1, tuple) and len(arg1) == 3:
            self._of_parts(*arg1, shape, dtype, copy)
            return
        if _is_shape(arg1):
            made = self._empty(shape_of(arg1), dtype, blocksize)
        else:
            made = csr_array(arg1, shape, dtype).tobsr(blocksize, copy)
        self.data, self.indices, self.indptr, self._shape = made.data, made.indices, made.indptr, made._shape

    @property
    def blocksize(self) -> tuple[int, int]:
        """The height and the width of blocks."""
        return self.data.shape[1], self.data.shape[2]

    def _empty(self, shape: tuple[int, ...], dtype: Any, blocksize: Any = None) -> Any:
        high, wide = (1, 1) if blocksize is None else blocksize
        if high < 1 or wide < 1 or shape[0] % high or shape[1] % wide:
            raise ValueError(f"invalid blocksize {(high, wide)}")
        kind = dtypes.index_dtype(largest=max(shape))
        made = object.__new__(type(self))
        made.data = np.zeros((0, high, wide), dtypes.supported(np.float64 if dtype is None else dtype))
        made.indices, made.indptr, made._shape = np.zeros(0, kind), np.zeros(shape[0] // high + 1, kind), shape
        return made

    def _of_parts(self, data: Any, indices: Any, indptr: Any, shape: Any, dtype: Any, copy: bool) -> None:
        given = np.asarray(indices), np.asarray(indptr)
        kind = dtypes.index_dtype(given, 0 if shape is None else max(shape_of(shape)))
        self.data = dtypes.values(data, dtype, copy)
        self.indices, self.indptr = (dtypes.indices(x, kind, copy) for x in given)
        if self.data.ndim != 3 or self.indices.ndim != 1 or self.indptr.ndim != 1:
            raise ValueError("BSR data must be 3-D, shape=(NNZ, R, C); indices and indptr should be 1-D")
        high, wide = self.data.shape[1:]
        if high < 1 or wide < 1:
            raise ValueError(f"invalid blocksize {(high, wide)}")
        if shape is None:
            if self.indices.size == 0 or self.indptr.size == 0:
                raise ValueError("unable to infer matrix dimensions")
            shape = ((self.indptr.size - 1) * high, (int(self.indices.max()) + 1) * wide)
        self._shape = shape_of(shape)
        if self._shape[0] % high or self._shape[1] % wide:
            raise ValueError(f"invalid blocksize {(high, wide)}")
        self.check_format()


@dataclass(init=False, eq=False, repr=False)
class coo_array(SparseArray):
    """A sparse array of entries with their places, of one or two dimensions; entries of one place are added.

    >>> coo_array(([1, 2, 3], ([0, 0, 1], [1, 1, 0]))).toarray()
    array([[0, 3],
           [3, 0]])
    """

    data: Any
    coords: Any
    _shape: Any

    format = "coo"

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> None:
        if _is_shape(arg1):
            self._shape = shape_of(arg1, (1, 2))
            kind = dtypes.index_dtype(largest=max(self._shape))
            self.coords = tuple(np.zeros(0, kind) for _ in self._shape)
            self.data = np.zeros(0, dtypes.supported(np.float64 if dtype is None else dtype))
        elif isinstance(arg1, tuple) and len(arg1) == 2 and not np.isscalar(arg1[1]):
            self._of_parts(*arg1, shape, dtype, copy)
        else:
            if isinstance(arg1, tuple(CLASSES.values())) or is_foreign(arg1):
                made = conversions.sparse(arg1).tocoo(copy)
                if shape is not None and shape_of(shape, (1, 2)) != made._shape:
                    raise ValueError(f"inconsistent shapes: {shape} != {made._shape}")
            else:
                made = csr_array(arg1, shape, dtype).tocoo(copy)
            made = made if dtype is None else made.astype(dtype, copy=False)
            made = made.copy() if copy else made
            self.data, self.coords, self._shape = made.data, made.coords, made._shape
            self._canonical = made._canonical

    def _of_parts(self, data: Any, coords: Any, shape: Any, dtype: Any, copy: bool) -> None:
        given = tuple(np.asarray(c) for c in coords)
        if len(given) not in (1, 2) or any(c.ndim != 1 for c in given):
            raise ValueError("coordinates of a sparse array are one or two lines")
        if shape is None:
            if any(c.size == 0 for c in given):
                raise ValueError("cannot infer dimensions from zero sized index arrays")
            shape = tuple(int(c.max()) + 1 for c in given)
        self._shape = shape_of(shape, (1, 2))
        if len(self._shape) != len(given):
            raise ValueError(f"mismatching number of dimensions for shape and coordinates: {self._shape}")
        kind = dtypes.index_dtype(given, max(self._shape))
        self.coords = tuple(dtypes.indices(c, kind, copy) for c in given)
        self.data = dtypes.values(data, dtype, copy)
        self._check(self.coords, self.data, self._shape)

    _check = staticmethod(check_coords)

    def check_format(self, full_check: bool = True) -> None:
        """Raises ValueError if the arrays are no sparse array."""
        check_coords(self.coords, self.data, self._shape)

    @property
    def row(self) -> Array:
        """The rows of the entries."""
        return self.coords[0] if len(self.coords) == 2 else np.zeros_like(self.coords[0])

    @row.setter
    def row(self, places: Any) -> None:
        self.coords, self._canonical = (np.asarray(places, self.coords[0].dtype), *self.coords[1:]), None

    @property
    def col(self) -> Array:
        """The columns of the entries."""
        return self.coords[-1]  # type: ignore[no-any-return]

    @col.setter
    def col(self, places: Any) -> None:
        self.coords, self._canonical = (*self.coords[:-1], np.asarray(places, self.coords[-1].dtype)), None


CLASSES.update(csr=csr_array, csc=csc_array, bsr=bsr_array, coo=coo_array)
