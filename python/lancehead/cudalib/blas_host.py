"""BLAS on the CPU device: by NumPy and the compiled loops of `blas_kernels`, where products of matrices are gemm's."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from lancehead.cudalib import blas_kernels as loops
from lancehead.cudalib.blas_kernels import BAND, DENSE, PACKED
from lancehead.cudalib.operands import blend, leading

_LEFT = 0
TRIANGULAR, SYMMETRIC, HERMITIAN = 0, 1, 2


def memory(a: np.ndarray) -> np.ndarray:
    """The memory of a matrix by columns in one dimension, with what is between the columns."""
    if a.ndim == 1 or not a.size:
        return a.reshape(-1)
    length = (a.shape[1] - 1) * leading(a) + a.shape[0]
    return np.lib.stride_tricks.as_strided(a, (length,), (a.itemsize,))


def applied(a: np.ndarray, operation: int) -> Any:
    """A matrix, its transpose (1), or its conjugate transpose (2)."""
    if operation == 2 and a.dtype.kind == "c":
        return np.conj(a).T
    return a.T if operation else a


def filled(a: np.ndarray, is_upper: bool, kind: int, is_unit: bool = False) -> Any:
    """The whole matrix of which one triangle is stored: triangular, symmetric, or Hermitian."""
    part, other = (np.triu(a), np.tril) if is_upper else (np.tril(a), np.triu)
    if kind == HERMITIAN or is_unit:
        np.fill_diagonal(part, 1 if is_unit else part.diagonal().real)
    if kind == TRIANGULAR:
        return part
    return part + other(np.conj(part.T) if kind == HERMITIAN else part.T, -1 if is_upper else 1)


def _store(is_upper: bool, is_hermitian: bool, alpha: Any, found: np.ndarray, beta: Any, c: np.ndarray) -> None:
    """One triangle of C = alpha found + beta C; with beta of 0, C is not read."""
    whole = alpha * found + beta * c if beta != 0 else alpha * found
    if is_hermitian:
        np.fill_diagonal(whole, whole.diagonal().real)
    low = np.tri(c.shape[0], dtype=bool)
    np.copyto(c, whole, where=low.T if is_upper else low)


def _dense(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x)


def gemv(v: Any) -> None:
    # The conjugates of a vector are fewer than those of a matrix.
    found = np.conj(v.A.T @ np.conj(v.x)) if v.trans == 2 else applied(v.A, v.trans) @ v.x
    blend(v.alpha, found, v.beta, v.y)


def gbmv(v: Any) -> None:
    blend(v.alpha, loops.gbmv(v.A, _dense(v.x), v.trans, v.m, v.kl, v.ku), v.beta, v.y)


def _symmetric_product(layout: int, is_hermitian: bool) -> Callable[[Any], None]:
    def run(v: Any) -> None:
        a, k, ld = _stored(v, layout)
        found = loops.symv(a, layout, v.n, k, ld, v.uplo == 1, is_hermitian, _dense(v.x))
        blend(v.alpha, found, v.beta, v.y)

    return run


def _stored(v: Any, layout: int) -> tuple[np.ndarray, int, int]:
    """The memory of a triangle, its diagonals beside the main one, the distance of its columns."""
    if layout == PACKED:
        return v.AP, 0, 0
    return memory(v.A), v.k if layout == BAND else 0, leading(v.A)


def _triangular(layout: int, solves: bool) -> Callable[[Any], None]:
    loop: Any = loops.trsv if solves else loops.trmv

    def run(v: Any) -> None:
        a, k, ld = _stored(v, layout)
        x = _dense(v.x)
        loop(a, layout, v.n, k, ld, v.uplo == 1, v.trans, v.diag == 1, x)
        if x is not v.x:
            v.x[:] = x

    return run


def _outer(conjugated: bool) -> Callable[[Any], None]:
    def run(v: Any) -> None:
        loops.ger(v.alpha, _dense(v.x), _dense(v.y), conjugated, v.A)

    return run


def _rank(layout: int, is_hermitian: bool, has_two: bool) -> Callable[[Any], None]:
    def run(v: Any) -> None:
        a, _, ld = _stored(v, layout)
        x = _dense(v.x)
        y = _dense(v.y) if has_two else x
        loops.syr(a, layout, v.n, ld, v.uplo == 1, is_hermitian, a.dtype.type(v.alpha), x, y, has_two)

    return run


def gemm(v: Any) -> None:
    loops.product(v.alpha, applied(v.A, v.transa), applied(v.B, v.transb), v.beta, v.C)


def _symmetric(kind: int) -> Callable[[Any], None]:
    def run(v: Any) -> None:
        a = filled(v.A, v.uplo == 1, kind)
        pair = (a, v.B) if v.side == _LEFT else (v.B, a)
        loops.product(v.alpha, pair[0], pair[1], v.beta, v.C)

    return run


def _update(is_hermitian: bool, has_two: bool) -> Callable[[Any], None]:
    def run(v: Any) -> None:
        # op(A) has a row for each row of C; the other factor's transposition is the one that goes with it.
        other = 2 if is_hermitian else 1
        a = applied(v.A, v.trans)
        c, dtype = v.C, v.C.dtype
        found = _matmul(a, applied(applied(v.B, v.trans) if has_two else a, other))
        alpha, beta = dtype.type(v.alpha), dtype.type(v.beta)
        _store(v.uplo == 1, is_hermitian, alpha, found, beta, c)
        if has_two:
            second = _matmul(applied(v.B, v.trans), applied(a, other))
            alpha = np.conj(alpha) if is_hermitian else alpha
            _store(v.uplo == 1, is_hermitian, alpha, second, dtype.type(1), c)

    return run


def _matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.empty((a.shape[0], b.shape[1]), a.dtype, "F")
    one = a.dtype.type(1)
    loops.product(one, a, b, a.dtype.type(0), out)
    return out


def trmm(v: Any) -> None:
    a = applied(filled(v.A, v.uplo == 1, TRIANGULAR, v.diag == 1), v.trans)
    pair = (a, v.B) if v.side == _LEFT else (v.B, a)
    loops.product(v.alpha, pair[0], pair[1], v.C.dtype.type(0), v.C)


def trsm(v: Any) -> None:
    solve_triangular(v.A, v.uplo == 1, v.trans, v.diag == 1, v.side == _LEFT, v.alpha, v.B)


def solve_triangular(
    a: np.ndarray, is_upper: bool, trans: int, is_unit: bool, is_left: bool, alpha: Any, b: np.ndarray
) -> None:
    """Solves op(A) X = alpha B, or X op(A) = alpha B, where X takes the place of B."""
    # X op(A) = B is op(A)^T X^T = B^T.
    is_turned = (trans != 0) == is_left
    right = b if is_left else b.T
    found = np.multiply(right, alpha, order="C", dtype=b.dtype)
    t = np.ascontiguousarray(a.T if is_turned else a)
    loops.substitute(t, is_upper == is_turned, is_unit, found, trans == 2)
    right[...] = found


def dgmm(v: Any) -> None:
    np.multiply(v.A, v.x[:, None] if v.side == _LEFT else v.x, out=v.C)


def geam(v: Any) -> None:
    a, b = applied(v.A, v.transa), applied(v.B, v.transb)
    # In place, an operand that is C transposed would be read after it is written.
    a, b = (x.copy() if np.may_share_memory(x, v.C) and t else x for x, t in ((a, v.transa), (b, v.transb)))
    loops.geam(v.alpha, a, v.beta, b, v.C)


RUN: dict[str, Callable[[Any], None]] = {
    "gemv": gemv, "gbmv": gbmv, "gemm": gemm, "trmm": trmm, "trsm": trsm, "dgmm": dgmm, "geam": geam,
    "symv": _symmetric_product(DENSE, False), "hemv": _symmetric_product(DENSE, True),
    "sbmv": _symmetric_product(BAND, False), "hbmv": _symmetric_product(BAND, True),
    "spmv": _symmetric_product(PACKED, False), "hpmv": _symmetric_product(PACKED, True),
    "trmv": _triangular(DENSE, False), "tbmv": _triangular(BAND, False), "tpmv": _triangular(PACKED, False),
    "trsv": _triangular(DENSE, True), "tbsv": _triangular(BAND, True), "tpsv": _triangular(PACKED, True),
    "ger": _outer(False), "geru": _outer(False), "gerc": _outer(True),
    "syr": _rank(DENSE, False, False), "her": _rank(DENSE, True, False), "spr": _rank(PACKED, False, False),
    "hpr": _rank(PACKED, True, False), "syr2": _rank(DENSE, False, True), "her2": _rank(DENSE, True, True),
    "spr2": _rank(PACKED, False, True), "hpr2": _rank(PACKED, True, True),
    "symm": _symmetric(SYMMETRIC), "hemm": _symmetric(HERMITIAN),
    "syrk": _update(False, False), "herk": _update(True, False), "syr2k": _update(False, True),
    "her2k": _update(True, True),
}  # fmt: skip


def run(name: str, values: dict[str, Any]) -> None:
    """Runs a routine with the values of its parameters."""
    RUN[name](SimpleNamespace(**values))
