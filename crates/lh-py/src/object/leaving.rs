//! Threads at the end of the interpreter, which other threads than the one that ends it never get again.
//!
//! Up to 3.13, CPython ends such a thread where it asks for the interpreter's lock, by unwinding its stack. Frames of
//! Rust can neither be unwound by others nor catch that: the process would abort. So the linker puts our personality
//! routine before Rust's, and the first frame of ours that is met keeps the thread where it is, as CPython itself does
//! since 3.14. It has not got the lock, so that nothing waits for it.
//!
//! Threads that need no interpreter, such as those in LLVM, run on until the process ends. So what they use must not be
//! destroyed before: destructors of C++'s static objects are never registered.

use pyo3::ffi;
use std::ffi::{c_int, c_void};

/// `_UA_FORCE_UNWIND` of the C++ ABI: the stack is unwound to end the thread, not for an exception.
const FORCED: c_int = 8;

unsafe extern "C" {
    fn __real_rust_eh_personality(
        version: c_int,
        actions: c_int,
        class: u64,
        exception: *mut c_void,
        context: *mut c_void,
    ) -> c_int;
    #[cfg(not(Py_3_13))]
    fn _Py_IsFinalizing() -> c_int;
}

/// Answers the unwinder about each frame of Rust.
///
/// # Safety
/// As the C++ ABI has it.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_rust_eh_personality(
    version: c_int,
    actions: c_int,
    class: u64,
    exception: *mut c_void,
    context: *mut c_void,
) -> c_int {
    if actions & FORCED != 0 {
        park();
    }
    // SAFETY: the arguments are passed on.
    unsafe { __real_rust_eh_personality(version, actions, class, exception, context) }
}

/// Registers a destructor of a static object; this module is never unloaded, so none is needed.
#[unsafe(no_mangle)]
extern "C" fn __wrap___cxa_atexit(
    _: Option<unsafe extern "C" fn(*mut c_void)>,
    _: *mut c_void,
    _: *mut c_void,
) -> c_int {
    0
}

/// Whether the interpreter ends or has ended.
pub fn is_ending() -> bool {
    #[cfg(not(Py_3_13))]
    use _Py_IsFinalizing as is_finalizing;
    #[cfg(Py_3_13)]
    use ffi::Py_IsFinalizing as is_finalizing;
    // SAFETY: both read a variable, for which no lock is needed.
    unsafe { is_finalizing() != 0 || ffi::Py_IsInitialized() == 0 }
}

/// The same, if this thread is not the one that ends it.
pub fn is_left() -> bool {
    // SAFETY: plain system calls; the main thread has the number of the process.
    is_ending() && unsafe { libc::syscall(libc::SYS_gettid) != libc::c_long::from(libc::getpid()) }
}

/// Keeps a thread that would ask for the interpreter after its end, where even asking is no longer safe.
pub fn stay() {
    if is_left() {
        park();
    }
}

fn park() -> ! {
    loop {
        // SAFETY: waits for signals, which other threads may handle as well.
        unsafe { libc::pause() };
    }
}
