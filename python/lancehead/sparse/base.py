"""Methods that all sparse arrays have. Each is a line: compiled code has the functions that it calls, too."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lancehead.options import near_members
from lancehead.sparse import conversions, elementwise, indexing, products, reductions
from lancehead.sparse.formats import Array
from lancehead.sparse.products import Semiring

_NAMES = {
    "csr": "Compressed Sparse Row",
    "csc": "Compressed Sparse Column",
    "coo": "COOrdinate",
    "bsr": "Block Sparse Row",
    "dia": "DIAgonal",
    "dok": "Dictionary Of Keys",
    "lil": "List of Lists",
}


@near_members
class SparseArray:
    """A sparse array of one or two dimensions: entries are stored, all other elements are zero."""

    __array_priority__ = 10.1
    __hash__ = None  # type: ignore[assignment]
    #: The format: `csr`, `csc`, `coo`, `bsr`, `dia`, `dok` or `lil`.
    format = ""
    data: Any
    _shape: Any
    # Facts about the order of the entries, until arrays are replaced; None if they are not known.
    _sorted = None
    _canonical = None
    _kind = "array"
    #: How many entries `str` shows.
    maxprint = 50

    @property
    def _plain(self) -> Any:
        """The same as an array, if it is a matrix."""
        return self

    @staticmethod
    def from_scipy(x: Any, copy: bool = False) -> Any:
        """Ours of a sparse array or matrix of SciPy; it shares the arrays of the formats that we have."""
        return conversions.from_scipy(x, copy)

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self._shape  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self.data.dtype  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """The number of entries, as `nnz`."""
        return self.nnz

    @property
    def nnz(self) -> int:
        """The number of entries, explicit zeros included."""
        return conversions.entries_of(self)

    @property
    def T(self) -> Any:
        """The transpose, which shares the values."""
        return conversions.transpose(self)

    @property
    def real(self) -> Any:
        """The real parts."""
        return self._with_data(self.data.real.copy())

    @property
    def imag(self) -> Any:
        """The imaginary parts."""
        return self._with_data(self.data.imag.copy())

    def __len__(self) -> int:
        raise TypeError("sparse array length is ambiguous; use nnz or shape[0]")

    def __bool__(self) -> bool:
        if self._shape == (1, 1):
            return self.nnz != 0 and bool(self.data.any())
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all().")

    def __iter__(self) -> Iterator[Any]:
        for i in range(self._shape[0]):
            yield self[i]

    def __repr__(self) -> str:
        block = f" (blocksize={'x'.join(map(str, self.data.shape[1:]))})" if self.format == "bsr" else ""
        block = f" ({self.data.shape[0]} diagonals)" if self.format == "dia" else block
        return (
            f"<{_NAMES[self.format]} sparse {self._kind} of dtype '{self.dtype}'\n\t"
            f"with {self.nnz} stored elements{block} and shape {self._shape}>"
        )

    def __str__(self) -> str:
        coo, rows = self._plain.tocoo(), [repr(self), "  Coords\tValues"]
        shown = (
            range(coo.data.size) if coo.data.size <= 50 else [*range(25), -1, *range(coo.data.size - 25, coo.data.size)]
        )
        for k in shown:
            rows.append("  :\t:" if k < 0 else f"  ({', '.join(str(c[k]) for c in coo.coords)})\t{coo.data[k]}")
        return "\n".join(rows)

    def _with_data(self, data: Array) -> Any:
        return elementwise.with_data(self, data)

    def _summed(self) -> Any:
        """The same with one entry for a place, in order."""
        if self.has_canonical_format:
            return self
        made = self.copy()
        made.sum_duplicates()
        return made

    def copy(self) -> Any:
        """A copy."""
        return conversions.copied(self)

    def astype(self, dtype: Any, casting: Any = "unsafe", copy: bool = True) -> Any:
        """The array with values of a type."""
        return conversions.cast(self, dtype, casting, copy)

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        """The elements as an array of NumPy."""
        return conversions.to_dense(self, order, out)

    def todense(self, order: Any = None, out: Any = None) -> Any:
        """The elements as an array of NumPy."""
        return conversions.to_dense(self, order, out)

    def tocsr(self, copy: bool = False) -> Any:
        """The array in compressed rows."""
        return conversions.to_csr(self, copy)

    def tocsc(self, copy: bool = False) -> Any:
        """The array in compressed columns."""
        return conversions.to_csc(self, copy)

    def tocoo(self, copy: bool = True) -> Any:
        """The array as entries with their places."""
        return conversions.to_coo(self, copy)

    def tobsr(self, blocksize: Any = None, copy: bool = False) -> Any:
        """The array as blocks in compressed rows."""
        return conversions.to_bsr(self, blocksize, copy)

    def todia(self, copy: bool = False) -> Any:
        """The array as diagonals."""
        return conversions.as_format(self, "dia", copy)

    def todok(self, copy: bool = False) -> Any:
        """The array as a dictionary."""
        return conversions.as_format(self, "dok", copy)

    def tolil(self, copy: bool = False) -> Any:
        """The array as lists of rows."""
        return conversions.as_format(self, "lil", copy)

    def resize(self, *shape: Any) -> None:
        """Gives the array another shape; entries beyond it are dropped."""
        conversions.resize(self, shape)

    def asformat(self, format: str | None, copy: bool = False) -> Any:
        """The array in a format."""
        return conversions.as_format(self, format, copy)

    def to_scipy(self) -> Any:
        """SciPy's sparse array of the same format, which shares the arrays."""
        return conversions.to_scipy(self)

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        """The transpose."""
        return conversions.transpose(self, axes, copy)

    def reshape(self, *shape: Any, order: Any = "C", copy: bool = False) -> Any:
        """The elements in another shape, in the format `coo`; the array itself if it has the shape."""
        return conversions.reshaped(self, shape, order, copy)

    def conjugate(self, copy: bool = True) -> Any:
        """The complex conjugates."""
        return self._with_data(np.conjugate(self.data)) if self.dtype.kind == "c" or copy else self

    conj = conjugate

    def __add__(self, other: Any) -> Any:
        return elementwise.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return elementwise.add(self, other)

    def __sub__(self, other: Any) -> Any:
        return elementwise.subtract(self, other)

    def __rsub__(self, other: Any) -> Any:
        return elementwise.subtracted_from(self, other)

    def __mul__(self, other: Any) -> Any:
        return elementwise.multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return elementwise.multiply(self, other)

    def __truediv__(self, other: Any) -> Any:
        return elementwise.divide(self, other)

    def __pow__(self, other: Any) -> Any:
        return elementwise.power(self, other)

    def __matmul__(self, other: Any) -> Any:
        return products.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return products.matmul(other, self)

    def __neg__(self) -> Any:
        return elementwise.negative(self)

    def __pos__(self) -> Any:
        return self.copy()

    def __abs__(self) -> Any:
        return elementwise.absolute(self)

    def __round__(self, ndigits: int = 0) -> Any:
        return self._with_data(np.around(self.data, decimals=ndigits))

    def __eq__(self, other: Any) -> Any:
        return elementwise.compare(operator.eq, self, other)

    def __ne__(self, other: Any) -> Any:
        return elementwise.compare(operator.ne, self, other)

    def __lt__(self, other: Any) -> Any:
        return elementwise.compare(operator.lt, self, other)

    def __le__(self, other: Any) -> Any:
        return elementwise.compare(operator.le, self, other)

    def __gt__(self, other: Any) -> Any:
        return elementwise.compare(operator.gt, self, other)

    def __ge__(self, other: Any) -> Any:
        return elementwise.compare(operator.ge, self, other)

    def __getitem__(self, key: Any) -> Any:
        return indexing.get(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        indexing.put(self, key, value)

    def multiply(self, other: Any) -> Any:
        """The products of elements."""
        return elementwise.multiply(self, other)

    def power(self, n: Any, dtype: Any = None) -> Any:
        """The elements to the power of a number."""
        return elementwise.power(self, n, dtype)

    def maximum(self, other: Any) -> Any:
        """The greater of elements."""
        return elementwise.extreme(self, other, True)

    def minimum(self, other: Any) -> Any:
        """The less of elements."""
        return elementwise.extreme(self, other, False)

    def map(self, function: Callable[..., Any]) -> Any:
        """A function of the stored elements, which is compiled unless it is a ufunc; zeros stay."""
        return elementwise.mapped(self, function)

    def dot(self, other: Any) -> Any:
        """The product with a vector, a matrix or a sparse array; with a number that of the elements."""
        return products.dot(self, other)

    def matmul(self, other: Any, semiring: Semiring | None = None) -> Any:
        """The product, in a semiring if one is given."""
        return products.matmul(self, other, semiring)

    def diagonal(self, k: int = 0) -> Array:
        """The elements of a diagonal."""
        return indexing.diagonal(self, k)

    def trace(self, offset: int = 0) -> Any:
        """The sum of a diagonal."""
        return indexing.diagonal(self, offset).sum()

    def setdiag(self, values: Any, k: int = 0) -> None:
        """Assigns to the elements of a diagonal."""
        indexing.set_diagonal(self, values, k)

    def nonzero(self) -> tuple[Array, ...]:
        """The places of the elements that are not zero."""
        coo = conversions.to_coo(conversions.to_csr(self)._summed())
        kept = coo.data != 0
        return tuple(c[kept] for c in coo.coords)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The sum of all elements, or of those along an axis."""
        return reductions.sum_of(self, axis, dtype, out)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The mean of all elements, or of those along an axis."""
        return reductions.mean_of(self, axis, dtype, out)

    def reduce(self, function: Callable[..., Any], axis: Any = None, zero: Any = 0) -> Any:
        """The stored elements, or those along an axis, combined by a function of the program."""
        return reductions.reduced(self, function, axis, zero)

    def max(self, axis: Any = None, out: Any = None, *, explicit: bool = False) -> Any:
        """The greatest element, or the greatest along an axis."""
        return reductions.extreme(self, axis, out, explicit, True)

    def min(self, axis: Any = None, out: Any = None, *, explicit: bool = False) -> Any:
        """The least element, or the least along an axis."""
        return reductions.extreme(self, axis, out, explicit, False)

    def nanmax(self, axis: Any = None, out: Any = None, *, explicit: bool = False) -> Any:
        """The greatest element, or the greatest along an axis, that is not NaN."""
        return reductions.nan_extreme(self, axis, out, explicit, True)

    def nanmin(self, axis: Any = None, out: Any = None, *, explicit: bool = False) -> Any:
        """The least element, or the least along an axis, that is not NaN."""
        return reductions.nan_extreme(self, axis, out, explicit, False)

    def argmax(self, axis: Any = None, out: Any = None, *, explicit: bool = False) -> Any:
        """The place of the greatest element, or of the greatest along an axis."""
        return reductions.place_of_extreme(self, axis, out, explicit, True)

    def argmin(self, axis: Any = None, out: Any = None, *, explicit: bool = False) -> Any:
        """The place of the least element, or of the least along an axis."""
        return reductions.place_of_extreme(self, axis, out, explicit, False)

    def count_nonzero(self, axis: Any = None) -> Any:
        """How many elements are not zero."""
        return reductions.count_nonzero(self, axis)

    @property
    def has_sorted_indices(self) -> bool:
        """Whether the entries of each row, or column, are in the order of their indices."""
        return conversions.has_order(self)

    @has_sorted_indices.setter
    def has_sorted_indices(self, value: bool) -> None:
        self._sorted = bool(value)

    @property
    def has_canonical_format(self) -> bool:
        """Whether entries are in order, and no two have one place."""
        return conversions.has_canonical_order(self)

    @has_canonical_format.setter
    def has_canonical_format(self, value: bool) -> None:
        self._canonical = bool(value)
        if value:
            self._sorted = True

    def sort_indices(self) -> None:
        """Brings the entries of each row, or column, in the order of their indices."""
        conversions.sort(self)

    def sorted_indices(self) -> Any:
        """A copy with entries in order."""
        made = self.copy()
        made.sort_indices()
        return made

    def sum_duplicates(self) -> None:
        """Adds up entries of one place; entries are in order then."""
        conversions.sum_duplicates(self)

    def eliminate_zeros(self) -> None:
        """Removes entries that are zero."""
        conversions.eliminate_zeros(self)


#: Ufuncs under which zero stays zero.
_UFUNCS = (
    "sin tan arcsin arctan sinh tanh arcsinh arctanh rint sign expm1 log1p deg2rad rad2deg floor ceil trunc sqrt"
).split()


def _method(ufunc: np.ufunc) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        return elementwise.mapped(self, ufunc)

    method.__name__ = ufunc.__name__
    method.__qualname__ = f"SparseArray.{ufunc.__name__}"
    method.__doc__ = f"`numpy.{ufunc.__name__}` of the elements."
    return method


for _name in _UFUNCS:
    setattr(SparseArray, _name, _method(getattr(np, _name)))
