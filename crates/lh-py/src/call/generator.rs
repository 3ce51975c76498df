//! Generators made by compiled code, as Python iterators.

use crate::call::boxing::{Boxer, release};
use crate::object::memory::Memory;
use crate::runtime::raise;
use crate::runtime::signals::Running;
use lh_driver::Compiled;
use lh_ir::{Ty, TyKind};
use lh_runtime::MemInfo;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A generator: its frame, and the code that makes the next item.
#[pyclass(frozen, module = "lancehead._core")]
pub struct Generator {
    frame: Memory,
    advance: Arc<Compiled>,
    /// Set while a thread runs it.
    is_running: AtomicBool,
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

#[pymethods]
impl Generator {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let args = [self.frame.address() as u64];
        let ty = self.advance.ret;
        let mut words = vec![0u64; ty.flatten().len()];
        if self.is_running.swap(true, Ordering::Acquire) {
            return Err(PyValueError::new_err("generator already executing"));
        }
        let running = Running::start(self.advance.may_wait);
        // SAFETY: the code takes a generator's frame, which is alive, and gives as many words as its result type has.
        let status = unsafe { (self.advance.entry)(args.as_ptr(), words.as_mut_ptr()) };
        drop(running);
        self.is_running.store(false, Ordering::Release);
        if status != 0 {
            return Err(raise::take(py));
        }
        let Some([_, item]) = ty.tuple_elems() else { lh_ir::bug!("a generator gives pairs") };
        if words[0] & 1 == 0 {
            release(ty, &words);
            return Ok(None);
        }
        Boxer::new(py, None).owned(*item, &words[1..]).map(Some)
    }
    #[getter]
    fn gi_running(&self) -> bool {
        self.is_running.load(Ordering::Relaxed)
    }
    fn __repr__(&self) -> String {
        let item = match self.advance.args.first().map(|t: &Ty| t.kind()) {
            Some(TyKind::Generator { item, .. }) => item.numba().to_string(),
            _ => String::new(),
        };
        format!("<compiled generator of {item}>")
    }
}
