"""Functions of LAPACK as extensions call them: `numba.np.linalg._LAPACK`.

They take addresses, as LAPACK's do, and work in place on columns. Their code is lancehead's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead import types
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
