//! Writes a kernel for gangs: 32 threads that go through it together, each instruction for all of them before the next. What
//! is the same for all is computed once; the rest is done in loops over the lanes, which LLVM makes vectors of:
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
//! Loops are around the loops over lanes. Where lanes go different ways in more than what can be done in a round, each notes
//! the piece of the program that it comes to next. The pieces are served in an order in which lanes wait for others, until
//! all have come to the end; when all of a gang come to the same piece, they go on together.
//!
//! In a full warp, lanes keep what they have where nothing but loops over all 32 and operations on such arrays look for it: LLVM
//! makes one vector of it, in a register. A shuffle is a permutation of that vector, a ballot its truth values as bits.
//!
//! What the function now runs for at a time is a gang; it is cut at barriers like one for threads. A gang is a warp if the
//! kernel has operations of a warp.

mod build;
mod if_convert;
mod lockstep_counters;
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
use std::collections::HashSet;

/// Functions with more blocks stay as they are: each block is written several times.
const MOST_BLOCKS: usize = 120;

/// The kernel for gangs, if that is worth it and can be done.
pub(crate) fn run(func: &Function) -> Option<Function> {
    if is_off("gangs") {
        return None;
    }
    let exchanges = func.kernel.waits & waits::WARP != 0;
    if func.kernel.waits & waits::IN_CALLEE != 0 || func.options.debug || func.blocks.len() > MOST_BLOCKS {
        return None;
    }
    if !func.slots.is_empty() || allocates(func) || catches(func) || !(exchanges || has_loops(func)) {
        return None;
    }
    let mut whole = func.clone();
    let found = plan::split_waits(&mut whole);
    // Limits are found where branches ask for them alone.
    let narrow = if is_off("gangs.narrow") { Vec::new() } else { narrow::narrow(&whole, &Cfg::new(&whole)) };
    if !is_off("gangs.merge_exits") {
        merge_exits::shorten(&mut whole);
    }
    let cfg = Cfg::new(&whole);
    let none = HashSet::new();
    let varies = plan::varying(&whole, &cfg, &none, &none);
    let is_lockstep = !is_off("gangs.lockstep_counters");
    let alike = if is_lockstep { lockstep_counters::counters(&mut whole, &cfg, &varies) } else { HashSet::new() };
    let plan = plan::plan(&whole, &cfg, found, &alike, narrow)?;
    if !exchanges && !plan.has_uneven_loops {
        return None;
    }
    let gangs = if exchanges { Gangs::Warps } else { Gangs::Rows };
    let mut made = build::Build::new(&whole, &cfg, &plan, gangs).run()?;
    made.kernel.waits &= !waits::WARP;
    Some(made)
}

fn has_loops(func: &Function) -> bool {
    let cfg = Cfg::new(func);
    !Loops::new(func, &cfg, &DomTree::new(&cfg)).loops.is_empty()
}
