"""The builder that code generators get."""

from __future__ import annotations

import contextlib
import ctypes
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from lancehead import errors
from lancehead.lib import prim
from lancehead.lowlevel import irtypes as ir
from lancehead.lowlevel import proxies
from lancehead.lowlevel.recorder import Block, Branch, Recorder
from lancehead.lowlevel.values import (
    INT1,
    INT8,
    INT64,
    VOIDPTR,
    Slot,
    Value,
    offset_of,
    raised,
    size_of,
)

#: Primitives of two numbers of one type, by the builder's names; the last word says that integers have no sign.
_ROWS = {
    "add": "add", "sub": "sub", "mul": "mul", "sdiv": "sdiv", "srem": "srem", "udiv": "sdiv unsigned",
    "urem": "srem unsigned", "and_": "and", "or_": "or", "xor": "xor", "shl": "shl", "lshr": "shr unsigned",
    "ashr": "shr", "fadd": "add", "fsub": "sub", "fmul": "mul", "fdiv": "fdiv", "frem": "frem",
}  # fmt: skip
#: Those that stay known while compiling: generators compute sizes.
_FOLDED: dict[str, Callable[[int, int], int]] = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
_COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
#: Functions of C that programs have loaded or added by name.
SYMBOLS: dict[str, int] = {}


class IRBuilder(ir.IRBuilder):
    """Adds operations to a recorder where it stands."""

    if TYPE_CHECKING:
        add: Callable[..., Value]
        sub: Callable[..., Value]
        mul: Callable[..., Value]
        and_: Callable[..., Value]
        or_: Callable[..., Value]

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.debug_metadata = None

    @property
    def function(self) -> Recorder:
        """The function that is being recorded."""
        return self.recorder

    @property
    def module(self) -> Recorder:
        """Where functions of C are declared."""
        return self.recorder

    @property
    def block(self) -> Any:
        """Where it stands."""
        return _Place(self.recorder, self.recorder.items)

    basic_block = block

    # Numbers.

    def _row(self, row: str, a: Any, b: Any) -> Value:
        a, b = self.recorder.value(a), self.recorder.value(b)
        name, _, unsigned = row.partition(" ")
        if unsigned:
            wide = self.recorder.constant(raised(a.type, signed=False))
            text = f"prim.{name}(prim.cast({a.text}, {wide}), prim.cast({b.text}, {wide}))"
            return self.recorder.let(f"prim.cast({text}, {self._held(a.type)})", a.type)
        made = self.recorder.let(f"{self._prim(name)}({a.text}, {b.text})", a.type)
        if name in _FOLDED and type(a.constant) is int and type(b.constant) is int:
            made.constant = _FOLDED[name](a.constant, b.constant)
        return made

    def _prim(self, name: str) -> str:
        """How the function names a primitive, of which some are called like words of Python."""
        return self.recorder.constant(getattr(prim, name)) if name in ("and", "or", "not") else f"prim.{name}"

    def _held(self, type_: Any, signed: bool = True) -> str:
        return self.recorder.constant(raised(type_, signed))

    def neg(self, x: Any, name: str = "") -> Value:
        """The negative."""
        x = self.recorder.value(x)
        return self.recorder.let(f"prim.neg({x.text})", x.type)

    fneg = neg

    def not_(self, x: Any, name: str = "") -> Value:
        """All bits inverted."""
        x = self.recorder.value(x)
        return self.recorder.let(f"{self._prim('not' if x.type == INT1 else 'invert')}({x.text})", x.type)

    def _unary(self, name: str, x: Any) -> Value:
        x = self.recorder.value(x)
        return self.recorder.let(f"prim.{name}({x.text})", x.type)

    def ctpop(self, x: Any, name: str = "") -> Value:
        """The number of ones."""
        return self._unary("popcount", x)

    def ctlz(self, x: Any, flag: Any = None, name: str = "") -> Value:
        """The number of zeros before the first one."""
        return self._unary("ctlz", x)

    def cttz(self, x: Any, flag: Any = None, name: str = "") -> Value:
        """The number of zeros after the last one."""
        return self._unary("cttz", x)

    def bswap(self, x: Any, name: str = "") -> Value:
        """The bytes in the other order."""
        return self._unary("bswap", x)

    def fma(self, a: Any, b: Any, c: Any, name: str = "") -> Value:
        """The product of two and the sum with the third, rounded once."""
        a, b, c = map(self.recorder.value, (a, b, c))
        return self.recorder.let(f"prim.fma({a.text}, {b.text}, {c.text})", a.type)

    def _overflowing(self, name: str, a: Any, b: Any, signed: bool = True) -> Value:
        a, b = self.recorder.value(a), self.recorder.value(b)
        type_ = ir.LiteralStructType([a.type, INT1])
        if signed:
            text = f"(prim.{name}({a.text}, {b.text}), prim.{name}_ovf({a.text}, {b.text}))"
        else:
            x, y = (f"prim.cast({v.text}, {self._held(v.type, False)})" for v in (a, b))
            text = f"(prim.{name}({a.text}, {b.text}), prim.{name}_ovf({x}, {y}))"
        return self.recorder.let(text, type_)

    def sadd_with_overflow(self, a: Any, b: Any, name: str = "") -> Value:
        """The sum, and whether it is too large."""
        return self._overflowing("add", a, b)

    def ssub_with_overflow(self, a: Any, b: Any, name: str = "") -> Value:
        """The difference, and whether it is too large."""
        return self._overflowing("sub", a, b)

    def smul_with_overflow(self, a: Any, b: Any, name: str = "") -> Value:
        """The product, and whether it is too large."""
        return self._overflowing("mul", a, b)

    def uadd_with_overflow(self, a: Any, b: Any, name: str = "") -> Value:
        """The sum of integers without a sign, and whether it is too large."""
        return self._overflowing("add", a, b, False)

    def usub_with_overflow(self, a: Any, b: Any, name: str = "") -> Value:
        """The difference of integers without a sign, and whether it is less than zero."""
        return self._overflowing("sub", a, b, False)

    def umul_with_overflow(self, a: Any, b: Any, name: str = "") -> Value:
        """The product of integers without a sign, and whether it is too large."""
        return self._overflowing("mul", a, b, False)

    # Comparisons.

    def icmp_signed(self, op: str, a: Any, b: Any, name: str = "") -> Value:
        """A comparison of integers with a sign, or of addresses."""
        a, b = self._number_of(a), self._number_of(b)
        return self.recorder.let(f"prim.{_COMPARISONS[op]}({a.text}, {b.text})", INT1)

    def icmp_unsigned(self, op: str, a: Any, b: Any, name: str = "") -> Value:
        """A comparison of integers without a sign, or of addresses."""
        a, b = self._number_of(a), self._number_of(b)
        if op in ("==", "!=") or a.type == INT1:
            return self.recorder.let(f"prim.{_COMPARISONS[op]}({a.text}, {b.text})", INT1)
        wide = self._held(a.type, False)
        text = f"prim.{_COMPARISONS[op]}(prim.cast({a.text}, {wide}), prim.cast({b.text}, {wide}))"
        return self.recorder.let(text, INT1)

    def fcmp_ordered(self, op: str, a: Any, b: Any, flags: Any = (), name: str = "") -> Value:
        """A comparison that is false of NaN."""
        a, b = self.recorder.value(a), self.recorder.value(b)
        if op in ("ord", "uno"):
            return self._unordered(a, b, op == "ord")
        if op == "!=":
            return self.recorder.let(
                f"{self._prim('or')}(prim.lt({a.text}, {b.text}), prim.gt({a.text}, {b.text}))", INT1
            )
        return self.recorder.let(f"prim.{_COMPARISONS[op]}({a.text}, {b.text})", INT1)

    def fcmp_unordered(self, op: str, a: Any, b: Any, flags: Any = (), name: str = "") -> Value:
        """A comparison that is true of NaN."""
        if op in ("ord", "uno"):
            return self._unordered(self.recorder.value(a), self.recorder.value(b), op == "ord")
        return self.or_(self.fcmp_ordered(op, a, b), self._unordered(self.recorder.value(a), self.recorder.value(b)))

    def _unordered(self, a: Value, b: Value, ordered: bool = False) -> Value:
        either = self.recorder.let(f"{self._prim('or')}(prim.isnan({a.text}), prim.isnan({b.text}))", INT1)
        return self.not_(either) if ordered else either

    def select(self, cond: Any, lhs: Any, rhs: Any, name: str = "", flags: Any = ()) -> Value:
        """One of two values."""
        cond, lhs, rhs = map(self.recorder.value, (cond, lhs, rhs))
        if isinstance(lhs.type, (ir.IntType, ir.DoubleType, ir.FloatType)) and lhs.type != INT1:
            return self.recorder.let(f"prim.select({cond.text}, {lhs.text}, {rhs.text})", lhs.type)
        return self.recorder.let(f"{lhs.text} if {cond.text} else {rhs.text}", lhs.type)

    # Conversions.

    def _number_of(self, x: Any) -> Value:
        x = self.recorder.value(x)
        return self.ptrtoint(x, INT64) if isinstance(x.type, ir.PointerType) else x

    def _cast(self, x: Any, type_: Any, signed: bool = True) -> Value:
        x = self.recorder.value(x)
        if x.type == type_:
            return x  # type: ignore[no-any-return]
        text = x.text
        if not signed and isinstance(x.type, ir.IntType) and x.type != INT1:
            text = f"prim.cast({text}, {self._held(x.type, False)})"
        if type_ == INT1 and isinstance(x.type, ir.IntType):
            one = self.recorder.number(1, x.type)
            bit = self.and_(x, one)
            return self.recorder.let(f"prim.eq({bit.text}, {one.text})", INT1)
        made = self.recorder.let(f"prim.cast({text}, {self._held(type_)})", type_)
        if type(x.constant) is int and isinstance(type_, ir.IntType) and type_.width == 64:
            made.constant = x.constant
        return made

    def zext(self, x: Any, type_: Any, name: str = "") -> Value:
        """An integer with zeros in front."""
        return self._cast(x, type_, signed=False)

    def sext(self, x: Any, type_: Any, name: str = "") -> Value:
        """An integer with its sign in front."""
        made = self._cast(x, type_)
        return self.neg(made) if self.recorder.value(x).type == INT1 else made

    def trunc(self, x: Any, type_: Any, name: str = "") -> Value:
        """The lower bits of an integer."""
        return self._cast(x, type_)

    sitofp = fptosi = fpext = fptrunc = trunc

    def uitofp(self, x: Any, type_: Any, name: str = "") -> Value:
        """A float of an integer without a sign."""
        return self._cast(x, type_, signed=False)

    def fptoui(self, x: Any, type_: Any, name: str = "") -> Value:
        """An integer without a sign of a float."""
        x = self.recorder.value(x)
        wide = self._held(type_, False)
        return self.recorder.let(f"prim.cast(prim.cast({x.text}, {wide}), {self._held(type_)})", type_)

    def bitcast(self, x: Any, type_: Any, name: str = "") -> Value:
        """The same bits as a value of another type."""
        x = self.recorder.value(x)
        if isinstance(x.type, ir.PointerType) and isinstance(type_, ir.PointerType):
            if isinstance(x, Slot) and x.type != type_:
                self.recorder.escape(x)
            elif isinstance(x, Slot):
                return x
            return Value(self.recorder, x.text, type_)
        rows = {
            ("double", "i64"): "bits_of_f64", ("i64", "double"): "f64_of_bits", ("float", "i32"): "bits_of_f32",
            ("i32", "float"): "f32_of_bits", ("half", "i16"): "bits_of_f16", ("i16", "half"): "f16_of_bits",
        }  # fmt: skip
        row = rows.get((str(x.type), str(type_)))
        if row is not None:
            return self.recorder.let(f"prim.{row}({x.text})", type_)
        if x.type == type_:
            return x  # type: ignore[no-any-return]
        raise NotImplementedError(f"the bits of {x.type} as {type_}")

    def addrspacecast(self, x: Any, type_: Any, name: str = "") -> Value:
        """The same address."""
        return self.bitcast(x, type_)

    def inttoptr(self, x: Any, type_: Any, name: str = "") -> Value:
        """An address of a number."""
        x = self._cast(x, INT64, signed=False)
        return self.recorder.let(f"prim.lh_addr_ptr({x.text})", type_)

    def ptrtoint(self, x: Any, type_: Any, name: str = "") -> Value:
        """The number of an address."""
        x = self.recorder.escape(self.recorder.value(x))
        made = self.recorder.let(f"prim.cast(prim.lh_ptr_addr({x.text}), {self._held(INT64)})", INT64)
        return self._cast(made, type_)

    # Memory.

    def alloca(self, type_: Any, size: Any = None, name: str = "") -> Slot:
        """The address of a new variable, or of so many."""
        if size is None:
            return self.recorder.slot(type_)
        count = size if isinstance(size, int) else self.recorder.value(size).constant
        if not isinstance(count, int):
            # Not a fault of the generator: it is asked again with the types of literals.
            raise errors.TypingError("a number of variables that is not known while compiling: pass a constant")
        made = self.recorder.slot(ir.ArrayType(type_, count))
        made.is_memory = True
        found = Slot(self.recorder, made.text, type_)
        found.is_memory = True
        return found

    def load(self, ptr: Any, name: str = "", align: Any = None, typ: Any = None) -> Value:
        """The value at an address."""
        ptr = self.recorder.value(ptr)
        type_ = typ or ptr.type.pointee
        if isinstance(ptr, Slot):
            found = self.recorder.fresh()
            self.recorder.do(f"{found} = {ptr.text}", ptr)
            self.recorder.variables[found] = type_
            return Value(self.recorder, found, type_)
        return self.recorder.let(f"prim.load({ptr.text}, {self._held(type_)})", type_)

    def store(self, value: Any, ptr: Any, align: Any = None) -> Value:
        """Puts a value at an address. The instruction that this gives has no value."""
        value, ptr = self.recorder.value(value), self.recorder.value(ptr)
        self.recorder.escape(value)
        self.recorder.takes(value)
        if isinstance(ptr, Slot):
            self.recorder.do(f"{ptr.text} = {value.text}", ptr)
        else:
            self.recorder.do(f"prim.store({ptr.text}, {value.text})")
        return Value(self.recorder, "None", VOIDPTR)

    def load_atomic(self, ptr: Any, ordering: str, align: int, name: str = "", typ: Any = None) -> Value:
        """Reads a number that other threads write: each time anew, in one step."""
        ptr = self.recorder.value(ptr)
        type_ = typ or ptr.type.pointee
        if isinstance(type_, ir.PointerType):
            word = self.load_atomic(self.bitcast(ptr, ir.PointerType(INT64)), ordering, align)
            return self.inttoptr(word, type_)
        return self.atomic_rmw("add", ptr, ir.Constant(type_, 0), ordering)

    def store_atomic(self, value: Any, ptr: Any, ordering: str, align: int) -> None:
        """Writes a number that other threads read, in one step."""
        value, ptr = self.recorder.value(value), self.recorder.value(ptr)
        if isinstance(value.type, ir.PointerType):
            value, ptr = self.ptrtoint(value, INT64), self.bitcast(ptr, ir.PointerType(INT64))
        self.atomic_rmw("xchg", ptr, value, ordering)

    def atomic_rmw(self, op: str, ptr: Any, val: Any, ordering: str, name: str = "") -> Value:
        """Changes the number at an address in one step, and gives the one before."""
        ptr, val = self.recorder.value(ptr), self.recorder.value(val)
        if op in ("sub", "fsub"):
            op, val = "add", self.neg(val)
        row = {"fadd": "add", "xchg": "exch", "umax": "max", "umin": "min", "fmax": "max", "fmin": "min"}.get(op, op)
        type_ = val.type
        if str(type_) not in ("i32", "i64", "float", "double") or (row == "exch" and not isinstance(type_, ir.IntType)):
            raise NotImplementedError(f"atomic `{op}` of {type_}")
        of = {"float": "f32", "double": "f64"}.get(str(type_), f"{'u' if op[0] == 'u' else 'i'}{str(type_)[1:]}")
        text = f"prim.lh_cuda_{row}_{of}({self.recorder.escape(ptr).text}, {val.text})"
        return self.recorder.let(f"prim.as_type({text}, {self._held(type_)})", type_)

    def cmpxchg(self, ptr: Any, cmp: Any, val: Any, ordering: str, failordering: Any = None, name: str = "") -> Value:
        """Stores a number if the one there is another one: the one before, and whether it was stored."""
        ptr, cmp, val = map(self.recorder.value, (ptr, cmp, val))
        of = str(val.type)
        text = f"prim.lh_cuda_cas_{of}({self.recorder.escape(ptr).text}, {cmp.text}, {val.text})"
        old = self.recorder.let(f"prim.as_type({text}, {self._held(val.type)})", val.type)
        return self.recorder.let(
            f"({old.text}, prim.eq({old.text}, {cmp.text}))", ir.LiteralStructType([val.type, INT1])
        )

    def gep(self, ptr: Any, indices: Any, inbounds: bool = False, name: str = "", source_etype: Any = None) -> Value:
        """The address of an element."""
        ptr = self.recorder.escape(self.recorder.value(ptr))
        type_ = source_etype or ptr.type.pointee
        offset = self._scaled(indices[0], size_of(type_)[0])
        for index in indices[1:]:
            if isinstance(type_, ir.ArrayType) or hasattr(type_, "element"):
                type_ = type_.element
                offset = self.add(offset, self._scaled(index, size_of(type_)[0]))
                continue
            at = index.constant if isinstance(index, (Value, ir.Constant)) else index
            if not isinstance(at, int) or not getattr(type_, "elements", ()):
                raise NotImplementedError(f"the address of a part of {type_}")
            offset = self.add(offset, self.recorder.number(offset_of(type_, at), INT64))
            type_ = type_.elements[at]
        return self.recorder.let(f"prim.ptr_add({ptr.text}, {offset.text})", ir.PointerType(type_))

    def _scaled(self, index: Any, size: int) -> Value:
        index = self.recorder.number(index, INT64) if isinstance(index, int) else self._cast(index, INT64)
        return self.mul(index, self.recorder.number(size, INT64))

    # Aggregates.

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Value:
        """A part of an aggregate, by its position or positions."""
        found = self.recorder.value(agg)
        for at in [idx] if isinstance(idx, int) else idx:
            found = proxies.part(self, found, at)
        return found

    def insert_value(self, agg: Any, value: Any, idx: Any, name: str = "") -> Value:
        """The same aggregate with another part."""
        at = idx if isinstance(idx, int) else idx[0]
        agg = self.recorder.value(agg)
        if not isinstance(idx, int) and len(idx) > 1:
            value = self.insert_value(self.extract_value(agg, at), value, list(idx[1:]))
        return proxies.with_part(self, agg, at, self.recorder.value(value))

    # Calls.

    def call(self, fn: Any, args: Any, name: str = "", cconv: Any = None, tail: Any = None, **more: Any) -> Value:
        """A call of a function of C, or of one that the context gave."""
        if callable(fn) and not isinstance(fn, (Value, ir.Function)):
            return fn(self, args)  # type: ignore[no-any-return]
        if isinstance(fn, ir.Function) and fn.name.startswith("llvm."):
            # The table of intrinsics writes their code with a builder.
            from lancehead.lowlevel import llvm_intrinsics

            return llvm_intrinsics.call(self, fn, args)
        values = [self.recorder.escape(self.recorder.value(a)) for a in args]
        type_ = fn.type.pointee
        result = type_.return_type
        at = fn.text if isinstance(fn, Value) else f"prim.lh_addr_ptr({address_of(fn.name)})"
        text = (
            f"prim.call_address({', '.join([at, self.recorder.constant(raised(result)), *(v.text for v in values)])})"
        )
        if isinstance(result, ir.VoidType):
            self.recorder.do(text)
            return Value(self.recorder, "None", result)
        return self.recorder.let(text, result)

    # Control flow.

    @contextlib.contextmanager
    def if_then(self, pred: Any, likely: Any = None) -> Iterator[Any]:
        """Statements that run if a condition holds."""
        made = Branch(self.recorder.value(pred).text, self.recorder.line())
        self.recorder.items.append(made)
        with self.recorder.inside(made.then):
            yield None

    @contextlib.contextmanager
    def if_else(self, pred: Any, likely: Any = None) -> Iterator[Any]:
        """Statements that run if a condition holds, and others that run if it does not."""
        made = Branch(self.recorder.value(pred).text, self.recorder.line())
        self.recorder.items.append(made)
        yield self.recorder.inside(made.then), self.recorder.inside(made.otherwise)

    def append_basic_block(self, name: str = "") -> Block:
        """A new block."""
        return self.recorder.append_basic_block(name)

    def _leave(self, block: Any) -> None:
        if self.recorder.loops:
            raise NotImplementedError(
                "a branch out of `cgutils.for_range`: use `loop.do_break()`, or blocks throughout"
            )
        self.recorder.do(f"next_block = {block.number}")
        self.recorder.do("continue")

    def branch(self, target: Any) -> None:
        """Goes to a block."""
        self._leave(target)

    def cbranch(self, cond: Any, truebr: Any, falsebr: Any) -> Any:
        """Goes to one of two blocks."""
        made = Branch(self.recorder.value(cond).text, self.recorder.line(), leaves=True)
        self.recorder.items.append(made)
        with self.recorder.inside(made.then):
            self._leave(truebr)
        with self.recorder.inside(made.otherwise):
            self._leave(falsebr)
        return _Weighted()

    def switch(self, value: Any, default: Any) -> Any:
        """Goes to one of several blocks."""
        return _Switch(self, self.recorder.value(value), default)

    def position_at_end(self, block: Any) -> None:
        """Goes on at the end of a block."""
        if isinstance(block, _Place):
            self.recorder.items = block.items
        else:
            self.recorder.go(block)

    position_at_start = position_at_end

    @contextlib.contextmanager
    def goto_block(self, block: Any) -> Iterator[None]:
        """Goes on in a block for as long as the context lasts."""
        before = self.recorder.block, self.recorder.items
        self.position_at_end(block)
        try:
            yield
        finally:
            self.recorder.block, self.recorder.items = before

    @contextlib.contextmanager
    def goto_entry_block(self) -> Iterator[None]:
        """The same where it stands: variables have their places anyway."""
        yield

    def phi(self, type_: Any, name: str = "") -> Any:
        """A value that depends on the block from which the current one was reached."""
        return Phi(self, type_)

    def ret(self, value: Any) -> None:
        """Returns from the function."""
        self.recorder.do(f"return {self.recorder.value(value).text}")

    def ret_void(self) -> None:
        """Returns from the function."""
        self.recorder.do("return None")

    def unreachable(self) -> None:
        """Says that execution never gets here."""

    def assume(self, cond: Any) -> None:
        """Says that a condition holds."""

    def load_reg(self, *args: Any, **named: Any) -> None:
        """Reads a register of the processor.

        Raises:
            NotImplementedError: always; values have no registers before they are compiled.
        """
        raise NotImplementedError("registers: values have none before they are compiled")

    store_reg = load_reg

    def fence(self, *args: Any, **named: Any) -> None:
        """Orders memory accesses.

        Raises:
            NotImplementedError: always; atomic operations are there.
        """
        raise NotImplementedError("`fence`: use atomic operations")

    def comment(self, text: str) -> None:
        """Says something to readers."""


def _of_row(name: str, row: str) -> Callable[..., Value]:
    def operation(self: IRBuilder, lhs: Any, rhs: Any, name: str = "", flags: Any = ()) -> Value:
        return self._row(row, lhs, rhs)

    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = f"`{row}` of two numbers of one type."
    return operation


for _name, _row_of in _ROWS.items():
    setattr(IRBuilder, _name, _of_row(_name, _row_of))


class _Place:
    """Where a builder stood."""

    def __init__(self, recorder: Recorder, items: list[Any]) -> None:
        self.recorder, self.items, self.function = recorder, items, recorder
        self.number = recorder.block.number

    @property
    def is_terminated(self) -> bool:
        """Whether it ends in a jump."""
        last = self.items[-1] if self.items else None
        if getattr(last, "leaves", False):
            return True
        return getattr(last, "text", "") in ("continue", "break") or getattr(last, "text", "").startswith("return")


class _Weighted:
    """A branch, of which generators say how likely its ways are."""

    def set_weights(self, weights: Any) -> None:
        """Is a hint only."""


class _Switch:
    """A branch to several blocks."""

    def __init__(self, builder: IRBuilder, value: Value, default: Any) -> None:
        self.builder, self.value = builder, value
        self._rest = Branch("True", builder.recorder.line(), leaves=True)
        builder.recorder.items.append(self._rest)
        with builder.recorder.inside(self._rest.then):
            builder._leave(default)

    def add_case(self, value: Any, block: Any) -> None:
        """Says where one value leads."""
        recorder = self.builder.recorder
        value = recorder.value(value) if not isinstance(value, int) else recorder.number(value, self.value.type)
        case = Branch(f"prim.eq({self.value.text}, {value.text})", recorder.line())
        case.otherwise, self._rest.then = self._rest.then, [case]
        with recorder.inside(case.then):
            self.builder._leave(block)
        self._rest = _Rest(case)  # type: ignore[assignment]


class _Rest:
    """The rest of a switch: what runs if no case so far fits."""

    def __init__(self, case: Branch) -> None:
        self.case = case

    @property
    def then(self) -> list[Any]:
        return self.case.otherwise

    @then.setter
    def then(self, items: list[Any]) -> None:
        self.case.otherwise = items


class Phi(Value):
    """A phi node: a variable that the preceding blocks assign at their ends, read at the start of its block."""

    def __init__(self, builder: IRBuilder, type_: Any) -> None:
        self.slot = builder.recorder.slot(type_)
        # Other phis of the block may have this value as the next of theirs, so that it is read before any is assigned.
        super().__init__(builder.recorder, builder.load(self.slot).text, type_)

    def add_incoming(self, value: Any, block: Any) -> None:
        """Says what it is if the block came before."""
        items = block.items
        value = self.recorder.value(value)
        at = len(items)
        while at and _is_jump(items[at - 1]):
            at -= 1
        tail = items[at:]
        del items[at:]
        with self.recorder.inside(items):
            self.recorder.do(f"{self.slot.text} = {value.text}", self.slot)
        items.extend(tail)


def _is_jump(item: Any) -> bool:
    return getattr(item, "leaves", False) or getattr(item, "text", "").startswith(("continue", "next_block"))


def address_of(name: str) -> int:
    """The address of a function of C by its name: one that a program has added, of a loaded library, or of Python.

    Raises:
        NotImplementedError: nothing has that name.
    """
    if name in SYMBOLS:
        return SYMBOLS[name]
    for library in (ctypes.pythonapi, ctypes.CDLL(None), *LIBRARIES):
        found = getattr(library, name, None)
        if found is not None:
            return ctypes.cast(found, ctypes.c_void_p).value or 0
    raise NotImplementedError(f"no loaded library has a function `{name}`: load it with `ctypes`")


#: Libraries that a program has loaded by `llvmlite.binding.load_library_permanently`.
LIBRARIES: list[Any] = []


__all__ = ["INT8", "VOIDPTR", "IRBuilder"]
