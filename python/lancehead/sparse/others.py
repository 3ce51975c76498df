"""The formats of diagonals, of a dictionary and of lists of rows: for making arrays, which compute in compressed rows.

An operation runs on a copy in compressed rows; the result has the format that SciPy's has. Compiled code does not have
these formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lancehead.sparse import conversions, dtypes
from lancehead.sparse.base import _UFUNCS, SparseArray
from lancehead.sparse.formats import CLASSES, OTHERS, is_foreign, is_sparse, of_coords, shape_of

_NUMBERS = "__mul__ __rmul__ __truediv__ astype conjugate conj transpose T dot".split()
_ZERO = "__add__ __radd__ __sub__".split()
#: Operations whose results have the format; and those that do with an operand of it, or with any.
_KEPT = {
    "dia": {*_NUMBERS, *_ZERO, *_UFUNCS, *"__neg__ __abs__ __pow__ __round__ multiply power real imag map".split()},
    "dok": {*_NUMBERS, *_ZERO, "__neg__", "__getitem__"},
    "lil": {*_NUMBERS, *_ZERO, "__getitem__", "reshape"},
}
_KEPT_WITH = {
    "dia": {"__add__", "__sub__", "__mul__", "multiply", "__matmul__", "dot"},
    "dok": {"__add__"},
    "lil": set[str](),
}


def _is_shape(x: Any) -> bool:
    return isinstance(x, tuple) and len(x) in (1, 2) and all(isinstance(n, int | np.integer) for n in x)


class _Other(SparseArray):
    """An array that computes as one in compressed rows."""

    _dtype: Any
    _dimensions: tuple[int, ...] = (2,)

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> None:
        name = self.format.upper()
        if _is_shape(arg1):
            self._shape = shape_of(arg1, self._dimensions)
            made = CLASSES["coo"](self._shape, dtype=np.float64 if dtype is None else dtype)
        else:
            if not isinstance(arg1, tuple(CLASSES.values())) and not is_foreign(arg1):
                dense = np.asarray(arg1)
                if dense.ndim == 0:
                    raise ValueError("lancehead sparse array classes do not support instantiation from a scalar")
                if dense.ndim not in self._dimensions:
                    raise ValueError(f"{name} arrays don't support {dense.ndim}D input. Use 2D")
            made = conversions.to_coo(conversions.sparse(arg1))
            if len(made._shape) not in self._dimensions:
                raise ValueError(f"{name} arrays don't support {len(made._shape)}D input. Use 2D")
            if shape is not None and shape_of(shape, self._dimensions) != made._shape:
                raise ValueError(f"inconsistent shapes: {shape} != {made._shape}")
            made = made if dtype is None else made.astype(dtype, copy=False)
        self._shape, self._dtype = made._shape, made.data.dtype
        self._fill(made)

    def _fill(self, coo: Any) -> None:
        raise NotImplementedError

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self._dtype  # type: ignore[no-any-return]

    def tocsr(self, copy: bool = False) -> Any:
        """The array in compressed rows."""
        return conversions.to_csr(self.tocoo())

    def _with_data(self, data: Any) -> Any:
        raise NotImplementedError

    def copy(self) -> Any:
        """A copy."""
        return type(self)(self)

    def asformat(self, format: str | None, copy: bool = False) -> Any:
        """The array in a format."""
        if format is None or format == self.format:
            return self.copy() if copy else self
        return conversions.as_format(self.tocoo() if format == "coo" else self.tocsr(), format)

    def to_scipy(self) -> Any:
        """SciPy's sparse array of the same format."""
        return self.tocsr().to_scipy().asformat(self.format)

    def __setitem__(self, key: Any, value: Any) -> None:
        rows = self.tocsr()
        rows[key] = value
        self._fill(conversions.to_coo(rows))

    def setdiag(self, values: Any, k: int = 0) -> None:
        """Assigns to the elements of a diagonal."""
        rows = self.tocsr()
        rows.setdiag(values, k)
        self._fill(conversions.to_coo(rows))

    def resize(self, *shape: Any) -> None:
        """Gives the array another shape; entries beyond it are dropped."""
        coo = self.tocoo()
        coo.resize(*shape)
        self._shape = coo._shape
        self._fill(coo)


def _computed(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    def compute(self: Any, *args: Any, **named: Any) -> Any:
        found = method(self.tocsr(), *args, **named)
        operands = [x for x in args if is_sparse(x)]
        same = any(x.format == self.format or self.format == "dok" for x in operands)
        numbers = not operands and (self.format == "dia" or not any(isinstance(x, np.ndarray) for x in args))
        if name == "__getitem__" and isinstance(found, np.ndarray):
            return CLASSES["coo"](found) if found.ndim else found
        if (name in _KEPT[self.format] and numbers) or (name in _KEPT_WITH[self.format] and same):
            if isinstance(found, SparseArray) and len(found._shape) == 2:
                return found.asformat(self.format)
        return found

    compute.__name__, compute.__qualname__, compute.__doc__ = name, f"SparseArray.{name}", method.__doc__
    return compute


_OWN = {
    "from_scipy", "__init__", "__len__", "__bool__", "__iter__", "__repr__", "__str__", "_summed", "todia", "todok",
    "tolil", "sort_indices", "sorted_indices", "sum_duplicates", "eliminate_zeros", "tobsr", "tocsc", "map",
}  # fmt: skip
for _name, _found in list(vars(SparseArray).items()):
    if _name in vars(_Other) or _name in _OWN or (_name.startswith("_") and not _name.startswith("__")):
        continue
    if isinstance(_found, property) and _name in ("T", "real", "imag"):
        setattr(_Other, _name, property(_computed(_name, _found.fget)))  # type: ignore[arg-type]
    elif callable(_found) and _name not in ("__hash__", "__class__"):
        setattr(_Other, _name, _computed(_name, _found))
for _name in ("tobsr", "tocsc", "map", "_summed"):
    setattr(_Other, _name, _computed(_name, vars(SparseArray)[_name]))


class dia_array(_Other):
    """A sparse matrix of diagonals: row `d` of `data` has the diagonal at `offsets[d]`, by columns.

    >>> dia_array(([[1, 2, 3]], [1]), shape=(3, 3)).toarray()
    array([[0, 2, 0],
           [0, 0, 3],
           [0, 0, 0]])

    Raises:
        ValueError: two diagonals have one offset, or there are other numbers of both.
    """

    format = "dia"
    offsets: Any

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> None:
        if not isinstance(arg1, tuple) or _is_shape(arg1):
            super().__init__(arg1, shape, dtype, copy)
            return
        if len(arg1) != 2:
            raise ValueError("unrecognized form for dia_array constructor")
        if shape is None:
            raise ValueError("expected a shape argument")
        self.data = dtypes.values(np.atleast_2d(np.asarray(arg1[0])), dtype, copy)
        self._shape = shape_of(shape)
        offsets = np.atleast_1d(np.asarray(arg1[1]))
        self.offsets = dtypes.indices(offsets, dtypes.index_dtype(largest=max(self._shape)), copy)
        if self.data.ndim != 2:
            raise ValueError("data array must have rank 2")
        if self.offsets.ndim != 1:
            raise ValueError("offset array must have rank 1")
        if self.data.shape[0] != self.offsets.size:
            raise ValueError(
                f"number of diagonals ({self.data.shape[0]}) does not match the number of offsets ({self.offsets.size})"
            )
        if np.unique(self.offsets).size != self.offsets.size:
            raise ValueError("offset array contains duplicate values")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self.data.dtype  # type: ignore[no-any-return]

    def _places(self) -> tuple[Any, Any, Any]:
        rows, columns = self._shape
        column = np.broadcast_to(np.arange(self.data.shape[1]), self.data.shape)
        row = column - self.offsets[:, None]
        return row, column, (row >= 0) & (row < rows) & (column < columns)

    @property
    def nnz(self) -> int:
        """The number of elements on the diagonals, zeros included."""
        return int(np.count_nonzero(self._places()[2]))

    def _fill(self, coo: Any) -> None:
        coo = coo._summed().tocoo()
        column = coo.coords[1].astype(np.int64)
        self.offsets, place = np.unique(column - coo.coords[0], return_inverse=True)
        self.offsets = self.offsets.astype(coo.coords[0].dtype)
        width = int(column.max()) + 1 if column.size else 0
        self.data = np.zeros((self.offsets.size, width), coo.data.dtype)
        self.data[place, column] = coo.data

    def tocoo(self, copy: bool = True) -> Any:
        """The array as entries with their places: those that are not zero."""
        row, column, here = self._places()
        here &= self.data != 0
        kind = self.offsets.dtype
        return of_coords(self.data[here], (row[here].astype(kind), column[here].astype(kind)), self._shape)

    def __getitem__(self, key: Any) -> Any:
        raise TypeError(f"'{type(self).__name__}' object is not subscriptable")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError(f"'{type(self).__name__}' object does not support item assignment")


class dok_array(_Other):
    """A sparse array of a dictionary from places to values, for assignments of single elements.

    >>> a = dok_array((2, 2), dtype=int)
    >>> a[0, 1] = 3
    >>> dict(a.items()) == {(0, 1): 3}
    True
    """

    format = "dok"
    _dimensions = (1, 2)
    _dict: dict[Any, Any]

    @property
    def nnz(self) -> int:
        """The number of entries, explicit zeros included."""
        return len(self._dict)

    def _fill(self, coo: Any) -> None:
        coo = coo._summed().tocoo()
        places = [c.tolist() for c in coo.coords]
        keys = places[0] if len(places) == 1 else zip(*places, strict=True)
        self._dict = dict(zip(keys, coo.data, strict=True))

    def tocoo(self, copy: bool = True) -> Any:
        """The array as entries with their places."""
        kind = dtypes.index_dtype(largest=max(self._shape))
        keys = np.array(list(self._dict), np.int64).reshape(len(self._dict), len(self._shape))
        data = np.fromiter(self._dict.values(), self._dtype, len(self._dict))
        return of_coords(data, tuple(c.astype(kind) for c in keys.T), self._shape)

    def _key(self, key: Any) -> Any:
        """A key of the dictionary, or None if it leads to more than one element."""
        given = key if isinstance(key, tuple) else (key,)
        if len(given) != len(self._shape) or not all(isinstance(k, int | np.integer) for k in given):
            return None
        for k, n in zip(given, self._shape, strict=True):
            if not -n <= k < n:
                raise IndexError(f"index ({k}) out of range")
        places = tuple(int(k) % n for k, n in zip(given, self._shape, strict=True))
        return places if len(places) == 2 else places[0]

    def __getitem__(self, key: Any) -> Any:
        place = self._key(key)
        if place is None:
            return _computed("__getitem__", SparseArray.__getitem__)(self, key)
        return self._dict.get(place, self._dtype.type(0))

    def __setitem__(self, key: Any, value: Any) -> None:
        place = self._key(key)
        if place is None or np.ndim(value):
            super().__setitem__(key, value)
        elif value == 0:
            self._dict.pop(place, None)
        else:
            self._dict[place] = self._dtype.type(value)

    def __delitem__(self, key: Any) -> None:
        del self._dict[key]

    def __contains__(self, key: Any) -> bool:
        return key in self._dict

    def __len__(self) -> int:
        return len(self._dict)

    def get(self, key: Any, default: Any = 0.0) -> Any:
        """The element at a place, or a default if it is not stored."""
        try:
            place = self._key(key)
        except IndexError:
            raise IndexError("Index out of bounds.") from None
        return self._dict.get(place, default)

    def keys(self) -> Any:
        """The places of the entries."""
        return self._dict.keys()

    def values(self) -> Any:
        """The values of the entries."""
        return self._dict.values()

    def items(self) -> Any:
        """The entries."""
        return self._dict.items()

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The value at a place, where the default is stored if there is none."""
        return self._dict.setdefault(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        """Removes an entry."""
        return self._dict.pop(key, *default)

    def popitem(self) -> Any:
        """Removes an entry."""
        return self._dict.popitem()

    def clear(self) -> None:
        """Removes all entries."""
        self._dict.clear()

    def update(self, other: Any) -> None:
        """Stores the entries of a dictionary of places and values, or of an array in this format."""
        if isinstance(other, np.ndarray):
            raise ValueError("Inexact indices into sparse array not allowed: an array is no dictionary")
        given = dict(other.items() if hasattr(other, "items") else other)
        for key in given:
            places = key if isinstance(key, tuple) else (key,)
            if len(places) != len(self._shape):
                raise IndexError(f"Index {key} length needs to match self.shape")
            if not all(isinstance(k, int | np.integer) for k in places):
                raise IndexError("integer keys required for update")
            if any(k < 0 for k in places):
                raise IndexError("negative index not allowed for update")
            if any(k >= n for k, n in zip(places, self._shape, strict=True)):
                raise IndexError(f"index {key} is too large for an array of shape {self._shape}")
        self._dict.update({self._key(key): self._dtype.type(value) for key, value in given.items()})

    @classmethod
    def fromkeys(cls, keys: Any, value: Any = 1, /) -> Any:
        """An array with one value at some places, as large as these need."""
        entries = dict.fromkeys(keys, value)
        if not entries:
            return cls((0, 0), dtype=type(value))
        places = [key if isinstance(key, tuple) else (key,) for key in entries]
        made = cls(tuple(max(k) + 1 for k in zip(*places, strict=True)), dtype=np.asarray(value).dtype)
        made.update(entries)
        return made

    __reversed__ = None


class lil_array(_Other):
    """A sparse matrix of lists: `rows[i]` has the columns of a row in order, `data[i]` its values.

    >>> a = lil_array((2, 3), dtype=int)
    >>> a[1, 2] = 4
    >>> a.rows.tolist()
    [[], [2]]
    """

    format = "lil"
    rows: Any

    @property
    def nnz(self) -> int:
        """The number of entries, explicit zeros included."""
        return sum(map(len, self.rows))

    def _fill(self, coo: Any) -> None:
        csr = coo.tocsr()._summed()
        n = self._shape[0]
        self.rows, self.data = np.empty(n, object), np.empty(n, object)
        for i in range(n):
            part = slice(csr.indptr[i], csr.indptr[i + 1])
            self.rows[i], self.data[i] = csr.indices[part].tolist(), csr.data[part].tolist()

    def tocoo(self, copy: bool = True) -> Any:
        """The array as entries with their places."""
        kind = dtypes.index_dtype(largest=max(self._shape))
        sizes = [len(row) for row in self.rows]
        row = np.repeat(np.arange(len(sizes)), sizes).astype(kind)
        column = np.fromiter((j for part in self.rows for j in part), kind, len(row))
        data = np.fromiter((x for part in self.data for x in part), self._dtype, len(row))
        return of_coords(data, (row, column), self._shape)

    def __setitem__(self, key: Any, value: Any) -> None:
        single = isinstance(key, tuple) and len(key) == 2 and all(isinstance(k, int | np.integer) for k in key)
        if not single or np.ndim(value):
            super().__setitem__(key, value)
            return
        for k, n in zip(key, self._shape, strict=True):
            if not -n <= k < n:
                raise IndexError(f"index ({k}) out of range")
        i, j = (int(k) % n for k, n in zip(key, self._shape, strict=True))
        place = int(np.searchsorted(self.rows[i], j)) if self.rows[i] else 0
        here = place < len(self.rows[i]) and self.rows[i][place] == j
        if value == 0:
            if here:
                del self.rows[i][place], self.data[i][place]
        else:
            self.rows[i][place : place + here] = [j]
            self.data[i][place : place + here] = [self._dtype.type(value).item()]

    def getrow(self, i: int) -> Any:
        """A copy of a row."""
        return self[[i]]

    def getrowview(self, i: int) -> Any:
        """A row that shares its lists."""
        made = type(self)((1, self._shape[1]), dtype=self._dtype)
        made.rows[0], made.data[0] = self.rows[i], self.data[i]
        return made

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self._shape[0]))


OTHERS.update(dia=dia_array, dok=dok_array, lil=lil_array)
