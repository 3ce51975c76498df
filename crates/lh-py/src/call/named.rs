//! Calls by way of a Python function with the name, the file and the line of the compiled one, so that profilers of
//! Python see them: `LANCEHEAD_PROFILE=1`.

use crate::call::state::DispatcherObject;
use crate::call::vectorcall::{ENTRY_POINTS, guarded};
use pyo3::prelude::*;
use pyo3::{ffi, intern};
use std::ptr;

/// `tp_vectorcall` of dispatchers in a process with that setting. It is entered twice for each call: by the program,
/// and by the Python function.
pub unsafe extern "C" fn call(
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this with a dispatcher, attached, and with arguments that outlive the call.
    unsafe {
        let py = Python::assume_attached();
        let object = Bound::from_borrowed_ptr(py, callable);
        let Some(function) = guarded(py, || function_of(&object)) else { return ptr::null_mut() };
        if !runs(function.as_ptr()) {
            return ffi::PyObject_Vectorcall(function.as_ptr(), args, nargsf, kwnames);
        }
        let has_environment = (*callable.cast::<DispatcherObject>()).state().table().environment.is_some();
        let entry = if has_environment { ENTRY_POINTS.with_environment } else { ENTRY_POINTS.general };
        entry(callable, args, nargsf, kwnames)
    }
}

/// Whether the innermost frame of Python runs the code of a function.
///
/// # Safety
/// A function of Python, in an attached thread.
unsafe fn runs(function: *mut ffi::PyObject) -> bool {
    // SAFETY: as promised; a frame that runs has a code.
    unsafe {
        let frame = ffi::PyEval_GetFrame();
        if frame.is_null() {
            return false;
        }
        let code = ffi::PyFrame_GetCode(frame).cast::<ffi::PyObject>();
        ffi::Py_DECREF(code);
        code == ffi::PyFunction_GetCode(function)
    }
}

/// The Python function of a dispatcher, which is made at the first call.
fn function_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    match object.getattr_opt(intern!(py, "_named"))? {
        Some(function) => Ok(function),
        None => py.import("lancehead.profiled")?.call_method1(intern!(py, "named"), (object,)),
    }
}
