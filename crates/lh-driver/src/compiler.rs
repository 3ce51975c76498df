//! The compiler: from a function object and argument types to machine code.

pub mod gpu;
mod gradients;
mod library;
mod parts;
pub mod ptx;
mod session;
mod state;

pub use state::Compiler;

use crate::code::group::Group;
use crate::code::image::{Image, Outsiders};
use crate::code::lazy::Lazy;
use crate::compiled::{Compiled, escapes, keeps_texts};
use crate::host::Host;
use crate::kernel;
use lh_infer::{ArgTy, World};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, Function, Options};
use lh_ir::{FuncId, ObjId, SpecId, Ty, TyKind};
use session::Session;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Names of stages with the time that each took.
type Timings = Vec<(&'static str, Duration)>;

impl Compiler {
    /// Compiles function object `f` for argument types. If the object is to be kept (`whole`), all of it; otherwise
    /// functions that hardly ever run are compiled when they are called.
    ///
    /// # Errors
    /// The diagnostic for the first thing that cannot be compiled.
    pub fn compile(
        &mut self,
        host: &mut dyn Host,
        f: ObjId,
        args: &[Ty],
        options: Options,
        ret: Option<Ty>,
        whole: bool,
    ) -> Result<Arc<Compiled>> {
        if options.gpu != 0 {
            return Ok(Arc::new(self.compile_gpu(host, f, args, options)?));
        }
        let start = Instant::now();
        let (spec, timings) = self.specialise(host, f, args, options, ret)?;
        let whole = whole || options.device != Device::Host;
        let mut made = self.generate(host, spec, args, start, timings, whole)?;
        let ret = made.ret;
        if let TyKind::Generator(g) = ret.kind() {
            let args = [ret, g.sent];
            made.advance = Some(Arc::new(self.generate(host, g.next, &args, Instant::now(), Vec::new(), whole)?));
        }
        Ok(Arc::new(made))
    }

    /// As [`Compiler::compile`], with captured variables as further parameters ([`lh_frontend::lifted`]).
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn compile_lifted(
        &mut self,
        host: &mut dyn Host,
        f: ObjId,
        variables: u64,
        args: &[Ty],
        options: Options,
    ) -> Result<Arc<Compiled>> {
        let start = Instant::now();
        self.begin(host);
        let own = function(host, f);
        let func = host.inner_function(own, None);
        self.lifted.insert(func, (own, variables));
        let (spec, timings) = self.specialise_function(host, func, args, options, None)?;
        Ok(Arc::new(self.generate(host, spec, args, start, timings, false)?))
    }

    /// How the code of a function uses its captured variables.
    ///
    /// # Errors
    /// The code has something that the language lacks.
    pub fn uses(&mut self, host: &mut dyn Host, f: ObjId) -> Result<lh_frontend::Uses> {
        let func = function(host, f);
        Ok(lh_frontend::uses(&*Session::new(self, host).code(func)?))
    }

    /// Types and optimises a function object and all that it calls.
    fn specialise(
        &mut self,
        host: &mut dyn Host,
        f: ObjId,
        args: &[Ty],
        options: Options,
        ret: Option<Ty>,
    ) -> Result<(SpecId, Timings)> {
        self.begin(host);
        let func = function(host, f);
        self.specialise_function(host, func, args, options, ret)
    }

    fn specialise_function(
        &mut self,
        host: &mut dyn Host,
        func: FuncId,
        args: &[Ty],
        options: Options,
        ret: Option<Ty>,
    ) -> Result<(SpecId, Timings)> {
        let start = Instant::now();
        let args: Vec<ArgTy> = args.iter().map(|t| ArgTy::from(*t)).collect();
        let mut session = Session::new(self, host);
        let spec = session.entry(func, &args, options, ret)?;
        let (reading, passes) = (session.reading, session.passes);
        let typing = start.elapsed().saturating_sub(reading + passes);
        Ok((spec, vec![("bytecode", reading), ("types", typing), ("passes", passes)]))
    }

    /// Machine code of a specialisation and all that it calls.
    fn generate(
        &mut self,
        host: &mut dyn Host,
        spec: SpecId,
        args: &[Ty],
        start: Instant,
        mut timings: Timings,
        whole: bool,
    ) -> Result<Compiled> {
        let order = self.reachable(&[spec]);
        let (own, parts) = self.own_and_parts(host, spec, whole);
        let functions: Vec<Arc<Function>> = own.iter().map(|s| self.body(*s).func.clone()).collect();
        let (functions, kernel) = kernel::place_memory(functions);
        let ret = self.spec(spec).ret;
        if kernel.is_some() {
            kernel::check_result(&functions[0], ret)?;
        }
        let group = Arc::new(Group::of_entry(functions, self.names(&own), parts));
        let rare = if whole { lh_llvm::Rare::Here } else { lh_llvm::Rare::Later };
        let (objects, members) = (self.objects.clone(), group.clone());
        let work = move || {
            let (_, output) = objects.compile(&members.unit(lh_llvm::Wanted::default(), rare));
            members.compile_called(&output.object);
            output
        };
        let output = host.detached(Box::new(work), group.instructions());
        let generated = start.elapsed();
        let words = group.values(|w| host.word(w));
        let lazy = (!whole && !output.rare.is_empty()).then(|| Lazy::new(output.rare, &group, &words, &self.objects));
        let outsiders = Outsiders { lazy: Box::new(|n| lazy.as_ref()?.cell(n)), ..group.outsiders(&words) };
        let image = Image::load(&output.object, &group.functions[0].name, &outsiders);
        drop(outsiders);
        if group.has_texts() && (keeps_texts(args, ret) || group.has_foreign()) {
            image.keep();
            std::mem::forget(lazy.clone());
        }
        let t = output.timings;
        let loading = start.elapsed() - generated;
        timings.extend([("LLVM IR", t.lower), ("optimisation", t.optimise)]);
        timings.extend([("machine code", t.emit), ("loading", loading)]);
        Ok(Compiled {
            entry: image.entry,
            callback: image.callback,
            may_wait: image.may_wait,
            args: args.to_vec(),
            ret,
            deps: self.deps(&order),
            escapes: escapes(args, ret),
            writes: self.body(spec).summary.writes(),
            kernel,
            races: Compiled::races_of(&group.functions),
            told: AtomicBool::new(false),
            timings,
            object_size: output.object.len(),
            files: self.files(&group.functions, &own),
            object: output.object,
            functions: in_order(&order, &own, &group.functions, |s| self.body(s).func.clone()),
            group: Some(group),
            called: self.called(&order[1..]),
            sources: order.iter().map(|s| self.body(*s).source.clone()).collect(),
            names: self.names(&order),
            advance: None,
            on_gpu: None,
            _image: Some(image),
            _lazy: lazy,
        })
    }

    /// The result type of a function for argument types; what is typed for it serves [`Compiler::compile`] afterwards.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn result_type(&mut self, host: &mut dyn Host, f: ObjId, args: &[Ty], options: Options) -> Result<Ty> {
        let (spec, _) = self.specialise(host, f, args, options, None)?;
        Ok(self.spec(spec).ret)
    }

    /// The parameters, by their places, that the function of a generalised ufunc never stores to.
    ///
    /// # Errors
    /// As [`Compiler::compile`], or it returns something.
    pub fn unstored(&mut self, host: &mut dyn Host, f: ObjId, args: &[Ty], options: Options) -> Result<Vec<usize>> {
        let (spec, _) = self.specialise(host, f, args, options, None)?;
        let (body, ret) = (self.body(spec), self.spec(spec).ret);
        if !ret.is_none() && !ret.is_never() {
            let text = format!(
                "`{}` returns `{ret}`: the function of a generalised ufunc returns nothing",
                body.func.qualname
            );
            let d = Diagnostic::new(diag::NO_MATCHING_CALL, text);
            return Err(kernel::at_return(d, &body.func).note(
                "store the result in an output, `out[0] = ...` or `out[:] = ...`, which is a parameter of the function",
            ));
        }
        let mut param = 0..;
        let place = |(i, t): (usize, &Ty)| (!t.flatten().is_empty()).then(|| param.next().map(|p| (i, p)))?;
        let places: Vec<(usize, u32)> = args.iter().enumerate().filter_map(place).collect();
        let written = body.summary.writes();
        Ok(places.into_iter().filter(|(_, p)| written >> (*p).min(31) & 1 == 0).map(|(i, _)| i).collect())
    }

    /// The types of arguments, those of containers without items found by their use in the function.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn decided(&mut self, host: &mut dyn Host, f: ObjId, args: &[Ty], options: Options) -> Result<Vec<Ty>> {
        let (spec, _) = self.specialise(host, f, args, options, None)?;
        let typed = &self.body(spec).func;
        let mut params = typed.blocks[0].params.iter();
        let found =
            |t: &Ty| if t.flatten().is_empty() { *t } else { params.next().map_or(*t, |p| typed.values[p.index()]) };
        Ok(args.iter().map(found).collect())
    }
}

/// The functions of all specialisations in `order`: of those in `own`, as they were compiled.
fn in_order(
    order: &[SpecId],
    own: &[SpecId],
    functions: &[Arc<Function>],
    other: impl Fn(SpecId) -> Arc<Function>,
) -> Vec<Arc<Function>> {
    let of = |s: &SpecId| own.iter().position(|o| o == s).map_or_else(|| other(*s), |at| functions[at].clone());
    order.iter().map(of).collect()
}

fn function(host: &mut dyn Host, f: ObjId) -> FuncId {
    match host.object(f) {
        lh_infer::Object::Func(func) => func,
        _ => lh_ir::bug!("not a function"),
    }
}
