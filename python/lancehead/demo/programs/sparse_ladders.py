"""Breadth-first search of a graph of words, in which an edge joins two that are one letter apart."""

import functools

import numpy as np
import scipy.sparse
from english_words import get_english_words_set
from scipy.sparse import csgraph as scipy_csgraph

from lancehead import sparse
from lancehead.demo.program import Program
from lancehead.sparse import csgraph


def graph_of(words):
    """A matrix with a one where a word becomes another by one letter that is changed, added or taken away.

    A word with a letter left out is a pattern. Words and patterns are a matrix, and its product with its transpose
    counts the patterns of two words: at least one if they differ in one letter.
    """
    number = {word: i for i, word in enumerate(words)}
    patterns, row, col, longer, shorter = {}, [], [], [], []
    for word, i in number.items():
        for k in range(len(word)):
            row.append(i)
            col.append(patterns.setdefault((k, word[:k], word[k + 1 :]), len(patterns)))
            if (other := number.get(word[:k] + word[k + 1 :])) is not None:
                longer.append(i)
                shorter.append(other)
    table = scipy.sparse.csr_array((np.ones(len(row)), (row, col)), shape=(len(words), len(patterns)))
    both = (table @ table.T).tocoo()
    apart = both.row != both.col
    rows, columns = [both.row[apart], longer, shorter], [both.col[apart], shorter, longer]
    graph = scipy.sparse.coo_array((np.ones(sum(map(len, rows))), (np.concatenate(rows), np.concatenate(columns))))
    graph.resize(both.shape)
    graph = graph.tocsr()
    graph.data[:] = 1.0
    return graph


def plain(graph, start):
    return scipy_csgraph.breadth_first_order(graph, start)


def compiled(graph, start):
    return csgraph.breadth_first_order(sparse.csr_array(graph), start)


@functools.cache
def inputs(quick):
    longest = 4 if quick else 8
    words = sorted(w for w in get_english_words_set(["web2"], lower=True, alpha=True) if len(w) <= longest)
    return graph_of(words), words.index("cold")


PROGRAM = Program(
    name="sparse_ladders",
    title="Word ladders, breadth-first search",
    baseline="SciPy",
    inputs=inputs,
    size=lambda graph, start: f"{graph.shape[0]:,} words, {graph.nnz // 2:,} pairs",
    plain=plain,
    compiled=compiled,
)
