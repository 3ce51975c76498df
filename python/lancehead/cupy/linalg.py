"""Linear algebra, by NumPy's functions over the memory of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead.cupy.hosted import given, result
from lancehead.cupy.hosted import hosted as _of
from lancehead.options import near_keywords

LinAlgError = np.linalg.LinAlgError

cholesky = _of(np.linalg.cholesky)
cond = _of(np.linalg.cond)
cross = _of(np.linalg.cross)
det = _of(np.linalg.det)
diagonal = _of(np.linalg.diagonal)
eig = _of(np.linalg.eig)
eigh = _of(np.linalg.eigh)
eigvals = _of(np.linalg.eigvals)
eigvalsh = _of(np.linalg.eigvalsh)
inv = _of(np.linalg.inv)
lstsq = _of(np.linalg.lstsq)
matmul = _of(np.linalg.matmul)
matrix_norm = _of(np.linalg.matrix_norm)
matrix_power = _of(np.linalg.matrix_power)
matrix_transpose = _of(np.linalg.matrix_transpose)
multi_dot = _of(np.linalg.multi_dot)
norm = _of(np.linalg.norm)
outer = _of(np.linalg.outer)
pinv = _of(np.linalg.pinv)
qr = _of(np.linalg.qr)
slogdet = _of(np.linalg.slogdet)
solve = _of(np.linalg.solve)
svd = _of(np.linalg.svd)
svdvals = _of(np.linalg.svdvals)
tensordot = _of(np.linalg.tensordot)
tensorinv = _of(np.linalg.tensorinv)
tensorsolve = _of(np.linalg.tensorsolve)
trace = _of(np.linalg.trace)
vecdot = _of(np.linalg.vecdot)
vector_norm = _of(np.linalg.vector_norm)


def matrix_rank(M: Any, tol: Any = None) -> Any:
    """Number of singular values above a tolerance."""
    return result(np.asarray(np.linalg.matrix_rank(given(M), given(tol))))


__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer",
    "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot",
    "vector_norm",
]  # fmt: skip
__dir__ = __all__.copy

near_keywords(globals())
