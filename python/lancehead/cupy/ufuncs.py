"""Functions of elements with NumPy's types and keywords."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from lancehead.cupy import hosted, layout
from lancehead.options import near_members
from lancehead.xp import arrays as lazy
from lancehead.xp import elementwise

_NUMBERS = (bool, int, float, complex)


def operand(x: Any) -> Any:
    """An operand: an array of the device, or a number; TypeError for anything else."""
    if isinstance(x, lazy.ndarray):
        return x
    if type(x) in _NUMBERS or isinstance(x, (*_NUMBERS, np.generic)):
        return x
    if hasattr(x, "__cuda_array_interface__"):
        return hosted.wrap(lazy.from_numpy(_of_interface(x), layout.device()))
    raise TypeError(f"Unsupported type {type(x)}")


def _of_interface(x: Any) -> np.ndarray:
    from lancehead import cuda

    return np.asarray(cuda.as_cuda_array(x).copy_to_host())


def _as_array(x: Any, dtype: Any = None) -> lazy.ndarray:
    if isinstance(x, lazy.ndarray):
        return x
    return lazy.from_numpy(np.asarray(x, dtype), layout.device())


def _axes(arrays: Sequence[lazy.ndarray], shape: tuple[int, ...]) -> tuple[int, ...] | None:
    # The order of axes in memory that a result keeps; None for row-major order.
    views = [x for x in arrays if x._view is not None and x.ndim == len(shape)]
    if len(shape) < 2 or not views or all(layout.shadow(x).flags.c_contiguous for x in views):
        return None
    like: list[Any] = []
    for x in arrays:
        # Elements of no size: only extents and strides count.
        s = layout.shadow(x)
        like.append(as_strided(np.empty(1, np.int8), s.shape, s.strides))
    flags: Any = [["readonly"]] * len(like) + [["writeonly", "allocate"]]
    with np.nditer([*like, None], ["zerosize_ok"], flags, order="K") as it:
        found = layout.order_of(it.operands[-1].strides, shape)
    return None if found == tuple(range(len(shape))) else found


def _ordered(x: Any, axes: tuple[int, ...]) -> Any:
    # An operand with the axes in another order.
    if not isinstance(x, lazy.ndarray) or not x.ndim:
        return x
    missing = len(axes) - x.ndim
    if missing:
        shape = (1,) * missing + x.shape
        x = x.view(lambda s: s.reshape(shape) if s.flags.c_contiguous else s[(None,) * missing])
    return layout.transposed(x, axes)


def in_order(f: Any, *given: Any) -> lazy.ndarray:
    """The result of a function of elements, in the order of memory that NumPy keeps."""
    arrays = [x for x in given if isinstance(x, lazy.ndarray)]
    for x in arrays:
        if x._view is not None and x.ndim > 1:
            break
    else:
        found: lazy.ndarray = f(*given)
        return found
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    axes = _axes(arrays, shape)
    if axes is None:
        return f(*given)  # type: ignore[no-any-return]
    return layout.transposed(f(*[_ordered(x, axes) for x in given]), layout.inverse(axes))


@near_members
class ufunc:
    """A function of elements, of NumPy's name, types and keywords.

    Operators and most functions are operations of the graph, and fused; the others are computed by the host.
    """

    def __init__(self, name: str, of: str | None = None) -> None:
        self._numpy: Any = getattr(np, of or name)
        self.__name__ = self.name = name
        self.nin, self.nout = self._numpy.nin, self._numpy.nout
        self.nargs, self.types = self._numpy.nargs, self._numpy.types
        self._is_fused = self._numpy.__name__ in elementwise.ROWS and self.nout == 1
        self.__doc__ = f"`numpy.{self._numpy.__name__}` of elements."
        # The function of the lazy arrays that is quick for known types.
        self._quick: Any = None

    def __repr__(self) -> str:
        return f"<ufunc '{self.name}'>"

    def __reduce__(self) -> Any:
        return _named, (self.name,)

    def __call__(self, *given: Any, **options: Any) -> Any:
        """The results of elements, which broadcast.

        Raises TypeError for types that it does not take, ValueError for shapes that do not fit.
        """
        if len(given) == self.nin and not options:
            return self._call([operand(x) for x in given])
        return self._with_options(given, **options)

    def _call(self, given: list[Any]) -> Any:
        if not any(isinstance(x, lazy.ndarray) for x in given):
            given = self._of_numbers(given)
        if not self._is_fused or any(self._is_other(x) for x in given) or _is_large(given):
            return hosted.call(self._numpy, *given)
        return hosted.wrap(in_order(lambda *v: elementwise.apply(self._numpy.__name__, *v), *given))

    def _of_numbers(self, given: list[Any]) -> list[Any]:
        # Numbers of Python have NumPy's types among each other.
        return [_as_array(x) for x in given]

    def _is_other(self, x: Any) -> bool:
        return isinstance(x, (lazy.ndarray, np.generic)) and (x.dtype.kind not in "biufc")

    def _with_options(
        self, given: tuple[Any, ...], out: Any = None, dtype: Any = None, casting: str = "same_kind", where: Any = True,
        order: str = "K", subok: bool = True, **others: Any,
    ) -> Any:  # fmt: skip
        if others:
            raise TypeError(f"Wrong arguments {others}")
        if not self.nin <= len(given) <= self.nargs:
            raise TypeError(f"Wrong number of arguments for {self.name}: {len(given)}")
        if len(given) > self.nin:
            if out is not None:
                raise ValueError("Cannot specify 'out' as both a positional and keyword argument")
            given, out = given[: self.nin], given[self.nin :]
        into = list(out) if isinstance(out, tuple) else [] if out is None else [out]
        outs = [x for x in into if x is not None]
        values = [operand(x) for x in given]
        if dtype is not None:
            values = self._as_loop(values, np.dtype(dtype), casting)
        elif casting == "unsafe" and len(outs) == self.nout == 1:
            # Any conversion is allowed, so that the type of the output may decide on the loop.
            asked = [x.dtype if isinstance(x, (lazy.ndarray, np.generic)) else type(x) for x in values]
            loop = self._numpy.resolve_dtypes((*asked, outs[0].dtype), casting=casting)
            values = self._converted(values, loop)
        found = self._call(values)
        if where is not True:
            old = outs[0] if outs else hosted.wrap(lazy.from_numpy(np.zeros(found.shape, found.dtype), layout.device()))
            if isinstance(found, tuple):
                raise NotImplementedError(f"where is not served for {self.name}, which has several results")
            mask = where if isinstance(where, lazy.ndarray) else _as_array(np.asarray(where))
            found = hosted.wrap(elementwise.where(mask, found, lazy.wrap(elementwise.convert(old.node(), found.dtype))))
        if not outs:
            return found
        several = found if isinstance(found, tuple) else (found,)
        into += [None] * (len(several) - len(into))
        stored = [f if o is None else stored_in(o, f, casting) for o, f in zip(into, several, strict=True)]
        return tuple(stored) if self.nout > 1 else stored[0]

    def _as_loop(self, values: list[Any], dtype: Any, casting: str) -> list[Any]:
        asked = [x.dtype if isinstance(x, (lazy.ndarray, np.generic)) else type(x) for x in values]
        signature = (*[None] * self.nin, *[dtype] * self.nout)
        try:
            loop = self._numpy.resolve_dtypes((*asked, *[None] * self.nout), signature=signature, casting=casting)
        except TypeError:
            if self.nin == 1 or np.dtype(dtype).kind != "b":
                loop = self._numpy.resolve_dtypes((*[dtype] * self.nin, *[None] * self.nout), casting=casting)
            else:
                raise
        return self._converted(values, loop)

    def _converted(self, values: list[Any], loop: Any) -> list[Any]:
        arrays = [
            _as_array(x, None if isinstance(x, (lazy.ndarray, np.generic)) else t)
            for x, t in zip(values, loop, strict=False)
        ]
        return [hosted.wrap(lazy.wrap(converted(x, t).node())) for x, t in zip(arrays, loop, strict=False)]

    # --- methods -----------------------------------------------------------------------------------------------------
    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False, **more: Any
    ) -> Any:
        """Combines elements along axes."""
        return hosted.call(self._numpy.reduce, array, axis=axis, dtype=dtype, keepdims=keepdims, out=out, **more)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Running results along an axis."""
        return hosted.call(self._numpy.accumulate, array, axis=axis, dtype=dtype, out=out)

    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Combines elements of parts of an axis."""
        return hosted.call(self._numpy.reduceat, array, indices, axis=axis, dtype=dtype, out=out)

    def outer(self, a: Any, b: Any, **options: Any) -> Any:
        """The results for all pairs of elements."""
        a, b = operand(a), operand(b)
        a, b = hosted.wrap(_as_array(a)), hosted.wrap(_as_array(b))
        return self(a[(..., *[None] * b.ndim)], b, **options)

    def at(self, a: Any, indices: Any, b: Any = None) -> None:
        """Changes elements at places, which may be there several times."""
        from lancehead.cupy import indexing

        if b is None:
            hosted.changing(self._numpy.at)(a, indices)
        else:
            indexing.scatter(a, indices, b, self._numpy.__name__)


def _is_large(given: list[Any]) -> bool:
    # Whether a number of Python is beyond the type of the other operand, for which NumPy has rules of its own.
    for x in given:
        if type(x) is int and not -128 <= x < 128 or type(x) is int and x < 0:
            kinds = [v.dtype for v in given if isinstance(v, (lazy.ndarray, np.generic)) and v.dtype.kind in "iu"]
            if any(not np.iinfo(d).min <= x <= np.iinfo(d).max for d in kinds) or not -(1 << 63) <= x < 1 << 63:
                return True
    return False


def stored_in(out: Any, found: Any, casting: str = "same_kind") -> Any:
    """An array that a result is stored in. TypeError for one that does not convert, ValueError for its shape."""
    if not isinstance(out, lazy.ndarray):
        raise TypeError(f"out is an array of the device, not {type(out).__name__}")
    if found.shape != out.shape and np.broadcast_shapes(found.shape, out.shape) != out.shape:
        raise ValueError(f"Out shape is mismatched: {found.shape} does not go into {out.shape}")
    if not np.can_cast(found.dtype, out.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(
            f"output (typecode {found.dtype.char!r}) could not be coerced to provided output parameter (typecode "
            f"{out.dtype.char!r}) according to the casting rule {casting!r}"
        )
    out.write(converted(found, out.dtype).node())
    return out


def converted(x: lazy.ndarray, dtype: np.dtype[Any]) -> lazy.ndarray:
    """An array as another type, also from complex numbers to real ones, of which the real parts are taken."""
    if x.dtype == dtype:
        return x
    if x.dtype.kind not in "biufc" or dtype.kind not in "biufc":
        return layout.placed(layout.host(x).astype(dtype))
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        x = elementwise.real(x)
    elif x.dtype.kind == "c" and dtype.kind == "b":
        return elementwise.not_equal(x, 0)
    return lazy.wrap(elementwise.convert(x.node(), dtype))


def _named(name: str) -> ufunc:
    found: ufunc = getattr(layout.NAMESPACE[0], name)
    return found


absolute, add, arccos, arccosh, arcsin = map(ufunc, ("absolute", "add", "arccos", "arccosh", "arcsin"))
arcsinh, arctan, arctan2, arctanh, bitwise_and = map(ufunc, ("arcsinh", "arctan", "arctan2", "arctanh", "bitwise_and"))
bitwise_count, bitwise_or, bitwise_xor, cbrt = map(ufunc, ("bitwise_count", "bitwise_or", "bitwise_xor", "cbrt"))
ceil, conjugate, copysign, cos, cosh, deg2rad = map(ufunc, ("ceil", "conjugate", "copysign", "cos", "cosh", "deg2rad"))
degrees, divide, divmod, equal, exp, exp2 = map(ufunc, ("degrees", "divide", "divmod", "equal", "exp", "exp2"))
expm1, fabs, float_power, floor, floor_divide = map(ufunc, ("expm1", "fabs", "float_power", "floor", "floor_divide"))
fmax, fmin, fmod, frexp, gcd, greater = map(ufunc, ("fmax", "fmin", "fmod", "frexp", "gcd", "greater"))
greater_equal, heaviside, hypot, invert = map(ufunc, ("greater_equal", "heaviside", "hypot", "invert"))
isfinite, isinf, isnan, lcm, ldexp = map(ufunc, ("isfinite", "isinf", "isnan", "lcm", "ldexp"))
left_shift, less, less_equal, log, log10 = map(ufunc, ("left_shift", "less", "less_equal", "log", "log10"))
log1p, log2, logaddexp, logaddexp2 = map(ufunc, ("log1p", "log2", "logaddexp", "logaddexp2"))
logical_and, logical_not, logical_or = map(ufunc, ("logical_and", "logical_not", "logical_or"))
logical_xor, maximum, minimum, modf, multiply = map(ufunc, ("logical_xor", "maximum", "minimum", "modf", "multiply"))
negative, nextafter, not_equal, positive = map(ufunc, ("negative", "nextafter", "not_equal", "positive"))
power, rad2deg, radians, reciprocal, remainder = map(ufunc, ("power", "rad2deg", "radians", "reciprocal", "remainder"))
right_shift, rint, sign, signbit, sin, sinh = map(ufunc, ("right_shift", "rint", "sign", "signbit", "sin", "sinh"))
spacing, sqrt, square, subtract, tan, tanh = map(ufunc, ("spacing", "sqrt", "square", "subtract", "tan", "tanh"))
trunc = ufunc("trunc")
true_divide = divide

__all__ = [
    "absolute", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "bitwise_and",
    "bitwise_count", "bitwise_or", "bitwise_xor", "cbrt", "ceil", "conjugate", "copysign", "cos", "cosh", "deg2rad",
    "degrees", "divide", "divmod", "equal", "exp", "exp2", "expm1", "fabs", "float_power", "floor", "floor_divide",
    "fmax", "fmin", "fmod", "frexp", "gcd", "greater", "greater_equal", "heaviside", "hypot", "invert", "isfinite",
    "isinf", "isnan", "lcm", "ldexp", "left_shift", "less", "less_equal", "log", "log1p", "log2", "log10", "logaddexp",
    "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "modf", "multiply",
    "negative", "nextafter", "not_equal", "positive", "power", "rad2deg", "radians", "reciprocal", "remainder",
    "right_shift", "rint", "sign", "signbit", "sin", "sinh", "spacing", "sqrt", "square", "subtract", "tan", "tanh",
    "true_divide", "trunc", "ufunc",
]  # fmt: skip
