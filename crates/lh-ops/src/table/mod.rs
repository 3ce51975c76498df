//! Every primitive operation, one row each; nothing else describes an operation.
//!
//! Rows are built on first use, because types are interned at run time.

mod arith;
mod bits;
mod compare;
mod float;
mod math;

use lh_ir::algebra::{Algebra, Grad};
use lh_ir::op::{LlvmInst, Lower, Op, Sig};
use std::collections::HashMap;
use std::sync::LazyLock;

static ROWS: LazyLock<Vec<Op>> = LazyLock::new(|| {
    let parts = [arith::rows(), bits::rows(), compare::rows(), float::rows(), math::rows()];
    parts.into_iter().flatten().collect()
});
static BY_NAME: LazyLock<HashMap<&'static str, &'static Op>> =
    LazyLock::new(|| ROWS.iter().map(|r| (r.name, r)).collect());
static BY_PATH: LazyLock<HashMap<&'static str, &'static Op>> =
    LazyLock::new(|| ROWS.iter().flat_map(|r| r.python.iter().map(move |p| (*p, r))).collect());

/// The row of a name.
pub fn row(name: &str) -> Option<&'static Op> {
    BY_NAME.get(name).copied()
}

/// The row that a Python callable means on numbers, by where it lives: `math.sin`, `numpy.add`.
pub fn for_python(path: &str) -> Option<&'static Op> {
    BY_PATH.get(path).copied()
}

/// Every row.
pub fn all() -> impl Iterator<Item = &'static Op> {
    ROWS.iter()
}

/// The lowering to an instruction by kind of the operands' type; truth values count as unsigned.
const fn inst(signed: LlvmInst, unsigned: LlvmInst, float: LlvmInst) -> Lower {
    Lower::Inst { signed, unsigned, float }
}

/// What rows say unless they say otherwise: a few instructions, of which no law is known.
const PURE: Op = Op {
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
const MATH: Op = Op { cost: 1_500, ..PURE };
/// C functions.
const CALL: Op = Op { cost: 20_000, ..PURE };
/// Of operations on integers and bits.
const NO_SLOPE: Grad = Grad::None("it is not a function of real numbers");
