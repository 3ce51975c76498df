//! The code of one specialisation as an object that Python calls.

use crate::call::overload::Overload;
use crate::call::state::{DispatcherObject, State};
use crate::call::{specialise, vectorcall};
use crate::host::{decorated, table};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ptr;

/// A specialisation as an object, `dispatcher.overloads[types].entry_point`: it takes arguments by position, and
/// converts those of other types.
#[pyclass(frozen, module = "lancehead._core")]
pub struct EntryPoint {
    dispatcher: Py<PyAny>,
    overload: *const Overload,
}

// SAFETY: overloads may be used in any thread, and live as long as the dispatcher.
unsafe impl Send for EntryPoint {}
// SAFETY: as above.
unsafe impl Sync for EntryPoint {}

impl EntryPoint {
    /// The entry point of a specialisation of a dispatcher.
    pub fn new(dispatcher: &Bound<'_, PyAny>, overload: &Overload) -> EntryPoint {
        EntryPoint { dispatcher: dispatcher.clone().unbind(), overload: ptr::from_ref(overload) }
    }
    fn overload(&self) -> &Overload {
        // SAFETY: overloads live as long as the dispatcher, at the same address.
        unsafe { &*self.overload }
    }
    fn state(&self) -> &State {
        // SAFETY: entry points are made of dispatchers only.
        unsafe { (*self.dispatcher.as_ptr().cast::<DispatcherObject>()).state() }
    }
}

#[pymethods]
impl EntryPoint {
    #[pyo3(signature = (*args))]
    fn __call__(&self, py: Python<'_>, args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
        let (state, mut overload) = (self.state(), self.overload());
        let wanted = overload.args().len();
        if args.len() != wanted {
            let text =
                format!("{}() takes {wanted} positional arguments but {} were given", self.name(py)?, args.len());
            return Err(PyTypeError::new_err(text));
        }
        if !overload.guard.is_current(py) {
            overload = specialise::renew(py, state, self.dispatcher.bind(py), overload)?;
        }
        vectorcall::call_specialisation(py, self.dispatcher.bind(py), state, overload, args)
    }
    /// Where the machine code begins.
    #[getter]
    fn address(&self, py: Python<'_>) -> usize {
        // Whoever has the address may call it at any time.
        table::keep(self.dispatcher.bind(py));
        self.overload().entry as usize
    }
    #[getter(__name__)]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.function(py)?.getattr("__name__")?.extract()
    }
    #[getter(__qualname__)]
    fn qualname(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(self.function(py)?.getattr("__qualname__")?.unbind())
    }
    #[getter(__module__)]
    fn module(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(self.function(py)?.getattr("__module__")?.unbind())
    }
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<entry point of {} at {:#x}>", self.name(py)?, self.overload().entry as usize))
    }
}

impl EntryPoint {
    fn function<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let function = decorated::py_func(self.dispatcher.bind(py));
        function.ok_or_else(|| PyTypeError::new_err("the entry point of no function"))
    }
}
