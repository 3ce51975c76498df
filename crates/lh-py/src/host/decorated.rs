//! Decorated functions, for rooms below `call`. That room makes dispatchers; it registers their class here, with a
//! function that finds the state of an instance.

use crate::object::class_names;
use lh_driver::host::Inherited;
use lh_ir::Ty;
use lh_ir::func::Options;
use pyo3::prelude::*;
use pyo3::{ffi, intern};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Argument types, and the result type if it is given.
pub type Types = (Vec<Ty>, Option<Ty>);

/// The questions of the compiler to a decorated function.
pub trait Decorated {
    /// The Python function.
    fn function(&self) -> &Py<PyAny>;
    /// The options that change code.
    fn options(&self) -> Options;
    /// Those of them that it takes from compiled code that calls it.
    fn inherited(&self, py: Python<'_>) -> Inherited;
    /// The types that `locals=` gives to variables.
    fn locals(&self, py: Python<'_>) -> Vec<(String, Ty)>;
    /// Whether it runs in the interpreter.
    fn is_interpreted(&self) -> bool;
    /// The signatures to which calls are limited; none while it compiles for any types.
    fn limits(&self) -> Vec<Types>;
}

/// The state of an instance of the class.
type StateOf = for<'a, 'py> fn(&'a Bound<'py, PyAny>) -> &'a dyn Decorated;

static CLASS: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());
static STATE_OF: OnceLock<StateOf> = OnceLock::new();

/// Registers the class of dispatchers, which lives as long as the process.
pub fn register(class: *mut ffi::PyTypeObject, state_of: StateOf) {
    STATE_OF.get_or_init(|| state_of);
    CLASS.store(class, Ordering::Release);
}

/// The class of dispatchers, or null before it is made.
#[inline(always)]
pub fn dispatcher_type() -> *mut ffi::PyTypeObject {
    CLASS.load(Ordering::Relaxed)
}

/// Whether an object is a dispatcher.
#[inline]
pub fn is_dispatcher(o: &Bound<'_, PyAny>) -> bool {
    o.get_type_ptr() == dispatcher_type()
}

/// The state of a dispatcher; `None` for other objects.
pub fn of<'a>(o: &'a Bound<'_, PyAny>) -> Option<&'a dyn Decorated> {
    let state_of = STATE_OF.get().filter(|_| is_dispatcher(o))?;
    Some(state_of(o))
}

/// The Python function of a dispatcher.
pub fn py_func<'py>(o: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    of(o).map(|d| d.function().bind(o.py()).clone())
}

/// The dispatcher in a function decorated with `cuda.jit` or `cfunc`.
pub fn device_function<'py>(o: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !class_names::made_in(o, "lancehead.cuda.dispatcher") && !class_names::made_in(o, "lancehead.cfuncs") {
        return Ok(None);
    }
    let inner = o.getattr(intern!(o.py(), "_dispatcher")).ok();
    Ok(inner.filter(|d| is_dispatcher(d)))
}
