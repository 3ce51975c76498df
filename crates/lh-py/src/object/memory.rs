//! The object that keeps native memory alive while an array uses it.

use lh_runtime::alloc::{MemInfo, decref, incref};
use pyo3::prelude::*;
use std::sync::atomic::Ordering;

/// Base of the arrays that compiled code makes.
#[pyclass(frozen, module = "lancehead._core")]
pub struct Memory(*mut MemInfo);

// SAFETY: the count is atomic, and nothing else of the memory is touched here.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// An object with a reference of its own.
    ///
    /// # Safety
    /// `mem` is alive.
    pub unsafe fn new(mem: *mut MemInfo) -> Memory {
        // SAFETY: the caller says so.
        unsafe { incref(mem) };
        Memory(mem)
    }
    /// Where it is.
    pub fn address(&self) -> *mut MemInfo {
        self.0
    }
}

#[pymethods]
impl Memory {
    /// Number of references to the memory: those of compiled code and this one.
    #[getter]
    fn refcount(&self) -> i64 {
        // SAFETY: the reference keeps it alive.
        unsafe { (*self.0).refcount.load(Ordering::Relaxed) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the reference is this object's.
        unsafe { decref(self.0) };
    }
}
