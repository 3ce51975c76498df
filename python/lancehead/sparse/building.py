"""Sparse arrays of diagonals, of blocks and of random entries, and files of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lancehead.options import near_keywords
from lancehead.sparse import dtypes
from lancehead.sparse.conversions import sparse
from lancehead.sparse.formats import Array, is_sparse, of_coords
from lancehead.sparse.matrices import MATRICES, as_matrix, isspmatrix
from lancehead.sparse.others import dia_array


def issparse(x: Any) -> bool:
    """Whether something is a sparse array or matrix, ours or SciPy's."""
    return is_sparse(x)


def _like(made: Any, *given: Any) -> Any:
    """A result as an array if one of the operands is a sparse array, else as a matrix."""
    return made if any(is_sparse(x) and not isspmatrix(x) for x in given) else as_matrix(made)


def eye_array(m: int, n: int | None = None, *, k: int = 0, dtype: Any = float, format: str | None = None) -> Any:
    """A matrix with ones on a diagonal.

    >>> eye_array(2).toarray()
    array([[1., 0.],
           [0., 1.]])
    """
    columns = m if n is None else n
    if k > columns or -k > m:
        raise ValueError(f"Offset {k} (index 0) out of bounds")
    size = max(min(m + min(k, 0), columns - max(k, 0)), 0)
    ones = np.ones((1, max(size + max(k, 0), 0)), dtype)
    return dia_array((ones, [k]), shape=(m, columns)).asformat(format)


def eye(m: int, n: int | None = None, k: int = 0, dtype: Any = float, format: str | None = None) -> Any:
    """A matrix with ones on a diagonal, whose `*` is the matrix product."""
    return as_matrix(eye_array(m, n, k=k, dtype=dtype, format=format))


def identity(n: int, dtype: Any = "d", format: str | None = None) -> Any:
    """The identity, whose `*` is the matrix product."""
    return eye(n, dtype=dtype, format=format)


def diags_array(
    diagonals: Any, /, *, offsets: Any = 0, shape: Any = None, format: str | None = None, dtype: Any = None
) -> Any:
    """A matrix of diagonals at some offsets; a number is repeated along its diagonal if the shape is given.

    >>> diags_array([[1, 2], [3]], offsets=[0, 1]).toarray()
    array([[1., 3.],
           [0., 2.]])

    Raises:
        ValueError: a diagonal is shorter than the shape says, or the numbers of both differ.
    """
    places = np.atleast_1d(offsets)
    is_one = np.ndim(offsets) == 0
    if is_one and len(diagonals) and not np.isscalar(diagonals[0]):
        raise ValueError("Different number of diagonals and offsets.")
    lines = [np.atleast_1d(d) for d in ([diagonals] if is_one else diagonals)]
    if len(lines) != places.size:
        raise ValueError("Different number of diagonals and offsets.")
    if shape is None:
        extent = lines[0].size + abs(int(places[0]))
        shape = (extent, extent)
    m, n = (int(x) for x in shape)
    kind = np.result_type(*lines) if dtype is None else dtype
    # As SciPy still does, integers become floats.
    kind = np.float64 if dtype is None and np.dtype(kind).kind in "biu" else kind
    data = np.zeros((places.size, max(0, *(min(m + k, n - k) + max(0, k) for k in places.tolist()))), kind)
    for d, (line, k) in enumerate(zip(lines, places.tolist(), strict=True)):
        size = min(m + min(k, 0), n - max(k, 0))
        if size < 0:
            raise ValueError(f"Offset {k} (index {d}) out of bounds")
        if line.size != 1 and line.size < size:
            found = f"(index {d}: {line.size} at offset {k})"
            raise ValueError(f"Diagonal length {found} does not agree with array size ({m}, {n})")
        data[d, max(k, 0) : max(k, 0) + size] = line[:size]
    return dia_array((data, places), shape=(m, n)).asformat(format)


def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: str | None = None, dtype: Any = None) -> Any:
    """A matrix of diagonals as by `diags_array`, whose `*` is the matrix product."""
    return as_matrix(diags_array(diagonals, offsets=offsets, shape=shape, format=format, dtype=dtype))


def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: str | None = None) -> Any:
    """A matrix of diagonals, of which each is a row by columns, whose `*` is the matrix product."""
    shape = m if n is None and m is not None else (m, n)
    if m is None:
        shape = (len(data[0]),) * 2
    return as_matrix(dia_array((data, diags), shape=shape).asformat(format))


def kron(a: Any, b: Any, format: str | None = None) -> Any:
    """The Kronecker product; of blocks if the second matrix is at least half full."""
    x, y = sparse(a).tocoo(), sparse(b).tocoo()
    shape = (x._shape[0] * y._shape[0], x._shape[1] * y._shape[1])
    kind = dtypes.index_dtype(largest=max(shape))
    coords = tuple(
        (p.astype(kind)[:, None] * kind.type(n) + q.astype(kind)[None, :]).reshape(-1)
        for p, q, n in zip(x.coords, y.coords, y._shape, strict=True)
    )
    data = dtypes.values((x.data[:, None] * y.data[None, :]).reshape(-1))
    made = of_coords(data, coords, shape)
    if format in (None, "bsr") and 0 < y._shape[0] * y._shape[1] <= 2 * y.nnz:
        return _like(made.tobsr(y._shape), a, b)
    return _like(made.asformat(format or "coo"), a, b)


def kronsum(a: Any, b: Any, format: str | None = None) -> Any:
    """The Kronecker sum of two square matrices: `kron(I, a) + kron(b, I)`.

    Raises:
        ValueError: a matrix is not square.
    """
    x, y = sparse(a), sparse(b)
    for m, name in ((x, "A"), (y, "B")):
        if m._shape[0] != m._shape[1]:
            raise ValueError(f"{name} is not square")
    kind = dtypes.joined(x.dtype, y.dtype)
    left = kron(eye_array(y._shape[0], dtype=kind), x)
    return _like((left + kron(y, eye_array(x._shape[0], dtype=kind))).asformat(format or "csr"), a, b)


def block_array(blocks: Sequence[Sequence[Any]], *, format: str | None = None, dtype: Any = None) -> Any:
    """A matrix of blocks; `None` stands for one of zeros.

    Raises:
        ValueError: blocks of a row or a column have different extents.
    """
    given = [b for row in blocks for b in row]
    if format is None:
        # Compressed rows and columns stay such.
        kinds = {getattr(b, "format", None) for b in given}
        format = kinds.pop() if kinds in ({"csr"}, {"csc"}) else "coo"
    parts = [[None if b is None else sparse(b).tocoo() for b in row] for row in blocks]
    parts = [[b if b is None or len(b._shape) == 2 else b.reshape(1, -1) for b in row] for row in parts]
    heights = [_extent([b for b in row if b is not None], 0, "row") for row in parts]
    widths = [_extent([row[j] for row in parts if row[j] is not None], 1, "column") for j in range(len(parts[0]))]
    top, left = np.cumsum([0, *heights]), np.cumsum([0, *widths])
    kind = dtypes.index_dtype(largest=max(int(top[-1]), int(left[-1])))
    if all(b is None for row in parts for b in row):
        return dia_array((int(top[-1]), int(left[-1])), dtype=dtype).asformat(format)
    placed = [(b, top[i], left[j]) for i, row in enumerate(parts) for j, b in enumerate(row) if b is not None]
    common = dtypes.joined(*[b.dtype for b, _, _ in placed]) if dtype is None else dtypes.supported(dtype)
    coords = tuple(
        np.concatenate([b.coords[axis].astype(kind) + kind.type(at[axis]) for b, *at in placed]) for axis in (0, 1)
    )
    data = np.concatenate([b.data.astype(common) for b, _, _ in placed])
    return of_coords(data, coords, (int(top[-1]), int(left[-1]))).asformat(format)


def _extent(blocks: list[Any], axis: int, word: str) -> int:
    found = {b._shape[axis] for b in blocks} or {0}
    if len(found) != 1:
        raise ValueError(f"blocks of a {word} have different extents: {sorted(found)}")
    return int(found.pop())


def bmat(blocks: Any, format: str | None = None, dtype: Any = None) -> Any:
    """A matrix of blocks as by `block_array`; its `*` is the matrix product if no block is an array."""
    rows = [list(row) for row in blocks]
    return _like(block_array(rows, format=format, dtype=dtype), *(b for row in rows for b in row))


def block_diag(mats: Any, format: str | None = None, dtype: Any = None) -> Any:
    """A matrix of blocks along the diagonal."""
    given = list(mats)
    parts = [b if is_sparse(b) else np.atleast_2d(np.asarray(b)) for b in given]
    rows = [[b if i == j else None for j in range(len(parts))] for i, b in enumerate(parts)]
    return _like(block_array(rows, format=format or "coo", dtype=dtype), *given)


def hstack(blocks: Sequence[Any], format: str | None = None, dtype: Any = None) -> Any:
    """Matrices beside one another."""
    return bmat([list(blocks)], format, dtype)


def vstack(blocks: Sequence[Any], format: str | None = None, dtype: Any = None) -> Any:
    """Matrices below one another."""
    return bmat([[b] for b in blocks], format, dtype)


def _kept(a: Any, keep: Any, format: str | None) -> Any:
    coo = sparse(a).tocoo()
    chosen = keep(coo.coords[1].astype(np.int64) - coo.coords[0])
    made = of_coords(coo.data[chosen], tuple(c[chosen] for c in coo.coords), coo._shape)
    return _like(made.asformat(format), a)


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


def random_array(
    shape: Any,
    *,
    density: float = 0.01,
    format: str = "coo",
    dtype: Any = None,
    rng: Any = None,
    data_sampler: Any = None,
) -> Any:
    """A matrix with entries at random places, uniform between 0 and 1 unless a function of `size=` draws them.

    Raises:
        ValueError: the density is not between 0 and 1.
    """
    if not 0 <= density <= 1:
        raise ValueError("density expected to be 0 <= density <= 1")
    rows, columns = (int(n) for n in shape)
    draws = np.random.default_rng(rng.randint(1 << 31) if isinstance(rng, np.random.RandomState) else rng)
    size = int(round(density * rows * columns))
    flat = draws.choice(rows * columns, size, replace=False) if size else np.empty(0, np.int64)
    kind = dtypes.index_dtype(largest=max(rows, columns))
    coords = (flat // max(columns, 1)).astype(kind), (flat % max(columns, 1)).astype(kind)
    drawn = draws.random(size) if data_sampler is None else data_sampler(size=size)
    return of_coords(dtypes.values(drawn, dtype), coords, (rows, columns)).asformat(format)


def random(
    m: int,
    n: int,
    density: float = 0.01,
    format: str = "coo",
    dtype: Any = None,
    rng: Any = None,
    data_rvs: Any = None,
    *,
    random_state: Any = None,
) -> Any:
    """A matrix with entries at random places, whose `*` is the matrix product; `data_rvs(n)` draws the values."""
    sampler = None if data_rvs is None else lambda size: data_rvs(size)
    seed = random_state if rng is None else rng
    made = random_array((m, n), density=density, format=format, dtype=dtype, rng=seed, data_sampler=sampler)
    return as_matrix(made)


def rand(m: int, n: int, density: float = 0.01, format: str = "coo", dtype: Any = None, rng: Any = None) -> Any:
    """A matrix with entries at random places, uniform between 0 and 1, whose `*` is the matrix product."""
    return random(m, n, density, format, dtype, rng)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """The transpose, or the array itself if both axes are one."""
    n = len(a.shape)
    for k in (axis1, axis2):
        if not -n <= k < n:
            raise ValueError(f"Invalid axis: {k} for shape {a.shape}")
    return _like(sparse(a).tocoo() if axis1 % n == axis2 % n else sparse(a).tocoo().T, a)


def permute_dims(a: Any, axes: Any = None, copy: bool = False) -> Any:
    """The transpose, by an order of the axes."""
    n = len(a.shape)
    order = tuple(range(n))[::-1] if axes is None else tuple(k % n for k in axes)
    if sorted(order) != list(range(n)):
        raise ValueError(f"Incorrect number of axes: {n} instead of {len(order)}")
    return swapaxes(a, 0, order[0])


def save_npz(file: Any, matrix: Any, compressed: bool = True) -> None:
    """Writes a matrix to a file of NumPy's, which SciPy reads, too.

    Raises:
        NotImplementedError: it is in the format `dok` or `lil`.
    """
    if getattr(matrix, "format", "") in ("dok", "lil"):
        raise NotImplementedError(f"Save is not implemented for sparse matrix of format {matrix.format}.")
    a = sparse(matrix) if not getattr(matrix, "format", "") == "dia" else matrix
    names = {"dia": ("offsets",), "coo": ("row", "col")}.get(a.format, ("indices", "indptr"))
    parts = {name: getattr(a, name) for name in names}
    kind = {} if isspmatrix(matrix) else {"_is_array": True}
    save: Any = np.savez_compressed if compressed else np.savez
    save(file, format=a.format.encode("ascii"), shape=a.shape, data=a.data, **parts, **kind)


def load_npz(file: Any) -> Any:
    """Reads a matrix from a file that `save_npz`, here or of SciPy, has written.

    Raises:
        ValueError: the file has no matrix, or one of another format.
    """
    with np.load(file, allow_pickle=False) as parts:
        if "format" not in parts:
            raise ValueError(f"The file {file} does not contain a sparse array or matrix.")
        format = parts["format"].item()
        format = format if isinstance(format, str) else format.decode("ascii")
        if format not in MATRICES:
            raise ValueError(f'Unknown format "{format}"')
        data, shape = parts["data"], tuple(parts["shape"].tolist())
        if format == "coo":
            given: Any = (data, tuple(parts["coords"]) if "coords" in parts else (parts["row"], parts["col"]))
        else:
            given = (data, parts["offsets"]) if format == "dia" else (data, parts["indices"], parts["indptr"])
        made = MATRICES[format](given, shape=shape)
        return made._plain if "_is_array" in parts else made


def get_index_dtype(arrays: Any = (), maxval: Any = None, check_contents: bool = False) -> Any:
    """The type of indices for these arrays and a largest one; with `check_contents` for the values that they have."""
    given = [np.asarray(a) for a in (arrays if isinstance(arrays, tuple | list) else (arrays,))]
    if check_contents:
        limits = np.iinfo(np.int32)
        given = [a for a in given if a.size and not (a.min() >= limits.min and a.max() <= limits.max)]
    return dtypes.index_dtype(given, 0 if maxval is None else int(maxval)).type


near_keywords(globals())
