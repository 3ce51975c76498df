"""Functions of the namespace as methods of arrays, and methods that programs know from NumPy's arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lancehead.xp import devices

#: The functions, by the names of the methods; the package gives them when all are there.
_FUNCTIONS: dict[str, Callable[..., Any]] = {}


def _method(name: str, place: int = 0) -> Callable[..., Any]:
    # A method that calls a function of the namespace, with the array in that place among its arguments.
    def call(self: Any, *given: Any, **named: Any) -> Any:
        return _FUNCTIONS[name](*given[:place], self, *given[place:], **named)

    call.__name__ = name
    return call


def _along(name: str, of: str | None = None) -> Callable[..., Any]:
    # As NumPy's methods, which take the axis by position, too.
    def call(self: Any, axis: Any = None, **named: Any) -> Any:
        return _FUNCTIONS[of or name](self, axis=axis, **named)

    call.__name__ = name
    return call


class Methods:
    """The methods of an array that functions of the namespace are, with the array as an argument of theirs."""

    __slots__ = ()
    #: Dask's functions of several chunks are those of the one with the greatest.
    __array_priority__ = 100

    sum, prod, mean, var, std = map(_along, ("sum", "prod", "mean", "var", "std"))
    min, max, all, any = map(_along, ("min", "max", "all", "any"))
    argmin, argmax = _along("argmin"), _along("argmax")
    cumsum, cumprod = _along("cumsum", "cumulative_sum"), _along("cumprod", "cumulative_prod")
    argsort, searchsorted, take, repeat = map(_method, ("argsort", "searchsorted", "take", "repeat"))
    astype, clip, conj, round, nonzero = map(_method, ("astype", "clip", "conj", "round", "nonzero"))

    map, zipwith, stencil, outer = (_method(name, 1) for name in ("map", "zipwith", "stencil", "outer"))
    reduce, scan = _method("reduce", 1), _method("scan", 1)
    inclusive_scan, exclusive_scan = _method("inclusive_scan", 1), _method("exclusive_scan", 1)
    segmented_reduce, segmented_scan = _method("segmented_reduce", 1), _method("segmented_scan", 1)
    inner, transform_reduce = _method("inner", 2), _method("transform_reduce", 3)
    scatter, gather, merge, compact, partition = (
        _method(name) for name in ("scatter", "gather", "merge", "compact", "partition")
    )
    k_select, top_k, sort_by_key = _method("k_select"), _method("top_k"), _method("sort_by_key")
    unique, run_length, histogram, bincount = (
        _method(name) for name in ("unique", "run_length", "histogram", "bincount")
    )
    adjacent_difference = _method("adjacent_difference")

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, known: Any) -> Any:
        return self.copy()

    def __reduce__(self) -> Any:
        # Values and the device; where they lie, and what they were computed from, is not kept.
        return restored, (self.numpy(), str(self.device))  # type: ignore[attr-defined]

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + int(self.nbytes)  # type: ignore[attr-defined]

    def __dask_tokenize__(self) -> Any:
        # By what Dask tells arrays apart, in any process. Only values do that, if there are elements.
        shape, dtype = self.shape, str(self.dtype)  # type: ignore[attr-defined]
        content: Any = b""
        if 0 not in shape:
            content = np.ascontiguousarray(self.numpy()).reshape(-1).view(np.uint8)  # type: ignore[attr-defined]
        digest = hashlib.blake2b(content, digest_size=20).hexdigest()
        return "lancehead.xp", str(self.device), dtype, shape, digest  # type: ignore[attr-defined]

    def __contains__(self, value: Any) -> bool:
        return bool(_FUNCTIONS["any"](self == value))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def reshape(self, *shape: Any) -> Any:
        """The elements in another shape, a tuple or several numbers, of which one may be -1."""
        return _FUNCTIONS["reshape"](self, shape[0] if len(shape) == 1 else shape)

    def ravel(self) -> Any:
        """The elements in one dimension, in row-major order."""
        return _FUNCTIONS["reshape"](self, (-1,))

    def flatten(self) -> Any:
        """A copy of the elements in one dimension, in row-major order."""
        return self.copy().ravel()

    def transpose(self, *axes: Any) -> Any:
        """A view with the axes in another order: a tuple or several numbers; backward without one."""
        ndim = len(self.shape)  # type: ignore[attr-defined]
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        order = tuple(range(ndim))[::-1] if order is None else tuple(order)
        return _FUNCTIONS["permute_dims"](self, order)

    def squeeze(self, axis: Any = None) -> Any:
        """A view without axes of extent 1, all of them or those that are given. ValueError for other extents."""
        shape = self.shape  # type: ignore[attr-defined]
        ones = tuple(k for k, n in enumerate(shape) if n == 1)
        return _FUNCTIONS["squeeze"](self, axis=ones if axis is None else axis)

    def copy(self) -> Any:
        """An array of its own with the values."""
        return _FUNCTIONS["asarray"](self, copy=True)

    def sort(self, axis: int = -1) -> None:
        """Sorts the array itself along an axis; NaN last."""
        self[...] = _FUNCTIONS["sort"](self, axis=axis)  # type: ignore[index]

    def fill(self, value: Any) -> None:
        """Stores one value in all elements."""
        self[...] = value  # type: ignore[index]

    def item(self) -> Any:
        """The only element as a number of Python. ValueError if there are others."""
        return self.numpy().item()  # type: ignore[attr-defined]

    def tolist(self) -> Any:
        """The elements as nested lists of numbers of Python."""
        return self.numpy().tolist()  # type: ignore[attr-defined]

    @property
    def real(self) -> Any:
        """Real parts, as values."""
        return _FUNCTIONS["real"](self)

    @property
    def imag(self) -> Any:
        """Imaginary parts, as values. TypeError for real numbers."""
        return _FUNCTIONS["imag"](self)


def restored(value: Any, device: str) -> Any:
    """The array of a pickle, in the memory that it came in if that can be written to, as all that arrays have."""
    where = devices.as_device(device)
    is_ours = value.flags.c_contiguous and value.flags.writeable
    return _FUNCTIONS["asarray"](value, device=where, copy=False if is_ours and where is devices.CPU else None)


def bind(functions: Mapping[str, Any]) -> None:
    """Takes the functions of the namespace, and gives methods without a text theirs."""
    _FUNCTIONS.update((name, f) for name, f in functions.items() if callable(f))
    for name, method in vars(Methods).items():
        if callable(method) and method.__doc__ is None and name in _FUNCTIONS:
            method.__doc__ = _FUNCTIONS[name].__doc__


__all__ = ["Methods", "bind", "restored"]
