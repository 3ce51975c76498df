"""cuSPARSE on the CPU device: the operations of `Sparse` by the compiled loops of `sparse_kernels`."""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead.cudalib import sparse_kernels
from lancehead.cudalib.errors import CuSparseError
from lancehead.cudalib.sparse_operands import Blocks, Csr, Indexed, Result, store

_ZERO_PIVOT = 9
#: Their types are known when they are called.
loops: Any = sparse_kernels


def _indices(x: Indexed, limit: int) -> np.ndarray:
    found = x.indices - x.base if x.base else x.indices
    if not loops.reached(found, limit):
        raise ValueError(f"{x.name} has an index outside of an array of {limit} elements")
    return found


def _parts(a: Csr | Blocks, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, pointers and indices of a matrix, which is checked: loops go where indices say."""
    pointers, indices = (x - a.base if a.base else x for x in (a.pointers, a.indices))
    wrong = loops.flaw(pointers, indices, rows, columns)
    if wrong:
        raise ValueError(
            f"the pointers of {a.name} do not ascend from {a.base} to at most the number of its elements"
            if wrong == 1
            else f"{a.name} has an index outside of its {columns} columns (indices begin with {a.base})"
        )
    return a.values, pointers, indices


def _csr(a: Csr) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, int]:
    return (*_parts(a, a.rows, a.columns), a.rows, a.columns)


def _applied(a: Csr, trans: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, int]:
    """op(A) by rows."""
    values, pointers, indices, rows, columns = _csr(a)
    if trans == 0:
        return values, pointers, indices, rows, columns
    values, indices, pointers = loops.transposed(values, pointers, indices, rows, columns)
    return (values.conj() if trans == 2 else values), pointers, indices, columns, rows


class Host:
    """The operations."""

    def axpyi(self, alpha: Any, x: Indexed, y: np.ndarray) -> None:
        loops.axpyi(alpha, x.values, _indices(x, y.size), y)

    def doti(self, x: Indexed, y: np.ndarray, conjugated: bool) -> Any:
        return y.dtype.type(loops.doti(x.values, _indices(x, y.size), y, conjugated))

    def gather(self, y: np.ndarray, x: Indexed, clears: bool) -> None:
        loops.gather(y, x.values, _indices(x, y.size), clears)

    def scatter(self, x: Indexed, y: np.ndarray) -> None:
        loops.scatter(x.values, _indices(x, y.size), y)

    def roti(self, x: Indexed, y: np.ndarray, c: Any, s: Any) -> None:
        loops.roti(x.values, _indices(x, y.size), y, c, s)

    def spmv(self, a: Csr, trans: int, alpha: Any, x: np.ndarray, beta: Any, y: np.ndarray) -> None:
        if trans:
            return self.spmm(a, trans, alpha, x[:, None], 0, beta, y[:, None])
        values, pointers, indices, rows, _ = _csr(a)
        found = loops.row_products(values, pointers, indices, rows, np.ascontiguousarray(x))
        loops.blend(alpha, found[:, None], beta, y[:, None])
        return None

    def spmm(self, a: Csr, trans: int, alpha: Any, b: np.ndarray, trans_b: int, beta: Any, c: np.ndarray) -> None:
        right = b.T if trans_b else b
        right = np.ascontiguousarray(right.conj() if trans_b == 2 else right)
        loops.blend(alpha, loops.product(*_csr(a), trans, right), beta, c)

    def spsm(self, a: Csr, trans: int, alpha: Any, x: np.ndarray, y: np.ndarray) -> None:
        values, pointers, indices, rows, _ = _applied(a, trans)
        found = np.multiply(x, alpha, order="C", dtype=y.dtype)
        missing = loops.solve(values, pointers, indices, rows, a.is_upper != (trans != 0), a.is_unit, found)
        if missing >= 0:
            raise CuSparseError(_ZERO_PIVOT, f"row {missing} of {a.name} has no element on the diagonal")
        y[...] = found

    def geam(self, alpha: Any, a: Csr, beta: Any, b: Csr, c: Result) -> int:
        return c.keep(*loops.added(alpha, *_csr(a)[:3], beta, *_csr(b)[:3], a.rows, a.columns))

    def gemm(self, a: Csr, trans_a: int, b: Csr, trans_b: int, c: Result) -> int:
        *first, rows, inner = _applied(a, trans_a)
        *second, other, columns = _applied(b, trans_b)
        if inner != other:
            raise ValueError(f"op(A) has {inner} columns and op(B) {other} rows")
        return c.keep(*loops.sparse_product(*first, *second, rows, columns))

    def factor(self, a: Csr, is_symmetric: bool) -> None:
        values, pointers, indices, rows, _ = _csr(a)
        loop = loops.incomplete_cholesky if is_symmetric else loops.incomplete_lu
        row = loop(values, pointers, indices, rows)
        if row >= 0:
            raise CuSparseError(_ZERO_PIVOT, f"the pivot of row {row} of {a.name} is not there or not one to divide by")

    def gtsv(self, low: np.ndarray, d: np.ndarray, high: np.ndarray, b: np.ndarray, pivots: bool) -> None:
        found = np.ascontiguousarray(b)
        loops.tridiagonal(low, d, high, found, pivots)
        if found is not b:
            b[...] = found

    def gtsv_batch(self, low: np.ndarray, d: np.ndarray, high: np.ndarray, x: np.ndarray, stride: int) -> None:
        for i in range(x.shape[1]):
            self.gtsv(low[:, i], d[:, i], high[:, i], x[:, i : i + 1], False)

    def bsrmv(self, a: Blocks, alpha: Any, x: np.ndarray, beta: Any, y: np.ndarray) -> None:
        found = loops.from_blocks(*_parts(a, a.rows, a.columns), a.block, a.by_columns)
        rows = loops.row_products(*found, a.rows * a.block, np.ascontiguousarray(x))
        loops.blend(alpha, rows[:, None], beta, y[:, None])

    def bsrxmv(
        self, a: Blocks, mask: np.ndarray, ends: np.ndarray, alpha: Any, x: np.ndarray, beta: Any, y: np.ndarray
    ) -> None:
        rows = mask - a.base
        if not loops.reached(rows, a.rows):
            raise ValueError("bsrMaskPtr has an index outside of the rows")
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
        c.keep(*loops.from_blocks(*_parts(a, a.rows, a.columns), a.block, a.by_columns))

    def csr2bsr(self, a: Csr, block: int, by_columns: bool, c: Result) -> int:
        return c.keep(*loops.to_blocks(*_csr(a), block, by_columns))

    def coo2csr(self, x: Indexed, rows: int, out: np.ndarray) -> None:
        found = _indices(x, rows)
        if found.size and (np.diff(found) < 0).any():
            raise ValueError(f"{x.name} is not in order")
        store(out, loops.from_rows(found, rows) + x.base, "csrRowPtr")

    def csr2coo(self, x: Indexed, rows: int, out: np.ndarray) -> None:
        pointers = x.indices - x.base
        if pointers[0] or (np.diff(pointers) < 0).any() or pointers[-1] > out.size:
            raise ValueError(f"{x.name} does not ascend from {x.base} to at most the number of elements")
        store(out, loops.to_rows(pointers, rows) + x.base, "cooRowInd")

    def csr2csc(self, a: Csr, c: Result) -> None:
        values, indices, pointers = loops.transposed(*_csr(a))
        c.keep(values, pointers, indices)

    def to_dense(self, a: Csr, by_columns: bool, out: np.ndarray) -> None:
        values, pointers, indices, rows, _ = _csr(a)
        loops.fill_dense(values, pointers, indices, rows, by_columns, out)

    def from_dense(self, a: np.ndarray, by_columns: bool, counts: np.ndarray, c: Result) -> None:
        values, pointers, indices = loops.from_dense(a.T if by_columns else a)
        if (np.diff(pointers) != counts).any():
            raise ValueError("the numbers of elements are not those of the matrix: `nnz` counts them")
        c.keep(values, pointers, indices)

    def counted(self, a: np.ndarray, by_columns: bool, out: np.ndarray) -> int:
        loops.counted(a, by_columns, out)
        return int(out.sum())
