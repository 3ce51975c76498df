//! Ctrl-C: while compiled code runs on the main thread, SIGINT also sets the flag that compiled loops poll.

use crate::object::attach::attach;
use crate::runtime::raise;
use lh_runtime::Pending;
use pyo3::prelude::*;
use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};

/// Calls of compiled code now running on the main thread.
static RUNNING: AtomicI32 = AtomicI32::new(0);
/// The handler that was there before ours.
static PREVIOUS: AtomicUsize = AtomicUsize::new(0);

/// `pthread_self()` of the main thread.
static MAIN: AtomicUsize = AtomicUsize::new(0);

/// `pthread_self()`, read from the thread pointer where that is its value.
#[inline(always)]
fn this_thread() -> usize {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    // SAFETY: the thread pointer points to itself, as the ABI of thread-local storage wants; glibc's handle is that
    // address.
    unsafe {
        let id: usize;
        std::arch::asm!("mov {}, fs:0", out(reg) id, options(pure, readonly, nostack, preserves_flags));
        id
    }
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    // SAFETY: takes nothing.
    unsafe {
        libc::pthread_self() as usize
    }
}

/// Finds the main thread of Python, and lets Python decide what a signal raises in compiled code.
pub fn find_main_thread(py: Python<'_>) -> PyResult<()> {
    if MAIN.load(Ordering::Relaxed) == 0 {
        let main = py.import("threading")?.call_method0("main_thread")?.getattr("ident")?;
        // CPython identifies threads by their pthread handles.
        MAIN.store(main.extract()?, Ordering::Relaxed);
    }
    lh_runtime::interrupt::set_host(serve);
    Ok(())
}

extern "C" fn handler(signal: c_int) {
    let previous = PREVIOUS.load(Ordering::Relaxed);
    if previous != libc::SIG_IGN && previous != libc::SIG_DFL {
        // SAFETY: the handler that `sigaction` gave us, installed without SA_SIGINFO, as Python's is.
        unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(previous)(signal) };
    }
    // The flag is set last: when a loop sees it, Python has recorded the signal.
    if RUNNING.load(Ordering::Relaxed) > 0 {
        lh_runtime::interrupt::set();
    }
}

/// The exception of Python's handler for the signal. Compiled code may catch it, so it cannot be deferred.
fn serve() -> Option<Pending> {
    attach(|py| py.check_signals().err().map(|error| raise::pending(py, error)))
}

/// The tick at which the handler was last checked.
static LOOKED: AtomicU64 = AtomicU64::new(0);

/// Reinstalls our handler if a tick has passed since the last check, because Jupyter replaces the handler before each
/// cell. A system call is too expensive for each call of a short function; reading the clock is not.
#[inline(always)]
fn look_again() {
    let now = tick();
    if now != LOOKED.load(Ordering::Relaxed) {
        LOOKED.store(now, Ordering::Relaxed);
        install();
    }
}

/// A cheap clock with some ten thousand ticks a second, which is more often than a program sets a handler and calls.
#[inline(always)]
fn tick() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor that runs Python on this architecture has the instruction.
    unsafe {
        std::arch::x86_64::_rdtsc() >> 17
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
        START.elapsed().as_micros() as u64 >> 6
    }
}

/// Installs our handler before Python's: before each compilation and now and then before a call, since `signal.signal`
/// replaces it.
#[cold]
pub fn install() {
    // SAFETY: plain C calls with structs of our own; the handler only does what is allowed in one.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGINT, std::ptr::null(), &mut now) != 0 {
            return;
        }
        let ours = handler as extern "C" fn(c_int) as usize;
        let plain = now.sa_flags & libc::SA_SIGINFO == 0;
        if now.sa_sigaction == ours || now.sa_sigaction == libc::SIG_IGN || now.sa_sigaction == libc::SIG_DFL || !plain
        {
            return;
        }
        PREVIOUS.store(now.sa_sigaction, Ordering::Relaxed);
        now.sa_sigaction = ours;
        libc::sigaction(libc::SIGINT, &now, std::ptr::null_mut());
    }
}

/// Marks, while it lives, that compiled code runs.
pub struct Running(bool);

impl Running {
    /// Marks the start of a call; code that ends at once is not marked.
    #[inline(always)]
    pub fn start(may_wait: bool) -> Running {
        let main = may_wait && this_thread() == MAIN.load(Ordering::Relaxed);
        if main {
            look_again();
            // Only the main thread and its signal handler touch the counter, so no atomic read-modify-write is needed.
            RUNNING.store(RUNNING.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
        Running(main)
    }
}

impl Drop for Running {
    #[inline(always)]
    fn drop(&mut self) {
        if self.0 {
            RUNNING.store(RUNNING.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
            if lh_runtime::interrupt::INTERRUPT_FLAG.load(Ordering::Relaxed) != 0
                && RUNNING.load(Ordering::Relaxed) == 0
            {
                // The code ended before it polled: Python's handler raises on its own.
                lh_runtime::interrupt::clear();
            }
        }
    }
}
