"""cuSPARSE on a GPU: the operations of `Sparse` by the functions that the library has now."""

# mypy: disable-error-code="no-untyped-def, misc"
from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lancehead import cuda
from lancehead.cudalib.libraries import CUSPARSE
from lancehead.cudalib.operands import LETTERS, Call, Described, host_pointer, leading, pointer
from lancehead.cudalib.sparse_operands import Blocks, Csr, Indexed, Result

# `cudaDataType`, `cusparseIndexType_t`, and the library's default algorithms and orders.
_DATA = {np.dtype("f"): 0, np.dtype("d"): 1, np.dtype("F"): 4, np.dtype("D"): 5}
_INT32, _COLUMNS, _DEFAULT, _CSR2CSC = 2, 1, 0, 1
_FILL_MODE, _DIAG_TYPE = 0, 1
_BLOCK = 256


@cuda.jit
def _conjugate(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = a[i].conjugate()


def _int(n: int) -> ctypes.c_int:
    return ctypes.c_int(n)


def _long(n: int) -> ctypes.c_int64:
    return ctypes.c_int64(n)


def _data(a: Any) -> ctypes.c_int:
    return _int(_DATA[np.dtype(a.dtype)])


class Gpu:
    """The operations. `call` is the one that is made."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.call = Call()

    def _run(self, name: str, *args: Any) -> None:
        CUSPARSE.call(f"cusparse{name}", self.session._handle, *args)

    @contextmanager
    def _made(self, create: str, destroy: str, *args: Any) -> Iterator[ctypes.c_void_p]:
        """An object of the library, for as long as a block."""
        handle = ctypes.c_void_p()
        CUSPARSE.call(f"cusparse{create}", ctypes.byref(handle), *args)
        try:
            yield handle
        finally:
            CUSPARSE.call(f"cusparse{destroy}", handle)

    def _vector(self, a: np.ndarray) -> Any:
        return self._made("CreateDnVec", "DestroyDnVec", _long(a.size), pointer(a), _data(a))

    def _matrix(self, a: np.ndarray) -> Any:
        extents = (_long(a.shape[0]), _long(a.shape[1]), _long(leading(a)))
        return self._made("CreateDnMat", "DestroyDnMat", *extents, pointer(a), _data(a), _int(_COLUMNS))

    def _indexed(self, x: Indexed, size: int) -> Any:
        return self._made(
            "CreateSpVec", "DestroySpVec", _long(size), _long(x.indices.size), pointer(x.indices), pointer(x.values),
            _int(_INT32), _int(x.base), _data(x.values),
        )  # fmt: skip

    def _sparse(self, a: Csr | Result, shape: tuple[int, int], nnz: int, dtype: Any, by_columns: bool = False) -> Any:
        kind = "Csc" if by_columns else "Csr"
        parts = [ctypes.c_void_p() if x is None else pointer(x) for x in (a.pointers, a.indices, a.values)]
        return self._made(
            f"Create{kind}", "DestroySpMat", _long(shape[0]), _long(shape[1]), _long(nnz), *parts, _int(_INT32),
            _int(_INT32), _int(a.base), _int(_DATA[np.dtype(dtype)]),
        )  # fmt: skip

    def _csr(self, a: Csr) -> Any:
        return self._sparse(a, (a.rows, a.columns), self._count(a), a.values.dtype)

    def _count(self, a: Csr | Blocks) -> int:
        """How many elements, or blocks, a matrix has; the arrays may be longer."""
        if not a.rows:
            return 0
        found = int(self.call.read(a.pointers[a.rows : a.rows + 1])[0]) - a.base
        if not 0 <= found <= a.indices.size:
            raise ValueError(f"the pointers of {a.name} do not ascend from {a.base} to at most its {a.indices.size}")
        return found

    @contextmanager
    def _described(self, base: int) -> Iterator[ctypes.c_void_p]:
        with self._made("CreateMatDescr", "DestroyMatDescr") as descr:
            CUSPARSE.call("cusparseSetMatIndexBase", descr, _int(base))
            yield descr

    def _buffered(self, question: str, name: str, *args: Any) -> None:
        """Calls a function with memory of the size that another one says."""
        size = ctypes.c_size_t()
        self._run(question, *args, ctypes.byref(size))
        self._run(name, *args, self.call.bytes(size.value))

    # --- Sparse vectors -----------------------------------------------------------------------------------------------

    def axpyi(self, alpha: Any, x: Indexed, y: np.ndarray) -> None:
        with self._indexed(x, y.size) as sparse, self._vector(y) as dense:
            self._run("Axpby", host_pointer(alpha), sparse, host_pointer(y.dtype.type(1)), dense)

    def doti(self, x: Indexed, y: np.ndarray, conjugated: bool) -> Any:
        out = np.zeros(1, y.dtype)
        with self._indexed(x, y.size) as sparse, self._vector(y) as dense:
            given = (_int(2 if conjugated else 0), sparse, dense, host_pointer(out), _data(y))
            self._buffered("SpVV_bufferSize", "SpVV", *given)
        return out[0]

    def gather(self, y: np.ndarray, x: Indexed, clears: bool) -> None:
        with self._indexed(x, y.size) as sparse, self._vector(y) as dense:
            self._run("Gather", dense, sparse)
        if clears:
            zeros = self.call.array(np.zeros(x.indices.size, y.dtype), "zeros")
            self.scatter(Indexed(zeros, x.indices, x.base, x.name), y)

    def scatter(self, x: Indexed, y: np.ndarray) -> None:
        with self._indexed(x, y.size) as sparse, self._vector(y) as dense:
            self._run("Scatter", sparse, dense)

    def roti(self, x: Indexed, y: np.ndarray, c: Any, s: Any) -> None:
        with self._indexed(x, y.size) as sparse, self._vector(y) as dense:
            self._run("Rot", host_pointer(c), host_pointer(s), sparse, dense)

    # --- Products -----------------------------------------------------------------------------------------------------

    def spmv(self, a: Csr, trans: int, alpha: Any, x: np.ndarray, beta: Any, y: np.ndarray) -> None:
        with self._csr(a) as matrix, self._vector(x) as source, self._vector(y) as there:
            given = (_int(trans), host_pointer(alpha), matrix, source, host_pointer(beta), there, _data(y))
            self._buffered("SpMV_bufferSize", "SpMV", *given, _int(_DEFAULT))

    def spmm(self, a: Csr, trans: int, alpha: Any, b: np.ndarray, trans_b: int, beta: Any, c: np.ndarray) -> None:
        with self._csr(a) as matrix, self._matrix(b) as right, self._matrix(c) as there:
            operations = (_int(trans), _int(trans_b))
            given = (*operations, host_pointer(alpha), matrix, right, host_pointer(beta), there, _data(c))
            self._buffered("SpMM_bufferSize", "SpMM", *given, _int(_DEFAULT))

    def bsrmv(self, a: Blocks, alpha: Any, x: np.ndarray, beta: Any, y: np.ndarray) -> None:
        with self._described(a.base) as descr:
            self._run(
                f"{LETTERS[y.dtype]}bsrmv", _int(a.by_columns), _int(0), _int(a.rows), _int(a.columns),
                _int(self._count(a)), host_pointer(alpha), descr, pointer(a.values), pointer(a.pointers),
                pointer(a.indices), _int(a.block), pointer(x), host_pointer(beta), pointer(y),
            )  # fmt: skip

    def bsrxmv(
        self, a: Blocks, mask: np.ndarray, ends: np.ndarray, alpha: Any, x: np.ndarray, beta: Any, y: np.ndarray
    ) -> None:
        with self._described(a.base) as descr:
            self._run(
                f"{LETTERS[y.dtype]}bsrxmv", _int(a.by_columns), _int(0), _int(mask.size), _int(a.rows),
                _int(a.columns), _int(a.indices.size), host_pointer(alpha), descr, pointer(a.values), pointer(mask),
                pointer(a.pointers), pointer(ends), pointer(a.indices), _int(a.block), pointer(x), host_pointer(beta),
                pointer(y),
            )  # fmt: skip

    # --- Systems ------------------------------------------------------------------------------------------------------

    def spsm(self, a: Csr, trans: int, alpha: Any, x: np.ndarray, y: np.ndarray) -> None:
        with (
            self._csr(a) as matrix,
            self._matrix(x) as source,
            self._matrix(y) as there,
            self._made("SpSM_createDescr", "SpSM_destroyDescr") as plan,
        ):
            for attribute, value in ((_FILL_MODE, a.is_upper), (_DIAG_TYPE, a.is_unit)):
                word = ctypes.c_int(value)
                size = ctypes.c_size_t(ctypes.sizeof(word))
                CUSPARSE.call("cusparseSpMatSetAttribute", matrix, _int(attribute), ctypes.byref(word), size)
            given = (_int(trans), _int(0), host_pointer(alpha), matrix, source, there, _data(y), _int(_DEFAULT), plan)
            self._buffered("SpSM_bufferSize", "SpSM_analysis", *given)
            self._run("SpSM_solve", *given)

    def factor(self, a: Csr, is_symmetric: bool) -> None:
        kind = "csric02" if is_symmetric else "csrilu02"
        typed, named = f"{LETTERS[a.values.dtype]}{kind}", f"{kind[0].upper()}{kind[1:]}"
        with (
            self._made(f"Create{named}Info", f"Destroy{named}Info") as info,
            self._described(a.base) as descr,
        ):
            arrays = (pointer(a.values), pointer(a.pointers), pointer(a.indices))
            given = (_int(a.rows), _int(self._count(a)), descr, *arrays, info)
            size, row = ctypes.c_int(), ctypes.c_int(-1)
            self._run(f"{typed}_bufferSize", *given, ctypes.byref(size))
            work = self.call.bytes(size.value)
            for name in (f"{typed}_analysis", typed):
                self._run(name, *given, _int(0), work)
                self._run(f"X{kind}_zeroPivot", info, ctypes.byref(row))

    def gtsv(self, low: np.ndarray, d: np.ndarray, high: np.ndarray, b: np.ndarray, pivots: bool) -> None:
        name = f"{LETTERS[d.dtype]}gtsv2{'' if pivots else '_nopivot'}"
        given = (_int(b.shape[0]), _int(b.shape[1]), *map(pointer, (low, d, high, b)), _int(leading(b)))
        self._buffered(f"{name}_bufferSizeExt", name, *given)

    def gtsv_batch(self, low: np.ndarray, d: np.ndarray, high: np.ndarray, x: np.ndarray, stride: int) -> None:
        name = f"{LETTERS[d.dtype]}gtsv2StridedBatch"
        given = (_int(x.shape[0]), *map(pointer, (low, d, high, x)), _int(x.shape[1]), _int(stride))
        self._buffered(f"{name}_bufferSizeExt", name, *given)

    # --- Sums and products of sparse matrices -------------------------------------------------------------------------

    def geam(self, alpha: Any, a: Csr, beta: Any, b: Csr, c: Result) -> int:
        letter, count = LETTERS[a.values.dtype], ctypes.c_int()
        with self._described(a.base) as first, self._described(b.base) as second, self._described(c.base) as third:
            sides = []
            for factor, x, descr in ((alpha, a, first), (beta, b, second)):
                arrays = (pointer(x.values), pointer(x.pointers), pointer(x.indices))
                sides.append((host_pointer(factor), descr, _int(self._count(x)), *arrays))
            given = (_int(a.rows), _int(a.columns), *sides[0], *sides[1], third)
            out = _out(c)
            size = ctypes.c_size_t()
            self._run(f"{letter}csrgeam2_bufferSizeExt", *given, *out, ctypes.byref(size))
            work = self.call.bytes(size.value)
            structure = [(descr, nnz, ptr, ind) for _, descr, nnz, _, ptr, ind in sides]
            extents = (_int(a.rows), _int(a.columns))
            given_structure = (*extents, *structure[0], *structure[1], third, pointer(c.pointers))
            self._run("Xcsrgeam2Nnz", *given_structure, ctypes.byref(count), work)
            if c.values is not None:
                c.check(count.value)
                self._run(f"{letter}csrgeam2", *given, *out, work)
        return count.value

    def gemm(self, a: Csr, trans_a: int, b: Csr, trans_b: int, c: Result) -> int:
        first, second, dtype = self._applied(a, trans_a), self._applied(b, trans_b), a.values.dtype
        if first.columns != second.rows:
            raise ValueError(f"op(A) has {first.columns} columns and op(B) {second.rows} rows")
        one, zero = host_pointer(dtype.type(1)), host_pointer(dtype.type(0))
        empty = Result(None, c.pointers, None, c.base)
        with (
            self._csr(first) as left,
            self._csr(second) as right,
            self._sparse(empty, (first.rows, second.columns), 0, dtype) as there,
            self._made("SpGEMM_createDescr", "SpGEMM_destroyDescr") as plan,
        ):
            given = (_int(0), _int(0), one, left, right, zero, there, _data(a.values), _int(_DEFAULT), plan)
            for step in ("SpGEMM_workEstimation", "SpGEMM_compute"):
                size = ctypes.c_size_t()
                self._run(step, *given, ctypes.byref(size), ctypes.c_void_p())
                self._run(step, *given, ctypes.byref(size), self.call.bytes(size.value))
            nnz = self._fill(there, c, dtype)
            self._run("SpGEMM_copy", *given)
        return nnz

    def _fill(self, there: Any, c: Result, dtype: Any, by_columns: bool = False) -> int:
        """Gives a matrix of the library the memory of a result; what that lacks is thrown away."""
        extents = [ctypes.c_int64() for _ in range(3)]
        CUSPARSE.call("cusparseSpMatGetSize", there, *map(ctypes.byref, extents))
        nnz = extents[2].value
        c.check(nnz)
        values = self.call.empty(max(nnz, 1), dtype) if c.values is None else c.values
        indices = self.call.empty(max(nnz, 1), np.int32) if c.indices is None else c.indices
        name = f"cusparse{'Csc' if by_columns else 'Csr'}SetPointers"
        CUSPARSE.call(name, there, *map(pointer, (c.pointers, indices, values)))
        return nnz

    def _applied(self, a: Csr, trans: int) -> Csr:
        if trans == 0:
            return a
        nnz = self._count(a)
        values, indices = self.call.empty(max(nnz, 1), a.values.dtype), self.call.empty(max(nnz, 1), np.int32)
        pointers = self.call.empty(a.columns + 1, np.int32)
        self.csr2csc(a, Result(values, pointers, indices, a.base))
        if trans == 2 and values.dtype.kind == "c":
            launch = _conjugate[-(-values.size // _BLOCK), _BLOCK, self.session.stream]
            launch(cuda.as_cuda_array(Described(values)))
        return Csr(a.columns, a.rows, values, pointers, indices, a.base, a.is_upper, a.is_unit, a.name)

    # --- Conversions --------------------------------------------------------------------------------------------------

    def csr2csc(self, a: Csr, c: Result) -> None:
        nnz = self._count(a)
        c.check(nnz)
        has_values = c.values is not None
        arrays = [pointer(x) for x in (a.values, a.pointers, a.indices)]
        self._buffered(
            "Csr2cscEx2_bufferSize", "Csr2cscEx2", _int(a.rows), _int(a.columns), _int(nnz), *arrays, *_out(c),
            _data(a.values), _int(has_values), _int(a.base), _int(_CSR2CSC),
        )  # fmt: skip

    def bsr2csr(self, a: Blocks, c: Result) -> None:
        c.check(self._count(a) * a.block * a.block)
        with self._described(a.base) as first, self._described(c.base) as second:
            self._run(
                f"{LETTERS[a.values.dtype]}bsr2csr", _int(a.by_columns), _int(a.rows), _int(a.columns), first,
                pointer(a.values), pointer(a.pointers), pointer(a.indices), _int(a.block), second, *_out(c),
            )  # fmt: skip

    def csr2bsr(self, a: Csr, block: int, by_columns: bool, c: Result) -> int:
        total = ctypes.c_int()
        with self._described(a.base) as first, self._described(c.base) as second:
            head = (_int(by_columns), _int(a.rows), _int(a.columns), first)
            structure = (pointer(a.pointers), pointer(a.indices), _int(block), second)
            self._run("Xcsr2bsrNnz", *head, *structure, pointer(c.pointers), ctypes.byref(total))
            if c.values is not None:
                c.check(total.value, block * block)
                self._run(f"{LETTERS[a.values.dtype]}csr2bsr", *head, pointer(a.values), *structure, *_out(c))
        return total.value

    def coo2csr(self, x: Indexed, rows: int, out: np.ndarray) -> None:
        self._run("Xcoo2csr", pointer(x.indices), _int(x.indices.size), _int(rows), pointer(out), _int(x.base))

    def csr2coo(self, x: Indexed, rows: int, out: np.ndarray) -> None:
        self._run("Xcsr2coo", pointer(x.indices), _int(out.size), _int(rows), pointer(out), _int(x.base))

    def to_dense(self, a: Csr, by_columns: bool, out: np.ndarray) -> None:
        shape = (out.shape[0], out.shape[1])
        with (
            self._sparse(a, shape, self._count(a), a.values.dtype, by_columns) as matrix,
            self._matrix(out) as there,
        ):
            self._buffered("SparseToDense_bufferSize", "SparseToDense", matrix, there, _int(_DEFAULT))

    def from_dense(self, a: np.ndarray, by_columns: bool, counts: np.ndarray, c: Result) -> None:
        shape, empty = (a.shape[0], a.shape[1]), Result(None, c.pointers, None, c.base)
        with self._matrix(a) as matrix, self._sparse(empty, shape, 0, a.dtype, by_columns) as there:
            size = ctypes.c_size_t()
            given = (matrix, there, _int(_DEFAULT))
            self._run("DenseToSparse_bufferSize", *given, ctypes.byref(size))
            work = self.call.bytes(size.value)
            self._run("DenseToSparse_analysis", *given, work)
            self._fill(there, c, a.dtype, by_columns)
            self._run("DenseToSparse_convert", *given, work)

    def counted(self, a: np.ndarray, by_columns: bool, out: np.ndarray) -> int:
        total = ctypes.c_int()
        with self._described(0) as descr:
            self._run(
                f"{LETTERS[a.dtype]}nnz", _int(by_columns), _int(a.shape[0]), _int(a.shape[1]), descr, pointer(a),
                _int(leading(a)), pointer(out), ctypes.byref(total),
            )  # fmt: skip
        return total.value


def _out(c: Result) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p() if x is None else pointer(x) for x in (c.values, c.pointers, c.indices)]
