"""Searches and paths in graphs whose edges are the entries of a sparse matrix in compressed rows."""

import numpy as np

from lancehead import prange
from lancehead.lib import prim
from lancehead.lib.sparse.places import at, prefetch, put

#: The predecessor of what has none.
NONE = -9999
#: How many nodes before its turn the memory of one is asked for.
AHEAD = 16


def breadth_first(indptr, indices, start, order, before):
    """The nodes that are reached from one, by their distance; `before` is `NONE` for all nodes at first.

    `order` has a place more than there are nodes.
    """
    put(order, 0, start)
    put(before, start, start)
    done, found = 0, 1
    while done < found:
        i = at(order, done)
        done += 1
        if done + AHEAD < found:
            # Where the neighbours of nodes begin that are next, and then these.
            prefetch(indptr, at(order, done + AHEAD))
            prefetch(indices, at(indptr, at(order, done + AHEAD // 2)))
        found = spread(indptr, indices, i, order, before, found, is_wide(done, found, before))
    put(before, start, NONE)
    return found


def breadth_first_both(indptr, indices, t_indptr, t_indices, start, order, before):
    """The same along edges of both directions: the matrix and its transpose."""
    put(order, 0, start)
    put(before, start, start)
    done, found = 0, 1
    while done < found:
        i = at(order, done)
        done += 1
        found = spread(indptr, indices, i, order, before, found, is_wide(done, found, before))
        found = spread(t_indptr, t_indices, i, order, before, found, is_wide(done, found, before))
    put(before, start, NONE)
    return found


def is_wide(done, found, before):
    """Whether so many nodes are waiting that neighbours are new or known as by chance, as in networks, not in grids."""
    return found - done > before.shape[0] >> 6


def spread(indptr, indices, i, order, before, found, wide):
    """Adds the neighbours of a node that are new."""
    if wide:
        # Stores without branches, which no processor could predict; a known neighbour is overwritten by the next one.
        for k in range(at(indptr, i), at(indptr, i + 1)):
            prim.loop_hint(1, 1)
            j = at(indices, k)
            known = at(before, j)
            put(before, j, i if known == NONE else known)
            put(order, found, j)
            found += known == NONE
        return found
    for k in range(at(indptr, i), at(indptr, i + 1)):
        prim.loop_hint(1, 1)
        j = at(indices, k)
        if at(before, j) == NONE:
            put(before, j, i)
            put(order, found, j)
            found += 1
    return found


def depth_first(indptr, indices, start, order, before):
    """The nodes that are reached from one, each followed by those that are reached from it first."""
    n = before.shape[0]
    path, edge = np.empty(n, np.int64), np.zeros(n, np.int64)
    put(path, 0, start)
    put(order, 0, start)
    put(before, start, start)
    put(edge, start, at(indptr, start))
    depth, found = 1, 1
    while depth > 0:
        i = at(path, depth - 1)
        k = at(edge, i)
        if k == at(indptr, i + 1):
            depth -= 1
            continue
        put(edge, i, k + 1)
        j = at(indices, k)
        if at(before, j) == NONE:
            put(before, j, i)
            put(order, found, j)
            put(path, depth, j)
            put(edge, j, at(indptr, j))
            depth += 1
            found += 1
    put(before, start, NONE)
    return found


def sift_up(keys, nodes, where, k):
    """Moves an element of a heap towards its root."""
    key, node = prim.item(keys, k), at(nodes, k)
    while k > 0:
        up = (k - 1) >> 2
        if prim.item(keys, up) <= key:
            break
        prim.set_item(keys, k, prim.item(keys, up))
        put(nodes, k, at(nodes, up))
        put(where, at(nodes, k), k)
        k = up
    prim.set_item(keys, k, key)
    put(nodes, k, node)
    put(where, node, k)


def sift_down(keys, nodes, where, size):
    """Moves the element at the root of a heap of four branches towards the leaves."""
    key, node, k = prim.item(keys, 0), at(nodes, 0), 0
    while 4 * k + 1 < size:
        best = 4 * k + 1
        for m in range(best + 1, min(best + 4, size)):
            if prim.item(keys, m) < prim.item(keys, best):
                best = m
        if prim.item(keys, best) >= key:
            break
        prim.set_item(keys, k, prim.item(keys, best))
        put(nodes, k, at(nodes, best))
        put(where, at(nodes, k), k)
        k = best
    prim.set_item(keys, k, key)
    put(nodes, k, node)
    put(where, node, k)


def nearest(indptr, indices, weights, starts, limit, distances, before, sources):
    """Dijkstra's algorithm from some nodes at once: distances are infinite at first, predecessors `NONE`.

    A node is in the heap where its place is not negative; -1 is one that was not there, -2 one that is done.
    """
    n = distances.shape[0]
    keys, nodes, where = np.empty(n, np.float64), np.empty(n, np.int64), np.full(n, -1, np.int64)
    size = 0
    for s in range(starts.shape[0]):
        i = at(starts, s)
        if at(where, i) == -1:
            prim.set_item(distances, i, 0.0)
            put(sources, i, i)
            prim.set_item(keys, size, 0.0)
            put(nodes, size, i)
            sift_up(keys, nodes, where, size)
            size += 1
    while size > 0:
        i, d = at(nodes, 0), prim.item(keys, 0)
        put(where, i, -2)
        size -= 1
        if size > 0:
            prim.set_item(keys, 0, prim.item(keys, size))
            put(nodes, 0, at(nodes, size))
            sift_down(keys, nodes, where, size)
        for k in range(at(indptr, i), at(indptr, i + 1)):
            j = at(indices, k)
            reached = d + prim.cast(prim.item(weights, k), np.float64)
            if at(where, j) != -2 and reached <= limit and reached < prim.item(distances, j):
                prim.set_item(distances, j, reached)
                put(before, j, i)
                put(sources, j, at(sources, i))
                place = at(where, j)
                if place < 0:
                    place = size
                    size += 1
                prim.set_item(keys, place, reached)
                put(nodes, place, j)
                sift_up(keys, nodes, where, place)


def nearest_of_each(indptr, indices, weights, starts, limit, distances, before):
    """Dijkstra's algorithm from each of some nodes, into rows of matrices."""
    n = indptr.shape[0] - 1
    for s in prange(starts.shape[0]):
        sources = np.empty(n, np.int32)
        nearest(indptr, indices, weights, starts[s : s + 1], limit, distances[s], before[s], sources)


def relaxed(indptr, indices, weights, starts, distances, before):
    """The algorithm of Bellman and Ford from each of some nodes; whether there is a cycle of negative length."""
    n = indptr.shape[0] - 1
    for s in range(starts.shape[0]):
        to, frm = distances[s], before[s]
        prim.set_item(to, at(starts, s), 0.0)
        changes, rounds = True, 0
        while changes:
            if rounds > n:
                return True
            changes = False
            for i in range(n):
                d = prim.item(to, i)
                if d < np.inf:
                    for k in range(at(indptr, i), at(indptr, i + 1)):
                        reached = d + prim.cast(prim.item(weights, k), np.float64)
                        if reached < prim.item(to, at(indices, k)):
                            prim.set_item(to, at(indices, k), reached)
                            put(frm, at(indices, k), i)
                            changes = True
            rounds += 1
    return False


def all_pairs(distances, before):
    """The algorithm of Floyd and Warshall; whether there is a cycle of negative length."""
    n = distances.shape[0]
    for k in range(n):
        for i in prange(n):
            d = distances[i, k]
            if d < np.inf and i != k:
                for j in range(n):
                    reached = d + distances[k, j]
                    if reached < distances[i, j]:
                        distances[i, j] = reached
                        before[i, j] = before[k, j]
    for i in range(n):
        if distances[i, i] < 0:
            return True
    return False


def root_of(parents, i):
    """The root of a node in a forest, whose paths are halved on the way."""
    while at(parents, i) != i:
        put(parents, i, at(parents, at(parents, i)))
        i = at(parents, i)
    return i


def components(indptr, indices, labels):
    """Labels of the parts that edges of either direction join, in the order of their first nodes; their number."""
    n = labels.shape[0]
    parents = np.arange(n)
    for i in range(n):
        for k in range(at(indptr, i), at(indptr, i + 1)):
            a, b = root_of(parents, i), root_of(parents, at(indices, k))
            # The root of a part is its first node.
            if a < b:
                put(parents, b, a)
            elif b < a:
                put(parents, a, b)
    count = 0
    for i in range(n):
        root = root_of(parents, i)
        if root == i:
            put(labels, i, count)
            count += 1
        else:
            put(labels, i, at(labels, root))
    return count


def strong_components(indptr, indices, labels):
    """Labels of the parts whose nodes reach each other, by Tarjan's algorithm; their number."""
    n = labels.shape[0]
    number, low, edge = np.full(n, -1, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    path, stack = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        put(labels, i, -1)
    count, seen, size = 0, 0, 0
    for root in range(n):
        if at(number, root) >= 0:
            continue
        depth = 1
        put(path, 0, root)
        while depth > 0:
            i = at(path, depth - 1)
            if at(number, i) < 0:
                put(number, i, seen)
                put(low, i, seen)
                put(edge, i, at(indptr, i))
                put(stack, size, i)
                seen, size = seen + 1, size + 1
            if at(edge, i) < at(indptr, i + 1):
                j = at(indices, at(edge, i))
                if at(number, j) < 0:
                    # The edge is looked at again when the node is done.
                    put(path, depth, j)
                    depth += 1
                else:
                    if at(labels, j) < 0:
                        put(low, i, min(at(low, i), at(low, j)))
                    put(edge, i, at(edge, i) + 1)
                continue
            depth -= 1
            if at(low, i) == at(number, i):
                while True:
                    size -= 1
                    j = at(stack, size)
                    put(labels, j, count)
                    if j == i:
                        break
                count += 1
    return count


def spanning_forest(order, row, col, kept, n):
    """Kruskal's algorithm: marks edges, which an order sorts by weights, that join parts."""
    parents = np.arange(n)
    for m in range(order.shape[0]):
        k = at(order, m)
        a, b = root_of(parents, at(row, k)), root_of(parents, at(col, k))
        if a != b:
            put(parents, max(a, b), min(a, b))
            prim.set_item(kept, k, True)


def triangles_of(indptr, indices, first, last, mark, counts):
    """Counts, for each node, the triangles of some nodes with two that come after them; edges lead to later nodes."""
    for i in range(first, last):
        start, end = at(indptr, i), at(indptr, i + 1)
        for k in range(start, end):
            put(mark, at(indices, k), i + 1)
        for k in range(start, end):
            j = at(indices, k)
            here = 0
            for m in range(at(indptr, j), at(indptr, j + 1)):
                h = at(indices, m)
                if at(mark, h) == i + 1:
                    put(counts, h, at(counts, h) + 1)
                    here += 1
            put(counts, j, at(counts, j) + here)
            put(counts, i, at(counts, i) + here)


def triangles(indptr, indices, n, parts, counts):
    """The triangles of each node, counted in parts that have counts of their own."""
    each = np.zeros((parts, n), np.int64)
    for t in prange(parts):
        # Nodes of all ranks are in each part: those of high ranks have most edges.
        mark = np.zeros(n, np.int64)
        for i in range(t, n, parts):
            triangles_of(indptr, indices, i, i + 1, mark, each[t])
    for t in range(parts):
        for i in range(n):
            put(counts, i, at(counts, i) + at(each[t], i))
