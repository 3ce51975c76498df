//! Calls of functions that were compiled elsewhere.

use crate::infer::Infer;
use crate::val::Val;
use crate::world::Foreign;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{self, Device, Extern, ForeignAbi, Inst};
use lh_ir::{ObjId, Ty};

impl Infer<'_> {
    /// A call: of several signatures the one that a dispatcher would choose.
    pub(crate) fn call_foreign(
        &mut self,
        o: ObjId,
        f: &Foreign,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Val> {
        if self.options.device != Device::Host {
            let text = format!("`{}` is compiled code of the host", f.name);
            return Err(Diagnostic::new(diag::NOT_ON_DEVICE, text).note("compute it on the host, and pass the result"));
        }
        if let Some(why) = &f.refused {
            return Err(Diagnostic::new(diag::UNSUPPORTED_CALL, why.clone()));
        }
        let mut bound = self.bind_foreign(f, args, kwargs)?;
        for v in &mut bound {
            if crate::calls::has_pending(v.ty) || v.ty.is_never() {
                return Ok(Val::of_type(Ty::never()));
            }
            *v = self.pointed(v, f.abi)?;
        }
        let limits: Vec<_> = f.signatures.iter().map(|s| (s.args.clone(), Some(s.ret))).collect();
        let chosen = self.best_signature(&f.name, "it is compiled for", &limits, &bound)?;
        let chosen = &f.signatures[chosen];
        let mut address = self.push(Inst::Extern(Extern::Foreign(o)), Ty::ptr());
        if chosen.offset != 0 {
            let by = Val::int(chosen.offset as i128);
            let (at, by) = (self.value(&address), self.value(&by));
            address = self.push(Inst::PtrAdd(at, by), Ty::ptr());
        }
        let mut operands = vec![self.value(&address)];
        let mut what = func::Foreign { abi: f.abi, writes: 0 };
        for (i, (v, want)) in bound.iter().zip(&chosen.args).enumerate() {
            let v = self.convert(v, *want)?;
            if want.flatten().is_empty() {
                continue;
            }
            what.writes |= (chosen.writes >> i.min(31) & 1) << (operands.len() - 1).min(31);
            operands.push(self.value(&v));
        }
        if chosen.ret.flatten().is_empty() {
            self.push_void(Inst::Foreign(what, operands));
            return Ok(Val::of_type(chosen.ret));
        }
        Ok(self.push(Inst::Foreign(what, operands), chosen.ret))
    }

    /// Positional arguments, then those given by name.
    fn bind_foreign(&self, f: &Foreign, args: &[Val], kwargs: &[(String, Val)]) -> Result<Vec<Val>> {
        let wrong = |text: String| Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
        let Some((name, _)) = kwargs.first() else { return Ok(args.to_vec()) };
        let Some(rest) = f.params.get(args.len()..) else {
            return wrong(format!("`{}` got multiple values for argument `{name}`", f.name));
        };
        if let Some((name, _)) = kwargs.iter().find(|(k, _)| !rest.contains(k)) {
            return wrong(format!("`{}` has no free argument `{name}`", f.name));
        }
        let mut bound = args.to_vec();
        for param in rest {
            match kwargs.iter().find(|(k, _)| k == param) {
                Some((_, v)) => bound.push(v.clone()),
                None => return wrong(format!("`{}` is missing the argument `{param}`", f.name)),
            }
        }
        Ok(bound)
    }

    /// A C function takes the address of an array for the array.
    fn pointed(&mut self, v: &Val, abi: ForeignAbi) -> Result<Val> {
        if abi == ForeignAbi::C && v.ty.is_array() { self.address_of(v) } else { Ok(v.clone()) }
    }
}
