"""Sparse arrays in compiled code: what the functions behind their methods are there.

An array is an instance with fields; its methods are those of Python, which call functions of `conversions.py` and the
like, and these have overloads here. They are written as a user's functions, on the loops of `lancehead.lib.sparse`.
"""

# Bodies are typed when they are compiled, for the types of their arguments.
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead import _core, types
from lancehead.errors import TypingError
from lancehead.extending import overload, registering
from lancehead.lib.sparse import (
    arithmetic,
    checking,
    converting,
    joining,
    ordering,
    places,
    products,
    reducing,
    slicing,
)
from lancehead.sparse import conversions, elementwise, indexing, reductions
from lancehead.sparse import products as operators
from lancehead.sparse.arrays import coo_array, csc_array, csr_array
from lancehead.sparse.formats import CANONICAL, SORTED, UNKNOWN, UNSORTED
from lancehead.sparse.loops import SHARED


def _maker(cls: Any, fields: tuple[str, ...]) -> Any:
    """A function that makes an array of parts that are sound, in compiled code."""

    def make(*parts: Any) -> Any:
        made = object.__new__(cls)
        made.__dict__.update(zip(fields, parts, strict=True))
        return made

    def choose(*parts: Any, **named: Any) -> Any:
        # Asking for the type of an instance makes the class known.
        types.typeof(cls((0, 0)))
        if len(fields) == 3:
            return _set_places, _core.struct_type(cls, list(parts))
        return _set_parts, _core.struct_type(cls, [*parts, types.int64])

    make.__name__ = make.__qualname__ = f"make_{cls.__name__}"
    registering(make, False, False, {})(choose)
    return make


def _set_parts(self, data, indices, indptr, shape):
    self.data = data
    self.indices = indices
    self.indptr = indptr
    self._shape = shape
    self._order = UNKNOWN


def _set_places(self, data, coords, shape):
    self.data = data
    self.coords = coords
    self._shape = shape


make_csr = _maker(csr_array, ("data", "indices", "indptr", "_shape"))
make_csc = _maker(csc_array, ("data", "indices", "indptr", "_shape"))
make_coo = _maker(coo_array, ("data", "coords", "_shape"))


def _of(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers what compiled code runs for a function."""

    def register(body: Callable[..., Any]) -> Callable[..., Any]:
        registering(function, False, False, {})(lambda *args, **named: body)
        return body

    return register


def _constructor(make: Any) -> Callable[..., Any]:
    def choose(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
        if not isinstance(arg1, types.BaseTuple) or len(arg1) != 3:
            raise TypingError(
                "in compiled code, arrays in compressed rows or columns are made of (data, indices, indptr)"
            )

        def made(arg1, shape=None, dtype=None, copy=False):
            data, indices, indptr = arg1
            rows, columns = shape
            checked(data, indices, indptr, rows, columns) if make is make_csr else checked(
                data, indices, indptr, columns, rows
            )
            return make(data, indices, indptr, (rows, columns))

        return made

    return choose


overload(csr_array, strict=False)(_constructor(make_csr))
overload(csc_array, strict=False)(_constructor(make_csc))


def checked(data, indices, indptr, rows, columns):
    """Raises ValueError if arrays are no matrix of so many rows and columns."""
    if indptr.shape[0] != rows + 1:
        raise ValueError("index pointer size does not fit the shape")
    if indices.shape[0] != data.shape[0]:
        raise ValueError("indices and data should have the same size")
    if checking.fault(indptr, indices, rows, columns) != 0:
        raise ValueError("indices or index pointers are out of order or out of range")


def in_order_of(made, a):
    """An array, with what is known of the order of another one's entries."""
    made._order = a._order
    return made


def swapped(a):
    """The matrix in compressed rows whose transpose a matrix in compressed columns is."""
    return in_order_of(make_csr(a.data, a.indices, a.indptr, (a._shape[1], a._shape[0])), a)


def unswapped(a):
    """The transpose of a matrix in compressed rows, in compressed columns."""
    return in_order_of(make_csc(a.data, a.indices, a.indptr, (a._shape[1], a._shape[0])), a)


def checked_rows(a):
    """Raises ValueError if the arrays of a matrix in compressed rows are not sound."""
    checked(a.data, a.indices, a.indptr, a._shape[0], a._shape[1])


@_of(conversions.entries_of)
def entries_of(a):
    if a.format == "coo":
        return a.data.shape[0]
    return np.int64(a.indptr[-1])


@_of(conversions.copied)
def copied(a):
    if a.format == "coo":
        return make_coo(a.data.copy(), (a.coords[0].copy(), a.coords[1].copy()), a._shape)
    if a.format == "csc":
        return in_order_of(make_csc(a.data.copy(), a.indices.copy(), a.indptr.copy(), a._shape), a)
    return in_order_of(make_csr(a.data.copy(), a.indices.copy(), a.indptr.copy(), a._shape), a)


@_of(conversions.transpose)
def transpose(a, axes=None, copy=False):
    if a.format == "coo":
        return make_coo(a.data, (a.coords[1], a.coords[0]), (a._shape[1], a._shape[0]))
    if a.format == "csc":
        return swapped(a)
    return unswapped(a)


def turned(a):
    """A matrix in compressed rows as the same one in compressed columns, whose fields are returned."""
    checked_rows(a)
    size = np.int64(a.indptr[-1])
    indptr = np.empty(a._shape[1] + 1, a.indptr.dtype)
    indices, data = np.empty(size, a.indices.dtype), np.empty(size, a.data.dtype)
    converting.transposed(a.indptr, a.indices, a.data, a._shape[0], a._shape[1], 1, indptr, indices, data)
    return data, indices, indptr


@_of(conversions.to_csr)
def to_csr(a, copy=False):
    if a.format == "csr":
        return a
    if a.format == "coo":
        n = a.data.shape[0]
        indptr = np.zeros(a._shape[0] + 1, a.coords[0].dtype)
        indices, data = np.empty(n, a.coords[0].dtype), np.empty(n, a.data.dtype)
        rows, columns = a._shape
        if not converting.compressed(a.coords[0], a.coords[1], a.data, rows, columns, 1, indptr, indices, data):
            raise ValueError("indices are out of range")
        made = make_csr(data, indices, indptr, a._shape)
        sum_duplicates(made)
        return made
    data, indices, indptr = turned(swapped(a))
    return make_csr(data, indices, indptr, a._shape)


@_of(conversions.to_csc)
def to_csc(a, copy=False):
    if a.format == "csc":
        return a
    rows = to_csr(a)
    data, indices, indptr = turned(rows)
    return make_csc(data, indices, indptr, a._shape)


@_of(conversions.to_coo)
def to_coo(a, copy=False):
    if a.format == "coo":
        return a
    if a.format == "csc":
        other = to_coo(swapped(a))
        return make_coo(other.data, (other.coords[1], other.coords[0]), a._shape)
    checked_rows(a)
    major = np.empty(np.int64(a.indptr[-1]), a.indices.dtype)
    converting.rows_of_entries(a.indptr, a._shape[0], major)
    return make_coo(a.data[: major.size].copy(), (major, a.indices[: major.size].copy()), a._shape)


@_of(conversions.to_dense)
def to_dense(a, order=None, out=None):
    made = np.zeros(a._shape, a.data.dtype)
    flat = made.reshape(-1)
    if a.format == "csc":
        b = swapped(a)
        checked_rows(b)
        converting.into_dense(b.indptr, b.indices, b.data, b._shape[0], b._shape[1], flat, 1, a._shape[1])
        return made
    b = to_csr(a)
    checked_rows(b)
    converting.into_dense(b.indptr, b.indices, b.data, b._shape[0], b._shape[1], flat, a._shape[1], 1)
    return made


@_of(conversions.has_order)
def has_order(a):
    if a._order == UNKNOWN:
        b = swapped(a) if a.format == "csc" else a
        checked_rows(b)
        a._order = SORTED if checking.is_sorted(b.indptr, b.indices, b._shape[0]) else UNSORTED
    return a._order >= SORTED


@_of(conversions.has_canonical_order)
def has_canonical_order(a):
    b = swapped(a) if a.format == "csc" else a
    checked_rows(b)
    return checking.is_canonical(b.indptr, b.indices, b._shape[0])


@_of(conversions.sort)
def sort(a):
    b = swapped(a) if a.format == "csc" else a
    checked_rows(b)
    ordering.sort_rows(b.indptr, b.indices, b.data, b._shape[0])
    a._order = max(a._order, SORTED)


@_of(conversions.sum_duplicates)
def sum_duplicates(a):
    b = swapped(a) if a.format == "csc" else a
    sort(b)
    size = ordering.join_equal(a.indptr, a.indices, a.data, b._shape[0])
    a.indices = a.indices[:size]
    a.data = a.data[:size]
    a._order = CANONICAL


@_of(conversions.eliminate_zeros)
def eliminate_zeros(a):
    b = swapped(a) if a.format == "csc" else a
    checked_rows(b)
    size = ordering.drop_zeros(a.indptr, a.indices, a.data, b._shape[0])
    a.indices = a.indices[:size]
    a.data = a.data[:size]


@_of(conversions.cast)
def cast(a, dtype, casting="unsafe", copy=True):
    return with_data(a, a.data.astype(dtype))


@_of(elementwise.with_data)
def with_data(a, data):
    if a.format == "coo":
        return make_coo(data, (a.coords[0].copy(), a.coords[1].copy()), a._shape)
    if a.format == "csc":
        return in_order_of(make_csc(data, a.indices.copy(), a.indptr.copy(), a._shape), a)
    return in_order_of(make_csr(data, a.indices.copy(), a.indptr.copy(), a._shape), a)


@_of(elementwise.negative)
def negative(a):
    return with_data(a, -a.data)


@_of(elementwise.absolute)
def absolute(a):
    return with_data(a, np.abs(a.data))


@_of(elementwise.mapped)
def mapped(a, function):
    return with_data(a, arithmetic.mapped(function, a.data))


@overload(operators.matmul, strict=False)
def _matmul(a: Any, b: Any, semiring: Any = None) -> Any:
    if isinstance(a, types.Array):
        return lambda a, b, semiring=None: dense_by_sparse(a, b)
    if isinstance(b, types.Array):
        if b.ndim > 2 or b.ndim == 0:
            raise TypingError("a sparse array has products with arrays of one or two dimensions")
        if b.ndim == 1:
            return lambda a, b, semiring=None: by_vector(a, b)
        return lambda a, b, semiring=None: by_matrix(a, b)
    if isinstance(b, types.Number):
        raise TypingError("scalar operands are not allowed, use '*' instead")
    return lambda a, b, semiring=None: by_sparse(a, b)


@overload(operators.dot, strict=False)
def _dot(a: Any, b: Any) -> Any:
    if isinstance(b, types.Number | types.Boolean):
        return lambda a, b: with_data(a, a.data * b)
    return lambda a, b: a @ b


def in_common(x, y):
    """An empty array of the type in which the values of two arrays meet; truth values stay such."""
    if x.dtype == y.dtype:
        return np.empty(0, x.dtype)
    return np.empty(0, x.dtype) * np.empty(0, y.dtype)


def by_vector(a, x):
    """The product of a sparse matrix and a vector."""
    if a._shape[1] != x.shape[0]:
        raise ValueError("matmul: dimension mismatch")
    out = np.zeros(a._shape[0], in_common(a.data, x).dtype)
    if a.format == "csr":
        if a.indptr.shape[0] != a._shape[0] + 1:
            raise ValueError("index pointer size does not fit the shape")
        if a.indices.shape[0] >= SHARED:
            products.rows_by_vector_shared(None, a.indptr, a.indices, a.data, x, out)
        else:
            products.rows_by_vector(None, a.indptr, a.indices, a.data, x, out)
    elif a.format == "csc":
        if a.indptr.shape[0] != a._shape[1] + 1:
            raise ValueError("index pointer size does not fit the shape")
        products.columns_by_vector(None, a.indptr, a.indices, a.data, x, out)
    else:
        products.places_by_vector(None, a.coords[0], a.coords[1], a.data, x, out)
    return out


def by_matrix(a, x):
    """The product of a sparse matrix and a dense one."""
    if a._shape[1] != x.shape[0]:
        raise ValueError("matmul: dimension mismatch")
    out = np.zeros((a._shape[0], x.shape[1]), in_common(a.data, x).dtype)
    flat, width = np.ascontiguousarray(x).reshape(-1), x.shape[1]
    if width == 0:
        return out
    if a.format == "csc":
        checked_rows(swapped(a))
        products.columns_by_matrix(None, a.indptr, a.indices, a.data, flat, out.reshape(-1), a._shape[1], width)
    else:
        b = to_csr(a if a.format == "csr" else with_data(a, a.data.astype(out.dtype)))
        checked_rows(b)
        products.rows_by_matrix(None, b.indptr, b.indices, b.data, flat, out.reshape(-1), a._shape[0], width)
    return out


def dense_by_sparse(x, a):
    """The product of a vector or a dense matrix and a sparse matrix."""
    if x.ndim == 1:
        return by_vector(transpose(a), x)
    return by_matrix(transpose(a), x.T).T


def by_sparse(a, b):
    """The product of two sparse matrices."""
    if a._shape[1] != b._shape[0]:
        raise ValueError("matmul: dimension mismatch")
    if a.format == "coo" or b.format == "coo":
        # Entries of one place are added in the type of the products, as in other formats.
        like = in_common(a.data, b.data)
        return rows_by_rows(cast(a, like.dtype), cast(b, like.dtype))
    return rows_by_rows(a, b)


def rows_by_rows(a, b):
    """The product of two sparse matrices, in the format of the first."""
    if a.format == "csc":
        return unswapped(product(swapped(to_csc(b)), swapped(a)))
    return product(to_csr(a), to_csr(b))


def product(a, b):
    """The product of two matrices in compressed rows."""
    checked_rows(a)
    checked_rows(b)
    rows = a._shape[0]
    sums = np.empty(rows + 1, np.int64)
    total = products.bound(a.indptr, a.indices, b.indptr, rows, sums)
    indptr = np.empty(rows + 1, a.indptr.dtype)
    indices, data = np.empty(total, a.indices.dtype), np.empty(total, in_common(a.data, b.data).dtype)
    parts = (a.indptr, a.indices, a.data), (b.indptr, b.indices, b.data)
    seen = np.zeros(b._shape[1], np.int64)
    size = products.product_rows(None, parts[0], parts[1], (indices, data), 0, rows, 0, indptr, seen)
    places.summed(indptr, rows)
    return make_csr(data[:size].copy(), indices[:size].copy(), indptr, (rows, b._shape[1]))


def in_rows(a, like):
    """A matrix in compressed rows, or the transpose of one in compressed columns, as another one is."""
    if like.format == "csc":
        return ordered(swapped(to_csc(a)))
    return ordered(to_csr(a))


def ordered(a):
    """A matrix in compressed rows whose rows are sorted and have no place twice."""
    checked_rows(a)
    if checking.is_canonical(a.indptr, a.indices, a._shape[0]):
        return a
    b = copied(a)
    sum_duplicates(b)
    return b


def joined(op, a, b, everywhere):
    """The results of a function where one of two arrays has an entry, or both have."""
    if a._shape[0] != b._shape[0] or a._shape[1] != b._shape[1]:
        raise ValueError("inconsistent shapes")
    x, y = in_rows(a, a), in_rows(b, a)
    like = in_common(x.data, y.data)
    bound = x.data.size + y.data.size + 1
    indptr, indices = np.empty(x.indptr.size, x.indptr.dtype), np.empty(bound, x.indices.dtype)
    data = np.empty(bound, like.dtype)
    first, then, out = (x.indptr, x.indices, x.data), (y.indptr, y.indices, y.data), (indices, data)
    if everywhere:
        size = joining.united(op, first, then, out, like, indptr, 0, x._shape[0], 0)
    else:
        size = joining.met(op, first, then, out, like, indptr, 0, x._shape[0], 0)
    places.summed(indptr, x._shape[0])
    found = make_csr(data[:size].copy(), indices[:size].copy(), indptr, x._shape)
    if a.format == "csc":
        return unswapped(found)
    return found


def _binary(op: Any, everywhere: bool) -> Callable[..., Any]:
    def choose(a: Any, b: Any) -> Any:
        if isinstance(b, types.Array):
            raise TypingError("a sparse and a dense array: convert one of them in compiled code")
        if isinstance(b, types.Number | types.Boolean):
            if everywhere:
                raise TypingError("adding a scalar to a sparse array is not supported")
            return lambda a, b: with_data(a, a.data * b)
        return lambda a, b: joined(op, a, b, everywhere)

    return choose


overload(elementwise.add, strict=False)(_binary(arithmetic.plus, True))
overload(elementwise.subtract, strict=False)(_binary(arithmetic.minus, True))
overload(elementwise.multiply, strict=False)(_binary(arithmetic.times, False))


@_of(elementwise.divide)
def divide(a, b):
    return with_data(a, a.data / b)


@_of(elementwise.power)
def power(a, n, dtype=None):
    return with_data(a, a.data**n)


def row_sums(a, like):
    """The sums of the rows of a matrix in compressed rows."""
    out = np.zeros(a._shape[0], like.dtype)
    checked_rows(a)
    reducing.along_rows(arithmetic.plus, a.indptr, a.data, a._shape[0], out)
    return out


def column_sums(a, like):
    """The sums of the columns of a matrix in compressed rows."""
    out = np.zeros(a._shape[1], like.dtype)
    checked_rows(a)
    reducing.along_columns(arithmetic.plus, a.indices[: a.indptr[-1]], a.data[: a.indptr[-1]], out)
    return out


def in_own_type(a):
    """A matrix in compressed rows, or the transpose of one in compressed columns, whose entries may be summed.

    Where the sum has another type than the array, entries of one place are added before, in the array's type.
    """
    if np.cumsum(a.data[:0]).dtype != a.data.dtype:
        return in_rows(a, a)
    return swapped(a) if a.format == "csc" else to_csr(a)


@overload(reductions.sum_of, strict=False)
def _sum_of(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    if axis is None or isinstance(axis, types.NoneType | types.Omitted):
        return lambda a, axis=None, dtype=None, out=None: in_own_type(a).data.sum()

    def sum_along(a, axis=None, dtype=None, out=None):
        like = np.cumsum(a.data[:0])
        if axis < -2 or axis > 1:
            raise ValueError("axis out of range for ndim")
        b = in_own_type(a)
        if a.format == "csc":
            return column_sums(b, like) if axis % 2 == 1 else row_sums(b, like)
        return row_sums(b, like) if axis % 2 == 1 else column_sums(b, like)

    return sum_along


def _extreme(a: Any, axis: Any = None, out: Any = None, explicit: Any = False, greatest: Any = True) -> Any:
    if not (axis is None or isinstance(axis, types.NoneType | types.Omitted)):
        raise TypingError("in compiled code, the greatest and the least element are those of the whole array")

    def extreme(a, axis=None, out=None, explicit=False, greatest=True):
        if a._shape[0] * a._shape[1] == 0:
            raise ValueError("zero-size array to reduction operation")
        b = in_rows(a, a)
        best = np.zeros(1, a.data.dtype)
        if b.data.size == b._shape[0] * b._shape[1]:
            best[0] = b.data[0]
        for v in b.data:
            best[0] = arithmetic.greater(best[0], v) if greatest else arithmetic.less(best[0], v)
        return best[0]

    return extreme


overload(reductions.extreme, strict=False)(_extreme)


def place(i, n):
    """An index, of which negative ones count from the end."""
    if i < -n or i >= n:
        raise IndexError("index out of range")
    return i + n if i < 0 else i


def element(a, i, j):
    """The element in a row, or column, that is compressed."""
    out = np.zeros(1, a.data.dtype)
    if not slicing.element(a.indptr, a.indices, a.data, has_order(a), i, j, out):
        raise ValueError("indices or index pointers are out of order or out of range")
    return out[0]


@overload(indexing.get, strict=False)
def _get(a: Any, key: Any) -> Any:
    if isinstance(key, types.BaseTuple) and len(key) == 2 and all(isinstance(k, types.Integer) for k in key):

        def get(a, key):
            i, j = place(key[0], a._shape[0]), place(key[1], a._shape[1])
            if a.format == "csc":
                return element(a, j, i)
            return element(to_csr(a), i, j)

        return get
    if isinstance(key, types.Array) and key.ndim == 1 and isinstance(key.dtype, types.Integer):
        return lambda a, key: taken(to_csr(a), key)
    if isinstance(key, types.SliceType):
        return lambda a, key: taken(to_csr(a), np.arange(*key.indices(a._shape[0])))
    raise TypingError("in compiled code, sparse arrays have elements a[i, j] and rows a[i:j] and a[array]")


def taken(a, rows):
    """Some rows of a matrix in compressed rows."""
    which = np.empty(rows.shape[0], np.int64)
    for n in range(rows.shape[0]):
        which[n] = place(rows[n], a._shape[0])
        if not slicing.are_rows(a.indptr, a.indices, a.data, which[n], which[n] + 1):
            raise ValueError("indices or index pointers are out of order or out of range")
    indptr = np.empty(rows.shape[0] + 1, a.indptr.dtype)
    size = slicing.size_of_rows(a.indptr, which, indptr)
    indices, data = np.empty(size, a.indices.dtype), np.empty(size, a.data.dtype)
    slicing.take_rows(a.indptr, a.indices, a.data, which, indptr, indices, data)
    made = make_csr(data, indices, indptr, (rows.shape[0], a._shape[1]))
    checked_rows(made)
    return made


@_of(indexing.diagonal)
def diagonal(a, k=0):
    rows, columns = a._shape
    out = np.zeros(max(min(rows + min(k, 0), columns - max(k, 0)), 0), a.data.dtype)
    b = in_rows(a, a)
    if out.size:
        slicing.diagonal(b.indptr, b.indices, b.data, b._shape[0], -k if a.format == "csc" else k, out)
    return out


__all__ = ["make_coo", "make_csc", "make_csr"]
