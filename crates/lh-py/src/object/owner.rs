//! Python objects as owners of native memory.

use crate::object::leaving;
use lh_runtime::MemInfo;
use lh_runtime::alloc::{foreign_owner as owner_of, new_foreign};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_char, c_void};

/// Drops a Python reference held by native memory; compiled code may do so without being attached to the interpreter.
unsafe extern "C" fn release_object(object: *mut c_void) {
    // After the interpreter's end objects stay as they are.
    if leaving::is_left() {
        return;
    }
    // SAFETY: the reference was taken by `foreign_owner`; `PyGILState_Ensure` attaches the thread if it is not.
    unsafe {
        if ffi::PyGILState_Check() == 1 {
            ffi::Py_DECREF(object.cast());
        } else if ffi::Py_IsInitialized() != 0 {
            let state = ffi::PyGILState_Ensure();
            ffi::Py_DECREF(object.cast());
            ffi::PyGILState_Release(state);
        }
    }
}

/// A native owner that holds a reference to a Python object.
pub fn foreign_owner(object: *mut ffi::PyObject) -> *mut MemInfo {
    text_owner(object, std::ptr::null(), 0)
}

/// The same for a `str` with this text.
pub fn text_owner(object: *mut ffi::PyObject, text: *const c_char, size: usize) -> *mut MemInfo {
    let mem = new_foreign(text.cast_mut().cast(), size, object.cast(), release_object);
    if !mem.is_null() {
        // SAFETY: the object is alive and the thread attached; `release_object` drops the reference.
        unsafe { ffi::Py_INCREF(object) };
    }
    mem
}

/// The Python object that owns memory, if one does.
///
/// # Safety
/// `mem` is null or alive.
pub unsafe fn object_of<'py>(py: Python<'py>, mem: *mut MemInfo) -> Option<Bound<'py, PyAny>> {
    // SAFETY: as promised; an owner of this kind holds a reference to the object.
    unsafe { object_at(mem).map(|o| Bound::from_borrowed_ptr(py, o)) }
}

/// The same without a reference to it.
///
/// # Safety
/// `mem` is null or alive.
pub unsafe fn object_at(mem: *mut MemInfo) -> Option<*mut ffi::PyObject> {
    // SAFETY: as promised.
    unsafe { owner_of(mem, release_object).map(|o| o.cast()) }
}
