//! Atomics and waiting, as the operating system has them. `tests/all/pool_model.rs` puts a model checker's in their
//! place.

use std::mem::transmute;
use std::ops::Deref;
use std::ptr::null_mut;
pub(crate) use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering, fence};

/// Rounds of waiting before a thread sleeps: some tens of microseconds. Longer only hurts where threads share cores.
pub(crate) const SPINS: u32 = 2000;

/// A number on which threads can wait.
#[derive(Default)]
pub(crate) struct Word(AtomicU32);

impl Deref for Word {
    type Target = AtomicU32;
    fn deref(&self) -> &AtomicU32 {
        &self.0
    }
}

impl Word {
    /// Sleeps until woken, unless the number is another already. May return without reason.
    pub(crate) fn wait(&self, expected: u32) {
        // SAFETY: a futex call on a live, aligned word without a time limit.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.0.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                expected,
                std::ptr::null::<libc::timespec>(),
            );
        }
    }
    /// Wakes threads that wait.
    pub(crate) fn wake(&self, threads: u32) {
        // SAFETY: a futex call that looks at the address only.
        unsafe {
            libc::syscall(libc::SYS_futex, self.0.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, threads);
        }
    }
}

/// A hook that wraps a thread's long waits; see [`set_apart`].
pub type Apart = fn(&mut dyn FnMut());

static APART: AtomicPtr<()> = AtomicPtr::new(null_mut());

/// Sets the hook around threads' long waits for others. It has to call the function that it is given, and may release
/// resources meanwhile that the others need, such as the interpreter's lock.
pub fn set_apart(apart: Apart) {
    APART.store(apart as *mut (), Ordering::Release);
}

/// Waits in the way that was set.
pub(crate) fn apart(wait: &mut dyn FnMut()) {
    let set = APART.load(Ordering::Acquire);
    if set.is_null() {
        return wait();
    }
    // SAFETY: only `set_apart` stores here, functions of this type.
    unsafe { transmute::<*mut (), Apart>(set)(wait) }
}

/// Tells the processor that a loop waits.
pub(crate) fn pause() {
    std::hint::spin_loop();
}
