"""Intrinsics of LLVM that generators call by name, and values that meet where blocks do."""

import math

import numpy as np
import pytest

from lancehead import errors, njit, types
from lancehead.extending import intrinsic
from lancehead.lowlevel import cgutils
from lancehead.lowlevel import irtypes as ir

I1, I8, I16, I32, I64, F32, F64 = (
    *(ir.IntType(n) for n in (1, 8, 16, 32, 64)), ir.FloatType(), ir.DoubleType(),
)  # fmt: skip
OF = {"i8": types.int8, "u8": types.uint8, "i16": types.int16, "i32": types.int32, "i64": types.int64,
      "u64": types.uint64, "f64": types.float64, "f32": types.float32}  # fmt: skip
LLVM = {"i8": I8, "u8": I8, "i16": I16, "i32": I32, "i64": I64, "u64": I64, "f64": F64, "f32": F32}


def called(name, of, count, declare, more=(), result=None):
    """A compiled function that calls an intrinsic of `count` operands of a type, and of constants."""

    def generate(context, builder, sig, args):
        constants = [ir.Constant(t, v) for t, v in more]
        fnty = ir.FunctionType(result or LLVM[of], [LLVM[of]] * count + [t for t, _ in more])
        if declare:
            fn = builder.module.declare_intrinsic(name, [LLVM[of]], fnty)
        else:
            fn = cgutils.get_or_insert_function(builder.module, fnty, f"{name}.{LLVM[of]}")
        made = builder.call(fn, [*args, *constants])
        return made if result is None else builder.extract_value(made, 1)

    parameters = ", ".join("abc"[:count])
    signature = (OF[of] if result is None else types.boolean)(*[OF[of]] * count)
    scope = {"signature": signature, "generate": generate}
    function = intrinsic(eval(f"lambda typingctx, {parameters}: (signature, generate)", scope))
    return njit(eval(f"lambda {parameters}: function({parameters})", {"function": function}))


TOP = 2**64 - 1
FLAG = [(I1, 0)]
INTRINSICS = [
    ("ctpop", "u8", (255,), 8), ("ctpop", "i64", (-1,), 64), ("bswap", "i32", (1,), 1 << 24),
    ("bitreverse", "u8", (1,), 128), ("smax", "i8", (-3, 2), 2), ("umax", "u8", (200, 3), 200),
    ("umin", "i64", (-1, 3), 3), ("smin", "i64", (-1, 3), -1), ("sadd.sat", "i8", (100, 100), 127),
    ("ssub.sat", "i8", (-100, 100), -128), ("uadd.sat", "u8", (200, 100), 255), ("usub.sat", "u8", (3, 9), 0),
    ("uadd.sat", "u64", (TOP, 9), TOP), ("fshl", "i64", (1, -1, 4), 31), ("fshl", "u8", (129, 129, 9), 3),
    ("fshr", "i64", (1, 16, 4), (1 << 60) | 1), ("fshl", "i64", (5, 7, 64), 5), ("fshr", "i64", (5, 7, 0), 7),
    ("fma", "f64", (2.0, 3.0, 4.0), 10.0), ("fmuladd", "f64", (2.0, 3.0, 4.0), 10.0),
    ("sqrt", "f64", (9.0,), 3.0), ("fabs", "f32", (-1.5,), 1.5), ("floor", "f64", (-0.5,), -1.0),
    ("round", "f64", (2.5,), 3.0), ("round", "f64", (-2.5,), -3.0), ("round", "f64", (0.49999999999999994,), 0.0),
    ("roundeven", "f64", (2.5,), 2.0), ("rint", "f64", (3.5,), 4.0), ("copysign", "f64", (2.0, -0.0), -2.0),
    ("pow", "f64", (2.0, 10.0), 1024.0), ("minnum", "f64", (math.nan, 2.0), 2.0),
    ("exp2", "f64", (3.0,), 8.0), ("log10", "f64", (1000.0,), math.log10(1000)), ("sin", "f64", (0.5,), math.sin(0.5)),
]  # fmt: skip


@pytest.mark.parametrize("declare", [False, True])
@pytest.mark.parametrize(("name", "of", "args", "want"), INTRINSICS, ids=str)
def test_intrinsics_by_name(name, of, args, want, declare):
    function = called(f"llvm.{name}", of, len(args), declare)
    given = [getattr(np, str(OF[of]))(a) for a in args]
    assert function(*given) == pytest.approx(want, rel=1e-15)


@pytest.mark.parametrize(("name", "of", "value", "want"), [
    ("ctlz", "u8", 1, 7), ("cttz", "i64", 8, 3), ("ctlz", "i64", 0, 64), ("abs", "i8", -5, 5),
])  # fmt: skip
def test_intrinsics_with_a_flag(name, of, value, want):
    assert called(f"llvm.{name}", of, 1, False, FLAG)(getattr(np, str(OF[of]))(value)) == want


@pytest.mark.parametrize(("name", "of", "args", "want"), [
    ("sadd", "i8", (100, 100), True), ("uadd", "u8", (200, 55), False), ("uadd", "u8", (200, 56), True),
    ("usub", "u64", (3, 4), True), ("umul", "u64", (2**40, 2**24), True), ("umul", "u64", (2**39, 2**24), False),
    ("smul", "i64", (2**62, 2), True),
])  # fmt: skip
def test_intrinsics_that_tell_overflow(name, of, args, want):
    result = ir.LiteralStructType([LLVM[of], I1])
    function = called(f"llvm.{name}.with.overflow", of, 2, False, (), result)
    assert function(*[getattr(np, str(OF[of]))(a) for a in args]) is want


def test_intrinsics_declared_by_their_operands_only():
    @intrinsic
    def counted(typingctx, x):
        def generate(context, builder, sig, args):
            ones = builder.call(builder.module.declare_intrinsic("llvm.ctpop", [I64]), args)
            zeros = builder.call(builder.module.declare_intrinsic("llvm.cttz", [I64]), [args[0], ir.Constant(I1, 0)])
            return builder.add(builder.mul(ones, ir.Constant(I64, 100)), zeros)

        return types.int64(types.int64), generate

    assert njit(lambda x: counted(x))(0b11000) == 203


def test_memory_by_intrinsics():
    @intrinsic
    def copied(typingctx, dst, src):
        def generate(context, builder, sig, args):
            byte = I8.as_pointer()
            there, here = (context.make_array(t)(context, builder, a).data for t, a in zip(sig.args, args, strict=True))
            there, here = builder.bitcast(there, byte), builder.bitcast(here, byte)
            fill = builder.module.declare_intrinsic("llvm.memset", [byte, I64])
            copy = builder.module.declare_intrinsic("llvm.memcpy", [byte, byte, I64])
            builder.call(fill, [there, ir.Constant(I8, 1), ir.Constant(I64, 4), ir.Constant(I1, 0)])
            builder.call(copy, [there, here, ir.Constant(I64, 2), ir.Constant(I1, 0)])
            return context.get_dummy_value()

        return types.none(dst, src), generate

    out = np.zeros(5, np.uint8)
    njit(lambda a, b: copied(a, b))(out, np.array([7, 8, 9], np.uint8))
    assert out.tolist() == [7, 8, 1, 1, 0]


def test_unknown_intrinsics_and_operands_are_refused():
    with pytest.raises(errors.LoweringError, match=r"LLVM's intrinsic `llvm\.readcyclecounter\.i64`"):
        called("llvm.readcyclecounter", "i64", 1, False)(1)

    @intrinsic
    def wrong(typingctx, x):
        def generate(context, builder, sig, args):
            fn = cgutils.get_or_insert_function(builder.module, ir.FunctionType(I8, [I8]), "llvm.ctpop.i8")
            return builder.call(fn, args)

        return types.int64(types.int64), generate

    with pytest.raises(errors.LoweringError, match=r"`llvm\.ctpop\.i8` takes \(i8\), not \(i64\)"):
        njit(lambda x: wrong(x))(1)


# Values that meet where blocks do.


@intrinsic
def fibonacci(typingctx, n):
    """Two phis, each of which is the next value of the other, in a block that leads to itself."""

    def generate(context, builder, sig, args):
        zero, one = ir.Constant(I64, 0), ir.Constant(I64, 1)
        entry = builder.basic_block
        loop, end = builder.append_basic_block("loop"), builder.append_basic_block("end")
        builder.branch(loop)
        builder.position_at_end(loop)
        i, a, b = builder.phi(I64), builder.phi(I64), builder.phi(I64)
        following = builder.add(a, b)
        count = builder.add(i, one)
        for phi, first, later in ((i, zero, count), (a, zero, b), (b, one, following)):
            phi.add_incoming(first, entry)
            phi.add_incoming(later, loop)
        builder.cbranch(builder.icmp_signed("<", count, args[0]), loop, end)
        builder.position_at_end(end)
        return b

    return types.int64(types.int64), generate


@intrinsic
def swapped(typingctx, n):
    """Two values that change places in every round; the ways into the phis are said after the branches."""

    def generate(context, builder, sig, args):
        zero, one, two = (ir.Constant(I64, k) for k in range(3))
        entry = builder.basic_block
        loop, end = builder.append_basic_block("loop"), builder.append_basic_block("end")
        builder.cbranch(builder.icmp_signed(">", args[0], zero), loop, end)
        builder.position_at_end(loop)
        i, a, b = builder.phi(I64), builder.phi(I64), builder.phi(I64)
        count = builder.add(i, one)
        builder.cbranch(builder.icmp_signed("<", count, args[0]), loop, end)
        for phi, first, later in ((i, zero, count), (a, one, b), (b, two, a)):
            phi.add_incoming(first, entry)
            phi.add_incoming(later, loop)
        builder.position_at_end(end)
        result = builder.phi(I64)
        result.add_incoming(ir.Constant(I64, -1), entry)
        result.add_incoming(a, loop)
        return result

    return types.int64(types.int64), generate


@intrinsic
def switched(typingctx, n):
    """A phi whose ways are those of a switch."""

    def generate(context, builder, sig, args):
        entry = builder.basic_block
        case, end = builder.append_basic_block("case"), builder.append_basic_block("end")
        switch = builder.switch(args[0], end)
        switch.add_case(ir.Constant(I64, 3), case)
        builder.position_at_end(case)
        builder.branch(end)
        builder.position_at_end(end)
        phi = builder.phi(I64)
        phi.add_incoming(ir.Constant(I64, 7), entry)
        phi.add_incoming(ir.Constant(I64, 9), case)
        return phi

    return types.int64(types.int64), generate


def test_values_that_meet():
    assert [njit(lambda n: fibonacci(n))(n) for n in (1, 2, 3, 10)] == [1, 1, 2, 55]
    assert [njit(lambda n: swapped(n))(n) for n in (0, 1, 2, 3)] == [-1, 1, 2, 1]
    assert [njit(lambda n: switched(n))(n) for n in (3, 4)] == [9, 7]


@intrinsic
def copied(typingctx, x):
    """A number that is stored and loaded, by instructions that say which addresses are not the same."""

    def generate(context, builder, sig, args):
        domain = builder.module.add_metadata([], self_ref=True)
        scope = builder.module.add_metadata([builder.module.add_metadata([domain], self_ref=True)])
        place = cgutils.alloca_once(builder, args[0].type)
        builder.store(args[0], place).set_metadata("alias.scope", scope)
        value = builder.load(place)
        value.set_metadata("noalias", scope)
        return value

    return x(x), generate


def test_metadata_of_aliases():
    assert njit(lambda x: copied(x))(2.5) == 2.5
