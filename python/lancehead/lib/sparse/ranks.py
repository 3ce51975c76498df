"""PageRank by power iteration."""

import numpy as np

from lancehead import prange
from lancehead.lib import prim
from lancehead.lib.sparse.places import at, row_of_block
from lancehead.lib.sparse.products import dot

#: Nodes of which differences are added one after the other.
NODES = 4096


def page_ranks(indptr, indices, data, out_weights, jump, hanging, alpha, tolerance, rounds, x):
    """The ranks of nodes, and whether they have settled after so many rounds.

    The matrix has, in its rows, the edges that lead to a node. `jump` says where a walk goes on when it jumps, and
    `hanging` where from a node without edges.
    """
    n = x.shape[0]
    share, y = np.empty(n, np.float64), np.empty(n, np.float64)
    blocks = (n + NODES - 1) // NODES
    lost, moved = np.empty(blocks, np.float64), np.empty(blocks, np.float64)
    size = indices.shape[0]
    parts = min(max((size + n) // 65536, 1), n)
    for _ in range(rounds):
        for t in prange(blocks):
            total = 0.0
            for i in range(t * NODES, min(t * NODES + NODES, n)):
                w = prim.item(out_weights, i)
                total += prim.item(x, i) if w == 0.0 else 0.0
                prim.set_item(share, i, 0.0 if w == 0.0 else prim.item(x, i) / w)
            lost[t] = total
        hung = 0.0
        for t in range(blocks):
            hung += lost[t]
        for t in prange(parts):
            for i in range(row_of_block(indptr, n, t, parts, size), row_of_block(indptr, n, t + 1, parts, size)):
                came = dot(None, indices, data, share, y, at(indptr, i), at(indptr, i + 1))
                stay = alpha * (came + hung * prim.item(hanging, i))
                prim.set_item(y, i, stay + (1.0 - alpha) * prim.item(jump, i))
        for t in prange(blocks):
            total = 0.0
            for i in range(t * NODES, min(t * NODES + NODES, n)):
                total += abs(prim.item(y, i) - prim.item(x, i))
                prim.set_item(x, i, prim.item(y, i))
            moved[t] = total
        change = 0.0
        for t in range(blocks):
            change += moved[t]
        if change < n * tolerance:
            return True
    return False
