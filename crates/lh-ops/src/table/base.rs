//! Default columns of rows.

use lh_ir::algebra::{Algebra, Grad};
use lh_ir::op::{LlvmInst, Lower, Op, Sig};

/// The lowering to an instruction by kind of the operands' type; truth values count as unsigned.
pub(super) const fn inst(signed: LlvmInst, unsigned: LlvmInst, float: LlvmInst) -> Lower {
    Lower::Inst { signed, unsigned, float }
}

/// Operations of a few instructions without known laws.
pub(super) const PURE: Op = Op {
    name: "",
    doc: "",
    python: &[],
    sig: Sig::Fixed(&[], lh_ir::Ty::none),
    eval: |_| None,
    host: Lower::No,
    nvptx: Lower::No,
    algebra: Algebra::UNKNOWN,
    cost: 100,
    approx: None,
    grad: Grad::None("derivatives are not supported yet"),
    examples: &[],
};
/// Functions of the vector math library.
pub(super) const MATH: Op = Op { cost: 1_500, ..PURE };
/// C functions.
pub(super) const CALL: Op = Op { cost: 20_000, ..PURE };
/// The derivative of operations on integers and bits.
pub(super) const NO_SLOPE: Grad = Grad::None("it is not a function of real numbers");
