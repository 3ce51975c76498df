"""`lancehead.cudalib.cusparse` on the CPU device: each routine as SciPy's sparse matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as known

from lancehead import cuda
from lancehead.cudalib import cusparse
from lancehead.cudalib.cusparse import Sparse

M, N, K = 9, 7, 5
TYPES = {np.float32: 2e-4, np.complex128: 1e-10}


@pytest.fixture(params=[(t, base) for t in TYPES for base in (0, 1)], ids=lambda p: f"{p[0].__name__}-{p[1]}")
def case(request):
    return Case(*request.param)


class Case:
    """Matrices of a type, with indices that begin with a base."""

    def __init__(self, dtype, base):
        self.dtype, self.base, self.near = dtype, np.int32(base), {"rtol": TYPES[dtype], "atol": TYPES[dtype]}
        self.rng, self.sparse = np.random.default_rng(3), Sparse(base)
        self.descr = self.sparse.matdescr()

    def dense(self, *shape):
        a = self.rng.normal(size=shape)
        return np.asfortranarray(
            (a + 1j * self.rng.normal(size=shape) if self.dtype is np.complex128 else a).astype(self.dtype)
        )

    def matrix(self, m, n, share=0.3):
        a = known.csr_matrix(self.dense(m, n) * (self.rng.random((m, n)) < share))
        a.sort_indices()
        return a

    def arrays(self, a):
        """Values, pointers, indices."""
        return a.data, a.indptr.astype(np.int32) + self.base, a.indices.astype(np.int32) + self.base

    def back(self, values, pointers, indices, shape, kind=known.csr_matrix):
        return kind((values, indices - self.base, pointers - self.base), shape).toarray()

    def new(self, nnz, lines):
        return np.zeros(nnz, self.dtype), np.zeros(lines + 1, np.int32), np.zeros(nnz, np.int32)


def test_sparse_vectors(case):
    s, places = case.sparse, np.array([1, 4, 2], np.int32)
    x, y, where = case.dense(3), case.dense(6), places + case.base
    expected = y.copy()
    expected[places] += 2 * x
    assert s.axpyi(2, x, where, y) is y
    np.testing.assert_allclose(y, expected, **case.near)
    np.testing.assert_allclose(s.doti(x, where, y), x @ y[places], **case.near)
    if case.dtype is np.complex128:
        np.testing.assert_allclose(s.dotci(x, where, y), np.vdot(x, y[places]), **case.near)
    else:
        u, v = x.copy(), y.copy()
        s.roti(u, where, v, 0.6, 0.8)
        np.testing.assert_allclose(u, 0.6 * x + 0.8 * y[places], **case.near)
        np.testing.assert_allclose(v[places], 0.6 * y[places] - 0.8 * x, **case.near)
    there = cuda.to_device(y)
    s.gthr(there, x, where)
    assert (x == y[places]).all()
    s.gthrz(there, x, where)
    assert not there.copy_to_host()[places].any()
    s.sctr(x, where, there)
    assert (there.copy_to_host() == y).all()


def test_products(case):
    s, d, a = case.sparse, case.descr, case.matrix(M, N)
    arrays, ops = case.arrays(a), {"N": a, "T": a.T, "C": a.conj().T}
    for trans, op in ops.items():
        x, y = case.dense(op.shape[1]), case.dense(op.shape[0])
        expected = 2 * (op @ x) + 3 * y
        s.csrmv(trans, M, N, a.nnz, 2, d, *arrays, x, 3, y)
        np.testing.assert_allclose(y, expected, **case.near)
        b, c = case.dense(op.shape[1], K), case.dense(op.shape[0], K)
        expected = 2 * (op @ b) + c
        s.csrmm(trans, M, K, N, a.nnz, 2, d, *arrays, b, op.shape[1], 1, there := cuda.to_device(c), op.shape[0])
        np.testing.assert_allclose(there.copy_to_host(), expected, **case.near)
        s.csrmm2(trans, "T", M, K, N, a.nnz, 2, d, *arrays, np.asfortranarray(b.T), K, 0, c, op.shape[0])
        np.testing.assert_allclose(c, 2 * (op @ b), **case.near)
    empty = np.zeros(0, case.dtype), np.full(M + 1, case.base, np.int32), np.zeros(0, np.int32)
    s.csrmv("N", M, N, 0, 1, d, *empty, case.dense(N), 0, y := np.full(M, np.nan, case.dtype))
    assert not y.any()


def test_sums_and_products_of_sparse_matrices(case):
    s, d = case.sparse, case.descr
    for ta, tb in (("N", "N"), ("T", "N"), ("N", "C")):
        a = case.matrix(M, N) if ta == "N" else case.matrix(N, M)
        b = case.matrix(N, K) if tb == "N" else case.matrix(K, N)
        op = {"N": lambda v: v, "T": lambda v: v.T, "C": lambda v: v.conj().T}
        (va, pa, ia), (vb, pb, ib), pointers = case.arrays(a), case.arrays(b), np.zeros(M + 1, np.int32)
        nnz = s.XcsrgemmNnz(ta, tb, M, K, N, d, a.nnz, pa, ia, d, b.nnz, pb, ib, d, pointers)
        v, p, i = case.new(nnz, M)
        s.csrgemm(ta, tb, M, K, N, d, a.nnz, va, pa, ia, d, b.nnz, vb, pb, ib, d, v, p, i)
        expected = known.csr_matrix(op[ta](a) @ op[tb](b))
        np.testing.assert_allclose(case.back(v, p, i, (M, K)), expected.toarray(), **case.near)
        assert (p == pointers).all() and nnz == expected.nnz and (np.diff(i)[np.diff(i) < 0]).size < M
    a, b = case.matrix(M, N), case.matrix(M, N)
    (va, pa, ia), (vb, pb, ib) = case.arrays(a), case.arrays(b)
    nnz = s.XcsrgeamNnz(M, N, d, a.nnz, pa, ia, d, b.nnz, pb, ib, d, pointers)
    v, p, i = case.new(nnz, M)
    s.csrgeam(M, N, 2, d, a.nnz, va, pa, ia, 3, d, b.nnz, vb, pb, ib, d, v, p, i)
    np.testing.assert_allclose(case.back(v, p, i, (M, N)), (2 * a + 3 * b).toarray(), **case.near)


@pytest.mark.parametrize("fill", "LU")
@pytest.mark.parametrize("diag", "NU")
def test_triangular_systems(case, fill, diag):
    s = case.sparse
    a = known.csr_matrix(case.matrix(M, M).toarray() + 4 * np.eye(M, dtype=case.dtype))
    d, arrays = s.matdescr(fillmode=fill, diagtype=diag), case.arrays(a)
    triangle = (np.triu if fill == "U" else np.tril)(a.toarray())
    if diag == "U":
        np.fill_diagonal(triangle, 1)
    for trans, op in (("N", triangle), ("T", triangle.T), ("C", triangle.conj().T)):
        x, y = case.dense(M), np.zeros(M, case.dtype)
        s.csrsv_solve(trans, M, 2, d, *arrays, s.csrsv_analysis(trans, M, a.nnz, d, *arrays), x, y)
        np.testing.assert_allclose(op @ y, 2 * x, **case.near)
        x, y = case.dense(M, 3), np.zeros((M, 3), case.dtype, "F")
        s.csrsm_solve(trans, M, 3, 2, d, *arrays, s.csrsm_analysis(trans, M, a.nnz, d, *arrays), x, M, y, M)
        np.testing.assert_allclose(op @ y, 2 * x, **case.near)


def test_other_systems(case):
    s, d = case.sparse, case.descr
    full = known.csr_matrix(np.full((6, 6), 0.3, case.dtype) + 6 * np.eye(6, dtype=case.dtype))
    values, pointers, indices = case.arrays(full)
    s.csrilu0("N", 6, d, found := values.copy(), pointers, indices, None)
    lu = found.reshape(6, 6)
    np.testing.assert_allclose((np.tril(lu, -1) + np.eye(6)) @ np.triu(lu), full.toarray(), **case.near)
    s.csric0("N", 6, d, found := values.copy(), pointers, indices, None)
    low = np.tril(found.reshape(6, 6))
    np.testing.assert_allclose(low @ low.conj().T, full.toarray(), **case.near)
    low, mid, high, b = case.dense(M), case.dense(M), case.dense(M), case.dense(M, 2)
    matrix = np.diag(mid) + np.diag(low[1:], -1) + np.diag(high[:-1], 1)
    s.gtsv(M, 2, low, mid, high, x := b.copy("F"), M)
    np.testing.assert_allclose(x, np.linalg.solve(matrix, b), rtol=5e-3, atol=5e-3)
    s.gtsv_nopivot(M, 2, low, mid + 9, high, x := b.copy("F"), M)
    np.testing.assert_allclose((matrix + 9 * np.eye(M)) @ x, b, **case.near)
    lines = [np.concatenate([line, line * 0, line * 2, line * 0]) for line in (low, mid + 9, high)]
    right = np.concatenate([b[:, 0], b[:, 0], b[:, 1], b[:, 1]])
    s.gtsvStridedBatch(M, *lines, right, 2, 2 * M)
    np.testing.assert_allclose((matrix + 9 * np.eye(M)) @ right[:M], b[:, 0], **case.near)
    np.testing.assert_allclose(2 * (matrix + 9 * np.eye(M)) @ right[2 * M : 3 * M], b[:, 1], **case.near)


def test_conversions(case):
    s, d, a = case.sparse, case.descr, case.matrix(M, N)
    values, pointers, indices = case.arrays(a)
    by_columns = known.csc_matrix(a)
    v, p, i = case.new(a.nnz, N)
    s.csr2csc(M, N, a.nnz, values, pointers, indices, v, i, p, "N")
    assert (case.back(v, p, i, (M, N), known.csc_matrix) == a.toarray()).all() and (
        i == by_columns.indices + case.base
    ).all()
    dense = np.ones((M + 2, N), case.dtype, "F")
    s.csr2dense(M, N, d, values, pointers, indices, dense, M + 2)
    assert (dense[:M] == a.toarray()).all() and (dense[M:] == 1).all()
    s.csc2dense(M, N, d, v, i, p, again := np.ones((M, N), case.dtype, "F"), M)
    assert (again == a.toarray()).all()
    counts = np.zeros(M, np.int32)
    assert s.nnz("R", M, N, d, dense, M + 2, counts) == a.nnz and (counts == np.diff(a.indptr)).all()
    v, p, i = case.new(a.nnz, M)
    s.dense2csr(M, N, d, dense, M + 2, counts, v, p, i)
    assert (case.back(v, p, i, (M, N)) == a.toarray()).all()
    counts = np.zeros(N, np.int32)
    assert s.nnz("C", M, N, d, dense, M + 2, counts) == a.nnz
    v, p, i = case.new(a.nnz, N)
    s.dense2csc(M, N, d, dense, M + 2, counts, v, i, p)
    assert (case.back(v, p, i, (M, N), known.csc_matrix) == a.toarray()).all()
    s.Xcsr2coo(pointers, a.nnz, M, rows := np.zeros(a.nnz, np.int32))
    assert (rows - case.base == a.tocoo().row).all()
    s.Xcoo2csr(rows, a.nnz, M, p := np.zeros(M + 1, np.int32))
    assert (p == pointers).all()


@pytest.mark.parametrize("order", "RC")
def test_blocks(case, order):
    s, d = case.sparse, case.descr
    blocks = known.bsr_matrix(case.dense(6, 4) * (case.rng.random((6, 4)) < 0.5), blocksize=(2, 2))
    data = blocks.data if order == "R" else blocks.data.transpose(0, 2, 1).copy()
    pointers, indices = blocks.indptr.astype(np.int32) + case.base, blocks.indices.astype(np.int32) + case.base
    x, y = case.dense(4), np.ones(6, case.dtype)
    s.bsrmv(order, "N", 3, 2, indices.size, 2, d, data, pointers, indices, 2, x, 1, y)
    np.testing.assert_allclose(y, 2 * (blocks @ x) + 1, **case.near)
    mask = np.array([2, 0], np.int32) + case.base
    y = np.ones(6, case.dtype)
    s.bsrxmv(
        order,
        "N",
        2,
        3,
        2,
        indices.size,
        2,
        d,
        data,
        mask,
        pointers[:-1].copy(),
        pointers[1:].copy(),
        indices,
        2,
        x,
        0,
        y,
    )
    expected = 2 * (blocks @ x)
    expected[2:4] = 1
    np.testing.assert_allclose(y, expected, **case.near)
    v, p, i = case.new(data.size, 6)
    s.bsr2csr(order, 3, 2, d, data, pointers, indices, 2, d, v, p, i)
    np.testing.assert_array_equal(case.back(v, p, i, (6, 4)), blocks.toarray())
    a = case.matrix(5, 7)
    count = s.Xcsr2bsrNnz(order, 5, 7, d, *case.arrays(a)[1:], 2, d, bp := np.zeros(4, np.int32))
    bv, bi = np.zeros(4 * count, case.dtype), np.zeros(count, np.int32)
    s.csr2bsr(order, 5, 7, d, *case.arrays(a), 2, d, bv, bp, bi)
    bv = bv.reshape(-1, 2, 2) if order == "R" else bv.reshape(-1, 2, 2).transpose(0, 2, 1)
    found = known.bsr_matrix((bv, bi - case.base, bp - case.base), shape=(6, 8)).toarray()
    np.testing.assert_array_equal(found[:5, :7], a.toarray())


def test_matrices():
    a = known.random(6, 6, 0.4, format="csr", random_state=1)
    for make, kind in ((cusparse.csr_matrix, "csr"), (cusparse.csc_matrix, "csc")):
        there = make(a)
        back = there.copy_to_host(cuda.stream())
        assert back.format == kind and (back != a).nnz == 0 and (there.ndim, there.nnz) == (2, a.nnz)
    blocks = cusparse.bsr_matrix(a, blocksize=(3, 3))
    assert blocks.blocksize == (3, 3) and (blocks.copy_to_host().toarray() == a.toarray()).all()
    s, y = Sparse(), np.ones(6)
    s.bsrmv_matrix("R", "N", 1.0, s.matdescr(), blocks, np.arange(6.0), 0.0, y)
    np.testing.assert_allclose(y, a @ np.arange(6.0))
    matrix = cusparse.csr_matrix(a)
    np.testing.assert_allclose(s.csrgemm_ez(matrix, matrix, transB="T").copy_to_host().toarray(), (a @ a.T).toarray())
    with pytest.raises(ValueError, match="has no elements"):
        s.csrgemm_ez(cusparse.csr_matrix((6, 6)), matrix)


def test_bad_input():
    s, a = Sparse(), known.csr_matrix(np.eye(4))
    d, x, y = s.matdescr(), np.ones(4), np.ones(4)
    arrays = a.data, a.indptr.astype(np.int32), a.indices.astype(np.int32)
    value, pointers, indices = arrays

    def multiply(values=value, pointers=pointers, indices=indices, m=4, nnz=4, descr=d, x=x):
        s.csrmv("N", m, 4, nnz, 1.0, descr, values, pointers, indices, x, 0.0, y)

    with pytest.raises(ValueError, match="A has an index outside of its 4 columns"):
        multiply(indices=indices + np.int32(1))
    with pytest.raises(ValueError, match="the pointers of A do not ascend from 0"):
        multiply(pointers=pointers[::-1].copy())
    with pytest.raises(ValueError, match="the pointers of A do not ascend"):
        multiply(nnz=3)
    with pytest.raises(ValueError, match="A's values has 4 elements, where 9 are needed|A's indices has 4"):
        multiply(nnz=9)
    with pytest.raises(ValueError, match="A's pointers has 5 elements, where 8 are needed"):
        multiply(m=7)
    with pytest.raises(TypeError, match="A's indices is an array of int64, where int32 is needed"):
        multiply(indices=indices.astype(np.int64))
    with pytest.raises(TypeError, match="x is an array of float32, where float64 is needed"):
        multiply(x=x.astype(np.float32))
    with pytest.raises(TypeError, match="A is described by what matdescr"):
        multiply(descr=None)
    with pytest.raises(
        cusparse.CuSparseError, match="CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED: A is described as 'S'"
    ):
        multiply(descr=s.matdescr(matrixtype="S"))
    with pytest.raises(ValueError, match="fillmode is one of 'L', 'U', not 'X'"):
        d.fillmode = "X"
    with pytest.raises(ValueError, match="xInd has an index outside of an array of 4 elements"):
        s.axpyi(1.0, np.ones(2), np.array([0, 4], np.int32), y)
    with pytest.raises(ValueError, match="the columns of B have 4 elements, and their distance is 3"):
        s.csrmm("N", 4, 2, 4, 4, 1.0, d, *arrays, np.ones(8), 3, 0.0, np.ones(8), 4)
    lower = known.csr_matrix(np.tril(np.ones((4, 4)), -1))
    structure = lower.data, lower.indptr.astype(np.int32), lower.indices.astype(np.int32)
    info = s.csrsv_analysis("N", 4, lower.nnz, d, *structure)
    with pytest.raises(cusparse.CuSparseError, match="CUSPARSE_STATUS_ZERO_PIVOT: row 0 of A has no element"):
        s.csrsv_solve("N", 4, 1.0, d, *structure, info, x, y)
    with pytest.raises(ValueError, match="info is what the analysis of the same operation gives"):
        s.csrsv_solve("T", 4, 1.0, d, *arrays, info, x, y)
    with pytest.raises(cusparse.CuSparseError, match="ZERO_PIVOT: the pivot of row 0"):
        s.csrilu0("N", 4, d, lower.data.copy(), *structure[1:], info)
    with pytest.raises(ValueError, match="the result's indices has 1 elements, where 4 are needed"):
        s.csrgeam(4, 4, 1.0, d, 4, *arrays, 1.0, d, 4, *arrays, d, np.ones(4), pointers.copy(), np.zeros(1, np.int32))
    with pytest.raises(ValueError, match="indices begin with 0 or 1, not 2"):
        Sparse(2)
    s.close()
    with pytest.raises(cusparse.CuSparseError, match="CUSPARSE_STATUS_NOT_INITIALIZED: this Sparse is closed"):
        multiply()
