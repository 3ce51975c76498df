//! Why a compilation ends before it is done: a signal whose handler raises, the limit of time, or want of memory.

use crate::object::errors::error_of;
use crate::object::scarcity::{self, Held};
use lh_ir::stop::{self, Watch};
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError};
use pyo3::prelude::*;
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

thread_local! {
    /// When the outermost compilation of this thread has to be done, and how long it may take.
    static LIMIT: Cell<Option<(Instant, Duration)>> = const { Cell::new(None) };
    /// The exception for which a compilation is left.
    static ERROR: RefCell<Option<PyErr>> = const { RefCell::new(None) };
    /// An exception of a signal's handler that nobody has heard of.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
    /// Whether the last compilation of this thread was left.
    static WAS_LEFT: Cell<bool> = const { Cell::new(false) };
}

/// A compilation that can be left.
pub struct Stoppable {
    _held: Held,
    _watch: Watch,
    is_outermost: bool,
}

impl Drop for Stoppable {
    fn drop(&mut self) {
        if self.is_outermost {
            LIMIT.set(None);
        }
    }
}

/// Begins a compilation, or a part of one, that may take so long.
pub fn begin(limit: Option<Duration>) -> PyResult<Stoppable> {
    WAS_LEFT.set(false);
    let held = scarcity::hold().ok_or_else(no_memory)?;
    let is_outermost = LIMIT.get().is_none();
    if is_outermost {
        LIMIT.set(limit.and_then(|limit| Some((Instant::now().checked_add(limit)?, limit))));
    }
    Ok(Stoppable { _held: held, _watch: stop::watch(is_to_end), is_outermost })
}

/// The exception for which the compilation of this thread was left.
pub fn take_error() -> PyErr {
    WAS_LEFT.set(true);
    ERROR.take().unwrap_or_else(no_memory)
}

/// Whether the last compilation of this thread was left: its error says nothing of the function, so that another way to
/// compile it is not tried.
pub fn was_left() -> bool {
    WAS_LEFT.get()
}

fn no_memory() -> PyErr {
    PyMemoryError::new_err("not enough memory to compile")
}

/// Answers of Python code to a compilation.
pub trait Answer<T> {
    /// The answer, or `None` for an exception. One that a signal's handler has raised, in that code, ends the
    /// compilation where it asks next.
    fn answer(self) -> Option<T>;
}

impl<T> Answer<T> for PyResult<T> {
    fn answer(self) -> Option<T> {
        self.map_err(|error| {
            // SAFETY: only an attached thread has run Python code.
            let py = unsafe { Python::assume_attached() };
            if error.is_instance_of::<PyKeyboardInterrupt>(py) || comes_from_handler(py, &error).unwrap_or(false) {
                RAISED.replace(Some(error));
            }
        })
        .ok()
    }
}

/// The exception of a signal's handler that nobody has heard of, if there is one.
pub fn unheard() -> Option<PyErr> {
    RAISED.take()
}

/// Whether the handler of a signal is among the frames of an exception.
fn comes_from_handler(py: Python<'_>, error: &PyErr) -> PyResult<bool> {
    let Some(mut at) = error.traceback(py).map(Bound::into_any) else { return Ok(false) };
    let module = py.import("signal")?;
    let signals = module.call_method0("valid_signals")?.try_iter()?.flatten();
    let handlers: Vec<_> =
        signals.flat_map(|number| module.call_method1("getsignal", (number,))?.getattr("__code__")).collect();
    while !at.is_none() {
        let code = at.getattr("tb_frame")?.getattr("f_code")?;
        if handlers.iter().any(|h| h.is(&code)) {
            return Ok(true);
        }
        at = at.getattr("tb_next")?;
    }
    Ok(false)
}

/// Asked by the stages of a thread that has the interpreter.
fn is_to_end() -> bool {
    // SAFETY: stages that need the interpreter have it; others ask `is_to_end_apart`.
    let py = unsafe { Python::assume_attached() };
    let raised = unheard();
    let error = if raised.is_some() {
        raised
    } else if scarcity::is_spent() {
        Some(no_memory())
    } else if let Some(limit) = passed() {
        let seconds = limit.as_secs_f64();
        let text = format!("compiling takes longer than the {seconds} s of `lancehead.config.COMPILE_SECONDS`");
        Some(error_of(py, "CompilationTimeoutError", &text))
    } else {
        py.check_signals().err()
    };
    let ends = error.is_some();
    if ends {
        ERROR.replace(error);
    }
    ends
}

/// The limit, if it has passed.
fn passed() -> Option<Duration> {
    LIMIT.get().filter(|(end, _)| Instant::now() > *end).map(|(_, limit)| limit)
}

/// Runs a stage that does not need the interpreter on this thread, which asks for less meanwhile.
pub fn apart<R>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> R
where
    R: Send,
{
    py.detach(|| {
        let _watch = stop::watch(scarcity::is_spent);
        work()
    })
}
