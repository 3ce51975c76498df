//! Calls of functions that call themselves: the derivative of such a call runs the function again. Memory that has been
//! changed since the call began is first made what it was then, from copies, and afterwards what it was at the end.
//!
//! ```text
//! call fill(x, n)     ->     s = call snapshot(x)            (forward part)
//!                            call fill(x, n)
//!                            ...
//!                            t = call snapshot(x)            (reverse part)
//!                            call put_back(x, s)
//!                            call fill.adjoint(x, n, shadow of x)
//!                            call put_back(x, t)
//! ```

use crate::builder::Builder;
use crate::memory::{Callees, Memory, has_memory, is_lasting, leaves, wanted};
use crate::reverse::{End, Out, Reverse};
use crate::shadow::{leaf_values, refused_call, with_leaves};
use lh_ir::diag::Result;
use lh_ir::func::{Function, Inst, InstData};
use lh_ir::types::Prim;
use lh_ir::verify::{part, parts};
use lh_ir::{Block, SpecId, Ty, Value, bug};

/// The functions that copy the memory of a value of a type, and make it what it was.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    /// Takes the value, gives the copies.
    pub take: SpecId,
    /// Type of the copies.
    pub kept: Ty,
    /// Takes the value and the copies.
    pub put_back: SpecId,
}

/// Whether memory of a type can be copied and made what it was: that of arrays, not of objects.
pub fn has_snapshot(ty: Ty) -> bool {
    // A list of owners is only appended to.
    has_memory(ty) && !ty.flatten().contains(&Prim::Object)
}

/// The arguments of a call whose memory is not what it was when the call began, with the functions that copy it.
fn changing(
    func: &Function,
    memory: &Memory,
    callees: &dyn Callees,
    (spec, args): (SpecId, &[Value]),
    place: (Block, usize),
) -> Result<Vec<(Value, Snapshot)>> {
    let writes = callees.writes(spec);
    let mut found = Vec::new();
    for (i, a) in args.iter().enumerate() {
        let ty = func.ty(*a);
        if !has_memory(ty) || ty == Ty::list(Ty::meminfo()) {
            continue;
        }
        let lasts = memory.of(*a).iter().all(|k| is_lasting(func, memory, *k, place));
        if writes >> i.min(31) & 1 == 0 && lasts {
            continue;
        }
        match callees.snapshot(ty).filter(|_| has_snapshot(ty)) {
            Some(of) => found.push((*a, of)),
            None => return Err(refused_call(&callees.name(spec))),
        }
    }
    Ok(found)
}

/// Appends the copies of what a call may change; gives what was copied, the functions and the copies.
///
/// # Errors
/// Memory that cannot be copied.
pub(crate) fn keep(
    b: &mut Builder<'_>,
    memory: &Memory,
    callees: &dyn Callees,
    call: (SpecId, &[Value]),
    place: (Block, usize),
) -> Result<Vec<(Value, Snapshot, Value)>> {
    let of = changing(b.func, memory, callees, call, place)?;
    Ok(of.into_iter().map(|(a, s)| (a, s, b.inst(Inst::Call(s.take, vec![a]), s.kept))).collect())
}

fn put_back(b: &mut Builder<'_>, own: Value, of: Snapshot, kept: Value) {
    let none = b.func.new_value(Ty::none());
    let inst = Inst::Call(of.put_back, vec![own, kept]);
    b.insts.push(InstData { result: Some(none), inst, span: b.span });
}

impl Reverse<'_> {
    /// The adjoint of a call of a function that calls itself.
    pub(crate) fn recursive(
        &mut self,
        out: &mut Out,
        (spec, (derivative, ret)): (SpecId, (SpecId, Ty)),
        args: &[Value],
        r: Value,
        end: &End<'_>,
    ) -> Result<()> {
        let ty = self.func.ty(r);
        let taken = self.take(out, r);
        let asked = wanted(self.memory, args);
        let mut given = args.to_vec();
        for (a, _) in args.iter().zip(&asked).filter(|(a, w)| **w && has_memory(self.func.ty(**a))) {
            let Some(s) = self.shadows.get(a) else { return Err(refused_call(&self.callees.name(spec))) };
            given.push(*s);
        }
        given.extend(end.owners);
        let adjoints = part(ret, 1).unwrap_or_else(|| bug!("a value and adjoints"));
        let of: Vec<(usize, Ty)> = parts(adjoints).enumerate().collect();
        let kept = self.copies.get(&r).cloned().unwrap_or_default();
        let found = self.with(out, |b| {
            let mut now = Vec::new();
            for (own, of, _) in &kept {
                now.push(b.inst(Inst::Call(of.take, vec![*own]), of.kept));
            }
            kept.iter().for_each(|(own, of, copy)| put_back(b, *own, *of, *copy));
            given.push(with_leaves(b, r, ty, &mut taken.into_iter()));
            let both = b.inst(Inst::Call(derivative, given), ret);
            kept.iter().zip(now).for_each(|((own, of, _), now)| put_back(b, *own, *of, now));
            let is_given = !adjoints.flatten().is_empty();
            let adjoints = b.inst(if is_given { Inst::Field(both, 1) } else { Inst::Zero }, adjoints);
            let mut each = Vec::new();
            for (i, t) in of {
                let own = if leaves(t).is_empty() {
                    Vec::new()
                } else {
                    let own = b.inst(Inst::Field(adjoints, i as u32), t);
                    leaf_values(b, own, t)
                };
                each.push(own);
            }
            each
        });
        for (a, d) in args.iter().zip(&asked).filter(|(_, w)| **w).map(|(a, _)| *a).zip(found) {
            d.into_iter().enumerate().for_each(|(i, d)| self.add(out, a, i, d));
        }
        Ok(())
    }
}
