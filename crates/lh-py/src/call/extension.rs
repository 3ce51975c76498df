//! Values of types that programs define: functions that the program has registered, which are compiled, take them out
//! of objects and put them into objects.

use crate::call::overload::Overload;
use crate::call::{specialise, state};
use crate::host::extensions::{self, Exchange};
use crate::host::types::Type;
use crate::object::lock::lock;
use crate::runtime::raise;
use hashbrown::HashMap;
use lh_ir::Ty;
use pyo3::exceptions::{PySystemError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::{LazyLock, Mutex};

/// One of the two functions of a type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Way {
    In,
    Out,
}

/// The compiled functions, and after which registration each was made. One whose dependencies have changed, or before a
/// registration, is replaced; calls in progress may use it, so that none is freed.
type Known = HashMap<(Ty, Way), (&'static Overload, u64)>;
static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Default::default);

fn code(py: Python<'_>, ty: Ty, way: Way) -> PyResult<&'static Overload> {
    let known = lock(&KNOWN).get(&(ty, way)).copied();
    let registrations = extensions::registrations();
    if let Some((known, _)) = known.filter(|(k, n)| *n == registrations && !k.is_stale() && k.guard.is_current(py)) {
        return Ok(known);
    }
    let (name, arg) = if way == Way::In { ("unboxer", Ty::ptr()) } else { ("boxer", ty) };
    let module = py.import(intern!(py, "lancehead.lowlevel.boxing"))?;
    let dispatcher = module.getattr(name)?.call1((Type::of(py, ty)?,))?;
    let Some(state) = state::of(&dispatcher).map(state::DispatcherObject::state) else {
        return Err(PyTypeError::new_err("a function that boxes or unboxes has no dispatcher"));
    };
    let natural = state.params(py)?.of_signature(py, vec![arg])?;
    let overload = specialise::for_types(py, state, &dispatcher, &natural)?;
    let wanted = if way == Way::In { Ty::tuple(vec![ty, Ty::bool()]) } else { Ty::ptr() };
    if overload.compiled.ret != wanted {
        let text =
            format!("the function that {}es {} gives {}", name.trim_end_matches("er"), ty, overload.compiled.ret);
        return Err(PyTypeError::new_err(text));
    }
    // SAFETY: the module keeps the dispatcher, and that its specialisations.
    let overload: &'static Overload = unsafe { &*std::ptr::from_ref(overload) };
    lock(&KNOWN).insert((ty, way), (overload, registrations));
    Ok(overload)
}

fn run(py: Python<'_>, code: &Overload, words: &[u64]) -> PyResult<Vec<u64>> {
    let mut ret = vec![0u64; code.ret_words];
    // SAFETY: the words are those of the argument's type; the result has room.
    if unsafe { (code.entry)(words.as_ptr(), ret.as_mut_ptr()) } != 0 {
        return Err(raise::take(py));
    }
    Ok(ret)
}

/// Registers both for rooms below.
pub fn install() {
    extensions::register(Exchange { words, object });
}

/// The words of an object of a type, with references of their own.
fn words(o: &Bound<'_, PyAny>, ty: Ty) -> PyResult<Vec<u64>> {
    let py = o.py();
    let mut ret = run(py, code(py, ty, Way::In)?, &[o.as_ptr() as u64])?;
    // The last word says whether it has failed.
    if ret.pop().is_none_or(|failed| failed & 1 != 0) {
        let error = PyErr::take(py);
        return Err(error.unwrap_or_else(|| PyTypeError::new_err(format!("the object is no {}", ty.numba()))));
    }
    Ok(ret)
}

/// The object for the words of a value, whose references the caller keeps.
fn object<'py>(py: Python<'py>, ty: Ty, words: &[u64]) -> PyResult<Bound<'py, PyAny>> {
    let ret = run(py, code(py, ty, Way::Out)?, words)?;
    if ret[0] == 0 {
        let silent = || PySystemError::new_err(format!("a value of {} was not boxed", ty.numba()));
        return Err(PyErr::take(py).unwrap_or_else(silent));
    }
    // SAFETY: the function gives a new reference to an object.
    Ok(unsafe { Bound::from_owned_ptr(py, ret[0] as *mut pyo3::ffi::PyObject) })
}
