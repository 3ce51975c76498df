//! Unroll and jam: unrolls a loop around innermost loops and fuses the copies of the inner loops.
//!
//! ```text
//! for j in range(n):                      for j in range(0, n - 7, 8):
//!     s = 0.0                                 s0 = s1 = ... = s7 = 0.0
//!     for k in range(m):                      for k in range(m):
//!         s += a[k] * b[k, j]       ->            x = a[k]
//!     c[j] = s                                    s0 += x * b[k, j]; ... s7 += x * b[k, j + 7]
//!                                             c[j] = s0; ... c[j + 7] = s7
//!                                         # remaining iterations as before
//! ```
//!
//! A sum in strict order waits for each of its additions. Eight jammed sums overlap in the pipeline, share loads that
//! do not depend on `j`, and load adjacent elements. Every element is still computed by the same operations in the same
//! order.
//!
//! In kernels, four rows of a block's threads are jammed if their sums have few terms: threads do not read each other's
//! memory between two barriers. Their loops along the row are left for LLVM to vectorise.
//!
//! Operands may be strided views that each iteration makes anew ([`strided_views`]), as in the calls that [`row_calls`]
//! inlines. Inner loops that only fill rows are not jammed but run once per iteration, vectorised ([`distribute`]).
//!
//! The inner loops must have the same control flow in all iterations. Each iteration must write elements of its own,
//! which overlap no other access; a test before the loop checks that. Requires the output of `bounds`; leaves counted
//! loops, with hints that jammed loops are not vectorised again.

mod build;
mod distribute;
mod plan;
pub(crate) mod row_calls;
mod strided_views;

use crate::analysis::Analyses;
use hashbrown::HashSet;
use lh_ir::cfg::Loop;
use lh_ir::func::Inst;
use lh_ir::{Block, Function};

pub(crate) fn run(func: &mut Function) -> bool {
    let stores = |b: &lh_ir::func::BlockData| b.insts.iter().any(|d| matches!(d.inst, Inst::Store(..)));
    if func.options.debug || !func.blocks.iter().any(stores) {
        return false;
    }
    let mut seen = HashSet::new();
    while let Some(new) = jam_one(func, &|l| !l.is_innermost && !seen.contains(&l.header)) {
        seen.extend(new);
    }
    !seen.is_empty()
}

/// Transforms the first wanted loop; answers with its header and the header of the jammed loop.
fn jam_one(func: &mut Function, wanted: &dyn Fn(&Loop) -> bool) -> Option<[Block; 2]> {
    let analyses = Analyses::default();
    let loops = analyses.loops(func);
    let around = |l: &usize| wanted(&loops.loops[*l]);
    if !(0..loops.loops.len()).any(|l| around(&l)) {
        return None;
    }
    let facts = analyses.facts(func);
    let plan = (0..loops.loops.len()).filter(around).find_map(|l| plan::plan(&facts, l))?;
    let l = &loops.loops[plan.at];
    let counted = analyses.counts(func)[plan.at].as_ref().expect("planned");
    let inner = loops.loops.iter().filter(|x| x.is_innermost && l.blocks.contains(&x.header));
    let inner: Vec<&Loop> = inner.collect();
    let (cfg, dom, users) = (analyses.cfg(func), analyses.dom(func), analyses.users(func));
    Some([l.header, build::jam(func, cfg, dom, users, l, &inner, counted, &plan)])
}
