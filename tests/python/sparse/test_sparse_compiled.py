"""Sparse arrays as arguments of compiled functions and of kernels."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from lancehead import cuda, njit, prange, sparse
from lancehead.errors import TypingError

DENSE = np.array([[1.0, 0.0, 2.0, 0.0], [0.0, 0.0, 3.0, 4.0], [5.0, 0.0, 0.0, 0.0]])


@njit
def facts(a, x, y):
    return (
        a.shape,
        a.nnz,
        a.ndim,
        a @ x,
        y @ a,
        a @ np.stack((x, x), 1),
        a.sum(),
        a.sum(axis=0),
        a.sum(axis=1),
        a[1, -1],
    )


@njit
def arrays(a):
    return a.T, a @ a.T, a + a, a * a, a - 2.0 * a, a / 2.0, -a, abs(a), a.copy(), a.map(lambda v: v + 1.0), a[1:]


@njit
def converted(a):
    return a.tocsr(), a.tocsc(), a.tocoo(), a.toarray(), a.diagonal(1), a.max(), a.min()


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_methods(format):
    a = sparse.csr_array(DENSE).asformat(format)
    x, y = np.arange(4.0), np.arange(3.0)
    shape, nnz, ndim, *rest, last = facts(a, x, y)
    assert (shape, nnz, ndim, last) == ((3, 4), 5, 2, 4.0)
    expected = DENSE @ x, y @ DENSE, DENSE @ np.stack((x, x), 1), DENSE.sum(), DENSE.sum(axis=0), DENSE.sum(axis=1)
    for found, wanted in zip(rest, expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    mapped = np.where(DENSE != 0, DENSE + 1, 0)
    d = DENSE
    expected = d.T, d @ d.T, d + d, d * d, -d, d / 2, -d, d, d, mapped, d[1:]
    for found, wanted in zip(arrays(a), expected, strict=True):
        assert isinstance(found, sparse.SparseArray)
        np.testing.assert_array_equal(found.toarray(), wanted)
    *found, dense, diagonal, most, least = converted(a)
    assert [f.format for f in found] == ["csr", "csc", "coo"]
    for made in (*(f.toarray() for f in found), dense):
        np.testing.assert_array_equal(made, DENSE)
    np.testing.assert_array_equal(diagonal, [0.0, 3.0, 0.0])
    assert (most, least) == (5.0, 0.0)


def test_arrays_are_changed_and_made():
    @njit
    def tidied(a):
        a.sum_duplicates()
        a.eliminate_zeros()
        return a.has_sorted_indices, a.has_canonical_format

    a = sparse.csr_array(([1.0, 2.0, 3.0, 0.0], [1, 0, 1, 2], [0, 4]), shape=(1, 3))
    assert tidied(a) == (True, True)
    assert a.indices.tolist() == [0, 1]
    assert a.data.tolist() == [2.0, 4.0]

    @njit
    def made(data, indices, indptr, columns):
        return sparse.csr_array((data, indices, indptr), shape=(indptr.size - 1, columns))

    np.testing.assert_array_equal(made(a.data, a.indices, a.indptr, 2).toarray(), [[2.0, 4.0]])
    with pytest.raises(ValueError, match="out of range"):
        made(a.data, a.indices, a.indptr, 1)
    with pytest.raises(ValueError, match="same size"):
        made(a.data[:1], a.indices, a.indptr, 2)


def test_fields_in_loops_and_kernels():
    a, x = sparse.csr_array(DENSE), np.arange(4.0)

    @njit(parallel=True)
    def rows(a, x):
        out = np.empty(a.shape[0])
        for i in prange(a.shape[0]):
            total = 0.0
            for k in range(a.indptr[i], a.indptr[i + 1]):
                total += a.data[k] * x[a.indices[k]]
            out[i] = total
        return out

    np.testing.assert_array_equal(rows(a, x), DENSE @ x)

    @cuda.jit
    def kernel(a, x, out):
        i = cuda.grid(1)
        if i < a.shape[0]:
            total = 0.0
            for k in range(a.indptr[i], a.indptr[i + 1]):
                total += a.data[k] * x[a.indices[k]]
            out[i] = total

    for given in (a, a.parts):
        out = np.zeros(3)
        kernel[1, 32](given, x, out)
        np.testing.assert_array_equal(out, DENSE @ x)


def test_refused():
    a = sparse.csr_array(DENSE)
    with pytest.raises(ValueError, match="dimension mismatch"):
        njit(lambda a, x: a @ x)(a, np.ones(3))
    with pytest.raises(IndexError):
        njit(lambda a: a[5, 0])(a)
    with pytest.raises(TypingError, match="scalar"):
        njit(lambda a: a + 1)(a)
    with pytest.raises(TypingError, match="elements a"):
        njit(lambda a: a[0])(a)
    a.indices[0] = 77
    for f in (lambda a: a @ a.T, lambda a: a.toarray(), lambda a: a + a, lambda a: a.sum(axis=0)):
        with pytest.raises(ValueError, match="out of range"):
            njit(f)(a)
    with pytest.raises(IndexError):
        njit(lambda a, x: a @ x)(a, np.ones(4))


def assigned(a):
    a[0, 1] = 2.0


@pytest.mark.parametrize(
    "method",
    [assigned, lambda a: a.resize(4, 4), lambda a: a.tolil(), lambda a: a.mean(), lambda a: a.reshape((1, 9))],
    ids=["__setitem__", "resize", "tolil", "mean", "reshape"],
)
def test_methods_of_the_interpreter_only_are_named(request, method):
    name = request.node.callspec.id
    with pytest.raises(
        TypingError, match=f"`{name}` of `lancehead.sparse` is not supported in compiled code"
    ) as caught:
        njit(method)(sparse.csr_array(DENSE))
    assert "test_sparse_compiled.py" in str(caught.value) and "call it outside" in str(caught.value)


def test_the_import_compiles_nothing():
    program = "import sys, lancehead; assert 'lancehead.sparse' not in sys.modules; import lancehead.sparse; import lancehead._core as c; assert 'scipy' not in sys.modules"  # noqa: E501
    subprocess.run([sys.executable, "-c", program], check=True)
