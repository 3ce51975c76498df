"""`lancehead.sparse.csgraph` against `scipy.sparse.csgraph`."""

from __future__ import annotations

import numpy as np
import pytest

from lancehead import sparse
from lancehead.sparse import csgraph

theirs = pytest.importorskip("scipy.sparse.csgraph")
scipy_sparse = pytest.importorskip("scipy.sparse")


def graphs(seeds=6, negative=False):
    """Graphs with and without edges, and with several parts."""
    for n in (1, 2, 7):
        yield scipy_sparse.csr_array((n, n))
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 40))
        a = scipy_sparse.random_array((n, n), density=float(rng.choice([0.03, 0.1, 0.5])), rng=rng, format="csr")
        a.data = rng.integers(1, 9, a.data.size).astype(float)
        if negative:
            a = scipy_sparse.triu(a, 1).tocsr()
            a.data -= 4.0
            a.data[a.data == 0] = 1.0
        a.sum_duplicates()
        yield a


@pytest.mark.parametrize("directed", [True, False])
def test_orders(directed):
    for a in graphs():
        ours = sparse.csr_array(a)
        for start in (0, a.shape[0] - 1):
            for name in ("breadth_first_order", "depth_first_order"):
                if name == "depth_first_order" and not directed:
                    # Neighbours are visited in another order.
                    found = csgraph.depth_first_order(ours, start, False)[0]
                    assert set(found) == set(theirs.depth_first_order(a, start, False)[0])
                    continue
                order, before = getattr(csgraph, name)(ours, start, directed)
                expected, expected_before = getattr(theirs, name)(a, start, directed)
                np.testing.assert_array_equal(order, expected)
                np.testing.assert_array_equal(before, expected_before)
                assert order.dtype == expected.dtype
                assert before.dtype == expected_before.dtype
            if directed:
                found = csgraph.breadth_first_tree(ours, start).toarray()
                np.testing.assert_array_equal(found, theirs.breadth_first_tree(a, start).toarray())
    with pytest.raises(ValueError, match=r"shape \(N, N\)"):
        csgraph.breadth_first_order(sparse.csr_array((2, 3)), 0)
    with pytest.raises(ValueError, match="out of range"):
        csgraph.breadth_first_order(sparse.csr_array((2, 2)), 5)


def check_paths(a, distances, before, starts):
    """Each path by predecessors has the length that is said."""
    dense = a.toarray()
    for s, d, p in zip(starts, distances, before):
        for j in range(a.shape[0]):
            if p[j] == csgraph.NONE:
                assert d[j] == np.inf or j == s
            else:
                assert d[j] == pytest.approx(d[p[j]] + dense[p[j], j])


def test_shortest_paths():
    for a in graphs():
        ours, n = sparse.csr_array(a), a.shape[0]
        for method in ("D", "BF", "FW", "J", "auto"):
            for directed in (True, False):
                found, before = csgraph.shortest_path(ours, method, directed, True)
                np.testing.assert_allclose(found, theirs.shortest_path(a, method, directed))
                if directed:
                    check_paths(a, found, before, range(n))
        np.testing.assert_allclose(
            csgraph.shortest_path(ours, unweighted=True), theirs.shortest_path(a, unweighted=True)
        )
        np.testing.assert_allclose(csgraph.dijkstra(ours, indices=0), theirs.dijkstra(a, indices=0))
        np.testing.assert_allclose(
            csgraph.dijkstra(ours, indices=[0, -1], limit=6), theirs.dijkstra(a, indices=[0, n - 1], limit=6)
        )
        d, _, sources = csgraph.dijkstra(ours, indices=[0, n - 1], min_only=True, return_predecessors=True)
        np.testing.assert_allclose(d, theirs.dijkstra(a, indices=[0, n - 1], min_only=True))
        assert set(sources) <= {0, n - 1, csgraph.NONE}
    for a in graphs(negative=True):
        for method in ("BF", "FW", "J", "auto"):
            found, before = csgraph.shortest_path(sparse.csr_array(a), method, True, True)
            np.testing.assert_allclose(found, theirs.shortest_path(a, method))
            check_paths(a, found, before, range(a.shape[0]))
    cycle = [[0, 1.0, 0], [0, 0, -3.0], [1.0, 0, 0]]
    for method in ("BF", "FW", "J"):
        with pytest.raises(csgraph.NegativeCycleError):
            csgraph.shortest_path(cycle, method)
    with pytest.raises(ValueError, match="unrecognized method"):
        csgraph.shortest_path(cycle, "X")
    with pytest.raises(ValueError, match="negative"):
        csgraph.dijkstra(cycle)


def test_components_and_trees():
    for a in graphs(10):
        ours = sparse.csr_array(a)
        count, labels = csgraph.connected_components(ours)
        expected, expected_labels = theirs.connected_components(a)
        assert count == expected
        np.testing.assert_array_equal(labels, expected_labels)
        count, labels = csgraph.connected_components(ours, connection="strong")
        expected, expected_labels = theirs.connected_components(a, connection="strong")
        assert count == expected
        # Labels are numbers in any order.
        assert len(set(zip(labels.tolist(), expected_labels.tolist()))) == count
        tree = csgraph.minimum_spanning_tree(ours)
        expected = theirs.minimum_spanning_tree(a)
        assert tree.nnz == expected.nnz
        assert tree.sum() == pytest.approx(expected.sum())


def test_ranks_and_triangles():
    for a in graphs(10):
        ours, n = sparse.csr_array(a), a.shape[0]
        dense = a.toarray()
        out = dense.sum(axis=1)
        moves = np.where(out[:, None] > 0, dense / np.where(out > 0, out, 1)[:, None], 1 / n)
        google = 0.85 * moves + 0.15 / n
        values, vectors = np.linalg.eig(google.T)
        expected = np.abs(vectors[:, np.argmax(values.real)].real)
        np.testing.assert_allclose(csgraph.pagerank(ours, tol=1e-12), expected / expected.sum(), rtol=1e-6)
        both = ((dense + dense.T) > 0).astype(int)
        np.fill_diagonal(both, 0)
        np.testing.assert_array_equal(csgraph.triangles(ours), np.diag(np.linalg.matrix_power(both, 3)) // 2)
    with pytest.raises(csgraph.PowerIterationError):
        csgraph.pagerank([[0, 1, 0], [0, 0, 1], [1, 1, 0]], max_iter=2)
    with pytest.raises(ValueError, match="do not fit"):
        csgraph.pagerank([[0, 1], [1, 0]], personalization=[1, 2, 3])
    assert csgraph.pagerank([[0, 1], [1, 0]], personalization=[1, 0])[0] > 0.5
