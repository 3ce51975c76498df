//! Sums of adjoints in memory that threads of a kernel share, and the adjoints of atomic operations on it.

use crate::reverse::{Out, Reverse};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::Inst;
use lh_ir::runtime::Rmw;
use lh_ir::types::Prim;
use lh_ir::{Ty, Value, bug};
use lh_ops::families::atomic;

impl Reverse<'_> {
    /// Adds to adjoints in memory that other threads add to, too.
    pub(crate) fn add_atomically(&mut self, out: &mut Out, p: Value, ty: Ty, d: &[Value]) -> Result<()> {
        let f: Prim = match ty.flatten()[..] {
            [prim @ Prim::F32] | [prim @ Prim::F32, Prim::F32] => prim,
            [prim @ Prim::F64] | [prim @ Prim::F64, Prim::F64] => prim,
            _ => {
                let text = format!("the adjoint of a value of type `{ty}` in the memory of a kernel cannot be summed");
                return Err(Diagnostic::new(diag::NO_DERIVATIVE, text).note("read its fields one by one"));
            }
        };
        let f = atomic(Rmw::Add, f).unwrap_or_else(|| bug!("no atomic sum of {f:?}"));
        self.with(out, |b| {
            for (i, d) in d.iter().enumerate() {
                let of = b.func.ty(*d);
                let size = b.int(i as i64 * i64::try_from(of.mem_layout().1).unwrap_or(8));
                let at = if i == 0 { p } else { b.inst(Inst::PtrAdd(p, size), Ty::ptr()) };
                b.inst(Inst::Runtime(f, vec![at, *d]), of);
            }
        });
        Ok(())
    }

    /// The adjoint of an atomic operation: of a sum, what is added gets the adjoint of the memory; of an extreme, the
    /// first thread that gave it takes the adjoint away, so that one gets it, or what was there before.
    pub(crate) fn atomic(
        &mut self,
        out: &mut Out,
        (rmw, prim): (Rmw, Prim),
        args: &[Value],
        result: Option<Value>,
    ) -> Result<()> {
        if result.is_some_and(|r| self.has_adjoint(r)) {
            let text = "the old value that an atomic operation gives has no derivative";
            return Err(Diagnostic::new(diag::NO_DERIVATIVE, text));
        }
        let (p, ty) = (self.shadows[&args[0]], self.func.ty(args[1]));
        if rmw == Rmw::Add {
            let d = self.with(out, |b| b.inst(Inst::Load(p), ty));
            self.add(out, args[1], 0, d);
            return Ok(());
        }
        let f = atomic(Rmw::Add, prim).unwrap_or_else(|| bug!("no atomic sum of {prim:?}"));
        let take = self.program.derivatives().taken(self.func.options, ty.strong());
        let take = take.unwrap_or_else(|| bug!("extremes in code for a device"));
        let given = args.to_vec();
        let d = self.with(out, |b| {
            // A GPU reads what other blocks have left by an atomic operation. This sum changes nothing.
            let none = b.float(-0.0, ty.strong());
            let extreme = b.inst(Inst::Runtime(f, vec![given[0], none]), ty);
            let wins = b.test("eq", extreme, given[1]);
            b.inst(Inst::Call(take, vec![wins, p]), ty.strong())
        });
        self.add(out, args[1], 0, d);
        Ok(())
    }
}
