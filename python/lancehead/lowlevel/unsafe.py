"""Numba's functions that compiled code of extensions calls where Python has no word for it: tuples of a length that an
array or a constant gives, bits of numbers. They are the names of `numba.cpython.unsafe` and `numba.np.unsafe`."""

from __future__ import annotations

from typing import Any

from lancehead import errors, types
from lancehead.extending import overload
from lancehead.lib import prim
from lancehead.lowlevel.registry import intrinsic


def tuple_setitem(tup: Any, idx: int, val: Any) -> Any:
    """The tuple with another item at a position, converted to the type of the item there.

    >>> tuple_setitem((1, 2, 3), 1, 9)
    (1, 9, 3)
    """
    return tup[:idx] + (val,) + tup[idx + 1 :]


@overload(tuple_setitem)
def _tuple_setitem(tup: Any, idx: Any, val: Any) -> Any:
    if not isinstance(tup, types.UniTuple):
        raise errors.TypingError(f"`tuple_setitem` takes a tuple of items of one type, not {tup}")
    of = tup.dtype  # type: ignore[attr-defined]
    return lambda tup, idx, val: prim.tuple_set(tup, idx, prim.as_type(val, of))


def to_fixed_tuple(array: Any, length: int) -> Any:
    """The first so many items of an array as a tuple.

    >>> to_fixed_tuple([4, 5, 6], 2)
    (4, 5)
    """
    return tuple(array[:length])


@overload(to_fixed_tuple)
def _to_fixed_tuple(array: Any, length: Any) -> Any:
    count = _literal(length, "length")
    if array.ndim != 1:
        raise errors.TypingError(f"Not supported on array.ndim={array.ndim}")
    texts = "".join(f"array[{i}], " for i in range(count))
    return eval(f"lambda array, length: ({texts})")


def build_full_slice_tuple(sz: int) -> tuple[slice, ...]:
    """A tuple of so many slices of everything.

    >>> build_full_slice_tuple(2)
    (slice(None, None, None), slice(None, None, None))
    """
    return (slice(None, None),) * sz


@overload(build_full_slice_tuple)
def _build_full_slice_tuple(sz: Any) -> Any:
    texts = "slice(None, None), " * _literal(sz, "sz")
    return eval(f"lambda sz: ({texts})")


def _literal(of: Any, name: str) -> int:
    """The value of a literal type, which callers are asked for."""
    if not isinstance(of, types.IntegerLiteral):
        raise errors.RequireLiteralValue(f"*{name}* argument must be a constant")
    return int(of.literal_value)  # type: ignore[attr-defined]


def unpack_single_tuple(tup: Any) -> Any:
    """The tuple itself, which is what `(*tup,)` is."""
    return tup


@overload(unpack_single_tuple)
def _unpack_single_tuple(tup: Any) -> Any:
    if not isinstance(tup, types.BaseTuple):
        raise errors.UnsupportedError(f"Only tuples are supported when unpacking a single item, got type: {tup}")
    return lambda tup: tup


@intrinsic
def viewer(typingctx: Any, val: Any, viewty: Any) -> Any:
    """The bits of a number as a number of another class."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(viewty.dtype))

    return viewty.dtype(val, viewty), generate


def _count(name: str) -> Any:
    def typed(typingctx: Any, src: Any) -> Any:
        if not isinstance(src, types.Integer):
            raise errors.NumbaTypeError(f"{name} is only defined for integers, but value passed was '{src}'.")
        row = "cttz" if name == "trailing_zeros" else "ctlz"
        return src(src), lambda context, builder, sig, args: getattr(builder, row)(args[0])

    typed.__name__, typed.__doc__ = name, f"The number of {name.replace('_', ' ')} of an integer."
    return intrinsic(typed)


trailing_zeros, leading_zeros = _count("trailing_zeros"), _count("leading_zeros")


def ensure_parallel_support() -> None:
    """Raises where parallel loops do not exist; they do everywhere."""


__all__ = [
    "build_full_slice_tuple", "ensure_parallel_support", "leading_zeros", "to_fixed_tuple", "trailing_zeros",
    "tuple_setitem", "unpack_single_tuple", "viewer",
]  # fmt: skip
