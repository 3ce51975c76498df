//! Generators made by compiled code, as Python iterators. `generator_methods.rs` has their methods.

use crate::object::memory::Memory;
use lh_driver::Compiled;
use lh_runtime::MemInfo;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A generator: its frame, and the code that makes the next item.
#[pyclass(frozen, module = "lancehead._core")]
pub struct Generator {
    /// Where it goes on, and its variables.
    pub frame: Memory,
    /// The code that goes on with it.
    pub advance: Arc<Compiled>,
    /// Set while a thread runs it.
    pub is_running: AtomicBool,
}

impl Generator {
    /// A generator with a reference of its own to the frame.
    ///
    /// # Safety
    /// `frame` is alive and that of a generator whose items `advance` gives.
    pub unsafe fn new(frame: *mut MemInfo, advance: Arc<Compiled>) -> Generator {
        // SAFETY: as promised.
        Generator { frame: unsafe { Memory::new(frame) }, advance, is_running: AtomicBool::new(false) }
    }
}
