"""Functions of elements, and the operators of arrays."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead.caches import Cache
from lancehead.xp import dtypes, places
from lancehead.xp.arrays import binary, broadcast, from_numpy, known, lazy, ndarray, set_operators, unary, wrap
from lancehead.xp.devices import by_kernels
from lancehead.xp.graph import Node, Op, leaf, made, number, op
from lancehead.xp.rows import Element, Kind, Row

_NUMBERS = (bool, int, float, complex)
_VALUES = (np.ndarray, np.generic, str, bytes)


def as_node(x: Any, dtype: np.dtype[Any] | None = None) -> Node:
    """The node of an array or a Python number; TypeError for anything else."""
    if isinstance(x, ndarray):
        found: Node = x.node()
        return found
    if isinstance(x, _NUMBERS):
        return number(x, dtype)
    if isinstance(x, _VALUES):
        node: Node = lifted(x).node()
        return node
    raise TypeError(f"an array is needed, not {type(x).__name__}; write asarray(x)")


def lifted(x: Any) -> Any:
    """An array of an array or a scalar of NumPy, or of a text, with the values of now; anything else as it is."""
    if isinstance(x, _VALUES) and not isinstance(x, _NUMBERS):
        value = np.array(x, order="C")
        return from_numpy(value.astype(dtypes.as_dtype(value.dtype), copy=False))
    return x


def operands(*given: Any) -> list[Node]:
    """Nodes of arrays and numbers; one of Python gets the type of the arrays, where that holds it.

    Raises TypeError for anything else, or if there is no array.
    """
    if set(map(type, given)) == {ndarray}:
        return [x._node if x._view is None else x._view.node() for x in given]
    given = tuple(map(lifted, given))
    arrays = [x.dtype for x in given if isinstance(x, ndarray)]
    if not arrays:
        raise TypeError("at least one operand must be an array")
    for x in given:
        if not isinstance(x, (ndarray, *_NUMBERS)):
            raise TypeError(f"an operand is an array or a number, not {type(x).__name__}; write asarray(x)")
    if len(arrays) == len(given):
        return [x.node() for x in given]
    # Records say nothing of numbers.
    plain = [d for d in arrays if d.fields is None]
    common = np.result_type(*plain) if plain else dtypes.bool
    return [x.node() if isinstance(x, ndarray) else number(x, _number_type(common, x)) for x in given]


def _number_type(common: np.dtype[Any], x: Any) -> np.dtype[Any]:
    # Only the kind of a number counts. Beside dates and spans it stays a number.
    kind = type(x)
    if common.kind in "mM":
        return np.dtype(kind)
    if kind not in (bool, int, float, complex):
        return np.result_type(common, x)
    found = _NUMBER_TYPES.get((common, kind))
    if found is None:
        found = _NUMBER_TYPES[common, kind] = np.result_type(common, kind(0))
    return found


_NUMBER_TYPES: Cache[Any, np.dtype[Any]] = Cache(1024)


def convert(node: Node, dtype: np.dtype[Any]) -> Node:
    """A node's contents as another type."""
    if node.dtype == dtype:
        return node
    if node.value is not None and not node.shape and (node.device is None or node.device.number is None):
        return leaf(np.asarray(node.value.astype(dtype)), node.device)
    is_here = node.device is None or node.device.number is None
    known = _CONVERSIONS.get(dtype) if is_here else None
    if known is not None:
        return Node(known, (node,), node.shape, dtype)
    static = (dtypes.text(dtype),)
    found = made(_ASTYPE, _astype, (node,), node.shape, dtype, static=static, is_fresh=True)
    if is_here and dtype.kind in "biufc":
        _CONVERSIONS[dtype] = found.op
    return found


_ASTYPE = Row("astype", Kind.ELEMENTWISE, element=Element.CAST, is_portable=True)
#: Operations of conversions by types. They raise no errors, so that their places do not matter.
_CONVERSIONS: Cache[np.dtype[Any], Op] = Cache(64)


def _astype(a: str, name: str) -> str:
    return f"np.asarray({a}).astype({name})"


#: The operation and the type of the result of a function for types of operands.
_RESOLVED: Cache[Any, tuple[Op, np.dtype[Any]]] = Cache(4096)


def apply(name: str, *given: Any) -> ndarray:
    """The result of a function of elements of NumPy, which has the name; TypeError for types that it does not take."""
    nodes = operands(*given)
    key = (name, *[n.dtype for n in nodes])
    found = _RESOLVED.get(key)
    if found is None:
        f = getattr(np, name)
        dtype = f.resolve_dtypes((*(n.dtype for n in nodes), *([None] * f.nout)))[f.nin]
        found = _RESOLVED[key] = op(ROWS[name], _call, (name,), is_fresh=True), dtype
    shape = nodes[0].shape
    for n in nodes:
        if n.shape != shape:
            shape = broadcast(shape, n.shape)
    return ndarray(Node(found[0], tuple(nodes), shape, found[1]))


def _call(*given: str) -> str:
    *names, name = given
    return f"np.{name}({', '.join(names)})"


#: Rows of functions of elements, and the names of our functions, by NumPy's names.
ROWS: dict[str, Row] = {}
_OURS: dict[str, str] = {}


def _declare(name: str, numpy: str, columns: dict[str, Any]) -> None:
    _OURS[numpy] = name
    ROWS[numpy] = Row(numpy, Kind.ELEMENTWISE, element=Element.UFUNC, is_portable=True, **columns)


def _unary(name: str, numpy: str, is_rounding: bool = False, **columns: Any) -> Callable[[ndarray], ndarray]:
    _declare(name, numpy, columns)

    def slow(x: Any, /) -> ndarray:
        if is_rounding and x.dtype in dtypes.INTEGRAL:
            return wrap(x.node())
        result = apply(numpy, x)
        known(name)[x.dtype] = result._node.op, result.dtype
        return result

    slow.__name__ = slow.__qualname__ = name
    slow.__doc__ = f"The result of `numpy.{numpy}` for each element. Raises TypeError for types that it does not take."
    return unary(name, slow)


def _binary(
    name: str, numpy: str, by_number: Callable[[ndarray, Any], ndarray | None] | None = None, **columns: Any
) -> Callable[[Any, Any], ndarray]:
    # `by_number` may have another way for some numbers as second operands, which are looked at each time.
    _declare(name, numpy, columns)
    may_raise = ROWS[numpy].may_raise

    def slow(x1: Any, x2: Any, /) -> ndarray:
        x1, x2 = lifted(x1), lifted(x2)
        is_looked_at = by_number is not None and isinstance(x2, _NUMBERS)
        special = by_number(x1, x2) if by_number is not None and is_looked_at else None
        if special is not None:
            return special
        result = apply(numpy, x1, x2)
        node = result._node
        if may_raise and node.dtype in dtypes.INTEGRAL:
            # Negative powers are errors when the value is computed.
            node.place = places.here()
            return result
        if is_looked_at:
            return result
        key = tuple([x.dtype if isinstance(x, ndarray) else type(x) for x in (x1, x2)])
        numbers = [n.dtype for n, x in zip(node.inputs, (x1, x2), strict=True) if not isinstance(x, ndarray)]
        found = node.op, node.dtype, *numbers
        known(name)[key] = found
        # A class of numbers equals the data type that NumPy makes of it.
        if not numbers and key[0] == key[1]:
            known(name)[key[0]] = found
        return result

    slow.__name__ = slow.__qualname__ = name
    slow.__doc__ = (
        f"The result of `numpy.{numpy}` for elements of both, which broadcast. Raises TypeError for types that it does "
        "not take, ValueError for shapes that do not fit."
    )
    return binary(name, slow)


def _comparison(name: str, with_outside: Callable[[bool], bool]) -> Callable[[Any, Any], ndarray]:
    # A comparison, and its answer for integers and a number above or below all that their type holds.
    compared = _binary(name, name)

    def f(x1: Any, x2: Any, /) -> ndarray:
        try:
            return compared(x1, x2)
        except OverflowError:
            x, n = (x1, x2) if isinstance(x1, ndarray) else (x2, x1)
            if not isinstance(x, ndarray) or x.dtype not in dtypes.INTEGRAL or not isinstance(n, int):
                raise
            # All are true, or none.
            return apply("equal" if with_outside((n > 0) == (x is x1)) else "not_equal", x, x)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = compared.__doc__
    return f


abs = _unary("abs", "absolute")
acos = _unary("acos", "arccos", nanoseconds=10.0)
acosh = _unary("acosh", "arccosh")
asin = _unary("asin", "arcsin", nanoseconds=10.0)
asinh = _unary("asinh", "arcsinh")
atan = _unary("atan", "arctan", nanoseconds=10.0)
atanh = _unary("atanh", "arctanh")
bitwise_invert = _unary("bitwise_invert", "invert")
ceil = _unary("ceil", "ceil", is_rounding=True)
conj = _unary("conj", "conjugate")
cos = _unary("cos", "cos", nanoseconds=3.0)
cosh = _unary("cosh", "cosh", nanoseconds=10.0)
exp = _unary("exp", "exp", nanoseconds=1.0)
expm1 = _unary("expm1", "expm1", nanoseconds=3.0)
floor = _unary("floor", "floor", is_rounding=True)
isfinite = _unary("isfinite", "isfinite")
isinf = _unary("isinf", "isinf")
isnan = _unary("isnan", "isnan")
log = _unary("log", "log", nanoseconds=1.0)
log10 = _unary("log10", "log10", nanoseconds=1.0)
log1p = _unary("log1p", "log1p", nanoseconds=3.0)
log2 = _unary("log2", "log2", nanoseconds=1.0)
logical_not = _unary("logical_not", "logical_not")
negative = _unary("negative", "negative")
positive = _unary("positive", "positive")
reciprocal = _unary("reciprocal", "reciprocal")
round = _unary("round", "rint", is_rounding=True)
sign = _unary("sign", "sign")
signbit = _unary("signbit", "signbit")
sin = _unary("sin", "sin", nanoseconds=3.0)
sinh = _unary("sinh", "sinh", nanoseconds=10.0)
sqrt = _unary("sqrt", "sqrt", nanoseconds=1.0)
square = _unary("square", "square", is_product=True)
tan = _unary("tan", "tan", nanoseconds=3.0)
tanh = _unary("tanh", "tanh", nanoseconds=3.0)
trunc = _unary("trunc", "trunc", is_rounding=True)
add = _binary("add", "add")
atan2 = _binary("atan2", "arctan2", nanoseconds=10.0)
bitwise_and = _binary("bitwise_and", "bitwise_and")
bitwise_left_shift = _binary("bitwise_left_shift", "left_shift")
bitwise_or = _binary("bitwise_or", "bitwise_or")
bitwise_right_shift = _binary("bitwise_right_shift", "right_shift")
bitwise_xor = _binary("bitwise_xor", "bitwise_xor")
copysign = _binary("copysign", "copysign")
divide = _binary("divide", "divide", nanoseconds=1.0)
equal = _comparison("equal", lambda _: False)
floor_divide = _binary("floor_divide", "floor_divide", nanoseconds=3.0)
greater = _comparison("greater", lambda is_above: not is_above)
greater_equal = _comparison("greater_equal", lambda is_above: not is_above)
hypot = _binary("hypot", "hypot", nanoseconds=1.0)
less = _comparison("less", lambda is_above: is_above)
less_equal = _comparison("less_equal", lambda is_above: is_above)
logaddexp = _binary("logaddexp", "logaddexp")
logical_and = _binary("logical_and", "logical_and")
logical_or = _binary("logical_or", "logical_or")
logical_xor = _binary("logical_xor", "logical_xor")
maximum = _binary("maximum", "maximum")
minimum = _binary("minimum", "minimum")
multiply = _binary("multiply", "multiply", is_product=True)
nextafter = _binary("nextafter", "nextafter")
not_equal = _comparison("not_equal", lambda _: True)


def _by_exponent(x: Any, n: Any) -> ndarray | None:
    # Powers that are products, and square roots, as NumPy and compiled code have them.
    kind = x.dtype.kind if isinstance(x, ndarray) else ""
    if n == 2 and (kind in "fc" or (kind in "iu" and type(n) is int)):
        return square(x)
    if kind != "f" or n not in (0.5, 3, 4):
        return None
    half = sqrt(x) if n == 0.5 else square(x)
    return half if n == 0.5 else multiply(half, x) if n == 3 else square(half)


_pow = _binary("pow", "power", _by_exponent, nanoseconds=10.0, may_raise=True)
remainder = _binary("remainder", "remainder", nanoseconds=3.0)
subtract = _binary("subtract", "subtract")


def pow(x1: Any, x2: Any, /) -> ndarray:
    """The result of `numpy.power` for elements of both, which broadcast.

    Raises TypeError for truth values, ValueError for shapes that do not fit and for negative integer powers of
    integers, of arrays when the value is computed.
    """
    if type(x2) is int and x2 < 0 and x1.dtype in dtypes.INTEGRAL:
        raise ValueError("Integers to negative integer powers are not allowed.")
    return _pow(x1, x2)


def real(x: ndarray, /) -> ndarray:
    """Real parts."""
    return _part(x, _REAL)


def imag(x: ndarray, /) -> ndarray:
    """Imaginary parts, of complex numbers only."""
    if x.dtype not in dtypes.COMPLEX:
        raise TypeError(f"imag takes complex numbers, not {x.dtype}")
    return _part(x, _IMAG)


_REAL = Row("real", Kind.ELEMENTWISE, element=Element.PART_OF_COMPLEX, is_portable=True)
_IMAG = Row("imag", Kind.ELEMENTWISE, element=Element.PART_OF_COMPLEX, is_portable=True)


def _part(x: ndarray, row: Row) -> ndarray:
    node = as_node(x)
    if x.dtype not in dtypes.COMPLEX:
        return wrap(node)
    dtype = dtypes.float32 if x.dtype == dtypes.complex64 else dtypes.float64
    return wrap(made(row, _part_of, (node,), node.shape, dtype, static=(row.name,)))


def _part_of(a: str, which: str) -> str:
    return f"np.{which}({a})"


def clip(x: ndarray, /, min: Any = None, max: Any = None) -> ndarray:
    """Elements within bounds, numbers or arrays that broadcast; the type stays."""
    dtype = x.dtype
    if min is not None and max is not None and dtype.kind in "iuf":
        a, low, high = x.node(), _bound_node(min, dtype), _bound_node(max, dtype)
        if low.dtype == dtype == high.dtype and not by_kernels(a, low, high):
            shape = a.shape
            for bound in (low, high):
                if bound.shape and bound.shape != shape:
                    shape = broadcast(shape, bound.shape)
            return wrap(made(_CLIP, _clipped, (a, low, high), shape, dtype, is_fresh=True))
    out = x if min is None else maximum(x, _bound(min, dtype))
    out = out if max is None else minimum(out, _bound(max, dtype))
    return wrap(out.node()) if out is x else out


#: Both bounds at once; on devices, and with one bound, it is the functions of which it consists.
_CLIP = Row("clip", Kind.ELEMENTWISE)


def _clipped(a: str, low: str, high: str) -> str:
    return f"np.minimum(np.maximum({a}, {low}), {high})"


def _bound_node(bound: Any, dtype: np.dtype[Any]) -> Node:
    if type(bound) is float and dtype.kind == "f":
        return number(bound, dtype)
    bound = _bound(bound, dtype)
    return number(bound, _number_type(dtype, bound)) if isinstance(bound, _NUMBERS) else as_node(bound)


def _bound(bound: Any, dtype: np.dtype[Any]) -> Any:
    # A bound as the type: integers stay integers.
    if isinstance(bound, ndarray):
        return wrap(convert(bound.node(), dtype))
    if dtype not in dtypes.INTEGRAL:
        return bound
    # A bound outside of the type bounds nothing, or is the type's own.
    info = np.iinfo(dtype)
    if isinstance(bound, float):
        if bound != bound or (math.isfinite(bound) and bound != int(bound)):
            raise TypeError(f"integers stay integers: a bound is an integer, not {bound}")
        bound = builtins.min(builtins.max(bound, -1e20), 1e20)
    return builtins.min(builtins.max(int(bound), int(info.min)), int(info.max))


def where(condition: ndarray, x1: Any, x2: Any, /) -> ndarray:
    """Elements of `x1` where the condition is true, else of `x2`."""
    if type(condition) is ndarray and type(x1) is ndarray and type(x2) is ndarray:
        m, a, b = condition.node(), x1.node(), x2.node()
        op = _CHOICES.get(a.dtype)
        if op is not None and b.dtype is a.dtype and m.dtype is dtypes.bool and a.device is b.device is m.device:
            shape = a.shape if a.shape == b.shape else broadcast(a.shape, b.shape)
            shape = shape if shape == m.shape else broadcast(m.shape, shape)
            found = lazy(op, (m, a, b), shape, a.dtype, a.device)
            found._node.place = places.here()
            return found
    if condition.dtype != dtypes.bool:
        raise TypeError(f"a condition is of truth values, not {condition.dtype}")
    if not isinstance(x1, ndarray) and not isinstance(x2, ndarray):
        dtype = np.result_type(x1, x2)
        a, b = as_node(x1, dtype), as_node(x2, dtype)
    else:
        a, b = operands(x1, x2)
    dtype = dtypes.as_dtype(np.result_type(a.dtype, b.dtype))
    shape = np.broadcast_shapes(condition.shape, a.shape, b.shape)
    found = chosen(as_node(condition), convert(a, dtype), convert(b, dtype), shape)
    if not by_kernels(found._node):
        _CHOICES[dtype] = found._node.op
    return found


def chosen(condition: Node, a: Node, b: Node, shape: tuple[int, ...]) -> ndarray:
    """Elements of one of two nodes of one type, in a shape."""
    return wrap(made(_WHERE, _chosen, (condition, a, b), shape, a.dtype, is_fresh=True))


_WHERE = Row("where", Kind.ELEMENTWISE, element=Element.CHOICE, is_portable=True)
#: Its operations by types of elements.
_CHOICES: Cache[np.dtype[Any], Op] = Cache(1024)


def _chosen(m: str, a: str, b: str) -> str:
    return f"np.where({m}, {a}, {b})"


def change(x: ndarray, f: Callable[[Any, Any], ndarray], other: Any) -> ndarray:
    """An operator in place. TypeError for a result of a type that the array does not take, ValueError for its shape."""
    found = f(x, other)
    if found.dtype != x.dtype and not np.can_cast(found.dtype, x.dtype, "same_kind"):
        raise TypeError(f"a result of {found.dtype} does not go into an array of {x.dtype}")
    if found.shape != x.shape:
        raise ValueError(f"a result of shape {found.shape} does not go into an array of shape {x.shape}")
    x.write(convert(found.node(), x.dtype))
    return x


def of_numpy(name: str) -> Callable[..., ndarray] | None:
    """The function that a ufunc of NumPy is here, if there is one."""
    return globals().get(_OURS.get(name, ""))


set_operators(
    abs=abs, add=add, bitwise_and=bitwise_and, bitwise_invert=bitwise_invert, bitwise_left_shift=bitwise_left_shift,
    bitwise_or=bitwise_or, bitwise_right_shift=bitwise_right_shift, bitwise_xor=bitwise_xor, change=change,
    divide=divide, equal=equal, floor_divide=floor_divide, greater=greater, greater_equal=greater_equal, less=less,
    less_equal=less_equal, multiply=multiply, negative=negative, not_equal=not_equal, positive=positive, pow=pow,
    remainder=remainder, subtract=subtract,
)  # fmt: skip

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "clip", "conj", "copysign",
    "cos", "cosh", "divide", "equal", "exp", "expm1", "floor", "floor_divide", "greater", "greater_equal", "hypot",
    "imag", "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp",
    "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative",
    "nextafter", "not_equal", "positive", "pow", "real", "reciprocal", "remainder", "round", "sign", "signbit",
    "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc", "where",
]  # fmt: skip
