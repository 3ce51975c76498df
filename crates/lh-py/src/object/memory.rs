//! The object that keeps native memory alive while an array uses it.

use lh_runtime::alloc::{MemInfo, decref, incref};
use pyo3::prelude::*;
use std::ffi::{c_int, c_uint};
use std::sync::atomic::Ordering;

// Part of CPython's API for extensions.
unsafe extern "C" {
    fn PyTraceMalloc_Track(domain: c_uint, address: usize, size: usize) -> c_int;
    fn PyTraceMalloc_Untrack(domain: c_uint, address: usize) -> c_int;
}

/// The domain of `tracemalloc` that arrays of compiled code are in.
const DOMAIN: c_uint = 0x6c68;

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
        unsafe {
            incref(mem);
            // It does nothing unless memory is traced.
            PyTraceMalloc_Track(DOMAIN, mem.addr(), (*mem).size);
        }
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
        unsafe {
            PyTraceMalloc_Untrack(DOMAIN, self.0.addr());
            decref(self.0);
        }
    }
}
