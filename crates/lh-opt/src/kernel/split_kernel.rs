//! Cuts a kernel at its barriers. Between two barriers threads do not wait for each other, so they run one after the other
//! in a loop; what a thread keeps across a barrier is written to memory, of each value one for every thread, side by side.
//! What is the same for all threads is kept once, and branches on it are taken once:
//!
//! ```text
//! function %k(v0: ptr, v1: int, v2: int, v3: int, ...)       for block in first..last:
//!     a                                                          for z, y, x in the block's threads: a
//!     while c:      ; the same for all threads         ->        while c:
//!         b                                                          for z, y, x in the block's threads: b; keep values
//!         runtime lh_cuda_sync(v0)                                   for z, y, x in the block's threads: fetch values; d
//!         d                                                      for z, y, x in the block's threads: e
//!     e
//! ```
//!
//! Loops in a thread that all threads go through alike are cut too: then the loops over threads are the inner ones, of which
//! LLVM makes vectors. So are branches that all threads take alike, which are decided before the loops.
//!
//! Where the grid waits, the loop over blocks is inside. A kernel without barriers is one such piece. Kernels where threads
//! decide differently which barrier comes next, or that keep what cannot be kept, are left alone.

mod build;
mod cuts;
mod region;
mod spill_slots;

use crate::analysis::classify::{allocates, catches};
use crate::analysis::{liveness, uniform};
use lh_ir::cfg::Cfg;
use lh_ir::func::{Gangs, waits};
use lh_ir::{Block, Function};
use std::collections::HashSet;

/// More bytes of a thread's own are not all in the cache when the threads take turns: each goes through its loops at once.
const MOST_OWN: usize = 256;

/// The kernel as loops over blocks and threads, if it can be cut.
pub(crate) fn split(func: &Function) -> Option<Function> {
    let waiting = func.kernel.waits & (waits::BLOCK | waits::GRID) != 0;
    let slots = func.kernel.gangs == Gangs::None && !func.slots.is_empty();
    if waiting && (slots || allocates(func) || catches(func)) {
        return None;
    }
    let mut cut = func.clone();
    let syncs = cuts::split_syncs(&mut cut);
    let cfg = Cfg::new(&cut);
    let by_grid = cut.kernel.waits & waits::GRID != 0;
    // Sums are over threads of one block, the loops over threads of all.
    if by_grid && syncs.values().any(|s| s.value.is_some()) {
        return None;
    }
    let varies = uniform::varying(&cut, &cfg, by_grid, &HashSet::new(), &|_| true, &|_| false);
    let (loops, branches) = if keeps(&cut) { cuts::even(&cut, &cfg, &syncs, &varies) } else { Default::default() };
    let given: Vec<_> = syncs.iter().filter_map(|(b, s)| Some((s.value?.1, *b))).collect();
    let make = |more: &[Block]| {
        let (is_cut, first) = cuts::find(&cut, &cfg, &syncs, more, &varies)?;
        let available = liveness::available(&cut, &cfg, is_cut.contains(&true));
        let alive = liveness::alive(&cut, &cfg, &available, &given);
        let (syncs, varies) = (syncs.clone(), varies.clone());
        build::Build::new(&cut, &cfg, build::Plan { syncs, varies, is_cut, first, available, alive, by_grid }).run()
    };
    // What would have to be kept at more cuts may be what cannot be.
    let mut all: Vec<Block> = loops.iter().chain(&branches).copied().collect();
    // Whether warps are full is asked first.
    if cut.kernel.gangs == Gangs::Warps && !waiting {
        all.push(Block(0));
    }
    make(&all).or_else(|| make(&[]))
}

/// Whether loops that all threads go through alike are cut.
pub(crate) fn keeps(func: &Function) -> bool {
    let plain = func.kernel.gangs == Gangs::None && !func.options.debug && func.slots.is_empty();
    plain && !allocates(func) && !catches(func) && liveness::own_bytes(func) <= MOST_OWN
}
