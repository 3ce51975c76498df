//! Truth values and bits.

use crate::eval::{
    bf16, bfloat_of_bits, bitlike2, bits_of_float, bits1, eg, f16, f32, f64, float_of_bits, i8, i16, i32, i64, int1,
    not, shift, u8, u64, whole_of_float,
};
use crate::table::base::{NO_SLOPE, PURE, inst};
use lh_ir::algebra::{Algebra, Grad};
use lh_ir::op::Class::{BitLike, Bool, Ints};
use lh_ir::op::Lower::{Intrinsic, TruncateOrLeast};
use lh_ir::op::Sig::{Fixed, Same};
use lh_ir::op::{LlvmInst as I, Op};
use lh_ir::{Const, Ty};

/// The rows.
#[expect(clippy::too_many_lines, reason = "a table")]
pub(crate) fn rows() -> Vec<Op> {
    vec![
        Op {
            name: "not",
            doc: "Negation of a truth value.",
            python: &[],
            sig: Same(1, Bool),
            eval: not,
            host: inst(I::None, I::Not, I::None),
            nvptx: inst(I::None, I::Not, I::None),
            algebra: Algebra::Not,
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![Const::Bool(true)], Const::Bool(false)),
                (vec![Const::Bool(false)], Const::Bool(true)),
            ]),
            ..PURE
        },
        Op {
            name: "invert",
            doc: "Complement of every bit.",
            python: &["operator.invert", "operator.inv", "numpy.invert", "numpy.bitwise_not", "numpy.bitwise_invert"],
            sig: Same(1, Ints),
            eval: |a| int1(a, |x| !x),
            host: inst(I::Not, I::Not, I::None),
            nvptx: inst(I::Not, I::Not, I::None),
            grad: NO_SLOPE,
            examples: eg(vec![(vec![i64(0)], i64(-1)), (vec![u8(1)], u8(254))]),
            ..PURE
        },
        Op {
            name: "and",
            doc: "Conjunction of truth values, or of every bit of integers.",
            python: &["operator.and_", "numpy.bitwise_and"],
            sig: Same(2, BitLike),
            eval: |a| bitlike2(a, |x, y| x & y),
            host: inst(I::And, I::And, I::None),
            nvptx: inst(I::And, I::And, I::None),
            algebra: Algebra::And,
            grad: NO_SLOPE,
            examples: eg(vec![
                (vec![i64(12), i64(10)], i64(8)),
                (vec![i64(-1), i64(5)], i64(5)),
                (vec![Const::Bool(true), Const::Bool(false)], Const::Bool(false)),
            ]),
            ..PURE
        },
        Op {
            name: "or",
            doc: "Disjunction of truth values, or of every bit of integers.",
            python: &["operator.or_", "numpy.bitwise_or"],
            sig: Same(2, BitLike),
            eval: |a| bitlike2(a, |x, y| x | y),
            host: inst(I::Or, I::Or, I::None),
            nvptx: inst(I::Or, I::Or, I::None),
            algebra: Algebra::Or,
            grad: NO_SLOPE,
            examples: eg(vec![
                (vec![i64(12), i64(10)], i64(14)),
                (vec![i64(-1), i64(5)], i64(-1)),
                (vec![Const::Bool(true), Const::Bool(false)], Const::Bool(true)),
            ]),
            ..PURE
        },
        Op {
            name: "xor",
            doc: "Exclusive disjunction of truth values, or of every bit of integers.",
            python: &["operator.xor", "numpy.bitwise_xor"],
            sig: Same(2, BitLike),
            eval: |a| bitlike2(a, |x, y| x ^ y),
            host: inst(I::Xor, I::Xor, I::None),
            nvptx: inst(I::Xor, I::Xor, I::None),
            algebra: Algebra::Xor,
            grad: NO_SLOPE,
            examples: eg(vec![
                (vec![i64(12), i64(10)], i64(6)),
                (vec![i64(-1), i64(5)], i64(-6)),
                (vec![Const::Bool(true), Const::Bool(true)], Const::Bool(false)),
            ]),
            ..PURE
        },
        Op {
            name: "shl",
            doc: "Shift to the left; the count must be at least 0 and less than the width.",
            python: &[],
            sig: Same(2, Ints),
            eval: |a| shift(a, |x, n| x << n),
            host: inst(I::Shl, I::Shl, I::None),
            nvptx: inst(I::Shl, I::Shl, I::None),
            algebra: Algebra::ShiftLeft,
            grad: NO_SLOPE,
            examples: eg(vec![
                (vec![i64(3), i64(4)], i64(48)),
                (vec![i64(1), i64(63)], i64(i64::MIN)),
                (vec![u8(255), u8(4)], u8(240)),
            ]),
            ..PURE
        },
        Op {
            name: "shr",
            doc: "Shift to the right, arithmetic for signed integers; the count must be at least 0 and less than the width.",
            python: &[],
            sig: Same(2, Ints),
            eval: |a| shift(a, |x, n| x >> n),
            host: inst(I::AShr, I::LShr, I::None),
            nvptx: inst(I::AShr, I::LShr, I::None),
            algebra: Algebra::ShiftRight,
            grad: NO_SLOPE,
            examples: eg(vec![
                (vec![i64(-5), i64(1)], i64(-3)),
                (vec![u64(u64::MAX), u64(63)], u64(1)),
                (vec![i64(i64::MIN), i64(63)], i64(-1)),
            ]),
            ..PURE
        },
        Op {
            name: "popcount",
            doc: "Number of bits that are 1.",
            python: &[],
            sig: Same(1, Ints),
            eval: |a| bits1(a, |x, _| u64::from(x.count_ones())),
            host: Intrinsic { signed: "llvm.ctpop", unsigned: "llvm.ctpop", float: "", flag: false },
            nvptx: Intrinsic { signed: "llvm.ctpop", unsigned: "llvm.ctpop", float: "", flag: false },
            grad: NO_SLOPE,
            examples: eg(vec![(vec![i64(255)], i64(8)), (vec![i8(-1)], i8(8)), (vec![u64(0)], u64(0))]),
            ..PURE
        },
        Op {
            name: "ctlz",
            doc: "Number of leading bits that are 0; the width for 0.",
            python: &[],
            sig: Same(1, Ints),
            eval: |a| bits1(a, |x, w| u64::from(x.leading_zeros()) + u64::from(w) - 64),
            host: Intrinsic { signed: "llvm.ctlz", unsigned: "llvm.ctlz", float: "", flag: true },
            nvptx: Intrinsic { signed: "llvm.ctlz", unsigned: "llvm.ctlz", float: "", flag: true },
            grad: NO_SLOPE,
            examples: eg(vec![(vec![i64(1)], i64(63)), (vec![u8(0)], u8(8)), (vec![i64(-1)], i64(0))]),
            ..PURE
        },
        Op {
            name: "cttz",
            doc: "Number of trailing bits that are 0; the width for 0.",
            python: &[],
            sig: Same(1, Ints),
            eval: |a| bits1(a, |x, w| u64::from(x.trailing_zeros().min(w))),
            host: Intrinsic { signed: "llvm.cttz", unsigned: "llvm.cttz", float: "", flag: true },
            nvptx: Intrinsic { signed: "llvm.cttz", unsigned: "llvm.cttz", float: "", flag: true },
            grad: NO_SLOPE,
            examples: eg(vec![(vec![i64(8)], i64(3)), (vec![u8(0)], u8(8)), (vec![i32(i32::MIN)], i32(31))]),
            ..PURE
        },
        Op {
            name: "bswap",
            doc: "Bytes in reverse order.",
            python: &[],
            sig: Same(1, Ints),
            eval: |a| bits1(a, |x, w| x.swap_bytes() >> (64 - w)),
            host: Intrinsic { signed: "llvm.bswap", unsigned: "llvm.bswap", float: "", flag: false },
            nvptx: Intrinsic { signed: "llvm.bswap", unsigned: "llvm.bswap", float: "", flag: false },
            grad: NO_SLOPE,
            examples: eg(vec![
                (vec![i32(1)], i32(1 << 24)),
                (vec![u64(0x0102_0304_0506_0708)], u64(0x0807_0605_0403_0201)),
                (vec![u8(7)], u8(7)),
            ]),
            ..PURE
        },
        Op {
            name: "bitreverse",
            doc: "Bits in reverse order.",
            python: &[],
            sig: Same(1, Ints),
            eval: |a| bits1(a, |x, w| x.reverse_bits() >> (64 - w)),
            host: Intrinsic { signed: "llvm.bitreverse", unsigned: "llvm.bitreverse", float: "", flag: false },
            nvptx: Intrinsic { signed: "llvm.bitreverse", unsigned: "llvm.bitreverse", float: "", flag: false },
            grad: NO_SLOPE,
            examples: eg(vec![(vec![i32(1)], i32(i32::MIN)), (vec![u64(6)], u64(3 << 61)), (vec![u8(0x12)], u8(0x48))]),
            ..PURE
        },
        Op {
            name: "bits_of_f64",
            doc: "The bits of a `float64`.",
            python: &[],
            sig: Fixed(&[Ty::f64], Ty::i64),
            eval: bits_of_float,
            host: inst(I::None, I::None, I::Bitcast),
            nvptx: inst(I::None, I::None, I::Bitcast),
            algebra: Algebra::Bits,
            grad: NO_SLOPE,
            examples: eg(vec![(vec![f64(1.0)], i64(0x3ff0_0000_0000_0000)), (vec![f64(-0.0)], i64(i64::MIN))]),
            ..PURE
        },
        Op {
            name: "whole_of_f64",
            doc: "A `float64` without its fraction as `int64`; the least integer for NaN and for what does not fit.",
            python: &[],
            sig: Fixed(&[Ty::f64], Ty::i64),
            eval: whole_of_float,
            host: TruncateOrLeast,
            nvptx: TruncateOrLeast,
            grad: NO_SLOPE,
            examples: eg(vec![
                (vec![f64(-2.9)], i64(-2)),
                (vec![f64(9e18)], i64(9_000_000_000_000_000_000)),
                (vec![f64(9_223_372_036_854_775_808.0)], i64(i64::MIN)),
                (vec![f64(-1e30)], i64(i64::MIN)),
                (vec![f64(f64::NAN)], i64(i64::MIN)),
            ]),
            ..PURE
        },
        Op {
            name: "f64_of_bits",
            doc: "The `float64` of these bits.",
            python: &[],
            sig: Fixed(&[Ty::i64], Ty::f64),
            eval: float_of_bits,
            host: inst(I::Bitcast, I::Bitcast, I::None),
            nvptx: inst(I::Bitcast, I::Bitcast, I::None),
            algebra: Algebra::OfBits,
            grad: NO_SLOPE,
            examples: eg(vec![
                (vec![i64(i64::MIN)], f64(-0.0)),
                (vec![i64(0x7ff0_0000_0000_0000)], f64(f64::INFINITY)),
            ]),
            ..PURE
        },
        Op {
            name: "bits_of_f32",
            doc: "The bits of a `float32`.",
            python: &[],
            sig: Fixed(&[Ty::f32], Ty::i32),
            eval: bits_of_float,
            host: inst(I::None, I::None, I::Bitcast),
            nvptx: inst(I::None, I::None, I::Bitcast),
            algebra: Algebra::Bits,
            grad: NO_SLOPE,
            examples: eg(vec![(vec![f32(1.0)], i32(0x3f80_0000)), (vec![f32(-0.0)], i32(i32::MIN))]),
            ..PURE
        },
        Op {
            name: "f32_of_bits",
            doc: "The `float32` of these bits.",
            python: &[],
            sig: Fixed(&[Ty::i32], Ty::f32),
            eval: float_of_bits,
            host: inst(I::Bitcast, I::Bitcast, I::None),
            nvptx: inst(I::Bitcast, I::Bitcast, I::None),
            algebra: Algebra::OfBits,
            grad: NO_SLOPE,
            examples: eg(vec![(vec![i32(i32::MIN)], f32(-0.0)), (vec![i32(0x7f80_0000)], f32(f32::INFINITY))]),
            ..PURE
        },
        Op {
            name: "bits_of_f16",
            doc: "The bits of a `float16`.",
            python: &[],
            sig: Fixed(&[Ty::f16], Ty::i16),
            eval: bits_of_float,
            host: inst(I::None, I::None, I::Bitcast),
            nvptx: inst(I::None, I::None, I::Bitcast),
            algebra: Algebra::Bits,
            grad: NO_SLOPE,
            examples: eg(vec![(vec![f16(1.0)], i16(0x3c00)), (vec![f16(-0.0)], i16(i16::MIN))]),
            ..PURE
        },
        Op {
            name: "f16_of_bits",
            doc: "The `float16` of these bits.",
            python: &[],
            sig: Fixed(&[Ty::i16], Ty::f16),
            eval: float_of_bits,
            host: inst(I::Bitcast, I::Bitcast, I::None),
            nvptx: inst(I::Bitcast, I::Bitcast, I::None),
            algebra: Algebra::OfBits,
            grad: NO_SLOPE,
            examples: eg(vec![(vec![i16(i16::MIN)], f16(-0.0)), (vec![i16(0x7c00)], f16(f64::INFINITY))]),
            ..PURE
        },
        Op {
            name: "bits_of_bf16",
            doc: "The bits of a `bfloat16`.",
            python: &[],
            sig: Fixed(&[Ty::bf16], Ty::i16),
            eval: bits_of_float,
            host: inst(I::None, I::None, I::Bitcast),
            nvptx: inst(I::None, I::None, I::Bitcast),
            algebra: Algebra::Bits,
            grad: NO_SLOPE,
            examples: eg(vec![(vec![bf16(1.0)], i16(0x3f80)), (vec![bf16(-0.0)], i16(i16::MIN))]),
            ..PURE
        },
        Op {
            name: "bf16_of_bits",
            doc: "The `bfloat16` of these bits.",
            python: &[],
            sig: Fixed(&[Ty::i16], Ty::bf16),
            eval: bfloat_of_bits,
            host: inst(I::Bitcast, I::Bitcast, I::None),
            nvptx: inst(I::Bitcast, I::Bitcast, I::None),
            algebra: Algebra::OfBits,
            grad: NO_SLOPE,
            examples: eg(vec![(vec![i16(i16::MIN)], bf16(-0.0)), (vec![i16(0x7f80)], bf16(f64::INFINITY))]),
            ..PURE
        },
    ]
}
