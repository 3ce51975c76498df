"""Entries of one place, formats of graphs, and what single elements and rows cost."""

from __future__ import annotations

import time

import numpy as np
import pytest

from lancehead import njit, sparse
from lancehead.sparse import csgraph

theirs = pytest.importorskip("scipy.sparse")
FORMATS = ("csr", "csc", "coo", "bsr")


def doubled(format, dtype):
    """Two entries at (0, 0), which overflow in 8 bits, and one at (0, 1)."""
    data = np.array([100, 100, 7], dtype)
    if format == "coo":
        return sparse.coo_array((data, ([0, 0, 0], [0, 0, 1])), shape=(2, 2))
    if format == "bsr":
        return sparse.bsr_array((data.reshape(3, 1, 1), [0, 0, 1], [0, 3, 3]), shape=(2, 2))
    if format == "csc":
        return sparse.csc_array((data, [0, 0, 0], [0, 2, 3]), shape=(2, 2))
    return sparse.csr_array((data, [0, 0, 1], [0, 3, 3]), shape=(2, 2))


def sums_and_products(a, v, w):
    return a.sum(), a.sum(0), a.sum(1), a @ v, v @ a, a @ w, (a @ a.T).toarray(), a.toarray()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "float32", "int64"])
def test_entries_of_one_place(format, dtype):
    a = doubled(format, dtype)
    dense = a.toarray()
    element = np.array([100], dtype) + np.array([100], dtype)
    assert dense[0, 0] == element[0]
    # An element is the sum in the array's own type.
    assert a.sum() == dense.sum()
    np.testing.assert_array_equal(a.sum(axis=0), dense.sum(axis=0))
    np.testing.assert_array_equal(a.sum(axis=1), dense.sum(axis=1))
    for other in FORMATS:
        np.testing.assert_array_equal(a.asformat(other).toarray(), dense)
        assert a.asformat(other).sum(axis=1).dtype == dense.sum(axis=1).dtype
    # A product adds the terms of entries, in its own type, as SciPy's do.
    v, w = np.array([1, 1]), np.ones((2, 2), np.int64)
    them = a.to_scipy()
    for found, expected in ((a @ v, them @ v), (v @ a, v @ them), (a @ w, them @ w), (w @ a, w @ them)):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    as_csr = doubled("csr", dtype).to_scipy()
    b = sparse.csr_array(np.eye(2, dtype=np.int64))
    np.testing.assert_array_equal((a @ b).toarray(), (as_csr @ b.to_scipy()).toarray())


@pytest.mark.parametrize("dtype", ["bool", "int8", "float64"])
def test_entries_of_one_place_in_compiled_code(dtype):
    compiled = njit(sums_and_products)
    v, w = np.array([1, 1]), np.ones((2, 2), np.int64)
    for format in ("csr", "csc", "coo"):
        a = doubled(format, dtype)
        for found, expected in zip(compiled(a, v, w), sums_and_products(a, v, w), strict=True):
            np.testing.assert_array_equal(found, expected)


GRAPH = np.array([[0, 3.0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2], [0, 0, 1, 0]])


@pytest.mark.parametrize("format", [*FORMATS, "dia", "lil", "dok"])
def test_graphs_of_every_format(format):
    rows = sparse.csr_array(GRAPH)
    if format == "bsr":
        graphs = [module.bsr_array(GRAPH, blocksize=(2, 2)) for module in (sparse, theirs)]
    else:
        graphs = [module.csr_array(GRAPH).asformat(format) for module in (sparse, theirs)]
    before = csgraph.dijkstra(rows, return_predecessors=True)[1]
    for g in graphs:
        for name in ("dijkstra", "bellman_ford", "floyd_warshall", "johnson", "shortest_path", "csgraph_to_dense"):
            f = getattr(csgraph, name)
            np.testing.assert_array_equal(f(g), f(rows))
        for kind in ("weak", "strong"):
            assert csgraph.connected_components(g, connection=kind)[0] == (2 if kind == "weak" else 3)
        for name in ("breadth_first_order", "depth_first_order"):
            for start in (0, 2):
                f = getattr(csgraph, name)
                for found, expected in zip(f(g, start), f(rows, start), strict=True):
                    np.testing.assert_array_equal(found, expected)
        for f in (csgraph.minimum_spanning_tree, lambda g: csgraph.breadth_first_tree(g, 2)):
            np.testing.assert_array_equal(f(g).toarray(), f(rows).toarray())
        found = csgraph.construct_dist_matrix(g, before)
        np.testing.assert_array_equal(found, csgraph.construct_dist_matrix(rows, before))
        found = csgraph.reconstruct_path(g, before[0]).toarray()
        np.testing.assert_array_equal(found, csgraph.reconstruct_path(rows, before[0]).toarray())
        np.testing.assert_allclose(csgraph.pagerank(g), csgraph.pagerank(rows))


def element(a, i, j):
    return a[i, j]


def test_elements_in_any_order():
    rng = np.random.default_rng(0)
    them = theirs.random_array((20, 30), density=0.3, rng=rng, format="csr")
    compiled = njit(element)
    for cls in (sparse.csr_array, sparse.csc_array):
        a = cls(them)
        parts = a.data.copy(), a.indices.copy(), a.indptr.copy()
        backwards = [x.copy() for x in parts]
        for k, n in zip(parts[2], parts[2][1:], strict=False):
            for x in backwards[:2]:
                x[k:n] = x[k:n][::-1].copy()
        for one in (a, cls(parts, shape=a.shape), cls(tuple(backwards), shape=a.shape)):
            for i, j in rng.integers(-20, 20, (40, 2)):
                assert one[i, j] == compiled(one, i, j) == them[i, j]
            np.testing.assert_array_equal(one[3:7].toarray(), them[3:7].toarray())
            np.testing.assert_array_equal(one[:, 3:7].toarray(), them[:, 3:7].toarray())


def test_order_follows_changes():
    a = sparse.csr_array(([1, 2, 3], [2, 0, 1], [0, 2, 3]), shape=(2, 3))
    assert not a.has_sorted_indices
    assert not a.has_canonical_format
    assert a[0, 2] == 1
    a.sort_indices()
    assert a.has_sorted_indices
    assert a[0, 2] == 1

    @njit
    def sorted_inside(a):
        before = a[0, 2]
        a.sort_indices()
        return before, a[0, 2], a.has_sorted_indices, a.T[2, 0]

    b = sparse.csr_array(([1, 2, 3], [2, 0, 1], [0, 2, 3]), shape=(2, 3))
    assert sorted_inside(b) == (1, 1, True, 1)


@pytest.mark.optimised
def test_what_elements_and_rows_cost():
    n = 3_000_000
    long = sparse.csr_array((np.ones(n), np.arange(n), np.array([0, n])), shape=(1, n))
    tall = sparse.csr_array(theirs.eye_array(n, format="csr"))
    compiled, rows = njit(element), njit(lambda a: a[5:7])
    for f in (lambda: long[0, 7], lambda: compiled(long, 0, 7), lambda: tall[5:7], lambda: rows(tall), lambda: tall[5]):
        f()
        start = time.perf_counter()
        for _ in range(20):
            f()
        # A look at all entries takes milliseconds.
        assert (time.perf_counter() - start) / 20 < 1e-3
