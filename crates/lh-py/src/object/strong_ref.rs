//! Strong references that are released at once.

use pyo3::ffi;
use pyo3::prelude::*;

/// A strong reference to an object. `Py` releases its reference only below functions that PyO3 has entered, and else
/// some time later; calls of dispatchers enter from CPython itself.
pub struct StrongRef(*mut ffi::PyObject);

impl StrongRef {
    /// Takes a reference. An attached thread has to drop it.
    pub fn new<T>(object: &Bound<'_, T>) -> StrongRef {
        StrongRef(object.clone().into_ptr())
    }
    /// The object.
    pub fn as_ptr(&self) -> *mut ffi::PyObject {
        self.0
    }
    /// The object, borrowed.
    pub fn bind<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        // SAFETY: a reference is held.
        unsafe { Bound::from_borrowed_ptr(py, self.0) }
    }
}

impl Drop for StrongRef {
    fn drop(&mut self) {
        // SAFETY: the reference is its own, and the thread is attached.
        unsafe { ffi::Py_DECREF(self.0) };
    }
}
