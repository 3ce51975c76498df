//! How many threads there are, how many a thread uses, which one this is, and the chunk size it asks for.

use crate::classes::VALUE_ERROR;
use crate::exception::raise;
use crate::symbol::{Symbol, functions};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

/// A thread's part in parallel work.
#[derive(Clone, Copy)]
pub(super) struct Here {
    /// Threads that a region begun here may use; 0: all.
    pub(super) threads: u32,
    /// Number of this thread in the innermost region.
    pub(super) id: u32,
    /// Number of regions around the running code.
    pub(super) depth: u32,
    /// Iterations of a block, if the program has said so.
    pub(super) chunk: i64,
}

thread_local! {
    static HERE: Cell<Here> = const { Cell::new(Here { threads: 0, id: 0, depth: 0, chunk: 0 }) };
}

/// This thread's part.
pub(super) fn here() -> Here {
    HERE.get()
}

/// Sets this thread's part.
pub(super) fn set_here(here: Here) {
    HERE.set(here);
}

/// All threads, the caller among them; 0 until it is asked for.
static LAUNCHED: AtomicU32 = AtomicU32::new(0);

/// Threads that regions can use at most: `LANCEHEAD_NUM_THREADS`, else `NUMBA_NUM_THREADS`, else one for each processor
/// that the process may run on.
pub fn max_threads() -> u32 {
    match LAUNCHED.load(Ordering::Relaxed) {
        0 => {
            let n = asked().unwrap_or_else(processors).clamp(1, super::board::MOST);
            // Another thread may have been faster.
            LAUNCHED.compare_exchange(0, n, Ordering::Relaxed, Ordering::Relaxed).err().unwrap_or(n)
        }
        n => n,
    }
}

/// Sets [`max_threads`]; workers that there are stay.
pub fn set_max_threads(n: u32) {
    LAUNCHED.store(n.clamp(1, super::board::MOST), Ordering::Relaxed);
}

fn asked() -> Option<u32> {
    let read = |name| std::env::var(name).ok()?.trim().parse().ok().filter(|n| *n > 0);
    read("LANCEHEAD_NUM_THREADS").or_else(|| read("NUMBA_NUM_THREADS"))
}

fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Threads that a region begun by this thread uses.
pub fn threads() -> u32 {
    match here().threads {
        0 => max_threads(),
        n => n.min(max_threads()),
    }
}

/// Sets [`threads`] of this thread; whether the number was one that there can be.
pub fn set_threads(n: i64) -> bool {
    let fits = (1..=i64::from(max_threads())).contains(&n);
    if fits {
        set_here(Here { threads: n as u32, ..here() });
    }
    fits
}

/// Number of this thread in the innermost region, below [`threads`]; 0 outside.
pub fn thread_id() -> u32 {
    here().id
}

/// The chunk size asked for by this thread; 0: none.
pub fn chunk() -> i64 {
    here().chunk
}

/// Sets the chunk size; 0: none. Gives the one before, or nothing if the number is negative.
pub fn set_chunk(n: i64) -> Option<i64> {
    let before = chunk();
    (n >= 0).then(|| {
        set_here(Here { chunk: n, ..here() });
        before
    })
}

/// Text of the error for a number of threads that there cannot be.
pub fn threads_error() -> String {
    format!("The number of threads must be between 1 and {}", max_threads())
}

/// Text of the error for a negative chunk size.
pub const CHUNK_ERROR: &str = "chunksize must be greater than or equal to zero";

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_get_num_threads() -> i64 {
    threads().into()
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_set_num_threads(n: i64) -> i32 {
    if set_threads(n) { 0 } else { raise(VALUE_ERROR, threads_error()) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_get_thread_id() -> i64 {
    thread_id().into()
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_get_chunksize() -> i64 {
    chunk()
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_set_chunksize(n: i64, before: *mut i64) -> i32 {
    let Some(old) = set_chunk(n) else { return raise(VALUE_ERROR, CHUNK_ERROR) };
    // SAFETY: compiled code passes room for the result.
    unsafe { before.write(old) };
    0
}

pub(super) fn symbols() -> Vec<Symbol> {
    functions! {
        () lh_get_num_threads lh_get_thread_id lh_get_chunksize;
        (_) lh_set_num_threads;
        (_ _) lh_set_chunksize;
    }
}
