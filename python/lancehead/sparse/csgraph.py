"""Graphs as sparse matrices, by the names of `scipy.sparse.csgraph`, with PageRank and triangles beside them.

Entry (i, j) is an edge from node i to node j, and its value the length. In dense matrices zero, infinity and NaN are no
edges; in sparse ones each entry is one.

>>> from lancehead.sparse import csr_array
>>> ring = csr_array([[0, 1, 0], [0, 0, 2], [3, 0, 0]])
>>> breadth_first_order(ring, 0)[0]
array([0, 1, 2], dtype=int32)
>>> dijkstra(ring, indices=0)
array([0., 1., 3.])
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from lancehead.options import missing, near_keywords, public
from lancehead.sparse import dtypes, loops
from lancehead.sparse.conversions import sparse, to_csr, transposed
from lancehead.sparse.formats import Array, Rows, compressed, is_sparse, of_coords, rows_of
from lancehead.sparse.graph_conversions import (
    construct_dist_matrix,
    csgraph_from_dense,
    csgraph_from_masked,
    csgraph_masked_from_dense,
    csgraph_to_dense,
    csgraph_to_masked,
    edges_of,
    reconstruct_path,
)

#: The predecessor of a node that has none.
NONE = -9999


class NegativeCycleError(Exception):
    """A graph has a cycle of negative length, so that some paths have no shortest one."""


class PowerIterationError(Exception):
    """Ranks have not settled after as many rounds as were allowed."""


def _graph(graph: Any) -> Rows:
    """A graph in compressed rows.

    Raises:
        ValueError: it is not square.
    """
    if is_sparse(graph):
        csr = edges_of(graph)
    else:
        dense = np.asarray(graph)
        if dense.ndim != 2:
            raise ValueError("compressed-sparse graph must be 2-D")
        clean = np.where(np.isfinite(dense), dense, 0) if dense.dtype.kind in "fc" else dense
        csr = sparse(clean, "csr")
    if len(csr._shape) != 2 or csr._shape[0] != csr._shape[1]:
        raise ValueError("compressed-sparse graph must be shape (N, N)")
    return rows_of(csr)


def _node(i: Any, n: int) -> int:
    found = int(i)
    if not -n <= found < n:
        raise ValueError("i_start out of range") if n else ValueError("the graph has no nodes")
    return found % n


def _lengths(g: Rows, unweighted: bool) -> Array:
    return np.ones(g.data.size) if unweighted else g.data


def _undirected(g: Rows) -> Rows:
    """The graph with each edge in both directions; of two of them the shorter one counts in searches of paths."""
    turned = transposed(g)
    row = np.empty(g.indices.size, g.indices.dtype)
    loops.rows_of_entries(g.indptr, g.rows, row)
    back = np.empty(g.indices.size, g.indices.dtype)
    loops.rows_of_entries(turned.indptr, g.rows, back)
    major, minor = np.concatenate([row, back]), np.concatenate([g.indices, turned.indices])
    data = np.concatenate([g.data, turned.data])
    indptr, indices = np.empty(g.rows + 1, g.indptr.dtype), np.empty(data.size, g.indices.dtype)
    out = np.empty(data.size, data.dtype)
    moved = dtypes.carried(data), g.rows, g.rows, 1, indptr, indices, dtypes.carried(out)
    loops.compressed(0)(major, minor, *moved)
    return Rows(indptr, indices, out, g.rows, g.columns)


def breadth_first_order(graph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True) -> Any:
    """The nodes that are reached from one, by their distance, and the node before each on the way.

    >>> breadth_first_order([[0, 1, 1], [0, 0, 1], [0, 0, 0]], 0)
    (array([0, 1, 2], dtype=int32), array([-9999,     0,     0], dtype=int32))

    Raises:
        ValueError: the graph is not square, or the node is not there.
    """
    g = _graph(graph)
    start, before = _node(i_start, g.rows), np.full(g.rows, NONE, np.int32)
    order = np.empty(g.rows + 1, np.int32)
    if directed:
        found = loops.breadth_first(g.indptr, g.indices, start, order, before)
    else:
        turned = transposed(g)
        found = loops.breadth_first_both(g.indptr, g.indices, turned.indptr, turned.indices, start, order, before)
    return (order[:found], before) if return_predecessors else order[:found]


def depth_first_order(graph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True) -> Any:
    """The nodes that are reached from one, each followed by those reached from it, and the node before each."""
    g = _graph(graph)
    g = g if directed else _undirected(g)
    start, before = _node(i_start, g.rows), np.full(g.rows, NONE, np.int32)
    order = np.empty(g.rows, np.int32)
    found = loops.depth_first(g.indptr, g.indices, start, order, before)
    return (order[:found], before) if return_predecessors else order[:found]


def _tree(graph: Any, order: Array, before: Array) -> Any:
    """The edges from each node's predecessor, in compressed rows."""
    g = _graph(graph)
    nodes = order[1:]
    csr = compressed("csr", g.indptr, g.indices, g.data, (g.rows, g.columns))
    lengths = csr[before[nodes], nodes] if nodes.size else np.empty(0, g.data.dtype)
    back = csr[nodes, before[nodes]] if nodes.size else lengths
    values = np.where(lengths == 0, back, lengths).astype(np.float64)
    return to_csr(of_coords(values, (before[nodes], nodes), (g.rows, g.columns)))


def breadth_first_tree(graph: Any, i_start: int, directed: bool = True) -> Any:
    """The edges by which a breadth-first search reaches nodes."""
    return _tree(graph, *breadth_first_order(graph, i_start, directed))


def depth_first_tree(graph: Any, i_start: int, directed: bool = True) -> Any:
    """The edges by which a depth-first search reaches nodes."""
    return _tree(graph, *depth_first_order(graph, i_start, directed))


def _starts(indices: Any, n: int) -> tuple[Array, tuple[int, ...]]:
    """Nodes as a line, and the shape that they were given in."""
    given = np.arange(n) if indices is None else np.asarray(indices, dtype=np.int64)
    if given.size and not (-n <= given.min() and given.max() < n):
        raise ValueError("indices out of range")
    return np.where(given < 0, given + n, given).reshape(-1), given.shape


def dijkstra(
    graph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    limit: float = np.inf,
    min_only: bool = False,
) -> Any:
    """Lengths of shortest paths from some nodes, by Dijkstra's algorithm: lengths of edges are not negative.

    With `min_only`, of the paths from any of the nodes, with the node that is nearest.

    Raises:
        ValueError: a node is not there, or the limit is negative.
    """
    g = _graph(graph)
    if limit < 0:
        raise ValueError("limit must be >= 0")
    starts, shape_of_starts = _starts(indices, g.rows)
    g = g if directed else _undirected(g)
    lengths = _lengths(g, unweighted)
    if lengths.size and lengths.min() < 0:
        raise ValueError("lengths of edges are negative; use bellman_ford or johnson")
    if min_only:
        distances, before = np.full(g.rows, np.inf), np.full(g.rows, NONE, np.int32)
        sources = np.full(g.rows, NONE, np.int32)
        loops.nearest(g.indptr, g.indices, lengths, starts, float(limit), distances, before, sources)
        return (distances, before, sources) if return_predecessors else distances
    shape = (starts.size, g.rows)
    distances, before = np.full(shape, np.inf), np.full(shape, NONE, np.int32)
    work = starts.size * (g.indices.size + g.rows) if starts.size > 1 else 0
    loops.nearest_of_each(work)(g.indptr, g.indices, lengths, starts, float(limit), distances, before)
    return _results(distances, before, shape_of_starts, return_predecessors)


def _results(distances: Array, before: Array, starts: tuple[int, ...], both: bool) -> Any:
    shape = (*starts, distances.shape[1])
    return (distances.reshape(shape), before.reshape(shape)) if both else distances.reshape(shape)


def bellman_ford(
    graph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Lengths of shortest paths from some nodes, by the algorithm of Bellman and Ford: lengths may be negative.

    Raises:
        NegativeCycleError: a cycle has a negative length.
    """
    g = _graph(graph)
    starts, shape_of_starts = _starts(indices, g.rows)
    g = g if directed else _undirected(g)
    shape = (starts.size, g.rows)
    distances, before = np.full(shape, np.inf), np.full(shape, NONE, np.int32)
    if loops.relaxed(g.indptr, g.indices, _lengths(g, unweighted), starts, distances, before):
        raise NegativeCycleError("Negative cycle detected")
    return _results(distances, before, shape_of_starts, return_predecessors)


def floyd_warshall(
    graph: Any, directed: bool = True, return_predecessors: bool = False, unweighted: bool = False
) -> Any:
    """Lengths of shortest paths between all nodes, by the algorithm of Floyd and Warshall.

    Raises:
        NegativeCycleError: a cycle has a negative length.
    """
    g = _graph(graph)
    g = g if directed else _undirected(g)
    n = g.rows
    row = np.empty(g.indices.size, g.indices.dtype)
    loops.rows_of_entries(g.indptr, n, row)
    distances, before = np.full((n, n), np.inf), np.full((n, n), NONE, np.int32)
    places: Any = (row, g.indices)
    np.minimum.at(distances, places, _lengths(g, unweighted).astype(np.float64))
    before[row, g.indices] = row
    own = np.arange(n)
    negative = distances[own, own] < 0
    distances[own, own], before[own, own] = 0.0, NONE
    if negative.any() or loops.all_pairs(n * n * n)(distances, before):
        raise NegativeCycleError("Negative cycle in nodes")
    return (distances, before) if return_predecessors else distances


def johnson(
    graph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Lengths of shortest paths from some nodes, where lengths may be negative: Dijkstra's algorithm on others.

    Raises:
        NegativeCycleError: a cycle has a negative length.
    """
    g = _graph(graph)
    starts, shape_of_starts = _starts(indices, g.rows)
    g = g if directed else _undirected(g)
    lengths = _lengths(g, unweighted).astype(np.float64)
    # A node more leads to all others; lengths to it make those of edges positive.
    n = g.rows
    indptr = np.append(g.indptr, g.indices.size + n)
    indices_of = np.concatenate([g.indices, np.arange(n, dtype=g.indices.dtype)])
    heights, before = np.full((1, n + 1), np.inf), np.full((1, n + 1), NONE, np.int32)
    if loops.relaxed(indptr, indices_of, np.append(lengths, np.zeros(n)), np.array([n]), heights, before):
        raise NegativeCycleError("Negative cycle detected")
    h, row = heights[0, :n], np.empty(g.indices.size, g.indices.dtype)
    loops.rows_of_entries(g.indptr, n, row)
    shifted = np.maximum(lengths + h[row] - h[g.indices], 0.0)
    shape = (starts.size, n)
    distances, before = np.full(shape, np.inf), np.full(shape, NONE, np.int32)
    loops.nearest_of_each(starts.size * (shifted.size + n))(
        g.indptr, g.indices, shifted, starts, np.inf, distances, before
    )
    distances += h[None, :] - h[starts][:, None]
    return _results(distances, before, shape_of_starts, return_predecessors)


def shortest_path(
    graph: Any,
    method: str = "auto",
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    indices: Any = None,
) -> Any:
    """Lengths of shortest paths by a method: `FW`, `D`, `BF`, `J`, or `auto` by the lengths of the edges.

    Raises:
        ValueError: the method is unknown.
        NegativeCycleError: a cycle has a negative length.
    """
    if method == "auto":
        g = _graph(graph)
        is_negative = not unweighted and g.data.size > 0 and g.data.min() < 0
        method = "J" if is_negative else "D"
    if method == "FW":
        if indices is not None:
            raise ValueError("Cannot specify indices with method == 'FW'.")
        return floyd_warshall(graph, directed, return_predecessors, unweighted)
    known = {"D": dijkstra, "BF": bellman_ford, "J": johnson}
    if method not in known:
        raise ValueError(f"unrecognized method '{method}'")
    return known[method](graph, directed, indices, return_predecessors, unweighted)


def connected_components(
    graph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True
) -> Any:
    """The number of parts that are joined by edges, and a label of each node's part.

    With `connection="strong"`, the nodes of a part of a directed graph reach each other.

    Raises:
        ValueError: the kind of connection is unknown.
    """
    if connection.lower() not in ("weak", "strong"):
        raise ValueError("connection must be 'weak' or 'strong'")
    g = _graph(graph)
    labels = np.empty(g.rows, np.int32)
    loop = loops.strong_components if directed and connection.lower() == "strong" else loops.components
    count = int(loop(g.indptr, g.indices, labels))
    return (count, labels) if return_labels else count


def minimum_spanning_tree(graph: Any, overwrite: bool = False) -> Any:
    """Edges of the least total length that join all nodes which any edges join, in compressed rows."""
    g = _graph(graph)
    row = np.empty(g.indices.size, g.indices.dtype)
    loops.rows_of_entries(g.indptr, g.rows, row)
    kept = np.zeros(g.data.size, np.bool_)
    loops.spanning_forest(np.argsort(g.data, kind="stable"), row, g.indices, kept, g.rows)
    lengths = g.data[kept].astype(np.float64)
    return to_csr(of_coords(lengths, (row[kept], g.indices[kept]), (g.rows, g.columns)))


def pagerank(
    graph: Any,
    alpha: float = 0.85,
    personalization: Any = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    dangling: Any = None,
) -> Array:
    """The PageRank of nodes, as NetworkX computes it: values of edges are weights.

    `personalization` has a weight for each node where walks go on when they jump, which they do with probability
    `1 - alpha`, and `dangling` where they go on from nodes without edges.

    >>> pagerank([[0, 1], [1, 0]])
    array([0.5, 0.5])

    Raises:
        PowerIterationError: the ranks have not settled after so many rounds.
        ValueError: weights have another length, or their sum is zero.
    """
    g = _graph(graph)
    n = g.rows
    if n == 0:
        return np.empty(0)
    jump = _distribution(personalization, n)
    hanging = jump if dangling is None else _distribution(dangling, n)
    out_weights = np.zeros(n)
    loops.along_rows(g.data.size)(loops.plus, g.indptr, g.data, n, out_weights)
    turned = transposed(g)
    x = np.full(n, 1.0 / n)
    data = turned.data.astype(np.float64, copy=False)
    loop = loops.page_ranks(data.size + n)
    if not loop(turned.indptr, turned.indices, data, out_weights, jump, hanging, alpha, tol, max_iter, x):
        raise PowerIterationError(f"power iteration failed to converge within {max_iter} iterations")
    return x


def _distribution(weights: Any, n: int) -> Array:
    if weights is None:
        return np.full(n, 1.0 / n)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (n,):
        raise ValueError(f"weights of {given.size} nodes do not fit a graph of {n}")
    if given.sum() == 0:
        raise ValueError("the sum of the weights is zero")
    found: Array = given / given.sum()
    return found


def triangles(graph: Any) -> Array:
    """How many triangles each node is in; edges have no direction, and loops are left out.

    >>> triangles([[0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]])
    array([1, 1, 1, 0])
    """
    g = _graph(graph)
    row = np.empty(g.indices.size, g.indices.dtype)
    loops.rows_of_entries(g.indptr, g.rows, row)
    degree = np.bincount(row, minlength=g.rows) + np.bincount(g.indices, minlength=g.rows)
    # Edges lead to nodes of more neighbours, so that few nodes have many.
    rank = np.empty(g.rows, np.int64)
    rank[np.argsort(degree, kind="stable")] = np.arange(g.rows)
    a, b = rank[row], rank[g.indices]
    low, high = np.minimum(a, b), np.maximum(a, b)
    apart = low != high
    edges = to_csr(of_coords(np.ones(int(apart.sum()), np.uint8), (low[apart], high[apart]), (g.rows, g.rows)))
    counts = np.zeros(g.rows, np.int64)
    size = edges.indices.size
    parts = max(1, min(8, size // (2 * loops.SHARED)))
    loops.triangles(size)(edges.indptr, edges.indices, g.rows, parts, counts)
    return counts[rank]


_SOLVERS = "scipy.sparse.csgraph has it, for graphs of ours by to_scipy()"
#: Names of `scipy.sparse.csgraph` that are not here, with the reasons.
REFUSED = dict.fromkeys(
    (
        "laplacian maximum_bipartite_matching maximum_flow min_weight_full_bipartite_matching reverse_cuthill_mckee "
        "structural_rank yen"
    ).split(),
    _SOLVERS,
)


def __getattr__(name: str) -> NoReturn:
    reason = f": {REFUSED[name]}" if name in REFUSED else ""
    raise missing(__name__, name, reason)


__all__ = [
    "NegativeCycleError", "PowerIterationError", "bellman_ford", "breadth_first_order", "breadth_first_tree",
    "connected_components", "construct_dist_matrix", "csgraph_from_dense", "csgraph_from_masked",
    "csgraph_masked_from_dense", "csgraph_to_dense", "csgraph_to_masked", "depth_first_order", "depth_first_tree",
    "dijkstra", "floyd_warshall", "johnson", "minimum_spanning_tree", "pagerank", "reconstruct_path", "shortest_path",
    "triangles",
]  # fmt: skip
public(globals())

near_keywords(globals())
