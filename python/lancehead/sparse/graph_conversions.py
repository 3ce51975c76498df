"""Graphs as dense matrices, in which a value stands for no edge, and paths from predecessors."""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead.sparse.conversions import sparse, to_csr
from lancehead.sparse.formats import Array, of_coords


def edges_of(graph: Any) -> Any:
    """The edges of a sparse matrix in compressed rows: its entries, of blocks those that are not zero."""
    a = sparse(graph)
    csr = to_csr(a)
    if a.format == "bsr":
        csr.eliminate_zeros()
    return csr


def csgraph_masked_from_dense(
    graph: Any, null_value: Any = 0, nan_null: bool = True, infinity_null: bool = True, copy: bool = True
) -> Any:
    """A dense matrix as a masked array: what stands for no edge is masked.

    Raises:
        ValueError: it is not square.
    """
    dense = np.array(graph, copy=copy or None)
    if dense.ndim != 2:
        raise ValueError("graph should have two dimensions")
    if dense.shape[0] != dense.shape[1]:
        raise ValueError("graph should be a square array")
    values = dense.astype(np.float64)
    mask = np.zeros(dense.shape, bool)
    if null_value is not None:
        mask |= np.isnan(values) if np.isnan(null_value) else values == null_value
    mask |= nan_null & np.isnan(values)
    mask |= infinity_null & np.isinf(values)
    return np.ma.masked_array(values, mask)


def csgraph_from_masked(graph: Any) -> Any:
    """A masked array as a graph in compressed rows; edges are what is not masked, zeros among them."""
    masked = np.ma.asarray(graph)
    if masked.ndim != 2 or masked.shape[0] != masked.shape[1]:
        raise ValueError("graph should be a square array")
    row, col = np.nonzero(~np.ma.getmaskarray(masked))
    places = row.astype(np.int32), col.astype(np.int32)
    return to_csr(of_coords(np.asarray(masked.data, np.float64)[row, col], places, masked.shape))


def csgraph_from_dense(graph: Any, null_value: Any = 0, nan_null: bool = True, infinity_null: bool = True) -> Any:
    """A dense matrix as a graph in compressed rows.

    >>> csgraph_from_dense([[0, 2], [np.inf, 0]]).nnz
    1
    """
    return csgraph_from_masked(csgraph_masked_from_dense(graph, null_value, nan_null, infinity_null))


def csgraph_to_dense(csgraph: Any, null_value: Any = 0) -> Array:
    """A graph as a dense matrix; of several edges between two nodes the shortest."""
    coo = edges_of(csgraph).tocoo()
    if len(coo._shape) != 2 or coo._shape[0] != coo._shape[1]:
        raise ValueError("csgraph should be a square matrix")
    out = np.full(coo._shape, np.inf)
    np.minimum.at(out, coo.coords, coo.data.astype(np.float64))
    edges = np.zeros(coo._shape, bool)
    edges[coo.coords] = True
    out[~edges] = null_value
    return out


def csgraph_to_masked(csgraph: Any) -> Any:
    """A graph as a masked array."""
    return np.ma.masked_invalid(csgraph_to_dense(csgraph, np.nan))


def reconstruct_path(csgraph: Any, predecessors: Any, directed: bool = True) -> Any:
    """The edges of a tree of predecessors, with their lengths, in compressed rows."""
    csr = edges_of(csgraph)
    before = np.asarray(predecessors).reshape(-1)
    nodes = np.flatnonzero(before >= 0)
    lengths = csr[before[nodes], nodes].astype(np.float64) if nodes.size else np.empty(0)
    if not directed and nodes.size:
        back = csr[nodes, before[nodes]].astype(np.float64)
        both = np.where((lengths == 0) | ((back != 0) & (back < lengths)), back, lengths)
        lengths = both
    places = before[nodes].astype(np.int32), nodes.astype(np.int32)
    made = to_csr(of_coords(lengths, places, csr._shape))
    return made


def construct_dist_matrix(graph: Any, predecessors: Any, directed: bool = True, null_value: Any = np.inf) -> Array:
    """The lengths of the paths that a matrix of predecessors says; `null_value` where there is none.

    Raises:
        ValueError: the shapes differ.
    """
    dense = (
        csgraph_to_dense(graph, np.inf)
        if hasattr(graph, "tocoo")
        else csgraph_to_dense(csgraph_from_dense(graph), np.inf)
    )
    before = np.asarray(predecessors)
    if dense.shape != before.shape:
        raise ValueError("graph and predecessors must have the same shape")
    if not directed:
        dense = np.minimum(dense, dense.T)
    n = dense.shape[0]
    out = np.zeros((n, n))
    at = np.broadcast_to(np.arange(n), (n, n)).copy()
    here = np.arange(n)[:, None] != at
    out[here & (before < 0)] = null_value
    rows = np.broadcast_to(np.arange(n)[:, None], (n, n))
    # All paths go a step back at once.
    going = here & (before >= 0)
    for _ in range(n):
        if not going.any():
            break
        step = np.where(going, before[rows, at], at)
        out[going] += dense[step[going], at[going]]
        at = step
        going &= before[rows, at] >= 0
    return out


__all__ = [
    "construct_dist_matrix", "csgraph_from_dense", "csgraph_from_masked", "csgraph_masked_from_dense",
    "csgraph_to_dense", "csgraph_to_masked", "edges_of", "reconstruct_path",
]  # fmt: skip
