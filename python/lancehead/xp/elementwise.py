"""Functions of elements, and the operators of arrays."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from lancehead.xp import dtypes, places
from lancehead.xp.array import OPERATORS, from_numpy, ndarray, wrap
from lancehead.xp.graph import Kind, Node, Op, leaf, made, number, op

_NUMBERS = (bool, int, float, complex)
_VALUES = (np.ndarray, np.generic, str, bytes)


def as_node(x: Any, dtype: np.dtype[Any] | None = None) -> Node:
    """The node of an array or a Python number; TypeError for anything else."""
    if isinstance(x, ndarray):
        return x.node()
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
    given = tuple(map(lifted, given))
    arrays = [x.dtype for x in given if isinstance(x, ndarray)]
    if not arrays:
        raise TypeError("at least one operand must be an array")
    for x in given:
        if not isinstance(x, (ndarray, *_NUMBERS)):
            raise TypeError(f"an operand is an array or a number, not {type(x).__name__}; write asarray(x)")
    if len(arrays) == len(given):
        return [x.node() for x in given]
    common = np.result_type(*arrays)
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


_NUMBER_TYPES: dict[Any, np.dtype[Any]] = {}


def convert(node: Node, dtype: np.dtype[Any]) -> Node:
    """A node's contents as another type."""
    if node.dtype == dtype:
        return node
    if node.value is not None and not node.shape and (node.device is None or node.device.number is None):
        return leaf(np.asarray(node.value.astype(dtype)), node.device)
    static = (dtypes.text(dtype),)
    return made("astype", _astype, (node,), node.shape, dtype, static=static, is_fresh=True, kind=Kind.ELEMENTWISE)


def _astype(a: str, name: str) -> str:
    return f"np.asarray({a}).astype({name})"


#: The operation and the type of the result of a function for types of operands.
_RESOLVED: dict[Any, tuple[Op, np.dtype[Any]]] = {}


def apply(name: str, *given: Any) -> ndarray:
    """The result of a function of elements of NumPy, which has the name; TypeError for types that it does not take."""
    nodes = operands(*given)
    key = (name, *[n.dtype for n in nodes])
    found = _RESOLVED.get(key)
    if found is None:
        f = getattr(np, name)
        dtype = f.resolve_dtypes((*(n.dtype for n in nodes), *([None] * f.nout)))[f.nin]
        found = _RESOLVED[key] = op(name, _call, (name,), is_fresh=True, kind=Kind.ELEMENTWISE), dtype
    shape = nodes[0].shape
    for n in nodes:
        if n.shape != shape:
            shape = np.broadcast_shapes(*[n.shape for n in nodes])
            break
    return ndarray(Node(found[0], tuple(nodes), shape, found[1]))


def _call(*given: str) -> str:
    *names, name = given
    return f"np.{name}({', '.join(names)})"


def _unary(name: str, numpy: str) -> Callable[[ndarray], ndarray]:
    is_rounding = numpy in ("ceil", "floor", "trunc", "rint")

    known: dict[Any, Any] = {}

    def f(x: ndarray, /) -> ndarray:
        if type(x) is ndarray:
            a = x._node if x._view is None else x._view.node()
            found = known.get(a.dtype)
            if found is not None:
                return ndarray(Node(found[0], (a,), a.shape, found[1]))
        if is_rounding and x.dtype in dtypes.INTEGRAL:
            return wrap(x.node())
        result = apply(numpy, x)
        known[x.dtype] = result._node.op, result.dtype
        return result

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The result of `numpy.{numpy}` for each element. Raises TypeError for types that it does not take."
    return f


def _binary(name: str, numpy: str) -> Callable[[Any, Any], ndarray]:
    # The operation and the type of the result for types of operands that have been there; of a number the type that it
    # gets, too.
    known: dict[Any, Any] = {}

    def f(x1: Any, x2: Any, /) -> ndarray:
        one, other = type(x1), type(x2)
        if one is ndarray:
            a = x1._node if x1._view is None else x1._view.node()
            if other is ndarray:
                b = x2._node if x2._view is None else x2._view.node()
                found = known.get((a.dtype, b.dtype))
                if found is not None:
                    shape = a.shape if a.shape == b.shape else np.broadcast_shapes(a.shape, b.shape)
                    return ndarray(Node(found[0], (a, b), shape, found[1]))
            else:
                found = known.get((a.dtype, other))
                if found is not None:
                    return ndarray(Node(found[0], (a, number(x2, found[2])), a.shape, found[1]))
        elif other is ndarray:
            b = x2._node if x2._view is None else x2._view.node()
            found = known.get((one, b.dtype))
            if found is not None:
                return ndarray(Node(found[0], (number(x1, found[2]), b), b.shape, found[1]))
        x1, x2 = lifted(x1), lifted(x2)
        result = apply(numpy, x1, x2)
        node = result._node
        key = tuple([x.dtype if isinstance(x, ndarray) else type(x) for x in (x1, x2)])
        numbers = [n.dtype for n, x in zip(node.inputs, (x1, x2), strict=True) if not isinstance(x, ndarray)]
        known[key] = node.op, node.dtype, *numbers
        return result

    f.__name__ = f.__qualname__ = name
    f.__doc__ = (
        f"The result of `numpy.{numpy}` for elements of both, which broadcast. Raises TypeError for types that it does "
        "not take, ValueError for shapes that do not fit."
    )
    return f


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
acos = _unary("acos", "arccos")
acosh = _unary("acosh", "arccosh")
asin = _unary("asin", "arcsin")
asinh = _unary("asinh", "arcsinh")
atan = _unary("atan", "arctan")
atanh = _unary("atanh", "arctanh")
bitwise_invert = _unary("bitwise_invert", "invert")
ceil = _unary("ceil", "ceil")
conj = _unary("conj", "conjugate")
cos = _unary("cos", "cos")
cosh = _unary("cosh", "cosh")
exp = _unary("exp", "exp")
expm1 = _unary("expm1", "expm1")
floor = _unary("floor", "floor")
isfinite = _unary("isfinite", "isfinite")
isinf = _unary("isinf", "isinf")
isnan = _unary("isnan", "isnan")
log = _unary("log", "log")
log10 = _unary("log10", "log10")
log1p = _unary("log1p", "log1p")
log2 = _unary("log2", "log2")
logical_not = _unary("logical_not", "logical_not")
negative = _unary("negative", "negative")
positive = _unary("positive", "positive")
reciprocal = _unary("reciprocal", "reciprocal")
round = _unary("round", "rint")
sign = _unary("sign", "sign")
signbit = _unary("signbit", "signbit")
sin = _unary("sin", "sin")
sinh = _unary("sinh", "sinh")
sqrt = _unary("sqrt", "sqrt")
square = _unary("square", "square")
tan = _unary("tan", "tan")
tanh = _unary("tanh", "tanh")
trunc = _unary("trunc", "trunc")
add = _binary("add", "add")
atan2 = _binary("atan2", "arctan2")
bitwise_and = _binary("bitwise_and", "bitwise_and")
bitwise_left_shift = _binary("bitwise_left_shift", "left_shift")
bitwise_or = _binary("bitwise_or", "bitwise_or")
bitwise_right_shift = _binary("bitwise_right_shift", "right_shift")
bitwise_xor = _binary("bitwise_xor", "bitwise_xor")
copysign = _binary("copysign", "copysign")
divide = _binary("divide", "divide")
equal = _comparison("equal", lambda _: False)
floor_divide = _binary("floor_divide", "floor_divide")
greater = _comparison("greater", lambda is_above: not is_above)
greater_equal = _comparison("greater_equal", lambda is_above: not is_above)
hypot = _binary("hypot", "hypot")
less = _comparison("less", lambda is_above: is_above)
less_equal = _comparison("less_equal", lambda is_above: is_above)
logaddexp = _binary("logaddexp", "logaddexp")
logical_and = _binary("logical_and", "logical_and")
logical_or = _binary("logical_or", "logical_or")
logical_xor = _binary("logical_xor", "logical_xor")
maximum = _binary("maximum", "maximum")
minimum = _binary("minimum", "minimum")
multiply = _binary("multiply", "multiply")
nextafter = _binary("nextafter", "nextafter")
not_equal = _comparison("not_equal", lambda _: True)
_pow = _binary("pow", "power")
remainder = _binary("remainder", "remainder")
subtract = _binary("subtract", "subtract")


def pow(x1: Any, x2: Any, /) -> ndarray:
    """The result of `numpy.power` for elements of both, which broadcast.

    Raises TypeError for truth values, ValueError for shapes that do not fit and for negative integer powers of
    integers, of arrays when the value is computed.
    """
    if type(x2) is int and x2 < 0 and x1.dtype in dtypes.INTEGRAL:
        raise ValueError("Integers to negative integer powers are not allowed.")
    found = _pow(x1, x2)
    if found.dtype in dtypes.INTEGRAL:
        found._node.place = places.here()
    return found


def real(x: ndarray, /) -> ndarray:
    """Real parts."""
    return _part(x, "real")


def imag(x: ndarray, /) -> ndarray:
    """Imaginary parts, of complex numbers only."""
    if x.dtype not in dtypes.COMPLEX:
        raise TypeError(f"imag takes complex numbers, not {x.dtype}")
    return _part(x, "imag")


def _part(x: ndarray, which: str) -> ndarray:
    node = as_node(x)
    if x.dtype not in dtypes.COMPLEX:
        return wrap(node)
    dtype = dtypes.float32 if x.dtype == dtypes.complex64 else dtypes.float64
    return wrap(made(which, _part_of, (node,), node.shape, dtype, static=(which,), kind=Kind.ELEMENTWISE))


def _part_of(a: str, which: str) -> str:
    return f"np.{which}({a})"


def clip(x: ndarray, /, min: Any = None, max: Any = None) -> ndarray:
    """Elements within bounds, numbers or arrays that broadcast; the type stays."""
    out, dtype = x, x.dtype
    for bound, name in ((min, "maximum"), (max, "minimum")):
        if bound is not None:
            if isinstance(bound, ndarray):
                bound = wrap(convert(bound.node(), dtype))
            elif dtype in dtypes.INTEGRAL:
                # A bound outside of the type bounds nothing, or is the type's own.
                info = np.iinfo(dtype)
                if isinstance(bound, float):
                    if bound != bound or (math.isfinite(bound) and bound != int(bound)):
                        raise TypeError(f"integers stay integers: a bound is an integer, not {bound}")
                    bound = builtins.min(builtins.max(bound, -1e20), 1e20)
                bound = builtins.min(builtins.max(int(bound), int(info.min)), int(info.max))
            out = apply(name, out, bound)
    return wrap(out.node()) if out is x else out


def change(x: ndarray, f: Callable[[Any, Any], ndarray], other: Any) -> ndarray:
    """An operator in place. TypeError for a result of a type that the array does not take, ValueError for its shape."""
    found = f(x, other)
    if found.dtype != x.dtype and not np.can_cast(found.dtype, x.dtype, "same_kind"):
        raise TypeError(f"a result of {found.dtype} does not go into an array of {x.dtype}")
    if found.shape != x.shape:
        raise ValueError(f"a result of shape {found.shape} does not go into an array of shape {x.shape}")
    x.write(convert(found.node(), x.dtype))
    return x


#: Operators by the names of NumPy's ufuncs.
_UFUNCS: dict[str, str] = {
    "absolute": "abs", "add": "add", "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor", "divide": "divide", "equal": "equal", "floor_divide": "floor_divide",
    "greater": "greater", "greater_equal": "greater_equal", "invert": "bitwise_invert", "left_shift":
    "bitwise_left_shift", "less": "less", "less_equal": "less_equal", "multiply": "multiply", "negative": "negative",
    "not_equal": "not_equal", "positive": "positive", "power": "pow", "remainder": "remainder", "right_shift":
    "bitwise_right_shift", "subtract": "subtract",
}  # fmt: skip


def of_numpy(name: str, *given: Any) -> ndarray | None:
    """What a ufunc of NumPy gives that an operator is; None for other ufuncs."""
    own = _UFUNCS.get(name)
    return None if own is None else cast("ndarray", OPERATORS[own](*given))


for _name in (
    "abs", "add", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "change", "divide", "equal", "floor_divide", "greater", "greater_equal", "less", "less_equal",
    "multiply", "negative", "not_equal", "of_numpy", "positive", "pow", "remainder", "subtract",
):  # fmt: skip
    OPERATORS[_name] = globals()[_name]

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "clip", "conj", "copysign",
    "cos", "cosh", "divide", "equal", "exp", "expm1", "floor", "floor_divide", "greater", "greater_equal", "hypot",
    "imag", "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp",
    "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative",
    "nextafter", "not_equal", "positive", "pow", "real", "reciprocal", "remainder", "round", "sign", "signbit",
    "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc",
]  # fmt: skip
