//! Runs several iterations of a loop around other loops together.
//!
//! ```text
//! for j in range(n):                      for j in range(0, n - 7, 8):
//!     s = 0.0                                 s0 = s1 = ... = s7 = 0.0
//!     for k in range(m):                      for k in range(m):
//!         s += a[k] * b[k, j]       ->            x = a[k]
//!     c[j] = s                                    s0 += x * b[k, j]; ... s7 += x * b[k, j + 7]
//!                                             c[j] = s0; ... c[j + 7] = s7
//!                                         # what is left as it was
//! ```
//!
//! A sum in strict order waits for each of its additions; eight sums wait at the same time, share what does not depend on
//! `j`, and read neighbours. Every element is computed by the operations that computed it before, in their order.
//!
//! So do four rows of a block's threads whose sums are of a few terms each. Threads know nothing of each other's memory
//! between two barriers, and their loops along the row are left to be vectorised.
//!
//! Rows may be arrays that every iteration makes anew, a stride apart (`views`), as in the calls that `calls` puts into their
//! loops. Loops inside that only fill rows are gone through row by row (`apiece`), and vectorised.
//!
//! The inner loops must go the same way for all iterations, what is written must be another element for each of them, and
//! may overlap nothing else that is read or written, which a test before the loop makes sure of. Requires what `bounds`
//! leaves; leaves counted loops, of which the inner ones are marked as not to be vectorised any further.

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

/// Runs the pass.
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

/// Treats the first loop of those that are wanted; its header and that of the loop in which several iterations run.
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
