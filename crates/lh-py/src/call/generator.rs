//! Generators made by compiled code, as Python iterators. `generator_methods.rs` has their methods.

use crate::call::lists::Lists;
use crate::call::overload::{Overload, Sizes};
use crate::host::held::Held;
use crate::object::memory::Memory;
use lh_driver::Compiled;
use lh_runtime::MemInfo;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The copies that the call made which made the generator.
struct Given(Box<Lists>);

// SAFETY: the copies are used with the lock, and their counts are atomic; Python's objects in them are used by an
// attached thread.
unsafe impl Send for Given {}

/// A generator: its frame, and the code that makes the next item.
#[pyclass(frozen, module = "lancehead._core")]
pub struct Generator {
    /// Where it goes on, and its variables.
    pub frame: Memory,
    /// The code that goes on with it.
    pub advance: Arc<Compiled>,
    /// The code that made it, which closes it, and the objects of both.
    _made_by: (Arc<Compiled>, Option<Py<Held>>),
    /// Numbers of words.
    pub sizes: Sizes,
    /// The copies of containers that its function was given.
    given: Mutex<Option<Given>>,
    has_given: AtomicBool,
    /// Set while a thread runs it.
    pub is_running: AtomicBool,
}

impl Generator {
    /// A generator with a reference of its own to the frame.
    ///
    /// # Safety
    /// `frame` is alive and that of a generator whose items `advance` gives; `made_by` has made it.
    pub unsafe fn new(frame: *mut MemInfo, advance: Arc<Compiled>, made_by: &Overload, py: Python<'_>) -> Generator {
        // SAFETY: as promised.
        let frame = unsafe { Memory::new(frame) };
        let held = made_by.guard.held.as_ref().map(|held| held.clone_ref(py));
        let _made_by = (made_by.compiled.clone(), held);
        let sizes = *made_by.steps.get_or_init(|| Sizes::of(&advance));
        let [has_given, is_running] = [false; 2].map(AtomicBool::new);
        Generator { frame, advance, _made_by, sizes, given: Mutex::new(None), has_given, is_running }
    }

    /// Whether it keeps copies of what its function was given.
    pub fn has_copies(&self) -> bool {
        self.has_given.load(Ordering::Relaxed)
    }

    /// Keeps the copies of what its function was given, which it may go on to change.
    pub fn keep(&self, given: Box<Lists>) {
        *self.given.lock().unwrap_or_else(PoisonError::into_inner) = Some(Given(given));
        self.has_given.store(true, Ordering::Relaxed);
    }

    /// Writes back what it has changed: everything at its end, before that only what has another size, since items
    /// are many.
    pub fn write_back(&self, py: Python<'_>, is_done: bool) -> PyResult<()> {
        if !self.has_copies() {
            return Ok(());
        }
        let Some(mut held) = self.given.lock().unwrap_or_else(PoisonError::into_inner).take() else { return Ok(()) };
        let written = if is_done || held.0.has_other_size() { held.0.reflect_again(py) } else { Ok(()) };
        if !is_done {
            self.keep(held.0);
        }
        written
    }
}
