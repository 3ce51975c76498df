//! Arithmetic on integers and floats.

use crate::eval::{
    eg, f32, f64, float_maximum, float_minimum, float2, i8, i32, i64, overflows, quotient, reals1, reals2, u8, u64,
};
use crate::table::base::{CALL, NO_SLOPE, PURE, inst};
use lh_ir::Const;
use lh_ir::algebra::{Algebra, AnyOrder as Combination, Grad, Nan};
use lh_ir::op::Class::{Floats, Ints, Reals};
use lh_ir::op::Lower::{AnyOrder, Intrinsic, Math, Overflow, Symbol};
use lh_ir::op::Sig::{Pred, Same};
use lh_ir::op::{LlvmInst as I, Op};

/// The rows.
#[expect(clippy::too_many_lines, reason = "a table")]
pub(crate) fn rows() -> Vec<Op> {
    vec![
        Op {
            name: "add",
            doc: "Sum; integers wrap around.",
            python: &["operator.add", "numpy.add"],
            sig: Same(2, Reals),
            eval: |a| reals2(a, i128::wrapping_add, |x, y| x + y),
            host: inst(I::Add, I::Add, I::FAdd),
            nvptx: inst(I::Add, I::Add, I::FAdd),
            algebra: Algebra::Add,
            grad: Grad::Partials(&["d", "d"]),
            examples: eg(vec![
                (vec![i64(2), i64(3)], i64(5)),
                (vec![i64(i64::MAX), i64(1)], i64(i64::MIN)),
                (vec![u8(200), u8(100)], u8(44)),
                (vec![f64(0.1), f64(0.2)], f64(0.1 + 0.2)),
                (vec![f32(f32::MAX), f32(f32::MAX)], f32(f32::INFINITY)),
            ]),
            ..PURE
        },
        Op {
            name: "sub",
            doc: "Difference; integers wrap around.",
            python: &["operator.sub", "numpy.subtract"],
            sig: Same(2, Reals),
            eval: |a| reals2(a, i128::wrapping_sub, |x, y| x - y),
            host: inst(I::Sub, I::Sub, I::FSub),
            nvptx: inst(I::Sub, I::Sub, I::FSub),
            algebra: Algebra::Sub,
            grad: Grad::Partials(&["d", "-d"]),
            examples: eg(vec![
                (vec![i64(2), i64(3)], i64(-1)),
                (vec![u8(0), u8(1)], u8(255)),
                (vec![f64(f64::INFINITY), f64(f64::INFINITY)], f64(f64::NAN)),
            ]),
            ..PURE
        },
        Op {
            name: "mul",
            doc: "Product; integers wrap around.",
            python: &["operator.mul", "numpy.multiply"],
            sig: Same(2, Reals),
            eval: |a| reals2(a, i128::wrapping_mul, |x, y| x * y),
            host: inst(I::Mul, I::Mul, I::FMul),
            nvptx: inst(I::Mul, I::Mul, I::FMul),
            algebra: Algebra::Mul,
            grad: Grad::Partials(&["d * b", "d * a"]),
            examples: eg(vec![
                (vec![i64(6), i64(-7)], i64(-42)),
                (vec![u64(u64::MAX), u64(u64::MAX)], u64(1)),
                (vec![f64(0.0), f64(-1.0)], f64(-0.0)),
            ]),
            ..PURE
        },
        Op {
            name: "add_any_order",
            doc: "Sum of floats, one of many that may be made in any order.",
            python: &[],
            sig: Same(2, Floats),
            eval: |a| reals2(a, |_, y| y, |x, y| x + y),
            host: AnyOrder(I::FAdd),
            nvptx: AnyOrder(I::FAdd),
            algebra: Algebra::AnyOrder(Combination::Add),
            grad: Grad::Partials(&["d", "d"]),
            examples: eg(vec![
                (vec![f64(0.5), f64(0.25)], f64(0.75)),
                (vec![f64(f64::INFINITY), f64(f64::NAN)], f64(f64::NAN)),
            ]),
            ..PURE
        },
        Op {
            name: "sub_any_order",
            doc: "Difference of floats, one of many that may be made in any order.",
            python: &[],
            sig: Same(2, Floats),
            eval: |a| reals2(a, |_, y| y, |x, y| x - y),
            host: AnyOrder(I::FSub),
            nvptx: AnyOrder(I::FSub),
            algebra: Algebra::AnyOrder(Combination::Sub),
            grad: Grad::Partials(&["d", "-d"]),
            examples: eg(vec![
                (vec![f64(0.5), f64(0.25)], f64(0.25)),
                (vec![f64(f64::INFINITY), f64(f64::NAN)], f64(f64::NAN)),
            ]),
            ..PURE
        },
        Op {
            name: "mul_any_order",
            doc: "Product of floats, one of many that may be made in any order.",
            python: &[],
            sig: Same(2, Floats),
            eval: |a| reals2(a, |_, y| y, |x, y| x * y),
            host: AnyOrder(I::FMul),
            nvptx: AnyOrder(I::FMul),
            algebra: Algebra::AnyOrder(Combination::Mul),
            grad: Grad::Partials(&["d * b", "d * a"]),
            examples: eg(vec![
                (vec![f64(0.5), f64(-4.0)], f64(-2.0)),
                (vec![f64(f64::INFINITY), f64(f64::NAN)], f64(f64::NAN)),
            ]),
            ..PURE
        },
        Op {
            name: "fdiv",
            doc: "Quotient of floats as IEEE 754 has it: division by zero gives an infinity or NaN.",
            python: &[],
            sig: Same(2, Floats),
            eval: |a| float2(a, |x, y| x / y),
            host: inst(I::None, I::None, I::FDiv),
            nvptx: inst(I::None, I::None, I::FDiv),
            algebra: Algebra::Divide,
            cost: 1_000,
            grad: Grad::Partials(&["cut(d / b)", "cut(-(d * r) / b)"]),
            examples: eg(vec![
                (vec![f64(7.0), f64(2.0)], f64(3.5)),
                (vec![f64(-1.0), f64(0.0)], f64(f64::NEG_INFINITY)),
                (vec![f32(1.0), f32(3.0)], f32(1.0 / 3.0)),
            ]),
            ..PURE
        },
        Op {
            name: "sdiv",
            doc: "Quotient of integers, truncated; undefined for a divisor of 0 and for the least integer by -1.",
            python: &[],
            sig: Same(2, Ints),
            eval: |a| quotient(a, |x, y| x / y),
            host: inst(I::SDiv, I::UDiv, I::None),
            nvptx: inst(I::SDiv, I::UDiv, I::None),
            algebra: Algebra::Quotient,
            cost: 2_000,
            grad: NO_SLOPE,
            examples: eg(vec![
                (vec![i64(7), i64(-2)], i64(-3)),
                (vec![i8(-128), i8(3)], i8(-42)),
                (vec![u64(u64::MAX), u64(2)], u64(u64::MAX / 2)),
            ]),
            ..PURE
        },
        Op {
            name: "srem",
            doc: "Remainder of the truncated quotient: it has the sign of the dividend; undefined where `sdiv` is.",
            python: &[],
            sig: Same(2, Ints),
            eval: |a| quotient(a, |x, y| x % y),
            host: inst(I::SRem, I::URem, I::None),
            nvptx: inst(I::SRem, I::URem, I::None),
            algebra: Algebra::Remainder,
            cost: 2_000,
            grad: NO_SLOPE,
            examples: eg(vec![
                (vec![i64(7), i64(-2)], i64(1)),
                (vec![i64(-7), i64(2)], i64(-1)),
                (vec![u8(255), u8(16)], u8(15)),
            ]),
            ..PURE
        },
        Op {
            name: "frem",
            doc: "Remainder of floats as C's `fmod`: it has the sign of the dividend.",
            python: &[],
            sig: Same(2, Floats),
            eval: |a| float2(a, |x, y| x % y),
            // LLVM's own instruction is one that it does for all elements of vectors, wanted or not.
            host: Symbol("fmodf", "fmod"),
            // LLVM's own code for GPUs is `x - trunc(x / y) * y`, which is wrong for large quotients and in the sign of
            // zero.
            nvptx: Math("lh_fmodf", "lh_fmod"),
            grad: Grad::Partials(&["d", "cut(-(d * trunc(a / b)))"]),
            examples: eg(vec![
                (vec![f64(7.5), f64(-2.0)], f64(1.5)),
                (vec![f64(1e300), f64(-7.0)], f64(1.0)),
                (vec![f64(1.5), f64(5e-324)], f64(0.0)),
                (vec![f32(1e30), f32(7.0)], f32(1.0)),
                (vec![f64(-6.0), f64(2.0)], f64(-0.0)),
                (vec![f64(1.0), f64(0.0)], f64(f64::NAN)),
                (vec![f32(5.5), f32(f32::INFINITY)], f32(5.5)),
            ]),
            ..CALL
        },
        Op {
            name: "neg",
            doc: "Negation; the least integer is its own negation.",
            python: &["operator.neg", "numpy.negative"],
            sig: Same(1, Reals),
            eval: |a| reals1(a, i128::wrapping_neg, |x| -x),
            host: inst(I::Neg, I::Neg, I::FNeg),
            nvptx: inst(I::Neg, I::Neg, I::FNeg),
            algebra: Algebra::Negate,
            grad: Grad::Partials(&["-d"]),
            examples: eg(vec![
                (vec![i64(5)], i64(-5)),
                (vec![i32(i32::MIN)], i32(i32::MIN)),
                (vec![u8(1)], u8(255)),
                (vec![f64(0.0)], f64(-0.0)),
            ]),
            ..PURE
        },
        Op {
            name: "abs",
            doc: "Absolute value; the least integer is its own.",
            python: &["numpy.abs", "numpy.absolute"],
            sig: Same(1, Reals),
            eval: |a| reals1(a, i128::abs, f64::abs),
            host: Intrinsic { signed: "llvm.abs", unsigned: "", float: "llvm.fabs", flag: true },
            nvptx: Intrinsic { signed: "llvm.abs", unsigned: "", float: "llvm.fabs", flag: true },
            algebra: Algebra::Abs,
            grad: Grad::Partials(&["select(eq(a, 0), 0, d * copysign(1, a))"]),
            examples: eg(vec![
                (vec![i64(-5)], i64(5)),
                (vec![i8(-128)], i8(-128)),
                (vec![u64(u64::MAX)], u64(u64::MAX)),
                (vec![f64(-0.0)], f64(0.0)),
            ]),
            ..PURE
        },
        Op {
            name: "minnum",
            doc: "Lesser of two numbers; of a number and NaN, the number.",
            python: &[],
            sig: Same(2, Reals),
            eval: |a| reals2(a, i128::min, f64::min),
            host: Intrinsic { signed: "llvm.smin", unsigned: "llvm.umin", float: "llvm.minnum", flag: false },
            nvptx: Intrinsic { signed: "llvm.smin", unsigned: "llvm.umin", float: "llvm.minnum", flag: false },
            algebra: Algebra::Min(Nan::Yields),
            grad: Grad::Partials(&[
                "select(eq(a, b), d * 0.5, select(eq(r, a), d, 0))",
                "select(eq(a, b), d * 0.5, select(eq(r, b), d, 0))",
            ]),
            examples: eg(vec![
                (vec![i64(-2), i64(3)], i64(-2)),
                (vec![f64(f64::NAN), f64(1.0)], f64(1.0)),
                (vec![u8(200), u8(100)], u8(100)),
            ]),
            ..PURE
        },
        Op {
            name: "maxnum",
            doc: "Greater of two numbers; of a number and NaN, the number.",
            python: &[],
            sig: Same(2, Reals),
            eval: |a| reals2(a, i128::max, f64::max),
            host: Intrinsic { signed: "llvm.smax", unsigned: "llvm.umax", float: "llvm.maxnum", flag: false },
            nvptx: Intrinsic { signed: "llvm.smax", unsigned: "llvm.umax", float: "llvm.maxnum", flag: false },
            algebra: Algebra::Max(Nan::Yields),
            grad: Grad::Partials(&[
                "select(eq(a, b), d * 0.5, select(eq(r, a), d, 0))",
                "select(eq(a, b), d * 0.5, select(eq(r, b), d, 0))",
            ]),
            examples: eg(vec![
                (vec![i64(-2), i64(3)], i64(3)),
                (vec![f64(f64::NAN), f64(1.0)], f64(1.0)),
                (vec![u8(200), u8(100)], u8(200)),
            ]),
            ..PURE
        },
        Op {
            name: "minimum",
            doc: "Lesser of two numbers; NaN if either is NaN, and -0.0 is less than 0.0.",
            python: &["numpy.minimum"],
            sig: Same(2, Reals),
            eval: |a| reals2(a, i128::min, float_minimum),
            host: Intrinsic { signed: "llvm.smin", unsigned: "llvm.umin", float: "llvm.minimum", flag: false },
            nvptx: Intrinsic { signed: "llvm.smin", unsigned: "llvm.umin", float: "llvm.minimum", flag: false },
            algebra: Algebra::Min(Nan::Stays),
            grad: Grad::Partials(&[
                "select(eq(a, b), d * 0.5, select(eq(r, a), d, 0))",
                "select(eq(a, b), d * 0.5, select(eq(r, b), d, 0))",
            ]),
            examples: eg(vec![
                (vec![i64(-2), i64(3)], i64(-2)),
                (vec![f64(f64::NAN), f64(1.0)], f64(f64::NAN)),
                (vec![f64(0.0), f64(-0.0)], f64(-0.0)),
                (vec![u8(200), u8(100)], u8(100)),
            ]),
            ..PURE
        },
        Op {
            name: "maximum",
            doc: "Greater of two numbers; NaN if either is NaN, and -0.0 is less than 0.0.",
            python: &["numpy.maximum"],
            sig: Same(2, Reals),
            eval: |a| reals2(a, i128::max, float_maximum),
            host: Intrinsic { signed: "llvm.smax", unsigned: "llvm.umax", float: "llvm.maximum", flag: false },
            nvptx: Intrinsic { signed: "llvm.smax", unsigned: "llvm.umax", float: "llvm.maximum", flag: false },
            algebra: Algebra::Max(Nan::Stays),
            grad: Grad::Partials(&[
                "select(eq(a, b), d * 0.5, select(eq(r, a), d, 0))",
                "select(eq(a, b), d * 0.5, select(eq(r, b), d, 0))",
            ]),
            examples: eg(vec![
                (vec![i64(-2), i64(3)], i64(3)),
                (vec![f64(f64::NAN), f64(1.0)], f64(f64::NAN)),
                (vec![f64(0.0), f64(-0.0)], f64(0.0)),
                (vec![u8(200), u8(100)], u8(200)),
            ]),
            ..PURE
        },
        Op {
            name: "add_ovf",
            doc: "Whether the sum of two integers does not fit their type.",
            python: &[],
            sig: Pred(2, Ints),
            eval: |a| overflows(a, i128::checked_add),
            host: Overflow { signed: "llvm.sadd.with.overflow", unsigned: "llvm.uadd.with.overflow" },
            nvptx: Overflow { signed: "llvm.sadd.with.overflow", unsigned: "llvm.uadd.with.overflow" },
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![i64(i64::MAX), i64(1)], Const::Bool(true)),
                (vec![i64(1), i64(1)], Const::Bool(false)),
                (vec![u8(200), u8(56)], Const::Bool(true)),
            ]),
            ..PURE
        },
        Op {
            name: "sub_ovf",
            doc: "Whether the difference of two integers does not fit their type.",
            python: &[],
            sig: Pred(2, Ints),
            eval: |a| overflows(a, i128::checked_sub),
            host: Overflow { signed: "llvm.ssub.with.overflow", unsigned: "llvm.usub.with.overflow" },
            nvptx: Overflow { signed: "llvm.ssub.with.overflow", unsigned: "llvm.usub.with.overflow" },
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![i64(i64::MIN), i64(1)], Const::Bool(true)),
                (vec![i64(0), i64(1)], Const::Bool(false)),
                (vec![u64(0), u64(1)], Const::Bool(true)),
            ]),
            ..PURE
        },
        Op {
            name: "mul_ovf",
            doc: "Whether the product of two integers does not fit their type.",
            python: &[],
            sig: Pred(2, Ints),
            eval: |a| overflows(a, i128::checked_mul),
            host: Overflow { signed: "llvm.smul.with.overflow", unsigned: "llvm.umul.with.overflow" },
            nvptx: Overflow { signed: "llvm.smul.with.overflow", unsigned: "llvm.umul.with.overflow" },
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![i64(1 << 32), i64(1 << 31)], Const::Bool(true)),
                (vec![i64(1 << 31), i64(1 << 31)], Const::Bool(false)),
                (vec![u64(u64::MAX), u64(u64::MAX)], Const::Bool(true)),
            ]),
            ..PURE
        },
    ]
}
