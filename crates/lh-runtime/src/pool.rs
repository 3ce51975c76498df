//! Parallel loops on one pool of threads.
//!
//! ```c
//! typedef int32_t (*body)(void *env, int64_t low, int64_t high, int64_t thread);
//! int32_t lh_parallel_for(int64_t n, int64_t grain, body f, void *env);
//! int64_t lh_parallel_grain(int64_t n, int64_t cost);
//! ```
//!
//! `lh_parallel_for` cuts the iterations from 0 to before `n` into blocks of `grain` (the last may be shorter), calls
//! the body once for each block and returns when all have ended. The blocks depend on `n` and `grain` only, never
//! on threads: results combined by blocks are the same whatever the number of threads. A body that
//! returns something other than 0 has left an exception pending in its thread; the one of the first block becomes the
//! caller's, and no later block is begun. `thread` is below [`threads`], and no two blocks that run at the same time
//! have the same.
//!
//! A thread begins with the same contiguous part of the blocks in each loop with as many of them, and helps others with
//! theirs when its own are done.
//!
//! Any thread may call it at any time, from inside a body too: the inner loop gets workers that have nothing else to
//! do. The caller works itself and waits only for workers that have begun a block. In a forked child the pool begins
//! anew. Ctrl-C ends the loop with KeyboardInterrupt. Each block draws random numbers from a stream of its own, which
//! depends on the seed of the caller's stream, the number of loops since it was seeded, and the block.
//!
//! `lh_parallel_grain` proposes a grain: so that a block takes some microseconds at least, and there are enough blocks
//! for uneven iterations to balance. `cost` is the time of an iteration in nanoseconds, roughly; 0 if it may be long.

mod board;
mod exclude;
mod parts;
mod region;
mod settings;
mod sync;
mod workers;

pub use exclude::{Warner, forget_told, set_warner};
pub use region::Body;
pub use settings::{
    CHUNK_ERROR, chunk, max_threads, set_chunk, set_max_threads, set_threads, thread_id, threads, threads_error,
};
pub use sync::set_apart;

use crate::check;
use crate::symbol::{Symbol, functions};
use region::Work;
use std::ffi::c_void;

/// The most blocks of a loop with short ones.
const BLOCKS: i64 = 256;
/// The most blocks of any loop: enough for uneven iterations to balance on many threads.
const MOST: i64 = 1024;
/// A block does not take longer than this many nanoseconds where there may be more.
const LONGEST: i64 = 50_000;
/// A block takes this long at least, if there are so many iterations, in nanoseconds.
const SHORTEST: i64 = 4_000;
/// Elements of a cache line, whatever their size.
const LINE: i64 = 64;
/// Loops that take less than this many nanoseconds are one block: waking a thread would take as long.
const WORTHWHILE: i64 = 12_000;

/// Proposes how many iterations make a block.
pub fn grain(n: i64, cost: i64) -> i64 {
    match chunk() {
        0 => {}
        chunk => return chunk,
    }
    let finest = (n / MOST + 1).max(1);
    if cost <= 0 {
        return finest;
    }
    if n.saturating_mul(cost) < WORTHWHILE {
        return n.max(1);
    }
    let grain = (n / BLOCKS + 1).min(LONGEST / cost).max(finest).max(SHORTEST / cost);
    // Blocks of long loops begin at whole cache lines, if the array does.
    if grain < 4 * LINE { grain } else { (grain + LINE - 1) / LINE * LINE }
}

/// Whether the running code is part of a parallel loop.
pub fn is_inside() -> bool {
    settings::here().depth > 0
}

/// Runs a parallel loop; 0, or 1 with an exception pending.
///
/// # Safety
/// The body may be called with `env` from several threads at the same time.
pub unsafe fn parallel_for(n: i64, grain: i64, body: Body, env: *mut c_void) -> i32 {
    if n <= 0 {
        check::forget_loop();
        return 0;
    }
    let work = Work { n, grain: grain.max(1), body, env };
    if !check::begin_loop() {
        // Within a checked loop everything runs on one thread.
        return region::run(work, if check::is_active() { 1 } else { threads() });
    }
    let status = region::run(work, 1);
    check::end_loop();
    status
}

/// # Safety
/// `body` is the address of a [`Body`] that may be called with `env` from several threads at the same time.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_parallel_for(n: i64, grain: i64, body: *const c_void, env: *mut c_void) -> i32 {
    // SAFETY: compiled code passes the address of such a function.
    unsafe { parallel_for(n, grain, std::mem::transmute::<*const c_void, Body>(body), env) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_parallel_grain(n: i64, cost: i64) -> i64 {
    grain(n, cost)
}

pub(crate) fn symbols() -> Vec<Symbol> {
    let mut all = settings::symbols();
    all.extend(exclude::symbols());
    all.extend(functions! {
        (_ _) lh_parallel_grain;
        (_ _ _ _) lh_parallel_for;
    });
    all
}
