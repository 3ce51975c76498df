"""Linear algebra, by NumPy's functions over the memory of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lancehead.cupy.hosted import given, hosted, result
from lancehead.options import near_keywords, public

LinAlgError = np.linalg.LinAlgError


def _of(*names: str) -> Iterator[Callable[..., Any]]:
    return (hosted(getattr(np.linalg, name)) for name in names)


cholesky, cond, cross, det, diagonal, eig, eigh = _of("cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh")
eigvals, eigvalsh, inv, lstsq, matmul, matrix_norm = _of("eigvals", "eigvalsh", "inv", "lstsq", "matmul", "matrix_norm")
matrix_power, matrix_transpose, multi_dot, norm = _of("matrix_power", "matrix_transpose", "multi_dot", "norm")
outer, pinv, qr, slogdet, solve, svd, svdvals = _of("outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals")
tensordot, tensorinv, tensorsolve, trace = _of("tensordot", "tensorinv", "tensorsolve", "trace")
vecdot, vector_norm = _of("vecdot", "vector_norm")


def matrix_rank(M: Any, tol: Any = None) -> Any:
    """Number of singular values above a tolerance."""
    return result(np.asarray(np.linalg.matrix_rank(given(M), given(tol))))


__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer",
    "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot",
    "vector_norm",
]  # fmt: skip
public(globals())

near_keywords(globals())
