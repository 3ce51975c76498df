//! Dispatchers: the objects, their specialisations, and the table that calls read.

use crate::call::bind::Params;
use crate::call::environment::Environment;
use crate::call::overload::{Entry, Overload, Ret};
use crate::call::tag_index::TagIndex;
use crate::gpu::options::JitOptions;
use crate::host::decorated::{self, Decorated, Types};
use crate::host::types;
use crate::object::lock::lock;
use hashbrown::HashSet;
use lh_driver::host::Inherited;
use lh_ir::Ty;
use lh_ir::func::{Options, Semantics};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// The functions that CPython enters for calls of a dispatcher.
pub struct EntryPoints {
    /// For any call.
    pub general: ffi::vectorcallfunc,
    /// For calls that pass captured variables.
    pub with_environment: ffi::vectorcallfunc,
    /// For functions that run in the interpreter.
    pub interpreted: ffi::vectorcallfunc,
    /// For functions that profilers are to see.
    pub named: ffi::vectorcallfunc,
    /// For calls without arguments that give results of a kind, where there is one.
    pub quick: fn(Ret) -> Option<ffi::vectorcallfunc>,
}

/// An instance.
#[repr(C)]
pub struct DispatcherObject {
    base: ffi::PyObject,
    /// The function that calls enter.
    pub vectorcall: Option<ffi::vectorcallfunc>,
    /// Weak references to the object.
    pub weakrefs: *mut ffi::PyObject,
    /// Its attributes.
    pub dict: *mut ffi::PyObject,
    /// Owned by the instance; never null once it is made.
    pub state: *mut State,
    /// The specialisation for the quick path of calls without arguments; it points into the state.
    quick: AtomicPtr<Overload>,
}

impl DispatcherObject {
    /// Its state.
    #[inline(always)]
    pub fn state(&self) -> &State {
        // SAFETY: set when the instance is made, and freed with it.
        unsafe { &*self.state }
    }
    /// The specialisation of the quick path; only that path asks.
    #[inline(always)]
    pub fn quick(&self) -> &Overload {
        // SAFETY: it was set before the function that asks was, and lives as long as the state.
        unsafe { &*self.quick.load(Ordering::Acquire) }
    }
    /// Sets the entry of calls, from any thread.
    pub fn set_entry(&self, quick: Option<&Overload>, entry: ffi::vectorcallfunc) {
        if let Some(overload) = quick {
            self.quick.store(std::ptr::from_ref(overload).cast_mut(), Ordering::Release);
        }
        let word = (&raw const self.vectorcall).cast_mut().cast::<*mut c_void>();
        // SAFETY: an aligned word of this object, which CPython reads at any time.
        unsafe { AtomicPtr::from_ptr(word) }.store(entry as *mut c_void, Ordering::Release);
    }
}

/// The struct of a dispatcher; `None` for other objects.
pub fn of<'a>(o: &'a Bound<'_, PyAny>) -> Option<&'a DispatcherObject> {
    // SAFETY: objects of the dispatcher type have this struct.
    decorated::is_dispatcher(o).then(|| unsafe { &*o.as_ptr().cast::<DispatcherObject>() })
}

/// The table that every call reads, in any thread and without a lock: it is replaced, never changed.
#[derive(Clone)]
pub struct Table {
    /// The parameters.
    pub params: Arc<Params>,
    /// Positions of arguments whose values are compiled in.
    pub literals: Vec<usize>,
    /// The specialisations by tags.
    pub entries: TagIndex,
    /// The captured variables that calls pass.
    pub environment: Option<Arc<Environment>>,
}

/// A dispatcher. Threads may use it at once.
pub struct State {
    /// The Python function.
    pub func: Py<PyAny>,
    entry_points: &'static EntryPoints,
    options: AtomicPtr<JitOptions>,
    /// The object, once it is made.
    owner: AtomicPtr<DispatcherObject>,
    table: AtomicPtr<Table>,
    /// The position of the entry for the last call; a hint.
    last: AtomicUsize,
    known: Mutex<Known>,
}

/// The state behind a lock. No Python code may run while it is held.
pub struct Known {
    /// All tables ever made, since calls in progress may use an old one.
    #[expect(clippy::vec_box, reason = "calls point to the tables")]
    tables: Vec<Box<Table>>,
    /// All options ever read, for the same reason.
    #[expect(clippy::vec_box, reason = "calls point to the options")]
    options: Vec<Box<JitOptions>>,
    /// All specialisations ever made, since calls in progress may use a stale one.
    #[expect(clippy::vec_box, reason = "entries point to the overloads")]
    pub overloads: Vec<Box<Overload>>,
    /// Signatures that leave open which functions are passed: argument types, and the result type if it is given. They
    /// are compiled for the functions of a call.
    pub open: Vec<Types>,
    /// Signatures by which it was passed as a function type, and compiled as a part of what it was passed to.
    pub passed: Vec<Types>,
    /// Whether new argument types are compiled for.
    pub can_compile: bool,
    /// Whether it is decided that captured variables are constants, or which are not.
    pub keeps_constants: bool,
    /// Classes of the arguments of calls in the interpreter whose types are noted.
    pub noted: HashSet<Vec<u64>>,
    /// Calls that had to compile.
    pub misses: u64,
    /// Argument types of which code came from the cache, and those compiled for, in order.
    pub found: Vec<Vec<Ty>>,
    /// See `found`.
    pub missed: Vec<Vec<Ty>>,
}

impl State {
    /// A dispatcher's state without specialisations.
    pub fn new(func: &Bound<'_, PyAny>, options: JitOptions, entry_points: &'static EntryPoints) -> PyResult<State> {
        let table = Box::new(Table {
            params: Arc::new(Params::of(func)?),
            literals: Vec::new(),
            entries: TagIndex::default(),
            environment: None,
        });
        let published = ptr::from_ref(&*table).cast_mut();
        let options = Box::new(options);
        let read = ptr::from_ref(&*options).cast_mut();
        let known = Known {
            tables: vec![table],
            options: vec![options],
            overloads: Vec::new(),
            open: Vec::new(),
            passed: Vec::new(),
            can_compile: true,
            keeps_constants: false,
            noted: HashSet::new(),
            misses: 0,
            found: Vec::new(),
            missed: Vec::new(),
        };
        Ok(State {
            func: func.clone().unbind(),
            entry_points,
            options: AtomicPtr::new(read),
            owner: AtomicPtr::default(),
            table: AtomicPtr::new(published),
            last: AtomicUsize::new(0),
            known: Mutex::new(known),
        })
    }

    /// Makes an object the owner of this state.
    pub fn set_owner(self: Box<State>, owner: &mut DispatcherObject) {
        let (options, points) = (self.options(), self.entry_points);
        owner.vectorcall = Some(if options.interpreted {
            points.interpreted
        } else if options.named {
            points.named
        } else {
            points.general
        });
        self.owner.store(owner, Ordering::Relaxed);
        owner.state = Box::into_raw(self);
    }

    /// The options of the decorator at the last compilation.
    #[inline(always)]
    pub fn options(&self) -> &JitOptions {
        // SAFETY: they live as long as the state and do not change.
        unsafe { &*self.options.load(Ordering::Acquire) }
    }

    /// Reads `targetoptions` again, since a program may change them.
    pub fn read_options(&self, py: Python<'_>) -> PyResult<&JitOptions> {
        let old = self.options();
        let new = JitOptions::read(old.given.bind(py))?;
        if (new.ir, new.nogil, new.cache) != (old.ir, old.nogil, old.cache) {
            let new = Box::new(new);
            self.options.store(ptr::from_ref(&*new).cast_mut(), Ordering::Release);
            self.known().options.push(new);
        }
        Ok(self.options())
    }

    /// The table that calls use now.
    #[inline(always)]
    pub fn table(&self) -> &Table {
        // SAFETY: tables live as long as the state and do not change.
        unsafe { &*self.table.load(Ordering::Acquire) }
    }

    /// The parameters of the code that the function has now.
    pub fn params(&self, py: Python<'_>) -> PyResult<&Params> {
        if !self.table().params.is_of(self.func.as_ptr()) {
            let params = Params::of(self.func.bind(py))?;
            self.change(|t| t.params = Arc::new(params));
        }
        Ok(&self.table().params)
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

    /// Adds an entry, which takes precedence over older ones for the same tags.
    pub fn enter(&self, entry: &Entry) {
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

    /// Locks the rest: no Python code may run until the guard is dropped.
    pub fn known(&self) -> MutexGuard<'_, Known> {
        lock(&self.known)
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

    /// The argument types, and result types if given, of all specialisations but those for the functions of a call.
    pub fn signatures(&self) -> Vec<Types> {
        let mut all = self.known().open.clone();
        let own = self.current().into_iter().filter(|o| !o.is_instance());
        for o in own {
            let signature = (o.args().to_vec(), o.explicit);
            // Several may differ in the types of captured variables.
            if o.variables == 0 || !all.contains(&signature) {
                all.push(signature);
            }
        }
        all
    }

    /// Enables the quick path if a function without parameters has code that allows it.
    pub fn set_quick(&self, overload: Option<&Overload>) {
        if self.options().named {
            return;
        }
        let quick = overload.filter(|o| !self.options().nogil && !o.may_wait && o.guard.is_own_only());
        let entry = quick.and_then(|o| Some((o, (self.entry_points.quick)(o.ret)?)));
        // SAFETY: the owner, if there is one yet, lives as long as its state.
        if let Some(owner) = unsafe { self.owner.load(Ordering::Relaxed).as_ref() } {
            let ordinary = match self.table().environment {
                Some(_) => self.entry_points.with_environment,
                None => self.entry_points.general,
            };
            owner.set_entry(entry.map(|(o, _)| o), entry.map_or(ordinary, |(_, f)| f));
        }
    }

    /// Sets the captured variables that calls pass from now on.
    pub fn set_environment(&self, environment: Option<Arc<Environment>>) {
        self.change(|t| t.environment = environment);
        self.set_quick(None);
    }

    /// Forgets a specialisation whose dependencies have changed.
    pub fn forget(&self, overload: &Overload) {
        overload.stale.store(true, Ordering::Relaxed);
        self.set_quick(None);
    }

    /// All objects that specialisations refer to. The lock is taken by attached threads only, while no Python code
    /// runs: if it is locked, then by this thread, as long as objects are looked through.
    pub fn references(&self) -> Vec<*mut ffi::PyObject> {
        let Ok(known) = self.known.try_lock() else { return Vec::new() };
        known.overloads.iter().flat_map(|o| o.guard.references()).collect()
    }

    /// Forgets all specialisations. Nobody can run one.
    pub fn clear(&self) {
        self.set_quick(None);
        let mut known = self.known();
        let table = Table { entries: TagIndex::default(), environment: None, ..self.table().clone() };
        let table = Box::new(table);
        self.table.store(ptr::from_ref(&*table).cast_mut(), Ordering::Release);
        let old = (std::mem::replace(&mut known.tables, vec![table]), std::mem::take(&mut known.overloads));
        drop(known);
        drop(old);
    }

    /// Adds a specialisation.
    pub fn add(&self, params: Params, overload: Overload) -> &Overload {
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

impl Decorated for State {
    fn function(&self) -> &Py<PyAny> {
        &self.func
    }
    fn options(&self) -> Options {
        self.options().ir
    }
    fn inherited(&self, py: Python<'_>) -> Inherited {
        let own = self.options();
        // Numba compiles a function that its decorator gives no types when it is called, with the caller's flags where
        // it has none of its own; one that is inlined is a part of the caller.
        if own.ir.semantics != Semantics::Numba || !(own.inline || self.can_compile()) {
            return Inherited::default();
        }
        let given = own.given.bind(py);
        let is_open = |name: &str| own.inline || !given.contains(name).unwrap_or(true);
        Inherited { fastmath: is_open("fastmath"), error_model: is_open("error_model") }
    }
    fn locals(&self, py: Python<'_>) -> Vec<(String, Ty)> {
        let locals = self.options().given.bind(py).get_item("locals").ok().flatten();
        let Some(locals) = locals.as_ref().and_then(|l| l.cast::<PyDict>().ok()) else { return Vec::new() };
        let pair = |(k, v): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Some((k.extract().ok()?, types::as_ty(&v).ok()?));
        locals.iter().filter_map(pair).collect()
    }
    fn is_interpreted(&self) -> bool {
        self.options().interpreted
    }
    fn limits(&self) -> Vec<Types> {
        if self.can_compile() || self.options().inline { Vec::new() } else { self.signatures() }
    }
}
