//! A reference to an object that is given up at once.

use pyo3::ffi;
use pyo3::prelude::*;

/// A reference of its own. `Py` gives up its reference only below functions that PyO3 has entered, and else some time
/// later; calls of dispatchers enter from CPython itself.
pub struct Held(*mut ffi::PyObject);

impl Held {
    /// Another reference to an object. It is to be dropped by an attached thread.
    pub fn new<T>(object: &Bound<'_, T>) -> Held {
        Held(object.clone().into_ptr())
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

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: the reference is its own, and the thread is attached.
        unsafe { ffi::Py_DECREF(self.0) };
    }
}
