"""Products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead.caches import Cache
from lancehead.options import near_keywords
from lancehead.xp import dtypes, places
from lancehead.xp.arrays import lazy, ndarray, set_operators, wrap
from lancehead.xp.devices import by_kernels
from lancehead.xp.elementwise import conj, convert, multiply, operands
from lancehead.xp.graph import Op, made
from lancehead.xp.manipulation import axis_of, moveaxis, reshape
from lancehead.xp.reducing import sum
from lancehead.xp.rows import How, Kind, Row

_MATMUL = Row("matmul", Kind.PRODUCT, How.TILED, nanoseconds=0.1, is_portable=True, fills=True)


def matmul(x1: ndarray, x2: ndarray, /) -> ndarray:
    """Products of matrices, stacked ones too. TypeError for truth values, ValueError for shapes that do not fit."""
    a, b = operands(x1, x2)
    known = _KNOWN.get(a.dtype)
    if known is not None and b.dtype is a.dtype and len(a.shape) == len(b.shape) == 2 and a.device is b.device:
        if a.shape[1] == b.shape[0]:
            found = lazy(known, (a, b), (a.shape[0], b.shape[1]), a.dtype, a.device)
            found._node.place = places.here()
            return found
    if not {a.dtype.kind, b.dtype.kind} <= set("iufc"):
        raise TypeError("matmul takes numbers")
    if not a.shape or not b.shape:
        raise ValueError("matmul takes arrays with axes")
    dtype = np.result_type(a.dtype, b.dtype)
    left, right = (1, *a.shape) if len(a.shape) == 1 else a.shape, (*b.shape, 1) if len(b.shape) == 1 else b.shape
    if left[-1] != right[-2]:
        raise ValueError(f"matrices of the shapes {a.shape} and {b.shape} do not fit: {left[-1]} is not {right[-2]}")
    outer = np.broadcast_shapes(left[:-2], right[:-2])
    shape = outer + left[-2:-1] * (len(a.shape) > 1) + right[-1:] * (len(b.shape) > 1)
    nodes = (convert(a, dtype), convert(b, dtype))
    node = made(_MATMUL, _product, nodes, shape, dtype, is_costly=True, is_fresh=True)
    if not by_kernels(node):
        _KNOWN[dtype] = node.op
    return wrap(node)


#: Operations of products by types of elements.
_KNOWN: Cache[np.dtype[Any], Op] = Cache(64)


def _product(a: str, b: str) -> str:
    return f"np.matmul({a}, {b})"


set_operators(matmul=matmul)


_FLOATING = frozenset(dtypes.REAL_FLOATING + dtypes.COMPLEX)


def vecdot(x1: ndarray, x2: ndarray, /, *, axis: int = -1) -> ndarray:
    """Products of vectors along an axis, of the conjugate of the first."""
    n = max(x1.ndim, x2.ndim)
    k = axis_of(axis, min(x1.ndim, x2.ndim)) - min(x1.ndim, x2.ndim) if axis >= 0 else axis
    if x1.shape[k] != x2.shape[k]:
        raise ValueError(f"vectors of {x1.shape[k]} and {x2.shape[k]} elements do not fit")
    a = conj(x1) if x1.dtype in dtypes.COMPLEX else x1
    dtype = x1.dtype if x1.dtype is x2.dtype else np.result_type(x1.dtype, x2.dtype)
    products = multiply(a, x2)
    if products.dtype is dtype and dtype in _FLOATING:
        return sum(products, axis=k + n)
    return sum(products, axis=k + n, dtype=dtype)


def tensordot(x1: ndarray, x2: ndarray, /, *, axes: Any = 2) -> ndarray:
    """Sums of products over axes: so many last of the first and first of the second, or the axes of each."""
    if isinstance(axes, int):
        one, other = list(range(x1.ndim - axes, x1.ndim)), list(range(axes))
    else:
        one, other = [list(of) if isinstance(of, (tuple, list)) else [of] for of in axes]
    one, other = [axis_of(k, x1.ndim) for k in one], [axis_of(k, x2.ndim) for k in other]
    if [x1.shape[k] for k in one] != [x2.shape[k] for k in other]:
        raise ValueError("the extents of the axes differ")
    n = len(one)
    a, b = moveaxis(x1, one, list(range(-n, 0))) if n else x1, moveaxis(x2, other, list(range(n))) if n else x2
    inner = int(np.prod([x1.shape[k] for k in one], dtype=int))
    left, right = a.shape[: x1.ndim - n], b.shape[n:]
    rows, columns = int(np.prod(left, dtype=int)), int(np.prod(right, dtype=int))
    return reshape(matmul(reshape(a, (rows, inner)), reshape(b, (inner, columns))), left + right)


__all__ = [
    "matmul", "tensordot", "vecdot",
]  # fmt: skip

near_keywords(globals())
