"""PageRank by power iteration."""

import numpy as np

from lancehead import prange
from lancehead.lib import prim
from lancehead.lib.sparse.products import rows_by_vector_shared

#: Nodes of which differences are added one after the other.
NODES = 4096


def page_ranks(indptr, indices, data, out_weights, jump, hanging, alpha, tolerance, rounds, x):
    """The ranks of nodes, and whether they have settled after so many rounds.

    The matrix has, in its rows, the edges that lead to a node. `jump` says where a walk goes on when it jumps, and
    `hanging` where from a node without edges. `out_weights` become their inverses.
    """
    n = x.shape[0]
    share, y = np.empty(n, np.float64), np.zeros(n, np.float64)
    blocks = (n + NODES - 1) // NODES
    lost, moved = np.empty(blocks, np.float64), np.empty(blocks, np.float64)
    for i in range(n):
        w = prim.item(out_weights, i)
        prim.set_item(out_weights, i, 0.0 if w == 0.0 else 1.0 / w)
    hung, change = 0.0, 0.0
    for r in range(rounds + 1):
        # The ranks after a round, what they are shared as in the next one, and what walks without an edge have.
        for t in prange(blocks):
            some, difference = 0.0, 0.0
            for i in range(t * NODES, min(t * NODES + NODES, n)):
                old, w = prim.item(x, i), prim.item(out_weights, i)
                new = old
                if r > 0:
                    stay = alpha * (prim.item(y, i) + hung * prim.item(hanging, i))
                    new = stay + (1.0 - alpha) * prim.item(jump, i)
                difference += abs(new - old)
                some += new if w == 0.0 else 0.0
                prim.set_item(x, i, new)
                prim.set_item(share, i, new * w)
            lost[t], moved[t] = some, difference
        hung, change = 0.0, 0.0
        for t in range(blocks):
            hung += lost[t]
            change += moved[t]
        if r > 0 and change < n * tolerance:
            return True
        if r < rounds:
            rows_by_vector_shared(None, indptr, indices, data, share, y)
    return False
