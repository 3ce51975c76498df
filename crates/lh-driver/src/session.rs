//! One compilation: what inference asks, answered from the host and from what is already typed.

use crate::host::{Host, Source};
use crate::report::Told;
use crate::{Body, Compiler, Dep, Key, SpecState, callees};
use lh_infer::{ArgTy, FuncInfo, Object, Overload, Overloaded, Spec, World};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, Options, parallel, waits};
use lh_ir::untyped::Code;
use lh_ir::{Block, Const, ExcId, FuncId, ObjId, SpecId, Ty, TyKind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Depth of calls that typing follows before it gives up: each needs several native frames.
const MAX_DEPTH: usize = 150;

/// A function being typed.
struct Frame {
    spec: SpecId,
    key: Key,
    is_library: bool,
    deps: Vec<Dep>,
    /// Whether a recursive call used the result type assumed so far.
    used: bool,
    /// The outermost frame whose assumed result type this one has used.
    lowest: usize,
    /// Specialisations finished inside this frame that rest on its assumed result type.
    provisional: Vec<Key>,
}

/// One compilation in progress.
pub(crate) struct Session<'a> {
    pub(crate) compiler: &'a mut Compiler,
    pub(crate) host: &'a mut dyn Host,
    stack: Vec<Frame>,
    /// Time spent on reading bytecode.
    pub(crate) reading: Duration,
    /// Time spent on optimising typed functions.
    pub(crate) passes: Duration,
}

impl<'a> Session<'a> {
    pub(crate) fn new(compiler: &'a mut Compiler, host: &'a mut dyn Host) -> Session<'a> {
        Session { compiler, host, stack: Vec::new(), reading: Duration::ZERO, passes: Duration::ZERO }
    }

    /// Types the function that the user calls; its result is of type `ret` if that is given.
    pub(crate) fn entry(&mut self, f: FuncId, args: &[ArgTy], options: Options, ret: Option<Ty>) -> Result<SpecId> {
        let spec = self.typed(f, args, options)?;
        if let Some((what, instead)) = formless(spec.ret) {
            let code = self.code(f)?;
            let text = format!("`{}` returns {what}, which has no form outside of compiled code", code.name);
            let span = lh_ir::Span { line: code.first_line, end_line: code.first_line, ..Default::default() };
            return Err(Diagnostic::new(diag::UNSUPPORTED_TYPE, text).note(instead).at(&code.file, span));
        }
        match ret {
            Some(want) if !same_boundary(want, spec.ret) => {
                let code = self.code(f)?;
                Err(Diagnostic::new(
                    diag::CANNOT_UNIFY,
                    format!("`{}` returns `{}`, its signature says `{want}`", code.name, spec.ret),
                )
                .note("correct the signature, or leave the result type out")
                .at(&code.file, lh_ir::Span { line: code.first_line, end_line: code.first_line, ..Default::default() }))
            }
            _ => Ok(spec.id),
        }
    }

    fn typed(&mut self, f: FuncId, args: &[ArgTy], options: Options) -> Result<Spec> {
        let key = Key {
            func: f,
            args: args.iter().map(|a| (a.ty, a.is_known().then(|| format!("{:?} {:?}", a.value, a.items)))).collect(),
            options,
        };
        if let Some(id) = self.compiler.by_key.get(&key).copied() {
            if self.compiler.specs[id.index()].body.is_none() {
                self.note_recursion(id);
            }
            return Ok(Spec { id, ret: self.compiler.specs[id.index()].ret });
        }
        if self.stack.len() >= MAX_DEPTH {
            return Err(Diagnostic::new(diag::TOO_LARGE, format!("more than {MAX_DEPTH} functions call each other"))
                .note("a recursion whose argument types grow with every call never ends"));
        }
        if let Some(id) = self.find_typed(&key) {
            return Ok(Spec { id, ret: self.compiler.specs[id.index()].ret });
        }
        let code = self.code(f)?;
        let id = SpecId::new(self.compiler.specs.len());
        let name = format!("{}.{}", code.name, id.0);
        let is_library = self.info(f).is_library;
        self.compiler.specs.push(SpecState { name: name.clone(), func: f, ret: Ty::never(), body: None, is_library });
        self.compiler.by_key.insert(key.clone(), id);
        let depth = self.stack.len();
        self.stack.push(Frame {
            spec: id,
            key: key.clone(),
            is_library,
            deps: vec![],
            used: false,
            lowest: depth,
            provisional: vec![],
        });
        let inferred = lh_infer::infer(self, f, args, options, &name);
        let frame = self.stack.pop().expect("pushed above");
        match inferred {
            Ok(out) => self.finish(frame, depth, out),
            Err(d) => {
                self.forget(&frame);
                Err(d)
            }
        }
    }

    /// A call of a function that is still being typed.
    fn note_recursion(&mut self, id: SpecId) {
        if let Some(at) = self.stack.iter().position(|f| f.spec == id) {
            self.stack[at].used = true;
            for f in &mut self.stack[at + 1..] {
                f.lowest = f.lowest.min(at);
            }
        }
    }

    /// Takes back a function that does not compile, and what rests on it.
    fn forget(&mut self, frame: &Frame) {
        self.compiler.by_key.remove(&frame.key);
        for k in &frame.provisional {
            self.compiler.by_key.remove(k);
        }
    }

    fn finish(&mut self, frame: Frame, depth: usize, out: lh_infer::Output) -> Result<Spec> {
        let mut func = out.func;
        func.callee_waits = self.waits_of_callees(&func, frame.spec);
        let ret = out.ret;
        let next = out.next.as_ref().map(|(id, _)| *id);
        if func.options.device == Device::Kernel {
            // Passes take it that kernels return nothing.
            if let Err(d) = crate::kernel::check_result(&func, ret) {
                self.forget(&frame);
                return Err(d);
            }
        }
        if let Some((id, half)) = out.next {
            if let Err(d) = self.finish_next(&frame, id, half, out.annotations.clone()) {
                self.forget(&frame);
                return Err(d);
            }
        }
        let start = Instant::now();
        let specs = &self.compiler.specs;
        let callees_of = lh_opt::pipeline::Known {
            bodies: &|s: SpecId| specs[s.index()].body.as_ref().and_then(|b| b.inlinable.clone()),
            summaries: &|s: SpecId| specs[s.index()].body.as_ref().map(|b| b.summary.clone()),
            spec: frame.spec,
        };
        let outcome = match lh_opt::run(&mut func, &callees_of) {
            Ok(outcome) => outcome,
            Err(d) => {
                self.forget(&frame);
                return Err(d);
            }
        };
        self.passes += start.elapsed();
        let told = Arc::new(Told::new(
            &self.compiler.codes[&frame.key.func],
            &frame.key.args,
            out.annotations,
            outcome.elementwise,
        ));
        let body = Body {
            callees: callees(&func).into_iter().chain(next).collect(),
            func: Arc::new(func),
            inlinable: outcome.inlinable.map(Arc::new),
            deps: frame.deps,
            told,
            summary: outcome.summary,
            offsets: out.offsets,
        };
        let state = &mut self.compiler.specs[frame.spec.index()];
        state.ret = ret;
        state.body = Some(body);
        if frame.lowest < depth {
            // Its result rests on an outer function's assumed one: it goes when that changes.
            let head = &mut self.stack[frame.lowest];
            head.provisional.push(frame.key);
            head.provisional.extend(frame.provisional);
        }
        Ok(Spec { id: frame.spec, ret })
    }

    /// Optimises what gives the next item of a generator.
    fn finish_next(
        &mut self,
        frame: &Frame,
        id: SpecId,
        mut next: lh_ir::Function,
        annotations: Vec<(lh_ir::Span, String, Ty)>,
    ) -> Result<()> {
        let start = Instant::now();
        let specs = &self.compiler.specs;
        let callees_of = lh_opt::pipeline::Known {
            bodies: &|s: SpecId| specs[s.index()].body.as_ref().and_then(|b| b.inlinable.clone()),
            summaries: &|s: SpecId| specs[s.index()].body.as_ref().map(|b| b.summary.clone()),
            spec: id,
        };
        let outcome = lh_opt::run(&mut next, &callees_of)?;
        self.passes += start.elapsed();
        let code = &self.compiler.codes[&frame.key.func];
        let told = Arc::new(Told::new(code, &frame.key.args, annotations, outcome.elementwise));
        let state = &mut self.compiler.specs[id.index()];
        state.ret = next.ret.unwrap_or(Ty::never());
        state.body = Some(Body {
            callees: callees(&next),
            func: Arc::new(next),
            // The state in the frame is what it is called for.
            inlinable: None,
            deps: frame.deps.clone(),
            told,
            summary: outcome.summary,
            offsets: Vec::new(),
        });
        Ok(())
    }

    /// How the threads of what a function calls wait for each other. Of a function still being typed this is not known.
    fn waits_of_callees(&self, func: &lh_ir::Function, own: SpecId) -> Vec<(SpecId, u8)> {
        if func.options.device == Device::Host {
            return Vec::new();
        }
        let of = |s: SpecId| match &self.compiler.specs[s.index()].body {
            Some(body) => body.func.waits,
            None if s == own => waits::VARIES | waits::EFFECTS,
            None => waits::ALL,
        };
        let mut known: Vec<(SpecId, u8)> = callees(func).into_iter().map(|s| (s, of(s))).collect();
        // Where a callee is inlined, what it calls is called here.
        for s in callees(func) {
            known.extend(self.compiler.specs[s.index()].body.iter().flat_map(|b| &b.func.callee_waits));
        }
        known
    }

    fn depend(&mut self, d: Dep) {
        if let Some(f) = self.stack.last_mut() {
            if !f.is_library && !f.deps.contains(&d) {
                f.deps.push(d);
            }
        }
    }
}

/// What a value holds that has no object in Python, and what to write instead.
fn formless(t: Ty) -> Option<(&'static str, &'static str)> {
    match t.kind() {
        TyKind::Closure { .. } => Some(("an inner function", "define it at module level")),
        TyKind::Exc => Some(("an exception", "raise it, or return its class or arguments")),
        TyKind::Iter(_) => Some(("an iterator", "return a list of its items")),
        TyKind::BoundMethod { .. } => Some(("a method of a value", "return the value")),
        TyKind::Tuple { elems, .. } | TyKind::Choice(elems) => elems.iter().find_map(|t| match t.kind() {
            TyKind::Generator { .. } => Some(("a generator inside another value", "return it by itself")),
            _ => formless(*t),
        }),
        TyKind::List(t, _) | TyKind::Optional(t) => formless(*t),
        _ => None,
    }
}

/// Whether two result types are the same to a caller from Python.
fn same_boundary(want: Ty, got: Ty) -> bool {
    want.strong() == got.strong() || got.is_never() || want.to_string() == got.to_string()
}

impl World for Session<'_> {
    fn code(&mut self, f: FuncId) -> Result<Arc<Code>> {
        if let Some(c) = self.compiler.codes.get(&f) {
            return Ok(c.clone());
        }
        let code = match self.compiler.parents.get(&f).copied() {
            Some((parent, index)) => self.code(parent)?.inner[index as usize].clone(),
            None => {
                let start = Instant::now();
                let o = self.host.function_object(f);
                let code = Arc::new(match self.host.code(o) {
                    Source::Bytecode(raw) => lh_frontend::translate(&raw, self.host.version())?,
                    Source::Decoded(code) => code,
                });
                self.reading += start.elapsed();
                code
            }
        };
        self.compiler.codes.insert(f, code.clone());
        Ok(code)
    }

    fn info(&mut self, f: FuncId) -> FuncInfo {
        if let Some(i) = self.compiler.infos.get(&f) {
            return i.clone();
        }
        if let Some((parent, _)) = self.compiler.parents.get(&f).copied() {
            let parent = self.info(parent);
            return FuncInfo { defaults: vec![], kwdefaults: vec![], locals: vec![], ..parent };
        }
        let o = self.host.function_object(f);
        let raw = self.host.function(o);
        let options = raw.options.unwrap_or_default();
        let (defaults, kwdefaults) = (raw.defaults, raw.kwdefaults);
        let info = FuncInfo { is_library: raw.is_library, options, defaults, kwdefaults, locals: self.host.locals(o) };
        self.compiler.infos.insert(f, info.clone());
        info
    }

    fn signatures(&mut self, f: FuncId) -> Vec<(Vec<Ty>, Option<Ty>)> {
        if self.compiler.parents.contains_key(&f) {
            return Vec::new();
        }
        let o = self.host.function_object(f);
        self.host.signatures(o)
    }

    fn inner(&mut self, f: FuncId, index: u32) -> FuncId {
        if let Some(i) = self.compiler.inner.get(&(f, index)) {
            return *i;
        }
        let i = self.host.inner_function(f);
        self.compiler.inner.insert((f, index), i);
        self.compiler.parents.insert(i, (f, index));
        i
    }

    fn global(&mut self, f: FuncId, name: &str) -> Option<ObjId> {
        let value = self.host.global(f, name);
        self.depend(Dep::Global { func: f, name: name.to_owned(), value });
        value
    }

    fn free(&mut self, f: FuncId, index: u32) -> Option<ObjId> {
        let value = self.host.free(f, index);
        self.depend(Dep::Free { func: f, index, value });
        value
    }

    fn import(&mut self, name: &str, attr: Option<&str>) -> Option<ObjId> {
        let value = self.host.import(name, attr);
        self.depend(Dep::Import { name: name.to_owned(), attr: attr.map(str::to_owned), value });
        value
    }

    fn object(&mut self, o: ObjId) -> Object {
        self.host.object(o)
    }

    fn attr(&mut self, o: ObjId, name: &str) -> Option<ObjId> {
        let value = self.host.attr(o, name);
        self.depend(Dep::Attribute { object: o, name: name.to_owned(), value });
        value
    }

    fn library(&mut self, path: &str) -> Option<(FuncId, bool)> {
        if let Some(found) = self.compiler.library.get(path) {
            return *found;
        }
        let found = self.host.library(path).and_then(|(o, property)| match self.host.object(o) {
            Object::Func(f) => Some((f, property)),
            _ => None,
        });
        self.compiler.library.insert(path.to_owned(), found);
        found
    }

    fn fold_call(&mut self, o: ObjId, args: &[ObjId]) -> Option<ObjId> {
        self.host.fold_call(o, args)
    }

    fn overload(&mut self, what: &Overload<'_>) -> Result<Overloaded> {
        let Some(o) = self.host.overloaded(what) else { return Ok(Overloaded::No) };
        if what.is_pending {
            return Ok(Overloaded::Later);
        }
        let found = self.host.overload(o, what);
        let (name, found) = found.map_err(|why| Diagnostic::new(diag::NO_MATCHING_CALL, why))?;
        let value = match found {
            Overloaded::Function(f) => Some(self.host.function_object(f)),
            Overloaded::No | Overloaded::Method | Overloaded::Later => None,
        };
        self.depend(Dep::Attribute { object: o, name, value });
        Ok(found)
    }

    fn object_of(&mut self, c: &Const) -> ObjId {
        self.host.object_of(c)
    }

    fn exc_is_subclass(&mut self, a: ExcId, b: ExcId) -> bool {
        self.host.exc_is_subclass(a, b)
    }

    fn specialise(&mut self, f: FuncId, args: &[ArgTy], options: Options) -> Result<Spec> {
        // A function with a decorator of its own keeps its options; others take the caller's.
        let own = if self.compiler.parents.contains_key(&f) {
            None
        } else {
            let o = self.host.function_object(f);
            self.own_options(f, o)
        };
        let options = Options {
            device: match options.device {
                Device::Kernel => Device::Function,
                other => other,
            },
            // What checked code calls is checked with it.
            parallel: own.unwrap_or(options).parallel | (options.parallel & parallel::RACE),
            // What it declares may be defined in what the kernel is linked with.
            link: options.link,
            gpu: options.gpu,
            // On a GPU the kernel says whether indices are checked: nobody sees what is raised there.
            boundscheck: if options.device == Device::Gpu { options } else { own.unwrap_or(options) }.boundscheck,
            callback: false,
            ..own.unwrap_or(options)
        };
        self.typed(f, args, options)
    }

    fn link(&mut self, o: ObjId, name: &str, options: Options) -> Result<Option<(SpecId, usize)>> {
        let failed = |text: String| Diagnostic::new(diag::BAD_PTX, text);
        let made = self.host.linked_ptx(o, options.link);
        let (text, machine) = made.map_err(|why| failed(format!("`{name}` cannot be linked: {why}")))?;
        let is_gpu = options.device == Device::Gpu;
        match (self.lifted(text, name, options), machine) {
            (Ok(Some(found)), _) => Ok(Some(found)),
            (Err(_), _) | (_, Some(_)) if is_gpu => Ok(None),
            (_, Some(why)) => Err(failed(format!("`{name}` cannot run on the CPU device: {why}"))
                .note("link CUDA C, PTX or LTO-IR that defines it beside the machine code, which GPUs run")),
            (Err(e), None) => Err(e),
            (Ok(None), None) => Err(failed(format!("`{name}` is declared, but nothing that is linked defines it"))
                .note("give `link=` to `cuda.declare_device` or to the kernel; CUDA C defines it as `extern \"C\" __device__`")),
        }
    }

    fn reserve(&mut self, f: FuncId, name: &str) -> SpecId {
        let is_library = self.info(f).is_library;
        let id = SpecId::new(self.compiler.specs.len());
        self.compiler.specs.push(SpecState {
            name: name.to_owned(),
            func: f,
            ret: Ty::never(),
            body: None,
            is_library,
        });
        id
    }

    fn provisional(&mut self, ret: Ty) -> bool {
        let Some(frame) = self.stack.last_mut() else { return false };
        let used = std::mem::replace(&mut frame.used, false);
        let id = frame.spec;
        let changed = self.compiler.specs[id.index()].ret != ret;
        if used && changed {
            for k in std::mem::take(&mut frame.provisional) {
                self.compiler.by_key.remove(&k);
            }
        }
        self.compiler.specs[id.index()].ret = ret;
        used
    }

    fn unroll(&mut self, code: &Code, header: Block, times: u32) -> Option<Arc<Code>> {
        lh_frontend::unroll(code, header, times).map(Arc::new)
    }

    fn offsets(&mut self, s: SpecId) -> Vec<lh_infer::Offsets> {
        let (mut all, mut order, mut at) = (Vec::new(), vec![s], 0);
        while at < order.len() {
            let body = self.compiler.specs[order[at].index()].body.as_ref();
            at += 1;
            // A function still being typed calls itself: what it reads is added once.
            let Some(body) = body else { continue };
            all.extend(body.offsets.iter().cloned());
            for c in &body.callees {
                if !order.contains(c) {
                    order.push(*c);
                }
            }
        }
        all
    }

    fn describe(&mut self, o: ObjId) -> String {
        self.host.describe(o)
    }
}

impl Session<'_> {
    fn own_options(&mut self, f: FuncId, o: ObjId) -> Option<Options> {
        if !self.compiler.own_options.contains_key(&f) {
            let options = self.host.options(o);
            self.compiler.own_options.insert(f, options);
        }
        self.compiler.own_options[&f]
    }

    /// A device function that PTX defines.
    fn lifted(&mut self, text: String, name: &str, options: Options) -> Result<Option<(SpecId, usize)>> {
        let device = if options.device == Device::Gpu { Device::Gpu } else { Device::Function };
        let key = (text, device);
        if !self.compiler.linked.contains_key(&key) {
            let caller = self.stack.last().map_or_else(|| lh_ir::bug!("a call from nowhere"), |f| f.key.func);
            let functions = crate::lifted::link(self.compiler, &key.0, device, caller)?;
            self.compiler.linked.insert(key.clone(), functions);
        }
        Ok(self.compiler.linked[&key].get(name).copied())
    }
}
