//! The pool: a board and threads that look at it. Made when first needed, and made anew in a forked child.

use super::board::Board;
use super::region::Region;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Regions that run at the same time; more run on their own thread alone.
const SLOTS: usize = 16;
/// Stack of a worker: address space, not memory.
const STACK: usize = 16 << 20;

/// A board and its workers.
pub(super) struct Pool {
    pub(super) board: Board<Region>,
    /// Workers that have been started.
    started: AtomicU32,
    /// Workers that have begun, which numbers them.
    begun: AtomicU32,
}

static POOL: AtomicPtr<Pool> = AtomicPtr::new(null_mut());
/// How often this process has been forked from another.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The pool of this process. Uses no lock: a fork may happen at any time.
pub(super) fn pool() -> &'static Pool {
    let mut p = POOL.load(Ordering::Acquire);
    if p.is_null() {
        forget_in_children();
        let (started, begun) = (AtomicU32::new(0), AtomicU32::new(0));
        let new = Box::into_raw(Box::new(Pool { board: Board::new(SLOTS), started, begun }));
        p = match POOL.compare_exchange(null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => new,
            Err(other) => {
                // SAFETY: made above and shown to nobody.
                drop(unsafe { Box::from_raw(new) });
                other
            }
        };
    }
    // SAFETY: pools are never freed.
    unsafe { &*p }
}

/// Number of forks that led to this process since the pool was first used.
pub(super) fn forks() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

fn forget_in_children() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function lives as long as the process and only writes to two atomics.
        unsafe { libc::pthread_atfork(None, None, Some(forget)) };
    });
}

/// In a child: the workers are gone, and what they left on the board means nothing.
unsafe extern "C" fn forget() {
    POOL.store(null_mut(), Ordering::Release);
    FORKS.fetch_add(1, Ordering::Relaxed);
}

impl Pool {
    /// Starts workers until there are this many. When the system gives no more threads, those that there are must do.
    pub(super) fn ensure(&'static self, workers: u32) {
        let mut started = self.started.load(Ordering::Relaxed);
        while started < workers {
            match self.started.compare_exchange(started, started + 1, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) if !self.start() => {
                    self.started.fetch_sub(1, Ordering::Relaxed);
                    return;
                }
                Ok(_) => started += 1,
                Err(now) => started = now,
            }
        }
    }

    /// Starts a thread to which no signal is ever delivered.
    fn start(&'static self) -> bool {
        // SAFETY: plain C calls on local objects; the thread gets a pool that lives as long as the process.
        unsafe {
            let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
            let mut attr = MaybeUninit::uninit();
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_attr_init(attr.as_mut_ptr());
            libc::pthread_attr_setstacksize(attr.as_mut_ptr(), STACK);
            libc::pthread_attr_setdetachstate(attr.as_mut_ptr(), libc::PTHREAD_CREATE_DETACHED);
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            let mut thread = MaybeUninit::<libc::pthread_t>::uninit();
            let argument = std::ptr::from_ref(self).cast_mut().cast::<c_void>();
            let status = libc::pthread_create(thread.as_mut_ptr(), attr.as_ptr(), work, argument);
            libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut());
            libc::pthread_attr_destroy(attr.as_mut_ptr());
            status == 0
        }
    }
}

/// A worker's life.
extern "C" fn work(pool: *mut c_void) -> *mut c_void {
    // SAFETY: `start` passes a pool that lives as long as the process.
    let Pool { board, begun, .. } = unsafe { &*pool.cast::<Pool>() };
    let number = begun.fetch_add(1, Ordering::Relaxed) + 1;
    loop {
        let seen = board.news();
        match board.join() {
            Some((place, region)) => {
                // SAFETY: the region lives until all who joined have left.
                unsafe { (*region).help(board, place, number) };
                board.leave(place);
            }
            None => board.rest(seen, number),
        }
    }
}
