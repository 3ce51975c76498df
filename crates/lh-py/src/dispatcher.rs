//! A compiled function's state: its specialisations, how they are found, and when they are made.

use crate::args::ArgBuf;
use crate::bind::Params;
use crate::cache;
use crate::call;
use crate::compiler::{self, Failed};
use crate::convert;
use crate::entries::Entries;
use crate::flight;
use crate::gpu::Gpu;
use crate::guard::Guard;
use crate::inspect;
use crate::launch::Loaded;
use crate::literals;
use crate::object::DispatcherObject;
use crate::objects;
use crate::options::JitOptions;
use crate::render;
use crate::types::canonical;
use lh_driver::{Called, Compiled};
use lh_ir::func::{Device, Options, parallel};
use lh_ir::{Ty, TyKind};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How a result is turned into an object.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Ret {
    /// `None`.
    None,
    /// A truth value.
    Bool,
    /// A 64-bit integer.
    Int,
    /// A double.
    Float,
    /// Two doubles.
    Complex,
    /// Anything else, by its type.
    Other,
    /// A value to be converted to the type that a signature says.
    Converted,
}

/// A specialisation.
pub struct Overload {
    /// Entry point of the machine code.
    pub entry: unsafe extern "C" fn(*const u64, *mut u64) -> i32,
    /// Whether it may take long, or look whether Ctrl-C was pressed.
    pub may_wait: bool,
    /// Whether parts of arguments may live on after the call.
    pub escapes: bool,
    /// Whether the result holds references.
    pub ret_counted: bool,
    /// Machine code and what the compiler knows of it.
    pub compiled: Arc<Compiled>,
    /// What it depends on.
    pub guard: Guard,
    /// Result conversion.
    pub ret: Ret,
    /// Number of machine words of the result.
    pub ret_words: usize,
    /// Result type that a signature says.
    pub explicit: Option<Ty>,
    /// The kernel on its GPU.
    pub on_gpu: Option<Loaded>,
    stale: AtomicBool,
}

impl Overload {
    /// Whether it has been replaced.
    pub fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Relaxed)
    }
    /// Whether a signature that leaves functions open made it, for those of a call.
    pub fn is_instance(&self) -> bool {
        self.compiled.args.iter().any(|t| canonical(*t).is_open())
    }
}

/// A specialisation as found by argument tags.
#[derive(Clone)]
pub struct Entry {
    /// Tags of the arguments.
    pub tags: Box<[u64]>,
    /// Types of the arguments as they come, when they have to be converted.
    pub natural: Option<Vec<Ty>>,
    /// Which; overloads live as long as the dispatcher.
    pub overload: *const Overload,
}

/// What every call reads, in any thread and without a lock: it is never changed, but replaced.
#[derive(Clone)]
pub struct Table {
    /// How arguments are bound.
    pub params: Arc<Params>,
    /// Positions of arguments whose values are part of the specialisation.
    pub literals: Vec<usize>,
    /// Found by tags.
    pub entries: Entries,
}

// SAFETY: an overload is not changed once it is made, but for atomic words; machine code may run in any thread.
unsafe impl Send for Overload {}
// SAFETY: as above.
unsafe impl Sync for Overload {}
// SAFETY: what an entry points to lives as long as the state that has both.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

/// A dispatcher. Threads may use it at once.
pub struct State {
    /// The Python function.
    pub func: Py<PyAny>,
    options: AtomicPtr<JitOptions>,
    /// The object, once it is made.
    owner: AtomicPtr<DispatcherObject>,
    table: AtomicPtr<Table>,
    /// The position of the entry that fitted the last call; a hint.
    last: AtomicUsize,
    known: Mutex<Known>,
}

/// What a dispatcher knows beside the table of calls: for one thread at a time, and no Python code runs meanwhile.
pub struct Known {
    /// Every table that there was: calls in progress may use the old ones.
    #[expect(clippy::vec_box, reason = "calls point to the tables")]
    tables: Vec<Box<Table>>,
    /// What the decorator's options were, in the same way.
    #[expect(clippy::vec_box, reason = "calls point to the options")]
    options: Vec<Box<JitOptions>>,
    /// Every specialisation ever made: calls in progress may use the stale ones.
    #[expect(clippy::vec_box, reason = "entries point to the overloads")]
    pub overloads: Vec<Box<Overload>>,
    /// Signatures that leave open which functions are given: argument types, and the result type if it is given. Code is
    /// made for the functions of a call.
    pub open: Vec<(Vec<Ty>, Option<Ty>)>,
    /// Whether new argument types are compiled for.
    pub can_compile: bool,
    /// Calls that had to compile.
    pub misses: u64,
    /// Argument types of which code came from the cache, and those compiled for, in order.
    pub found: Vec<Vec<Ty>>,
    /// See `found`.
    pub missed: Vec<Vec<Ty>>,
}

/// Whether an object is one of our dispatchers.
#[inline]
pub fn is_dispatcher(o: *mut ffi::PyObject) -> bool {
    // SAFETY: callers pass live objects.
    unsafe { ffi::Py_TYPE(o) == crate::object::dispatcher_type() }
}

/// The dispatcher's struct of an object.
pub fn of<'a>(o: &'a Bound<'_, PyAny>) -> Option<&'a DispatcherObject> {
    // SAFETY: objects of the dispatcher type have this struct.
    is_dispatcher(o.as_ptr()).then(|| unsafe { &*o.as_ptr().cast::<DispatcherObject>() })
}

/// The Python function of a dispatcher.
pub fn py_func<'py>(o: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    of(o).map(|d| d.state().func.bind(o.py()).clone())
}

/// The types that a dispatcher's `locals=` gives to variables.
pub fn locals_of(o: &Bound<'_, PyAny>) -> Vec<(String, Ty)> {
    let given = of(o).map(|d| d.state().options().given.clone_ref(o.py()));
    let locals = given.and_then(|g| g.bind(o.py()).get_item("locals").ok().flatten());
    let Some(locals) = locals.as_ref().and_then(|l| l.cast::<pyo3::types::PyDict>().ok()) else { return Vec::new() };
    let pair = |(k, v): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Some((k.extract().ok()?, crate::types::as_ty(&v).ok()?));
    locals.iter().filter_map(pair).collect()
}

/// The signatures to which a dispatcher is limited; none while it compiles for any types.
pub fn signatures_of(o: &Bound<'_, PyAny>) -> Vec<(Vec<Ty>, Option<Ty>)> {
    let Some(d) = of(o) else { return Vec::new() };
    if d.state().can_compile() { Vec::new() } else { d.state().signatures() }
}

/// Whether a dispatcher's decorator asks for the cache.
pub fn is_cached(o: &Bound<'_, PyAny>) -> bool {
    of(o).is_some_and(|d| d.state().options().cache)
}

/// The code-changing options of a dispatcher.
pub fn options_of(o: &Bound<'_, PyAny>) -> Option<Options> {
    of(o).map(|d| d.state().options().ir)
}

impl State {
    /// A dispatcher's state without specialisations.
    pub fn new(func: &Bound<'_, PyAny>, options: JitOptions) -> PyResult<State> {
        let table =
            Box::new(Table { params: Arc::new(Params::of(func)?), literals: Vec::new(), entries: Entries::default() });
        let published = ptr::from_ref(&*table).cast_mut();
        let options = Box::new(options);
        let read = ptr::from_ref(&*options).cast_mut();
        let known = Known {
            tables: vec![table],
            options: vec![options],
            overloads: Vec::new(),
            open: Vec::new(),
            can_compile: true,
            misses: 0,
            found: Vec::new(),
            missed: Vec::new(),
        };
        Ok(State {
            func: func.clone().unbind(),
            options: AtomicPtr::new(read),
            owner: AtomicPtr::default(),
            table: AtomicPtr::new(published),
            last: AtomicUsize::new(0),
            known: Mutex::new(known),
        })
    }

    /// Says which object this is the state of.
    pub fn set_owner(&self, owner: *mut DispatcherObject) {
        self.owner.store(owner, Ordering::Relaxed);
    }

    /// Options of the decorator, as they were when something was compiled last.
    #[inline(always)]
    pub fn options(&self) -> &JitOptions {
        // SAFETY: they live as long as the state and do not change.
        unsafe { &*self.options.load(Ordering::Acquire) }
    }

    /// Reads `targetoptions` again, which a program may change.
    fn read_options(&self, py: Python<'_>) -> PyResult<&JitOptions> {
        let old = self.options();
        let new = JitOptions::read(old.given.bind(py))?;
        if (new.ir, new.nogil, new.cache) != (old.ir, old.nogil, old.cache) {
            let new = Box::new(new);
            self.options.store(ptr::from_ref(&*new).cast_mut(), Ordering::Release);
            self.known().options.push(new);
        }
        Ok(self.options())
    }

    /// What calls go by now.
    #[inline(always)]
    pub fn table(&self) -> &Table {
        // SAFETY: tables live as long as the state and do not change.
        unsafe { &*self.table.load(Ordering::Acquire) }
    }

    /// The entry for these tags.
    #[inline(always)]
    pub fn find(&self, tags: &[u64]) -> Option<&Entry> {
        let entries = &self.table().entries;
        let last = self.last.load(Ordering::Relaxed);
        match entries.get(last) {
            Some(e) if same(&e.tags, tags) => Some(e),
            _ => self.find_newest(tags),
        }
    }

    /// The newest entry for these tags, which the next call looks at first.
    pub fn find_newest(&self, tags: &[u64]) -> Option<&Entry> {
        let entries = &self.table().entries;
        let at = entries.newest(tags)?;
        self.last.store(at, Ordering::Relaxed);
        entries.get(at)
    }

    /// Adds an entry, which counts before older ones for the same tags.
    fn enter(&self, entry: &Entry) {
        let known = self.known();
        let added = self.table().entries.push(entry);
        drop(known);
        match added {
            Some(at) => self.last.store(at, Ordering::Relaxed),
            None => self.change(|t| {
                t.entries.push(entry);
            }),
        }
    }

    /// The rest, for this thread alone: nothing of Python may run until the guard is dropped.
    pub fn known(&self) -> MutexGuard<'_, Known> {
        // Every change is whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the table by a changed copy.
    pub fn change<R>(&self, change: impl FnOnce(&mut Table) -> R) -> R {
        let mut known = self.known();
        let mut table = Box::new(self.table().clone());
        let result = change(&mut table);
        self.table.store(&raw mut *table, Ordering::Release);
        known.tables.push(table);
        result
    }

    /// Whether new argument types are compiled for.
    pub fn can_compile(&self) -> bool {
        self.known().can_compile
    }

    /// The current specialisations, in the order in which they were made.
    pub fn current(&self) -> Vec<&Overload> {
        let known = self.known();
        // SAFETY: overloads live as long as the state, at the same address.
        known.overloads.iter().map(|o| unsafe { &*ptr::from_ref(&**o) }).filter(|o| !o.is_stale()).collect()
    }

    /// The current specialisation for exactly these types.
    pub fn of_types(&self, args: &[Ty]) -> Option<&Overload> {
        self.current().into_iter().find(|o| o.compiled.args == args)
    }

    /// Argument types, and the result types that are given, of all that is not made for the functions of a call.
    pub fn signatures(&self) -> Vec<(Vec<Ty>, Option<Ty>)> {
        let mut all = self.known().open.clone();
        let own = self.current().into_iter().filter(|o| !o.is_instance());
        all.extend(own.map(|o| (o.compiled.args.clone(), o.explicit)));
        all
    }

    /// Lets calls take the quick way, if a function without parameters has code that allows it.
    fn set_quick(&self, overload: Option<&Overload>) {
        let quick = overload.filter(|o| !self.options().nogil && !o.may_wait && o.guard.is_own_only());
        let entry = quick.and_then(|o| Some((o, call::quick_entry(o.ret)?)));
        // SAFETY: the owner, if there is one yet, lives as long as its state.
        if let Some(owner) = unsafe { self.owner.load(Ordering::Relaxed).as_ref() } {
            owner.set_entry(entry.map(|(o, _)| o), entry.map_or(call::vectorcall, |(_, f)| f));
        }
    }

    /// Forgets a specialisation whose dependencies have changed.
    pub fn forget(&self, overload: &Overload) {
        overload.stale.store(true, Ordering::Relaxed);
        self.set_quick(None);
    }

    /// Adds a specialisation.
    fn add(&self, params: Params, overload: Overload) -> &Overload {
        if !self.table().params.is_of_code_of(&params) {
            self.change(|t| t.params = Arc::new(params));
        }
        let overload = Box::new(overload);
        // SAFETY: overloads live as long as the state, at the same address.
        let added = unsafe { &*ptr::from_ref(&*overload) };
        self.known().overloads.push(overload);
        added
    }
}

#[inline(always)]
fn same(a: &[u64], b: &[u64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x == y)
}

/// What runs for the tags in `buf`, with the arguments converted to what it takes; `entry` is what was found for them.
#[cold]
pub fn ready<'a>(
    py: Python<'_>,
    state: &'a State,
    object: &Bound<'_, PyAny>,
    entry: Option<&Entry>,
    buf: &mut ArgBuf,
    argc: usize,
) -> PyResult<&'a Overload> {
    // A stale one may be what the last call of another thread has left to be looked at first.
    // SAFETY: overloads live as long as the state.
    let is_stale = |e: &Entry| unsafe { (*e.overload).is_stale() };
    let entry =
        entry.and_then(|e| if is_stale(e) { state.find_newest(&e.tags).filter(|e| !is_stale(e)) } else { Some(e) });
    // SAFETY: as above.
    let found = entry.map(|e| unsafe { (e, &*e.overload) });
    let entry = match found {
        Some((entry, overload)) if overload.guard.is_current(py) => entry.clone(),
        Some((_, overload)) => {
            renew(py, state, object, overload)?;
            resolve(py, state, object, buf, argc)?
        }
        None => resolve(py, state, object, buf, argc)?,
    };
    // SAFETY: as above.
    let overload = unsafe { &*entry.overload };
    if let Some(natural) = &entry.natural {
        call::convert_all(natural, overload, buf)?;
    }
    Ok(overload)
}

/// Finds or makes the specialisation for the tags in `buf`, for a call that found none.
fn resolve<'a>(
    py: Python<'_>,
    state: &'a State,
    object: &Bound<'_, PyAny>,
    buf: &mut ArgBuf,
    argc: usize,
) -> PyResult<Entry> {
    let literals = &state.table().literals;
    if !literals.is_empty() {
        // Another thread may have added one since the call was tagged.
        literals::tag(py, literals, buf, argc)?;
    }
    let natural = literals::types(py, literals, buf, argc)?;
    let mut existing = state.of_types(&natural);
    let mut ticket = None;
    while existing.is_none() && ticket.is_none() && state.can_compile() {
        ticket = flight::board(py, ptr::from_ref(state).addr(), &natural);
        existing = state.of_types(&natural);
    }
    let (overload, converts): (&'a Overload, bool) = match existing {
        Some(o) => (renew(py, state, object, o)?, false),
        None if !state.can_compile() => (renew(py, state, object, fitting(py, state, object, &natural)?)?, true),
        // What is compiled now is taken as it is, without another look at its guard: a call always ends.
        None => match compile(py, state, object, &natural, None, false) {
            Ok(o) => (o, false),
            Err(Failed::Literal(at, e)) => {
                if literals.contains(&at) || at >= argc {
                    return Err(e);
                }
                literals::check(py, buf, at, argc)?;
                state.change(|t| {
                    if !t.literals.contains(&at) {
                        t.literals.push(at);
                    }
                });
                return resolve(py, state, object, buf, argc);
            }
            Err(Failed::Error(e)) => return Err(e),
        },
    };
    let entry = Entry { tags: buf.tags.as_slice().into(), natural: converts.then_some(natural), overload };
    state.enter(&entry);
    if argc == 0 {
        state.set_quick(Some(overload));
    }
    Ok(entry)
}

/// The specialisation itself, or a new one if something that it depends on has changed.
pub fn renew<'a>(
    py: Python<'_>,
    state: &'a State,
    object: &Bound<'_, PyAny>,
    old: &'a Overload,
) -> PyResult<&'a Overload> {
    if old.guard.is_current(py) {
        return Ok(old);
    }
    state.forget(old);
    Ok(compile(py, state, object, &old.compiled.args, old.explicit, false)?)
}

/// Finds code for argument types in the cache, or (always if `anew`) compiles it, and adds the specialisation.
pub fn compile<'a>(
    py: Python<'_>,
    state: &'a State,
    object: &Bound<'_, PyAny>,
    args: &[Ty],
    ret: Option<Ty>,
    anew: bool,
) -> Result<&'a Overload, Failed> {
    let JitOptions { ir: options, cache: cached, .. } = *state.read_options(py)?;
    let function = objects::intern(object);
    let mut lookup = None;
    let mut loaded = None;
    if cache::is_wanted(py, cached) {
        let (l, code) = cache::find(py, function, function, args, options, !anew)?;
        // A result of another type than the signature says is an error, which the compiler tells.
        loaded = code.filter(|c| ret.is_none_or(|r| convert::cost(canonical(c.ret), r).is_some()));
        lookup = Some(l);
    }
    let (compiled, guard) = match loaded {
        Some(code) => {
            crate::signals::install();
            let guard = compiler::guard_of(py, function, &code)?;
            state.known().found.push(args.to_vec());
            (Arc::new(code), guard)
        }
        None => {
            state.known().misses += 1;
            let mut made = compiler::compile(py, function, args, options, ret, lookup.is_some())?;
            if let Some(gpu) = &state.options().gpu {
                assemble(py, gpu.get(), options, lookup.is_some(), &mut made.0)?;
            }
            state.known().missed.push(args.to_vec());
            if let Some(l) = &lookup {
                cache::keep(py, l, (function, function), args, options, &made.0)?;
            }
            made
        }
    };
    let result = ret.unwrap_or(compiled.ret);
    let kind = match result.kind() {
        _ if canonical(result) != canonical(compiled.ret) => Ret::Converted,
        TyKind::None | TyKind::Never => Ret::None,
        TyKind::Bool => Ret::Bool,
        TyKind::Int { bits: 64, signed: true, .. } => Ret::Int,
        TyKind::Float { bits: 64, .. } => Ret::Float,
        TyKind::Complex { bits: 128, .. } => Ret::Complex,
        _ => Ret::Other,
    };
    let overload = Overload {
        on_gpu: Loaded::new(py, state.options(), &compiled)?,
        entry: compiled.entry,
        may_wait: compiled.may_wait,
        escapes: compiled.escapes,
        ret_counted: compiled.ret.is_counted(),
        ret_words: compiled.ret.flatten().len(),
        compiled,
        guard,
        ret: kind,
        explicit: ret,
        stale: AtomicBool::new(false),
    };
    // Other processes wait for what is compiled here no longer.
    drop(lookup);
    let added = state.add(Params::of(state.func.bind(py))?, overload);
    keep_called(py, &added.compiled, options);
    if options.parallel & parallel::ALL != 0 && !added.compiled.is_loaded() {
        inspect::tell_parallel(py, object, &added.compiled)?;
    }
    Ok(added)
}

/// Replaces PTX by machine code, where NVIDIA's linker is to add functions, or if it will be kept and the driver has an assembler: later
/// processes are then spared that as well.
fn assemble(py: Python<'_>, gpu: &Gpu, options: Options, is_kept: bool, compiled: &mut Arc<Compiled>) -> PyResult<()> {
    let Some(kernel) = Arc::get_mut(compiled).and_then(|c| c.on_gpu.as_mut()) else { return Ok(()) };
    let (lines, (major, minor)) = options.gpu.map_or((false, (0, 0)), |g| (g.lines, g.capability));
    if !kernel.linked.is_empty() {
        let functions: Vec<_> = kernel.linked.drain(..).map(|o| crate::objects::object(py, o)).collect();
        let link = py.import("lancehead.cuda.linking")?.getattr("machine_code")?;
        let text = String::from_utf8_lossy(&kernel.code);
        let code = link.call1((text, functions, options.link, format!("sm_{major}{minor}"), lines))?.extract()?;
        kernel.code = code;
        return Ok(());
    }
    if !is_kept {
        return Ok(());
    }
    match py.detach(|| gpu.gpu.assemble(&kernel.code, lines)) {
        Ok(code) => kernel.code = code,
        Err(e) if e.code == -1 => {}
        Err(e) => return Err(crate::gpu::error(py, &e)),
    }
    Ok(())
}

/// Gives functions with `cache=True` that were compiled as parts of a caller entries of their own, as if they had been called
/// with these types: in the next process a call of one finds its code, whatever called it in this one.
pub fn keep_called(py: Python<'_>, caller: &Compiled, options: Options) {
    if options.device != Device::Host {
        return;
    }
    for Called { function, args, ret } in &caller.called {
        let (id, is_whole) = objects::function_object(*function);
        if objects::item(id).is_some() {
            continue;
        }
        let object = objects::object(py, id);
        let Some(state) = of(&object).map(DispatcherObject::state) else { continue };
        if !state.options().cache || !is_whole || !state.can_compile() {
            continue;
        }
        let args: Vec<Ty> = args.iter().map(|t| canonical(*t)).collect();
        let result = if let TyKind::Optional(t) = ret.kind() { *t } else { *ret };
        if args.iter().all(|t| is_plain(*t)) && is_plain(result) && cache::is_wanted(py, true) {
            // The caller has been compiled, whatever becomes of this; a call that fails says why.
            drop(match state.of_types(&args) {
                Some(o) => renew(py, state, &object, o).map_err(Failed::Error),
                None => compile(py, state, &object, &args, None, false),
            });
        }
    }
}

/// Whether calls from Python pass and return values of a type, with nothing of the process in it.
fn is_plain(t: Ty) -> bool {
    match t.kind() {
        TyKind::Tuple { elems, .. } => elems.iter().all(|t| is_plain(*t)),
        TyKind::List(t, _) => is_plain(*t),
        TyKind::Never | TyKind::None | TyKind::Str | TyKind::Record(_) | TyKind::Array { .. } => true,
        _ => t.is_number(),
    }
}

/// The specialisation that takes arguments of these types; of a signature that leaves functions open, it is made for them.
fn fitting<'a>(py: Python<'_>, state: &'a State, object: &Bound<'_, PyAny>, natural: &[Ty]) -> PyResult<&'a Overload> {
    let (args, ret) = best_match(state, natural)?;
    let args: Vec<Ty> = args.iter().zip(natural).map(|(t, n)| t.with_functions(*n)).collect();
    match state.of_types(&args) {
        Some(o) => Ok(o),
        None => Ok(compile(py, state, object, &args, ret, false)?),
    }
}

/// The signature that takes arguments of these types at the least cost of conversion.
fn best_match(state: &State, natural: &[Ty]) -> PyResult<(Vec<Ty>, Option<Ty>)> {
    let mut best = None;
    let mut ambiguous = false;
    for signature in state.signatures() {
        let Some(cost) = convert::cost_of_all(natural, &signature.0) else { continue };
        match best {
            Some((least, _)) if cost > least => {}
            Some((least, _)) if cost == least => ambiguous = true,
            _ => {
                best = Some((cost, signature));
                ambiguous = false;
            }
        }
    }
    let types = natural.iter().map(|t| t.numba().to_string()).collect::<Vec<_>>().join(", ");
    match best {
        Some((_, signature)) if !ambiguous => Ok(signature),
        Some(_) => Err(PyTypeError::new_err(format!("Ambiguous overloading for argument type(s) {types}"))),
        None => Err(PyTypeError::new_err(format!("No matching definition for argument type(s) {types}"))),
    }
}

/// The exception for an argument that cannot be passed.
pub fn refuse(
    py: Python<'_>,
    state: &State,
    position: usize,
    arg: &Bound<'_, PyAny>,
    why: crate::args::Refused,
) -> PyErr {
    use crate::args::Refused;
    use lh_ir::diag::{TOO_LARGE, UNSUPPORTED_TYPE, UNTYPED_LIST};
    let class = crate::classify::short_text(arg);
    let name = state.table().params.name_of(py, position);
    let function = state.func.bind(py).getattr("__name__").and_then(|n| n.extract::<String>()).unwrap_or_default();
    let arg_text = format!("argument `{name}` of `{function}`");
    let (id, headline, help) = match why {
        Refused::Raised => return PyErr::fetch(py),
        Refused::TooLarge => {
            let text = format!("{arg_text}: an int beyond 64 bits cannot be passed to compiled code");
            return pyo3::exceptions::PyOverflowError::new_err(text);
        }
        Refused::Type => {
            let headline = format!("{arg_text} is a `{class}`, which compiled code cannot take");
            return render::argument_error(
                py,
                UNSUPPORTED_TYPE,
                headline,
                &crate::refusal::of_object(&name, &class, arg),
            );
        }
        Refused::Surrogates => (
            UNSUPPORTED_TYPE,
            format!("{arg_text} has lone surrogates, which have no UTF-8 form"),
            "encode the text first",
        ),
        Refused::Array => {
            let (headline, help) = crate::refusal::of_array(&arg_text, &name, arg);
            return render::argument_error(py, UNSUPPORTED_TYPE, headline, &help);
        }
        Refused::EmptyList => (
            UNTYPED_LIST,
            format!("{arg_text} is, or contains, an empty list, whose item type cannot be known"),
            "pass a NumPy array, or a list with at least one item",
        ),
        Refused::MixedList => (
            UNSUPPORTED_TYPE,
            format!("{arg_text} is a list whose items are not all of one type"),
            "make the items of one type, or pass a tuple",
        ),
        Refused::Depth => (TOO_LARGE, format!("{arg_text} is nested too deeply"), "pass a flatter value"),
    };
    render::argument_error(py, id, headline, help)
}
