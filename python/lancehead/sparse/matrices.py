"""SciPy's older classes: matrices of two dimensions, of which `*` is the matrix product and `**` its power.

An operation runs on the array that has the same data; sparse results become matrices, and dense ones `numpy.matrix`
where SciPy has such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lancehead.sparse import conversions, reductions
from lancehead.sparse.arrays import bsr_array, coo_array, csc_array, csr_array
from lancehead.sparse.base import SparseArray
from lancehead.sparse.formats import CLASSES, OTHERS, is_foreign, shape_of
from lancehead.sparse.others import dia_array, dok_array, lil_array

#: The classes of matrices by their formats.
MATRICES: dict[str, Any] = {}
_ALONG = {"sum", "mean", "max", "min", "nanmax", "nanmin", "argmax", "argmin"}
#: Operations whose dense results are matrices, and those of which these are if an operand is one.
_DENSE = set(
    "todense __add__ __radd__ __sub__ __rsub__ __truediv__ maximum minimum __eq__ __ne__ __lt__ __le__ __gt__ __ge__ "
    "__getitem__".split()
)
_PRODUCTS = {"__matmul__", "__rmatmul__", "dot", "matmul"}


def as_matrix(x: Any) -> Any:
    """A sparse array as a matrix that shares its data; an array of one dimension is a row."""
    if isinstance(x, spmatrix) or not isinstance(x, SparseArray):
        return x
    if len(x._shape) == 1:
        x = conversions.line(x if x.format in ("csr", "coo") else x.tocoo()).asformat(x.format)
    made = object.__new__(MATRICES[x.format])
    made.__dict__.update(x.__dict__)
    return made


def _result(self: Any, name: str, found: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    if name in _ALONG:
        axis = named.get("axis", args[0] if args else None)
        if axis is None or np.ndim(found) == 0 and not isinstance(found, SparseArray):
            return found
        columns = axis in (1, -1)
        if isinstance(found, SparseArray):
            row = as_matrix(found)
            return row.T if columns else row
        return np.asmatrix(found.reshape(-1, 1) if columns else found.reshape(1, -1))
    if isinstance(found, SparseArray):
        made = as_matrix(found)
        if name == "__getitem__":
            made = made.asformat(self.format)
        key = args[0] if name == "__getitem__" and isinstance(args[0], tuple) else ()
        key = tuple(k for k in key if k is not Ellipsis) if len(key) == 3 else key
        is_column = bool(key) and not isinstance(key[-1], slice) and key[-1] is not Ellipsis and np.ndim(key[-1]) == 0
        return made.T.asformat(made.format) if is_column and len(found._shape) == 1 else made
    if isinstance(found, np.ndarray):
        if name == "__getitem__" and self.format in ("dok", "lil"):
            return as_matrix(CLASSES["csr"](np.atleast_2d(found))).asformat(self.format)
        any_matrix = name in _PRODUCTS and any(isinstance(x, np.matrix) for x in args)
        if found.ndim and (name in _DENSE or any_matrix):
            return np.asmatrix(found)
    return found


def _of_arrays(name: str) -> Callable[..., Any]:
    def compute(self: Any, *args: Any, **named: Any) -> Any:
        if name in ("__getitem__", "__setitem__") and self.format == "coo":
            raise TypeError("'coo_matrix' object is not subscriptable")
        plain = self._plain
        found = getattr(plain, name)(*args, **named)
        # Operations in place have replaced its data.
        self.__dict__.update(plain.__dict__)
        return self if found is plain else _result(self, name, found, args, named)

    found = getattr(SparseArray, name)
    compute.__name__, compute.__qualname__, compute.__doc__ = name, f"spmatrix.{name}", found.__doc__
    return compute


class spmatrix:
    """A sparse matrix, beside the class of arrays of its format."""

    _kind = "matrix"
    _shape: Any
    format: str
    __matmul__: Any
    __rmatmul__: Any

    @property
    def _plain(self) -> Any:
        made = object.__new__((CLASSES | OTHERS)[self.format])
        made.__dict__.update(self.__dict__)
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, which can be assigned."""
        return self._shape  # type: ignore[no-any-return]

    @shape.setter
    def shape(self, shape: Any) -> None:
        self.set_shape(shape)

    @property
    def T(self) -> Any:
        """The transpose."""
        return as_matrix(self._plain.T)

    @property
    def real(self) -> Any:
        """The real parts."""
        return as_matrix(self._plain.real)

    @property
    def imag(self) -> Any:
        """The imaginary parts."""
        return as_matrix(self._plain.imag)

    def __mul__(self, other: Any) -> Any:
        if np.isscalar(other) or (isinstance(other, np.ndarray) and other.ndim == 0):
            return as_matrix(self._plain * other)
        return self.__matmul__(other)

    def __rmul__(self, other: Any) -> Any:
        if np.isscalar(other) or (isinstance(other, np.ndarray) and other.ndim == 0):
            return as_matrix(self._plain * other)
        return self.__rmatmul__(other)

    def __pow__(self, power: Any) -> Any:
        rows, columns = self._shape
        if rows != columns:
            raise TypeError("sparse matrix is not square")
        if not np.isscalar(power) or power != int(np.real(power)):
            raise ValueError("exponent must be an integer")
        n = int(np.real(power))
        if n < 0:
            raise ValueError("exponent must be >= 0")
        if n == 0:
            return as_matrix(csr_array(np.eye(rows, dtype=self._plain.dtype)).todia())
        half: Any = self ** (n // 2) if n > 1 else self
        squared = half if n == 1 else half @ half
        return squared @ self if n > 1 and n % 2 else squared

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self._shape[0]))  # type: ignore[index]

    def get_shape(self) -> tuple[int, ...]:
        """The extents."""
        return self._shape  # type: ignore[no-any-return]

    def set_shape(self, shape: Any) -> None:
        """Gives the matrix another shape, with the elements in their order."""
        made = self._plain.reshape(shape).asformat(self.format)
        self.__dict__.update(made.__dict__)

    def getformat(self) -> str:
        """The format."""
        return self.format

    def getmaxprint(self) -> int:
        """How many entries `str` shows."""
        return self.maxprint  # type: ignore[attr-defined, no-any-return]

    def getnnz(self, axis: Any = None) -> Any:
        """The number of entries, of all or along an axis."""
        return self._plain.nnz if axis is None else reductions.count_along(self._plain.tocsr(), axis % 2)

    def asfptype(self) -> Any:
        """The matrix with values that are no integers."""
        dtype = self._plain.dtype
        wide = next(t for t in "fdFD" if np.can_cast(dtype, t)) if dtype.kind not in "fc" else dtype
        return self if wide == dtype else as_matrix(self._plain.astype(wide))

    def getH(self) -> Any:
        """The conjugate transpose."""
        return as_matrix(self._plain.T.conj())

    def getrow(self, i: int) -> Any:
        """A row, in compressed rows."""
        return as_matrix(self._plain.tocsr()[[i]])

    def getcol(self, j: int) -> Any:
        """A column, in compressed rows."""
        return as_matrix(self._plain.tocsr()[:, [j]])


for _name, _value in list(vars(SparseArray).items()):
    is_own = _name in vars(spmatrix) and _name not in ("__doc__", "__module__")
    if callable(_value) and not is_own and _name not in ("__init__", "__repr__", "__str__", "__len__", "__hash__"):
        if not _name.startswith("_") or _name.startswith("__"):
            setattr(spmatrix, _name, _of_arrays(_name))
spmatrix.__hash__ = None  # type: ignore[assignment]


def _class(array: Any) -> Any:
    def init(self: Any, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, **more: Any) -> None:
        name = f"{array.format}_matrix"
        if isinstance(arg1, tuple) and len(arg1) == 1:
            kind = TypeError if array.format in ("coo", "lil") else ValueError
            raise kind(f"unrecognized {name} constructor input: {arg1}")
        if not isinstance(arg1, tuple | SparseArray) and not hasattr(arg1, "tocoo"):
            arg1 = np.atleast_2d(np.asarray(arg1))
        made = array(arg1, shape=None if shape is None else shape_of(shape), dtype=dtype, copy=copy, **more)
        self.__dict__.update(as_matrix(made).__dict__)

    base = array.__doc__.splitlines()[0]
    body = {
        "__init__": init,
        "__doc__": f"As `{array.__name__}`, with `*` as the matrix product: {base[:1].lower()}{base[1:]}",
    }
    found = type(f"{array.format}_matrix", (spmatrix, array), {**body, "__module__": __name__})
    MATRICES[array.format] = found
    return found


bsr_matrix, coo_matrix, csc_matrix = _class(bsr_array), _class(coo_array), _class(csc_array)
csr_matrix, dia_matrix = _class(csr_array), _class(dia_array)
dok_matrix, lil_matrix = _class(dok_array), _class(lil_array)


class _Arrays(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, SparseArray) and not isinstance(x, spmatrix)


class sparray(metaclass=_Arrays):
    """The base of all sparse arrays, which matrices do not have."""


def isspmatrix(x: Any) -> bool:
    """Whether something is a sparse matrix, ours or SciPy's, and no array."""
    return isinstance(x, spmatrix) or (is_foreign(x) and type(x).__name__.endswith("_matrix"))


def _is_of(format: str) -> Callable[[Any], bool]:
    def check(x: Any) -> bool:
        return isspmatrix(x) and x.format == format

    check.__name__ = check.__qualname__ = f"isspmatrix_{format}"
    check.__doc__ = f"Whether something is a sparse matrix in the format `{format}`, and no array."
    return check


isspmatrix_bsr, isspmatrix_coo, isspmatrix_csc = _is_of("bsr"), _is_of("coo"), _is_of("csc")
isspmatrix_csr, isspmatrix_dia = _is_of("csr"), _is_of("dia")
isspmatrix_dok, isspmatrix_lil = _is_of("dok"), _is_of("lil")
