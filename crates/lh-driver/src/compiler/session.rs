//! One compilation: inference's questions, answered from the host and from functions that are already typed.

use super::Compiler;
use super::ptx;
use crate::code;
use crate::host::{Host, Inherited, LinkedPtx, Source, is_current};
use crate::kernel;
use crate::source_info::SourceInfo;
use crate::spec::{Body, Dep, Key, Spec, callees};
use lh_infer::{ArgTy, FuncInfo, Object, Overload, Overloaded, Stack, Taught, World};
use lh_ir::class::Binding;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Derivative, Device, Extern, Function, Options, Semantics, parallel, waits};
use lh_ir::types::Holds;
use lh_ir::untyped::Code;
use lh_ir::{Block, Const, ExcId, FuncId, ObjId, Span, SpecId, Ty, TyKind};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::slice;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// Notes about a function being typed: whether it is the library's, and its dependencies.
struct Notes {
    is_library: bool,
    deps: Vec<Dep>,
}

type Frame = lh_infer::Frame<Key, Notes>;

/// Whether `LANCEHEAD_DUMP=untyped` asks for the untyped code of every function that is not the library's.
static DUMP: LazyLock<bool> = LazyLock::new(|| std::env::var("LANCEHEAD_DUMP").is_ok_and(|pass| pass == "untyped"));

/// One compilation in progress.
pub(super) struct Session<'a> {
    pub(super) compiler: &'a mut Compiler,
    pub(super) host: &'a mut dyn Host,
    stack: Stack<Key, Notes>,
    /// Specialisations of earlier compilations that are still good.
    checked: HashSet<SpecId>,
    /// Results of [`lh_infer::taught`].
    taught: HashMap<Key, Taught>,
    /// Time spent on reading bytecode.
    pub(super) reading: Duration,
    /// Time spent on optimising typed functions.
    pub(super) passes: Duration,
}

impl<'a> Session<'a> {
    pub(super) fn new(compiler: &'a mut Compiler, host: &'a mut dyn Host) -> Session<'a> {
        Session {
            compiler,
            host,
            stack: Stack::default(),
            checked: HashSet::new(),
            taught: HashMap::new(),
            reading: Duration::ZERO,
            passes: Duration::ZERO,
        }
    }

    /// A part of a result that has no object in Python, and a form that has one.
    fn formless(&mut self, t: Ty) -> Option<(&'static str, &'static str)> {
        let closures = RefCell::new(Vec::new());
        let found = formless(t, &closures);
        let known = lh_infer::OF_LIBRARY.map(|path| self.library(path).map(|(f, _)| f));
        found.or_else(|| {
            closures.into_inner().into_iter().filter(|f| !known.contains(&Some(*f))).find_map(|func| {
                let o = self.host.function_object(func);
                let is_library = self.host.function(o).is_library;
                is_library.then_some(("a function of the library", "return what it computes"))
            })
        })
    }

    /// Types the function that the user calls; its result is of type `ret` if that is given.
    pub(super) fn entry(&mut self, f: FuncId, args: &[ArgTy], options: Options, ret: Option<Ty>) -> Result<SpecId> {
        let mut args = args.to_vec();
        let code = self.code(f)?;
        if code.is_generator && lh_infer::receives(&code) {
            args.push(ArgTy::sent(Ty::never()));
        }
        let spec = self.typed(f, &args, options)?;
        if let Some((what, instead)) = self.formless(spec.ret) {
            let code = self.code(f)?;
            let text = format!("`{}` returns {what}, which has no form outside of compiled code", code.name);
            let span = Span { line: code.first_line, end_line: code.first_line, ..Default::default() };
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
                .at(&code.file, Span { line: code.first_line, end_line: code.first_line, ..Default::default() }))
            }
            _ => Ok(spec.id),
        }
    }

    fn typed(&mut self, f: FuncId, args: &[ArgTy], options: Options) -> Result<lh_infer::Spec> {
        let f = lh_grad::differentiated(self, f, options);
        let key = key_of(f, args, options);
        if let Some(id) = self.known(&key) {
            let Spec { ret, body, .. } = &self.compiler.specs[id.index()];
            let (ret, is_unfinished) = (*ret, body.is_none());
            let is_assumed = is_unfinished || self.stack.note_call(&key);
            if is_unfinished {
                self.stack.note_recursion(id);
            }
            return Ok(lh_infer::Spec { id, ret, is_open: is_assumed && ret.is_never() });
        }
        self.stack.check_depth()?;
        if let Some(id) = self.find_typed(&key) {
            return Ok(lh_infer::Spec { id, ret: self.compiler.specs[id.index()].ret, is_open: false });
        }
        let code = self.code(f)?;
        let name = format!("{}.{}", code.name, self.compiler.specs.len());
        self.begin(&key, &name);
        // Asked here, the function depends on its rule. One with a rule is not differentiated itself.
        let has_rule = lh_grad::has_rule(self, f, options);
        let own = if has_rule { Options { derivative: Derivative::None, ..options } } else { options };
        let inferred = lh_infer::infer(self, f, args, own, &name);
        let frame = self.stack.leave();
        let mut finished = inferred.and_then(|out| self.finish(&frame, out));
        match &mut finished {
            Ok(spec) if spec.ret.is_never() => spec.is_open = !self.stack.is_final(&frame),
            _ => {}
        }
        if let (true, Ok(spec)) = (has_rule, &finished)
            && !spec.ret.is_never()
        {
            let id = spec.id;
            if let Err(d) = lh_grad::type_rule(self, f, args, options, id) {
                finished = Err(d);
            }
        }
        match &finished {
            Ok(_) => drop(self.stack.settle(frame)),
            Err(_) => self.forget(&frame),
        }
        finished
    }

    /// The specialisation of a key, if its objects are alive and nothing that it depends on has changed.
    fn known(&mut self, key: &Key) -> Option<SpecId> {
        let id = *self.compiler.by_key.get(key)?;
        let is_typed = self.compiler.spec(id).body.is_some();
        if is_typed && !self.is_usable(id) {
            self.compiler.by_key.remove(key);
            return None;
        }
        Some(id)
    }

    /// Whether a specialisation is current with all that it calls, and with the rules by which that is differentiated.
    pub(super) fn is_usable(&mut self, id: SpecId) -> bool {
        self.compiler.relied_on(id).into_iter().all(|s| self.is_current(s))
    }

    fn is_current(&mut self, id: SpecId) -> bool {
        let scope = self.compiler.spec(id).scope;
        // Functions that were typed in this scope depend on things as they are now.
        if self.checked.contains(&id) || scope != 0 && scope == self.host.scope() {
            return true;
        }
        let Some(body) = &self.compiler.spec(id).body else { return scope == 0 };
        let deps = body.deps.clone();
        let is_current = (scope == 0 || self.host.hold(scope)) && deps.iter().all(|d| is_current(self.host, d));
        if is_current {
            self.checked.insert(id);
        }
        is_current
    }

    /// Begins to type a function.
    fn begin(&mut self, key: &Key, name: &str) {
        let id = self.reserve(key.func, name);
        let is_library = self.compiler.spec(id).is_library;
        self.compiler.by_key.insert(key.clone(), id);
        self.stack.enter(id, key.clone(), Notes { is_library, deps: vec![] });
    }

    /// The options with which a function compiles that is called by one with some options.
    fn callee_options(&mut self, f: FuncId, args: &[ArgTy], options: Options) -> Options {
        // A function with a decorator of its own keeps its options; others take the caller's.
        let own = if self.compiler.parents.contains_key(&f) {
            None
        } else {
            let o = self.host.function_object(f);
            // Functions of the program take nothing from the library, whose options are its own.
            let by_program = self.stack.innermost().is_some_and(|f| !f.notes.is_library);
            self.own_options(f, o).map(|(own, from)| if by_program { from.applied(own, options) } else { own })
        };
        // The library has one semantics; it only hands that of its caller on to functions which it is given.
        let is_apart = self.info(f).is_library && !args.iter().any(|a| calls(a.ty));
        Options {
            semantics: if is_apart { Semantics::Python } else { own.unwrap_or(options).semantics },
            device: match options.device {
                Device::Kernel => Device::Function,
                other => other,
            },
            // Functions that checked code calls are checked with it.
            parallel: own.unwrap_or(options).parallel | (options.parallel & parallel::RACE),
            // A function that it declares may be defined in code that the kernel is linked with.
            link: options.link,
            gpu: options.gpu,
            // On a GPU the kernel says whether indices are checked: nobody sees what is raised there.
            boundscheck: if options.device == Device::Gpu { options } else { own.unwrap_or(options) }.boundscheck,
            callback: false,
            derivative: options.derivative,
            ..own.unwrap_or(options)
        }
    }

    /// Takes back a function that does not compile, and what rests on it.
    fn forget(&mut self, frame: &Frame) {
        for k in frame.forgotten() {
            self.compiler.by_key.remove(k);
        }
    }

    /// Optimises a function that has been typed, and the one that gives its next item if it is a generator.
    fn finish(&mut self, frame: &Frame, out: lh_infer::Output) -> Result<lh_infer::Spec> {
        let mut func = out.func;
        func.kernel.callee_waits = self.waits_of_callees(&func, frame.spec);
        let ret = out.ret;
        if func.options.device == Device::Kernel {
            // Passes rely on it that kernels return nothing.
            kernel::check_result(&func, ret)?;
        }
        let next = out.next.as_ref().map(|(id, _)| *id);
        if let Some((id, next)) = out.next {
            let body = self.optimised(frame, id, next, out.annotations.clone())?;
            let spec = &mut self.compiler.specs[id.index()];
            spec.ret = body.func.ret.unwrap_or(Ty::never());
            // It is called with the generator's state in memory, which inlining would not remove.
            spec.body = Some(Box::new(Body { inlinable: None, ..body }));
        }
        let mut body = self.optimised(frame, frame.spec, func, out.annotations)?;
        body.callees.extend(next);
        body.offsets = out.offsets;
        let is_lasting = |s: &SpecId| *s == frame.spec || self.compiler.spec(*s).scope == 0;
        // Passes may have inlined a function of the program, with its objects.
        let has_objects = |w: &Extern| !matches!(w, Extern::Type(_) | Extern::Class(_));
        let is_lasting = frame.notes.is_library
            && body.deps.is_empty()
            && !code::words(slice::from_ref(&body.func)).iter().any(has_objects)
            && body.callees.iter().all(is_lasting)
            // A derivative is made of the code before all passes, which calls what they have inlined.
            && body.primal.iter().flat_map(|f| callees(f)).all(|s| is_lasting(&s))
            && !frame.key.args.iter().any(|(t, _)| mentions_object(*t));
        let spec = &mut self.compiler.specs[frame.spec.index()];
        if is_lasting {
            spec.scope = 0;
        }
        (spec.ret, spec.body) = (ret, Some(Box::new(body)));
        Ok(lh_infer::Spec { id: frame.spec, ret, is_open: false })
    }

    /// Runs the passes on a function.
    fn optimised(
        &mut self,
        frame: &Frame,
        id: SpecId,
        mut func: Function,
        annotations: Vec<(Span, String, Ty)>,
    ) -> Result<Body> {
        let start = Instant::now();
        let primal = (func.options.derivative != Derivative::None).then(|| Arc::new(func.clone()));
        let outcome = self.compiler.with_known(id, |known| lh_opt::run(&mut func, known))?;
        self.passes += start.elapsed();
        self.compiler.warn(func.undone.drain(..));
        let code = &self.compiler.codes[&frame.key.func];
        Ok(Body {
            callees: callees(&func),
            func: Arc::new(func),
            inlinable: outcome.inlinable.map(Arc::new),
            deps: frame.notes.deps.clone(),
            source: Arc::new(SourceInfo::new(code, &frame.key.args, annotations, outcome.elementwise)),
            summary: outcome.summary,
            offsets: Vec::new(),
            primal,
        })
    }

    /// The waits of functions that a function calls. Those of a function that is still being typed are not known.
    fn waits_of_callees(&self, func: &Function, own: SpecId) -> Vec<(SpecId, u8)> {
        if func.options.device == Device::Host {
            return Vec::new();
        }
        let of = |s: SpecId| match &self.compiler.specs[s.index()].body {
            Some(body) => body.func.kernel.waits,
            None if s == own => waits::VARIES | waits::EFFECTS,
            None => waits::ALL,
        };
        let mut known: Vec<(SpecId, u8)> = callees(func).into_iter().map(|s| (s, of(s))).collect();
        // Where a callee is inlined, the calls in it become calls of this function.
        for s in callees(func) {
            known.extend(self.compiler.specs[s.index()].body.iter().flat_map(|b| &b.func.kernel.callee_waits));
        }
        known
    }

    /// The value of a name for the function being typed. In Numba's semantics it keeps that of its first compilation.
    fn settled(&mut self, f: FuncId, name: &str, now: Option<ObjId>) -> Option<ObjId> {
        let Some(frame) = self.stack.innermost() else { return now };
        if frame.key.options.semantics == Semantics::Python || frame.notes.is_library {
            return now;
        }
        let (func, args) = (frame.key.func, frame.key.args.iter().map(|(t, _)| *t).collect::<Vec<Ty>>());
        let root = self.root(func);
        if self.root(f) == root { self.host.frozen(root, &args, name, now) } else { now }
    }

    /// The function in which an inner function is, at last.
    fn root(&self, mut f: FuncId) -> FuncId {
        while let Some((parent, _)) = self.compiler.parents.get(&f) {
            f = *parent;
        }
        f
    }

    fn depend(&mut self, d: Dep) {
        if self.stack.innermost().is_some_and(|f| !f.notes.is_library) {
            self.depend_anywhere(d);
        }
    }

    /// Adds a dependency that a function of the library has, too: on a method of a class of the user's.
    fn depend_anywhere(&mut self, d: Dep) {
        if let Some(Notes { deps, .. }) = self.stack.innermost().map(|f| &mut f.notes) {
            if !deps.contains(&d) {
                deps.push(d);
            }
        }
    }
}

/// Whether a type mentions an object of the program that may be gone later.
fn mentions_object(t: Ty) -> bool {
    use TyKind::{BoundMethod, Class, Closure, Func, Instance, Obj};
    match (t.kind(), t.holds()) {
        (Func(_) | Obj(_) | Closure { .. } | BoundMethod { .. } | Instance { .. }, _) => true,
        (Class(c), _) => c.args.iter().any(|t| mentions_object(*t)),
        (_, Holds::Parts(a, b)) => a.iter().chain(b).any(|t| mentions_object(*t)),
        (_, Holds::Nothing | Holds::Memory | Holds::Objects) => false,
    }
}

/// Whether a value of the type may be called, or has something in it that may be.
fn calls(t: Ty) -> bool {
    let is_plain = matches!(t.kind(), TyKind::DType(_));
    let is_instance = matches!(t.kind(), TyKind::Instance { .. });
    !is_plain && (is_instance || t.is_function())
        || match t.holds() {
            Holds::Parts(a, b) => a.iter().chain(b).any(|t| calls(*t)),
            Holds::Nothing | Holds::Memory | Holds::Objects => false,
        }
}

/// By this a specialisation is found.
fn key_of(func: FuncId, args: &[ArgTy], options: Options) -> Key {
    let known = |a: &ArgTy| a.is_known().then(|| format!("{:?} {:?}", a.value, a.items));
    Key { func, args: args.iter().map(|a| (a.ty, known(a))).collect(), options }
}

/// A part of a value that has no object in Python, and a form that has one; gathers inner functions, which may have
/// none either, with the numbers of their captures.
fn formless(t: Ty, closures: &RefCell<Vec<FuncId>>) -> Option<(&'static str, &'static str)> {
    let formless = |t: Ty| formless(t, closures);
    match t.kind() {
        TyKind::Closure { func, captures, defaults, .. } => {
            closures.borrow_mut().push(*func);
            captures.iter().chain(defaults).find_map(|t| formless(*t))
        }
        TyKind::MaybeUnbound(_) => Some(("a variable that may have no value", "assign it before")),
        TyKind::Iter(_) => Some(("an iterator", "return a list of its items")),
        TyKind::BoundMethod { .. } => Some(("a method of a value", "return the value")),
        TyKind::Tuple { elems, .. } | TyKind::Choice(elems) => elems.iter().find_map(|t| match t.kind() {
            TyKind::Generator(_) => Some(("a generator inside another value", "return it by itself")),
            _ => formless(*t),
        }),
        TyKind::Class(c) if c.class.user().is_some() => None,
        TyKind::Class(c) if c.class.is_of_python() => c.args.iter().find_map(|t| formless(*t)),
        TyKind::Optional(t) => formless(*t),
        TyKind::Class(c) if t.is_time() || c.class.is_random() || c.class.is_polynomial() => None,
        TyKind::Class(c) if c.class.is_mixed() => {
            Some(("a list of values of several types (a list cannot hold both)", "use a tuple for them"))
        }
        TyKind::Class(_) => Some(("an instance of a class of the library", "return what it holds")),
        _ => None,
    }
}

/// Whether two result types are the same to a caller from Python.
fn same_boundary(want: Ty, got: Ty) -> bool {
    want.strong() == got.strong() || got.is_never() || want.numba().to_string() == got.numba().to_string()
}

impl World for Session<'_> {
    fn code(&mut self, f: FuncId) -> Result<Arc<Code>> {
        if let Some(c) = self.compiler.codes.get(&f) {
            return Ok(c.clone());
        }
        if let Some((own, variables)) = self.compiler.lifted.get(&f).copied() {
            let code = Arc::new(lh_frontend::lifted(&*self.code(own)?, variables));
            self.compiler.codes.insert(f, code.clone());
            return Ok(code);
        }
        let code = match self.compiler.parents.get(&f).copied() {
            Some((parent, index)) => self.code(parent)?.inner[index as usize].clone(),
            None => {
                let start = Instant::now();
                let o = self.host.function_object(f);
                let code = Arc::new(match self.host.code(o) {
                    Source::Bytecode(raw) => {
                        let code = lh_frontend::translate(&raw, self.host.version())?;
                        if *DUMP {
                            eprint!("{code}");
                        }
                        code
                    }
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
        if let Some((own, _)) = self.compiler.lifted.get(&f).copied() {
            return self.info(own);
        }
        if let Some((parent, _)) = self.compiler.parents.get(&f).copied() {
            let parent = self.info(parent);
            return FuncInfo {
                meaning: None,
                defaults: vec![],
                kwdefaults: vec![],
                locals: vec![],
                sent: None,
                ..parent
            };
        }
        let o = self.host.function_object(f);
        let raw = self.host.function(o);
        let options = raw.options.unwrap_or_default();
        let info = FuncInfo {
            is_library: raw.is_library,
            meaning: raw.meaning,
            options,
            defaults: raw.defaults,
            kwdefaults: raw.kwdefaults,
            locals: self.host.locals(o),
            sent: self.host.sent(o).map(|t| if t.is_none() { t } else { Ty::optional(t) }),
        };
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
        let code = self.code(f).ok().and_then(|code| code.inner.get(index as usize).cloned());
        let i = self.host.inner_function(f, code.as_deref());
        self.compiler.inner.insert((f, index), i);
        self.compiler.parents.insert(i, (f, index));
        i
    }

    fn sibling(&mut self, f: FuncId, index: u32) -> FuncId {
        let (parent, _) = self.compiler.parents[&f];
        self.inner(parent, index)
    }

    fn global(&mut self, f: FuncId, name: &str) -> Option<ObjId> {
        let now = self.host.global(f, name);
        let value = self.settled(f, name, now);
        self.depend(Dep::Global { func: f, name: name.to_owned(), value });
        value
    }

    fn free(&mut self, f: FuncId, index: u32) -> Option<ObjId> {
        let f = self.compiler.lifted.get(&f).map_or(f, |(own, _)| *own);
        let now = self.host.free(f, index);
        let value = self.settled(f, &format!("{index} captured"), now);
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
        let dep = Dep::Attribute { object: o, name: name.to_owned(), value };
        match self.host.object(o) {
            Object::Class(_) => self.depend_anywhere(dep),
            _ => self.depend(dep),
        }
        value
    }

    fn names(&mut self, o: ObjId) -> Vec<String> {
        self.host.names(o)
    }

    fn globals(&mut self, f: FuncId) -> Vec<String> {
        self.host.globals(f)
    }

    fn is_static(&mut self, class: ObjId, name: &str) -> bool {
        self.host.is_static(class, name)
    }

    fn library(&mut self, path: &str) -> Option<(FuncId, Binding)> {
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
        let (name, found) = self.host.overload(o, what)?;
        let value = match found {
            Overloaded::Function(f) => Some(self.host.function_object(f)),
            Overloaded::Constructor { object, .. } => Some(object),
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

    fn exc_object(&mut self, class: ExcId) -> Option<ObjId> {
        self.host.exc_object(class)
    }

    fn specialise(&mut self, f: FuncId, args: &[ArgTy], options: Options) -> Result<lh_infer::Spec> {
        let options = self.callee_options(f, args, options);
        self.typed(f, args, options)
    }

    fn taught(&mut self, f: FuncId, args: &[ArgTy], options: Options) -> Result<Taught> {
        let options = self.callee_options(f, args, options);
        let key = key_of(f, args, options);
        if let Some(known) = self.taught.get(&key) {
            return Ok(known.clone());
        }
        if let Some(id) = self.known(&key) {
            self.stack.note_recursion(id);
            return Ok(Taught { args: Vec::new(), ret: self.compiler.specs[id.index()].ret });
        }
        self.stack.check_depth()?;
        let name = format!("{}.taught", self.code(f)?.name);
        self.begin(&key, &name);
        let taught = lh_infer::taught(self, f, args, options, &name);
        let frame = self.stack.leave();
        self.forget(&frame);
        if let (Ok(types), true) = (&taught, self.stack.is_final(&frame)) {
            self.taught.insert(key, types.clone());
        }
        taught
    }

    fn link(&mut self, o: ObjId, name: &str, options: Options) -> Result<Option<(SpecId, usize)>> {
        let failed = |text: String| Diagnostic::new(diag::BAD_PTX, text);
        let made = self.host.linked_ptx(o, options.link);
        let LinkedPtx { text, without } = made.map_err(|why| failed(format!("`{name}` cannot be linked: {why}")))?;
        let is_gpu = options.device == Device::Gpu;
        match (self.lifted(text, name, options), without) {
            (Ok(Some(found)), _) => Ok(Some(found)),
            (Err(_), _) | (_, Some(_)) if is_gpu => Ok(None),
            (_, Some(why)) => Err(failed(format!("`{name}` cannot run on the CPU device: {why}"))
                .note("link CUDA C, PTX or LTO-IR that defines it beside the machine code, which GPUs run")),
            (Err(e), None) => Err(e),
            (Ok(None), None) => Err(failed(format!("`{name}` is declared, but nothing that is linked defines it"))
                .note("give `link=` to `cuda.declare_device` or to the kernel; CUDA C defines it as `extern \"C\" __device__`")),
        }
    }

    fn adjoint(&mut self, s: SpecId, asked: &[bool], owners: Option<Ty>) -> Result<lh_infer::Adjoint> {
        lh_grad::make_adjoint(self, s, asked, owners)
    }

    fn tangent(&mut self, s: SpecId, asked: &[bool]) -> Result<lh_infer::Adjoint> {
        lh_grad::make_tangent(self, s, asked)
    }

    fn reserve(&mut self, f: FuncId, name: &str) -> SpecId {
        let is_library = self.info(f).is_library;
        let id = SpecId::new(self.compiler.specs.len());
        let (name, ret, scope) = (name.to_owned(), Ty::never(), self.host.scope());
        self.compiler.specs.push(Spec { name, func: f, ret, body: None, is_library, scope });
        id
    }

    fn provisional(&mut self, ret: Ty) -> bool {
        let Some(id) = self.stack.innermost().map(|f| f.spec) else { return false };
        let assumed = std::mem::replace(&mut self.compiler.specs[id.index()].ret, ret);
        let (used, stale) = self.stack.swept(assumed != ret);
        for k in &stale {
            self.compiler.by_key.remove(k);
        }
        used
    }

    fn is_outermost(&mut self) -> bool {
        self.stack.is_outermost()
    }

    fn unroll(&mut self, code: &Code, header: Block, times: u32) -> Option<Arc<Code>> {
        lh_frontend::unroll(code, header, times).map(Arc::new)
    }

    fn offsets(&mut self, s: SpecId) -> Vec<lh_infer::Offsets> {
        let order = self.compiler.reachable(&[s]).into_iter();
        order.flat_map(|s| &self.compiler.spec(s).body).flat_map(|b| b.offsets.iter().cloned()).collect()
    }

    fn functions(&mut self, specs: &[SpecId]) -> Vec<Arc<lh_ir::Function>> {
        let order = self.compiler.reachable(specs).into_iter();
        order.flat_map(|s| &self.compiler.spec(s).body).map(|b| b.func.clone()).collect()
    }

    fn describe(&mut self, o: ObjId) -> String {
        self.host.describe(o)
    }

    fn type_object(&mut self, ty: Ty) -> ObjId {
        self.host.type_object(ty)
    }

    fn function_object(&mut self, f: FuncId) -> Option<ObjId> {
        let is_own = !self.compiler.parents.contains_key(&f) && !self.compiler.lifted.contains_key(&f);
        is_own.then(|| self.host.function_object(f))
    }
}

impl Session<'_> {
    fn own_options(&mut self, f: FuncId, o: ObjId) -> Option<(Options, Inherited)> {
        if !self.compiler.own_options.contains_key(&f) {
            let options = self.host.options(o).map(|own| (own, self.host.inherited(o)));
            self.compiler.own_options.insert(f, options);
        }
        self.compiler.own_options[&f]
    }

    /// A device function that PTX defines.
    fn lifted(&mut self, text: String, name: &str, options: Options) -> Result<Option<(SpecId, usize)>> {
        let device = if options.device == Device::Gpu { Device::Gpu } else { Device::Function };
        let key = (text, device);
        if !self.compiler.linked.contains_key(&key) {
            let caller = self.stack.innermost().map_or_else(|| lh_ir::bug!("a call from nowhere"), |f| f.key.func);
            let linked = ptx::link(&key.0, device, caller, self.compiler.specs.len())?;
            self.compiler.specs.extend(linked.specs);
            self.compiler.variables.extend(linked.variables);
            self.compiler.warn(linked.undone);
            self.compiler.linked.insert(key.clone(), linked.by_name);
        }
        Ok(self.compiler.linked[&key].get(name).copied())
    }
}
