//! Rewrites a kernel for gangs of 32 threads that execute in lockstep, each instruction for all lanes before the next.
//! Block-uniform values are computed once; divergent code runs in loops over the lanes, which LLVM vectorises:
//!
//! ```text
//! function %k(cx, x, y, z, ...):             function %k(cx, gang, y, z, ...):
//!     while k > 0:                               while k > 0:
//!         w = runtime lh_cuda_warp(cx, v, k)         for lane in 0..32: values[lane] = v[lane]
//!         v = v + w                       ->         for lane in 0..32: w[lane] = values[lane + k]
//!         k = k // 2                                 for lane in 0..32: v[lane] = v[lane] + w[lane]
//!     if v > 1:                                      k = k // 2
//!         a[x] = v                               for lane in 0..32: if v[lane] > 1: a[x + lane] = v[lane]
//! ```
//!
//! Loops of the kernel contain the loops over lanes. Divergent control flow that cannot be predicated within a loop
//! over lanes is split into pieces: each lane records the piece that it enters next, and a dispatcher runs the pieces
//! in an order in which lanes wait for others to reconverge. When all lanes of a gang enter the same piece, they run it
//! together.
//!
//! In full warps, a value that is only used by loops over all 32 lanes and by warp operations becomes one vector in a
//! register: a shuffle permutes it, a ballot packs its truth values into bits.
//!
//! The rewritten function runs a gang instead of a thread, and is split at barriers like a thread's. A gang is a warp
//! if the kernel has warp operations.

mod build;
mod if_convert;
mod merge_exits;
mod piece;
mod plan;
mod sparse_lanes;
mod votes;
mod warp_ops;

use crate::analysis::classify::{allocates, catches};
use crate::analysis::int_range::narrow;
use lh_ir::Function;
use lh_ir::cfg::{Cfg, DomTree, Loops};
use lh_ir::func::{Gangs, waits};
use lh_ir::switches::is_off;

/// Size limit in blocks, each of which is copied several times.
const MAX_BLOCKS: usize = 120;

/// The kernel for gangs, if that is possible and pays.
pub(crate) fn run(func: &Function) -> Option<Function> {
    if is_off("gangs") {
        return None;
    }
    let exchanges = func.kernel.waits & waits::WARP != 0;
    if func.kernel.waits & waits::IN_CALLEE != 0 || func.options.debug || func.blocks.len() > MAX_BLOCKS {
        return None;
    }
    if !func.slots.is_empty() || allocates(func) || catches(func) || !(exchanges || has_loops(func)) {
        return None;
    }
    let mut whole = func.clone();
    let found = plan::split_gang_ops(&mut whole);
    // Before `merge_exits` joins conditions, each branch tests one limit.
    let narrow = if is_off("gangs.narrow") { Vec::new() } else { narrow::narrow(&whole, &Cfg::new(&whole)) };
    if !is_off("gangs.merge_exits") {
        merge_exits::run(&mut whole);
    }
    let cfg = Cfg::new(&whole);
    let plan = plan::plan(&whole, &cfg, found, narrow)?;
    if !exchanges && !plan.has_uneven {
        return None;
    }
    let gangs = if exchanges { Gangs::Warps } else { Gangs::Rows };
    let mut made = build::GangBuilder::new(&whole, &cfg, &plan, gangs).run()?;
    made.kernel.waits &= !waits::WARP;
    Some(made)
}

fn has_loops(func: &Function) -> bool {
    let cfg = Cfg::new(func);
    !Loops::new(func, &cfg, &DomTree::new(&cfg)).loops.is_empty()
}
