"""Times of sparse arrays beside SciPy's and, of graphs, NetworkX: ratios in one run, the least of several times.

Usage: python benches/sparse.py [--threads 1,2] [--repeats 7] [--only NAME] [--cpu] [--json FILE]

The bandwidth is that of a sum of the bytes that a product with a vector reads. Gathers are sums of the elements of x
in the order in which the product reads them, which take their time where the vector is larger than the cache. `--cpu`
measures the time of the calling thread instead of the clock's, with one thread: other programs disturb that less.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from importlib import import_module
from importlib.util import find_spec

import figures
import numpy as np
import scipy.sparse
from scipy.sparse import csgraph as scipy_csgraph

import lancehead
from lancehead import njit, prange, sparse
from lancehead.sparse import csgraph


@njit(fastmath=True, parallel=True)
def read(x):
    """A sum, which reads each number once."""
    return x.sum()


@njit(parallel={"unsafe": True}, error_model="numpy")
def gather(x, indices):
    """Sums of blocks of the elements that indices lead to."""
    sums = np.empty(indices.size // 16384 + 1)
    for t in prange(sums.size):
        total = 0.0
        for k in range(t * 16384, min(t * 16384 + 16384, indices.size)):
            total += x[indices[k]]
        sums[t] = total
    return sums


def matrices():
    """Names and matrices: few entries a row in bands, entries anywhere, full rows, rows of very different lengths."""
    rng = np.random.default_rng(0)
    line = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(1000, 1000))
    yield "poisson", scipy.sparse.csr_array(scipy.sparse.kronsum(line, line).tocsr())
    yield "random", scipy.sparse.random_array((300_000, 300_000), density=1e-5 * 10 / 3, format="csr", rng=rng)
    bands = scipy.sparse.diags_array([np.ones(100_000)] * 51, offsets=range(-25, 26), shape=(100_000, 100_000))
    yield "bands", bands.tocsr()
    yield "full", scipy.sparse.csr_array(rng.random((20_000, 300)))
    yield "powers", graph(rng, 200_000)


def graph(rng, n):
    """A graph of whose nodes few have many edges."""
    degrees = np.minimum((rng.pareto(1.2, n) + 1).astype(int), 5000)
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    row = np.repeat(np.arange(n, dtype=np.int32), degrees)
    col = rng.integers(0, n, indptr[-1]).astype(np.int32)
    return scipy.sparse.coo_array((rng.random(row.size) + 0.1, (row, col)), shape=(n, n)).tocsr()


#: Names of the matrices that are measured.
MATRICES = ("poisson", "random", "bands", "full", "powers")


def operations(name, ours, theirs):
    """Names, and functions of ours and SciPy's."""
    x = np.random.default_rng(1).random(theirs.shape[1])
    wide = np.stack([x] * 8, axis=1)
    coo = theirs.tocoo()
    order = np.random.default_rng(2).permutation(coo.nnz)
    mixed = scipy.sparse.coo_array((coo.data[order], tuple(c[order] for c in coo.coords)), shape=coo.shape)
    our_coo, our_mixed = sparse.coo_array(coo), sparse.coo_array(mixed)
    yield "A @ x", lambda: ours @ x, lambda: theirs @ x
    yield "A @ X", lambda: ours @ wide, lambda: theirs @ wide
    yield "A.tocsc()", ours.tocsc, theirs.tocsc
    some, known = ours[:1000], theirs[:1000]
    if some.shape[1] <= 100_000:
        yield "toarray()", some.toarray, known.toarray
    yield "coo.tocsr()", our_coo.tocsr, coo.tocsr
    yield "mixed coo.tocsr()", our_mixed.tocsr, mixed.tocsr
    if theirs.shape[0] == theirs.shape[1]:
        yield "A + A.T", lambda: ours + ours.T, lambda: theirs + theirs.T
    yield "A[::-1]", lambda: ours[::-1], lambda: theirs[::-1]
    yield "A.sum(axis=0)", lambda: ours.sum(axis=0), lambda: theirs.sum(axis=0)
    if name in ("poisson", "random"):
        yield "A @ A", lambda: ours @ ours, lambda: theirs @ theirs


def searches():
    """Names, and functions of graphs."""
    yield "breadth_first_order", lambda m, g: m.breadth_first_order(g, 0)
    yield "dijkstra", lambda m, g: m.dijkstra(g, indices=0)
    yield "connected_components", lambda m, g: m.connected_components(g)


def measured(first, second, repeats, clock):
    """The least times of two functions that run in turns."""
    first(), second()
    best = [np.inf, np.inf]
    for _ in range(repeats):
        for k, f in enumerate((first, second)):
            start = clock()
            f()
            best[k] = min(best[k], clock() - start)
    return best


def report(options, label, first, second):
    """Measures both, prints a line and keeps the figures; the seconds of the first."""
    if options.only and options.only not in label:
        return np.inf
    clock = time.thread_time if options.cpu else time.perf_counter
    a, b = measured(first, second, options.repeats, clock)
    print(f"{label:45} {a * 1e3:9.2f} ms  {b * 1e3:9.2f} ms  {a / b:6.2f}", flush=True)
    options.times.add(label, round(a * 1e3, 3), round(b * 1e3, 3), round(a / b, 2))
    return a


def ratios(times):
    """Rows of operations and columns of matrices, of those on one thread."""
    known = {}
    for label, _, _, ratio in times.rows:
        matrix, _, operation = label.partition(", 1 thread(s): ")
        known.setdefault(operation, {})[matrix] = str(ratio)
    known.pop("", None)
    return [[f"`{operation}`", *(of.get(matrix, "") for matrix in MATRICES)] for operation, of in known.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--cpu", action="store_true")
    figures.add_json(parser)
    options = parser.parse_args()
    result = figures.Result("sparse", "benches/run.sh sparse", 1)
    table = result.table("ratios", "operation", *MATRICES)
    options.times = result.table("times", "case", ("lancehead", "ms", 2), ("others", "ms", 2), ("ratio", "", 2))
    clock = time.thread_time if options.cpu else time.perf_counter
    print(f"{'':45} {'ours':>12}  {'others':>12}   ratio")
    small = scipy.sparse.csr_array(np.eye(3))
    ours, x = sparse.csr_array(small), np.ones(3)

    def many(a):
        for _ in range(1000):
            a @ x

    report(options, "1000 small A @ x", lambda: many(ours), lambda: many(small))
    threads = [1] if options.cpu else [int(n) for n in options.threads.split(",")]
    for name, theirs in matrices():
        ours = sparse.csr_array(theirs)
        for n in threads:
            lancehead.set_num_threads(min(n, lancehead.get_num_threads()) if n == 1 else n)
            for label, first, second in operations(name, ours, theirs):
                a = report(options, f"{name}, {n} thread(s): {label}", first, second)
                if label == "A @ x" and np.isfinite(a):
                    read_bytes = theirs.nnz * 12 + theirs.shape[0] * 12 + theirs.shape[1] * 8
                    numbers = np.ones(read_bytes // 8)
                    least, _ = measured(lambda: read(numbers), lambda: None, options.repeats, clock)
                    x = np.ones(theirs.shape[1])
                    alone, _ = measured(
                        lambda x=x, k=theirs.indices: gather(x, k), lambda: None, options.repeats, clock
                    )
                    print(f"{'':45} {least / a:.0%} of the bandwidth; gathers alone take {alone * 1e3:.2f} ms")
            if name in ("poisson", "powers"):
                for label, f in searches():
                    a, b = partial(f, csgraph, abs(ours)), partial(f, scipy_csgraph, abs(theirs))
                    report(options, f"{name}, {n} thread(s): {label}", a, b)
    if find_spec("networkx"):
        networks(options)
    table.rows = ratios(options.times)
    result.write(options.json)


def networks(options):
    """PageRank and triangles beside NetworkX."""
    networkx = import_module("networkx")
    theirs = graph(np.random.default_rng(3), 20_000)
    directed = networkx.from_scipy_sparse_array(theirs, create_using=networkx.DiGraph)
    plain = networkx.Graph(directed)
    plain.remove_edges_from(list(networkx.selfloop_edges(plain)))
    ours = sparse.csr_array(theirs)
    np.testing.assert_allclose(csgraph.pagerank(ours), list(networkx.pagerank(directed).values()))
    report(options, "pagerank", lambda: csgraph.pagerank(ours), lambda: networkx.pagerank(directed))
    report(options, "triangles", lambda: csgraph.triangles(ours), lambda: networkx.triangles(plain))


if __name__ == "__main__":
    main()
