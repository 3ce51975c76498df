//! Calls of functions that were compiled elsewhere.

use crate::cx::Infer;
use crate::emit::exc;
use crate::val::{Known, Val};
use crate::world::Foreign;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{self, Device, Extern, ForeignAbi, Inst, InstData, Term};
use lh_ir::{Const, ObjId, Ty, TyKind};
use lh_ops::runtime as rt;

impl Infer<'_> {
    /// The address of memory that lives as long as the function's frame: as with Numba, where code generators make
    /// variables of the function that calls them.
    pub(crate) fn frame_memory(&mut self, bytes: u64) -> Result<Val> {
        if self.code.is_generator || self.options.device != Device::Host {
            let what = if self.code.is_generator { "generator" } else { "kernel" };
            let text = format!("the address of a variable of a code generator cannot be used in a {what}");
            return Err(Diagnostic::new(diag::UNSUPPORTED_CALL, text).note("use it in a function that is called"));
        }
        let types = [Ty::int(), Ty::tuple(vec![Ty::meminfo(), Ty::ptr()]), Ty::meminfo(), Ty::ptr()];
        let [size, both, owner, data] = types.map(|t| self.out.new_value(t));
        let made = [
            (size, Inst::Const(Const::Int(i128::from(bytes), Ty::int()))),
            (both, Inst::Runtime(&rt::lh_calloc, vec![size])),
            (owner, Inst::Field(both, 0)),
            (data, Inst::Field(both, 1)),
        ];
        let span = self.span;
        let insts = made.map(|(v, inst)| InstData { result: Some(v), inst, span });
        self.out.blocks[0].insts.splice(0..0, insts);
        self.frames.push((owner, data, bytes));
        Ok(Val::new(Ty::ptr(), data))
    }

    /// A result whose arrays own such memory where they lie in it, so that it lives as long as they do.
    pub(crate) fn out_of_frames(&mut self, result: Val) -> Result<Val> {
        if !holds_array(result.ty) {
            return Ok(result);
        }
        let ty = result.ty;
        let mut made = result;
        for (owner, data, bytes) in self.frames.clone() {
            let frame = [Val::new(Ty::meminfo(), owner), Val::new(Ty::ptr(), data), Val::int(bytes.into())];
            made = self.call_library("frames.owning", &[&[made][..], &frame[..]].concat())?;
        }
        self.convert(&made, ty)
    }

    /// Keeps such memory until the function returns.
    pub(crate) fn keep_frames(&mut self) {
        for (owner, ..) in std::mem::take(&mut self.frames) {
            for block in self.out.blocks.iter_mut().filter(|b| matches!(b.term, Some(Term::Return(_)))) {
                let inst = Inst::Runtime(&rt::lh_memory_kept, vec![owner]);
                block.insts.push(InstData { result: None, inst, span: block.term_span });
            }
        }
    }

    /// A call: of several signatures the one that a dispatcher would choose.
    pub(crate) fn call_foreign(
        &mut self,
        o: ObjId,
        f: &Foreign,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Val> {
        if let Some(why) = &f.refused {
            return Err(Diagnostic::new(diag::UNSUPPORTED_CALL, why.clone()));
        }
        if self.options.device != Device::Host {
            let text = format!("`{}` is compiled code of the host", f.name);
            return Err(Diagnostic::new(diag::NOT_ON_DEVICE, text).note("compute it on the host, and pass the result"));
        }
        if f.is_null {
            self.raise_if(&Val::bool(true), exc::RUNTIME_ERROR, &format!("`{}` function address is null", f.name));
            return Ok(Val::of_type(Ty::never()));
        }
        let mut bound = self.bind_foreign(f, args, kwargs)?;
        if bound.iter().any(|v| crate::convert::has_pending(v.ty) || v.ty.is_never()) {
            return Ok(Val::of_type(Ty::never()));
        }
        if let (ForeignAbi::C, [s]) = (f.abi, &f.signatures[..]) {
            for (v, want) in bound.iter_mut().zip(&s.args).filter(|(_, want)| want.is_address()) {
                let found = self.pointed(v, *want)?;
                if found.ty != Ty::ptr() {
                    let text = format!("`{}` takes `{want}`, not `{}`", f.name, v.ty);
                    return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
                }
                *v = found;
            }
        }
        let limit = |t: &Ty| if t.is_address() { Ty::ptr() } else { *t };
        let limits: Vec<_> = f.signatures.iter().map(|s| (s.args.iter().map(limit).collect(), Some(s.ret))).collect();
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
            let v = if want.is_address() { v.clone() } else { self.convert(v, *want)? };
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

    /// Converts an argument for an address parameter of a C function: arrays pass their memory; numbers, other
    /// addresses and `None` are accepted as well. Other values are left as they are.
    fn pointed(&mut self, v: &Val, want: Ty) -> Result<Val> {
        let array = self.array_of_ctypes(v).unwrap_or_else(|| v.clone());
        let (found, to) = match array.ty.as_array() {
            Some((dtype, ..)) => (self.address_of(&array)?, Some(dtype)),
            None if array.ty.is_none() => (self.push(Inst::Zero, Ty::ptr()), None),
            None if array.ty.pointee().is_some() => (self.field(&array, 0), array.ty.pointee()),
            None if array.ty == Ty::ptr() => (array, None),
            None if array.ty.is_int() && want == Ty::ptr() => {
                (self.runtime(&rt::lh_addr_ptr, &[array], Ty::ptr())?, None)
            }
            None => return Ok(v.clone()),
        };
        let fits = to.is_none() || want.pointee().is_none() || to.map(Ty::weak) == want.pointee().map(Ty::weak);
        Ok(if fits { found } else { v.clone() })
    }

    /// The array whose `ctypes` attribute a value is.
    pub(crate) fn array_of_ctypes(&mut self, v: &Val) -> Option<Val> {
        match v.ty.kind() {
            TyKind::BoundMethod { recv, name } if name == "ctypes" && recv.is_array() => {
                Some(match v.known.as_deref() {
                    Some(Known::Method(array, _)) => array.clone(),
                    _ => self.field(v, 0),
                })
            }
            _ => None,
        }
    }
}

/// Whether a value is an array, or a tuple that holds one.
fn holds_array(ty: Ty) -> bool {
    match ty.kind() {
        TyKind::Array { .. } => true,
        TyKind::Tuple { elems, .. } => elems.iter().any(|t| holds_array(*t)),
        _ => false,
    }
}
