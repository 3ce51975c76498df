//! Calls of functions that are defined in another language.

use crate::cx::Infer;
use crate::val::Val;
use crate::world::Linked;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, Extern, Foreign, ForeignAbi, Inst};
use lh_ir::{Layout, ObjId, Ty, Value};
use lh_ops::runtime as rt;

impl Infer<'_> {
    /// A call: parameters and results are passed in memory of the thread, as in PTX.
    pub(crate) fn call_linked(&mut self, o: ObjId, l: &Linked, args: &[Val]) -> Result<Val> {
        let wrong = |text: String| Diagnostic::new(diag::NO_MATCHING_CALL, text);
        if self.options.device == Device::Host {
            return Err(wrong(format!("`{}` is a function for devices: kernels call it", l.name)));
        }
        if args.len() != l.args.len() {
            return Err(wrong(format!("`{}` takes {} arguments, {} were given", l.name, l.args.len(), args.len())));
        }
        let found = self.world.link(o, &l.name, self.options)?;
        let mut given = Vec::new();
        for (a, want) in args.iter().zip(&l.args) {
            let a = self.unwrap_optional(a)?;
            given.push(if want.is_address() {
                self.address_of(&a)?
            } else if a.ty.is_number() && want.is_number() && (want.is_complex() || !a.ty.is_complex()) {
                self.cast(&a, *want)
            } else {
                return Err(wrong(format!("`{}` takes `{want}`, not `{}`", l.name, a.ty)));
            });
        }
        // Numba's convention always has the address of a result.
        let slot = if l.ret.is_none() { Ty::i64() } else { l.ret };
        let result = (!l.is_plain || !l.ret.is_none()).then(|| self.place_for(slot)).transpose()?;
        let load = |s: &mut Self| match result {
            Some(at) if !l.ret.is_none() => s.push(Inst::Load(at), l.ret),
            _ => Val::of_type(Ty::none()),
        };
        let Some((spec, count)) = found else {
            let direct = self.call_symbol(o, l, result, &given)?;
            return Ok(direct.unwrap_or_else(|| load(self)));
        };
        let mut places = Vec::new();
        if let (false, Some(at)) = (l.is_plain, result) {
            // The status, then the address of the result.
            places.push(self.place_for(Ty::i32())?);
            places.push(self.placed(&Val::new(Ty::ptr(), at))?);
        } else {
            places.extend(result);
        }
        for x in &given {
            places.push(self.placed(x)?);
        }
        if places.len() != count {
            let text = format!(
                "`{}` has {count} parameters and results in PTX; its declaration means {}",
                l.name,
                places.len()
            );
            return Err(Diagnostic::new(diag::BAD_PTX, text).note(
                "by Numba's convention it is `int f(T *result, ...)`; for `T f(...)` declare it with `abi=\"c\"`",
            ));
        }
        self.push(Inst::Call(spec, places), Ty::none());
        Ok(load(self))
    }

    /// A call by C's convention of what the linker will find by its name.
    fn call_symbol(&mut self, o: ObjId, l: &Linked, result: Option<Value>, args: &[Val]) -> Result<Option<Val>> {
        let is_one = |t: &Ty| t.flatten().len() == 1 && !t.is_half();
        let ret = if l.is_plain { l.ret } else { Ty::i32() };
        if let Some(t) = args.iter().map(|a| a.ty).chain([ret]).find(|t| !t.is_none() && !is_one(t)) {
            let text = format!("`{}` is joined by NVIDIA's linker, which passes no `{t}`", l.name);
            return Err(Diagnostic::new(diag::NOT_ON_DEVICE, text).note("pass an address: `CPointer(...)`"));
        }
        let address = self.push(Inst::Extern(Extern::Foreign(o)), Ty::ptr());
        let mut operands = vec![self.value(&address)];
        operands.extend(result.filter(|_| !l.is_plain));
        for a in args {
            operands.push(self.value(a));
        }
        let call = Inst::Foreign(Foreign { abi: ForeignAbi::C, writes: u32::MAX }, operands);
        if ret.is_none() {
            self.push_void(call);
            return Ok(None);
        }
        let got = self.push(call, ret);
        Ok(l.is_plain.then_some(got))
    }

    /// `ffi.from_buffer(a)`: the address of memory without gaps, in C's order.
    pub(crate) fn address_of_buffer(&mut self, a: &Val) -> Result<Val> {
        let array = if a.ty.as_buffer().is_some() { self.exported(a)? } else { a.clone() };
        let why = match array.ty.as_array() {
            Some((_, _, Layout::A, _)) => "from_buffer() unsupported on non-contiguous buffers",
            Some((_, 2.., Layout::F, _)) => "from_buffer() only supports multidimensional arrays with C layout",
            _ => return self.address_of(&array),
        };
        Err(Diagnostic::new(diag::NO_MATCHING_CALL, why).note("pass a contiguous copy"))
    }

    /// The address of an array's first element, or of a record.
    pub(crate) fn address_of(&mut self, a: &Val) -> Result<Val> {
        if a.ty == Ty::ptr() {
            return Ok(a.clone());
        }
        if a.ty.as_record().is_some() {
            return Ok(self.field(a, 1));
        }
        if !a.ty.is_array() {
            return Err(
                Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{}` has no address", a.ty)).note("give an array")
            );
        }
        let v = self.value(a);
        Ok(self.push(Inst::ArrayData(v), Ty::ptr()))
    }

    /// Memory of the thread for a value of a type.
    fn place_for(&mut self, ty: Ty) -> Result<Value> {
        let (_, size, align) = ty.mem_layout();
        let args = [Val::int(size.max(8) as i128), Val::int(align.max(8) as i128)];
        let at = self.runtime(&rt::lh_cuda_local, &args, Ty::ptr())?;
        Ok(self.value(&at))
    }

    /// Memory of the thread that holds a value.
    fn placed(&mut self, x: &Val) -> Result<Value> {
        let at = self.place_for(x.ty)?;
        let x = self.value(x);
        self.push_void(Inst::Store(at, x));
        Ok(at)
    }
}
