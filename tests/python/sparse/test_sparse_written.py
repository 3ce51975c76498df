"""Sparse arrays that are written to: assignments to places and diagonals, in any order; dense arrays of few entries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lancehead import sparse
from lancehead.sparse import csgraph

scipy_sparse = pytest.importorskip("scipy.sparse")
scipy_csgraph = pytest.importorskip("scipy.sparse.csgraph")


def in_no_order(rng, shape, entries, format):
    """A compressed matrix whose entries are in no order, some of them with one place, and its dense array."""
    row, col = rng.integers(0, shape[0], entries), rng.integers(0, shape[1], entries)
    data = rng.random(entries)
    major, minor, n = (row, col, shape[0]) if format == "csr" else (col, row, shape[1])
    order = np.argsort(major, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=n))])
    made = getattr(sparse, f"{format}_array")((data[order], minor[order], indptr), shape=shape)
    dense = np.zeros(shape)
    np.add.at(dense, (row, col), data)
    return made, dense


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.tuples(st.integers(1, 7), st.integers(1, 7)), st.integers(0, 20), st.booleans())
def test_assignments(seed, shape, entries, once):
    rng = np.random.default_rng(seed)
    for format in ("csr", "csc"):
        a, dense = in_no_order(rng, shape, entries, format)
        if once:
            a.sum_duplicates()
        many = int(rng.integers(0, 12))
        places = tuple(rng.integers(-n, n, many) for n in shape)
        values = rng.random(many)
        a[places], dense[places] = values, values
        k = int(rng.integers(1 - shape[0], shape[1]))
        a.setdiag(7.5, k)
        i = np.arange(min(shape[0] + min(k, 0), shape[1] - max(k, 0)))
        dense[i - min(k, 0), i + max(k, 0)] = 7.5
        a.check_format()
        np.testing.assert_allclose(a.toarray(), dense, rtol=1e-15)
        assert a.has_canonical_format == a.to_scipy().has_canonical_format


def test_entries_that_are_there_stay_where_they_are():
    indices, data = np.array([2, 0, 1, 2]), np.ones(4)
    a = sparse.csr_array((data, indices, np.array([0, 2, 3, 4])), shape=(3, 3))
    a.setdiag(5.0)
    assert a.indices.tolist() == [2, 0, 1, 2]
    assert a.data.tolist() == [1.0, 5.0, 5.0, 5.0]
    data = np.ones(3)
    data.flags.writeable = False
    b = sparse.csr_array((data, np.arange(3), np.arange(4)), shape=(3, 3))
    b[1, 1] = 4.0
    assert b.data.tolist() == [1.0, 4.0, 1.0]
    assert data.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("order", [None, "C", "F"])
@pytest.mark.parametrize("dtype", ["float64", "complex64", "bool"])
def test_large_dense_arrays_of_few_entries(order, dtype):
    shape, rng = (1500, 6000), np.random.default_rng(1)
    row, col = rng.integers(0, shape[0], 300), rng.integers(0, shape[1], 300)
    known = scipy_sparse.coo_array((np.ones(300, dtype), (row, col)), shape=shape)
    for format in ("csr", "csc", "coo"):
        found = sparse.coo_array(known).asformat(format).toarray(order=order)
        assert (found.dtype, found.flags.writeable) == (np.dtype(dtype), True)
        assert found.flags.f_contiguous if order == "F" else found.flags.c_contiguous
        np.testing.assert_array_equal(found, known.asformat(format).toarray())


@pytest.mark.parametrize("size", [1, 4095, 4096, 4097, 70_000, 200_000])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_entries_in_order(size, index):
    # Rows with and without entries, and one that goes over all borders of blocks and parts.
    rng = np.random.default_rng(size)
    row = np.sort(np.where(rng.random(size) < 0.5, size // 2, rng.integers(0, size + 5, size))).astype(index)
    col = np.arange(size).astype(index)
    for change in ("none", "columns", "double", "fall", "outside", "negative"):
        r, c = row.copy(), col.copy()
        k = size - 1
        if change == "columns":
            c = c[::-1].copy()
        elif change == "double" and size > 1:
            r[k - 1 :], c[k - 1 :] = r[k], 3
        elif change == "fall" and size > 1:
            r[k] = 0
        elif change == "outside":
            r[k] = size + 5
        elif change == "negative":
            r[0] = -1
        shape = (size + 5, size)
        if change in ("outside", "negative"):
            a = sparse.coo_array((np.ones(size), (row, c)), shape=shape)
            a.coords = (r, c)
            with pytest.raises(ValueError, match="index"):
                a.tocsr()
            continue
        data = rng.random(size)
        found = sparse.coo_array((data, (r, c)), shape=shape).tocsr()
        known = scipy_sparse.coo_array((data, (r, c)), shape=shape).tocsr()
        for name in ("indptr", "indices", "data"):
            np.testing.assert_allclose(getattr(found, name), getattr(known, name), rtol=1e-15)


def test_long_columns():
    rng = np.random.default_rng(2)
    for shape in ((2000, 150), (3000, 90)):
        known = scipy_sparse.csr_array(rng.random(shape) * (rng.random(shape) < 0.97))
        found, turned = sparse.csr_array(known).tocsc(), known.tocsc()
        for name in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(found, name), getattr(turned, name))


@pytest.mark.parametrize("directed", [True, False])
def test_searches_in_which_many_nodes_wait(directed):
    rng = np.random.default_rng(4)
    for n, density in ((300, 0.02), (5000, 0.001), (2000, 0.5 / 2000)):
        a = scipy_sparse.random_array((n, n), density=density, rng=rng, format="csr")
        a.sum_duplicates()
        found = csgraph.breadth_first_order(sparse.csr_array(a), 3, directed)
        known = scipy_csgraph.breadth_first_order(a, 3, directed)
        if directed:
            np.testing.assert_array_equal(found[0], known[0])
            np.testing.assert_array_equal(found[1], known[1])
        # Of edges in both directions SciPy's search, too, may take either one first: distances are the same.
        assert sorted(found[0]) == sorted(known[0])
        assert depths(*found) == depths(*known)


def depths(order, before):
    """How far each node of a search is from its first one."""
    away = {int(order[0]): 0}
    for i in map(int, order[1:]):
        away[i] = away[int(before[i])] + 1
    return away
