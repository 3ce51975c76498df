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

use crate::memory::{has_memory, leaves, wanted};
use crate::reverse::{End, Out, Reverse};
use crate::shadow::{leaf_values, with_leaves};
use crate::snapshots::{put_back, refused_call};
use lh_ir::diag::Result;
use lh_ir::func::Inst;
use lh_ir::verify::{part, parts};
use lh_ir::{SpecId, Ty, Value, bug};

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
            let Some(s) = self.shadows.get(a) else { return Err(refused_call(self.program.typed(spec).name)) };
            given.push(*s);
        }
        given.extend(end.owners);
        let adjoints = part(ret, 1).unwrap_or_else(|| bug!("a value and adjoints"));
        let of: Vec<(usize, Ty)> = parts(adjoints).enumerate().collect();
        let kept = self.copies.get(&r).cloned().unwrap_or_default();
        let found = self.with(out, |b| {
            let mut now = Vec::new();
            for (own, of, _) in &kept {
                now.push(b.inst(Inst::Call(of[0].id, vec![*own]), of[0].ret));
            }
            kept.iter().for_each(|(own, of, copy)| put_back(b, *own, of, *copy));
            given.push(with_leaves(b, r, ty, &mut taken.into_iter()));
            let both = b.inst(Inst::Call(derivative, given), ret);
            kept.iter().zip(now).for_each(|((own, of, _), now)| put_back(b, *own, of, now));
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
