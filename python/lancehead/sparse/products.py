"""Products of sparse arrays with vectors, dense matrices and each other, by numbers or in a semiring."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from lancehead.decorators import is_jitted, njit
from lancehead.options import near_keywords
from lancehead.sparse import dtypes, loops
from lancehead.sparse.conversions import line, of_line, sparse, to_csc, to_csr
from lancehead.sparse.formats import CLASSES, Array, Rows, compressed, is_sparse, rows_of
from lancehead.threads import get_num_threads


class Semiring(NamedTuple):
    """Two functions in place of the sum and the product, and what the sum of nothing is.

    `plus` is associative and commutative, and `zero` changes nothing that it is added to; it is what places without an
    entry hold in results. Functions get the elements as they are; results have the type of theirs.

    >>> shortest = Semiring(min, lambda a, b: a + b, np.inf)
    >>> A = csr_array([[0.0, 2.0], [3.0, 0.0]])
    >>> matmul(A, np.array([1.0, 5.0]), shortest)
    array([7., 4.])
    """

    plus: Callable[[Any, Any], Any]
    times: Callable[[Any, Any], Any]
    zero: Any = 0


@functools.cache
def _compiled(function: Callable[..., Any]) -> Any:
    if is_jitted(function):
        return function
    # Builtins and ufuncs are called by a function, which can be compiled.
    return njit(function if isinstance(function, FunctionType) else lambda *args: function(*args))


@njit
def _one_result(f, a, b):  # type: ignore[no-untyped-def]
    return np.array([f(a[0], b[0])])


def _in_loops(semiring: Semiring, a: Any, b: Any) -> tuple[Any, np.dtype[Any]]:
    """A semiring as loops take it, and the type of its results for arrays of these types."""
    plus, times = _compiled(semiring.plus), _compiled(semiring.times)
    first: Array = _one_result(times, np.ones(1, a), np.ones(1, b))
    dtype = dtypes.supported(np.result_type(first.dtype, semiring.zero))
    return (plus, times, dtype.type(semiring.zero)), dtype


def matmul(a: Any, b: Any, semiring: Semiring | None = None) -> Any:
    """The product of a sparse array with a vector, a matrix or another sparse array; `a` may be the dense one.

    Raises:
        ValueError: an operand is a number, or the shapes do not fit.
    """
    if isinstance(b, np.ndarray) and not is_sparse(b):
        return _by_dense(a, b, semiring)
    if hasattr(b, "__cuda_array_interface__") or hasattr(a, "__cuda_array_interface__"):
        # An array in a device's memory, where the product is computed, too.
        return importlib.import_module("lancehead.sparse.device").matmul(a, b, semiring)
    if is_sparse(a) and is_sparse(b):
        return _by_sparse(sparse(a), sparse(b), semiring)
    if is_sparse(a):
        if np.isscalar(b):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        x = np.asarray(b)
        return NotImplemented if x.ndim == 0 and x.dtype == object else _by_dense(a, x, semiring)
    if np.isscalar(a):
        raise ValueError("Scalar operands are not allowed, use '*' instead")
    x = np.asarray(a)
    if x.ndim == 0 and x.dtype == object:
        return NotImplemented
    swapped = None if semiring is None else semiring._replace(times=_swapped(semiring.times))
    _fits(x.shape[-1], b._shape[0], x.ndim == 1, len(b._shape) == 1)
    found = _by_dense(b.T, x.T, swapped)
    return found.T if isinstance(found, np.ndarray) else found


def dot(a: Any, b: Any) -> Any:
    """The product; with a number that of the elements."""
    return a * b if np.isscalar(b) else matmul(a, b)


@functools.cache
def _swapped(times: Callable[..., Any]) -> Any:
    inner = _compiled(times)
    return njit(lambda a, b: inner(b, a))


def _fits(k: int, other: int, left: bool = False, right: bool = False) -> None:
    if k != other:
        first = f"k={k}" if left else f"n,k={k}"
        then = f"k={other},1?" if right else f"k={other},m"
        found = f"{'' if left else 'n,'}{'1?' if right else 'm'}"
        raise ValueError(f"matmul: dimension mismatch with signature ({first}),({then})->({found})")


def _by_dense(a: Any, x: Array, semiring: Semiring | None) -> Any:
    if a.__class__ not in _OURS:
        a = sparse(a)
    shape = a._shape
    if len(shape) == 1:
        found = _by_dense(line(a), x, semiring)
        return found[0]
    if x.ndim == 0:
        raise ValueError("Scalar operands are not allowed, use '*' instead")
    if x.ndim > 2:
        raise ValueError("a sparse array has products with arrays of one or two dimensions")
    _fits(shape[1], x.shape[0], False, x.ndim == 1)
    data = a.data
    if x.dtype not in dtypes._SUPPORTED:
        x = dtypes.values(x)
    if semiring is None:
        functions, dtype = None, data.dtype if data.dtype == x.dtype else dtypes.joined(data.dtype, x.dtype)
    else:
        functions, dtype = _in_loops(semiring, data.dtype, x.dtype)
    zero = 0 if functions is None else functions[2]
    if x.ndim == 1 and a.format != "bsr":
        return _by_vector(a, x, functions, dtype, zero)
    width = 1 if x.ndim == 1 else x.shape[1]
    out = np.full((shape[0], *x.shape[1:]), zero, dtype)
    if width == 0:
        return out
    flat, to = np.ascontiguousarray(x).reshape(-1), out.reshape(-1)
    if a.format == "bsr":
        given, (high, wide) = rows_of(a), a.blocksize
        values = np.ascontiguousarray(given.data).reshape(-1)
        size = values.size * width
        loops.blocks_by_matrix(size)(functions, *given[:2], values, flat, to, (high, wide), given.rows, width)
    elif a.format == "csc":
        loops.columns_by_matrix(functions, *rows_of(a)[:3], flat, to, shape[1], width)
    else:
        # Entries of one place are added in the type of the products, as in other formats.
        given = rows_of(to_csr(a if functions else a.astype(dtype, copy=False)))
        loops.rows_by_matrix(data.size * width)(functions, *given[:3], flat, to, given.rows, width)
    return out


def _by_vector(a: Any, x: Array, functions: Any, dtype: np.dtype[Any], zero: Any) -> Array:
    rows = a._shape[0]
    # These loops look at each index that they use, and at no more entries than there are.
    if a.format == "csr":
        out = np.empty(rows, dtype)
        indptr, indices = a.indptr, a.indices
        if indptr.shape[0] != rows + 1:
            rows_of(a)
        loop = loops.rows_by_vector.many if indices.shape[0] >= loops.SHARED else loops.rows_by_vector.one
        loop(functions, indptr, indices, a.data, x, out)
        return out
    out = np.full(rows, zero, dtype)
    if a.format == "csc":
        if a.indptr.shape[0] != a._shape[1] + 1:
            rows_of(a)
        loops.columns_by_vector(functions, a.indptr, a.indices, a.data, x, out)
    else:
        loops.places_by_vector(functions, *a.coords, a.data, x, out)
    return out


def _by_sparse(a: Any, b: Any, semiring: Semiring | None) -> Any:
    if len(a._shape) == 1 or len(b._shape) == 1:
        return _of_lines(a, b, semiring)
    _fits(a._shape[1], b._shape[0])
    if semiring is None:
        dtype = dtypes.joined(a.dtype, b.dtype)
        a, b = (x.astype(dtype, copy=False) if x.format == "coo" else x for x in (a, b))
    format = "csr" if a.format == "coo" else a.format
    shape = (a._shape[0], b._shape[1])
    if format == "csc":
        swapped = None if semiring is None else semiring._replace(times=_swapped(semiring.times))
        found = _product(rows_of(to_csc(b)), rows_of(a), swapped)
    else:
        found = _product(rows_of(to_csr(a)), rows_of(to_csr(b)), semiring)
    if format == "bsr":
        block = (a.blocksize[0], b.blocksize[1] if b.format == "bsr" else 1)
        return compressed("csr", *found[:3], shape).tobsr(block)
    return compressed(format, *found[:3], shape)


def _of_lines(a: Any, b: Any, semiring: Semiring | None) -> Any:
    first = line(a) if len(a._shape) == 1 else a
    then = line(b).T if len(b._shape) == 1 else b
    _fits(first._shape[1], then._shape[0], len(a._shape) == 1, len(b._shape) == 1)
    first, then = (x if x.format == "coo" else to_csr(x) for x in (first, then))
    found = _by_sparse(first, then, semiring)
    if len(a._shape) == 1 and len(b._shape) == 1:
        return np.asarray(found[0, 0])
    return of_line((found if len(a._shape) == 1 else found.T).tocoo())


def _product(a: Rows, b: Rows, semiring: Semiring | None) -> Rows:
    """The product of two matrices in compressed rows; entries of a row are in the order of their first terms."""
    if semiring is None:
        functions, dtype = None, dtypes.joined(a.data.dtype, b.data.dtype)
    else:
        functions, dtype = _in_loops(semiring, a.data.dtype, b.data.dtype)
    sums = np.empty(a.rows + 1, np.int64)
    total = loops.bound(a.indptr, a.indices, b.indptr, a.rows, sums)
    kind = dtypes.index_dtype((a.indptr, a.indices, b.indptr, b.indices), max(total, b.columns))
    # Parts have marks for all columns: few where there is little to do.
    threads = get_num_threads()
    parts = 1 if threads == 1 else max(1, min(4 * threads, a.rows, total // max(loops.SHARED, b.columns)))
    indptr, indices, data = np.empty(a.rows + 1, kind), np.empty(total, kind), np.empty(total, dtype)
    operands = (a.indptr, a.indices, a.data), (b.indptr, b.indices, b.data), (indices, data)
    begins, ends = loops.product(total)(functions, *operands, sums, indptr, parts, b.columns)
    size = loops.summed(indptr, a.rows)
    if parts > 1:
        indices, data = gathered(begins, ends, indices, size), gathered(begins, ends, data, size)
    else:
        indices, data = trimmed(indices, size), trimmed(data, size)
    return Rows(indptr, indices, data, a.rows, b.columns)


def trimmed(a: Array, size: int) -> Array:
    """The first numbers of an array; a copy if the rest, which is memory that was never touched, is more."""
    return a[:size].copy() if size < a.size // 2 else a[:size]


def gathered(begins: Array, ends: Array, parts: Array, size: int) -> Array:
    """Parts of an array one after the other."""
    out = np.empty(size, parts.dtype)
    moved = dtypes.carried(parts)
    loops.gathered(size)(begins, ends, moved, out.view(moved.dtype))
    return out


_OURS = CLASSES.values()

near_keywords(globals())
