"""cuSPARSE for tests, without a GPU: see `library_stand_in`. Matrices are SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from library_stand_in import Library, address, at, columns, number

_DATA = {0: np.float32, 1: np.float64, 4: np.complex64, 5: np.complex128}
_LETTERS = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128}
_SIZE = 64


def _applied(a: Any, trans: Any) -> Any:
    kind = number(trans)
    return a if kind == 0 else a.T if kind == 1 else a.conj().T


class Sparse:
    """A matrix in the memory of the GPU."""

    def __init__(self, kind: Any, rows: Any, width: Any, nnz: Any, parts: Any, base: Any, dtype: Any) -> None:
        self.kind, self.shape, self.nnz = kind, (number(rows), number(width)), number(nnz)
        self.parts, self.base, self.dtype = list(parts), number(base), _DATA[number(dtype)]
        self.attributes: dict[int, int] = {}
        # The result that the library has computed and not stored yet.
        self.pending: Any = None

    @property
    def lines(self) -> int:
        """How many rows or columns have pointers."""
        return self.shape[0] if self.kind is scipy.sparse.csr_matrix else self.shape[1]

    def matrix(self) -> Any:
        """SciPy's."""
        pointers = at(self.parts[0], np.int32, self.lines + 1) - self.base
        assert pointers[-1] == self.nnz, "the number of elements is another"
        indices, values = (at(x, t, self.nnz) for x, t in zip(self.parts[1:], (np.int32, self.dtype), strict=True))
        return self.kind((values, indices - self.base, pointers), self.shape)

    def store(self, found: Any) -> None:
        """Stores one of SciPy's in the memory."""
        assert address(self.parts[1]) and address(self.parts[2])
        at(self.parts[0], np.int32, self.lines + 1)[:] = found.indptr + self.base
        at(self.parts[1], np.int32, found.nnz)[:] = found.indices + self.base
        at(self.parts[2], self.dtype, found.nnz)[:] = found.data


def _of(rows: int, width: int, nnz: Any, values: Any, pointers: Any, indices: Any, base: int, dtype: Any) -> Any:
    """A matrix by rows of the older functions' arguments."""
    pointers = at(pointers, np.int32, rows + 1) - base
    assert pointers[-1] == number(nnz)
    data = at(values, dtype, pointers[-1])
    return scipy.sparse.csr_matrix((data, at(indices, np.int32, pointers[-1]) - base, pointers), (rows, width))


class Cusparse(Library):
    """The library."""

    def __init__(self) -> None:
        super().__init__("cusparse", "cusparse")

    def run(self, name: str, args: tuple[Any, ...]) -> int | None:
        do = getattr(type(self), f"do_{name}", None)
        if do is not None:
            do(self, *args)
        elif name.endswith("_createDescr"):
            self.new(args[0], name)
        elif name.endswith("_destroyDescr"):
            del self.objects[number(args[0])]
        elif name.endswith(("_bufferSize", "_bufferSizeExt")):
            args[-1]._obj.value = _SIZE
        elif name.startswith(("Create", "Destroy")):
            return super().run(name, args)
        elif name[0] in _LETTERS and (do := getattr(type(self), f"typed_{name[1:]}", None)) is not None:
            do(self, _LETTERS[name[0]], *args)
        return None

    def get(self, x: Any) -> Any:
        """An object by its handle."""
        return self.objects[number(x)]

    def do_CreateDnVec(self, out: Any, size: Any, values: Any, dtype: Any) -> None:
        self.new(out, at(values, _DATA[number(dtype)], number(size)))

    def do_CreateDnMat(self, out: Any, m: Any, n: Any, ld: Any, values: Any, dtype: Any, order: Any) -> None:
        assert number(order) == 1
        self.new(out, columns(values, _DATA[number(dtype)], number(m), number(n), number(ld)))

    def do_CreateSpVec(
        self, out: Any, size: Any, nnz: Any, indices: Any, values: Any, kind: Any, base: Any, dtype: Any
    ) -> None:
        assert number(kind) == 2
        places = at(indices, np.int32, number(nnz)) - number(base)
        self.new(out, (places, at(values, _DATA[number(dtype)], number(nnz))))

    def do_CreateCsr(self, out: Any, rows: Any, width: Any, nnz: Any, *rest: Any) -> None:
        self._create(scipy.sparse.csr_matrix, out, rows, width, nnz, *rest)

    def do_CreateCsc(self, out: Any, rows: Any, width: Any, nnz: Any, *rest: Any) -> None:
        self._create(scipy.sparse.csc_matrix, out, rows, width, nnz, *rest)

    def _create(self, kind: Any, out: Any, rows: Any, width: Any, nnz: Any, *rest: Any) -> None:
        assert number(rest[3]) == number(rest[4]) == 2
        self.new(out, Sparse(kind, rows, width, nnz, rest[:3], rest[5], rest[6]))

    def do_CreateMatDescr(self, out: Any) -> None:
        self.new(out, {"base": 0})

    def do_SetMatIndexBase(self, descr: Any, base: Any) -> None:
        self.get(descr)["base"] = number(base)

    def do_SpMatSetAttribute(self, matrix: Any, attribute: Any, data: Any, size: Any) -> None:
        assert number(size) == 4
        self.get(matrix).attributes[number(attribute)] = data._obj.value

    def do_Axpby(self, handle: Any, alpha: Any, x: Any, beta: Any, y: Any) -> None:
        (places, values), there = self.get(x), self.get(y)
        there *= at(beta, there.dtype, 1)
        there[places] += at(alpha, there.dtype, 1) * values

    def do_SpVV(self, handle: Any, trans: Any, x: Any, y: Any, out: Any, dtype: Any, buffer: Any) -> None:
        (places, values), there = self.get(x), self.get(y)
        at(out, there.dtype, 1)[:] = (values.conj() if number(trans) else values) @ there[places]

    def do_Gather(self, handle: Any, y: Any, x: Any) -> None:
        places, values = self.get(x)
        values[:] = self.get(y)[places]

    def do_Scatter(self, handle: Any, x: Any, y: Any) -> None:
        places, values = self.get(x)
        self.get(y)[places] = values

    def do_Rot(self, handle: Any, c: Any, s: Any, x: Any, y: Any) -> None:
        (places, values), there = self.get(x), self.get(y)
        c, s = (at(z, there.dtype, 1) for z in (c, s))
        u, v = values.copy(), there[places]
        values[:], there[places] = c * u + s * v, c * v - s * u

    def do_SpMV(self, handle: Any, trans: Any, alpha: Any, a: Any, x: Any, beta: Any, y: Any, *rest: Any) -> None:
        there, scale = self.get(y), at(beta, self.get(y).dtype, 1)
        product = _applied(self.get(a).matrix(), trans) @ self.get(x)
        there[:] = at(alpha, there.dtype, 1) * product + (scale * there if scale else 0)

    def do_SpMM(self, handle: Any, ta: Any, tb: Any, alpha: Any, a: Any, b: Any, beta: Any, c: Any, *rest: Any) -> None:
        there, scale = self.get(c), at(beta, self.get(c).dtype, 1)
        product = _applied(self.get(a).matrix(), ta) @ _applied(self.get(b), tb)
        there[:] = at(alpha, there.dtype, 1) * product + (scale * there if scale else 0)

    def do_SpSM_solve(
        self, handle: Any, trans: Any, other: Any, alpha: Any, a: Any, x: Any, y: Any, *rest: Any
    ) -> None:
        matrix, there = self.get(a), self.get(y)
        triangle = (np.triu if matrix.attributes[0] else np.tril)(matrix.matrix().toarray())
        if matrix.attributes[1]:
            np.fill_diagonal(triangle, 1)
        there[:] = np.linalg.solve(_applied(triangle, trans), at(alpha, there.dtype, 1) * self.get(x))

    def do_SpGEMM_workEstimation(self, *args: Any) -> None:
        args[-2]._obj.value = _SIZE

    def do_SpGEMM_compute(
        self, handle: Any, ta: Any, tb: Any, alpha: Any, a: Any, b: Any, beta: Any, c: Any, *rest: Any
    ) -> None:
        rest[-2]._obj.value = _SIZE
        if address(rest[-1]):
            there = self.get(c)
            there.pending = (self.get(a).matrix() @ self.get(b).matrix()).tocsr()
            there.pending.sort_indices()
            there.nnz = there.pending.nnz

    def do_SpGEMM_copy(self, *args: Any) -> None:
        there = self.get(args[7])
        there.store(there.pending)

    def do_SpMatGetSize(self, matrix: Any, rows: Any, width: Any, nnz: Any) -> None:
        there = self.get(matrix)
        rows._obj.value, width._obj.value, nnz._obj.value = *there.shape, there.nnz

    def do_CsrSetPointers(self, matrix: Any, *parts: Any) -> None:
        self.get(matrix).parts = list(parts)

    do_CscSetPointers = do_CsrSetPointers

    def do_SparseToDense(self, handle: Any, a: Any, out: Any, *rest: Any) -> None:
        self.get(out)[:] = self.get(a).matrix().toarray()

    def do_DenseToSparse_analysis(self, handle: Any, a: Any, out: Any, *rest: Any) -> None:
        there = self.get(out)
        there.pending = there.kind(self.get(a))
        there.nnz = there.pending.nnz

    def do_DenseToSparse_convert(self, handle: Any, a: Any, out: Any, *rest: Any) -> None:
        self.get(out).store(self.get(out).pending)

    def do_Csr2cscEx2(self, handle: Any, m: Any, n: Any, nnz: Any, *rest: Any) -> None:
        values, pointers, indices, out, out_pointers, out_indices, kind, copies, base, _, buffer = rest
        dtype = _DATA[number(kind)]
        base = number(base)
        found = _of(number(m), number(n), nnz, values, pointers, indices, base, dtype).tocsc()
        at(out_pointers, np.int32, number(n) + 1)[:] = found.indptr + base
        at(out_indices, np.int32, found.nnz)[:] = found.indices + base
        if number(copies):
            at(out, dtype, found.nnz)[:] = found.data

    def do_Xcsrgeam2Nnz(self, handle: Any, m: Any, n: Any, *rest: Any) -> None:
        da, nnz_a, pa, ia, db, nnz_b, pb, ib, dc, pointers, total, buffer = rest
        shape = number(m), number(n)
        found = 0
        for descr, nnz, ptr, ind in ((da, nnz_a, pa, ia), (db, nnz_b, pb, ib)):
            ones = np.ones(number(nnz) + 1)
            found = found + _of(*shape, nnz, ones.ctypes.data, ptr, ind, self.get(descr)["base"], np.float64)
        at(pointers, np.int32, shape[0] + 1)[:] = found.indptr + self.get(dc)["base"]
        total._obj.value = found.nnz

    def typed_csrgeam2(self, dtype: Any, handle: Any, m: Any, n: Any, *rest: Any) -> None:
        alpha, da, nnz_a, va, pa, ia, beta, db, nnz_b, vb, pb, ib, dc, vc, pc, ic, buffer = rest
        shape = number(m), number(n)
        first = _of(*shape, nnz_a, va, pa, ia, self.get(da)["base"], dtype)
        second = _of(*shape, nnz_b, vb, pb, ib, self.get(db)["base"], dtype)
        found = at(alpha, dtype, 1)[0] * first + at(beta, dtype, 1)[0] * second
        found.sort_indices()
        at(vc, dtype, found.nnz)[:] = found.data
        at(ic, np.int32, found.nnz)[:] = found.indices + self.get(dc)["base"]

    def typed_nnz(
        self, dtype: Any, handle: Any, way: Any, m: Any, n: Any, descr: Any, a: Any, lda: Any, out: Any, total: Any
    ) -> None:
        found = (columns(a, dtype, number(m), number(n), number(lda)) != 0).sum(axis=1 - number(way))
        at(out, np.int32, found.size)[:] = found
        total._obj.value = int(found.sum())

    def typed_bsrmv(
        self, dtype: Any, handle: Any, way: Any, trans: Any, mb: Any, nb: Any, nnzb: Any, *rest: Any
    ) -> None:
        alpha, descr, values, pointers, indices, block, x, beta, y = rest
        size, base = number(block), self.get(descr)["base"]
        blocks = at(values, dtype, number(nnzb) * size * size).reshape(-1, size, size)
        parts = (blocks.transpose(0, 2, 1) if number(way) else blocks, at(indices, np.int32, number(nnzb)) - base,
                 at(pointers, np.int32, number(mb) + 1) - base)  # fmt: skip
        a = scipy.sparse.bsr_matrix(parts, shape=(number(mb) * size, number(nb) * size))
        there = at(y, dtype, a.shape[0])
        there[:] = at(alpha, dtype, 1) * (a @ at(x, dtype, a.shape[1])) + at(beta, dtype, 1) * there

    def do_Xcoo2csr(self, handle: Any, rows: Any, nnz: Any, m: Any, out: Any, base: Any) -> None:
        counts = np.bincount(at(rows, np.int32, number(nnz)) - number(base), minlength=number(m))
        at(out, np.int32, number(m) + 1)[:] = np.concatenate([[0], counts.cumsum()]) + number(base)

    def do_Xcsr2coo(self, handle: Any, pointers: Any, nnz: Any, m: Any, out: Any, base: Any) -> None:
        counts = np.diff(at(pointers, np.int32, number(m) + 1))
        at(out, np.int32, number(nnz))[:] = np.repeat(np.arange(number(m)), counts) + number(base)
