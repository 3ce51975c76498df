//! Atomics and waiting, as the operating system has them. `tests/all/pool_model.rs` puts a model checker's in their
//! place.

use std::mem::transmute;
use std::ops::Deref;
use std::ptr::null_mut;
pub(crate) use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};

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
    /// Sleeps in some of 32 beds until woken, unless the number is another already. May return without reason.
    pub(crate) fn wait(&self, expected: u32, beds: u32) {
        self.futex(libc::FUTEX_WAIT_BITSET, expected, beds);
    }
    /// Wakes threads that wait in these beds.
    pub(crate) fn wake(&self, threads: u32, beds: u32) {
        self.futex(libc::FUTEX_WAKE_BITSET, threads, beds);
    }
    fn futex(&self, operation: i32, number: u32, beds: u32) {
        let (none, operation) = (null_mut::<libc::c_void>(), operation | libc::FUTEX_PRIVATE_FLAG);
        // SAFETY: a futex call on a live, aligned word without a time limit.
        unsafe { libc::syscall(libc::SYS_futex, self.0.as_ptr(), operation, number, none, none, beds) };
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

/// A clock that is cheap to read and advances once a nanosecond or more often.
pub(crate) fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: all processors of this kind have the instruction.
    return unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    {
        let mut now = std::mem::MaybeUninit::<libc::timespec>::zeroed();
        // SAFETY: the call fills the struct, of which all bits may be 0.
        let now = unsafe {
            libc::clock_gettime(libc::CLOCK_MONOTONIC, now.as_mut_ptr());
            now.assume_init()
        };
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }
}
