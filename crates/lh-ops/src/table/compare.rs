//! Comparisons, predicates and selection.

use crate::eval::{compare, eg, f32, f64, float_pred, i64, select, u64};
use crate::table::base::{PURE, inst};
use lh_ir::Const;
use lh_ir::algebra::{Algebra, Cmp, Grad};
use lh_ir::op::Class::{Floats, Ordered};
use lh_ir::op::Lower::{FpClass, SignBit};
use lh_ir::op::Sig::{Pred, Select};
use lh_ir::op::{LlvmInst as I, Op};
use std::cmp::Ordering;

/// The rows.
#[expect(clippy::too_many_lines, reason = "a table")]
pub(crate) fn rows() -> Vec<Op> {
    vec![
        Op {
            name: "eq",
            doc: "Equal; false if an operand is NaN.",
            python: &["operator.eq", "numpy.equal"],
            sig: Pred(2, Ordered),
            eval: |a| compare(a, Ordering::is_eq, false),
            host: inst(I::IEq, I::IEq, I::FOeq),
            nvptx: inst(I::IEq, I::IEq, I::FOeq),
            algebra: Algebra::Cmp(Cmp::Eq),
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![i64(-1), i64(1)], Const::Bool(false)),
                (vec![u64(u64::MAX), u64(1)], Const::Bool(false)),
                (vec![f64(f64::NAN), f64(f64::NAN)], Const::Bool(false)),
                (vec![f64(0.0), f64(-0.0)], Const::Bool(true)),
                (vec![Const::Bool(false), Const::Bool(true)], Const::Bool(false)),
            ]),
            ..PURE
        },
        Op {
            name: "ne",
            doc: "Not equal; true if an operand is NaN.",
            python: &["operator.ne", "numpy.not_equal"],
            sig: Pred(2, Ordered),
            eval: |a| compare(a, Ordering::is_ne, true),
            host: inst(I::INe, I::INe, I::FUne),
            nvptx: inst(I::INe, I::INe, I::FUne),
            algebra: Algebra::Cmp(Cmp::Ne),
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![i64(-1), i64(1)], Const::Bool(true)),
                (vec![u64(u64::MAX), u64(1)], Const::Bool(true)),
                (vec![f64(f64::NAN), f64(f64::NAN)], Const::Bool(true)),
                (vec![f64(0.0), f64(-0.0)], Const::Bool(false)),
                (vec![Const::Bool(false), Const::Bool(true)], Const::Bool(true)),
            ]),
            ..PURE
        },
        Op {
            name: "lt",
            doc: "Less; false if an operand is NaN.",
            python: &["operator.lt", "numpy.less"],
            sig: Pred(2, Ordered),
            eval: |a| compare(a, Ordering::is_lt, false),
            host: inst(I::ISlt, I::IUlt, I::FOlt),
            nvptx: inst(I::ISlt, I::IUlt, I::FOlt),
            algebra: Algebra::Cmp(Cmp::Lt),
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![i64(-1), i64(1)], Const::Bool(true)),
                (vec![u64(u64::MAX), u64(1)], Const::Bool(false)),
                (vec![f64(f64::NAN), f64(f64::NAN)], Const::Bool(false)),
                (vec![f64(0.0), f64(-0.0)], Const::Bool(false)),
                (vec![Const::Bool(false), Const::Bool(true)], Const::Bool(true)),
            ]),
            ..PURE
        },
        Op {
            name: "le",
            doc: "Less or equal; false if an operand is NaN.",
            python: &["operator.le", "numpy.less_equal"],
            sig: Pred(2, Ordered),
            eval: |a| compare(a, Ordering::is_le, false),
            host: inst(I::ISle, I::IUle, I::FOle),
            nvptx: inst(I::ISle, I::IUle, I::FOle),
            algebra: Algebra::Cmp(Cmp::Le),
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![i64(-1), i64(1)], Const::Bool(true)),
                (vec![u64(u64::MAX), u64(1)], Const::Bool(false)),
                (vec![f64(f64::NAN), f64(f64::NAN)], Const::Bool(false)),
                (vec![f64(0.0), f64(-0.0)], Const::Bool(true)),
                (vec![Const::Bool(false), Const::Bool(true)], Const::Bool(true)),
            ]),
            ..PURE
        },
        Op {
            name: "gt",
            doc: "Greater; false if an operand is NaN.",
            python: &["operator.gt", "numpy.greater"],
            sig: Pred(2, Ordered),
            eval: |a| compare(a, Ordering::is_gt, false),
            host: inst(I::ISgt, I::IUgt, I::FOgt),
            nvptx: inst(I::ISgt, I::IUgt, I::FOgt),
            algebra: Algebra::Cmp(Cmp::Gt),
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![i64(-1), i64(1)], Const::Bool(false)),
                (vec![u64(u64::MAX), u64(1)], Const::Bool(true)),
                (vec![f64(f64::NAN), f64(f64::NAN)], Const::Bool(false)),
                (vec![f64(0.0), f64(-0.0)], Const::Bool(false)),
                (vec![Const::Bool(false), Const::Bool(true)], Const::Bool(false)),
            ]),
            ..PURE
        },
        Op {
            name: "ge",
            doc: "Greater or equal; false if an operand is NaN.",
            python: &["operator.ge", "numpy.greater_equal"],
            sig: Pred(2, Ordered),
            eval: |a| compare(a, Ordering::is_ge, false),
            host: inst(I::ISge, I::IUge, I::FOge),
            nvptx: inst(I::ISge, I::IUge, I::FOge),
            algebra: Algebra::Cmp(Cmp::Ge),
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![i64(-1), i64(1)], Const::Bool(false)),
                (vec![u64(u64::MAX), u64(1)], Const::Bool(true)),
                (vec![f64(f64::NAN), f64(f64::NAN)], Const::Bool(false)),
                (vec![f64(0.0), f64(-0.0)], Const::Bool(true)),
                (vec![Const::Bool(false), Const::Bool(true)], Const::Bool(false)),
            ]),
            ..PURE
        },
        Op {
            name: "select",
            doc: "The second operand if the first is true, else the third; all three are computed.",
            python: &[],
            sig: Select(Ordered),
            eval: select,
            host: inst(I::Select, I::Select, I::Select),
            nvptx: inst(I::Select, I::Select, I::Select),
            algebra: Algebra::Select,
            grad: Grad::Partials(&["", "select(a, d, 0)", "select(a, 0, d)"]),
            examples: eg(vec![
                (vec![Const::Bool(true), i64(1), i64(2)], i64(1)),
                (vec![Const::Bool(false), f64(1.0), f64(f64::NAN)], f64(f64::NAN)),
                (vec![Const::Bool(false), Const::Bool(true), Const::Bool(false)], Const::Bool(false)),
            ]),
            ..PURE
        },
        Op {
            name: "isnan",
            doc: "Whether a float is not a number.",
            python: &["math.isnan", "numpy.isnan"],
            sig: Pred(1, Floats),
            eval: |a| float_pred(a, f64::is_nan),
            host: FpClass(3),
            nvptx: FpClass(3),
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![f64(f64::NAN)], Const::Bool(true)),
                (vec![f64(f64::INFINITY)], Const::Bool(false)),
                (vec![f32(0.0)], Const::Bool(false)),
            ]),
            ..PURE
        },
        Op {
            name: "isinf",
            doc: "Whether a float is an infinity.",
            python: &["math.isinf", "numpy.isinf"],
            sig: Pred(1, Floats),
            eval: |a| float_pred(a, f64::is_infinite),
            host: FpClass(0x204),
            nvptx: FpClass(0x204),
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![f64(f64::NEG_INFINITY)], Const::Bool(true)),
                (vec![f64(f64::NAN)], Const::Bool(false)),
                (vec![f32(f32::INFINITY)], Const::Bool(true)),
            ]),
            ..PURE
        },
        Op {
            name: "isfinite",
            doc: "Whether a float is neither an infinity nor NaN.",
            python: &["math.isfinite", "numpy.isfinite"],
            sig: Pred(1, Floats),
            eval: |a| float_pred(a, f64::is_finite),
            host: FpClass(0x1f8),
            nvptx: FpClass(0x1f8),
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![f64(1.0)], Const::Bool(true)),
                (vec![f64(f64::NAN)], Const::Bool(false)),
                (vec![f64(f64::INFINITY)], Const::Bool(false)),
                (vec![f64(-0.0)], Const::Bool(true)),
                (vec![f32(1e-45)], Const::Bool(true)),
            ]),
            ..PURE
        },
        Op {
            name: "signbit",
            doc: "Whether the sign bit of a float is set.",
            python: &["numpy.signbit"],
            sig: Pred(1, Floats),
            eval: |a| float_pred(a, f64::is_sign_negative),
            host: SignBit,
            nvptx: SignBit,
            grad: Grad::Zero,
            examples: eg(vec![
                (vec![f64(-0.0)], Const::Bool(true)),
                (vec![f64(f64::INFINITY)], Const::Bool(false)),
                (vec![f32(-1.0)], Const::Bool(true)),
            ]),
            ..PURE
        },
    ]
}
