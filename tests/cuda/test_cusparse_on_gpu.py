"""cuSPARSE on a GPU: the calls of `Sparse` as on the CPU device, by the library that stands in for NVIDIA's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from lancehead import cuda
from lancehead.cudalib import cusparse, libraries
from sparse_stand_in import Cusparse
from stand_in import StandIn

M, N, K = 6, 5, 4


@pytest.fixture
def there(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cusparse]:
    library = Cusparse()
    library.before = gpu.library.fake_finish
    monkeypatch.setattr(libraries.CUSPARSE, "_opened", library)
    yield library
    assert not library.objects, "something of the library was not ended"


class Arrays:
    """Matrices whose indices begin with a base."""

    def __init__(self, dtype: Any, base: int) -> None:
        self.dtype, self.base, self.rng = dtype, np.int32(base), np.random.default_rng(4)

    def dense(self, *shape: int) -> np.ndarray:
        a = self.rng.normal(size=shape)
        a = a + 1j * self.rng.normal(size=shape) if np.dtype(self.dtype).kind == "c" else a
        return np.asfortranarray(a.astype(self.dtype))

    def sparse(self, m: int, n: int) -> tuple[Any, ...]:
        a = scipy.sparse.csr_matrix(
            self.dense(m, n) * (self.rng.random((m, n)) < 0.5) + 3 * np.eye(m, n, dtype=self.dtype)
        )
        a.sort_indices()
        return a.nnz, a.data, a.indptr.astype(np.int32) + self.base, a.indices.astype(np.int32) + self.base

    def new(self, nnz: int, lines: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.zeros(nnz, self.dtype), np.zeros(lines + 1, np.int32), np.zeros(nnz, np.int32)


def vectors_and_products(dtype: Any, base: int) -> list[Any]:
    a, found = Arrays(dtype, base), []
    with cusparse.Sparse(base, cuda.stream()) as s:
        d, places = s.matdescr(), np.array([1, 4, 2], np.int32) + a.base
        x, y = a.dense(3), cuda.to_device(a.dense(6))
        s.axpyi(2, x, places, y)
        found.append(s.doti(x, places, y))
        if np.dtype(dtype).kind == "c":
            found.append(s.dotci(x, places, y))
        else:
            s.roti(x, places, y, 0.6, 0.8)
        s.gthr(y, z := np.zeros(3, dtype), places)
        found += [x, z]
        s.gthrz(y, x, places)
        found += [x, y.copy_to_host()]
        s.sctr(x, places, y)
        nnz, *arrays = a.sparse(M, N)
        for trans, (m, n) in (("N", (M, N)), ("T", (N, M)), ("C", (N, M))):
            x, y = a.dense(n), a.dense(m)
            s.csrmv(trans, M, N, nnz, 2, d, *arrays, x, 3, y)
            b, c = cuda.to_device(a.dense(K, n)), a.dense(m, K)
            s.csrmm2(trans, "T", M, K, N, nnz, 2, d, *map(cuda.to_device, arrays), b, K, 0, c, m)
            found += [y, c]
        nnz, *arrays = a.sparse(M, M)
        for i, trans in enumerate("NTC"):
            t = s.matdescr(fillmode="LU"[i % 2], diagtype="NU"[i // 2])
            info = s.csrsm_analysis(trans, M, nnz, t, *arrays)
            s.csrsm_solve(trans, M, 2, 2, t, *arrays, info, a.dense(M, 2), M, y := np.zeros((M, 2), dtype, "F"), M)
            s.csrsv_solve(trans, M, 1, t, *arrays, info, a.dense(M), z := np.zeros(M, dtype))
            found += [y, z]
    return found


def sums_and_conversions(dtype: Any, base: int) -> list[Any]:
    a, found = Arrays(dtype, base), []
    with cusparse.Sparse(base) as s:
        d = s.matdescr()
        (na, *first), (nb, *second) = a.sparse(M, N), a.sparse(M, N)
        pointers = np.zeros(M + 1, np.int32)
        nnz = s.XcsrgeamNnz(M, N, d, na, *first[1:], d, nb, *second[1:], d, pointers)
        v, p, i = a.new(nnz, M)
        s.csrgeam(M, N, 2, d, na, *first, 3, d, nb, *second, d, v, p, i)
        found += [pointers, v, p, i]
        for ta, tb in (("N", "C"), ("T", "N")):
            (na, *first), (nb, *second) = a.sparse(M, N), a.sparse(M, N)
            m, n, k = (M, M, N) if ta == "N" else (N, N, M)
            pointers = np.zeros(m + 1, np.int32)
            nnz = s.XcsrgemmNnz(ta, tb, m, n, k, d, na, *first[1:], d, nb, *second[1:], d, pointers)
            v, p, i = a.new(nnz, m)
            s.csrgemm(ta, tb, m, n, k, d, na, *first, d, nb, *second, d, v, p, i)
            found += [pointers, v, p, i]
        na, *first = a.sparse(M, N)
        v, p, i = a.new(na, N)
        s.csr2csc(M, N, na, *first, v, i, p, "N")
        dense, again = (np.ones((M + 1, N), dtype, "F") for _ in range(2))
        s.csr2dense(M, N, d, *first, dense, M + 1)
        s.csc2dense(M, N, d, v, i, p, again, M + 1)
        found += [v, p, i, dense, again]
        for way, lines, convert in (("R", M, s.dense2csr), ("C", N, s.dense2csc)):
            counts = np.zeros(lines, np.int32)
            total = s.nnz(way, M, N, d, dense, M + 1, counts)
            v, p, i = a.new(total, lines)
            convert(M, N, d, dense, M + 1, counts, *((v, p, i) if way == "R" else (v, i, p)))
            found += [counts, v, p, i]
        s.Xcsr2coo(first[1], na, M, rows := np.zeros(na, np.int32))
        s.Xcoo2csr(rows, na, M, p := np.zeros(M + 1, np.int32))
        blocks = scipy.sparse.bsr_matrix(a.dense(4, 6), blocksize=(2, 2))
        ptr, ind = blocks.indptr.astype(np.int32) + a.base, blocks.indices.astype(np.int32) + a.base
        for way in "RC":
            y = a.dense(4)
            s.bsrmv(way, "N", 2, 3, 6, 2, d, blocks.data, ptr, ind, 2, a.dense(6), 1, y)
            found.append(y)
        return [*found, rows, p]


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_calls(dtype: Any, base: int, request: pytest.FixtureRequest) -> None:
    expected = [*vectors_and_products(dtype, base), *sums_and_conversions(dtype, base)]
    library = request.getfixturevalue("there")
    found = [*vectors_and_products(dtype, base), *sums_and_conversions(dtype, base)]
    for i, (x, y) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-4, err_msg=str(i))
    assert len(set(library.called)) > 40


def test_arguments_of_the_other_functions(there: Cusparse) -> None:
    """Functions that the stand-in does not compute get what their interfaces want."""
    for dtype in (np.float32, np.float64, np.complex64, np.complex128):
        a = Arrays(dtype, 1)
        nnz, *arrays = a.sparse(M, M)
        with cusparse.Sparse(1) as s:
            d, info = s.matdescr(), None
            s.csrilu0("N", M, d, *arrays, info)
            s.csric0("N", M, d, *arrays, info)
            low, mid, high = (a.dense(M) for _ in range(3))
            s.gtsv(M, 2, low, mid, high, a.dense(M, 2), M)
            s.gtsv_nopivot(M, 2, low, mid, high, a.dense(M, 2), M)
            lines = [a.dense(2 * M).ravel() for _ in range(4)]
            s.gtsvStridedBatch(M, *lines, 2, M)
            s.bsr2csr("C", M // 2, M // 2, d, np.zeros(4, dtype), np.array([1, 1, 1, 2], np.int32),
                      np.ones(1, np.int32), 2, d, *a.new(4, M))  # fmt: skip
            s.Xcsr2bsrNnz("R", M, M, d, *arrays[1:], 2, d, np.zeros(M // 2 + 1, np.int32))
            s.csr2bsr("R", M, M, d, *arrays, 2, d, *a.new(36, M // 2))
            mask, ends, one = np.ones(1, np.int32), np.full(3, 2, np.int32), np.ones(1, np.int32)
            blocks = np.zeros(4, dtype), mask, ends, ends, one
            s.bsrxmv("R", "N", 1, 3, 3, 1, 1.0, d, *blocks, 2, a.dense(6), 0.0, a.dense(6))
    called = {n for n in there.called if n[8] in "SDCZ" and "_" not in n}
    assert {f"cusparse{t}{n}" for t in "SDCZ" for n in ("csrilu02", "csric02", "gtsv2", "bsr2csr", "csr2bsr")} <= called


def test_errors(there: Cusparse) -> None:
    s, a = cusparse.Sparse(), Arrays(np.float64, 0)
    nnz, *arrays = a.sparse(M, N)
    with pytest.raises(ValueError, match="the pointers of A do not ascend from 0"):
        wrong = [arrays[0], arrays[1] + np.int32(100), arrays[2]]
        s.csrmv("N", M, N, nnz, 1.0, s.matdescr(), *wrong, a.dense(N), 0.0, a.dense(M))
    with pytest.raises(ValueError, match="x has gaps between its elements"):
        s.csrmv("N", M, N, nnz, 1.0, s.matdescr(), *arrays, cuda.to_device(a.dense(2 * N))[::2], 0.0, a.dense(M))
    with pytest.raises(ValueError, match="the result's values has 1 elements"):
        pointers, short = np.zeros(M + 1, np.int32), np.zeros(1)
        d = s.matdescr()
        s.csrgeam(M, N, 1.0, d, nnz, *arrays, 1.0, d, nnz, *arrays, d, short, pointers, np.zeros(99, np.int32))
    there.status = 6
    with pytest.raises(cusparse.CuSparseError, match="CUSPARSE_STATUS_EXECUTION_FAILED: from cusparseCreate"):
        s.csrmv("N", M, N, nnz, 1.0, s.matdescr(), *arrays, a.dense(N), 0.0, a.dense(M))
    there.status = 0
    s.close()
