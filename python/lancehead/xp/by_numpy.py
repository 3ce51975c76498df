"""Functions of NumPy that are called with lazy arrays: those that this module has, too, give lazy arrays.

All others, and those with arguments that ours do not take, get the values and give arrays of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lancehead.xp import creation, elementwise, fft, linalg, manipulation, products, reducing
from lancehead.xp.arrays import ndarray, set_operators

#: By functions of NumPy: ours, how many arrays come first, and the names of what follows.
_FUNCTIONS: dict[Any, tuple[Callable[..., Any], int, Sequence[str]]] = {}
#: Arguments of NumPy's that say nothing with these values.
_NOTHING = {"out": None, "dtype": None, "order": "C", "casting": "same_kind", "norm": None, "copy": None, "subok": True}
_UNSAID = getattr(np, "_NoValue", None)
#: Functions that come here by their argument `like`.
_LIKE: frozenset[Any] = frozenset(
    map(np.__dict__.get, ("array", "asarray", "asanyarray", "zeros", "ones", "empty", "full", "arange", "eye"))
)


def _values(x: Any) -> Any:
    # The values of the arrays in the arguments of a function of NumPy.
    if isinstance(x, ndarray):
        return x.numpy()
    if isinstance(x, dict):
        return {k: _values(v) for k, v in x.items()}
    return type(x)(map(_values, x)) if type(x) in (list, tuple) else x


def _lazy(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return creation.asarray(x)
    return type(x)(map(_lazy, x)) if type(x) in (list, tuple) else x


def _refuse(out: Any) -> None:
    if isinstance(out, ndarray) or (type(out) is tuple and any(isinstance(x, ndarray) for x in out)):
        raise TypeError("out is an array of NumPy, not a lazy one; write x[...] = value")


def _is_above(x: Any) -> bool:
    # Collections of Dask have such arrays as chunks.
    return hasattr(x, "__dask_graph__")


def ufunc(of: Any, method: str, given: Sequence[Any], options: dict[str, Any]) -> Any:
    """The result of a ufunc of NumPy."""
    if any(map(_is_above, given)):
        return NotImplemented
    own = elementwise.of_numpy(of.__name__) if method == "__call__" else None
    if of is np.matmul and method == "__call__":
        own = products.matmul
    if of is np.rint and given[0].dtype.kind in "iub":
        # The standard's function leaves integers as they are.
        own = None
    if own is not None and options.keys() <= {"dtype"}:
        try:
            found = own(*map(_lazy, given))
        except TypeError:
            # Operands, and types, that only NumPy takes; else its error.
            found = None
        if found is not None and options.get("dtype") in (None, found.dtype):
            return found
    _refuse(options.get("out"))
    return getattr(of, method)(*_values(given), **_values(options))


def function(of: Any, types: Any, given: Sequence[Any], options: dict[str, Any]) -> Any:
    """The result of a function of NumPy that is no ufunc."""
    if any(map(_is_above, types)):
        return NotImplemented
    row = _FUNCTIONS.get(of)
    if row is not None:
        own, count, names = row
        named = {**dict(zip(names, given[count:])), **options}
        for name in [k for k, x in named.items() if x is _UNSAID or (k in _NOTHING and _same(x, _NOTHING[k]))]:
            del named[name]
        if len(given) <= count + len(names):
            try:
                return own(*map(_lazy, given[:count]), **named)
            except TypeError:
                # Arguments that only NumPy takes; else its error.
                pass
    _refuse(options.get("out"))
    found = of(*_values(given), **_values(options))
    return creation.asarray(found) if of in _LIKE else found


def _same(x: Any, nothing: Any) -> bool:
    return x is nothing or (isinstance(x, str) and x == nothing)


def _transpose(x: ndarray, axes: Any = None) -> ndarray:
    return x.transpose() if axes is None else x.transpose(tuple(axes))  # type: ignore[no-any-return]


def _clip(x: ndarray, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> ndarray:
    # Types are those of NumPy, which are not those of the standard.
    for bound, f in ((a_min, elementwise.maximum), (min, elementwise.maximum)):
        x = x if bound is None else f(x, _lazy(bound))
    for bound, f in ((a_max, elementwise.minimum), (max, elementwise.minimum)):
        x = x if bound is None else f(x, _lazy(bound))
    return x


def _round(x: ndarray, decimals: int = 0) -> ndarray:
    if decimals:
        raise TypeError("decimals")
    return elementwise.round(x)


def _dot(a: ndarray, b: Any) -> ndarray:
    if np.ndim(a) not in (1, 2) or np.ndim(b) not in (1, 2):
        raise TypeError("axes")
    return products.matmul(a, b)


def _spread(name: str) -> Callable[..., ndarray]:
    own = getattr(reducing, name)
    return lambda x, axis=None, ddof=0, keepdims=False: own(x, axis=axis, correction=ddof, keepdims=keepdims)


def _flat(own: Callable[..., ndarray]) -> Callable[..., ndarray]:
    # Without an axis NumPy takes all elements in one dimension.
    return lambda x, *more, axis=None, **named: own(
        x.ravel() if axis is None else x, *more, axis=0 if axis is None else axis, **named
    )


def _diff(x: ndarray, n: int = 1, axis: int = -1) -> ndarray:
    return reducing.diff(x, n=n, axis=axis)


def _take(x: ndarray, indices: Any, axis: Any = None) -> ndarray:
    if not isinstance(indices, ndarray) or indices.ndim != 1:
        raise TypeError("indices")
    return _flat(manipulation.take)(x, indices, axis=axis)


def _qr(x: ndarray, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete"):
        raise TypeError("mode")
    return linalg.qr(x, mode=mode)


def _moved(move: Callable[[np.ndarray, Any, Any], np.ndarray]) -> Callable[..., ndarray]:
    return lambda x, one, other: x.view(lambda s: move(s, one, other))


def _without_nan(name: str, instead: float) -> Callable[..., ndarray]:
    own = getattr(reducing, name)
    return lambda x, **named: own(elementwise.where(elementwise.isnan(x), x.dtype.type(instead), x), **named)


def _filled(number: Any) -> Callable[..., ndarray]:
    def like(x: ndarray, fill_value: Any = number, dtype: Any = None, shape: Any = None) -> ndarray:
        extents = x.shape if shape is None else shape
        return creation.full(extents, fill_value, dtype=x.dtype if dtype is None else dtype, device=x.device)

    return like


def _declare(names: str, own: Any, count: int, parameters: str = "", module: Any = np) -> None:
    # Names of NumPy's functions, of which some versions may not have all, and of the parameters behind the arrays.
    for name in names.split():
        f = own if callable(own) else getattr(own, name)
        of = getattr(module, name, None)
        if of is not None:
            _FUNCTIONS[of] = f, count, parameters.split()


_declare("sum prod", reducing, 1, "axis dtype out keepdims initial where")
_declare("mean", reducing, 1, "axis dtype out keepdims where")
_declare("var", _spread("var"), 1, "axis dtype out ddof keepdims where")
_declare("std", _spread("std"), 1, "axis dtype out ddof keepdims where")
_declare("max amax", reducing.max, 1, "axis out keepdims initial where")
_declare("min amin", reducing.min, 1, "axis out keepdims initial where")
_declare("all any", reducing, 1, "axis out keepdims where")
_declare("count_nonzero", reducing, 1, "axis")
_declare("argmax argmin", reducing, 1, "axis out keepdims")
_declare("cumsum", _flat(reducing.cumulative_sum), 1, "axis dtype out")
_declare("cumprod", _flat(reducing.cumulative_prod), 1, "axis dtype out")
_declare("nansum", _without_nan("sum", 0), 1, "axis dtype out keepdims initial where")
_declare("nanprod", _without_nan("prod", 1), 1, "axis dtype out keepdims initial where")
_declare("diff", _diff, 1, "n axis")
_declare("sort argsort", reducing, 1, "axis kind order stable")
_declare("where", elementwise, 3)
_declare("take", _take, 2, "axis out mode")
_declare("take_along_axis", manipulation, 2, "axis")
_declare("searchsorted", reducing, 2, "side sorter")
_declare("concatenate concat", manipulation.concat, 1, "axis out dtype casting")
_declare("stack", manipulation, 1, "axis out dtype casting")
_declare("transpose permute_dims", _transpose, 1, "axes")
_declare("reshape", manipulation, 1, "shape order copy")
_declare("ravel", ndarray.ravel, 1, "order")
_declare("squeeze", ndarray.squeeze, 1, "axis")
_declare("expand_dims", manipulation, 1, "axis")
_declare("moveaxis", _moved(np.moveaxis), 3)
_declare("swapaxes", _moved(np.swapaxes), 3)
_declare("flip", manipulation, 1, "axis")
_declare("roll", manipulation, 2, "axis")
_declare("repeat", manipulation, 2, "axis")
_declare("broadcast_to", manipulation, 1, "shape subok")
_declare("tensordot", products, 2, "axes")
_declare("dot", _dot, 2, "out")
_declare("clip", _clip, 1, "a_min a_max out")
_declare("round around", _round, 1, "decimals out")
_declare("real imag", elementwise, 1)
_declare("zeros_like empty_like", _filled(0), 1, "dtype order subok shape")
_declare("ones_like", _filled(1), 1, "dtype order subok shape")
_declare("full_like", _filled(0), 1, "fill_value dtype order subok shape")
_declare("inv det", linalg, 1, "", np.linalg)
_declare("cholesky", linalg, 1, "upper", np.linalg)
_declare("solve", linalg, 2, "", np.linalg)
_declare("qr", _qr, 1, "mode", np.linalg)
_declare("svd", linalg, 1, "full_matrices", np.linalg)
_declare("fft ifft rfft irfft hfft ihfft", fft, 1, "n axis norm out", np.fft)
_declare("fftn ifftn rfftn irfftn", fft, 1, "s axes norm out", np.fft)
_declare("fftshift ifftshift", fft, 1, "axes", np.fft)

set_operators(ufunc=ufunc, function=function)

__all__ = ["function", "ufunc"]
