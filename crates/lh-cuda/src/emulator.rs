//! The CPU as a device: each block runs on one thread of the computer, from native code; where that is worth it the
//! blocks are spread over the pool that parallel loops use, and taken in ascending order.

use crate::device::{Device, Fault};
use crate::findings::diagnostic;
use crate::launch::{Code, Config};
use crate::limits;
use lh_runtime::device::team::{QUIET, Run};
use lh_runtime::device::{Context, Failed};
use lh_runtime::exception::{set_pending, take_pending};
use lh_runtime::{check, pool};
use smallvec::{SmallVec, smallvec};
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Alignment of shared memory.
const ALIGN: usize = 128;
/// Stack of a thread that may have to wait, beside its local arrays.
const STACK: usize = 64 << 10;

/// So many threads at most are checked together where blocks may wait for each other.
const CHECKED: i64 = 1 << 14;
/// For so long threads may do nothing but wait in loops before that counts as waiting for ever.
const PATIENCE: Duration = Duration::from_secs(1);
/// The same where a thread sleeps that may do something in between.
const PATIENCE_WITH_SLEEPERS: Duration = Duration::from_secs(60);

/// The CPU.
pub struct Cpu;

/// The cost of a thread with a stack of its own, picoseconds.
const FIBER: i64 = 300_000;

impl Device for Cpu {
    unsafe fn launch(&self, code: &Code, config: &Config, args: &[u64]) -> Result<(), Fault> {
        limits::check(code, config).map_err(Fault::Refused)?;
        let blocks = config.blocks();
        // SAFETY: by contract.
        unsafe {
            if code.info.is_checked {
                return checked(code, config, args);
            }
            if code.info.is_cooperative {
                return if code.info.by_thread() {
                    together(code, config, args)
                } else {
                    some_blocks(code, config, args, 0, blocks)
                };
            }
            // Blocks that wait for others have to be able to begin all of these.
            let in_order = config.in_order || code.info.prints || code.info.spins || pool::threads() == 1;
            let grain = if in_order { blocks } else { grain(code, config) };
            if grain >= blocks {
                return range(code, config, args, 0, blocks);
            }
            spread(code, config, args, grain)
        }
    }
}

/// Every thread by itself, here.
unsafe fn checked(code: &Code, config: &Config, args: &[u64]) -> Result<(), Fault> {
    // SAFETY: by contract.
    let run = || unsafe {
        if code.info.is_cooperative || code.info.spins && config.blocks() * config.threads() <= CHECKED {
            together(code, config, args)
        } else {
            one_by_one(code, config, args, 0, config.blocks())
        }
    };
    let (result, found) = check::checked(config.grid, config.block, run);
    if found.is_empty() { result } else { Err(Fault::Found(found.iter().map(diagnostic).collect())) }
}

/// How many blocks are done in a row, so that threads of the computer are woken for what is worth it only.
fn grain(code: &Code, config: &Config) -> i64 {
    let cost = if code.info.by_thread() { FIBER } else { i64::from(code.info.thread_cost) };
    let block = cost.saturating_mul(config.threads()) / 1000;
    pool::grain(config.blocks(), if cost == 0 { 0 } else { block.max(1) })
}

/// Blocks from one to before another, one after the other.
unsafe fn range(code: &Code, config: &Config, args: &[u64], low: i64, high: i64) -> Result<(), Fault> {
    // SAFETY: by contract.
    unsafe {
        if code.info.by_thread() {
            one_by_one(code, config, args, low, high)
        } else {
            some_blocks(code, config, args, low, high)
        }
    }
}

/// A launch on the pool.
struct Spread<'a> {
    code: &'a Code,
    config: &'a Config,
    args: &'a [u64],
    /// Where the first of the blocks that raised did so, with the start of its row.
    failed: Mutex<Option<(i64, Option<Failed>)>>,
}

/// The blocks on the pool, in rows of so many.
unsafe fn spread(code: &Code, config: &Config, args: &[u64], grain: i64) -> Result<(), Fault> {
    let mut job = Spread { code, config, args, failed: Mutex::new(None) };
    let env = (&raw mut job).cast();
    // SAFETY: the body gets the job, which outlives the call and is not changed but for what a lock guards.
    let status = unsafe { pool::parallel_for(config.blocks(), grain, row, env) };
    let failed = job.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if status == 0 { Ok(()) } else { Err(Fault::Raised(failed.and_then(|(_, at)| at))) }
}

/// A row of blocks.
unsafe extern "C" fn row(env: *mut c_void, low: i64, high: i64, _thread: i64) -> i32 {
    // SAFETY: see `spread`.
    let job = unsafe { &*env.cast::<Spread<'_>>() };
    // SAFETY: by contract of the launch.
    let Err(fault) = (unsafe { range(job.code, job.config, job.args, low, high) }) else { return 0 };
    let Fault::Raised(at) = fault else { lh_ir::bug!("a launch that has begun is not refused") };
    let mut failed = job.failed.lock().unwrap_or_else(PoisonError::into_inner);
    if failed.as_ref().is_none_or(|(first, _)| low < *first) {
        *failed = Some((low, at));
    }
    1
}

/// Shared memory of some blocks.
struct Shared {
    /// In place where there is little: small launches allocate nothing.
    words: SmallVec<[u128; 16]>,
    stride: usize,
    dynamic_at: usize,
}

impl Shared {
    fn new(code: &Code, config: &Config, blocks: usize) -> Shared {
        let dynamic_at = code.info.shared_bytes.next_multiple_of(ALIGN);
        let stride = (dynamic_at + config.dynamic_shared as usize).next_multiple_of(ALIGN);
        Shared { words: smallvec![0; (stride * blocks + ALIGN) / 16], stride, dynamic_at }
    }
    /// The context of a block whose memory is at a place.
    fn context(&mut self, config: &Config, place: usize) -> Context {
        let start = self.words.as_mut_ptr().cast::<u8>();
        // SAFETY: the memory has room for so many blocks and their alignment.
        unsafe {
            let base = start.add(start.align_offset(ALIGN)).add(place * self.stride);
            Context::new(config.grid, config.block, base, self.dynamic_at as i64, config.dynamic_shared)
        }
    }
}

fn raised(cx: &Context) -> Fault {
    Fault::Raised(cx.failed)
}

/// A kernel that loops over blocks and threads itself. Where threads wait for the grid, all blocks run together.
unsafe fn some_blocks(code: &Code, config: &Config, args: &[u64], low: i64, high: i64) -> Result<(), Fault> {
    let together = if code.info.is_cooperative { config.blocks() } else { 1 };
    let mut shared = Shared::new(code, config, together as usize);
    let mut cx = shared.context(config, 0);
    (cx.first, cx.last) = (low, high);
    // A multiple of a cache line's threads, so that values of each kind begin at one.
    cx.capacity = ((config.units(code.info.gangs) * together) as usize).next_multiple_of(64) as i64;
    let mut scratch: SmallVec<[u128; 16]> = smallvec![0; code.info.scratch * cx.capacity as usize / 16 + 4];
    cx.scratch = scratch.as_mut_ptr().cast();
    // SAFETY: there are bytes to spare.
    cx.scratch = unsafe { cx.scratch.add(cx.scratch.align_offset(64)) };
    if together > 1 {
        cx.shared_stride = shared.stride as i64;
    }
    let mut words: SmallVec<[u64; 64]> = SmallVec::new();
    words.push((&raw mut cx).expose_provenance() as u64);
    words.extend_from_slice(args);
    let mut nothing = [0u64; 2];
    // SAFETY: by contract; the context and its memory live through the call.
    let status = unsafe { (code.entry)(words.as_ptr(), nothing.as_mut_ptr()) };
    if status == 0 { Ok(()) } else { Err(raised(&cx)) }
}

/// Blocks that have begun, and their memory.
struct Begun {
    shared: Shared,
    contexts: Vec<Context>,
    run: Option<Run>,
}

impl Begun {
    fn new(code: &Code, config: &Config, count: usize) -> Begun {
        let mut shared = Shared::new(code, config, count);
        let contexts = (0..count).map(|i| shared.context(config, i)).collect();
        Begun { shared, contexts, run: None }
    }

    /// Begins with the blocks from one on; false with an exception set if there is no memory for that.
    unsafe fn begin(&mut self, code: &Code, config: &Config, args: &[u64], first: i64) -> bool {
        for (i, cx) in self.contexts.iter_mut().enumerate() {
            *cx = self.shared.context(config, i);
            cx.block = cx.block_of(first + i as i64);
        }
        let stack = STACK + 2 * code.info.local_bytes;
        // SAFETY: by contract; the contexts stay where they are until the run has ended.
        self.run = unsafe { Run::new(&mut self.contexts, code.entry, code.info.gangs, args, stack) };
        self.run.is_some()
    }
}

/// Blocks from one to before another, so many at once, whose threads wait for each other. Blocks begin when those
/// before have ended, or only wait in loops: on a GPU, a block may wait for any that fits beside it.
unsafe fn in_teams(
    code: &Code,
    config: &Config,
    args: &[u64],
    (low, high): (i64, i64),
    count: usize,
) -> Result<(), Fault> {
    let (mut next, mut quiet, mut failed) = (low, Duration::ZERO, None);
    let (mut live, mut free): (Vec<Box<Begun>>, Vec<Box<Begun>>) = (Vec::new(), Vec::new());
    loop {
        let mut is_stuck = true;
        let mut at = 0;
        while at < live.len() {
            let begun = &mut live[at];
            let run = begun.run.as_mut().unwrap_or_else(|| lh_ir::bug!("a block that has begun"));
            let before = run.progress();
            if !run.resume() {
                is_stuck &= run.progress() == before;
                at += 1;
                continue;
            }
            is_stuck = false;
            let mut begun = live.remove(at);
            if begun.run.take().is_some_and(|run| run.end() != 0) && failed.is_none() {
                let place = begun.contexts.iter().find_map(|c| c.failed);
                failed = Some((place, take_pending()));
                live.iter_mut().filter_map(|b| b.run.as_mut()).for_each(Run::give_up);
            }
            free.push(begun);
        }
        if !is_stuck {
            quiet = Duration::ZERO;
        }
        if (is_stuck || live.is_empty()) && next < high && failed.is_none() {
            let mut begun = free.pop().unwrap_or_else(|| Box::new(Begun::new(code, config, count)));
            // SAFETY: by contract.
            if unsafe { begun.begin(code, config, args, next) } {
                live.push(begun);
            } else {
                failed = Some((None, take_pending()));
                live.iter_mut().filter_map(|b| b.run.as_mut()).for_each(Run::give_up);
            }
            next += count as i64;
        } else if live.is_empty() {
            break;
        } else if is_stuck {
            quiet += QUIET * live.len() as u32;
            let mut runs = live.iter().filter_map(|b| b.run.as_ref());
            if quiet > if runs.any(Run::has_slept) { PATIENCE_WITH_SLEEPERS } else { PATIENCE } {
                live.iter_mut().filter_map(|b| b.run.as_mut()).for_each(Run::give_up);
            }
        }
    }
    let Some((place, pending)) = failed else { return Ok(()) };
    pending.into_iter().for_each(set_pending);
    Err(Fault::Raised(place))
}

/// Block after block, whose threads wait for each other.
unsafe fn one_by_one(code: &Code, config: &Config, args: &[u64], low: i64, high: i64) -> Result<(), Fault> {
    // SAFETY: by contract.
    unsafe { in_teams(code, config, args, (low, high), 1) }
}

/// All blocks at once: their threads wait for the grid.
unsafe fn together(code: &Code, config: &Config, args: &[u64]) -> Result<(), Fault> {
    let blocks = config.blocks();
    // SAFETY: by contract.
    unsafe { in_teams(code, config, args, (0, blocks), blocks as usize) }
}
