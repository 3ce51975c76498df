//! Ctrl-C: while compiled code runs on the main thread, SIGINT also sets the flag that compiled loops look at.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

/// Calls of compiled code now running on the main thread.
static RUNNING: AtomicI32 = AtomicI32::new(0);
/// The handler that was there before ours.
static PREVIOUS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static IS_MAIN: bool = is_main_thread();
}

fn is_main_thread() -> bool {
    // SAFETY: both take nothing; the main thread's id is the process's.
    unsafe { libc::syscall(libc::SYS_gettid) == libc::c_long::from(libc::getpid()) }
}

extern "C" fn handler(signal: c_int) {
    if RUNNING.load(Ordering::Relaxed) > 0 {
        lh_runtime::interrupt::set();
    }
    let previous = PREVIOUS.load(Ordering::Relaxed);
    if previous != libc::SIG_IGN && previous != libc::SIG_DFL {
        // SAFETY: the handler that `sigaction` gave us, installed without SA_SIGINFO, as Python's is.
        unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(previous)(signal) };
    }
}

/// Puts our handler before Python's. Done before each compilation, since `signal.signal` replaces it.
pub fn install() {
    // SAFETY: plain C calls with structs of our own; the handler only does what is allowed in one.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGINT, std::ptr::null(), &mut now) != 0 {
            return;
        }
        let ours = handler as extern "C" fn(c_int) as usize;
        let plain = now.sa_flags & libc::SA_SIGINFO == 0;
        if now.sa_sigaction == ours || now.sa_sigaction == libc::SIG_IGN || now.sa_sigaction == libc::SIG_DFL || !plain {
            return;
        }
        PREVIOUS.store(now.sa_sigaction, Ordering::Relaxed);
        now.sa_sigaction = ours;
        libc::sigaction(libc::SIGINT, &now, std::ptr::null_mut());
    }
}

/// Shows, while it lives, that compiled code runs.
pub struct Running(bool);

impl Running {
    /// Marks the start of a call.
    #[inline(always)]
    pub fn start() -> Running {
        let main = IS_MAIN.with(|m| *m);
        if main {
            // Only the main thread and its signal handler touch the counter: no locked instruction is needed.
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
            if lh_runtime::interrupt::INTERRUPT_FLAG.load(Ordering::Relaxed) != 0 && RUNNING.load(Ordering::Relaxed) == 0 {
                // The code ended before it looked: Python's handler raises on its own.
                lh_runtime::interrupt::clear();
            }
        }
    }
}
