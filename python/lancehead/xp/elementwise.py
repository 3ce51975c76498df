"""Functions of elements, and the operators of arrays."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead.xp import dtypes
from lancehead.xp.array import OPERATORS, ndarray, wrap
from lancehead.xp.graph import Kind, Node, Op, leaf, made, number, op

_NUMBERS = (bool, int, float, complex)


def as_node(x: Any, dtype: np.dtype[Any] | None = None) -> Node:
    """The node of an array or a Python number; TypeError for anything else."""
    if isinstance(x, ndarray):
        return x.node()
    if isinstance(x, _NUMBERS):
        return number(x, dtype)
    raise TypeError(f"an array is needed, not {type(x).__name__}; write asarray(x)")


def operands(*given: Any) -> list[Node]:
    """Nodes of arrays and Python numbers; a number gets the type of the arrays, where that holds it."""
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
    # Only the kind of a number counts.
    kind = type(x)
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
    if node.value is not None and not node.shape:
        return leaf(np.asarray(node.value.astype(dtype)))
    return made(
        "astype", _astype, (node,), node.shape, dtype, static=(dtype.name,), is_fresh=True, kind=Kind.ELEMENTWISE
    )


def _astype(a: str, name: str) -> str:
    return f"np.asarray({a}).astype(np.{'bool_' if name == 'bool' else name})"


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


def _check(name: str, given: tuple[Any, ...], kinds: tuple[Any, ...]) -> None:
    for x in given:
        if isinstance(x, ndarray) and x.dtype not in kinds:
            raise TypeError(f"{name} does not take arrays of {x.dtype}")


def _unary(name: str, numpy: str, kinds: tuple[Any, ...]) -> Callable[[ndarray], ndarray]:
    is_rounding = numpy in ("ceil", "floor", "trunc", "rint")

    known: dict[Any, Any] = {}

    def f(x: ndarray, /) -> ndarray:
        if type(x) is ndarray:
            a = x._node if x._view is None else x._view.node()
            found = known.get(a.dtype)
            if found is not None:
                return ndarray(Node(found[0], (a,), a.shape, found[1]))
        _check(name, (x,), kinds)
        if is_rounding and x.dtype in dtypes.INTEGRAL:
            return wrap(x.node())
        result = apply(numpy, x)
        known[x.dtype] = result._node.op, result.dtype
        return result

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The result of `numpy.{numpy}` for each element. Raises TypeError for types that it does not take."
    return f


def _binary(name: str, numpy: str, kinds: tuple[Any, ...]) -> Callable[[Any, Any], ndarray]:
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
        _check(name, (x1, x2), kinds)
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


_FLOATING = dtypes.REAL_FLOATING + dtypes.COMPLEX
_REAL = dtypes.INTEGRAL + dtypes.REAL_FLOATING
_BITS = (dtypes.bool, *dtypes.INTEGRAL)

abs = _unary("abs", "absolute", dtypes.NUMERIC)
acos = _unary("acos", "arccos", _FLOATING)
acosh = _unary("acosh", "arccosh", _FLOATING)
asin = _unary("asin", "arcsin", _FLOATING)
asinh = _unary("asinh", "arcsinh", _FLOATING)
atan = _unary("atan", "arctan", _FLOATING)
atanh = _unary("atanh", "arctanh", _FLOATING)
bitwise_invert = _unary("bitwise_invert", "invert", _BITS)
ceil = _unary("ceil", "ceil", _REAL)
conj = _unary("conj", "conjugate", dtypes.NUMERIC)
cos = _unary("cos", "cos", _FLOATING)
cosh = _unary("cosh", "cosh", _FLOATING)
exp = _unary("exp", "exp", _FLOATING)
expm1 = _unary("expm1", "expm1", _FLOATING)
floor = _unary("floor", "floor", _REAL)
isfinite = _unary("isfinite", "isfinite", dtypes.NUMERIC)
isinf = _unary("isinf", "isinf", dtypes.NUMERIC)
isnan = _unary("isnan", "isnan", dtypes.NUMERIC)
log = _unary("log", "log", _FLOATING)
log10 = _unary("log10", "log10", _FLOATING)
log1p = _unary("log1p", "log1p", _FLOATING)
log2 = _unary("log2", "log2", _FLOATING)
logical_not = _unary("logical_not", "logical_not", (dtypes.bool,))
negative = _unary("negative", "negative", dtypes.NUMERIC)
positive = _unary("positive", "positive", dtypes.NUMERIC)
reciprocal = _unary("reciprocal", "reciprocal", _FLOATING)
round = _unary("round", "rint", dtypes.NUMERIC)
sign = _unary("sign", "sign", dtypes.NUMERIC)
signbit = _unary("signbit", "signbit", dtypes.REAL_FLOATING)
sin = _unary("sin", "sin", _FLOATING)
sinh = _unary("sinh", "sinh", _FLOATING)
sqrt = _unary("sqrt", "sqrt", _FLOATING)
square = _unary("square", "square", dtypes.NUMERIC)
tan = _unary("tan", "tan", _FLOATING)
tanh = _unary("tanh", "tanh", _FLOATING)
trunc = _unary("trunc", "trunc", _REAL)
add = _binary("add", "add", dtypes.NUMERIC)
atan2 = _binary("atan2", "arctan2", dtypes.REAL_FLOATING)
bitwise_and = _binary("bitwise_and", "bitwise_and", _BITS)
bitwise_left_shift = _binary("bitwise_left_shift", "left_shift", dtypes.INTEGRAL)
bitwise_or = _binary("bitwise_or", "bitwise_or", _BITS)
bitwise_right_shift = _binary("bitwise_right_shift", "right_shift", dtypes.INTEGRAL)
bitwise_xor = _binary("bitwise_xor", "bitwise_xor", _BITS)
copysign = _binary("copysign", "copysign", dtypes.REAL_FLOATING)
divide = _binary("divide", "divide", dtypes.NUMERIC)
equal = _binary("equal", "equal", dtypes.ALL)
floor_divide = _binary("floor_divide", "floor_divide", _REAL)
greater = _binary("greater", "greater", _REAL)
greater_equal = _binary("greater_equal", "greater_equal", _REAL)
hypot = _binary("hypot", "hypot", dtypes.REAL_FLOATING)
less = _binary("less", "less", _REAL)
less_equal = _binary("less_equal", "less_equal", _REAL)
logaddexp = _binary("logaddexp", "logaddexp", dtypes.REAL_FLOATING)
logical_and = _binary("logical_and", "logical_and", (dtypes.bool,))
logical_or = _binary("logical_or", "logical_or", (dtypes.bool,))
logical_xor = _binary("logical_xor", "logical_xor", (dtypes.bool,))
maximum = _binary("maximum", "maximum", _REAL)
minimum = _binary("minimum", "minimum", _REAL)
multiply = _binary("multiply", "multiply", dtypes.NUMERIC)
nextafter = _binary("nextafter", "nextafter", dtypes.REAL_FLOATING)
not_equal = _binary("not_equal", "not_equal", dtypes.ALL)
pow = _binary("pow", "power", dtypes.NUMERIC)
remainder = _binary("remainder", "remainder", _REAL)
subtract = _binary("subtract", "subtract", dtypes.NUMERIC)


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
    _check("clip", (x, min, max), _REAL)
    out, dtype = x, x.dtype
    for bound, name in ((min, "maximum"), (max, "minimum")):
        if bound is not None:
            if isinstance(bound, ndarray):
                bound = wrap(convert(bound.node(), dtype))
            elif dtype in dtypes.INTEGRAL:
                # A bound outside of the type bounds nothing, or is the type's own.
                info = np.iinfo(dtype)
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


for _name in (
    "abs", "add", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "change", "divide", "equal", "floor_divide", "greater", "greater_equal", "less", "less_equal",
    "multiply", "negative", "not_equal", "positive", "pow", "remainder", "subtract",
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
