//! The number of live counted objects.
//!
//! Every thread counts in a cell of its own, with plain loads and stores: an atomic addition would cost as much as the
//! allocation that it counts. A cell outlives its thread and is handed to the next one.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A counter in a cache line of its own. Only one thread at a time writes to it.
#[repr(align(64))]
struct Counter(AtomicI64);

/// All counters, and those whose threads have ended.
struct Counters {
    all: Vec<&'static Counter>,
    free: Vec<&'static Counter>,
}

static COUNTERS: Mutex<Counters> = Mutex::new(Counters { all: Vec::new(), free: Vec::new() });
/// For threads that are ending and have given back their counter.
static LATE: Counter = Counter(AtomicI64::new(0));

thread_local! {
    /// This thread's counter; null before the first use and at the thread's end.
    static MINE: Cell<*const Counter> = const { Cell::new(ptr::null()) };
    static LEASE: Lease = Lease::take();
}

/// The right to a counter, given back when the thread ends.
struct Lease(&'static Counter);

impl Lease {
    fn take() -> Lease {
        let mut counters = COUNTERS.lock().unwrap_or_else(PoisonError::into_inner);
        let counter = counters.free.pop().unwrap_or_else(|| {
            let new: &'static Counter = Box::leak(Box::new(Counter(AtomicI64::new(0))));
            counters.all.push(new);
            new
        });
        Lease(counter)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        MINE.set(ptr::null());
        COUNTERS.lock().unwrap_or_else(PoisonError::into_inner).free.push(self.0);
    }
}

/// Counts allocations (1) and frees (-1).
#[inline]
pub(crate) fn count_live(change: i64) {
    let mine = MINE.get();
    if mine.is_null() {
        return count_first(change);
    }
    // SAFETY: counters live for ever.
    let counter = unsafe { &(*mine).0 };
    counter.store(counter.load(Ordering::Relaxed) + change, Ordering::Relaxed);
}

/// As [`count_live`], in a thread that has no counter.
#[cold]
fn count_first(change: i64) {
    if LEASE.try_with(|l| MINE.set(l.0)).is_ok() {
        return count_live(change);
    }
    LATE.0.fetch_add(change, Ordering::Relaxed);
}

/// Number of live counted objects.
pub(crate) fn live() -> i64 {
    let counters = COUNTERS.lock().unwrap_or_else(PoisonError::into_inner);
    counters.all.iter().chain([&&LATE]).map(|c| c.0.load(Ordering::Relaxed)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_ended_threads_stay() {
        // Other tests allocate and free meanwhile, so a number that they cannot reach is counted.
        const MANY: i64 = 1 << 40;
        for _ in 0..3 {
            std::thread::spawn(|| count_live(MANY)).join().unwrap();
        }
        let near = |n: i64| (live() - n).abs() < MANY / 2;
        assert!(near(3 * MANY));
        std::thread::spawn(|| count_live(-3 * MANY)).join().unwrap();
        assert!(near(0));
    }
}
