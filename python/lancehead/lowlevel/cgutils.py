"""Numba's `cgutils`: helpers of code generators."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lancehead import types
from lancehead.lowlevel import irtypes as ir
from lancehead.lowlevel.proxies import Proxy, proxy
from lancehead.lowlevel.recorder import Loop
from lancehead.lowlevel.values import INT1, INT8, INT32, INT64, VOIDPTR, Slot, Value, raised, size_of

bool_t, int8_t, int32_t, intp_t, voidptr_t = INT1, INT8, INT32, INT64, VOIDPTR
true_bit, false_bit = ir.Constant(INT1, 1), ir.Constant(INT1, 0)
true_byte, false_byte = ir.Constant(INT8, 1), ir.Constant(INT8, 0)
_StructProxy = Proxy


def create_struct_proxy(fe_type: Any, kind: str = "value") -> Callable[..., Any]:
    """A class whose instances have the members of a struct's type as attributes."""

    def make(context: Any, builder: Any, value: Any = None, ref: Any = None) -> Any:
        return proxy(fe_type, context, builder, value, ref)

    return make


def as_bool_bit(builder: Any, value: Any) -> Any:
    """Whether a value is not zero."""
    return builder.icmp_unsigned("!=", value, get_null_value(builder.recorder.value(value).type))


def is_null(builder: Any, val: Any) -> Any:
    """Whether an address or a number is zero."""
    return builder.icmp_unsigned("==", get_null_value(builder.recorder.value(val).type), val)


def is_not_null(builder: Any, val: Any) -> Any:
    """Whether an address or a number is not zero."""
    return builder.icmp_unsigned("!=", get_null_value(builder.recorder.value(val).type), val)


def get_null_value(ltype: Any) -> Any:
    """The constant whose bits are zero."""
    return ir.Constant(ltype, None)


def if_unlikely(builder: Any, pred: Any) -> Any:
    """Statements that run if a condition holds, which is rare."""
    return builder.if_then(pred, likely=False)


def if_likely(builder: Any, pred: Any) -> Any:
    """Statements that run if a condition holds, which is usual."""
    return builder.if_then(pred, likely=True)


def ifnot(builder: Any, pred: Any) -> Any:
    """Statements that run if a condition does not hold."""
    return builder.if_then(builder.not_(pred))


def if_zero(builder: Any, value: Any, likely: bool = False) -> Any:
    """Statements that run if a value is zero."""
    return builder.if_then(is_null(builder, value), likely=likely)


def alloca_once(builder: Any, ty: Any, size: Any = None, name: str = "", zfill: bool = False) -> Any:
    """The address of a new variable of the function."""
    return builder.alloca(ty, size, name)


def alloca_once_value(builder: Any, value: Any, name: str = "", zfill: bool = False) -> Any:
    """The address of a new variable with a value."""
    value = builder.recorder.value(value)
    made = builder.alloca(value.type)
    builder.store(value, made)
    return made


def increment_index(builder: Any, val: Any) -> Any:
    """A number and one."""
    return builder.add(val, ir.Constant(builder.recorder.value(val).type, 1))


class _ForLoop:
    """A loop: its index, and a way out of it."""

    def __init__(self, builder: Any, index: Any) -> None:
        self.builder, self.index = builder, index

    def do_break(self) -> None:
        """Leaves the loop."""
        self.builder.recorder.do("break")


@contextlib.contextmanager
def for_range(builder: Any, count: Any, start: Any = None, intp: Any = None) -> Iterator[_ForLoop]:
    """A loop from `start`, or 0, up to `count`."""
    r = builder.recorder
    count = r.value(count)
    first = r.value(start).text if start is not None else "0"
    with _loop(builder, f"range({first}, {count.text})", count.type) as index:
        yield _ForLoop(builder, index)


@contextlib.contextmanager
def _loop(builder: Any, over: str, type_: Any) -> Iterator[Value]:
    r = builder.recorder
    name = r.fresh("i")
    made = Loop(f"for {name} in {over}", r.line())
    r.items.append(made)
    r.loops += 1
    with r.inside(made.body):
        yield r.let(f"prim.cast({name}, {builder._held(type_)})", type_)
    r.loops -= 1


@contextlib.contextmanager
def for_range_slice(
    builder: Any, start: Any, stop: Any, step: Any, intp: Any = None, inc: bool = True
) -> Iterator[tuple[Value, Value]]:
    """A loop with a step, and the number of each iteration."""
    r = builder.recorder
    start, stop, step = map(r.value, (start, stop, step))
    number = alloca_once_value(builder, ir.Constant(start.type, 0))
    with _loop(builder, f"range({start.text}, {stop.text}, {step.text})", start.type) as index:
        count = builder.load(number)
        yield index, count
        builder.store(increment_index(builder, count), number)


@contextlib.contextmanager
def loop_nest(builder: Any, shape: Any, intp: Any, order: str = "C") -> Iterator[list[Value]]:
    """Loops over all indices of a shape."""
    with contextlib.ExitStack() as stack:
        extents = list(shape) if order == "C" else list(shape)[::-1]
        found = [stack.enter_context(for_range(builder, extent)).index for extent in extents]
        yield found if order == "C" else found[::-1]


def pack_array(builder: Any, values: Any, ty: Any = None) -> Any:
    """An array of LLVM of values of one type."""
    values = [builder.recorder.value(v) for v in values]
    type_ = ir.ArrayType(ty or values[0].type, len(values))
    return builder.recorder.let(f"({''.join(v.text + ', ' for v in values)})", type_)


def pack_struct(builder: Any, values: Any) -> Any:
    """A struct of LLVM of values."""
    values = [builder.recorder.value(v) for v in values]
    type_ = ir.LiteralStructType([v.type for v in values])
    return builder.recorder.let(f"({''.join(v.text + ', ' for v in values)})", type_)


make_anonymous_struct = pack_struct


def unpack_tuple(builder: Any, tup: Any, count: int | None = None) -> list[Any]:
    """The parts of an aggregate."""
    tup = builder.recorder.value(tup)
    if count is None:
        count = len(tup.of) if tup.of is not None else len(tup.type.elements)
    return [builder.extract_value(tup, i) for i in range(count)]


def gep(builder: Any, ptr: Any, *inds: Any, **kws: Any) -> Any:
    """The address of an element, by numbers known while compiling or not."""
    ptr = builder.recorder.value(ptr)
    if isinstance(ptr, Slot) and all(i == 0 for i in inds if isinstance(i, int)) and len(inds) == 1:
        return ptr
    return builder.gep(ptr, [ir.Constant(INT64, i) if isinstance(i, int) else i for i in inds])


gep_inbounds = gep


def pointer_add(builder: Any, ptr: Any, offset: Any, return_type: Any = None) -> Any:
    """An address and a number of bytes."""
    r = builder.recorder
    ptr = r.escape(r.value(ptr))
    offset = r.number(offset, INT64) if isinstance(offset, int) else builder._cast(offset, INT64)
    return r.let(f"prim.ptr_add({ptr.text}, {offset.text})", return_type or ptr.type)


def memcpy(builder: Any, dst: Any, src: Any, count: Any) -> None:
    """Copies so many values."""
    size = size_of(builder.recorder.value(dst).type.pointee)[0]
    raw_memcpy(builder, dst, src, count, size)


def raw_memcpy(builder: Any, dst: Any, src: Any, count: Any, itemsize: Any, align: int = 1) -> None:
    """Copies so many items of so many bytes."""
    r = builder.recorder
    dst, src = r.escape(r.value(dst)), r.escape(r.value(src))
    itemsize = r.number(itemsize, INT64) if isinstance(itemsize, int) else itemsize
    size = builder.mul(builder._cast(count, INT64), itemsize)
    r.do(f"prim.lh_memmove({dst.text}, {src.text}, {size.text})")


raw_memmove = raw_memcpy


def memset(builder: Any, ptr: Any, size: Any, value: Any) -> None:
    """Fills so many bytes."""
    r = builder.recorder
    ptr = builder.bitcast(r.escape(r.value(ptr)), VOIDPTR)
    value = r.number(value, INT8) if isinstance(value, int) else value
    with for_range(builder, builder._cast(size, INT64)) as loop:
        builder.store(value, pointer_add(builder, ptr, loop.index))


def sizeof(builder: Any, ptr_type: Any) -> Any:
    """Bytes of what an address is of."""
    return ir.Constant(INT64, size_of(ptr_type.pointee)[0])


def get_or_insert_function(module: Any, fnty: Any, name: str) -> Any:
    """A function of C."""
    return ir.Function(module, fnty, name)


insert_pure_function = get_or_insert_function


def is_pointer(ltyp: Any) -> bool:
    """Whether a type is one of addresses."""
    return isinstance(ltyp, ir.PointerType)


def is_neg_int(builder: Any, val: Any) -> Any:
    """Whether an integer is negative."""
    return builder.icmp_signed("<", val, get_null_value(builder.recorder.value(val).type))


def is_nonelike(ty: Any) -> bool:
    """Whether a type is that of None."""
    return str(ty) in ("none", "omitted(default=None)")


def guard_null(context: Any, builder: Any, value: Any, exc_tuple: Any) -> None:
    """Raises an exception if a value is zero."""
    with if_unlikely(builder, is_null(builder, value)):
        context.call_conv.return_user_exc(builder, exc_tuple[0], exc_tuple[1:])


def guard_memory_error(context: Any, builder: Any, pointer: Any, msg: str | None = None) -> None:
    """Raises MemoryError if an address is null."""
    guard_null(context, builder, pointer, (MemoryError, *([msg] if msg else [])))


@contextlib.contextmanager
def early_exit_if(builder: Any, stack: contextlib.ExitStack, cond: Any) -> Iterator[None]:
    """Generates code that runs if a condition holds; code that is generated later in the stack runs if it does not."""
    then, otherwise = stack.enter_context(builder.if_else(cond, likely=False))
    with then:
        yield
    stack.enter_context(otherwise)


def early_exit_if_null(builder: Any, stack: contextlib.ExitStack, obj: Any) -> Any:
    """The same if an object is null."""
    return early_exit_if(builder, stack, is_null(builder, obj))


def printf(builder: Any, format: str, *args: Any) -> None:
    """Writes text with numbers."""
    r = builder.recorder
    values = [r.value(a).text for a in args]
    text = f"{format!r} % ({''.join(v + ', ' for v in values)})" if values else repr(format)
    r.do(f"print({text}, end='')")


# Items of arrays.


def get_item_pointer2(
    context: Any,
    builder: Any,
    data: Any,
    shape: Any,
    strides: Any,
    layout: str,
    inds: Any,
    wraparound: bool = False,
    boundscheck: bool = False,
) -> Any:
    """The address of the item at indices, by the parts of an array."""
    r = builder.recorder
    indices = [builder._cast(index, INT64) for index in inds]
    if wraparound:
        indices = [fix_integer_index(builder, index, extent) for index, extent in zip(indices, shape, strict=True)]
    if boundscheck:
        for axis, (index, extent) in enumerate(zip(indices, shape, strict=True)):
            do_boundscheck(context, builder, index, extent, axis)
    data = r.value(data)
    if layout not in "CF" or not indices:
        at = r.number(0, INT64)
        for index, stride in zip(indices, strides, strict=True):
            at = builder.add(at, builder.mul(index, stride))
        return pointer_add(builder, data, at)
    if layout == "F":
        indices, shape = indices[::-1], list(shape)[::-1]
    at = indices[0]
    for index, extent in zip(indices[1:], shape[1:], strict=True):
        at = builder.add(builder.mul(at, extent), index)
    return builder.gep(data, [at])


def get_item_pointer(
    context: Any, builder: Any, aryty: Any, ary: Any, inds: Any, wraparound: bool = False, boundscheck: bool = False
) -> Any:
    """The address of the item of an array at indices."""
    shape, strides = (unpack_tuple(builder, part, count=aryty.ndim) for part in (ary.shape, ary.strides))
    return get_item_pointer2(context, builder, ary.data, shape, strides, aryty.layout, inds, wraparound, boundscheck)


def fix_integer_index(builder: Any, index: Any, extent: Any) -> Any:
    """An index from the start of an axis, where a negative one counts from its end."""
    return builder.select(is_neg_int(builder, index), builder.add(index, extent), index)


def do_boundscheck(context: Any, builder: Any, ind: Any, dimlen: Any, axis: Any = None) -> None:
    """Raises IndexError if an index from the start of an axis is not below its extent."""
    outside = builder.or_(is_neg_int(builder, ind), builder.icmp_signed(">=", ind, dimlen))
    with if_unlikely(builder, outside):
        context.call_conv.return_user_exc(builder, IndexError, ("index is out of bounds",))


# Numbers.


def _against_zero(builder: Any, value: Any, integers: str, floats: str, op: str) -> Any:
    value = builder.recorder.value(value)
    compare = getattr(builder, integers if isinstance(value.type, ir.IntType) else floats)
    return compare(op, value, get_null_value(value.type))


def is_scalar_zero(builder: Any, value: Any) -> Any:
    """Whether a number is zero."""
    return _against_zero(builder, value, "icmp_signed", "fcmp_ordered", "==")


def is_not_scalar_zero(builder: Any, value: Any) -> Any:
    """Whether a number is not zero; NaN is not."""
    return _against_zero(builder, value, "icmp_signed", "fcmp_unordered", "!=")


def is_scalar_zero_or_nan(builder: Any, value: Any) -> Any:
    """Whether a number is zero or NaN."""
    return _against_zero(builder, value, "icmp_signed", "fcmp_unordered", "==")


is_true, is_false = is_not_scalar_zero, is_scalar_zero


def is_scalar_neg(builder: Any, value: Any) -> Any:
    """Whether a number is negative."""
    return _against_zero(builder, value, "icmp_signed", "fcmp_unordered", "<")


def guard_zero(context: Any, builder: Any, value: Any, exc_tuple: Any) -> None:
    """Raises an exception if a number is zero."""
    with if_unlikely(builder, is_scalar_zero(builder, value)):
        context.call_conv.return_user_exc(builder, exc_tuple[0], exc_tuple[1:])


def muladd_with_overflow(builder: Any, a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """The product of two integers and the sum with a third, and whether it is too large."""
    product = builder.smul_with_overflow(a, b)
    total = builder.sadd_with_overflow(builder.extract_value(product, 0), c)
    overflows = builder.or_(builder.extract_value(product, 1), builder.extract_value(total, 1))
    return builder.extract_value(total, 0), overflows


def divmod_by_constant(builder: Any, val: Any, divisor: int) -> tuple[Any, Any]:
    """The quotient, rounded down, and the remainder of an integer and a positive constant."""
    if divisor <= 0:
        raise ValueError(f"the divisor {divisor} is not positive")
    val = builder.recorder.value(val)
    by = ir.Constant(val.type, divisor)
    rest = builder.srem(val, by)
    rest = builder.select(is_neg_int(builder, rest), builder.add(rest, by), rest)
    return builder.sdiv(builder.sub(val, rest), by), rest


# Constants and structs.


class GlobalVariable(Value):
    """The address of memory of the process, which is zero unless it is set at first."""

    def __init__(self, module: Any, ty: Any, name: str) -> None:
        self.held = ctypes.create_string_buffer(max(1, size_of(ty)[0]))
        module.keep(self.held)
        text = module.let(f"prim.lh_addr_ptr({ctypes.addressof(self.held)})", ir.PointerType(ty)).text
        super().__init__(module, text, ir.PointerType(ty))
        self.name = name

    @property
    def initializer(self) -> Any:
        """The constant that is in the memory at first."""
        return ir.Constant(self.type.pointee, None)

    @initializer.setter
    def initializer(self, constant: Any) -> None:
        content = constant.constant
        if content is not None and content is not ir.Undefined:
            numbers = content if isinstance(content, list) else [content]
            found = [getattr(n, "constant", n) for n in numbers]
            of = getattr(self.type.pointee, "element", self.type.pointee)
            data = np.array(found).astype(types.as_dtype(raised(of))).tobytes()
            self.held.raw = data.ljust(len(self.held), b"\0")


def add_global_variable(module: Any, ty: Any, name: str, addrspace: int = 0) -> Any:
    """The address of new memory of the process."""
    return GlobalVariable(module, ty, name)


def global_constant(builder_or_module: Any, name: str, value: Any, linkage: str = "internal") -> Any:
    """The address of a constant."""
    made = GlobalVariable(builder_or_module.module, value.type, name)
    made.initializer = value
    return made


def make_bytearray(buf: bytes) -> Any:
    """A constant of bytes."""
    return ir.Constant(ir.ArrayType(INT8, len(buf)), [ir.Constant(INT8, b) for b in buf])


def create_constant_array(ty: Any, val: Any) -> Any:
    """A constant array of LLVM of constants of one type."""
    return ir.Constant(ir.ArrayType(ty, len(val)), list(val))


def copy_struct(dst: Any, src: Any, repl: dict[str, Any] | None = None) -> Any:
    """Copies the members of a value to another one, some of which are replaced."""
    repl = repl or {}
    for name in src._datamodel._fields:
        setattr(dst, name, repl[name] if name in repl else getattr(src, name))
    return dst


def is_empty_tuple(ty: Any) -> bool:
    """Whether a type is that of an empty tuple."""
    return getattr(ty, "kind", "") in ("Tuple", "UniTuple") and ty.count == 0


def memset_padding(builder: Any, ptr: Any) -> None:
    """Says nothing: nobody reads what lies between members."""


def cbranch_or_continue(builder: Any, cond: Any, bbtrue: Any) -> Any:
    """Goes to a block if a condition holds, and else on in a new one."""
    rest = builder.append_basic_block("continue")
    builder.cbranch(cond, bbtrue, rest)
    builder.position_at_end(rest)
    return rest


def terminate(builder: Any, bbend: Any) -> None:
    """Goes to a block, unless the current one has ended."""
    if not builder.block.is_terminated:
        builder.branch(bbend)
