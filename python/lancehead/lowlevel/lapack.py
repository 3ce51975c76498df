"""Linear algebra as extensions call it: the names of `numba.np.linalg`.

Functions of LAPACK (`_LAPACK`) take addresses, as LAPACK's do, and work in place on columns. Their code is lancehead's
own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead import errors, types
from lancehead.cfuncs import carray
from lancehead.errors import UnsupportedError
from lancehead.extending import register_jitable
from lancehead.lowlevel import cgutils
from lancehead.lowlevel.registry import intrinsic


@intrinsic
def _address(typingctx: Any, number: Any) -> Any:
    """The address that an integer is."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(types.uintp), generate


@register_jitable
def _size(x: Any) -> Any:
    return abs(x.real) + abs(x.imag)


@register_jitable
def _factor(a: Any, n: int, pivots: Any) -> int:
    """LU factors of the columns `a[j]` in place, as `getrf`: the number of the first zero on the diagonal, or 0."""
    info = 0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if _size(a[k, i]) > _size(a[k, best]):
                best = i
        pivots[k] = best + 1
        if a[k, best] == 0:
            info = info if info != 0 else k + 1
            continue
        for j in range(n):
            a[j, k], a[j, best] = a[j, best], a[j, k]
        for i in range(k + 1, n):
            a[k, i] /= a[k, k]
        for j in range(k + 1, n):
            factor = a[j, k]
            for i in range(k + 1, n):
                a[j, i] -= a[k, i] * factor
    return info


@register_jitable
def _substitute(a: Any, n: int, pivots: Any, b: Any) -> None:
    """Solves for a right-hand side in place."""
    for k in range(n):
        p = pivots[k] - 1
        b[k], b[p] = b[p], b[k]
    for k in range(n):
        for i in range(k + 1, n):
            b[i] -= a[k, i] * b[k]
    for k in range(n - 1, -1, -1):
        b[k] /= a[k, k]
        for i in range(k):
            b[i] -= a[k, i] * b[k]


def _scalar(dtype: Any) -> Any:
    return np.dtype(str(dtype)).type


# Questions and copies that go before and after calls.

_KINDS = {types.float32: "s", types.float64: "d", types.complex64: "c", types.complex128: "z"}


def ensure_lapack() -> None:
    """Raises where LAPACK's functions cannot be called; they always can."""


ensure_blas = ensure_lapack


def get_blas_kind(dtype: Any, func_name: str = "<BLAS function>") -> str:
    """The letter with which names of LAPACK's functions for a type of numbers begin.

    >>> get_blas_kind(types.float64)
    'd'

    Raises:
        NumbaTypeError: there are none for the type.
    """
    if dtype not in _KINDS:
        raise errors.NumbaTypeError(f"unsupported dtype for {func_name}()")
    return _KINDS[dtype]


def _copy_to_fortran_order(a: Any) -> Any:
    """A copy of an array whose columns are contiguous.

    >>> _copy_to_fortran_order(np.ones((2, 3))).strides
    (8, 16)
    """
    return a.T.copy().T


@register_jitable
def _check_finite_matrix(a: Any) -> None:
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs.")


def _check_linalg_matrix(a: Any, func_name: str, la_prefix: bool = True) -> None:
    """Refuses the type of what is no matrix of floats or complex numbers."""
    name = f"{'np.linalg' if la_prefix else 'np'}.{func_name}()"
    a = a.type if isinstance(a, types.Optional) else a  # type: ignore[attr-defined]
    if not isinstance(a, types.Array):
        raise errors.TypingError(f"{name} only supported for array types")
    if a.ndim != 2:  # type: ignore[attr-defined]
        raise errors.TypingError(f"{name} only supported on 2-D arrays.")
    if not isinstance(a.dtype, (types.Float, types.Complex)):  # type: ignore[attr-defined]
        raise errors.TypingError(f"{name} only supported on float and complex arrays.")


def _check_homogeneous_types(func_name: str, *given: Any) -> None:
    """Refuses types of arrays of several types of numbers."""
    if any(t.dtype != given[0].dtype for t in given[1:]):
        text = f"np.linalg.{func_name}() only supports inputs that have homogeneous dtypes."
        raise errors.TypingError(text)


@register_jitable
def _inv_err_handler(r: int) -> None:
    if r > 0:
        raise np.linalg.LinAlgError("Matrix is singular to machine precision.")


@register_jitable
def _handle_err_maybe_convergence_problem(r: int) -> None:
    if r > 0:
        raise ValueError("Internal algorithm failed to converge.")


def _get_inner_prod(dta: Any, dtb: Any) -> Any:
    """The function that gives the inner product of two vectors of these types of numbers."""

    @register_jitable
    def inner(a: Any, b: Any) -> Any:
        total = 0
        for i in range(len(a)):
            total = total + a[i] * b[i]
        return total

    return inner


class _LAPACK:
    """Makes the functions for a type of numbers."""

    def numba_xgesv(self, dtype: Any) -> Any:
        """Solves a system: kind, n, right-hand sides, a, its leading extent, pivots, b, its leading extent."""
        scalar = _scalar(dtype)

        @register_jitable
        def gesv(kind: int, n: int, nrhs: int, a: Any, lda: int, ipiv: Any, b: Any, ldb: int) -> int:
            columns = carray(_address(a.data), (n, lda), scalar)
            pivots = carray(_address(ipiv.data), (n,), np.int32)
            info = _factor(columns, n, pivots)
            if info == 0:
                sides = carray(_address(b.data), (nrhs, ldb), scalar)
                for j in range(nrhs):
                    _substitute(columns, n, pivots, sides[j])
            return info

        return gesv

    def numba_xxgetrf(self, dtype: Any) -> Any:
        """LU factors: kind, rows, columns (as many), a, its leading extent, pivots."""
        scalar = _scalar(dtype)

        @register_jitable
        def getrf(kind: int, m: int, n: int, a: Any, lda: int, ipiv: Any) -> int:
            columns = carray(_address(a.data), (n, lda), scalar)
            return _factor(columns, n, carray(_address(ipiv.data), (n,), np.int32))

        return getrf

    def __getattr__(self, name: str) -> Any:
        raise UnsupportedError(f"`_LAPACK.{name}` is not supported; call a function of `numpy.linalg`")
