"""Conversions between formats, from and to dense arrays and SciPy's classes."""

from __future__ import annotations

import importlib
import mmap
from typing import Any

import numpy as np

from lancehead.sparse import dtypes, loops
from lancehead.sparse.formats import (
    CLASSES,
    OTHERS,
    Array,
    Rows,
    compressed,
    extents,
    is_foreign,
    of_coords,
    rows_of,
    shape_of,
)
from lancehead.threads import get_num_threads

#: Bytes from which on NumPy asks for large pages.
_LARGE = 1 << 22


def transposed(a: Rows) -> Rows:
    """A matrix in compressed rows as one in compressed columns."""
    size = a.indices.shape[0]
    # Counts of a part are as many as there are columns: parts are worth it where entries are more.
    parts = max(1, min(get_num_threads(), size // max(loops.SHARED, 2 * a.columns)))
    indptr = np.empty(a.columns + 1, a.indptr.dtype)
    indices, data = np.empty(size, a.indices.dtype), np.empty(size, a.data.dtype)
    moved, into = dtypes.carried(a.data), dtypes.carried(data)
    loops.transposed(size)(a.indptr, a.indices, moved, a.rows, a.columns, parts, indptr, indices, into)
    return Rows(indptr, indices, data, a.columns, a.rows)


def line(a: Any) -> Any:
    """An array of one dimension as a matrix of one row, with the same entries."""
    if a.format == "coo":
        zeros = np.zeros_like(a.coords[0])
        return of_coords(a.data, (zeros, a.coords[0]), (1, *a._shape))
    return compressed("csr", a.indptr, a.indices, a.data, (1, *a._shape))


def of_line(a: Any) -> Any:
    """A matrix of one row as an array of one dimension in the format `coo` or `csr`."""
    if a.format == "coo":
        return of_coords(a.data, (a.coords[1],), a._shape[1:])
    return compressed("csr", a.indptr, a.indices, a.data, a._shape[1:])


def needs_matrix(a: Any, format: str) -> None:
    """Refuses an array of one dimension, of which there is no other format."""
    if len(a._shape) != 2:
        raise ValueError(f"Cannot convert. {format.upper()} format must be 2D. Got {len(a._shape)}D")


def to_csr(a: Any, copy: bool = False) -> Any:
    """An array in compressed rows."""
    if a.format == "csr":
        return a.copy() if copy else a
    if a.format == "coo":
        matrix = a if len(a._shape) == 2 else line(a)
        made = _compressed(matrix.coords, matrix.data, matrix._shape, "csr")
        return made if len(a._shape) == 2 else of_line(made)
    if a.format == "bsr":
        return _from_blocks(a)
    swapped = transposed(rows_of(a, False))
    return compressed("csr", swapped.indptr, swapped.indices, swapped.data, a._shape)


def to_csc(a: Any, copy: bool = False) -> Any:
    """A matrix in compressed columns."""
    needs_matrix(a, "csc")
    if a.format == "csc":
        return a.copy() if copy else a
    if a.format == "coo":
        return _compressed(a.coords[::-1], a.data, a._shape, "csc")
    by_rows = transposed(rows_of(to_csr(a), False))
    return compressed("csc", by_rows.indptr, by_rows.indices, by_rows.data, a._shape)


def _compressed(coords: tuple[Array, ...], data: Array, shape: tuple[int, ...], format: str) -> Any:
    major, minor = coords
    made = compressed(format, np.zeros(0, major.dtype), minor, data, shape)
    rows, _ = extents(made)
    dtype = dtypes.index_dtype(coords if data.size else (), max(data.shape[0], *shape))
    made.indptr, made.indices = np.empty(rows + 1, dtype), np.empty(data.shape[0], dtype)
    made.data = np.empty(data.shape[0], data.dtype)
    into, columns = dtypes.carried(made.data), shape[1] if format == "csr" else shape[0]
    # As in a transposition, parts have counts of their own.
    parts = max(1, min(get_num_threads(), data.size // max(loops.SHARED, 2 * rows)))
    moved = rows, columns, parts, made.indptr, made.indices, into
    fits = major.shape == minor.shape == data.shape
    level = fits and loops.compressed(data.size)(major, minor, dtypes.carried(data), *moved)
    if not level:
        CLASSES["coo"]._check(coords, data, shape if format == "csr" else shape[::-1])
    if level == loops.CANONICAL:
        made._sorted = made._canonical = True
    else:
        tidy(made, rows)
    return made


def tidy(a: Any, rows: int) -> None:
    """Brings entries in order and adds up those of one place, of arrays in rows or columns that are sound."""
    if not loops.is_canonical(a.indices.size)(a.indptr, a.indices, rows):
        size = a.indices.size
        loops.sort_rows(size)(a.indptr, a.indices, dtypes.carried(a.data), rows)
        left = loops.join_equal(a.indptr, a.indices, a.data, rows)
        if left < size:
            a.indices, a.data = a.indices[:left], a.data[:left]
    a._sorted = a._canonical = True


def to_coo(a: Any, copy: bool = False) -> Any:
    """An array of entries with their places; explicit zeros are among them."""
    if a.format == "coo":
        return a.copy() if copy else a
    if a.format == "bsr":
        a = _from_blocks(a)
    given = rows_of(a)
    indices, data = (given.indices.copy(), given.data.copy()) if copy else (given.indices, given.data)
    if len(a._shape) == 1:
        return of_coords(data, (indices,), a._shape)
    major = np.empty(data.shape[0], indices.dtype)
    loops.rows_of_entries(given.indptr, given.rows, major)
    return of_coords(data, (major, indices) if a.format == "csr" else (indices, major), a._shape)


def to_bsr(a: Any, blocksize: Any = None, copy: bool = False) -> Any:
    """A matrix of blocks in compressed rows.

    Raises:
        ValueError: blocks of this size do not fill the matrix.
    """
    needs_matrix(a, "bsr")
    if a.format == "bsr" and (blocksize is None or tuple(blocksize) == a.blocksize):
        return a.copy() if copy else a
    by_rows = to_csr(a)
    high, wide = _block_size(by_rows) if blocksize is None else map(int, blocksize)
    rows, columns = a._shape
    if high < 1 or wide < 1 or rows % high or columns % wide:
        raise ValueError(f"invalid blocksize {(high, wide)}")
    given = rows_of(by_rows)
    count = loops.count_blocks(given.indptr, given.indices, rows, high, wide, columns)
    indptr = np.empty(rows // high + 1, given.indptr.dtype)
    indices, data = np.empty(count, given.indices.dtype), np.zeros((count, high, wide), given.data.dtype)
    loops.into_blocks(*given[:3], rows, high, wide, columns, indptr, indices, data.reshape(-1))
    return compressed("bsr", indptr, indices, data, a._shape)


def _block_size(a: Any) -> tuple[int, int]:
    """The largest of a few sizes of blocks that are at least 70 % full; without any, single numbers."""
    given = rows_of(a)
    for high, wide in ((6, 6), (4, 4), (3, 3), (2, 2)):
        if given.rows % high == 0 and given.columns % wide == 0 and given.indices.shape[0]:
            count = loops.count_blocks(given.indptr, given.indices, given.rows, high, wide, given.columns)
            if given.indices.shape[0] > 0.7 * count * high * wide:
                return high, wide
    return 1, 1


def _from_blocks(a: Any) -> Any:
    given, (high, wide) = rows_of(a), a.blocksize
    size = given.data.size
    dtype = dtypes.index_dtype((given.indptr,), max(size, *a._shape))
    indptr, indices, data = np.empty(a._shape[0] + 1, dtype), np.empty(size, dtype), np.empty(size, given.data.dtype)
    flat = np.ascontiguousarray(given.data).reshape(-1)
    moved = dtypes.carried(flat), given.rows, high, wide
    loops.from_blocks(given.indptr, given.indices, *moved, indptr, indices, dtypes.carried(data))
    return compressed("csr", indptr, indices, data, a._shape)


def to_dense(a: Any, order: Any = None, out: Any = None) -> Any:
    """The array with all its zeros; entries of one place are added.

    Raises:
        ValueError: `out` has another shape or type, or an order beside it.
    """
    if out is not None:
        if order is not None:
            raise ValueError("order cannot be specified if out is not None")
        if out.shape != a._shape or out.dtype != a.dtype:
            raise ValueError("out array must be same dtype and shape as sparse array")
        out[...] = 0
    made = _zeros(a, order or "C") if out is None else np.asarray(out)
    filled = made if made.flags.c_contiguous or made.flags.f_contiguous else np.zeros(a._shape, a.dtype)
    matrix = a if len(a._shape) == 2 else line(a)
    steps = [s // filled.itemsize for s in filled.strides][-2:]
    row_step, column_step = steps if len(steps) == 2 else (0, steps[0])
    flat = filled.reshape(-1, order="A")
    if matrix.format == "coo":
        matrix._check(matrix.coords, matrix.data, matrix._shape)
        loops.places_into_dense(*matrix.coords, matrix.data, flat, row_step, column_step)
    else:
        # The loop looks at the indices; if some are wrong, another look says why.
        by_rows = to_csr(matrix) if matrix.format == "bsr" else matrix
        given = rows_of(by_rows, False)
        places = (column_step, row_step) if matrix.format == "csc" else (row_step, column_step)
        if loops.into_dense(given.data.shape[0])(*given, flat, *places):
            rows_of(by_rows)
    if filled is not made:
        made[...] = filled
    return made if out is None else out


def _zeros(a: Any, order: Any) -> Array:
    # Large arrays of NumPy are in pages of 2 MiB, each of which is cleared when its first entry is written. If most
    # ordinary pages have no entry, memory of such pages is what the entries need.
    size = size_of(a) * a.dtype.itemsize
    if size < _LARGE or 2 * entries_of(a) * mmap.PAGESIZE > size or order not in ("C", "F"):
        return np.zeros(a._shape, a.dtype, order=order)
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, a.dtype).reshape(a._shape, order=order)


def from_dense(x: Array, format: str) -> Any:
    """The elements of a matrix or a line that are not zero, in compressed rows or columns."""
    matrix = x if x.ndim == 2 else x.reshape(1, -1)
    swap = format == "csc"
    if not (matrix.flags.c_contiguous or matrix.flags.f_contiguous):
        matrix = np.ascontiguousarray(matrix)
    turned = matrix.T if swap else matrix
    (rows, columns), steps = turned.shape, [s // x.itemsize for s in turned.strides]
    flat = matrix.reshape(-1, order="A")
    dtype = dtypes.index_dtype(largest=max(x.size, *turned.shape))
    indptr = np.empty(rows + 1, dtype)
    size = loops.count_nonzero(x.size)(flat, rows, columns, *steps, indptr)
    indices, data = np.empty(size, dtype), np.empty(size, x.dtype)
    loops.from_dense(x.size)(flat, rows, columns, *steps, indptr, indices, data)
    return compressed(format, indptr, indices, data, x.shape)


def from_scipy(x: Any, copy: bool = False) -> Any:
    """Ours of a sparse array or matrix of SciPy: it shares the arrays of the formats that we have."""
    if x.format not in CLASSES:
        return OTHERS[x.format](x.tocsr() if x.ndim == 2 else x.tocoo())
    data = dtypes.values(x.data, copy=copy)
    if x.format == "coo":
        places = tuple(dtypes.indices(c, dtypes.index_dtype(x.coords), copy) for c in x.coords)
        return CLASSES["coo"]((data, places), shape=x.shape)
    kind = dtypes.index_dtype((x.indices, x.indptr))
    indices, indptr = dtypes.indices(x.indices, kind, copy), dtypes.indices(x.indptr, kind, copy)
    return CLASSES[x.format]((data, indices, indptr), shape=x.shape)


def to_scipy(a: Any) -> Any:
    """SciPy's sparse array of the same format, which shares the arrays.

    Raises:
        ModuleNotFoundError: SciPy is not installed.
    """
    found = getattr(importlib.import_module("scipy.sparse"), f"{a.format}_array")
    if a.format == "coo":
        return found((a.data, a.coords), shape=a._shape)
    return found((a.data, a.indices, a.indptr), shape=a._shape)


def sparse(x: Any, format: str | None = None) -> Any:
    """An operand as one of our arrays: ours as it is, SciPy's, and dense ones in compressed rows."""
    kind: Any = type(x)
    if issubclass(kind, tuple(OTHERS.values())):
        x = x.tocsr()
    elif is_foreign(x):
        x = from_scipy(x if x.format in CLASSES else x.tocsr() if x.ndim == 2 else x.tocoo())
    elif issubclass(kind, tuple(CLASSES.values())):
        x = x._plain
    else:
        x = CLASSES[format or "csr"](x)
    return x if format is None else x.asformat(format)


def as_format(a: Any, format: str | None, copy: bool = False) -> Any:
    """An array in a format."""
    if format is None or format == a.format:
        return a.copy() if copy else a
    if format in OTHERS:
        return OTHERS[format](a)
    if format in ("array", "dense"):
        return a.toarray()
    if format not in CLASSES:
        raise ValueError(f"Format {format} is unknown.")
    return {"csr": to_csr, "csc": to_csc, "coo": to_coo}[format](a, copy) if format != "bsr" else to_bsr(a)


def size_of(a: Any) -> int:
    """The number of elements of an array."""
    return int(np.prod([int(n) for n in a._shape], dtype=object))


def entries_of(a: Any) -> int:
    """The number of entries of an array."""
    if a.format == "coo":
        return int(a.data.shape[0])
    size = int(a.indptr[-1])
    return size * a.data.shape[1] * a.data.shape[2] if a.format == "bsr" else size


def copied(a: Any) -> Any:
    """A copy of an array."""
    if a.format == "coo":
        made = of_coords(a.data.copy(), tuple(c.copy() for c in a.coords), a._shape)
    else:
        made = compressed(a.format, a.indptr.copy(), a.indices.copy(), a.data.copy(), a._shape)
    made._sorted, made._canonical = a._sorted, a._canonical
    return made


def cast(a: Any, dtype: Any, casting: Any, copy: bool) -> Any:
    """An array with values of a type."""
    wanted = dtypes.supported(dtype)
    if wanted == a.data.dtype:
        return a.copy() if copy else a
    made = copied(a)
    made.data = a.data.astype(wanted, casting=casting)
    return made


def transpose(a: Any, axes: Any = None, copy: bool = False) -> Any:
    """The transpose of an array; of formats other than `bsr` it shares the arrays.

    Raises:
        ValueError: axes do not swap.
    """
    if axes is not None and (np.ndim(axes) != 1 or tuple(axes) != (1, 0)):
        raise ValueError(
            "Sparse arrays/matrices do not support an 'axes' parameter because swapping dimensions is the only "
            "logical permutation."
        )
    if len(a._shape) == 1:
        return a.copy() if copy else a
    shape = a._shape[::-1]
    if a.format == "coo":
        made = of_coords(a.data, a.coords[::-1], shape)
    elif a.format == "bsr":
        given = rows_of(a)
        places = Rows(*given[:2], np.arange(given.indices.size), *given[3:])
        turned = transposed(places)
        data = np.ascontiguousarray(given.data[turned.data].transpose(0, 2, 1))
        return compressed("bsr", turned.indptr, turned.indices, data, shape)
    else:
        made = compressed("csc" if a.format == "csr" else "csr", a.indptr, a.indices, a.data, shape)
        made._sorted, made._canonical = a._sorted, a._canonical
    return made.copy() if copy else made


def reshaped(a: Any, shape: tuple[Any, ...], order: Any, copy: bool = False) -> Any:
    """The elements of an array in another shape.

    Raises:
        ValueError: it has another number of elements.
    """
    given = shape[0] if len(shape) == 1 and not isinstance(shape[0], int | np.integer) else shape
    wanted = [int(n) for n in given]
    total = size_of(a)
    if wanted.count(-1) == 1:
        rest = int(np.prod([n for n in wanted if n != -1], dtype=object))
        wanted = [total // rest if n == -1 and rest else n for n in wanted]
    if len(wanted) not in (1, 2) or int(np.prod(wanted, dtype=object)) != total or min(wanted) < 0:
        raise ValueError(f"cannot reshape array of size {total} into shape {tuple(wanted)}")
    if tuple(wanted) == a._shape:
        return a.copy() if copy else a
    coo = to_coo(a)
    flat = np.ravel_multi_index(coo.coords, a._shape, order=order) if total else coo.coords[0]
    kind = dtypes.index_dtype(coo.coords, max(wanted))
    places = np.unravel_index(flat, wanted, order=order) if total else tuple(flat for _ in wanted)
    return of_coords(coo.data.copy(), tuple(p.astype(kind) for p in places), tuple(wanted))


def is_sorted(a: Any) -> bool:
    """Whether entries are in the order of their indices."""
    if a.format == "coo":
        return is_canonical(a)
    given = rows_of(a, False)
    return bool(loops.is_sorted(given.indices.size)(given.indptr, given.indices, given.rows))


def is_canonical(a: Any) -> bool:
    """Whether entries are in order, and no two have one place."""
    if a.format == "coo":
        # Only a sum of duplicates says so.
        return False
    given = rows_of(a, False)
    return bool(loops.is_canonical(given.indices.size)(given.indptr, given.indices, given.rows))


def has_order(a: Any) -> bool:
    """Whether entries are in the order of their indices, which is found out once."""
    if a._sorted is None:
        a._sorted = is_sorted(a)
    return bool(a._sorted)


def has_canonical_order(a: Any) -> bool:
    """Whether entries are in order, and no two have one place, which is found out once."""
    if a._canonical is None:
        a._canonical = has_order(a) and is_canonical(a)
    return bool(a._canonical)


def sort(a: Any) -> None:
    """Brings the entries of each row, or column, in the order of their indices."""
    if a.format == "coo":
        return sum_duplicates(a)
    if not is_sorted(a):
        given = rows_of(a, False)
        if a.format == "bsr":
            order = np.arange(given.indices.size)
            loops.sort_rows(order.size)(given.indptr, given.indices, order, given.rows)
            a.data[: order.size] = given.data[order]
        else:
            loops.sort_rows(given.data.size)(given.indptr, given.indices, dtypes.carried(given.data), given.rows)
    a._sorted = True
    return None


def sum_duplicates(a: Any) -> None:
    """Adds up entries of one place; they are in order then."""
    if a.format == "coo":
        if not a._canonical:
            made = to_coo(to_csr(a))
            a.data, a.coords, a._canonical = made.data, made.coords, True
        return
    if a.format == "bsr":
        made = to_bsr(_from_blocks(a), a.blocksize)
        sort(made)
        a.data, a.indices, a.indptr = made.data, made.indices, made.indptr
    else:
        given = rows_of(a, False)
        a.indices, a.data = given.indices, given.data
        tidy(a, given.rows)
    a._sorted = a._canonical = True


def eliminate_zeros(a: Any) -> None:
    """Removes entries that are zero."""
    if a.format == "coo":
        kept = a.data != 0
        a.data, a.coords = a.data[kept], tuple(c[kept] for c in a.coords)
        return
    given = rows_of(a)
    if a.format == "bsr":
        extent, flat = a.blocksize[0] * a.blocksize[1], np.ascontiguousarray(given.data).reshape(-1)
        size = loops.drop_zero_blocks(a.indptr, given.indices, flat, given.rows, extent)
        a.data, a.indices = flat.reshape(given.data.shape)[:size], given.indices[:size]
        return
    size = loops.drop_zeros(a.indptr, given.indices, given.data, given.rows)
    a.indices, a.data = given.indices[:size], given.data[:size]


def resize(a: Any, shape: tuple[Any, ...]) -> None:
    """Gives an array another shape; entries beyond it are dropped."""
    given = shape[0] if len(shape) == 1 and not isinstance(shape[0], int | np.integer) else shape
    wanted = shape_of(tuple(given), (len(a._shape),))
    coo = to_coo(a)
    kept = np.logical_and.reduce([c < n for c, n in zip(coo.coords, wanted, strict=True)])
    made = of_coords(coo.data[kept], tuple(c[kept] for c in coo.coords), wanted).asformat(a.format)
    a.__dict__.update(made.__dict__)
