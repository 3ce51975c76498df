//! Code for a GPU: the same typing and passes, another code generator.

use crate::host::Host;
use crate::session::Session;
use crate::{Compiler, Dep};
use lh_infer::ArgTy;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Extern, Function, Inst, Options};
use lh_ir::{ObjId, SpecId, Ty};
pub use lh_llvm::{Abi, Gpu, KernelLimits, RaiseSite, Wanted};
use lh_llvm::{Ptx, Unit};
use std::borrow::Cow;
use std::collections::HashMap;

/// What [`Compiler::compile_ptx`] is to make.
pub struct DeviceRequest<'a> {
    /// For which GPU.
    pub gpu: Gpu,
    /// Kernel or device function.
    pub abi: Abi,
    /// Its symbol.
    pub symbol: &'a str,
    /// Result type that a signature says.
    pub ret: Option<Ty>,
    /// What is wanted beside the text.
    pub wanted: Wanted,
}

/// Code for a GPU.
pub struct DeviceCode {
    /// The text, and where it raises.
    pub ptx: Ptx,
    /// Result type.
    pub ret: Ty,
    /// What the code depends on.
    pub deps: Vec<Dep>,
}

impl DeviceCode {
    /// Where exceptions are noted, by number, with the names of their classes.
    pub fn raise_sites(&self) -> impl Iterator<Item = (&'static str, &RaiseSite)> {
        self.ptx.raise_sites.iter().map(|s| (s.class(), s))
    }
}

impl Compiler {
    /// Compiles function object `f` for a GPU.
    ///
    /// # Errors
    /// The diagnostic for the first thing that cannot be compiled, or that a GPU cannot do.
    pub fn compile_ptx(
        &mut self,
        host: &mut dyn Host,
        f: ObjId,
        args: &[Ty],
        options: Options,
        request: &DeviceRequest<'_>,
    ) -> Result<DeviceCode> {
        self.drop_stale(host);
        let lh_infer::Object::Func(func) = host.object(f) else { lh_ir::bug!("not a function") };
        let types: Vec<ArgTy> = args.iter().map(|t| ArgTy::from(*t)).collect();
        let spec = Session::new(self, host).entry(func, &types, options, None)?;
        let order = self.reachable(spec);
        let mut functions: Vec<Function> = order.iter().map(|s| Function::clone(&self.body(*s).func)).collect();
        let names: HashMap<SpecId, String> = order.iter().map(|s| (*s, self.specs[s.index()].name.clone())).collect();
        let mut ret = self.specs[spec.index()].ret;
        if matches!(request.abi, Abi::Kernel(_)) && !ret.is_none() && !ret.is_never() {
            return Err(kernel_result(&functions[0], ret));
        }
        if let Some(want) = request.ret.filter(|w| *w != ret && w.is_number() && ret.is_number()) {
            convert_result(&mut functions[0], want);
            ret = want;
        }
        let insts = functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
        let captured = insts.filter_map(|i| if let Inst::Extern(Extern::Array(o)) = i.inst { Some(o) } else { None });
        let arrays = captured.filter_map(|o| Some((o, host.captured(o)?))).collect();
        let unit = Unit {
            functions: functions.into_iter().map(Cow::Owned).collect(),
            spec_names: names,
            entry: 0,
            entry_symbol: request.symbol.to_owned(),
            abi: request.abi,
            wanted: request.wanted,
            arrays,
            outside: String::new(),
            level: None,
            rare: lh_llvm::Rare::Here,
        };
        let ptx = lh_llvm::compile_ptx(&unit, request.gpu)?;
        let mut deps: Vec<Dep> = order.iter().flat_map(|s| self.body(*s).deps.clone()).collect();
        deps.sort_by_key(|d| format!("{d:?}"));
        deps.dedup();
        Ok(DeviceCode { ptx, ret, deps })
    }
}

/// Makes a function return another type of number, that of its signature.
fn convert_result(f: &mut Function, want: Ty) {
    use lh_ir::func::{InstData, Term};
    f.ret = Some(want);
    for b in 0..f.blocks.len() {
        let Some(Term::Return(v)) = f.blocks[b].term else { continue };
        let result = f.new_value(want);
        let data = &mut f.blocks[b];
        data.insts.push(InstData { result: Some(result), inst: Inst::Cast(v), span: data.term_span });
        data.term = Some(Term::Return(result));
    }
}

/// A kernel that returns something.
fn kernel_result(f: &Function, ret: Ty) -> Box<Diagnostic> {
    use lh_ir::func::Term;
    let place = f.blocks.iter().find(|b| matches!(b.term, Some(Term::Return(_)))).map(|b| b.term_span);
    Diagnostic::new(
        diag::NOT_ON_DEVICE,
        format!("CUDA kernel must have void return type, `{}` returns `{ret}`", f.qualname),
    )
    .note("write the result into an array, or make it a device function: `@cuda.jit(device=True)`")
    .at(&f.file, place.unwrap_or_default())
}
