"""Elementwise operations of sparse arrays with numbers, dense arrays and each other."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead.sparse import dtypes, loops
from lancehead.sparse.conversions import line, of_line, sparse, to_csc, to_csr
from lancehead.sparse.formats import Array, Rows, SparseEfficiencyWarning, compressed, is_sparse, of_coords, rows_of
from lancehead.sparse.products import _compiled, gathered, trimmed
from lancehead.threads import get_num_threads

#: Comparisons that are false for two zeros, by their functions.
_COMPARISONS = {operator.ne: loops.ne, operator.lt: loops.lt, operator.gt: loops.gt}


def with_data(a: Any, data: Array) -> Any:
    """An array with other values at the same places, of which it has copies."""
    if a.format == "coo":
        return of_coords(data, tuple(c.copy() for c in a.coords), a._shape)
    made = compressed(a.format, a.indptr.copy(), a.indices.copy(), data, a._shape)
    made._sorted, made._canonical = a._sorted, a._canonical
    return made


def _pair(a: Any, b: Any) -> tuple[Any, Rows, Rows]:
    """Two sparse arrays of a shape for loops: the form of the result, and both with their entries in order."""
    kind = "csc" if a.format == "csc" else "csr"
    moved = [(to_csc(x) if kind == "csc" else to_csr(x)) for x in (a, b)]
    return moved[0], *(rows_of(x._summed(), False) for x in moved)


def joined(function: Any, a: Any, b: Any, everywhere: bool, dtype: Any = None) -> Any:
    """The results of a function where one of two arrays has an entry (or both have), without those that are zero."""
    like, x, y = _pair(a, b)
    common = dtypes.joined(x.data.dtype, y.data.dtype)
    total = x.data.size + y.data.size
    parts = max(1, min(get_num_threads(), total // loops.SHARED))
    # A place more for each part: entries that are zero are written before they are left out.
    bound = parts + (total if everywhere or parts > 1 else min(x.data.size, y.data.size))
    kind = dtypes.index_dtype((x.indices, y.indices), bound)
    indptr, indices = np.empty(x.rows + 1, kind), np.empty(bound, kind)
    data = np.empty(bound, common if dtype is None else dtype)
    some = loops.united if everywhere else loops.met
    operands = x[:3], y[:3], (indices, data), np.empty(0, common), indptr
    if parts == 1:
        some(function, *operands, 0, x.rows, 0)
        size = loops.summed(indptr, x.rows)
        indices, data = trimmed(indices, size), trimmed(data, size)
    else:
        begins, ends = loops.in_parts(total)(some, function, *operands, parts)
        size = loops.summed(indptr, x.rows)
        indices, data = gathered(begins, ends, indices, size), gathered(begins, ends, data, size)
    found = compressed(like.format, indptr, indices, data, like._shape)
    found._sorted = found._canonical = True
    return found.tobsr(a.blocksize) if a.format == "bsr" else found


def _operand(x: Any) -> Any:
    """An operand as a number, a dense array or one of our sparse arrays; None for anything else."""
    if is_sparse(x):
        return sparse(x)
    if isinstance(x, np.ndarray | np.generic | bool | int | float | complex):
        return x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x
    # Lazy arrays and the like, too.
    return np.asarray(x) if isinstance(x, list | tuple) or hasattr(x, "__array__") else None


def add(a: Any, b: Any, sign: int = 1) -> Any:
    """The sum, or the difference if `sign` is -1.

    Raises:
        NotImplementedError: a number that is not zero is added.
        ValueError: the shapes differ.
    """
    other = _operand(b)
    if other is None:
        return NotImplemented
    if not is_sparse(other) and not isinstance(other, np.ndarray):
        if other == 0:
            return a.copy()
        word = "adding a nonzero scalar to" if sign == 1 else "subtracting a nonzero scalar from"
        raise NotImplementedError(f"{word} a sparse array is not supported")
    if isinstance(other, np.ndarray):
        return a.toarray() + other if sign == 1 else a.toarray() - other
    if a._shape != other._shape:
        raise ValueError("inconsistent shapes")
    if len(a._shape) == 1:
        return of_line(add(to_csr(line(a)), line(other), sign))
    if sign == -1 and a.dtype == other.dtype == np.bool_:
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor instead.")
    return joined(loops.plus if sign == 1 else loops.minus, a, other, True)


def subtracted_from(a: Any, b: Any) -> Any:
    """The difference of something and a sparse array."""
    other = _operand(b)
    if other is None:
        return NotImplemented
    if isinstance(other, np.ndarray):
        return other - a.toarray()
    if other == 0:
        return -a.copy()
    raise NotImplementedError("subtracting a sparse array from a nonzero scalar is not supported")


def multiply(a: Any, b: Any) -> Any:
    """The product of elements; a dense operand or one of one row or column may be broadcast.

    Raises:
        ValueError: the shapes do not fit.
    """
    other = _operand(b)
    if other is None:
        return NotImplemented
    if is_sparse(other):
        return _by_sparse(a, other)
    if isinstance(other, np.ndarray):
        if other.size != 1 or other.ndim > len(a._shape):
            return _by_dense(a, other)
        other = other.reshape(())[()]
    return with_data(a, dtypes.values(a.data * other))


def _by_dense(a: Any, other: Array) -> Any:
    shape = np.broadcast_shapes(a._shape, other.shape) if _can_broadcast(a, other) else None
    if shape is None:
        raise ValueError(f"inconsistent shapes {a._shape} and {other.shape}")
    coo = a.tocoo()
    if shape != a._shape:
        dense = a.toarray() * other
        return type(coo)(dense)
    spread = np.broadcast_to(other, shape)
    return of_coords(dtypes.values(coo.data * spread[coo.coords]), tuple(c.copy() for c in coo.coords), shape)


def _can_broadcast(a: Any, other: Any) -> bool:
    pairs = zip(a._shape[::-1], other.shape[::-1])
    return all(n == m or 1 in (n, m) for n, m in pairs)


def _by_sparse(a: Any, other: Any) -> Any:
    if a._shape == other._shape:
        if len(a._shape) == 1:
            return of_line(_by_sparse(to_csr(line(a)), line(other)))
        return joined(loops.times, a, other, False)
    if len(a._shape) == 1 and len(other._shape) == 2:
        return _by_sparse(other, a)
    if len(a._shape) != 2 or not _can_broadcast(a, other):
        raise ValueError(f"inconsistent shapes {a._shape} and {other._shape}")
    if other._shape in ((1, 1), (1,)):
        return multiply(a, other.toarray().reshape(())[()]).tocsr()
    if a._shape[1] == other._shape[-1] and (len(other._shape) == 1 or other._shape[0] == 1):
        return _scaled(a, other.toarray().reshape(-1), False)
    if len(other._shape) == 2 and other._shape == (a._shape[0], 1):
        return _scaled(a, other.toarray().reshape(-1), True)
    return type(to_csr(a))(a.toarray() * other.toarray())


def _scaled(a: Any, factors: Array, by_rows: bool) -> Any:
    csr = to_csr(a)
    given = rows_of(csr)
    out = np.empty(given.data.size, dtypes.joined(given.data.dtype, factors.dtype))
    if by_rows:
        loops.scale_rows(out.size)(given.indptr, given.data, given.rows, factors, out)
    else:
        loops.scale_columns(out.size)(given.indices, given.data, factors, out)
    made = compressed("csr", given.indptr.copy(), given.indices.copy(), out, a._shape)
    made.eliminate_zeros()
    return made


def divide(a: Any, b: Any) -> Any:
    """The quotient of elements, of 64 bits where these hold the values; by a sparse array it is dense."""
    other = _operand(b)
    if other is None:
        return NotImplemented
    wide = a.astype(np.float64) if np.can_cast(a.dtype, np.float64) else a
    if is_sparse(other):
        if a._shape != other._shape:
            raise ValueError("inconsistent shapes")
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.true_divide(wide.toarray(), other.toarray())
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(other, np.ndarray):
            return multiply(wide, np.true_divide(1.0, other))
        return with_data(wide, dtypes.values(wide.data / other))


def power(a: Any, n: Any, dtype: Any = None) -> Any:
    """The elements to the power of a number.

    Raises:
        NotImplementedError: it is zero, or no number.
    """
    if not np.isscalar(n):
        raise NotImplementedError("input is not scalar")
    if not n:
        raise NotImplementedError(
            "zero power is not supported as it would densify the matrix.\n"
            "Use `np.ones(A.shape, dtype=A.dtype)` for this case."
        )
    summed = a._summed()
    values = summed.data if dtype is None else summed.data.astype(dtype)
    return with_data(summed, dtypes.values(values**n))


def _dense_result(a: Any, found: Array) -> Any:
    warnings.warn("this comparison makes a sparse array dense", SparseEfficiencyWarning, stacklevel=4)
    kind = "csc" if a.format == "csc" else "csr"
    return a.asformat(kind)._of_dense(found)


def compare(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Where a comparison of elements holds; a function of `operator` says which."""
    other = _operand(b)
    if other is None:
        return NotImplemented
    if isinstance(other, np.ndarray):
        return function(a.toarray(), other)
    if not is_sparse(other):
        if function(0, other):
            return _dense_result(a, function(a.toarray(), other))
        summed = (a if a.format == "csc" else to_csr(a))._summed()
        found = with_data(summed, function(summed.data, other))
        found.eliminate_zeros()
        return found
    if a._shape != other._shape:
        if function in (operator.eq, operator.ne):
            return function is operator.ne
        raise ValueError("inconsistent shape")
    if function not in _COMPARISONS:
        return _dense_result(a, function(a.toarray(), other.toarray()))
    if len(a._shape) == 1:
        return of_line(compare(function, to_csr(line(a)), line(other)))
    found = joined(_COMPARISONS[function], a, other, True, np.bool_)
    return found.tocsr() if found.format == "bsr" else found


def extreme(a: Any, b: Any, greater: bool) -> Any:
    """The greater or the less of elements; NaN if one is."""
    other = _operand(b)
    if other is None:
        raise ValueError("Operands not compatible.")
    function = np.maximum if greater else np.minimum
    if isinstance(other, np.ndarray):
        return function(a.toarray(), other)
    if is_sparse(other):
        if a._shape != other._shape:
            raise ValueError(f"inconsistent shapes self.shape={a._shape} other.shape={other._shape}")
        if len(a._shape) == 1:
            return of_line(extreme(to_csr(line(a)), line(other), greater))
        found = joined(loops.greater if greater else loops.less, a, other, True)
        return found.tocsr() if a.format == "bsr" else found
    if function(0, other) != 0:
        return _dense_result(a, function(a.toarray(), other))
    summed = (a if a.format == "csc" else to_csr(a))._summed()
    return with_data(summed, function(summed.data, summed.dtype.type(0) if other == 0 else other))


def mapped(a: Any, function: Any) -> Any:
    """A function of the stored elements: a ufunc, a function of arrays, or one of numbers, which is compiled."""
    summed = a._summed()
    if isinstance(function, np.ufunc):
        with np.errstate(divide="ignore", invalid="ignore"):
            return with_data(summed, dtypes.values(function(summed.data)))
    found = loops.mapped(_compiled(function), summed.data.reshape(-1))
    return with_data(summed, dtypes.values(found.reshape(summed.data.shape)))


def subtract(a: Any, b: Any) -> Any:
    """The difference of a sparse array and something."""
    return add(a, b, -1)


def negative(a: Any) -> Any:
    """The elements with the other sign.

    Raises:
        NotImplementedError: they are truth values.
    """
    if a.data.dtype == np.bool_:
        raise NotImplementedError("negating a boolean sparse array is not supported")
    return with_data(a, -a.data)


def absolute(a: Any) -> Any:
    """The absolute values."""
    summed = a._summed()
    return with_data(summed, abs(summed.data))
