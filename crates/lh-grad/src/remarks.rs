//! How a derivative treats the values of its function, for reports.

use crate::memory::Memory;
use lh_ir::Span;
use lh_ir::algebra::Grad;
use lh_ir::func::{Function, Inst};

/// How a derivative treats a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// It keeps these bytes, in each iteration of a loop or once.
    Kept { bytes: u64, each_iteration: bool },
    /// It computes the value again.
    Again,
    /// Nothing flows through the operation of this name.
    Ends(&'static str),
}

/// Remarks with their places.
pub type Remarks = Vec<(Span, Remark)>;

/// The places where derivatives end: operations on active values whose result is constant, but for comparisons.
pub(crate) fn ends(func: &Function, memory: &Memory) -> Remarks {
    let mut out = Vec::new();
    for d in func.blocks.iter().flat_map(|b| &b.insts) {
        let Some(r) = d.result.filter(|r| !func.ty(*r).is_bool()) else { continue };
        match &d.inst {
            Inst::Op(op, args) if op.grad == Grad::Zero && args.iter().any(|a| memory.is_active(*a)) => {
                out.push((d.span, Remark::Ends(op.name)));
            }
            Inst::Cast(v) if memory.is_active(*v) && func.ty(r).is_int() => out.push((d.span, Remark::Ends("int"))),
            _ => {}
        }
    }
    out
}
