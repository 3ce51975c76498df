//! Exact operations on floats: roundings, signs, parts.

use crate::eval::{eg, f32, f64, float1, float2, fma, i32, ldexp, nextafter, rounding};
use crate::table::base::{CALL, PURE};
use lh_ir::Ty;
use lh_ir::algebra::{Algebra, Grad};
use lh_ir::op::Class::{Floats, Ordered};
use lh_ir::op::Lower::{Intrinsic, Math, Symbol};
use lh_ir::op::Op;
use lh_ir::op::Sig::{Fixed, Same};

/// The rows.
#[expect(clippy::too_many_lines, reason = "a table")]
pub(crate) fn rows() -> Vec<Op> {
    vec![
        Op {
            name: "fabs",
            doc: "Absolute value of a float.",
            python: &["math.fabs", "numpy.fabs"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::abs),
            host: Intrinsic { signed: "", unsigned: "", float: "llvm.fabs", flag: false },
            nvptx: Intrinsic { signed: "", unsigned: "", float: "llvm.fabs", flag: false },
            algebra: Algebra::Abs,
            grad: Grad::Partials(&["select(eq(a, 0), 0, d * copysign(1, a))"]),
            examples: eg(vec![
                (vec![f64(-2.5)], f64(2.5)),
                (vec![f64(-0.0)], f64(0.0)),
                (vec![f32(f32::NEG_INFINITY)], f32(f32::INFINITY)),
            ]),
            ..PURE
        },
        Op {
            name: "sqrt",
            doc: "Square root, correctly rounded; NaN below zero.",
            python: &["math.sqrt", "numpy.sqrt"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::sqrt),
            host: Intrinsic { signed: "", unsigned: "", float: "llvm.sqrt", flag: false },
            nvptx: Intrinsic { signed: "", unsigned: "", float: "llvm.sqrt", flag: false },
            algebra: Algebra::Sqrt,
            grad: Grad::Partials(&["cut(d / (r + r))"]),
            examples: eg(vec![
                (vec![f64(9.0)], f64(3.0)),
                (vec![f64(-1.0)], f64(f64::NAN)),
                (vec![f64(-0.0)], f64(-0.0)),
                (vec![f32(2.0)], f32(std::f32::consts::SQRT_2)),
            ]),
            ..PURE
        },
        Op {
            name: "floor",
            doc: "Greatest whole number that is not greater; integers and truth values are whole.",
            python: &["numpy.floor"],
            sig: Same(1, Ordered),
            eval: |a| rounding(a, f64::floor),
            host: Intrinsic { signed: "", unsigned: "", float: "llvm.floor", flag: false },
            nvptx: Intrinsic { signed: "", unsigned: "", float: "llvm.floor", flag: false },
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![i32(-3)], i32(-3)),
                (vec![f64(-2.5)], f64(-3.0)),
                (vec![f64(-0.0)], f64(-0.0)),
                (vec![f32(1e30)], f32(1e30)),
                (vec![f64(f64::NAN)], f64(f64::NAN)),
            ]),
            ..PURE
        },
        Op {
            name: "ceil",
            doc: "Least whole number that is not less; integers and truth values are whole.",
            python: &["numpy.ceil"],
            sig: Same(1, Ordered),
            eval: |a| rounding(a, f64::ceil),
            host: Intrinsic { signed: "", unsigned: "", float: "llvm.ceil", flag: false },
            nvptx: Intrinsic { signed: "", unsigned: "", float: "llvm.ceil", flag: false },
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![i32(-3)], i32(-3)),
                (vec![f64(-2.5)], f64(-2.0)),
                (vec![f64(-0.0)], f64(-0.0)),
                (vec![f32(1e30)], f32(1e30)),
                (vec![f64(f64::NAN)], f64(f64::NAN)),
            ]),
            ..PURE
        },
        Op {
            name: "trunc",
            doc: "Integral part.",
            python: &["numpy.trunc", "numpy.fix"],
            sig: Same(1, Ordered),
            eval: |a| rounding(a, f64::trunc),
            host: Intrinsic { signed: "", unsigned: "", float: "llvm.trunc", flag: false },
            nvptx: Intrinsic { signed: "", unsigned: "", float: "llvm.trunc", flag: false },
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![i32(-3)], i32(-3)),
                (vec![f64(-2.5)], f64(-2.0)),
                (vec![f64(-0.0)], f64(-0.0)),
                (vec![f32(1e30)], f32(1e30)),
                (vec![f64(f64::NAN)], f64(f64::NAN)),
            ]),
            ..PURE
        },
        Op {
            name: "rint",
            doc: "Nearest integral float; of two equally near, the even one.",
            python: &["numpy.rint"],
            sig: Same(1, Floats),
            eval: |a| float1(a, f64::round_ties_even),
            host: Intrinsic { signed: "", unsigned: "", float: "llvm.rint", flag: false },
            nvptx: Intrinsic { signed: "", unsigned: "", float: "llvm.rint", flag: false },
            grad: Grad::Zero,
            examples: eg(vec![(vec![f64(2.5)], f64(2.0)), (vec![f64(-0.4)], f64(-0.0)), (vec![f32(1.5)], f32(2.0))]),
            ..PURE
        },
        Op {
            name: "fma",
            doc: "`x*y + z`, rounded once.",
            python: &["math.fma"],
            sig: Same(3, Floats),
            eval: fma,
            host: Intrinsic { signed: "", unsigned: "", float: "llvm.fma", flag: false },
            nvptx: Intrinsic { signed: "", unsigned: "", float: "llvm.fma", flag: false },
            grad: Grad::Partials(&["d * b", "d * a", "d"]),
            examples: eg(vec![
                (vec![f64(2.0), f64(3.0), f64(4.0)], f64(10.0)),
                (vec![f64(1.0 + f64::EPSILON), f64(1.0 - f64::EPSILON), f64(-1.0)], f64(-f64::EPSILON * f64::EPSILON)),
                (vec![f32(f32::INFINITY), f32(0.0), f32(1.0)], f32(f32::NAN)),
            ]),
            ..PURE
        },
        Op {
            name: "copysign",
            doc: "The first operand with the sign of the second.",
            python: &["math.copysign", "numpy.copysign"],
            sig: Same(2, Floats),
            eval: |a| float2(a, f64::copysign),
            host: Intrinsic { signed: "", unsigned: "", float: "llvm.copysign", flag: false },
            nvptx: Intrinsic { signed: "", unsigned: "", float: "llvm.copysign", flag: false },
            grad: Grad::Partials(&["d * copysign(1, a) * copysign(1, b)", ""]),
            examples: eg(vec![
                (vec![f64(3.0), f64(-0.0)], f64(-3.0)),
                (vec![f64(-1.0), f64(2.0)], f64(1.0)),
                (vec![f32(0.0), f32(-1.0)], f32(-0.0)),
            ]),
            ..PURE
        },
        Op {
            name: "nextafter",
            doc: "The next float after the first operand towards the second.",
            python: &["math.nextafter"],
            sig: Same(2, Floats),
            eval: nextafter,
            host: Symbol("nextafterf", "nextafter"),
            nvptx: Math("lh_gpu_nextafterf", "lh_gpu_nextafter"),
            grad: Grad::Partials(&["d", ""]),
            examples: eg(vec![
                (vec![f64(1.0), f64(2.0)], f64(1.0 + f64::EPSILON)),
                (vec![f64(0.0), f64(-1.0)], f64(-5e-324)),
                (vec![f32(1.0), f32(1.0)], f32(1.0)),
                (vec![f64(f64::MAX), f64(f64::INFINITY)], f64(f64::INFINITY)),
            ]),
            ..CALL
        },
        Op {
            name: "ldexp",
            doc: "The first operand times two to the power of the second.",
            python: &[],
            sig: Fixed(&[Ty::f64, Ty::i32], Ty::f64),
            eval: ldexp,
            host: Symbol("ldexp", "ldexp"),
            nvptx: Math("lh_gpu_ldexp", "lh_gpu_ldexp"),
            grad: Grad::Partials(&["ldexp(d, b)", ""]),
            examples: eg(vec![
                (vec![f64(0.75), i32(3)], f64(6.0)),
                (vec![f64(1.0), i32(-1074)], f64(5e-324)),
                (vec![f64(1.0), i32(i32::MAX)], f64(f64::INFINITY)),
            ]),
            ..CALL
        },
    ]
}
