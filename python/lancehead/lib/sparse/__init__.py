"""Loops of sparse matrices, on their arrays, for `lancehead.sparse` and for compiled code that uses it.

A matrix in compressed rows is `indptr`, `indices` and `data`: row `i` has the entries from `indptr[i]` to
`indptr[i + 1]`. Loops read these without checks of their own: `checking.py` finds arrays that are no matrix before,
and products, which would spend much of their time on that, look at each index when they use it. The results of no loop
depend on the number of threads: blocks have borders that the matrix alone decides.
"""
