//! Python functions: their parts, which a program may replace, and whether they are the library's.

use lh_ir::{Meaning, TupleMeaning};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{ffi, intern};

/// Code, defaults and keyword defaults of a function; the references keep their addresses from being reused.
pub struct Version([Option<Py<PyAny>>; 3]);

impl Version {
    /// The parts that a Python function has now.
    pub fn of(function: &Bound<'_, PyAny>) -> Version {
        // SAFETY: the parts are alive while the function has them; the version takes its own references.
        let held = |p| unsafe { Bound::from_borrowed_ptr_or_opt(function.py(), p).map(Bound::unbind) };
        Version(parts(function.as_ptr()).map(held))
    }
    /// The parts.
    pub fn references(&self) -> impl Iterator<Item = *mut ffi::PyObject> + '_ {
        self.0.iter().flatten().map(Py::as_ptr)
    }
    /// Whether a Python function still has them.
    #[inline(always)]
    pub fn is_of(&self, function: *mut ffi::PyObject) -> bool {
        self.0
            .iter()
            .zip(parts(function))
            .all(|(held, now)| held.as_ref().map_or(std::ptr::null_mut(), Py::as_ptr) == now)
    }
}

/// Code, defaults and keyword defaults of a function.
#[inline(always)]
fn parts(function: *mut ffi::PyObject) -> [*mut ffi::PyObject; 3] {
    // SAFETY: callers pass Python functions, which they keep alive.
    unsafe {
        let f = function.cast::<ffi::PyFunctionObject>();
        [(*f).func_code, (*f).func_defaults, (*f).func_kwdefaults]
    }
}

/// Defaults of a Python function, positional ones first.
pub fn defaults<'py>(f: &Bound<'py, PyAny>) -> PyResult<Vec<(Option<String>, Bound<'py, PyAny>)>> {
    let py = f.py();
    let mut out = Vec::new();
    if let Ok(values) = f.getattr(intern!(py, "__defaults__"))?.cast::<PyTuple>() {
        out.extend(values.iter().map(|v| (None, v)));
    }
    if let Ok(values) = f.getattr(intern!(py, "__kwdefaults__"))?.cast::<PyDict>() {
        for (k, v) in values.iter() {
            out.push((Some(k.extract()?), v));
        }
    }
    Ok(out)
}

/// Whether a function is one of the library's.
pub fn is_library(f: &Bound<'_, PyAny>) -> bool {
    let module = f.getattr(intern!(f.py(), "__module__")).and_then(|m| m.extract::<String>());
    module.is_ok_and(|m| m == "lancehead.lib" || m.starts_with("lancehead.lib."))
}

/// The meaning that the library declares for one of its functions.
pub fn meaning(f: &Bound<'_, PyAny>) -> Option<Meaning> {
    declared(f).and_then(|word| Meaning::of_word(&word))
}

/// The meaning that the library declares for one of its classes.
pub fn meaning_of_class(class: &Bound<'_, PyAny>) -> Option<TupleMeaning> {
    declared(class).and_then(|word| TupleMeaning::of_word(&word))
}

fn declared(o: &Bound<'_, PyAny>) -> Option<String> {
    is_library(o).then(|| o.getattr(intern!(o.py(), "__means__")).ok()?.extract().ok()).flatten()
}
