"""Reductions of sparse arrays along their axes."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from lancehead.sparse import dtypes, loops
from lancehead.sparse.conversions import line, size_of, to_csr
from lancehead.sparse.formats import Array, of_coords, rows_of
from lancehead.sparse.products import _compiled


def axis_of(a: Any, axis: Any) -> int | None:
    """The axis along which is reduced; None for all.

    Raises:
        TypeError: it is no integer.
        ValueError: there is no such axis.
    """
    if axis is None:
        return None
    n = len(a._shape)
    if isinstance(axis, tuple):
        found = sorted({axis_of(a, k) or 0 for k in axis})
        if len(found) != len(axis):
            raise ValueError("duplicate value in axis")
        return None if len(found) == n else found[0]
    try:
        k = operator.index(axis)
    except TypeError:
        raise TypeError("axis must be an integer/tuple of ints") from None
    if not -n <= k < n:
        raise ValueError("axis out of range for ndim")
    return None if n == 1 else k % 2


def _matrix(a: Any) -> Any:
    """An array as a matrix in compressed rows or columns."""
    whole = line(a) if len(a._shape) == 1 else a
    return whole if whole.format == "csc" else to_csr(whole)


def _along(function: Any, a: Any, axis: int, out: Array) -> Array:
    """Combines the entries of each row or column with the elements of a line."""
    given = rows_of(a)
    if (axis == 1) == (a.format == "csr"):
        loops.along_rows(given.data.size)(function, given.indptr, given.data, given.rows, out)
    else:
        loops.along_columns(function, given.indices, given.data, out)
    return out


def _given(found: Any, out: Any) -> Any:
    if out is None:
        return found
    if out.shape != np.shape(found):
        raise ValueError(
            f"output parameter of wrong dimensions: {out.shape} does not match shape {np.shape(found)} of the result"
        )
    out[...] = found
    return out


def sum_of(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """The sum of all elements, or of those along an axis."""
    k = axis_of(a, axis)
    kind = dtypes.sum_dtype(a.dtype)
    if kind != a.dtype:
        # Entries of one place are an element of the array's own type, whose sum is of another one.
        a = a._summed()
    if k is None:
        found = a.data.sum(dtype=kind)
    else:
        matrix = _matrix(a)
        found = _along(loops.plus, matrix, k, np.zeros(a._shape[1 - k], kind))
    if dtype is not None:
        found = np.asarray(found).astype(dtype)[()]
    return _given(found, out)


def mean_of(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """The mean of all elements, or of those along an axis; of integers and truth values a float."""
    k = axis_of(a, axis)
    kind = np.dtype(np.float64) if a.dtype.kind in "biu" else a.dtype
    count = size_of(a) if k is None else a._shape[k]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.true_divide(sum_of(a.astype(kind), k if len(a._shape) == 2 else None), count)
    return _given(np.asarray(found).astype(kind if dtype is None else dtype)[()], out)


def reduced(a: Any, function: Any, axis: Any = None, zero: Any = 0) -> Any:
    """The stored elements, or those along an axis, combined by a function; `zero` is what none of them give.

    >>> reduced(csr_array([[0, 2, 3], [0, 0, 0]]), lambda a, b: a * b, 1, 1)
    array([6, 1])
    """
    k = axis_of(a, axis)
    matrix = _matrix(a)._summed()
    dtype = dtypes.supported(np.result_type(a.dtype, zero))
    if k is None:
        matrix, k = line(_flat(matrix)).tocsr(), 1
        return _along(_compiled(function), matrix, k, np.full(1, zero, dtype))[0]
    return _along(_compiled(function), matrix, k, np.full(a._shape[1 - k], zero, dtype))


def _flat(a: Any) -> Any:
    return of_coords(a.data, (np.arange(a.data.size),), (a.data.size,))


def _entries(a: Any) -> Any:
    """An array as a matrix whose entries are in order, each of a place of its own."""
    return _matrix(a)._summed()


def extreme(a: Any, axis: Any = None, out: Any = None, explicit: bool = False, greatest: bool = True) -> Any:
    """The greatest or the least element, or those along an axis as a sparse array; NaN where there is one.

    Zeros that are not stored count, unless `explicit`.

    Raises:
        ValueError: there is no element, or `out` is given.
    """
    if out is not None:
        raise ValueError("Sparse arrays do not support an 'out' parameter.")
    k = axis_of(a, axis)
    function, of_all = (loops.greater, np.max) if greatest else (loops.less, np.min)
    if size_of(a) == 0 if k is None else a._shape[k] == 0:
        raise ValueError("zero-size array to reduction operation")
    matrix = _entries(a)
    if k is None:
        if matrix.data.size == 0:
            return a.dtype.type(0)
        found = of_all(matrix.data)
        if explicit or matrix.data.size == size_of(a):
            return found
        return (np.maximum if greatest else np.minimum)(found, a.dtype.type(0))
    n = a._shape[1 - k]
    values, _ = _extremes(matrix, k, greatest)
    if explicit:
        values = _stored(function, matrix, k, n)
    places = values.nonzero()[0]
    kind = dtypes.index_dtype(largest=n)
    return of_coords(values[places], (places.astype(kind),), (n,))


def _stored(function: Any, matrix: Any, k: int, n: int) -> Array:
    """Extremes of stored elements only; zero where there is none."""
    count = count_along(matrix, k)
    bound = -np.inf if function is loops.greater else np.inf
    if matrix.dtype.kind in "biu":
        info = (0, 1) if matrix.dtype.kind == "b" else (np.iinfo(matrix.dtype).min, np.iinfo(matrix.dtype).max)
        bound = info[0] if function is loops.greater else info[1]
    found = _along(function, matrix, k, np.full(n, bound, matrix.dtype))
    return np.where(count > 0, found, matrix.dtype.type(0))


def _extremes(matrix: Any, k: int, greatest: bool) -> tuple[Array, Array]:
    by_rows = matrix if (k == 1) == (matrix.format == "csr") else matrix.asformat("csr" if k == 1 else "csc")
    given = rows_of(by_rows)
    out, places = np.empty(given.rows, matrix.dtype), np.empty(given.rows, np.int64)
    better = loops.gt if greatest else loops.lt
    loops.extremes(given.data.size)(better, *given, out, places)
    return out, places


def nan_extreme(a: Any, axis: Any = None, out: Any = None, explicit: bool = False, greatest: bool = True) -> Any:
    """As `extreme`, without regard to NaN."""
    if a.dtype.kind not in "fc":
        return extreme(a, axis, out, explicit, greatest)
    clean = _entries(a)
    isnan = np.isnan(clean.data)
    bound = -np.inf if greatest else np.inf
    found = extreme(clean._with_data(np.where(isnan, bound, clean.data).astype(a.dtype)), axis, out, explicit, greatest)
    if not isinstance(found, np.generic):
        found.data[np.isinf(found.data) & (found.data == bound)] = np.nan
        return found
    return a.dtype.type(np.nan) if found == bound else found


def place_of_extreme(a: Any, axis: Any = None, out: Any = None, explicit: bool = False, greatest: bool = True) -> Any:
    """The first place of the greatest or the least element, or those along an axis."""
    if out is not None:
        raise ValueError("Sparse types do not support an 'out' parameter.")
    k = axis_of(a, axis)
    if size_of(a) == 0 if k is None else a._shape[k] == 0:
        where = "to an empty matrix" if k is None else f"along a zero-sized dimension. axis={axis}, shape={a._shape}"
        raise ValueError(f"Cannot apply the operation {where}")
    matrix = _entries(a)
    if explicit:
        raise NotImplementedError("places of stored elements only")
    if k is not None:
        return _extremes(matrix, k, greatest)[1]
    values, columns = _extremes(matrix, 1, greatest)
    row = int((np.argmax if greatest else np.argmin)(values))
    return row * matrix._shape[1] + int(columns[row])


def count_along(a: Any, axis: int) -> Array:
    """How many entries rows or columns have."""
    matrix = _matrix(a)
    given = rows_of(matrix)
    if (axis == 1) == (matrix.format == "csr"):
        return np.diff(given.indptr).astype(np.int64)
    out = np.zeros(given.columns, np.int64)
    loops.counts_of_columns(given.indices, out)
    return out


def count_nonzero(a: Any, axis: Any = None) -> Any:
    """How many elements are not zero, in all or along an axis."""
    k = axis_of(a, axis)
    matrix = _entries(a)
    if k is None:
        return int(np.count_nonzero(matrix.data))
    kept = matrix._with_data(matrix.data != 0)
    return sum_of(kept, k)
