//! Atomics and waiting, as the operating system has them. `tests/pool_model.rs` puts a model checker's in their place.

use std::ops::Deref;
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

/// Tells the processor that a loop waits.
pub(crate) fn pause() {
    std::hint::spin_loop();
}
