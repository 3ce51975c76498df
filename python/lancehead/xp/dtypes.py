"""Data types and what is asked of them, by the array API standard."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from lancehead.caches import Cache
from lancehead.options import suggestion

bool = np.dtype(np.bool_)
int8, int16, int32, int64 = map(np.dtype, ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(np.dtype, ("uint8", "uint16", "uint32", "uint64"))
float16, float32, float64 = np.dtype("float16"), np.dtype("float32"), np.dtype("float64")
complex64, complex128 = np.dtype("complex64"), np.dtype("complex128")

SIGNED = (int8, int16, int32, int64)
UNSIGNED = (uint8, uint16, uint32, uint64)
INTEGRAL = SIGNED + UNSIGNED
REAL_FLOATING = (float32, float64)
COMPLEX = (complex64, complex128)
NUMERIC = INTEGRAL + REAL_FLOATING + COMPLEX
ALL = (bool, *NUMERIC)

KINDS = {
    "bool": (bool,),
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": INTEGRAL,
    "real floating": REAL_FLOATING,
    "complex floating": COMPLEX,
    "numeric": NUMERIC,
}


#: Kinds of types beyond the standard, which compiled functions have, too: `float16`, dates, spans of time, bytes, texts
#: and records.
_OTHER = "MmSUV"


#: The types of the standard, and `float16`, by what named them.
_FOUND: Cache[Any, np.dtype[Any]] = Cache(1024)
_SAME = {d: d for d in (*ALL, float16)}


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """The data type that an argument names, in the machine's byte order; TypeError for one that no array here has."""
    try:
        return _FOUND[dtype]
    except (KeyError, TypeError):
        pass
    try:
        found: np.dtype[Any] = np.dtype(dtype).newbyteorder("=")
    except TypeError as error:
        # NumPy does not name the nearest.
        near = suggestion(dtype, map(str, ALL)) if isinstance(dtype, str) else ""
        raise TypeError(f"{error}{near}") from None
    # Equal types are one object where possible, as those of new arrays of NumPy are.
    found = _SAME.get(found, found)
    if found in ALL or found == float16:
        if isinstance(dtype, (np.dtype, type, str)):
            _FOUND[dtype] = found
        return found
    if found.kind not in _OTHER or found.hasobject or found.itemsize == 0:
        raise TypeError(f"there are no arrays of {found} here")
    return found


@functools.lru_cache(1024)
def text(dtype: np.dtype[Any]) -> str:
    """The text of a type in compiled code; TypeError for records, which it cannot make."""
    if dtype.fields is not None or dtype.kind == "V":
        raise TypeError("records are not made of other types; make them with NumPy")
    if dtype.kind in _OTHER:
        return repr(dtype.str)
    return "np.bool_" if dtype == bool else f"np.{dtype.name}"


def default(x: Any) -> np.dtype[Any]:
    """The type of an array made of a Python number."""
    return as_dtype(np.asarray(x).dtype)


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether a data type is another one, or of a kind named in the standard, or one of several.

    Raises ValueError for an unknown kind.
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"unknown kind of data types: {kind!r}; kinds are {', '.join(KINDS)}")
        return np.dtype(dtype) in KINDS[kind]
    return np.dtype(dtype) == np.dtype(kind)


def can_cast(from_: Any, to: Any) -> Any:
    """Whether a conversion loses nothing by the rules of promotion, of a data type or an array."""
    return np.can_cast(getattr(from_, "dtype", from_), as_dtype(to))


def result_type(*of: Any) -> np.dtype[Any]:
    """The data type of arrays, data types and Python numbers together."""
    if not of:
        raise ValueError("at least one array or data type is needed")
    found = [getattr(x, "dtype", x) for x in of]
    first = found[0]
    if type(first) in _CLASSES and all(x is first for x in found):
        return as_dtype(first)
    return as_dtype(np.result_type(*found))


#: Classes of data types whose one object is named by those of the same elements.
_CLASSES = frozenset(type(d) for d in ALL)


class finfo:
    """Limits of a floating-point type: `bits eps max min smallest_normal dtype`."""

    def __init__(self, of: Any) -> None:
        info = np.finfo(getattr(of, "dtype", of))
        self.bits, self.dtype = int(info.bits), np.dtype(info.dtype)
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.smallest_normal = float(info.smallest_normal)


class iinfo:
    """Limits of an integer type: `bits max min dtype`."""

    def __init__(self, of: Any) -> None:
        info = np.iinfo(getattr(of, "dtype", of))
        self.bits, self.max, self.min, self.dtype = int(info.bits), int(info.max), int(info.min), np.dtype(info.dtype)


__all__ = [
    "bool", "can_cast", "complex128", "complex64", "finfo", "float16", "float32", "float64", "iinfo", "int16", "int32",
    "int64", "int8", "isdtype", "result_type", "uint16", "uint32", "uint64", "uint8",
]  # fmt: skip
