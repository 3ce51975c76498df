//! Splits a kernel at barriers. Between two barriers, threads run one after the other in a loop; a value that a thread
//! keeps across a barrier is spilled to memory, with one element per thread. Block-uniform values are kept once, and
//! block-uniform branches are taken once for the block:
//!
//! ```text
//! function %k(v0: ptr, v1: int, ...)        for block in first..last:
//!     a                                         for z, y, x in the block's threads: a
//!     while c:      ; block-uniform      ->     while c:
//!         b                                         for z, y, x in the block's threads: b; spill values
//!         runtime lh_cuda_sync(v0)                  for z, y, x in the block's threads: reload values; d
//!         d                                     for z, y, x in the block's threads: e
//!     e
//! ```
//!
//! Loops and branches that are block-uniform are cuts, too: the loops over threads are then innermost, and LLVM
//! vectorises them.
//!
//! At grid barriers, the loop over blocks is inside as well. A kernel without barriers is a single region. A kernel
//! with divergent barriers, or with values that cannot be spilled, is left alone.

mod build;
mod cuts;
mod region;
mod spill_slots;

use crate::analysis::classify::{allocates, catches};
use crate::analysis::{liveness, uniform};
use lh_ir::cfg::Cfg;
use lh_ir::func::{Gangs, waits};
use lh_ir::{Block, Function};

/// With more private memory per thread, uniform loops are no cuts: the spilled values of a block would not fit into the
/// cache.
const MAX_OWN: usize = 256;

/// The kernel as loops over blocks and threads, if it can be split.
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
    // Votes of a barrier are summed over one block, but the loops over threads run for all blocks.
    if by_grid && syncs.values().any(|s| s.value.is_some()) {
        return None;
    }
    let varies = uniform::varying(&cut, &cfg, by_grid, &|_| true, &|_| false);
    let (loops, branches) =
        if cuts_loops(&cut) { cuts::uniform(&cut, &cfg, &syncs, &varies) } else { Default::default() };
    let given: Vec<_> = syncs.iter().filter_map(|(b, s)| Some((s.value?.1, *b))).collect();
    let make = |more: &[Block]| {
        let (is_cut, first) = cuts::find(&cut, &cfg, &syncs, more, &varies)?;
        let available = liveness::available(&cut, &cfg, is_cut.contains(&true));
        let alive = liveness::alive(&cut, &cfg, &available, &given);
        let (syncs, varies) = (syncs.clone(), varies.clone());
        build::Splitter::new(&cut, &cfg, build::CutPlan { syncs, varies, is_cut, first, available, alive, by_grid })
            .run()
    };
    // With fewer cuts, fewer values must be spilled, which may be possible where more are not.
    let mut all: Vec<Block> = loops.iter().chain(&branches).copied().collect();
    // A gang first tests if its warps are full.
    if cut.kernel.gangs == Gangs::Warps && !waiting {
        all.push(Block(0));
    }
    make(&all).or_else(|| make(&[]))
}

/// Whether block-uniform loops are cuts.
pub(crate) fn cuts_loops(func: &Function) -> bool {
    let plain = func.kernel.gangs == Gangs::None && !func.options.debug && func.slots.is_empty();
    plain && !allocates(func) && !catches(func) && liveness::local_array_bytes(func) <= MAX_OWN
}
