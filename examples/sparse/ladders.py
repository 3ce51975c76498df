"""PageRank and breadth-first search of a graph of words: an edge joins two that differ in one letter.

Usage: python ladders.py [first word] [last word]      needs `pip install english-words`, which holds 235,000 words
"""

import sys

import numpy as np
from english_words import get_english_words_set

from lancehead import sparse
from lancehead.sparse import csgraph


def graph_of_words(words):
    """A matrix with a one where two words differ in one letter.

    A word with a letter left out is a pattern. Words and patterns are a matrix, and its product with its transpose
    counts the patterns of two words.
    """
    patterns, row, col = {}, [], []
    for i, word in enumerate(words):
        for k in range(len(word)):
            row.append(i)
            col.append(patterns.setdefault((k, word[:k], word[k + 1 :]), len(patterns)))
    table = sparse.csr_array((np.ones(len(row), np.int8), (row, col)), shape=(len(words), len(patterns)))
    both = (table @ table.T).tocoo()
    apart = both.coords[0] != both.coords[1]
    edges = np.ones(int(apart.sum())), tuple(c[apart] for c in both.coords)
    return sparse.coo_array(edges, shape=both.shape).tocsr()


def main(first="black", last="white"):
    words = sorted(get_english_words_set(["web2"], lower=True, alpha=True))
    number = {word: i for i, word in enumerate(words)}
    graph = graph_of_words(words)
    parts, labels = csgraph.connected_components(graph, directed=False)
    print(
        f"{len(words)} words, {graph.nnz // 2} pairs, {np.bincount(labels).max()} words in the largest of {parts} parts"
    )
    order, before = csgraph.breadth_first_order(graph, number[first])
    ladder = [number[last]]
    while before[ladder[-1]] >= 0:
        ladder.append(before[ladder[-1]])
    print(" ".join(words[i] for i in reversed(ladder)))
    # In a part of two words each has half of the rank: of interest is the largest part.
    inside = np.flatnonzero(labels == np.bincount(labels).argmax())
    ranks = csgraph.pagerank(graph[inside][:, inside])
    print("highest ranks:", ", ".join(words[inside[i]] for i in np.argsort(-ranks)[:8]))
    return words, graph, ranks, [words[i] for i in reversed(ladder)]


if __name__ == "__main__":
    main(*sys.argv[1:])
