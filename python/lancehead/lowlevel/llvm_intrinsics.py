"""LLVM's intrinsics, which generators call by their names: `llvm.ctpop.i8`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lancehead.lowlevel import cgutils
from lancehead.lowlevel import irtypes as ir
from lancehead.lowlevel.values import INT1, INT64, Value

#: Primitives of one operand and of two, by the names of intrinsics.
_ROWS = {
    "ctpop": "popcount", "ctlz": "ctlz", "cttz": "cttz", "bswap": "bswap", "bitreverse": "bitreverse", "abs": "abs",
    "fabs": "fabs", "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint",
    "nearbyint": "rint", "roundeven": "rint", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos",
    "atan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "exp": "exp", "exp2": "exp2", "log": "log",
    "log2": "log2", "log10": "log10",
}  # fmt: skip
_ROWS_OF_TWO = {
    "copysign": "copysign", "pow": "pow", "atan2": "atan2", "minnum": "minnum", "maxnum": "maxnum",
    "minimum": "minimum", "maximum": "maximum",
}  # fmt: skip
#: Intrinsics that only inform the optimiser, and generate no code here.
_HINTS = ("assume", "donothing", "prefetch", "lifetime", "dbg", "experimental.noalias")


def declared(name: str, types: Any = (), fnty: Any = None) -> Any:
    """An intrinsic by its name without types, and the types that tell its overloads apart, as `llvmlite` declares it.

    Raises:
        NotImplementedError: the name does not say its operands, and no type of the function is given.
    """
    if fnty is None:
        fnty = _type_of(name, tuple(types))
    suffix = "".join(f".{_mangled(t)}" for t in types)
    return ir.Function(None, fnty, name + suffix)


def _mangled(type_: Any) -> str:
    if isinstance(type_, ir.PointerType):
        return "p0"
    return {"double": "f64", "float": "f32", "half": "f16"}.get(str(type_), str(type_))


def _type_of(name: str, types: tuple[Any, ...]) -> Any:
    void, family = ir.VoidType(), name.removeprefix("llvm.")
    if family == "assume":
        return ir.FunctionType(void, [INT1])
    if len(types) == 1:
        count = 2 if family in _ROWS_OF_TWO or family in _INTEGERS_OF_TWO else 3 if family in ("fma", "fmuladd") else 1
        more = {"powi": [ir.IntType(32)], "ctlz": [INT1], "cttz": [INT1], "abs": [INT1]}.get(family, [])
        result = ir.LiteralStructType([types[0], INT1]) if family.endswith("with.overflow") else types[0]
        return ir.FunctionType(result, [types[0]] * count + more)
    if len(types) == 2 and family in ("ctlz", "cttz", "powi"):
        return ir.FunctionType(types[0], list(types))
    if len(types) == 2 and family == "memset":
        return ir.FunctionType(void, [types[0], ir.IntType(8), types[1], INT1])
    if len(types) == 3 and family in ("memcpy", "memmove"):
        return ir.FunctionType(void, [*types, INT1])
    raise NotImplementedError(f"the operands of LLVM's intrinsic `{name}`: say the type of the function")


def call(builder: Any, fn: Any, args: Any) -> Value:
    """A call of an intrinsic.

    Raises:
        TypeError: operands are not of the declared types.
        NotImplementedError: there is no such intrinsic here.
    """
    values = [builder.recorder.value(a) for a in args]
    wanted = fn.function_type.args
    if len(wanted) != len(values) or any(_differ(v.type, t) for v, t in zip(values, wanted, strict=True)):
        given = ", ".join(str(v.type) for v in values)
        raise TypeError(f"`{fn.name}` takes ({', '.join(map(str, wanted))}), not ({given})")
    # A name ends with the types of operands, and names of families have up to three parts.
    parts = fn.name.removeprefix("llvm.").split(".")
    for n in range(min(len(parts), 3), 0, -1):
        family = ".".join(parts[:n])
        if family in _HINTS:
            return Value(builder.recorder, "None", ir.VoidType())
        if family in _ROWS:
            return builder._unary(_ROWS[family], values[0])  # type: ignore[no-any-return]
        if family in _ROWS_OF_TWO:
            return _row_of_two(builder, _ROWS_OF_TWO[family], values[0], values[1])
        if family in _CODE:
            return _CODE[family](builder, *values)  # type: ignore[no-any-return]
    raise NotImplementedError(f"LLVM's intrinsic `{fn.name}`")


def _differ(given: Any, wanted: Any) -> bool:
    both = isinstance(given, ir.PointerType) and isinstance(wanted, ir.PointerType)
    return bool(given != wanted) and not both


def _row_of_two(builder: Any, row: str, x: Value, y: Value) -> Value:
    return builder.recorder.let(f"prim.{row}({x.text}, {y.text})", x.type)  # type: ignore[no-any-return]


def _chosen(op: str, signed: bool) -> Callable[..., Value]:
    """The greater or less of two integers."""

    def generate(b: Any, x: Value, y: Value) -> Value:
        holds = b.icmp_signed(op, x, y) if signed else b.icmp_unsigned(op, x, y)
        return b.select(holds, x, y)  # type: ignore[no-any-return]

    return generate


def _limit(b: Any, x: Value, signed: bool, least: bool) -> Value:
    """The least or the greatest integer of a type."""
    bits = x.type.width
    if not signed:
        return b.recorder.number(0 if least else (1 << bits) - 1, x.type)  # type: ignore[no-any-return]
    return b.recorder.number(-(1 << (bits - 1)) if least else (1 << (bits - 1)) - 1, x.type)  # type: ignore[no-any-return]


def _saturated(row: str, signed: bool) -> Callable[..., Value]:
    """A sum or difference that stays within its type."""

    def generate(b: Any, x: Value, y: Value) -> Value:
        made = b._overflowing(row, x, y, signed)
        result, over = b.extract_value(made, 0), b.extract_value(made, 1)
        if not signed:
            return b.select(over, _limit(b, x, False, row == "sub"), result)  # type: ignore[no-any-return]
        is_negative = b.icmp_signed("<", x, b.recorder.number(0, x.type))
        bound = b.select(is_negative, _limit(b, x, True, True), _limit(b, x, True, False))
        return b.select(over, bound, result)  # type: ignore[no-any-return]

    return generate


def _funnel(to_left: bool) -> Callable[..., Value]:
    """Two integers side by side, shifted, of which one half is left."""

    def generate(b: Any, high: Value, low: Value, count: Value) -> Value:
        bits = count.type.width
        count = b.urem(count, b.recorder.number(bits, count.type))
        rest = b.urem(b.sub(b.recorder.number(bits, count.type), count), b.recorder.number(bits, count.type))
        is_zero = b.icmp_signed("==", count, b.recorder.number(0, count.type))
        if to_left:
            return b.select(is_zero, high, b.or_(b.shl(high, count), b.lshr(low, rest)))  # type: ignore[no-any-return]
        return b.select(is_zero, low, b.or_(b.shl(high, rest), b.lshr(low, count)))  # type: ignore[no-any-return]

    return generate


def _round(b: Any, x: Value) -> Value:
    """The nearest whole number, halves away from zero."""
    whole = b._unary("trunc", x)
    part = b._unary("fabs", b.fsub(x, whole))
    one, zero = b.recorder.number(1.0, x.type), b.recorder.number(0.0, x.type)
    step = b.select(b.fcmp_ordered(">=", part, b.recorder.number(0.5, x.type)), one, zero)
    # The sum has the sign of the operand, also if it is zero.
    return _row_of_two(b, "copysign", b.fadd(whole, _row_of_two(b, "copysign", step, x)), x)


def _powi(b: Any, x: Value, n: Value) -> Value:
    return _row_of_two(b, "pow", x, b.sitofp(n, x.type))


def _copied(b: Any, dst: Value, src: Value, size: Value, *volatile: Value) -> Value:
    cgutils.raw_memcpy(b, dst, src, b.zext(size, INT64), 1)
    return Value(b.recorder, "None", ir.VoidType())


def _filled(b: Any, dst: Value, byte: Value, size: Value, *volatile: Value) -> Value:
    cgutils.memset(b, dst, b.zext(size, INT64), byte)
    return Value(b.recorder, "None", ir.VoidType())


_INTEGERS_OF_TWO = {
    "smax": _chosen(">", True), "smin": _chosen("<", True), "umax": _chosen(">", False), "umin": _chosen("<", False),
    "sadd.sat": _saturated("add", True), "ssub.sat": _saturated("sub", True),
    "uadd.sat": _saturated("add", False), "usub.sat": _saturated("sub", False),
    "sadd.with.overflow": lambda b, x, y: b._overflowing("add", x, y),
    "ssub.with.overflow": lambda b, x, y: b._overflowing("sub", x, y),
    "smul.with.overflow": lambda b, x, y: b._overflowing("mul", x, y),
    "uadd.with.overflow": lambda b, x, y: b._overflowing("add", x, y, False),
    "usub.with.overflow": lambda b, x, y: b._overflowing("sub", x, y, False),
    "umul.with.overflow": lambda b, x, y: b._overflowing("mul", x, y, False),
}  # fmt: skip
_CODE: dict[str, Callable[..., Any]] = {
    **_INTEGERS_OF_TWO,
    "fma": lambda b, x, y, z: b.fma(x, y, z),
    "fmuladd": lambda b, x, y, z: b.fma(x, y, z),
    "fshl": _funnel(True), "fshr": _funnel(False),
    "round": _round, "powi": _powi,
    "expect": lambda b, x, *likely: x,
    "memcpy": _copied, "memmove": _copied, "memset": _filled,
}  # fmt: skip

__all__ = ["call", "declared"]
