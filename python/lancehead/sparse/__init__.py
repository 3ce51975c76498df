"""Sparse arrays by the names of `scipy.sparse`, whose loops are compiled.

>>> A = csr_array([[0.0, 2.0], [3.0, 0.0]])
>>> A @ np.array([1.0, 10.0])
array([20.,  3.])
"""

from lancehead.sparse import compiled as compiled
from lancehead.sparse import csgraph as csgraph
from lancehead.sparse.arrays import bsr_array, coo_array, csc_array, csr_array
from lancehead.sparse.base import SparseArray
from lancehead.sparse.building import (
    block_array,
    diags_array,
    eye_array,
    find,
    hstack,
    issparse,
    kron,
    random_array,
    tril,
    triu,
    vstack,
)  # fmt: skip
from lancehead.sparse.formats import SparseEfficiencyWarning, SparseWarning
from lancehead.sparse.products import Semiring, matmul

__all__ = [
    "Semiring", "SparseArray", "SparseEfficiencyWarning", "SparseWarning", "block_array", "bsr_array", "coo_array",
    "csc_array", "csgraph", "csr_array", "diags_array", "eye_array", "find", "hstack", "issparse", "kron", "matmul",
    "random_array", "tril", "triu", "vstack",
]  # fmt: skip
