"""The extension `linalg` of the array API standard."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead.options import near_keywords, public
from lancehead.xp import dtypes, elementwise
from lancehead.xp.arrays import ndarray, wrap
from lancehead.xp.elementwise import as_node, convert, operands, where
from lancehead.xp.graph import made, several
from lancehead.xp.manipulation import axis_of, matrix_transpose, moveaxis, stack
from lancehead.xp.products import matmul, tensordot, vecdot
from lancehead.xp.reducing import _sum_dtype, max, min, sum

_FLOATING = dtypes.REAL_FLOATING + dtypes.COMPLEX

QRResult = namedtuple("QRResult", ["Q", "R"])
EighResult = namedtuple("EighResult", ["eigenvalues", "eigenvectors"])
SlogdetResult = namedtuple("SlogdetResult", ["sign", "logabsdet"])
SVDResult = namedtuple("SVDResult", ["U", "S", "Vh"])


def _matrix(name: str, x: ndarray, square: bool = False) -> None:
    if x.dtype not in _FLOATING:
        raise TypeError(f"{name} takes floating-point numbers, not {x.dtype}")
    if x.ndim < 2:
        raise np.linalg.LinAlgError(f"{name} takes matrices, not an array with {x.ndim} axes")
    if square and x.shape[-1] != x.shape[-2]:
        raise np.linalg.LinAlgError(f"{name} takes square matrices, not {x.shape[-2]} by {x.shape[-1]}")


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype == dtypes.complex64:
        return dtypes.float32
    return dtypes.float64 if dtype == dtypes.complex128 else dtype


def _made(
    name: str, x: ndarray, shape: tuple[int, ...], dtype: np.dtype[Any], emit: Callable[..., str], *static: Any
) -> ndarray:
    return wrap(made(name, emit, (as_node(x),), shape, dtype, static=static, is_costly=True))


def cholesky(x: ndarray, /, *, upper: bool = False) -> ndarray:
    """The lower factor of Hermitian, positive definite matrices, or the upper one. LinAlgError for others."""
    _matrix("cholesky", x, True)
    found = _made("cholesky", x, x.shape, x.dtype, lambda a: f"np.linalg.cholesky({a})")
    return elementwise.conj(found.mT) if upper and x.dtype in dtypes.COMPLEX else found.mT if upper else found


def inv(x: ndarray, /) -> ndarray:
    """Inverse matrices. LinAlgError for singular ones."""
    _matrix("inv", x, True)
    return _made("inv", x, x.shape, x.dtype, lambda a: f"np.linalg.inv({a})")


def det(x: ndarray, /) -> ndarray:
    """Determinants."""
    _matrix("det", x, True)
    return _made("det", x, x.shape[:-2], x.dtype, lambda a: f"np.linalg.det({a})")


def slogdet(x: ndarray, /) -> Any:
    """Signs of determinants, and logarithms of their absolute values."""
    _matrix("slogdet", x, True)
    outer = x.shape[:-2]
    return SlogdetResult(*_several("slogdet", x, [(outer, x.dtype), (outer, _real(x.dtype))]))


def _several(
    name: str, x: ndarray, results: list[tuple[tuple[int, ...], np.dtype[Any]]], more: str = ""
) -> list[ndarray]:
    nodes = several(name, _factored, (as_node(x),), results, (name, more))
    return [wrap(n) for n in nodes]


def _factored(a: str, name: str, more: str) -> str:
    return f"np.linalg.{name}({a}{more})"


def eigh(x: ndarray, /) -> Any:
    """Eigenvalues, in ascending order, and eigenvectors of Hermitian matrices."""
    _matrix("eigh", x, True)
    return EighResult(*_several("eigh", x, [(x.shape[:-1], _real(x.dtype)), (x.shape, x.dtype)]))


def eigvalsh(x: ndarray, /) -> ndarray:
    """Eigenvalues of Hermitian matrices, in ascending order."""
    _matrix("eigvalsh", x, True)
    return _made("eigvalsh", x, x.shape[:-1], _real(x.dtype), lambda a: f"np.linalg.eigvalsh({a})")


def qr(x: ndarray, /, *, mode: str = "reduced") -> Any:
    """Orthogonal and triangular factors; square orthogonal ones with the mode "complete"."""
    _matrix("qr", x)
    if mode not in ("reduced", "complete"):
        raise ValueError(f"mode is 'reduced' or 'complete', not {mode!r}")
    m, n = x.shape[-2:]
    k = m if mode == "complete" or m < n else n
    outer = x.shape[:-2]
    return QRResult(*_several("qr", x, [((*outer, m, k), x.dtype), ((*outer, k, n), x.dtype)], f", {mode!r}"))


def svd(x: ndarray, /, *, full_matrices: bool = True) -> Any:
    """Singular vectors and values."""
    _matrix("svd", x)
    m, n = x.shape[-2:]
    k, outer = (m if m < n else n), x.shape[:-2]
    left, right = (m, n) if full_matrices else (k, k)
    results = [((*outer, m, left), x.dtype), ((*outer, k), _real(x.dtype)), ((*outer, right, n), x.dtype)]
    return SVDResult(*_several("svd", x, results, f", {bool(full_matrices)}"))


def svdvals(x: ndarray, /) -> ndarray:
    """Singular values."""
    _matrix("svdvals", x)
    k = x.shape[-1] if x.shape[-1] < x.shape[-2] else x.shape[-2]
    return _made("svdvals", x, (*x.shape[:-2], k), _real(x.dtype), lambda a: f"np.linalg.svdvals({a})")


def solve(x1: ndarray, x2: ndarray, /) -> ndarray:
    """Solutions of linear systems, of a vector or matrices of right-hand sides. LinAlgError for singular matrices."""
    _matrix("solve", x1, True)
    a, b = operands(x1, x2)
    dtype = np.result_type(a.dtype, b.dtype)
    rows = b.shape[-1] if len(b.shape) == 1 else b.shape[-2]
    if rows != a.shape[-1]:
        raise ValueError(f"right-hand sides of {rows} rows do not fit matrices of {a.shape[-1]}")
    if len(b.shape) == 1:
        shape = a.shape[:-1]
    else:
        shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:])
    nodes = (convert(a, dtype), convert(b, dtype))
    return wrap(made("solve", lambda a, b: f"np.linalg.solve({a}, {b})", nodes, shape, dtype, is_costly=True))


def pinv(x: ndarray, /, *, rtol: Any = None) -> ndarray:
    """Pseudo-inverse matrices; singular values up to `rtol` of the greatest count as zero."""
    u, s, vh = svd(x, full_matrices=False)
    limit = _limit(x, s, rtol)
    inverse = where(s > limit, 1 / where(s > limit, s, 1.0), 0.0)
    return matmul(_adjoint(vh) * inverse[..., None, :], _adjoint(u))


def _adjoint(x: ndarray) -> ndarray:
    return elementwise.conj(x).mT if x.dtype in dtypes.COMPLEX else x.mT


def _limit(x: ndarray, s: ndarray, rtol: Any) -> ndarray:
    longest = x.shape[-1] if x.shape[-1] > x.shape[-2] else x.shape[-2]
    if rtol is None:
        rtol = longest * float(np.finfo(_real(x.dtype)).eps)
    if isinstance(rtol, ndarray):
        rtol = rtol[..., None]
    found: ndarray = max(s, axis=-1, keepdims=True) * rtol
    return found


def matrix_rank(x: ndarray, /, *, rtol: Any = None) -> ndarray:
    """Numbers of singular values above `rtol` of the greatest."""
    _matrix("matrix_rank", x)
    s = svdvals(x)
    return sum(s > _limit(x, s, rtol), axis=-1)


def matrix_power(x: ndarray, n: int, /) -> ndarray:
    """Powers of square matrices, of their inverses for negative exponents."""
    _matrix("matrix_power", x, True)
    return _made("matrix_power", x, x.shape, x.dtype, lambda a, n: f"np.linalg.matrix_power({a}, {n})", int(n))


def cross(x1: ndarray, x2: ndarray, /, *, axis: int = -1) -> ndarray:
    """Vector products in three dimensions."""
    a, b = x1, x2
    k = axis_of(axis, a.ndim) - a.ndim
    if a.shape[k] != 3 or b.shape[k] != 3:
        raise ValueError("cross is of vectors with three elements")
    a, b = moveaxis(a, k, -1), moveaxis(b, k, -1)
    p, q = [[v[..., i] for i in range(3)] for v in (a, b)]
    parts = [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]
    return moveaxis(stack(parts, axis=-1), -1, k)


def diagonal(x: ndarray, /, *, offset: int = 0) -> ndarray:
    """Diagonals of matrices, as views."""
    if x.ndim < 2:
        raise ValueError("diagonal is of arrays with at least two axes")
    return x.view(lambda s: np.diagonal(s, offset, -2, -1))


def trace(x: ndarray, /, *, offset: int = 0, dtype: Any = None) -> ndarray:
    """Sums of diagonals."""
    return sum(diagonal(x, offset=offset), axis=-1, dtype=_sum_dtype(x, dtype))


def outer(x1: ndarray, x2: ndarray, /) -> ndarray:
    """Products of all elements of two lines."""
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError("outer is of arrays with one axis")
    return x1[:, None] * x2[None, :]


def vector_norm(x: ndarray, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> ndarray:
    """Norms of vectors along axes."""
    if x.dtype not in _FLOATING:
        raise TypeError(f"vector_norm takes floating-point numbers, not {x.dtype}")
    a = elementwise.abs(x)
    if ord == float("inf"):
        return max(a, axis=axis, keepdims=keepdims)
    if ord == -float("inf"):
        return min(a, axis=axis, keepdims=keepdims)
    if ord == 0:
        return sum(elementwise.not_equal(a, 0), axis=axis, keepdims=keepdims, dtype=a.dtype)
    if ord == 1:
        return sum(a, axis=axis, keepdims=keepdims)
    if ord == 2:
        return elementwise.sqrt(sum(a * a, axis=axis, keepdims=keepdims))
    return sum(a ** float(ord), axis=axis, keepdims=keepdims) ** (1.0 / float(ord))


def matrix_norm(x: ndarray, /, *, keepdims: bool = False, ord: Any = "fro") -> ndarray:
    """Norms of matrices: "fro", "nuc", 1, 2, inf and their negatives."""
    _matrix("matrix_norm", x)
    a = elementwise.abs(x)
    if ord == "fro":
        found = elementwise.sqrt(sum(a * a, axis=(-2, -1)))
    elif ord == "nuc":
        found = sum(svdvals(x), axis=-1)
    elif ord in (2, -2):
        found = (max if ord == 2 else min)(svdvals(x), axis=-1)
    elif ord in (1, -1, float("inf"), -float("inf")):
        along = -2 if ord in (1, -1) else -1
        found = (max if ord > 0 else min)(sum(a, axis=along), axis=-1)
    else:
        raise ValueError(f"there is no matrix norm {ord!r}")
    return found[..., None, None] if keepdims else found


__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "trace", "vecdot", "vector_norm",
]  # fmt: skip
public(globals())

near_keywords(globals())
