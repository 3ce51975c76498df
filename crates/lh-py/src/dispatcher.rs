//! A compiled function's state: its specialisations, how they are found, and when they are made.

use crate::args::ArgBuf;
use crate::bind::Params;
use crate::cache;
use crate::call;
use crate::compiler::{self, Failed};
use crate::convert;
use crate::flight;
use crate::guard::Guard;
use crate::literals;
use crate::object::DispatcherObject;
use crate::objects;
use crate::options::JitOptions;
use crate::render;
use crate::types::canonical;
use lh_driver::Compiled;
use lh_ir::func::Options;
use lh_ir::{Ty, TyKind};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::Arc;

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
    /// Set when it has been replaced.
    pub stale: Cell<bool>,
}

impl Overload {
    /// Whether a signature that leaves functions open made it, for those of a call.
    pub fn is_instance(&self) -> bool {
        self.compiled.args.iter().any(|t| canonical(*t).is_open())
    }
}

/// A specialisation as found by argument tags.
pub struct Entry {
    /// Tags of the arguments.
    pub tags: Box<[u64]>,
    /// Types of the arguments as they come, when they have to be converted.
    pub natural: Option<Vec<Ty>>,
    /// Which; overloads live as long as the dispatcher.
    pub overload: *const Overload,
}

/// What a dispatcher knows.
pub struct State {
    /// The Python function.
    pub func: Py<PyAny>,
    /// How arguments are bound.
    pub params: Params,
    /// Options of the decorator.
    pub options: JitOptions,
    /// Found by tags.
    pub entries: Vec<Entry>,
    /// The object, once it is made.
    pub owner: *mut DispatcherObject,
    /// The entry that fitted the last call.
    pub last: usize,
    /// Every specialisation ever made: calls in progress may use the stale ones.
    #[expect(clippy::vec_box, reason = "entries point to the overloads")]
    pub overloads: Vec<Box<Overload>>,
    /// Signatures that leave open which functions are given: argument types, and the result type if it is given. Code is
    /// made for the functions of a call.
    pub open: Vec<(Vec<Ty>, Option<Ty>)>,
    /// Positions of arguments whose values are part of the specialisation.
    pub literals: Vec<usize>,
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
    // SAFETY: the state of a live dispatcher; only shared data are read.
    of(o).map(|d| unsafe { (*d.state).func.bind(o.py()).clone() })
}

/// The types that a dispatcher's `locals=` gives to variables.
pub fn locals_of(o: &Bound<'_, PyAny>) -> Vec<(String, Ty)> {
    // SAFETY: the state lives as long as the dispatcher; the reference ends with this expression.
    let given = of(o).map(|d| unsafe { (*d.state).options.given.clone_ref(o.py()) });
    let locals = given.and_then(|g| g.bind(o.py()).get_item("locals").ok().flatten());
    let Some(locals) = locals.as_ref().and_then(|l| l.cast::<pyo3::types::PyDict>().ok()) else { return Vec::new() };
    let pair = |(k, v): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Some((k.extract().ok()?, crate::types::as_ty(&v).ok()?));
    locals.iter().filter_map(pair).collect()
}

/// The signatures to which a dispatcher is limited; none while it compiles for any types.
pub fn signatures_of(o: &Bound<'_, PyAny>) -> Vec<(Vec<Ty>, Option<Ty>)> {
    let Some(d) = of(o) else { return Vec::new() };
    // SAFETY: the state of a live dispatcher; only shared data are read.
    let state = unsafe { &*d.state };
    if state.can_compile {
        return Vec::new();
    }
    state.signatures().collect()
}

/// Whether a dispatcher's decorator asks for the cache.
pub fn is_cached(o: &Bound<'_, PyAny>) -> bool {
    // SAFETY: as above.
    of(o).is_some_and(|d| unsafe { (*d.state).options.cache })
}

/// The code-changing options of a dispatcher.
pub fn options_of(o: &Bound<'_, PyAny>) -> Option<Options> {
    // SAFETY: as above.
    of(o).map(|d| unsafe { (*d.state).options.ir })
}

impl State {
    /// A dispatcher's state without specialisations.
    pub fn new(func: &Bound<'_, PyAny>, options: JitOptions) -> PyResult<State> {
        Ok(State {
            func: func.clone().unbind(),
            params: Params::of(func)?,
            options,
            entries: Vec::new(),
            owner: std::ptr::null_mut(),
            last: 0,
            overloads: Vec::new(),
            open: Vec::new(),
            literals: Vec::new(),
            can_compile: true,
            misses: 0,
            found: Vec::new(),
            missed: Vec::new(),
        })
    }

    /// The current specialisations, in the order in which they were made.
    pub fn current(&self) -> impl Iterator<Item = &Overload> {
        self.overloads.iter().map(|o| &**o).filter(|o| !o.stale.get())
    }

    /// Argument types, and the result types that are given, of all that is not made for the functions of a call.
    pub fn signatures(&self) -> impl Iterator<Item = (Vec<Ty>, Option<Ty>)> {
        let own = self.current().filter(|o| !o.is_instance()).map(|o| (o.compiled.args.clone(), o.explicit));
        self.open.iter().cloned().chain(own)
    }

    /// Lets calls take the quick way, if a function without parameters has code that allows it.
    fn set_quick(&mut self, overload: Option<&Overload>) {
        let quick = overload.filter(|o| !self.options.nogil && !o.may_wait && o.guard.is_own_only());
        let entry = quick.and_then(|o| Some((o, call::quick_entry(o.ret)?)));
        // SAFETY: the owner lives as long as its state; the overload is in place before the function that reads it.
        unsafe {
            if let (Some((overload, _)), false) = (entry, self.owner.is_null()) {
                (*self.owner).quick = overload;
            }
            if !self.owner.is_null() {
                (*self.owner).vectorcall = Some(entry.map_or(call::vectorcall, |(_, f)| f));
            }
        }
    }

    /// Forgets a specialisation whose dependencies have changed.
    pub fn forget(&mut self, overload: *const Overload) {
        self.entries.retain(|e| !std::ptr::eq(e.overload, overload));
        self.last = 0;
        self.set_quick(None);
        // SAFETY: overloads live as long as the state.
        unsafe { (*overload).stale.set(true) };
    }
}

/// Finds or makes the specialisation for the tags in `buf`, for a call that found none.
///
/// # Safety
/// `state` belongs to a live dispatcher; no reference into it is held by the caller, since compiling runs Python code.
#[cold]
pub unsafe fn resolve(
    py: Python<'_>,
    state: *mut State,
    object: &Bound<'_, PyAny>,
    buf: &mut ArgBuf,
    argc: usize,
) -> PyResult<usize> {
    // SAFETY: as promised.
    let natural = unsafe { literals::types(py, &*state, buf, argc)? };
    // SAFETY: as promised; each borrow ends before Python code can run.
    let find = || unsafe { (*state).current().find(|o| o.compiled.args == natural) }.map(std::ptr::from_ref);
    let mut existing = find();
    let mut ticket = None;
    // SAFETY: as promised.
    while existing.is_none() && ticket.is_none() && unsafe { (*state).can_compile } {
        ticket = flight::board(py, state.addr(), &natural);
        existing = find();
    }
    let (overload, converts) = match existing {
        Some(o) => (o, false),
        // SAFETY: as promised.
        None if unsafe { !(*state).can_compile } => (unsafe { fitting(py, state, object, &natural) }?, true),
        // SAFETY: as promised.
        None => match unsafe { compile(py, state, object, &natural, None, false) } {
            Ok(o) => (o, false),
            Err(Failed::Literal(at, e)) => {
                // SAFETY: as promised.
                unsafe {
                    if (*state).literals.contains(&at) || at >= argc {
                        return Err(e);
                    }
                    literals::add(py, &mut *state, buf, at, argc)?;
                    return resolve(py, state, object, buf, argc);
                }
            }
            Err(Failed::Error(e)) => return Err(e),
        },
    };
    // SAFETY: the overload belongs to the state; `compile` makes another one in place of a stale one.
    unsafe {
        let overload = if existing.is_some() || converts { renew(py, state, object, overload)? } else { overload };
        let state = &mut *state;
        state.entries.retain(|e| e.tags[..] != buf.tags[..]);
        state.entries.push(Entry { tags: buf.tags.as_slice().into(), natural: converts.then_some(natural), overload });
        state.last = state.entries.len() - 1;
        if argc == 0 {
            state.set_quick(Some(&*overload));
        }
        Ok(state.last)
    }
}

/// The specialisation itself, or a new one if something that it depends on has changed.
///
/// # Safety
/// As [`resolve`].
pub unsafe fn renew(
    py: Python<'_>,
    state: *mut State,
    object: &Bound<'_, PyAny>,
    overload: *const Overload,
) -> PyResult<*const Overload> {
    // SAFETY: overloads live as long as the state.
    unsafe {
        let old = &*overload;
        if old.guard.is_current(py) {
            return Ok(overload);
        }
        let (args, explicit) = (old.compiled.args.clone(), old.explicit);
        (*state).forget(overload);
        Ok(compile(py, state, object, &args, explicit, false)?)
    }
}

/// Finds code for argument types in the cache, or (always if `anew`) compiles it, and adds the specialisation.
///
/// # Safety
/// As [`resolve`].
pub unsafe fn compile(
    py: Python<'_>,
    state: *mut State,
    object: &Bound<'_, PyAny>,
    args: &[Ty],
    ret: Option<Ty>,
    anew: bool,
) -> Result<*const Overload, Failed> {
    // SAFETY: as promised; each borrow ends before Python code can run.
    let (options, cached) = unsafe { ((*state).options.ir, (*state).options.cache) };
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
            // SAFETY: as promised.
            unsafe { (*state).found.push(args.to_vec()) };
            (Arc::new(code), guard)
        }
        None => {
            // SAFETY: as promised.
            unsafe { (*state).misses += 1 };
            let made = compiler::compile(py, function, args, options, ret, lookup.is_some())?;
            // SAFETY: as promised.
            unsafe { (*state).missed.push(args.to_vec()) };
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
    let overload = Box::new(Overload {
        entry: compiled.entry,
        may_wait: compiled.may_wait,
        escapes: compiled.escapes,
        ret_counted: compiled.ret.is_counted(),
        ret_words: compiled.ret.flatten().len(),
        compiled,
        guard,
        ret: kind,
        explicit: ret,
        stale: Cell::new(false),
    });
    let pointer: *const Overload = &raw const *overload;
    // SAFETY: as promised.
    unsafe {
        (*state).params = Params::of((*state).func.bind(py))?;
        (*state).overloads.push(overload);
    }
    Ok(pointer)
}

/// The specialisation that takes arguments of these types; of a signature that leaves functions open, it is made for them.
///
/// # Safety
/// As [`resolve`].
unsafe fn fitting(
    py: Python<'_>,
    state: *mut State,
    object: &Bound<'_, PyAny>,
    natural: &[Ty],
) -> PyResult<*const Overload> {
    // SAFETY: as promised; each borrow ends before Python code can run.
    let (args, ret) = unsafe { best_match(&*state, natural) }?;
    let args: Vec<Ty> = args.iter().zip(natural).map(|(t, n)| t.with_functions(*n)).collect();
    // SAFETY: as promised.
    unsafe {
        if let Some(o) = (*state).current().find(|o| o.compiled.args == args) {
            return Ok(o);
        }
        Ok(compile(py, state, object, &args, ret, false)?)
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
    let types = natural.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
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
    let name = state.params.name_of(py, position);
    let function = state.func.bind(py).getattr("__name__").and_then(|n| n.extract::<String>()).unwrap_or_default();
    let arg_text = format!("argument `{name}` of `{function}`");
    let (id, headline, help) = match why {
        Refused::Raised => return PyErr::fetch(py),
        Refused::TooLarge => {
            let text = format!("{arg_text}: an int beyond 64 bits cannot be passed to compiled code");
            return pyo3::exceptions::PyOverflowError::new_err(text);
        }
        Refused::Type => (
            UNSUPPORTED_TYPE,
            format!("{arg_text} is a `{class}`, which compiled code cannot take"),
            "pass numbers, strings, NumPy arrays, tuples, lists or functions; pass the fields of an object one by one",
        ),
        Refused::Surrogates => (
            UNSUPPORTED_TYPE,
            format!("{arg_text} has lone surrogates, which have no UTF-8 form"),
            "encode the text first",
        ),
        Refused::Array => (
            UNSUPPORTED_TYPE,
            format!("{arg_text} is an array of an element type, byte order or alignment without a native form"),
            "convert it with `numpy.ascontiguousarray(a, dtype=...)`",
        ),
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
