//! `prim.adjoint`: a call of a function together with its derivative, on which `lib/lancehead/gradients.py` builds.

use crate::cx::Infer;
use crate::val::Val;
use lh_ir::Ty;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Inst, Options};

impl Infer<'_> {
    /// The result of `f(*given)`, and a tuple with the adjoint of each argument for an adjoint of 1 of the result's first
    /// float. Where `shadows` has `None`, the derivative is not asked for; else it has the memory that adjoints of an
    /// array's elements are added to, of the argument's type.
    pub(crate) fn adjoint(&mut self, f: &Val, given: &Val, shadows: &Val) -> Result<Val> {
        let wrong = |cx: &Self, v: &Val| cx.no_op("adjoint", v.ty, v.ty);
        let mut args = self.tuple_parts(given).ok_or_else(|| wrong(self, given))?;
        let shadows = self.tuple_parts(shadows).ok_or_else(|| wrong(self, shadows))?;
        for (a, s) in args.iter_mut().zip(&shadows) {
            if !s.ty.is_none() {
                // The argument is known by its name in the call.
                *a = Val::new(a.ty, self.value(a));
            }
        }
        let own = self.options;
        self.options = Options { differentiated: true, ..own };
        let made = self.call(f, &args, &[]);
        self.options = own;
        let made = made?;
        if made.ty.is_never() {
            return Ok(made);
        }
        let insts = &mut self.out.blocks[self.cur.index()].insts;
        let Some(Inst::Call(spec, passed)) = insts.last().map(|d| d.inst.clone()) else {
            return Err(Diagnostic::new(diag::NO_DERIVATIVE, "this callable has no derivative")
                .note("wrap it in a function: `lambda x: f(x)`"));
        };
        insts.pop();
        let mut wanted: Vec<(usize, lh_ir::Value)> = args
            .iter()
            .zip(&shadows)
            .enumerate()
            .filter(|(_, (_, s))| !s.ty.is_none())
            .filter_map(|(i, (a, _))| Some((i, a.v?)))
            .collect();
        let mut asked = vec![false; passed.len()];
        let mut order = Vec::new();
        for (at, v) in passed.iter().enumerate() {
            if let Some(i) = wanted.iter().position(|(_, w)| w == v) {
                asked[at] = true;
                order.push(wanted.remove(i).0);
            }
        }
        if let Some((i, _)) = wanted.first() {
            let text =
                format!("the derivative with respect to argument {i} is not defined: it is converted in the call");
            return Err(Diagnostic::new(diag::NO_DERIVATIVE, text));
        }
        let owners = Ty::list(Ty::meminfo());
        let adjoint = self.world.adjoint(spec, &asked, owners)?;
        let mut values = passed;
        for (i, shadowed) in order.iter().zip(&adjoint.shadowed) {
            if *shadowed {
                values.push(self.value(&shadows[*i]));
            }
        }
        let list = self.new_container(owners, &Val::int(0));
        values.push(self.value(&list));
        let both = self.push(Inst::Call(adjoint.id, values), adjoint.ret);
        let value = if made.ty.flatten().is_empty() { Val::of_type(made.ty) } else { self.field(&both, 0) };
        let found = self.field(&both, 1);
        let mut adjoints = vec![Val::of_type(Ty::none()); args.len()];
        for (n, i) in order.iter().enumerate() {
            adjoints[*i] = self.field(&found, n as u32);
        }
        Ok(Val::tuple(vec![value, Val::tuple(adjoints)]))
    }
}
