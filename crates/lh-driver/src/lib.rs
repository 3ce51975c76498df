//! The compiler as a whole: resolve, specialise, optimise, generate code. No globals.
//!
//! [`Compiler::compile`] types a function for argument types (and, through [`lh_infer::World`], every function that it
//! calls), optimises each once, and turns all that the entry reaches into one LLVM module, one object and one entry
//! point.

pub mod cache;
pub mod device;
pub mod host;
mod image;
pub mod kernel;
pub mod lifted;
mod loops;
mod parallel;
mod rare;
mod reasons;
pub mod report;
mod session;
pub mod typed;

use host::Host;
use image::Image;
use lh_infer::ArgTy;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, Extern, Function, Inst, Options, Term};
use lh_ir::{FuncId, ObjId, SpecId, Ty, TyKind};
use rare::Rare;
use report::Told;
use session::Session;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The compiler: everything typed so far, for one Python interpreter.
#[derive(Default)]
pub struct Compiler {
    pub(crate) specs: Vec<SpecState>,
    pub(crate) by_key: HashMap<Key, SpecId>,
    pub(crate) codes: HashMap<FuncId, Arc<lh_ir::untyped::Code>>,
    pub(crate) infos: HashMap<FuncId, lh_infer::FuncInfo>,
    pub(crate) own_options: HashMap<FuncId, Option<Options>>,
    pub(crate) inner: HashMap<(FuncId, u32), FuncId>,
    pub(crate) parents: HashMap<FuncId, (FuncId, u32)>,
    /// Library functions that were typed before, by their numbers.
    pub(crate) kept: HashMap<u32, SpecId>,
    pub(crate) library: HashMap<String, Option<(FuncId, bool)>>,
    /// Functions of linked PTX, by its text and the kind of device.
    pub(crate) linked: HashMap<(String, Device), lifted::Functions>,
    /// Variables of linked PTX, whose addresses are in code.
    variables: Vec<lh_ptx::Variable>,
}

/// What identifies a specialisation.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    func: FuncId,
    args: Vec<(Ty, Option<String>)>,
    options: Options,
}

/// A specialisation.
pub(crate) struct SpecState {
    pub name: String,
    pub func: FuncId,
    pub ret: Ty,
    /// `None` while it is being typed.
    pub body: Option<Body>,
    pub is_library: bool,
}

/// A typed and optimised function.
pub(crate) struct Body {
    pub func: Arc<Function>,
    /// What calls of it are replaced by.
    pub inlinable: Option<Arc<Function>>,
    pub callees: Vec<SpecId>,
    pub deps: Vec<Dep>,
    pub told: Arc<Told>,
    pub offsets: Vec<lh_infer::Offsets>,
    /// What it does to its parameters' memory.
    pub summary: Arc<lh_opt::Summary>,
}

/// Something outside the code that compiled code has taken for constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Dep {
    /// A global or builtin read by name; `value` is absent if there was none.
    Global { func: FuncId, name: String, value: Option<ObjId> },
    /// The content of a closure cell.
    Free { func: FuncId, index: u32, value: Option<ObjId> },
    /// An attribute of an object.
    Attribute { object: ObjId, name: String, value: Option<ObjId> },
    /// What `import name` or `from name import attr` inside a function gives.
    Import { name: String, attr: Option<String>, value: Option<ObjId> },
}

/// Machine code for one function and one tuple of argument types.
pub struct Compiled {
    /// `i32 entry(const u64 *args, u64 *ret)`: every machine primitive in one 8-byte slot, both ways.
    pub entry: lh_llvm::EntryPoint,
    /// Argument types.
    pub args: Vec<Ty>,
    /// Result type.
    pub ret: Ty,
    /// What the code depends on.
    pub deps: Vec<Dep>,
    /// Arguments whose memory it may write, as in [`lh_ir::func::Foreign`], by those of them that have a form at run time.
    pub writes: u32,
    /// Whether an argument (or a part of one) may live on in the result or in another argument.
    pub escapes: bool,
    /// Address of the C function that it is, too, if it was asked for.
    pub callback: Option<usize>,
    /// Whether it may take long: otherwise it neither loops nor calls anything but what raises.
    pub may_wait: bool,
    /// What a launch has to know of it, if it is a kernel for a CUDA device.
    pub kernel: Option<kernel::Kernel>,
    /// Its code, if that is for a GPU.
    pub on_gpu: Option<device::GpuKernel>,
    /// What each stage took.
    pub timings: Vec<(&'static str, Duration)>,
    /// Size of the object code, bytes.
    pub object_size: usize,
    /// The object code, for the cache; empty if it comes from there.
    pub(crate) object: Vec<u8>,
    /// The function of the source file that each number of a file in the object means.
    files: Vec<(usize, FuncId)>,
    functions: Vec<Arc<Function>>,
    /// The user's functions that it calls, directly or not; none if it comes from the cache.
    pub called: Vec<Called>,
    /// What else is known about each function.
    told: Vec<Arc<Told>>,
    names: HashMap<SpecId, String>,
    /// What gives the next item of the generator that is the result.
    pub advance: Option<Arc<Compiled>>,
    /// Keeps the machine code mapped.
    _image: Option<Image>,
    /// What it calls that is not made yet.
    _rare: Option<Arc<Rare>>,
}

/// A function that is part of a caller's code.
pub struct Called {
    /// Which.
    pub function: FuncId,
    /// Types of its arguments.
    pub args: Vec<Ty>,
    /// Its result type.
    pub ret: Ty,
}

/// Text forms of compiled code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Typed IR after optimisation.
    Typed,
    /// LLVM IR after optimisation.
    Llvm,
    /// Assembly.
    Asm,
}

impl Compiler {
    /// An empty compiler.
    pub fn new() -> Compiler {
        Compiler::default()
    }

    /// Compiles function object `f` for argument types. If the object is to be kept (`whole`), all of it; otherwise what
    /// hardly ever runs is left until it does.
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
        if options.gpu.is_some() {
            return Ok(Arc::new(self.compile_gpu(host, f, args, options)?));
        }
        let start = Instant::now();
        self.drop_stale(host);
        let lh_infer::Object::Func(func) = host.object(f) else { lh_ir::bug!("not a function") };
        let args_ty: Vec<ArgTy> = args.iter().map(|t| ArgTy::from(*t)).collect();
        let mut session = Session::new(self, host);
        let spec = session.entry(func, &args_ty, options, ret)?;
        let (reading, passes) = (session.reading, session.passes);
        let typing = start.elapsed().saturating_sub(reading + passes);
        let found = [("bytecode", reading), ("types", typing), ("passes", passes)];
        let whole = whole || options.device != Device::Host;
        let mut made = self.generate(host, spec, args, start, found, whole)?;
        let ret = made.ret;
        if let TyKind::Generator { next, .. } = ret.kind() {
            made.advance = Some(Arc::new(self.generate(host, *next, &[ret], Instant::now(), [], whole)?));
        }
        Ok(Arc::new(made))
    }

    /// Machine code of a specialisation and all that it calls.
    fn generate<const N: usize>(
        &self,
        host: &mut dyn Host,
        spec: SpecId,
        args: &[Ty],
        start: Instant,
        found: [(&'static str, Duration); N],
        whole: bool,
    ) -> Result<Compiled> {
        let order = self.reachable(spec);
        let functions: Vec<Arc<Function>> = order.iter().map(|s| self.body(*s).func.clone()).collect();
        let names: HashMap<SpecId, String> = order.iter().map(|s| (*s, self.specs[s.index()].name.clone())).collect();
        let mut deps: Vec<Dep> = order.iter().flat_map(|s| self.body(*s).deps.clone()).collect();
        deps.sort_by_key(|d| format!("{d:?}"));
        deps.dedup();
        let (functions, kernel) = kernel::place_memory(functions);
        if kernel.is_some() {
            kernel::check_result(&functions[0], self.specs[spec.index()].ret)?;
        }
        let rare = if whole { lh_llvm::Rare::Here } else { lh_llvm::Rare::Later };
        let unit = lh_llvm::Unit { rare, ..unit(&functions, &names, lh_llvm::Wanted::default()) };
        let mut output = lh_llvm::Output::default();
        host.detached(&mut || output = lh_llvm::compile(&unit));
        let generated = start.elapsed();
        let words: HashMap<Extern, u64> = words(&functions).into_iter().map(|w| (w, host.word(w))).collect();
        let rare = (!whole && !output.rare.is_empty()).then(|| Rare::new(output.rare, &functions, &names, &words));
        let word = |w| words.get(&w).copied();
        let file = |f: usize| Some(functions.get(f)?.file.clone());
        let image = Image::load(&output.object, &functions[0].name, &word, &file, &|n| rare.as_ref()?.cell(n));
        let ret = self.specs[spec.index()].ret;
        let t = output.timings;
        let loading = start.elapsed() - generated;
        let rest = [("LLVM IR", t.lower), ("optimisation", t.optimise), ("machine code", t.emit), ("loading", loading)];
        let timings = found.into_iter().chain(rest).collect();
        Ok(Compiled {
            entry: image.entry,
            callback: image.callback,
            may_wait: image.may_wait,
            args: args.to_vec(),
            ret,
            deps,
            escapes: escapes(args, ret),
            writes: self.body(spec).summary.writes(),
            kernel,
            timings,
            object_size: output.object.len(),
            files: self.files(&functions, &order),
            object: output.object,
            functions,
            called: self.called(&order[1..]),
            told: order.iter().map(|s| self.body(*s).told.clone()).collect(),
            names,
            advance: None,
            on_gpu: None,
            _image: Some(image),
            _rare: rare,
        })
    }

    /// The result type of a function for argument types; what is typed for it serves [`Compiler::compile`] afterwards.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn result_type(&mut self, host: &mut dyn Host, f: ObjId, args: &[Ty], options: Options) -> Result<Ty> {
        self.drop_stale(host);
        let lh_infer::Object::Func(func) = host.object(f) else { lh_ir::bug!("not a function") };
        let args: Vec<ArgTy> = args.iter().map(|t| ArgTy::from(*t)).collect();
        let spec = Session::new(self, host).entry(func, &args, options, None)?;
        Ok(self.specs[spec.index()].ret)
    }

    /// The parameters, by their places, that the function of a generalised ufunc never stores to.
    ///
    /// # Errors
    /// As [`Compiler::compile`], or it returns something.
    pub fn unstored(&mut self, host: &mut dyn Host, f: ObjId, args: &[Ty], options: Options) -> Result<Vec<usize>> {
        let ret = self.result_type(host, f, args, options)?;
        let lh_infer::Object::Func(func) = host.object(f) else { lh_ir::bug!("not a function") };
        let types: Vec<ArgTy> = args.iter().map(|t| ArgTy::from(*t)).collect();
        let spec = Session::new(self, host).entry(func, &types, options, None)?;
        let body = self.body(spec);
        if !ret.is_none() && !ret.is_never() {
            let text = format!(
                "`{}` returns `{ret}`: the function of a generalised ufunc returns nothing",
                body.func.qualname
            );
            let d = Diagnostic::new(diag::NO_MATCHING_CALL, text);
            return Err(device::at_return(d, &body.func).note(
                "store the result in an output, `out[0] = ...` or `out[:] = ...`, which is a parameter of the function",
            ));
        }
        let mut param = 0..;
        let place = |(i, t): (usize, &Ty)| (!t.flatten().is_empty()).then(|| param.next().map(|p| (i, p)))?;
        let places: Vec<(usize, u32)> = args.iter().enumerate().filter_map(place).collect();
        let written = body.summary.writes();
        Ok(places.into_iter().filter(|(_, p)| written >> (*p).min(31) & 1 == 0).map(|(i, _)| i).collect())
    }

    /// The types of arguments, those of lists without items found by their use in the function.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn decided(&mut self, host: &mut dyn Host, f: ObjId, args: &[Ty], options: Options) -> Result<Vec<Ty>> {
        self.drop_stale(host);
        let lh_infer::Object::Func(func) = host.object(f) else { lh_ir::bug!("not a function") };
        let given: Vec<ArgTy> = args.iter().map(|t| ArgTy::from(*t)).collect();
        let spec = Session::new(self, host).entry(func, &given, options, None)?;
        let typed = &self.body(spec).func;
        let mut params = typed.blocks[0].params.iter();
        let found =
            |t: &Ty| if t.flatten().is_empty() { *t } else { params.next().map_or(*t, |p| typed.values[p.index()]) };
        Ok(args.iter().map(found).collect())
    }

    /// The first of the user's functions in each source file.
    fn files(&self, functions: &[Arc<Function>], order: &[SpecId]) -> Vec<(usize, FuncId)> {
        let is_first = |i: &usize| functions[..*i].iter().all(|f| f.file != functions[*i].file);
        let users = (0..functions.len()).filter(|i| !functions[*i].is_library);
        users.filter(is_first).map(|i| (i, self.specs[order[i].index()].func)).collect()
    }

    /// The user's among functions that are called.
    fn called(&self, order: &[SpecId]) -> Vec<Called> {
        let half = |s: &SpecId| match self.specs[s.index()].ret.kind() {
            TyKind::Generator { next, .. } => Some(*next),
            _ => None,
        };
        let halves: std::collections::HashSet<SpecId> = order.iter().filter_map(half).collect();
        let of = |s: SpecId| {
            let spec = &self.specs[s.index()];
            Called { function: spec.func, args: self.body(s).told.args(), ret: spec.ret }
        };
        order.iter().filter(|s| !self.specs[s.index()].is_library && !halves.contains(s)).map(|s| of(*s)).collect()
    }

    fn body(&self, s: SpecId) -> &Body {
        self.specs[s.index()].body.as_ref().unwrap_or_else(|| lh_ir::bug!("{s} has no body"))
    }

    /// The specialisation and all that it calls, callers first.
    fn reachable(&self, entry: SpecId) -> Vec<SpecId> {
        let mut order = vec![entry];
        let mut seen: std::collections::HashSet<SpecId> = order.iter().copied().collect();
        let mut at = 0;
        while at < order.len() {
            for c in &self.body(order[at]).callees {
                if seen.insert(*c) {
                    order.push(*c);
                }
            }
            at += 1;
        }
        order
    }

    /// Forgets everything of the user's when something that was read while compiling has changed since.
    ///
    /// Changes are rare, so that one stale value empties the table: what depends on what needs no book-keeping.
    fn drop_stale(&mut self, host: &mut dyn Host) {
        let user = self.specs.iter().filter(|s| !s.is_library);
        let fresh = user.filter_map(|s| s.body.as_ref()).flat_map(|b| &b.deps).all(|d| is_current(host, d));
        if !fresh {
            // Of the library what calls none of the user's functions is kept.
            let mut kept: Vec<bool> = self.specs.iter().map(|s| s.is_library).collect();
            let mut count = usize::MAX;
            while std::mem::replace(&mut count, kept.iter().filter(|k| **k).count()) != count {
                for (at, spec) in self.specs.iter().enumerate() {
                    kept[at] &= spec.body.iter().flat_map(|b| &b.callees).all(|c| kept[c.index()]);
                }
            }
            self.by_key.retain(|_, id| kept[id.index()]);
            self.infos.retain(|_, i| i.is_library);
        }
    }
}

/// Name and features of the processor that is compiled for.
pub fn processor() -> (&'static str, &'static str) {
    let host = lh_llvm::host();
    (&host.cpu, &host.features)
}

pub use lh_llvm::Level;

/// Levels of x86-64 that this computer has, highest first.
pub fn processor_levels() -> Vec<&'static str> {
    lh_llvm::levels()
}

/// Whether what was read is still so.
pub fn is_current(host: &mut dyn Host, d: &Dep) -> bool {
    match d {
        Dep::Global { func, name, value } => host.global(*func, name) == *value,
        Dep::Free { func, index, value } => host.free(*func, *index) == *value,
        Dep::Attribute { object, name, value } => host.attr(*object, name) == *value,
        Dep::Import { name, attr, value } => host.import(name, attr.as_deref()) == *value,
    }
}

impl Compiled {
    /// Code from the cache: there is nothing to show but what it does.
    pub(crate) fn loaded(
        image: Option<Image>,
        args: &[Ty],
        ret: Ty,
        deps: Vec<Dep>,
        escapes: bool,
        size: usize,
    ) -> Compiled {
        extern "C" fn nowhere(_: *const u64, _: *mut u64) -> i32 {
            lh_ir::bug!("a GPU's kernel on the host")
        }
        Compiled {
            entry: image.as_ref().map_or(nowhere, |i| i.entry),
            callback: image.as_ref().and_then(|i| i.callback),
            may_wait: image.as_ref().is_none_or(|i| i.may_wait),
            args: args.to_vec(),
            ret,
            deps,
            writes: u32::MAX,
            escapes,
            kernel: None,
            on_gpu: None,
            timings: Vec::new(),
            object_size: size,
            object: Vec::new(),
            files: Vec::new(),
            functions: Vec::new(),
            called: Vec::new(),
            told: Vec::new(),
            names: HashMap::new(),
            advance: None,
            _image: image,
            _rare: None,
        }
    }

    /// Whether it comes from the cache: then it has no texts.
    pub fn is_loaded(&self) -> bool {
        self.functions.is_empty()
    }

    /// Arrays whose memory the code refers to.
    pub fn captured(&self) -> Vec<ObjId> {
        let words = words(&self.functions).into_iter();
        words.filter_map(|w| if let Extern::Array(o) = w { Some(o) } else { None }).collect()
    }

    /// Numbers of this process that the code refers to.
    pub(crate) fn words(&self) -> Vec<Extern> {
        words(&self.functions)
    }

    /// The function of the source file that each number of a file in the object means.
    pub(crate) fn files(&self) -> Vec<(usize, FuncId)> {
        self.files.clone()
    }

    /// A text form of the code, made anew.
    pub fn text(&self, what: Text) -> String {
        let wanted = match what {
            Text::Typed => return self.functions.iter().map(|f| lh_ir::print::print(f)).collect::<Vec<_>>().join("\n"),
            Text::Llvm => lh_llvm::Wanted { llvm_ir_opt: true, ..Default::default() },
            Text::Asm => lh_llvm::Wanted { asm: true, ..Default::default() },
        };
        let out = lh_llvm::compile(&unit(&self.functions, &self.names, wanted));
        out.llvm_ir_opt.or(out.asm).unwrap_or_default()
    }

    /// The code for a linker, for processors of a level or this one: the entry stub has the symbol `entry`, and symbols of what is
    /// outside end with it.
    pub fn linkable(&self, entry: &str, level: Option<lh_llvm::Level>) -> Vec<u8> {
        let mut unit = unit(&self.functions, &self.names, lh_llvm::Wanted::default());
        (unit.entry_symbol, unit.outside, unit.level) = (entry.to_owned(), format!(".{entry}"), level);
        lh_llvm::compile(&unit).object
    }

    /// The same object for processors of a level.
    pub fn object_for(&self, level: Level) -> Vec<u8> {
        let mut unit = unit(&self.functions, &self.names, lh_llvm::Wanted::default());
        unit.level = Some(level);
        lh_llvm::compile(&unit).object
    }

    /// Objects that [`Compiled::linkable`] needs from outside, with their symbols.
    pub fn outside_words(&self, entry: &str) -> Vec<(Extern, String)> {
        let symbol = |w| format!("{}.{entry}", lh_llvm::Outside::Word(w).symbol());
        self.words().into_iter().map(|w| (w, symbol(w))).collect()
    }

    /// Functions whose source files' names it needs from outside, with the symbols of these.
    pub fn outside_files(&self, entry: &str) -> Vec<(FuncId, String)> {
        let symbol = |n| format!("{}.{entry}", lh_llvm::Outside::File(n).symbol());
        self.files.iter().map(|(n, f)| (*f, symbol(*n))).collect()
    }

    /// What the vectoriser says of each loop, asked anew.
    pub fn remarks(&self) -> Vec<lh_llvm::Remark> {
        let wanted = lh_llvm::Wanted { remarks: true, ..Default::default() };
        lh_llvm::compile(&unit(&self.functions, &self.names, wanted)).remarks
    }

    /// The typed functions, the entry first.
    pub fn functions(&self) -> &[Arc<Function>] {
        &self.functions
    }
}

fn unit<'f>(
    functions: &'f [Arc<Function>],
    names: &HashMap<SpecId, String>,
    wanted: lh_llvm::Wanted,
) -> lh_llvm::Unit<'f> {
    lh_llvm::Unit {
        // The entry stays first.
        functions: functions
            .iter()
            .map(|f| &**f)
            .chain(functions.iter().flat_map(|f| f.with_bodies().into_iter().skip(1)))
            .map(Cow::Borrowed)
            .collect(),
        spec_names: names.clone(),
        entry: 0,
        entry_symbol: image::ENTRY.to_owned(),
        abi: lh_llvm::Abi::Host,
        arrays: HashMap::new(),
        outside: String::new(),
        level: None,
        wanted,
        rare: lh_llvm::Rare::Here,
    }
}

/// Numbers of the process that functions refer to.
fn words(functions: &[Arc<Function>]) -> Vec<Extern> {
    let mut out = Vec::new();
    let all = functions.iter().flat_map(|f| f.with_bodies());
    for b in all.flat_map(|f| &f.blocks) {
        for i in &b.insts {
            if let Inst::Extern(w) = i.inst {
                out.push(w);
            }
        }
        if let Some(Term::Raise { exc, .. }) = &b.term {
            if exc.index() >= lh_runtime::classes::ALL.len() {
                out.push(Extern::Class(*exc));
            }
        }
    }
    out.sort();
    out.dedup();
    out
}

/// Whether counted parts of arguments may live on after the call: in the result, or inside a list argument.
fn escapes(args: &[Ty], ret: Ty) -> bool {
    use lh_ir::types::{Prim, TyKind};
    fn holds(t: Ty) -> bool {
        match t.kind() {
            TyKind::List(e, _) => e.is_counted(),
            TyKind::Tuple { elems, .. } => elems.iter().any(|e| holds(*e)),
            TyKind::Optional(t) => holds(*t),
            _ => false,
        }
    }
    let ret_counted = ret.flatten().iter().any(|p| matches!(p, Prim::Mem | Prim::List));
    ret_counted || args.iter().any(|a| holds(*a))
}

/// Functions that a typed function calls.
pub(crate) fn callees(func: &Function) -> Vec<SpecId> {
    let mut out = Vec::new();
    for i in func.with_bodies().into_iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts) {
        if matches!(i.inst, Inst::Call(..) | Inst::Map(..) | Inst::MapInto(..)) {
            typed::each_call(&mut i.inst.clone(), &mut |s| out.push(*s));
        }
    }
    out.sort();
    out.dedup();
    out
}
