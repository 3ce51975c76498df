//! How a derivative treats the values of its function, for reports.

use crate::memory::Memory;
use lh_ir::Span;
use lh_ir::algebra::Grad;
use lh_ir::func::{Function, Inst};
use std::collections::{BTreeMap, BTreeSet};

/// How a derivative treats a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remark {
    /// It keeps these bytes, in each iteration of a loop or once.
    Kept { bytes: u64, each_iteration: bool },
    /// It computes the value again.
    Again,
    /// Nothing flows through the operation of this name.
    Ends(&'static str),
}

/// Remarks with their places.
pub(crate) type Remarks = Vec<(Span, Remark)>;

/// The places where derivatives end: operations on active values whose result is constant, but for comparisons.
pub(crate) fn ends(func: &Function, memory: &Memory) -> Remarks {
    let mut out = Vec::new();
    for d in func.insts() {
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

/// Remarks about a derivative as texts, by line.
pub(crate) fn by_line(remarks: &[(Span, Remark)]) -> Vec<(u32, String)> {
    let mut lines: BTreeMap<u32, (u64, u64, usize, BTreeSet<&str>)> = BTreeMap::new();
    for (span, remark) in remarks {
        let (once, each, again, ends) = lines.entry(span.line).or_default();
        match remark {
            Remark::Kept { bytes, each_iteration: false } => *once += bytes,
            Remark::Kept { bytes, each_iteration: true } => *each += bytes,
            Remark::Again => *again += 1,
            Remark::Ends(name) => _ = ends.insert(name),
        }
    }
    let mut out = Vec::new();
    for (line, (once, each, again, ends)) in lines {
        let mut say = |holds: bool, text: String| out.extend(holds.then_some((line, text)));
        say(each > 0, format!("keeps {each} bytes of each iteration"));
        say(once > 0, format!("keeps {once} bytes"));
        say(again == 1, "computes a value again".to_owned());
        say(again > 1, format!("computes {again} values again"));
        ends.into_iter().for_each(|name| say(true, format!("ends at `{name}`")));
    }
    out
}
