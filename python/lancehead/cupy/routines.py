"""Functions that the host computes, by NumPy's functions over the memory of arrays."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from lancehead.cupy import hosted, layout, ufuncs
from lancehead.cupy.creation import array, asarray
from lancehead.cupy.hosted import changing
from lancehead.cupy.hosted import hosted as _of
from lancehead.xp import arrays as lazy

in1d = _of(np.isin, "in1d")

fill_diagonal = changing(np.fill_diagonal)
put_along_axis = changing(np.put_along_axis)
putmask = changing(np.putmask)
place = changing(np.place)


def put(a: Any, ind: Any, v: Any, mode: str = "wrap") -> None:
    """Stores values at places in row-major order, which wrap around or are clipped."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap', not {mode!r}")
    if not isinstance(a, lazy.ndarray):
        raise TypeError("a is an array of the device")
    given = [x if isinstance(x, lazy.ndarray) else np.asarray(x).tolist() for x in (ind, v)]
    changing(np.put)(a, *given, mode=mode)


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = None) -> None:
    """Stores the values of an array in another one, where a condition holds."""
    if not isinstance(dst, lazy.ndarray):
        raise TypeError("dst is an array of the device")
    source = ufuncs.operand(src)
    kind = source.dtype if isinstance(source, (lazy.ndarray, np.generic)) else np.min_scalar_type(source)
    if not np.can_cast(kind, dst.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(f"Cannot cast {kind!r} to {dst.dtype!r} in {casting} casting mode")
    if where is None:
        dst[...] = source
        return
    there = np.array(hosted.given(dst))
    np.copyto(there, hosted.given(source), casting="unsafe", where=hosted.given(where))
    dst[...] = hosted.result(there)


def einsum(*operands: Any, **options: Any) -> Any:
    """Sums of products by subscripts. Of one array the result is a view where NumPy's is."""
    if len(operands) == 2 and not options and isinstance(operands[0], str) and isinstance(operands[1], lazy.ndarray):
        s = layout.shadow(operands[1])
        if np.shares_memory(np.einsum(operands[0], s), s):
            return hosted.wrap(lazy.ndarray.view(operands[1], lambda a: np.einsum(operands[0], a)))
    values = [operands[0], *map(hosted.given, operands[1:])] if isinstance(operands[0], str) else list(operands)
    return hosted.call(np.einsum, *[hosted.result(v) if isinstance(v, np.ndarray) else v for v in values], **options)


def histogram(x: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> Any:
    """Numbers of elements in intervals, and the ends of these."""
    return hosted.call(np.histogram, x, bins, range=range, weights=weights, density=density)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Whether arrays have one shape and equal elements."""
    return hosted.call(lambda a, b: np.bool_(np.array_equal(a, b, equal_nan)), a1, a2)


def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether arrays have equal elements when they broadcast."""
    return hosted.call(lambda a, b: np.bool_(np.array_equiv(a, b)), a1, a2)


def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Whether elements are equal but for tolerances."""
    return hosted.call(lambda x, y: np.bool_(np.allclose(x, y, rtol, atol, equal_nan)), a, b)


def iscomplexobj(x: Any) -> bool:
    """Whether an array has a type of complex numbers."""
    return bool(np.iscomplexobj(x) if not isinstance(x, lazy.ndarray) else x.dtype.kind == "c")


def isrealobj(x: Any) -> bool:
    """Whether an array has no type of complex numbers."""
    return not iscomplexobj(x)


def isscalar(element: Any) -> bool:
    """Whether something is a number or a text."""
    return bool(np.isscalar(element))


def ndim(a: Any) -> int:
    """Number of axes."""
    return int(a.ndim) if hasattr(a, "ndim") else np.ndim(a)


def shape(a: Any) -> Any:
    """Extents."""
    return a.shape if isinstance(a, lazy.ndarray) else np.shape(a)


def size(a: Any, axis: Any = None) -> int:
    """Number of elements, or extent of an axis."""
    if axis is None:
        return int(a.size if isinstance(a, lazy.ndarray) else np.size(a))
    return int(shape(a)[operator.index(axis)])


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether the bounds of the memory of two arrays overlap."""
    return shares_memory(a, b)


def _places(a: Any) -> np.ndarray:
    # Places of the elements in the memory of the owner.
    if a._view is None:
        return np.arange(a.size)
    s = layout.shadow(a)
    found = np.full(s.shape, a._view.first())
    for k, (n, step) in enumerate(zip(s.shape, s.strides, strict=True)):
        found = found + (np.arange(n) * (step // s.itemsize)).reshape((-1,) + (1,) * (s.ndim - k - 1))
    return found


def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays have elements in common."""
    if a is b:
        return bool(a.size)
    owners = [x if x._view is None else x._view.owner for x in (a, b)]
    if owners[0] is not owners[1] or not a.size or not b.size:
        return False
    whole = np.zeros(owners[0].size, np.int32)
    whole[_places(a)] = 1
    return bool(whole[_places(b)].any())


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of the program for each line along an axis."""
    cupy = layout.NAMESPACE[0]
    arr = arr if isinstance(arr, lazy.ndarray) else array(arr)
    moved = cupy.moveaxis(arr, axis, -1)
    outer = moved.shape[:-1]
    if 0 in outer:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    rows = moved.reshape((math.prod(outer), moved.shape[-1]))
    found = [cupy.asarray(func1d(row, *args, **kwargs)) for row in rows]
    whole = cupy.stack(found).reshape(outer + found[0].shape)
    k = axis % arr.ndim
    ends = list(range(len(outer), whole.ndim))
    return cupy.moveaxis(whole, ends, list(range(k, k + len(ends)))) if ends else whole


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Numbers in place of NaN and infinities; in the array itself without `copy`."""
    found = hosted.call(np.nan_to_num, x, nan=nan, posinf=posinf, neginf=neginf)
    if copy or not isinstance(x, lazy.ndarray):
        return found
    x[...] = found
    return x


def mask_indices(n: int, mask_func: Any, k: Any = 0) -> Any:
    """Places where a function such as `triu` leaves something of a matrix of ones."""
    cupy = layout.NAMESPACE[0]
    return cupy.nonzero(mask_func(cupy.ones((n, n), np.int64), k))


def _type_of(x: Any) -> Any:
    return x.dtype if isinstance(x, lazy.ndarray) else x


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Whether a type, or that of an array, converts to another one by a rule."""
    return np.can_cast(_type_of(from_), _type_of(to), casting)


def common_type(*arrays: Any) -> Any:
    """The inexact type of the elements of all arrays."""
    return np.common_type(*[np.empty(0, _type_of(x)) for x in arrays])


def min_scalar_type(a: Any) -> np.dtype[Any]:
    """The smallest type that has the value of a number, of an array the type of its elements."""
    return a.dtype if isinstance(a, lazy.ndarray) else np.min_scalar_type(a)


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """The type that NumPy computes with, of arrays, numbers and types."""
    found: np.dtype[Any] = np.result_type(*map(_type_of, arrays_and_dtypes))
    return found


def piecewise(x: Any, condlist: Any, funclist: Any) -> Any:
    """A value for each of several conditions."""
    if any(callable(f) for f in funclist):
        raise NotImplementedError("Callable functions are not supported currently")
    return hosted.call(np.piecewise, x, condlist, funclist)


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """As `asarray`; ValueError for infinities and NaN."""
    found = asarray(a, dtype, order)
    if found.dtype.kind in "fc" and not bool(ufuncs.isfinite(found).all()):
        raise ValueError("array must not contain Infs or NaNs")
    return found


def require(a: Any, dtype: Any = None, requirements: Any = None) -> Any:
    """An array with properties of its memory."""
    wanted = {str(r).upper()[0] for r in requirements or ()}
    if {"C", "F"} <= wanted:
        raise ValueError('Cannot specify both "C" and "F" order')
    for r in requirements or ():
        if str(r).upper() not in {"C", "F", "O", "CONTIGUOUS", "FORTRAN", "OWNDATA", "C_CONTIGUOUS", "F_CONTIGUOUS"}:
            raise ValueError(f"invalid requirement: {r!r}")
    order = "C" if "C" in wanted else "F" if "F" in wanted else "K"
    found = array(a, dtype, copy=False, order=order)
    return found.copy(order) if "O" in wanted and found.base is not None else found


def r_index(which: Any, key: Any) -> Any:
    """The result of `numpy.r_`, `numpy.c_` and the like for a key."""

    def plain(p: Any) -> Any:
        if isinstance(p, slice):
            return slice(*[plain(v) for v in (p.start, p.stop, p.step)])
        p = hosted.given(p)
        return p.item() if isinstance(p, np.ndarray) and not p.ndim else p

    return hosted.result(which[tuple(map(plain, key)) if isinstance(key, tuple) else plain(key)])


class _Joins:
    def __init__(self, of: Any) -> None:
        self._of = of

    def __getitem__(self, key: Any) -> Any:
        return r_index(self._of, key)

    def __len__(self) -> int:
        return 0


r_, c_ = _Joins(np.r_), _Joins(np.c_)
mgrid, ogrid = _Joins(np.mgrid), _Joins(np.ogrid)


def ix_(*args: Any) -> Any:
    """Indices that select a grid."""
    return hosted.call(np.ix_, *args)


def array_repr(arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """The text of an array, as `repr`."""
    return np.array_repr(hosted.given(arr), max_line_width, precision, suppress_small)


def array_str(arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """The text of an array, as `str`."""
    return np.array_str(hosted.given(arr), max_line_width, precision, suppress_small)


def array2string(a: Any, *args: Any, **kwargs: Any) -> str:
    """The text of the elements."""
    return np.array2string(hosted.given(a), *args, **kwargs)


def save(file: Any, arr: Any, allow_pickle: Any = None) -> None:
    """Writes an array to a file of NumPy's format."""
    np.save(file, hosted.given(array(arr)))


def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Writes arrays to a file of several."""
    np.savez(file, *map(hosted.given, args), **{k: hosted.given(v) for k, v in kwds.items()})


def savez_compressed(file: Any, *args: Any, **kwds: Any) -> None:
    """Writes arrays to a compressed file of several."""
    np.savez_compressed(file, *map(hosted.given, args), **{k: hosted.given(v) for k, v in kwds.items()})


def savetxt(fname: Any, X: Any, *args: Any, **kwargs: Any) -> None:
    """Writes an array to a file of text."""
    np.savetxt(fname, hosted.given(X), *args, **kwargs)


class NpzFile:
    """The arrays of a file of several, by their names."""

    def __init__(self, files: Any) -> None:
        self.npz_file = files
        self.files, self.zip, self.fid = files.files, files.zip, files.fid

    def __enter__(self) -> NpzFile:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __getitem__(self, name: str) -> Any:
        return hosted.result(self.npz_file[name])

    def close(self) -> None:
        """Closes the file."""
        self.npz_file.close()


def load(file: Any, mmap_mode: Any = None, allow_pickle: Any = None) -> Any:
    """Arrays that were written to a file."""
    found = np.load(file, mmap_mode, allow_pickle=bool(allow_pickle))
    return hosted.result(found) if isinstance(found, np.ndarray) else NpzFile(found)


#: Names that have no definition above are NumPy's functions, which the host computes.
__all__ = [  # noqa: F822
    "allclose", "angle", "append", "apply_along_axis", "argpartition", "argwhere", "around", "array2string",
    "array_equal", "array_equiv", "array_repr", "array_str", "asarray_chkfinite", "average", "bartlett", "bincount",
    "blackman", "c_", "can_cast", "choose", "common_type", "compress", "convolve", "copyto", "corrcoef", "correlate",
    "cov", "cross", "delete", "diag_indices", "diag_indices_from", "diagflat", "diff", "digitize", "ediff1d", "einsum",
    "extract", "fill_diagonal", "fix", "flatnonzero", "frombuffer", "fromfile", "fromfunction", "fromiter",
    "fromstring", "genfromtxt", "geomspace", "gradient", "hamming", "hanning", "histogram", "histogram2d",
    "histogramdd", "i0", "in1d", "indices", "inner", "insert", "interp", "intersect1d", "isclose", "iscomplex",
    "iscomplexobj", "isin", "isneginf", "isposinf", "isreal", "isrealobj", "isscalar", "ix_", "kaiser", "kron",
    "lexsort", "load", "loadtxt", "logspace", "mask_indices", "may_share_memory", "median", "mgrid", "min_scalar_type",
    "nan_to_num", "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin",
    "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar", "ndim", "ogrid", "outer", "packbits",
    "pad", "partition", "percentile", "piecewise", "place", "poly", "polyadd", "polyfit", "polymul", "polysub",
    "polyval", "ptp", "put", "put_along_axis", "putmask", "quantile", "r_", "ravel_multi_index", "real_if_close",
    "repeat", "require", "result_type", "roots", "save", "savetxt", "savez", "savez_compressed", "searchsorted",
    "select", "setdiff1d", "setxor1d", "shape", "shares_memory", "sinc", "size", "sort_complex", "take_along_axis",
    "tensordot", "tile", "trace", "trapezoid", "tri", "tril", "tril_indices", "tril_indices_from", "trim_zeros", "triu",
    "triu_indices", "triu_indices_from", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse",
    "unique_values", "unpackbits", "unravel_index", "unwrap", "vander", "vdot",
]  # fmt: skip

globals().update({name: _of(getattr(np, name)) for name in __all__ if name not in globals()})

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
