"""Elements, rows, columns and parts of sparse arrays, and assignments to them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from lancehead.sparse import dtypes, loops
from lancehead.sparse.conversions import (
    copied,
    has_canonical_order,
    has_order,
    line,
    of_line,
    sparse,
    sum_duplicates,
    to_csr,
)
from lancehead.sparse.formats import Array, Rows, check, compressed, extents, is_sparse, rows_of

_ALL = slice(None)


def get(a: Any, key: Any) -> Any:
    """`a[key]`: a number, an array of one dimension, a part in the same format, or the elements at some places.

    Raises:
        IndexError: a place is not there, or there are more of them than dimensions.
        NotImplementedError: the format is `bsr`, of which there are no parts.
    """
    if a.format == "bsr":
        raise NotImplementedError("parts of arrays in the format bsr; convert it with tocsr() first")
    keys = _keys(a, key)
    if len(a._shape) == 1:
        found = get(line(a), (0, keys[0]))
        return found.asformat(a.format) if is_sparse(found) else found
    row, column = keys
    if isinstance(row, int) and isinstance(column, int):
        return _element(a, row, column)
    if isinstance(row, int):
        return of_line(get(a, (slice(row, row + 1), column)).tocoo())
    if isinstance(column, int):
        if isinstance(row, slice):
            return of_line(get(a, (row, slice(column, column + 1))).tocoo().T)
        if row.ndim == 1:
            return of_line(get(a, (row, slice(column, column + 1))).tocoo().T)
        column = np.asarray(column)
    if isinstance(row, np.ndarray) and isinstance(column, np.ndarray):
        return _at_places(a, row, column)
    for k in (row, column):
        if isinstance(k, np.ndarray) and k.ndim != 1:
            raise IndexError("Indexing that leads to >2D is not supported. Try converting to COO format")
    return _part(a, row, column)


def _keys(a: Any, key: Any) -> tuple[Any, ...]:
    """An integer, a slice or an array of integers for each axis; integers are in range and not negative."""
    if is_sparse(key):
        key = sparse(key).tocoo()
        if key.dtype != np.bool_:
            raise IndexError("a sparse index is an array of truth values")
        if key._shape != a._shape:
            raise IndexError(f"bool index shape {key._shape} does not match array shape {a._shape}")
        places: tuple[Array, ...] = key.nonzero()
        return places
    given = key if isinstance(key, tuple) else (key,)
    if any(k is None for k in given):
        raise IndexError("Indexing that leads to >2D is not supported. Try converting to COO format")
    if any(k is Ellipsis for k in given):
        at = next(i for i, k in enumerate(given) if k is Ellipsis)
        rest = len(a._shape) - (len(given) - 1)
        given = (*given[:at], *[_ALL] * max(rest, 0), *given[at + 1 :])
    if len(given) == 1 and len(a._shape) == 2:
        mask = np.asarray(given[0]) if not isinstance(given[0], slice | int) else None
        if mask is not None and mask.dtype == np.bool_ and mask.ndim == 2:
            if mask.shape != a._shape:
                raise IndexError(f"bool index shape {mask.shape} does not match array shape {a._shape}")
            return mask.nonzero()
    if len(given) > len(a._shape):
        raise IndexError(
            f"Too many indices for array or tuple index out of range. Key {key} needs {len(given)}D. "
            f"Array is {len(a._shape)}D"
        )
    given = (*given, *[_ALL] * (len(a._shape) - len(given)))
    return tuple(_key(k, n, axis) for axis, (k, n) in enumerate(zip(given, a._shape, strict=True)))


def _key(k: Any, n: int, axis: int) -> Any:
    if isinstance(k, slice):
        return k
    try:
        i = operator.index(k)
    except TypeError:
        return _places(np.asarray(k), n, axis)
    if isinstance(k, bool | np.bool_):
        raise IndexError("a truth value is no index of a sparse array")
    if not -n <= i < n:
        raise IndexError(f"index ({i}) out of range")
    return i % n


def _places(k: Array, n: int, axis: int) -> Array:
    if k.dtype == np.bool_:
        if k.shape != (n,):
            raise IndexError(f"bool index {axis} has shape ({n},) instead of {k.shape}")
        return k.nonzero()[0]
    if k.dtype.kind not in "iu" and k.size or k.ndim > 2 or k.ndim == 0:
        raise IndexError("Index dimension must be 1 or 2. Got 0" if k.ndim == 0 else "an index is of integers")
    k = k.astype(np.int64)
    if k.size:
        for extreme in (k.max(), k.min()):
            if not -n <= extreme < n:
                raise IndexError(f"index ({extreme}) out of range")
    return np.where(k < 0, k + n, k)


def _element(a: Any, row: int, column: int) -> Any:
    out = np.zeros(1, a.dtype)
    if a.format == "coo":
        here = (a.coords[0] == row) & (a.coords[1] == column)
        return a.data[here].sum(dtype=a.dtype) if here.any() else out[0]
    i, j = (column, row) if a.format == "csc" else (row, column)
    if not loops.element(a.indptr, a.indices, a.data, has_order(a), i, j, out):
        # Another look at the arrays says what is wrong.
        rows_of(a)
    return out[0]


def _at_places(a: Any, row: Array, column: Array) -> Any:
    try:
        row, column = np.broadcast_arrays(row, column)
    except ValueError:
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {row.shape} {column.shape}"
        ) from None
    csr = a if a.format == "csc" else to_csr(a)
    given = rows_of(csr)
    i, j = (column, row) if csr.format == "csc" else (row, column)
    out = np.zeros(row.size, a.dtype)
    found = np.ascontiguousarray(i).reshape(-1), np.ascontiguousarray(j).reshape(-1)
    loops.elements(row.size * 8)(*given[:3], csr.has_sorted_indices, *found, out)
    if row.ndim == 1:
        return type(a)(out) if a.format == "coo" else out
    return type(csr if a.format == "coo" else a)(out.reshape(row.shape))


def _part(a: Any, row: Any, column: Any) -> Any:
    """Some rows and some columns, which slices or lines of integers say."""
    if a.format == "coo":
        return _part(to_csr(a), row, column).tocoo()
    major, minor = (column, row) if a.format == "csc" else (row, column)
    # Only a choice of columns takes indices for places.
    given = _some_rows(a, major, isinstance(minor, np.ndarray))
    if not (isinstance(minor, slice) and minor == _ALL):
        given = _some_columns(given, minor)
    elif isinstance(major, slice) and major == _ALL:
        return a.copy()
    shape = (given.columns, given.rows) if a.format == "csc" else (given.rows, given.columns)
    return compressed(a.format, given.indptr, given.indices, given.data, shape)


def _some_rows(matrix: Any, which: Any, indices_too: bool) -> Rows:
    if isinstance(which, slice):
        start, stop, step = which.indices(extents(matrix)[0])
        if step == 1 and which != _ALL:
            return _cut(matrix, start, max(start, stop), indices_too)
        if step == 1:
            return rows_of(matrix, indices_too)
        which = np.arange(start, stop, step)
    a = rows_of(matrix, indices_too)
    indptr = np.empty(which.size + 1, np.int64)
    size = loops.size_of_rows(a.indptr, which, indptr)
    indptr = indptr.astype(dtypes.index_dtype((a.indices,), size), copy=False)
    indices, data = np.empty(size, a.indices.dtype), np.empty(size, a.data.dtype)
    moved = dtypes.carried(a.data), which, indptr, indices, dtypes.carried(data)
    loops.take_rows(size)(a.indptr, a.indices, *moved)
    return Rows(indptr, indices, data, which.size, a.columns)


def _cut(a: Any, start: int, stop: int, indices_too: bool) -> Rows:
    """Rows that follow each other; the others are not looked at."""
    if not loops.are_rows(a.indptr, a.indices, a.data, start, stop):
        # Another look at the arrays says what is wrong.
        rows_of(a)
    first, last = int(a.indptr[start]), int(a.indptr[stop])
    indptr, columns = a.indptr[start : stop + 1] - a.indptr[start], extents(a)[1]
    indices, data = a.indices[first:last].copy(), a.data[first:last].copy()
    check(indptr, indices, data, stop - start, columns, indices_too)
    return Rows(indptr, indices, data, stop - start, columns)


def _some_columns(a: Rows, which: Any) -> Rows:
    indptr = np.empty(a.rows + 1, np.int64)
    if isinstance(which, slice) and which.indices(1)[2] == 1:
        first, last, _ = which.indices(a.columns)
        size = loops.size_of_range(a.indptr, a.indices, a.rows, first, last, indptr)
        columns, take = max(last - first, 0), loops.take_range
        choice: tuple[Any, Any] = (first, last)
    else:
        places = np.arange(*which.indices(a.columns)) if isinstance(which, slice) else which
        # Where each column is chosen, column by column.
        starts = np.concatenate([[0], np.cumsum(np.bincount(places, minlength=a.columns))])
        order = np.argsort(places, kind="stable")
        size = loops.size_of_columns(a.indptr, a.indices, a.rows, starts, indptr)
        columns, choice, take = places.size, (starts, order), loops.take_columns
    kind = dtypes.index_dtype((a.indices,), max(size, columns))
    indices, data = np.empty(size, kind), np.empty(size, a.data.dtype)
    take(a.indptr, a.indices, dtypes.carried(a.data), a.rows, *choice, indices, dtypes.carried(data))
    return Rows(indptr.astype(kind, copy=False), indices, data, a.rows, columns)


def put(a: Any, key: Any, value: Any) -> None:
    """`a[key] = value`: entries at the places are replaced or added.

    Raises:
        IndexError: a place is not there.
        ValueError: the shapes do not fit.
        TypeError: the format has no assignments.
    """
    if a.format == "bsr":
        raise TypeError(f"'{type(a).__name__}' object does not support item assignment")
    if a.format == "coo":
        made = to_csr(a).copy()
        put(made, key, value)
        made = made.tocoo()
        a.data, a.coords, a._canonical = made.data, made.coords, True
        return
    if len(a._shape) == 1:
        row = line(a)
        put(row, (0, _keys(a, key)[0]), value)
        a.data, a.indices, a.indptr = row.data, row.indices, row.indptr
        a._sorted = a._canonical = True
        return
    row, column = (
        np.array([k]) if isinstance(k, int) else np.arange(*k.indices(n)) if isinstance(k, slice) else k
        for k, n in zip(_keys(a, key), a._shape, strict=True)
    )
    is_part = any(isinstance(k, slice) for k in _raw(a, key))
    if is_part and row.ndim == column.ndim == 1:
        row, column = row[:, None], column[None, :]
    try:
        row, column = np.broadcast_arrays(row, column)
    except ValueError:
        raise IndexError("number of row and column indices differ") from None
    x = value.toarray() if is_sparse(value) else np.asarray(value, dtype=a.dtype)
    if x.ndim == 1 and is_part and isinstance(_raw(a, key)[1], int | np.integer):
        x = x[:, None]
    x = np.broadcast_to(x.reshape(row.shape) if x.ndim > row.ndim and x.size == row.size else x, row.shape)
    _store(a, row.reshape(-1).astype(np.int64), column.reshape(-1).astype(np.int64), x.reshape(-1))


def _raw(a: Any, key: Any) -> tuple[Any, ...]:
    if is_sparse(key) or (not isinstance(key, tuple) and np.ndim(key) == 2):
        return (np.zeros(0), np.zeros(0))
    return key if isinstance(key, tuple) and len(key) == 2 else (key, _ALL)


def _store(a: Any, row: Array, column: Array, x: Array) -> None:
    major, minor = (row, column) if a.format == "csr" else (column, row)
    x = x.astype(a.dtype)
    wanted = major * extents(a)[1] + minor
    if not (wanted[1:] > wanted[:-1]).all():
        # The last of several values for one place is the one that stays.
        _, last = np.unique(wanted[::-1], return_index=True)
        last = wanted.size - 1 - last
        major, minor, x = major[last], minor[last], x[last]
    given, places = rows_of(a), np.empty(major.size, np.int64)
    if not has_canonical_order(a):
        if loops.places_of(given.indptr, given.indices, major, minor, places):
            a.data = _assigned(given.data, places, x)
            return
        made = copied(a)
        sum_duplicates(made)
        given = rows_of(made)
    loops.lower_bounds(given.indptr, given.indices, major, minor, places)
    absent = places < 0
    a._sorted = a._canonical = True
    if not absent.any():
        a.data, a.indices, a.indptr = _assigned(given.data, places, x), given.indices, given.indptr
        return
    new = ~places[absent]
    kind = dtypes.index_dtype((given.indices,), given.indices.size + new.size)
    counts = np.cumsum(np.bincount(major[absent], minlength=given.rows))
    a.indptr = (given.indptr + np.concatenate([[0], counts])).astype(kind)
    a.indices = np.insert(given.indices.astype(kind, copy=False), new, minor[absent])
    a.data = np.insert(given.data, new, x[absent])
    # An entry that was there has those new ones before it that are inserted up to its place.
    there = places[~absent]
    a.data[there + np.searchsorted(new, there, side="right")] = x[~absent]


def _assigned(data: Array, places: Array, x: Array) -> Array:
    # As SciPy does, values of entries that are there are written where they are.
    if not data.flags.writeable:
        data = data.copy()
    data[places] = x
    return data


def diagonal(a: Any, k: int = 0) -> Array:
    """The elements of a diagonal, as `numpy.diagonal` gives them; without elements if there is none."""
    rows, columns = a._shape
    size = max(min(rows + min(k, 0), columns - max(k, 0)), 0)
    out = np.zeros(size, a.dtype)
    if size:
        csr = a if a.format == "csc" else to_csr(a)
        loops.diagonal(*rows_of(csr)[:4], -k if csr.format == "csc" else k, out)
    return out


def set_diagonal(a: Any, values: Any, k: int = 0) -> None:
    """Assigns to the elements of a diagonal: a number, or as many values as there are."""
    rows, columns = a._shape
    if k <= -rows or k >= columns:
        raise ValueError("k exceeds array dimensions")
    x = np.asarray(values)
    size = min(rows + min(k, 0), columns - max(k, 0))
    if x.ndim:
        size = min(size, x.size)
        x = x[:size]
    places = np.arange(size)
    made = a.tocsr() if a.format in ("coo", "bsr") else a
    _store(made, places - min(k, 0), places + max(k, 0), np.broadcast_to(x, (size,)).astype(a.dtype))
    if made is not a:
        found = made.tobsr(a.blocksize) if a.format == "bsr" else made.tocoo()
        a.__dict__.update(found.__dict__)
