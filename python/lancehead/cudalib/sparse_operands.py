"""Operands of cuSPARSE's calls: sparse vectors, matrices by rows, matrices of blocks, and what describes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lancehead.cudalib.errors import CuSparseError
from lancehead.cudalib.operands import Call, value_type

_UNSUPPORTED_TYPE = 8
_MATRICES = "GSHT"


class MatDescr:
    """The properties of a matrix: `indexbase` 0 or 1, `diagtype` "N" or "U" for a unit diagonal that is not read,
    `fillmode` "L" or "U" for the triangle that is read, `matrixtype` "G" general, "S", "H" or "T".
    """

    def __init__(self, indexbase: int = 0, diagtype: str = "N", fillmode: str = "L", matrixtype: str = "G") -> None:
        self.indexbase, self.diagtype, self.fillmode, self.matrixtype = indexbase, diagtype, fillmode, matrixtype

    _ALLOWED: dict[str, tuple[Any, ...]] = {
        "indexbase": (0, 1), "diagtype": ("N", "U"), "fillmode": ("L", "U"), "matrixtype": tuple(_MATRICES)
    }  # fmt: skip

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._ALLOWED and value not in self._ALLOWED[name]:
            raise ValueError(f"{name} is one of {', '.join(map(repr, self._ALLOWED[name]))}, not {value!r}")
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return "MatDescr({indexbase}, {diagtype!r}, {fillmode!r}, {matrixtype!r})".format(**vars(self))


@dataclass
class Indexed:
    """A sparse vector, or an array of indices."""

    values: Any
    indices: np.ndarray
    base: int
    name: str


@dataclass
class Csr:
    """A matrix by rows."""

    rows: int
    columns: int
    values: np.ndarray
    pointers: np.ndarray
    indices: np.ndarray
    base: int
    is_upper: bool
    is_unit: bool
    name: str

    @property
    def nnz(self) -> int:
        """How many elements there is memory for."""
        return self.indices.size


@dataclass
class Blocks:
    """A matrix of square blocks; `rows` and `columns` count these."""

    rows: int
    columns: int
    values: np.ndarray
    pointers: np.ndarray
    indices: np.ndarray
    base: int
    block: int
    by_columns: bool
    name: str


@dataclass
class Result:
    """The arrays that a sparse matrix is stored in; those of values and indices may be lacking."""

    values: np.ndarray | None
    pointers: np.ndarray
    indices: np.ndarray | None
    base: int

    def check(self, nnz: int, size: int = 1) -> None:
        """Whether so many elements, or blocks of a size, have memory.

        Raises:
            ValueError: they have not.
        """
        for name, a, n in (("values", self.values, nnz * size), ("indices", self.indices, nnz)):
            if a is not None and a.size < n:
                raise ValueError(f"the result's {name} has {a.size} elements, where {n} are needed")

    def keep(self, values: np.ndarray, pointers: np.ndarray, indices: np.ndarray) -> int:
        """Stores a matrix of the CPU device whose indices begin with 0; gives the number of its elements."""
        store(self.pointers, pointers + self.base, "the result's pointers")
        if self.values is not None:
            store(self.values, values, "the result's values")
        if self.indices is not None:
            store(self.indices, indices + self.base, "the result's indices")
        return int(pointers[-1])


def sized(call: Call, value: Any, name: str, dtype: Any, n: int, out: bool = False) -> np.ndarray:
    """The first elements of an array in one dimension.

    Raises:
        ValueError: it has fewer.
    """
    found = call.flat(value, name, dtype, out)
    if found.size < n:
        raise ValueError(f"{name} has {found.size} elements, where {n} are needed")
    return found[:n]


def columns(call: Call, value: Any, name: str, dtype: Any, rows: int, n: int, ld: int, out: bool = False) -> np.ndarray:
    """A matrix by columns at a distance in the memory of an array.

    Raises:
        ValueError: the distance is less than a column, or the array less than the matrix.
    """
    if ld < max(1, rows):
        raise ValueError(f"the columns of {name} have {rows} elements, and their distance is {ld}")
    memory = sized(call, value, name, dtype, (n - 1) * ld + rows if n and rows else 0, out)
    step = memory.itemsize
    return np.lib.stride_tricks.as_strided(memory, (rows, n), (step, ld * step))


def general(descr: MatDescr, name: str) -> MatDescr:
    """A description of a matrix of which everything is stored.

    Raises:
        CuSparseError: it is of another kind, which the library computes with no longer.
    """
    _described(descr, name)
    if descr.matrixtype != "G":
        raise CuSparseError(_UNSUPPORTED_TYPE, f"{name} is described as {descr.matrixtype!r}, where 'G' is needed")
    return descr


def _described(descr: Any, name: str) -> MatDescr:
    if not isinstance(descr, MatDescr):
        raise TypeError(f"{name} is described by what matdescr() makes, not by {type(descr).__name__}")
    return descr


def csr(
    call: Call, m: int, n: int, nnz: int, descr: MatDescr, values: Any, pointers: Any, indices: Any,
    name: str = "A", dtype: Any = None, writes: bool = False,
) -> Csr:  # fmt: skip
    """A matrix by rows of arrays. Without values, it has ones."""
    _described(descr, name)
    ptr = sized(call, pointers, f"{name}'s pointers", np.int32, m + 1)
    ind = sized(call, indices, f"{name}'s indices", np.int32, nnz)
    if values is None:
        data: np.ndarray = np.ones(nnz, np.float32)
        data = data if call.gpu is None else call.array(data, name)
    else:
        data = sized(call, values, f"{name}'s values", dtype or value_type(values, f"{name}'s values"), nnz, writes)
    return Csr(m, n, data, ptr, ind, descr.indexbase, descr.fillmode == "U", descr.diagtype == "U", name)


def store(out: np.ndarray, found: np.ndarray, name: str) -> None:
    """Stores elements in an array of the CPU device.

    Raises:
        ValueError: they are more than it has.
    """
    if found.size > out.size:
        raise ValueError(f"{name} has {out.size} elements, where {found.size} are needed")
    out[: found.size] = found
