//! Attaching to the interpreter from code that C code may have called.

use crate::object::leaving;
use pyo3::ffi;
use pyo3::prelude::*;

/// Runs a function with the interpreter. `Python::attach` trusts a counter of PyO3's own, which is wrong in an inner
/// loop that NumPy calls below one of our methods: NumPy has released the interpreter since.
#[expect(clippy::disallowed_methods, reason = "after the interpreter itself has said that the thread is attached")]
pub fn attach<R>(f: impl FnOnce(Python<'_>) -> R) -> R {
    struct State(ffi::PyGILState_STATE);
    impl Drop for State {
        fn drop(&mut self) {
            // SAFETY: what `attach` got, on the same thread, in reverse order.
            unsafe { ffi::PyGILState_Release(self.0) }
        }
    }
    leaving::stay();
    // SAFETY: the interpreter runs, or the thread has stayed behind.
    let _state = State(unsafe { ffi::PyGILState_Ensure() });
    Python::attach(f)
}

/// Drops references at once: PyO3 knows that it is attached only below functions that it has entered. At the end of the
/// interpreter they are left.
pub fn release<T>(references: T) {
    let _ = Python::try_attach(move |_| drop(references));
}
