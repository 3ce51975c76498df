"""cuSPARSE on the CPU device: the operations of `Sparse` by NumPy, by the loops of `lancehead.sparse`, and by those of
`sparse_kernels`."""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead.cudalib import sparse_kernels
from lancehead.cudalib.errors import CuSparseError
from lancehead.cudalib.operands import blend
from lancehead.cudalib.sparse_operands import Blocks, Csr, Indexed, Result, store
from lancehead.sparse import csr_array, loops
from lancehead.sparse.formats import compressed

_ZERO_PIVOT = 9
#: Their types are known when they are called.
kernels: Any = sparse_kernels


def _indices(x: Indexed, limit: int) -> np.ndarray:
    found = x.indices - x.base if x.base else x.indices
    if loops.index_fault(found.size)(found, found.size, limit):
        raise ValueError(f"{x.name} has an index outside of an array of {limit} elements")
    return found


def _parts(a: Csr | Blocks) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, indices and pointers of a matrix, which is checked: loops go where indices say."""
    pointers, indices = (x - a.base if a.base else x for x in (a.pointers, a.indices))
    if loops.pointer_fault(pointers, indices.size, a.rows):
        raise ValueError(f"the pointers of {a.name} do not ascend from {a.base} to at most the number of its elements")
    size = pointers[a.rows]
    if loops.index_fault(size)(indices, size, a.columns):
        raise ValueError(f"{a.name} has an index outside of its {a.columns} columns (indices begin with {a.base})")
    return a.values, indices[:size], pointers


def _matrix(a: Csr, trans: int = 0) -> Any:
    """op(A) as a sparse array, by columns if it is turned."""
    values, indices, pointers = _parts(a)
    values = values[: indices.size]
    if trans == 0:
        return compressed("csr", pointers, indices, values, (a.rows, a.columns))
    values = values.conj() if trans == 2 else values
    return compressed("csc", pointers, indices, values, (a.columns, a.rows))


def _from_blocks(a: Blocks) -> Any:
    """A sparse array by rows of one of blocks, whose elements are all stored."""
    values, indices, pointers = _parts(a)
    blocks = values[: indices.size * a.block**2].reshape(-1, a.block, a.block)
    blocks = blocks.transpose(0, 2, 1) if a.by_columns else blocks
    return compressed("bsr", pointers, indices, blocks, (a.rows * a.block, a.columns * a.block)).tocsr()


def _kept(c: Result, found: Any) -> int:
    """Stores a sparse array, with the places of each row in order."""
    found.sort_indices()
    return c.keep(found.data.reshape(-1), found.indptr, found.indices)


class Host:
    """The operations."""

    def axpyi(self, alpha: Any, x: Indexed, y: np.ndarray) -> None:
        kernels.axpyi(alpha, x.values, _indices(x, y.size), y)

    def doti(self, x: Indexed, y: np.ndarray, conjugated: bool) -> Any:
        return y.dtype.type(kernels.doti(x.values, _indices(x, y.size), y, conjugated))

    def gather(self, y: np.ndarray, x: Indexed, clears: bool) -> None:
        kernels.gather(y, x.values, _indices(x, y.size), clears)

    def scatter(self, x: Indexed, y: np.ndarray) -> None:
        kernels.scatter(x.values, _indices(x, y.size), y)

    def roti(self, x: Indexed, y: np.ndarray, c: Any, s: Any) -> None:
        kernels.roti(x.values, _indices(x, y.size), y, c, s)

    def spmv(self, a: Csr, trans: int, alpha: Any, x: np.ndarray, beta: Any, y: np.ndarray) -> None:
        blend(alpha, _matrix(a, trans) @ x, beta, y)

    def spmm(self, a: Csr, trans: int, alpha: Any, b: np.ndarray, trans_b: int, beta: Any, c: np.ndarray) -> None:
        right = b.T if trans_b else b
        blend(alpha, _matrix(a, trans) @ (right.conj() if trans_b == 2 else right), beta, c)

    def spsm(self, a: Csr, trans: int, alpha: Any, x: np.ndarray, y: np.ndarray) -> None:
        m = _matrix(a, trans).tocsr()
        found = np.multiply(x, alpha, order="C", dtype=y.dtype)
        missing = kernels.solve(m.data, m.indptr, m.indices, a.rows, a.is_upper != (trans != 0), a.is_unit, found)
        if missing >= 0:
            raise CuSparseError(_ZERO_PIVOT, f"row {missing} of {a.name} has no element on the diagonal")
        y[...] = found

    def geam(self, alpha: Any, a: Csr, beta: Any, b: Csr, c: Result) -> int:
        # Sums that are zero stay entries, as they were counted.
        first, second = ((x.data, x.indptr, x.indices) for x in (_matrix(a), _matrix(b)))
        return c.keep(*kernels.added(alpha, *first, beta, *second, a.rows, a.columns))

    def gemm(self, a: Csr, trans_a: int, b: Csr, trans_b: int, c: Result) -> int:
        first, second = _matrix(a, trans_a).tocsr(), _matrix(b, trans_b).tocsr()
        if first.shape[1] != second.shape[0]:
            raise ValueError(f"op(A) has {first.shape[1]} columns and op(B) {second.shape[0]} rows")
        return _kept(c, first @ second)

    def factor(self, a: Csr, is_symmetric: bool) -> None:
        values, indices, pointers = _parts(a)
        loop = kernels.incomplete_cholesky if is_symmetric else kernels.incomplete_lu
        row = loop(values, pointers, indices, a.rows)
        if row >= 0:
            raise CuSparseError(_ZERO_PIVOT, f"the pivot of row {row} of {a.name} is not there or not one to divide by")

    def gtsv(self, low: np.ndarray, d: np.ndarray, high: np.ndarray, b: np.ndarray, pivots: bool) -> None:
        found = np.ascontiguousarray(b)
        kernels.tridiagonal(low, d, high, found, pivots)
        if found is not b:
            b[...] = found

    def gtsv_batch(self, low: np.ndarray, d: np.ndarray, high: np.ndarray, x: np.ndarray, stride: int) -> None:
        for i in range(x.shape[1]):
            self.gtsv(low[:, i], d[:, i], high[:, i], x[:, i : i + 1], False)

    def bsrmv(self, a: Blocks, alpha: Any, x: np.ndarray, beta: Any, y: np.ndarray) -> None:
        blend(alpha, _from_blocks(a) @ x, beta, y)

    def bsrxmv(
        self, a: Blocks, mask: np.ndarray, ends: np.ndarray, alpha: Any, x: np.ndarray, beta: Any, y: np.ndarray
    ) -> None:
        rows = _indices(Indexed(None, mask, a.base, "bsrMaskPtr"), a.rows)
        begin, end, indices = (v - a.base for v in (a.pointers, ends, a.indices))
        for i in rows:
            if not 0 <= begin[i] <= end[i] <= indices.size:
                raise ValueError(f"row {i} of A has no blocks from {begin[i]} to {end[i]}")
            size = a.block * a.block
            values, where = a.values[begin[i] * size : end[i] * size], indices[begin[i] : end[i]]
            pointers = np.array([0, end[i] - begin[i]], np.int32)
            part = Blocks(1, a.columns, values, pointers, where, 0, a.block, a.by_columns, a.name)
            self.bsrmv(part, alpha, x, beta, y[i * a.block : (i + 1) * a.block])

    def bsr2csr(self, a: Blocks, c: Result) -> None:
        found = _from_blocks(a)
        c.keep(found.data, found.indptr, found.indices)

    def csr2bsr(self, a: Csr, block: int, by_columns: bool, c: Result) -> int:
        m = _matrix(a)
        rows, columns = (-(-n // block) * block for n in m.shape)
        pointers = np.pad(m.indptr, (0, rows - a.rows), "edge")
        found = compressed("csr", pointers, m.indices, m.data, (rows, columns)).tobsr((block, block))
        found.sort_indices()
        blocks = found.data.transpose(0, 2, 1) if by_columns else found.data
        return c.keep(blocks.reshape(-1), found.indptr, found.indices)

    def coo2csr(self, x: Indexed, rows: int, out: np.ndarray) -> None:
        found = _indices(x, rows)
        if (np.diff(found) < 0).any():
            raise ValueError(f"{x.name} is not in order")
        store(out, np.searchsorted(found, np.arange(rows + 1)) + x.base, "csrRowPtr")

    def csr2coo(self, x: Indexed, rows: int, out: np.ndarray) -> None:
        pointers = x.indices - x.base
        if pointers[0] or (np.diff(pointers) < 0).any() or pointers[-1] > out.size:
            raise ValueError(f"{x.name} does not ascend from {x.base} to at most the number of elements")
        store(out, np.repeat(np.arange(rows), np.diff(pointers)) + x.base, "cooRowInd")

    def csr2csc(self, a: Csr, c: Result) -> None:
        found = _matrix(a).tocsc()
        c.keep(found.data, found.indptr, found.indices)

    def to_dense(self, a: Csr, by_columns: bool, out: np.ndarray) -> None:
        found = _matrix(a).toarray()
        out[...] = found.T if by_columns else found

    def from_dense(self, a: np.ndarray, by_columns: bool, counts: np.ndarray, c: Result) -> None:
        # Columns are contiguous.
        found = csr_array(a.T) if by_columns else csr_array(a.T).T.tocsr()
        if (np.diff(found.indptr) != counts).any():
            raise ValueError("the numbers of elements are not those of the matrix: `nnz` counts them")
        c.keep(found.data, found.indptr, found.indices)

    def counted(self, a: np.ndarray, by_columns: bool, out: np.ndarray) -> int:
        out[:] = np.count_nonzero(a, axis=0 if by_columns else 1)
        return int(out.sum())
