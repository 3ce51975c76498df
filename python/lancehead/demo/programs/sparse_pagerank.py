"""PageRank of a graph of words, beside the iteration as it is written with SciPy."""

import numpy as np
import scipy.sparse

from lancehead import sparse
from lancehead.demo.program import Program
from lancehead.demo.programs import sparse_ladders
from lancehead.sparse import csgraph


def plain(graph):
    n = graph.shape[0]
    degrees = graph.sum(axis=1)
    hanging = degrees == 0
    steps = (scipy.sparse.diags_array(1.0 / np.where(hanging, 1.0, degrees)) @ graph).T.tocsr()
    x = np.full(n, 1.0 / n)
    while True:
        new = 0.85 * (steps @ x + x[hanging].sum() / n) + 0.15 / n
        if np.abs(new - x).sum() < n * 1e-9:
            return new
        x = new


def compiled(graph):
    return csgraph.pagerank(sparse.csr_array(graph), tol=1e-9)


def inputs(quick):
    return sparse_ladders.inputs(quick)[:1]


def objection(answer):
    return "" if abs(answer.sum() - 1.0) < 1e-9 else f"the ranks' sum is {answer.sum()}"


PROGRAM = Program(
    name="sparse_pagerank",
    title="PageRank of words",
    baseline="SciPy",
    inputs=inputs,
    size=lambda graph: f"{graph.shape[0]:,} words, {graph.nnz // 2:,} pairs",
    plain=plain,
    compiled=compiled,
    tolerance=1e-12,
    objection=objection,
)
