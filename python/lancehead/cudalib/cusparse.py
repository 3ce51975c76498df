"""cuSPARSE: sparse matrices, by the names of NumbaPro's and pyculib's.

>>> from lancehead.cudalib import cusparse
>>> values, pointers, columns = np.array([1.0, 2.0]), np.array([0, 1, 2], np.int32), np.array([1, 0], np.int32)
>>> sparse, y = cusparse.Sparse(), np.zeros(2)
>>> sparse.csrmv("N", 2, 2, 2, 1.0, sparse.matdescr(), values, pointers, columns, np.array([3.0, 4.0]), 0.0, y)
>>> y
array([4., 6.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead.cuda import device_array
from lancehead.cudalib.errors import CuSparseError
from lancehead.cudalib.libraries import CUSPARSE, Session
from lancehead.cudalib.operands import Call, choice, count, scalar, value_type
from lancehead.cudalib.routines import OPERATION
from lancehead.cudalib.sparse_gpu import Gpu
from lancehead.cudalib.sparse_host import Host
from lancehead.cudalib.sparse_matrices import (
    CudaBSRMatrix,
    CudaCSCMatrix,
    CudaCSRMatrix,
    CudaSparseMatrix,
    bsr_matrix,
    csc_matrix,
    csr_matrix,
)  # fmt: skip
from lancehead.cudalib.sparse_operands import (
    Blocks,
    Csr,
    Indexed,
    MatDescr,
    Result,
    columns,
    csr,
    general,
    sized,
)  # fmt: skip
from lancehead.options import public

_DIRECTIONS: dict[Any, int] = {"R": 0, "C": 1}
_ACTIONS: dict[Any, int] = {"S": 0, "N": 1}


class SolveAnalysisInfo:
    """The result of `csrsv_analysis` and `csrsm_analysis`; the call that solves repeats the analysis."""

    def __init__(self, operation: int) -> None:
        self.operation = operation


class Sparse(Session):
    """The routines of cuSPARSE as methods.

    Arrays are NumPy's or those of the device in use: values of `float32`, `float64`, `complex64` or `complex128`,
    indices of `int32`, which begin with `idxbase`, 0 or 1.
    """

    LIBRARY = CUSPARSE
    CREATE, DESTROY, SET_STREAM = "cusparseCreate", "cusparseDestroy", "cusparseSetStream"

    def __init__(self, idxbase: int = 0, stream: Any = 0) -> None:
        if idxbase not in (0, 1):
            raise ValueError(f"indices begin with 0 or 1, not {idxbase!r}")
        self.idxbase = int(idxbase)
        super().__init__(stream)
        # On a GPU the operations refer to the library's handle.
        self._ops: Any = Host() if self._gpu is None else Gpu(self)

    def matdescr(
        self, indexbase: int | None = None, diagtype: str = "N", fillmode: str = "L", matrixtype: str = "G"
    ) -> MatDescr:
        """A description of a matrix, see `MatDescr`."""
        return MatDescr(self.idxbase if indexbase is None else indexbase, diagtype, fillmode, matrixtype)

    def _call(self) -> Call:
        self.check()
        call = Call(self.stream)
        if self._gpu is not None:
            self._ops.call = call
        return call

    # --- Sparse vectors -----------------------------------------------------------------------------------------------

    def _indexed(self, call: Call, values: Any, indices: Any, writes: bool = False) -> Indexed:
        dtype = value_type(values, "xVal")
        ind = call.vector(indices, "xInd", np.int32)
        val = call.vector(values, "xVal", dtype, writes)
        if val.size != ind.size:
            raise ValueError(f"xVal has {val.size} elements and xInd {ind.size}")
        if call.gpu is not None and (val.strides != (val.itemsize,) or ind.strides != (4,)):
            raise ValueError("xVal or xInd has gaps between its elements")
        return Indexed(val, ind, self.idxbase, "xInd")

    def axpyi(self, alpha: Any, xVal: Any, xInd: Any, y: Any) -> Any:
        """y[xInd] += alpha xVal; gives y."""
        with self._call() as call:
            x = self._indexed(call, xVal, xInd)
            there = call.vector(y, "y", x.values.dtype, True)
            self._ops.axpyi(scalar(alpha, "alpha", there.dtype), x, there)
        return y

    def doti(self, xVal: Any, xInd: Any, y: Any) -> Any:
        """The sum of the products of xVal and y[xInd]."""
        return self._doti(xVal, xInd, y, False)

    def dotci(self, xVal: Any, xInd: Any, y: Any) -> Any:
        """The sum of the products of the conjugates of xVal and y[xInd], of complex numbers."""
        if value_type(xVal, "xVal").kind != "c":
            raise TypeError("dotci is for complex numbers")
        return self._doti(xVal, xInd, y, True)

    def _doti(self, xVal: Any, xInd: Any, y: Any, conjugated: bool) -> Any:
        with self._call() as call:
            x = self._indexed(call, xVal, xInd)
            return self._ops.doti(x, call.vector(y, "y", x.values.dtype), conjugated)

    def gthr(self, y: Any, xVal: Any, xInd: Any) -> None:
        """xVal = y[xInd]."""
        with self._call() as call:
            x = self._indexed(call, xVal, xInd, True)
            self._ops.gather(call.vector(y, "y", x.values.dtype), x, False)

    def gthrz(self, y: Any, xVal: Any, xInd: Any) -> None:
        """xVal = y[xInd], and then y[xInd] = 0."""
        with self._call() as call:
            x = self._indexed(call, xVal, xInd, True)
            self._ops.gather(call.vector(y, "y", x.values.dtype, True), x, True)

    def roti(self, xVal: Any, xInd: Any, y: Any, c: Any, s: Any) -> None:
        """xVal, y[xInd] = c xVal + s y[xInd], c y[xInd] - s xVal, of real numbers."""
        if value_type(xVal, "xVal").kind == "c":
            raise TypeError("roti is for real numbers")
        with self._call() as call:
            x = self._indexed(call, xVal, xInd, True)
            there = call.vector(y, "y", x.values.dtype, True)
            self._ops.roti(x, there, scalar(c, "c", there.dtype), scalar(s, "s", there.dtype))

    def sctr(self, xVal: Any, xInd: Any, y: Any) -> None:
        """y[xInd] = xVal."""
        with self._call() as call:
            x = self._indexed(call, xVal, xInd)
            self._ops.scatter(x, call.vector(y, "y", x.values.dtype, True))

    # --- Products -----------------------------------------------------------------------------------------------------

    def csrmv(
        self, trans: str, m: int, n: int, nnz: int, alpha: Any, descr: MatDescr, csrVal: Any, csrRowPtr: Any,
        csrColInd: Any, x: Any, beta: Any, y: Any,
    ) -> None:  # fmt: skip
        """y = alpha op(A) x + beta y for a matrix of m rows and n columns."""
        operation = choice(trans, "trans", OPERATION)
        with self._call() as call:
            m, n, nnz = _counts(m=m, n=n, nnz=nnz)
            a = csr(call, m, n, nnz, general(descr, "A"), csrVal, csrRowPtr, csrColInd)
            dtype = a.values.dtype
            there, source = _vectors(call, x, y, dtype, (m, n) if operation else (n, m))
            self._ops.spmv(a, operation, scalar(alpha, "alpha", dtype), source, scalar(beta, "beta", dtype), there)

    def csrmm(
        self, transA: str, m: int, n: int, k: int, nnz: int, alpha: Any, descrA: MatDescr, csrValA: Any,
        csrRowPtrA: Any, csrColIndA: Any, B: Any, ldb: int, beta: Any, C: Any, ldc: int,
    ) -> None:  # fmt: skip
        """C = alpha op(A) B + beta C, where A has m rows and k columns, B and C have n columns at distances of ldb and
        ldc elements."""
        self.csrmm2(transA, "N", m, n, k, nnz, alpha, descrA, csrValA, csrRowPtrA, csrColIndA, B, ldb, beta, C, ldc)

    def csrmm2(
        self, transA: str, transB: str, m: int, n: int, k: int, nnz: int, alpha: Any, descrA: MatDescr, csrValA: Any,
        csrRowPtrA: Any, csrColIndA: Any, B: Any, ldb: int, beta: Any, C: Any, ldc: int,
    ) -> None:  # fmt: skip
        """C = alpha op(A) op(B) + beta C, where A has m rows and k columns and op(B) n columns."""
        first, second = choice(transA, "transA", OPERATION), choice(transB, "transB", OPERATION)
        m, n, k, nnz = _counts(m=m, n=n, k=k, nnz=nnz)
        with self._call() as call:
            a = csr(call, m, k, nnz, general(descrA, "A"), csrValA, csrRowPtrA, csrColIndA)
            dtype = a.values.dtype
            rows, inner = (k, m) if first else (m, k)
            shape = (n, inner) if second else (inner, n)
            b = columns(call, B, "B", dtype, *shape, count(ldb, "ldb"))
            c = columns(call, C, "C", dtype, rows, n, count(ldc, "ldc"), True)
            alpha, beta = scalar(alpha, "alpha", dtype), scalar(beta, "beta", dtype)
            self._ops.spmm(a, first, alpha, b, second, beta, c)

    def bsrmv_matrix(
        self, dir: str, trans: str, alpha: Any, descr: MatDescr, bsrmat: Any, x: Any, beta: Any, y: Any
    ) -> None:
        """`bsrmv` of what `bsr_matrix` makes."""
        block, other = bsrmat.blocksize
        if block != other:
            raise ValueError(f"the blocks are squares, not {block} x {other}")
        rows, width = bsrmat.shape
        self.bsrmv(
            dir, trans, -(-rows // block), -(-width // block), bsrmat.indices.size, alpha, descr, bsrmat.data,
            bsrmat.indptr, bsrmat.indices, block, x, beta, y,
        )  # fmt: skip

    def bsrmv(
        self, dir: str, trans: str, mb: int, nb: int, nnzb: int, alpha: Any, descr: MatDescr, bsrVal: Any,
        bsrRowPtr: Any, bsrColInd: Any, blockDim: int, x: Any, beta: Any, y: Any,
    ) -> None:  # fmt: skip
        """y = alpha A x + beta y for a matrix of mb rows and nb columns of square blocks, whose elements are by rows
        (`dir` "R") or columns ("C")."""
        if choice(trans, "trans", OPERATION):
            raise CuSparseError(10, "bsrmv takes a matrix as it is: trans='N'")
        with self._call() as call:
            a = self._blocks(call, dir, mb, nb, nnzb, descr, bsrVal, bsrRowPtr, bsrColInd, blockDim)
            dtype = a.values.dtype
            there, source = _vectors(call, x, y, dtype, (nb * a.block, mb * a.block))
            self._ops.bsrmv(a, scalar(alpha, "alpha", dtype), source, scalar(beta, "beta", dtype), there)

    def bsrxmv(
        self, dir: str, trans: str, sizeOfMask: int, mb: int, nb: int, nnzb: int, alpha: Any, descr: MatDescr,
        bsrVal: Any, bsrMaskPtr: Any, bsrRowPtr: Any, bsrEndPtr: Any, bsrColInd: Any, blockDim: int, x: Any, beta: Any,
        y: Any,
    ) -> None:  # fmt: skip
        """`bsrmv` of the rows of blocks that a mask lists; the other elements of y stay as they are. `bsrRowPtr` and
        `bsrEndPtr` have for each row its first block, and the one after its last."""
        if choice(trans, "trans", OPERATION):
            raise CuSparseError(10, "bsrxmv takes a matrix as it is: trans='N'")
        with self._call() as call:
            size, rows = count(sizeOfMask, "sizeOfMask"), count(mb, "mb")
            mask = sized(call, bsrMaskPtr, "bsrMaskPtr", np.int32, size)
            ends = sized(call, bsrEndPtr, "bsrEndPtr", np.int32, rows)
            a = self._blocks(call, dir, mb, nb, nnzb, descr, bsrVal, bsrRowPtr, bsrColInd, blockDim, rows)
            dtype = a.values.dtype
            there, source = _vectors(call, x, y, dtype, (nb * a.block, mb * a.block))
            alpha, beta = scalar(alpha, "alpha", dtype), scalar(beta, "beta", dtype)
            self._ops.bsrxmv(a, mask, ends, alpha, source, beta, there)

    def _blocks(
        self, call: Call, dir: str, mb: int, nb: int, nnzb: int, descr: MatDescr, values: Any, pointers: Any,
        indices: Any, block: int, starts: int | None = None,
    ) -> Blocks:  # fmt: skip
        mb, nb, nnzb, block = _counts(mb=mb, nb=nb, nnzb=nnzb, blockDim=block)
        if block == 0:
            raise ValueError("blockDim is 0")
        base = general(descr, "A").indexbase
        by_columns = choice(dir, "dir", _DIRECTIONS) == 1
        dtype = value_type(values, "bsrVal")
        ptr = sized(call, pointers, "bsrRowPtr", np.int32, mb + 1 if starts is None else starts)
        ind = sized(call, indices, "bsrColInd", np.int32, nnzb)
        val = sized(call, values, "bsrVal", dtype, nnzb * block * block)
        return Blocks(mb, nb, val, ptr, ind, base, block, by_columns, "A")

    # --- Systems ------------------------------------------------------------------------------------------------------

    def csrsv_analysis(
        self, trans: str, m: int, nnz: int, descr: MatDescr, csrVal: Any, csrRowPtr: Any, csrColInd: Any
    ) -> SolveAnalysisInfo:
        """Checks the matrix and returns the analysis that `csrsv_solve` takes."""
        with self._call() as call:
            csr(call, count(m, "m"), m, count(nnz, "nnz"), descr, csrVal, csrRowPtr, csrColInd)
        return SolveAnalysisInfo(choice(trans, "trans", OPERATION))

    def csrsv_solve(
        self, trans: str, m: int, alpha: Any, descr: MatDescr, csrVal: Any, csrRowPtr: Any, csrColInd: Any,
        info: SolveAnalysisInfo, x: Any, y: Any,
    ) -> None:  # fmt: skip
        """Solves op(A) y = alpha x, where A is the triangle that the description names."""
        m = count(m, "m")
        self._solve(trans, m, 1, alpha, descr, csrVal, csrRowPtr, csrColInd, info, x, max(1, m), y, max(1, m))

    def csrsm_analysis(
        self, transA: str, m: int, nnz: int, descrA: MatDescr, csrValA: Any, csrRowPtrA: Any, csrColIndA: Any
    ) -> SolveAnalysisInfo:
        """Checks the matrix and returns the analysis that `csrsm_solve` takes."""
        return self.csrsv_analysis(transA, m, nnz, descrA, csrValA, csrRowPtrA, csrColIndA)

    def csrsm_solve(
        self, transA: str, m: int, n: int, alpha: Any, descrA: MatDescr, csrValA: Any, csrRowPtrA: Any,
        csrColIndA: Any, info: SolveAnalysisInfo, X: Any, ldx: int, Y: Any, ldy: int,
    ) -> None:  # fmt: skip
        """Solves op(A) Y = alpha X for n columns, where A is the triangle that the description names."""
        self._solve(transA, m, n, alpha, descrA, csrValA, csrRowPtrA, csrColIndA, info, X, ldx, Y, ldy)

    def _solve(
        self, trans: str, m: int, n: int, alpha: Any, descr: MatDescr, values: Any, pointers: Any, indices: Any,
        info: SolveAnalysisInfo, x: Any, ldx: int, y: Any, ldy: int,
    ) -> None:  # fmt: skip
        operation = choice(trans, "trans", OPERATION)
        m, n, ldx, ldy = _counts(m=m, n=n, ldx=ldx, ldy=ldy)
        if not isinstance(info, SolveAnalysisInfo) or info.operation != operation:
            raise ValueError("info is what the analysis of the same operation gives")
        with self._call() as call:
            a = csr(call, m, m, _length(indices), descr, values, pointers, indices)
            dtype = a.values.dtype
            source = columns(call, x, "x", dtype, m, n, ldx)
            there = columns(call, y, "y", dtype, m, n, ldy, True)
            self._ops.spsm(a, operation, scalar(alpha, "alpha", dtype), source, there)

    def csric0(
        self, trans: str, m: int, descr: MatDescr, csrValM: Any, csrRowPtrA: Any, csrColIndA: Any, info: Any
    ) -> None:
        """The incomplete factor L of A = L L^H in the places of the lower triangle of A, in place."""
        self._factor(trans, m, descr, csrValM, csrRowPtrA, csrColIndA, True)

    def csrilu0(
        self, trans: str, m: int, descr: MatDescr, csrValM: Any, csrRowPtrA: Any, csrColIndA: Any, info: Any
    ) -> None:
        """The incomplete factors of A = L U in the places of A, in place; the diagonal of L is 1 and not stored."""
        self._factor(trans, m, descr, csrValM, csrRowPtrA, csrColIndA, False)

    def _factor(
        self, trans: str, m: int, descr: MatDescr, values: Any, pointers: Any, indices: Any, is_symmetric: bool
    ) -> None:
        if choice(trans, "trans", OPERATION):
            raise CuSparseError(10, "an incomplete factorisation takes a matrix as it is: trans='N'")
        m = count(m, "m")
        with self._call() as call:
            a = csr(call, m, m, _length(indices), descr, values, pointers, indices, writes=True)
            self._ops.factor(a, is_symmetric)

    def gtsv(self, m: int, n: int, dl: Any, d: Any, du: Any, B: Any, ldb: int) -> None:
        """Solves a system of three diagonals for n columns, in place: `dl` is the one below the main one and begins
        with an element that is not read, `du` the one above and ends with one."""
        self._tridiagonal(m, n, dl, d, du, B, ldb, True)

    def gtsv_nopivot(self, m: int, n: int, dl: Any, d: Any, du: Any, B: Any, ldb: int) -> None:
        """`gtsv` with rows in the order in which they are, which is not stable for every matrix."""
        self._tridiagonal(m, n, dl, d, du, B, ldb, False)

    def _tridiagonal(self, m: int, n: int, dl: Any, d: Any, du: Any, B: Any, ldb: int, pivots: bool) -> None:
        m, n, ldb = _counts(m=m, n=n, ldb=ldb)
        with self._call() as call:
            dtype = value_type(d, "d")
            lines = [sized(call, x, name, dtype, m) for x, name in ((dl, "dl"), (d, "d"), (du, "du"))]
            self._ops.gtsv(*lines, columns(call, B, "B", dtype, m, n, ldb, True), pivots)

    def gtsvStridedBatch(self, m: int, dl: Any, d: Any, du: Any, x: Any, batchCount: int, batchStride: int) -> None:
        """Solves systems of three diagonals in place, each `batchStride` elements after the one before."""
        m, systems, stride = _counts(m=m, batchCount=batchCount, batchStride=batchStride)
        with self._call() as call:
            dtype = value_type(d, "d")
            named = ((dl, "dl"), (d, "d"), (du, "du"), (x, "x"))
            made = [columns(call, a, name, dtype, m, systems, stride, name == "x") for a, name in named]
            self._ops.gtsv_batch(*made, stride)

    # --- Sums and products of sparse matrices -------------------------------------------------------------------------

    def XcsrgeamNnz(
        self, m: int, n: int, descrA: MatDescr, nnzA: int, csrRowPtrA: Any, csrColIndA: Any, descrB: MatDescr,
        nnzB: int, csrRowPtrB: Any, csrColIndB: Any, descrC: MatDescr, csrRowPtrC: Any,
    ) -> int:  # fmt: skip
        """The number of elements of a sum, whose pointers are stored."""
        with self._call() as call:
            m, n = _counts(m=m, n=n)
            a = csr(call, m, n, count(nnzA, "nnzA"), general(descrA, "A"), None, csrRowPtrA, csrColIndA)
            b = csr(call, m, n, count(nnzB, "nnzB"), general(descrB, "B"), None, csrRowPtrB, csrColIndB, "B")
            pointers = sized(call, csrRowPtrC, "csrRowPtrC", np.int32, m + 1, True)
            one = np.float32(1)
            return int(self._ops.geam(one, a, one, b, Result(None, pointers, None, general(descrC, "C").indexbase)))

    def csrgeam(
        self, m: int, n: int, alpha: Any, descrA: MatDescr, nnzA: int, csrValA: Any, csrRowPtrA: Any, csrColIndA: Any,
        beta: Any, descrB: MatDescr, nnzB: int, csrValB: Any, csrRowPtrB: Any, csrColIndB: Any, descrC: MatDescr,
        csrValC: Any, csrRowPtrC: Any, csrColIndC: Any,
    ) -> None:  # fmt: skip
        """C = alpha A + beta B."""
        with self._call() as call:
            m, n = _counts(m=m, n=n)
            dtype = value_type(csrValA, "csrValA")
            a = csr(call, m, n, count(nnzA, "nnzA"), general(descrA, "A"), csrValA, csrRowPtrA, csrColIndA)
            b = csr(call, m, n, count(nnzB, "nnzB"), general(descrB, "B"), csrValB, csrRowPtrB, csrColIndB, "B", dtype)
            c = _result(call, m, descrC, csrValC, csrRowPtrC, csrColIndC, dtype)
            self._ops.geam(scalar(alpha, "alpha", dtype), a, scalar(beta, "beta", dtype), b, c)

    def XcsrgemmNnz(
        self, transA: str, transB: str, m: int, n: int, k: int, descrA: MatDescr, nnzA: int, csrRowPtrA: Any,
        csrColIndA: Any, descrB: MatDescr, nnzB: int, csrRowPtrB: Any, csrColIndB: Any, descrC: MatDescr,
        csrRowPtrC: Any,
    ) -> int:  # fmt: skip
        """The number of elements of a product, whose pointers are stored."""
        with self._call() as call:
            pair = self._factors(
                call, transA, transB, m, n, k, (descrA, nnzA, None, csrRowPtrA, csrColIndA),
                (descrB, nnzB, None, csrRowPtrB, csrColIndB), None,
            )  # fmt: skip
            pointers = sized(call, csrRowPtrC, "csrRowPtrC", np.int32, m + 1, True)
            return int(self._ops.gemm(*pair, Result(None, pointers, None, general(descrC, "C").indexbase)))

    def csrgemm(
        self, transA: str, transB: str, m: int, n: int, k: int, descrA: MatDescr, nnzA: int, csrValA: Any,
        csrRowPtrA: Any, csrColIndA: Any, descrB: MatDescr, nnzB: int, csrValB: Any, csrRowPtrB: Any, csrColIndB: Any,
        descrC: MatDescr, csrValC: Any, csrRowPtrC: Any, csrColIndC: Any,
    ) -> None:  # fmt: skip
        """C = op(A) op(B), where op(A) has m rows and k columns, op(B) n columns."""
        with self._call() as call:
            dtype = value_type(csrValA, "csrValA")
            pair = self._factors(
                call, transA, transB, m, n, k, (descrA, nnzA, csrValA, csrRowPtrA, csrColIndA),
                (descrB, nnzB, csrValB, csrRowPtrB, csrColIndB), dtype,
            )  # fmt: skip
            self._ops.gemm(*pair, _result(call, m, descrC, csrValC, csrRowPtrC, csrColIndC, dtype))

    def _factors(
        self, call: Call, transA: str, transB: str, m: int, n: int, k: int, a: Any, b: Any, dtype: Any
    ) -> tuple[Csr, int, Csr, int]:
        first, second = choice(transA, "transA", OPERATION), choice(transB, "transB", OPERATION)
        m, n, k = _counts(m=m, n=n, k=k)
        made: list[Csr] = []
        for name, rows, width, trans, (descr, nnz, values, pointers, indices) in (
            ("A", m, k, first, a), ("B", k, n, second, b)
        ):  # fmt: skip
            lines, across = (width, rows) if trans else (rows, width)
            nnz = count(nnz, f"nnz{name}")
            made.append(csr(call, lines, across, nnz, general(descr, name), values, pointers, indices, name, dtype))
        return made[0], first, made[1], second

    def csrgemm_ez(
        self, matA: Any, matB: Any, transA: str = "N", transB: str = "N", descrA: Any = None, descrB: Any = None,
        descrC: Any = None,
    ) -> CudaCSRMatrix:  # fmt: skip
        """The product of two matrices that `csr_matrix` makes, as such a matrix.

        Raises:
            ValueError: the product has no elements, or the shapes do not fit.
        """
        descrA, descrB, descrC = (d or self.matdescr() for d in (descrA, descrB, descrC))
        m, k = matA.shape[::-1] if choice(transA, "transA", OPERATION) else matA.shape
        inner, n = matB.shape[::-1] if choice(transB, "transB", OPERATION) else matB.shape
        if k != inner:
            raise ValueError(f"op(A) has {k} columns and op(B) {inner} rows")
        first, second = (descrA, matA.nnz), (descrB, matB.nnz)
        pointers = device_array(m + 1, np.int32)
        nnz = self.XcsrgemmNnz(
            transA, transB, m, n, k, *first, matA.indptr, matA.indices, *second, matB.indptr, matB.indices, descrC,
            pointers,
        )  # fmt: skip
        if nnz == 0:
            raise ValueError("the product has no elements")
        data, indices = device_array(nnz, matA.dtype), device_array(nnz, np.int32)
        self.csrgemm(
            transA, transB, m, n, k, *first, matA.data, matA.indptr, matA.indices, *second, matB.data, matB.indptr,
            matB.indices, descrC, data, pointers, indices,
        )  # fmt: skip
        return CudaCSRMatrix().from_attributes(matA.dtype, (m, n), nnz, data, indices, pointers)

    # --- Conversions --------------------------------------------------------------------------------------------------

    def bsr2csr(
        self, dirA: str, mb: int, nb: int, descrA: MatDescr, bsrValA: Any, bsrRowPtrA: Any, bsrColIndA: Any,
        blockDim: int, descrC: MatDescr, csrValC: Any, csrRowPtrC: Any, csrColIndC: Any,
    ) -> None:  # fmt: skip
        """A matrix by rows of one of square blocks, of which all elements are stored."""
        with self._call() as call:
            nnzb = _length(bsrColIndA)
            a = self._blocks(call, dirA, mb, nb, nnzb, descrA, bsrValA, bsrRowPtrA, bsrColIndA, blockDim)
            rows = mb * a.block
            self._ops.bsr2csr(a, _result(call, rows, descrC, csrValC, csrRowPtrC, csrColIndC, a.values.dtype))

    def Xcsr2bsrNnz(
        self, dirA: str, m: int, n: int, descrA: MatDescr, csrRowPtrA: Any, csrColIndA: Any, blockDim: int,
        descrC: MatDescr, bsrRowPtrC: Any,
    ) -> int:  # fmt: skip
        """The number of square blocks that a matrix has elements in; the pointers of their rows are stored."""
        with self._call() as call:
            m, n, block = _block_counts(m, n, blockDim)
            a = csr(call, m, n, _length(csrColIndA), general(descrA, "A"), None, csrRowPtrA, csrColIndA)
            pointers = sized(call, bsrRowPtrC, "bsrRowPtrC", np.int32, -(-m // block) + 1, True)
            c = Result(None, pointers, None, general(descrC, "C").indexbase)
            return int(self._ops.csr2bsr(a, block, choice(dirA, "dirA", _DIRECTIONS) == 1, c))

    def csr2bsr(
        self, dirA: str, m: int, n: int, descrA: MatDescr, csrValA: Any, csrRowPtrA: Any, csrColIndA: Any,
        blockDim: int, descrC: MatDescr, bsrValC: Any, bsrRowPtrC: Any, bsrColIndC: Any,
    ) -> None:  # fmt: skip
        """A matrix of square blocks of one by rows."""
        with self._call() as call:
            m, n, block = _block_counts(m, n, blockDim)
            a = csr(call, m, n, _length(csrColIndA), general(descrA, "A"), csrValA, csrRowPtrA, csrColIndA)
            c = _result(call, -(-m // block), descrC, bsrValC, bsrRowPtrC, bsrColIndC, a.values.dtype)
            self._ops.csr2bsr(a, block, choice(dirA, "dirA", _DIRECTIONS) == 1, c)

    def Xcoo2csr(self, cooRowInd: Any, nnz: int, m: int, csrRowPtr: Any) -> None:
        """The pointers of rows whose indices are in order."""
        nnz, m = _counts(nnz=nnz, m=m)
        with self._call() as call:
            rows = Indexed(None, sized(call, cooRowInd, "cooRowInd", np.int32, nnz), self.idxbase, "cooRowInd")
            self._ops.coo2csr(rows, m, sized(call, csrRowPtr, "csrRowPtr", np.int32, m + 1, True))

    def Xcsr2coo(self, csrRowPtr: Any, nnz: int, m: int, cooRowInd: Any) -> None:
        """The row of each element."""
        nnz, m = _counts(nnz=nnz, m=m)
        with self._call() as call:
            pointers = Indexed(None, sized(call, csrRowPtr, "csrRowPtr", np.int32, m + 1), self.idxbase, "csrRowPtr")
            self._ops.csr2coo(pointers, m, sized(call, cooRowInd, "cooRowInd", np.int32, nnz, True))

    def csr2csc(
        self, m: int, n: int, nnz: int, csrVal: Any, csrRowPtr: Any, csrColInd: Any, cscVal: Any, cscRowInd: Any,
        cscColPtr: Any, copyValues: Any,
    ) -> None:  # fmt: skip
        """A matrix by columns of one by rows: its values too if `copyValues` is "N", only its structure if "S"."""
        with self._call() as call:
            m, n, nnz = _counts(m=m, n=n, nnz=nnz)
            a = csr(call, m, n, nnz, self.matdescr(), csrVal, csrRowPtr, csrColInd)
            pointers = sized(call, cscColPtr, "cscColPtr", np.int32, n + 1, True)
            indices = sized(call, cscRowInd, "cscRowInd", np.int32, nnz, True)
            values = None
            if choice(copyValues, "copyValues", _ACTIONS):
                values = sized(call, cscVal, "cscVal", a.values.dtype, nnz, True)
            self._ops.csr2csc(a, Result(values, pointers, indices, self.idxbase))

    def csr2dense(
        self, m: int, n: int, descrA: MatDescr, csrValA: Any, csrRowPtrA: Any, csrColIndA: Any, A: Any, lda: int
    ) -> None:
        """A matrix whose elements are all stored, by columns, of one by rows."""
        self._to_dense(False, m, n, descrA, csrValA, csrRowPtrA, csrColIndA, A, lda)

    def csc2dense(
        self, m: int, n: int, descrA: MatDescr, cscValA: Any, cscRowIndA: Any, cscColPtrA: Any, A: Any, lda: int
    ) -> None:
        """A matrix whose elements are all stored, by columns, of a sparse one by columns."""
        self._to_dense(True, m, n, descrA, cscValA, cscColPtrA, cscRowIndA, A, lda)

    def _to_dense(
        self,
        by_columns: bool,
        m: int,
        n: int,
        descr: MatDescr,
        values: Any,
        pointers: Any,
        indices: Any,
        A: Any,
        lda: int,
    ) -> None:
        with self._call() as call:
            m, n, lda = _counts(m=m, n=n, lda=lda)
            lines, length = (n, m) if by_columns else (m, n)
            a = csr(call, lines, length, _length(indices), general(descr, "A"), values, pointers, indices)
            self._ops.to_dense(a, by_columns, columns(call, A, "A", a.values.dtype, m, n, lda, True))

    def dense2csr(
        self, m: int, n: int, descrA: MatDescr, A: Any, lda: int, nnzPerRow: Any, csrValA: Any, csrRowPtrA: Any,
        csrColIndA: Any,
    ) -> None:  # fmt: skip
        """The elements that are not 0, by rows, of which `nnz` counts the numbers."""
        self._from_dense(False, m, n, descrA, A, lda, nnzPerRow, csrValA, csrRowPtrA, csrColIndA)

    def dense2csc(
        self, m: int, n: int, descrA: MatDescr, A: Any, lda: int, nnzPerCol: Any, cscValA: Any, cscRowIndA: Any,
        cscColPtrA: Any,
    ) -> None:  # fmt: skip
        """The elements that are not 0, by columns, of which `nnz` counts the numbers."""
        self._from_dense(True, m, n, descrA, A, lda, nnzPerCol, cscValA, cscColPtrA, cscRowIndA)

    def _from_dense(
        self, by_columns: bool, m: int, n: int, descr: MatDescr, A: Any, lda: int, counts: Any, values: Any,
        pointers: Any, indices: Any,
    ) -> None:  # fmt: skip
        m, n, lda = _counts(m=m, n=n, lda=lda)
        with self._call() as call:
            dtype = value_type(A, "A")
            lines = n if by_columns else m
            there = columns(call, A, "A", dtype, m, n, lda)
            c = _result(call, lines, descr, values, pointers, indices, dtype)
            self._ops.from_dense(there, by_columns, sized(call, counts, "the counts", np.int32, lines), c)

    def nnz(self, dirA: str, m: int, n: int, descrA: MatDescr, A: Any, lda: int, nnzPerRowCol: Any) -> int:
        """The number of elements that are not 0, of each row (`dirA` "R") or column ("C"), and of all together."""
        by_columns = choice(dirA, "dirA", _DIRECTIONS) == 1
        m, n, lda = _counts(m=m, n=n, lda=lda)
        general(descrA, "A")
        with self._call() as call:
            there = columns(call, A, "A", value_type(A, "A"), m, n, lda)
            lines = n if by_columns else m
            counts = sized(call, nnzPerRowCol, "nnzPerRowCol", np.int32, lines, True)
            return int(self._ops.counted(there, by_columns, counts))


def _counts(**given: Any) -> Any:
    return tuple(count(value, name) for name, value in given.items())


def _block_counts(m: Any, n: Any, block: Any) -> Any:
    found = _counts(m=m, n=n, blockDim=block)
    if found[2] == 0:
        raise ValueError("blockDim is 0")
    return found


def _length(indices: Any) -> int:
    size = getattr(indices, "size", None)
    if not isinstance(size, (int, np.integer)):
        raise TypeError(f"indices are an array of NumPy or of a device, not {type(indices).__name__}")
    return int(size)


def _vectors(call: Call, x: Any, y: Any, dtype: Any, sizes: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """y and x, of at least the sizes of x and y."""
    source, there = call.vector(x, "x", dtype), call.vector(y, "y", dtype, True)
    for name, a, n in (("x", source, sizes[0]), ("y", there, sizes[1])):
        if a.size < n:
            raise ValueError(f"{name} has {a.size} elements, where {n} are needed")
        if call.gpu is not None and a.size > 1 and a.strides[0] != a.itemsize:
            raise ValueError(f"{name} has gaps between its elements")
    return there[: sizes[1]], source[: sizes[0]]


def _result(call: Call, rows: int, descr: MatDescr, values: Any, pointers: Any, indices: Any, dtype: Any) -> Result:
    base = general(descr, "the result").indexbase
    return Result(
        call.flat(values, "the result's values", dtype, True),
        sized(call, pointers, "the result's pointers", np.int32, rows + 1, True),
        call.flat(indices, "the result's indices", np.int32, True),
        base,
    )


__all__ = [
    "CuSparseError", "CudaBSRMatrix", "CudaCSCMatrix", "CudaCSRMatrix", "CudaSparseMatrix", "MatDescr", "Sparse",
    "bsr_matrix", "csc_matrix", "csr_matrix",
]  # fmt: skip
public(globals())
