//! Dimensions along which accesses move with a loop's index.

use super::counted::Defs;
use lh_ir::algebra::Algebra;
use lh_ir::func::Inst;
use lh_ir::{Function, Layout, Value};

/// The dimension with unit stride.
pub(crate) fn contiguous(func: &Function, array: Value) -> Option<usize> {
    let (_, ndim, layout, _) = func.ty(array).as_array()?;
    if layout == Layout::F { (ndim > 0).then_some(0) } else { ndim.checked_sub(1) }
}

/// Whether a value is a sum with the index as one of its terms.
pub(crate) fn moves(func: &Function, defs: &Defs, v: Value, index: Value) -> bool {
    v == index
        || match defs.inst(func, v) {
            Some(Inst::Op(op, args)) if op.is(Algebra::Add) => {
                moves(func, defs, args[0], index) != moves(func, defs, args[1], index)
            }
            Some(Inst::Op(op, args)) if op.is(Algebra::Sub) => {
                moves(func, defs, args[0], index) && !moves(func, defs, args[1], index)
            }
            Some(Inst::Cast(x)) => moves(func, defs, *x, index),
            _ => false,
        }
}
