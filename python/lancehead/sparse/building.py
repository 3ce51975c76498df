"""Sparse arrays of diagonals, of blocks and of random entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lancehead.sparse import dtypes
from lancehead.sparse.conversions import sparse
from lancehead.sparse.formats import Array, is_sparse, of_coords


def issparse(x: Any) -> bool:
    """Whether something is a sparse array, ours or SciPy's."""
    return is_sparse(x)


def eye_array(m: int, n: int | None = None, *, k: int = 0, dtype: Any = float, format: str | None = None) -> Any:
    """A matrix with ones on a diagonal, in compressed rows unless another format is given.

    >>> eye_array(2).toarray()
    array([[1., 0.],
           [0., 1.]])
    """
    columns = m if n is None else n
    size = max(min(m + min(k, 0), columns - max(k, 0)), 0)
    return diags_array([np.ones(size, dtype)], offsets=[k], shape=(m, columns), format=format or "csr")


def diags_array(
    diagonals: Any, /, *, offsets: Any = 0, shape: Any = None, format: str | None = None, dtype: Any = None
) -> Any:
    """A matrix of diagonals at some offsets; a number is repeated along its diagonal if the shape is given.

    >>> diags_array([[1, 2], [3]], offsets=[0, 1]).toarray()
    array([[1, 3],
           [0, 2]])

    Raises:
        ValueError: a diagonal has another length than the shape says, or the numbers of both differ.
    """
    places = np.atleast_1d(offsets)
    is_one = np.ndim(offsets) == 0
    lines = [np.atleast_1d(d) for d in ([diagonals] if is_one else diagonals)]
    if len(lines) != places.size or (is_one and lines[0].ndim != 1):
        raise ValueError("Different number of diagonals and offsets.")
    if shape is None:
        extent = lines[0].size + abs(int(places[0]))
        shape = (extent, extent)
    m, n = (int(x) for x in shape)
    row: list[Array] = []
    col: list[Array] = []
    data: list[Array] = []
    for line, k in zip(lines, places.tolist(), strict=True):
        size = min(m + min(k, 0), n - max(k, 0))
        if line.size not in (1, size) or size <= 0:
            found = f"(index {len(row)}: {line.size} at offset {k})"
            raise ValueError(f"Diagonal length {found} does not agree with array size ({m}, {n})")
        at = np.arange(size)
        row.append(at - min(k, 0))
        col.append(at + max(k, 0))
        data.append(np.broadcast_to(line, (size,)))
    kind = dtypes.index_dtype(largest=max(m, n))
    places_of = tuple(np.concatenate(x).astype(kind) for x in (row, col))
    return of_coords(dtypes.values(np.concatenate(data), dtype), places_of, (m, n)).asformat(format or "csr")


def kron(a: Any, b: Any, format: str | None = None) -> Any:
    """The Kronecker product."""
    x, y = sparse(a).tocoo(), sparse(b).tocoo()
    shape = (x._shape[0] * y._shape[0], x._shape[1] * y._shape[1])
    kind = dtypes.index_dtype(largest=max(shape))
    coords = tuple(
        (p.astype(kind)[:, None] * kind.type(n) + q.astype(kind)[None, :]).reshape(-1)
        for p, q, n in zip(x.coords, y.coords, y._shape, strict=True)
    )
    data = dtypes.values((x.data[:, None] * y.data[None, :]).reshape(-1))
    return of_coords(data, coords, shape).asformat(format or "csr")


def block_array(blocks: Sequence[Sequence[Any]], *, format: str | None = None, dtype: Any = None) -> Any:
    """A matrix of blocks; `None` stands for one of zeros.

    Raises:
        ValueError: blocks of a row or a column have different extents, or there are only zeros in one.
    """
    parts = [[None if b is None else sparse(b).tocoo() for b in row] for row in blocks]
    heights = [_extent([b for b in row if b is not None], 0, "row") for row in parts]
    widths = [_extent([row[j] for row in parts if row[j] is not None], 1, "column") for j in range(len(parts[0]))]
    top, left = np.cumsum([0, *heights]), np.cumsum([0, *widths])
    kind = dtypes.index_dtype(largest=max(int(top[-1]), int(left[-1])))
    placed = [(b, top[i], left[j]) for i, row in enumerate(parts) for j, b in enumerate(row) if b is not None]
    common = dtypes.joined(*[b.dtype for b, _, _ in placed]) if dtype is None else dtypes.supported(dtype)
    coords = tuple(
        np.concatenate([b.coords[axis].astype(kind) + kind.type(at[axis]) for b, *at in placed]) for axis in (0, 1)
    )
    data = np.concatenate([b.data.astype(common) for b, _, _ in placed])
    return of_coords(data, coords, (int(top[-1]), int(left[-1]))).asformat(format or "csr")


def _extent(blocks: list[Any], axis: int, word: str) -> int:
    found = {b._shape[axis] for b in blocks}
    if len(found) != 1:
        raise ValueError(f"blocks of a {word} have different extents: {sorted(found)}")
    return int(found.pop())


def hstack(blocks: Sequence[Any], format: str | None = None, dtype: Any = None) -> Any:
    """Matrices beside one another."""
    return block_array([list(blocks)], format=format, dtype=dtype)


def vstack(blocks: Sequence[Any], format: str | None = None, dtype: Any = None) -> Any:
    """Matrices below one another."""
    return block_array([[b] for b in blocks], format=format, dtype=dtype)


def _kept(a: Any, keep: Any, format: str | None) -> Any:
    coo = sparse(a).tocoo()
    chosen = keep(coo.coords[1].astype(np.int64) - coo.coords[0])
    made = of_coords(coo.data[chosen], tuple(c[chosen] for c in coo.coords), coo._shape)
    return made.asformat(format or getattr(a, "format", "csr"))


def tril(a: Any, k: int = 0, format: str | None = None) -> Any:
    """The entries on a diagonal and below it."""
    return _kept(a, lambda offsets: offsets <= k, format)


def triu(a: Any, k: int = 0, format: str | None = None) -> Any:
    """The entries on a diagonal and above it."""
    return _kept(a, lambda offsets: offsets >= k, format)


def find(a: Any) -> tuple[Array, Array, Array]:
    """Rows, columns and values of the elements that are not zero."""
    coo = sparse(a).tocsr()._summed().tocoo()
    kept = coo.data != 0
    return coo.coords[0][kept], coo.coords[1][kept], coo.data[kept]


def random_array(shape: Any, *, density: float = 0.01, format: str = "coo", dtype: Any = None, rng: Any = None) -> Any:
    """A matrix with entries at random places, uniform between 0 and 1.

    Raises:
        ValueError: the density is not between 0 and 1.
    """
    if not 0 <= density <= 1:
        raise ValueError("density expected to be 0 <= density <= 1")
    rows, columns = (int(n) for n in shape)
    draws = np.random.default_rng(rng)
    size = int(round(density * rows * columns))
    flat = draws.choice(rows * columns, size, replace=False) if size else np.empty(0, np.int64)
    kind = dtypes.index_dtype(largest=max(rows, columns))
    coords = (flat // max(columns, 1)).astype(kind), (flat % max(columns, 1)).astype(kind)
    return of_coords(dtypes.values(draws.random(size), dtype), coords, (rows, columns)).asformat(format)
